#include "observe/stacks.h"

#include <algorithm>

#include "base/error.h"

namespace tandem::profiler {

std::map<Stack, nanoseconds> stacks_of(const std::vector<Event>& events, bool on_device) {
  std::vector<nanoseconds> self(events.size(), nanoseconds(0));
  for (const Event& event : events) {
    if (on_device && event.on_device() && event.launch >= 0) self[static_cast<size_t>(event.launch)] += event.duration;
    if (on_device || !event.on_host()) continue;
    self[static_cast<size_t>(event.id)] += event.duration;
    if (event.parent >= 0) self[static_cast<size_t>(event.parent)] -= event.duration;
  }
  const auto frame = [](const Event& event) {
    const std::string_view name = event.name.starts_with(kStepName) ? "ProfilerStep*" : std::string_view(event.name);
    return event.file.empty() ? std::string(name) : str(name, " (", event.file, ":", event.line, ")");
  };
  std::map<Stack, nanoseconds> stacks;
  for (const Event& event : events) {
    if (self[static_cast<size_t>(event.id)].count() <= 0) continue;
    Stack stack = {frame(event)};
    for (int64_t outer = event.parent; outer >= 0; outer = events[static_cast<size_t>(outer)].parent)
      stack.push_back(frame(events[static_cast<size_t>(outer)]));
    std::reverse(stack.begin(), stack.end());
    stacks[stack] += self[static_cast<size_t>(event.id)];
  }
  return stacks;
}

}  // namespace tandem::profiler
