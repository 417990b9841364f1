#include "runtime/observer.h"

namespace tandem::runtime {

constinit std::atomic<Observer*> detail::observer{nullptr};

void set_observer(Observer* observer) { detail::observer.store(observer, std::memory_order_release); }

}  // namespace tandem::runtime
