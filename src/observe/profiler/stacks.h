// What took time within what, summed up over a profile: for flame graphs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "observe/profiler/profile_event.h"

namespace tandem::profiler {

/// All events of one name and line that stood in the same.
struct StackNode {
  std::string frame;     // "addmm (train.cpp:12)"
  std::string label;     // "train.cpp:12 addmm", as a page has it
  size_t parent = 0;     // its place
  nanoseconds self{0};   // without what other events took within
  nanoseconds total{0};  // with it
};

/// The tree of what the host's threads did or, `on_device`, of what the GPUs did for it. The first node is the root, without a name; each
/// comes behind its parent. `counts`, where it is given, says of events of the host or of the GPUs whether their time is added up. It takes
/// as long as there are events, however deep they stand in each other.
[[nodiscard]] std::vector<StackNode> stacks_of(const std::vector<Event>& events, bool on_device,
                                               const std::function<bool(const Event&)>& counts = {});

}  // namespace tandem::profiler
