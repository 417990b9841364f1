#include "base/version.h"

namespace tandem {

const char* version() noexcept { return kVersion; }

}  // namespace tandem
