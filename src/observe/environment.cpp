// The observers that the environment asks for.
#include "observe/ledger/ledger.h"
#include "runtime/observer.h"

namespace tandem::runtime {

void observe_from_environment() { ledger::detail::begin_from_environment(); }

}  // namespace tandem::runtime
