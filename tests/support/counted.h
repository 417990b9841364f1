// How often operations ran.
#pragma once

#include <cstdint>
#include <functional>

#include "tandem.h"

namespace tandem::testing {

/// How often operations of that name run in `body`.
inline int64_t times(const char* name, const std::function<void()>& body) {
  profiler::Profile profile;
  body();
  profile.stop();
  const auto averages = profile.key_averages();
  const auto* found = averages.find(name);
  return found ? found->count : 0;
}

}  // namespace tandem::testing
