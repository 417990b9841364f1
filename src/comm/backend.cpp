// What back ends do that say nothing else.
#include "comm/backend.h"

#include <thread>

namespace tandem::comm {

std::unique_ptr<Transfer> Backend::begin_message(const Context& context) {
  fail('[', comm::name(context.call.kind), "] the back end ", name(), " has no messages beside its streams");
}

bool Backend::wait_for_news(uint32_t /*seen*/) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  return false;
}

}  // namespace tandem::comm
