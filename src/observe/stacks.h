// What took time within what, summed up over a profile: for flame graphs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "observe/profile_event.h"

namespace tandem::profiler {

/// From the outermost to the innermost: "net.fc1", "addmm (train.cpp:12)".
using Stack = std::vector<std::string>;

/// For each stack the time that it took itself: of the host's threads, or on the GPUs what was queued in it.
[[nodiscard]] std::map<Stack, nanoseconds> stacks_of(const std::vector<Event>& events, bool on_device);

}  // namespace tandem::profiler
