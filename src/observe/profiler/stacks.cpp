#include "observe/profiler/stacks.h"

#include <map>
#include <string_view>
#include <tuple>

#include "base/error.h"

namespace tandem::profiler {
namespace {

/// The file's name before the rest: the folder is what a narrow frame has no room for.
std::string label_of(std::string_view name, const Event& event) {
  if (event.file.empty()) return std::string(name);
  return str(event.file.substr(event.file.rfind('/') + 1), ":", event.line, " ", name);
}

}  // namespace

std::vector<StackNode> stacks_of(const std::vector<Event>& events, bool on_device, const std::function<bool(const Event&)>& counts) {
  std::vector<nanoseconds> self(events.size(), nanoseconds(0));
  for (const Event& event : events) {
    if (counts && !counts(event)) continue;
    if (on_device && event.on_device() && event.launch >= 0) self[static_cast<size_t>(event.launch)] += event.duration;
    if (on_device || !event.on_host()) continue;
    self[static_cast<size_t>(event.id)] += event.duration;
    if (event.parent >= 0) self[static_cast<size_t>(event.parent)] -= event.duration;
  }

  std::vector<StackNode> nodes(1);
  std::map<std::tuple<size_t, std::string_view, std::string_view, int>, size_t> places;  // views of what the events own
  std::vector<size_t> node_of(events.size(), 0);                                         // 0: not looked at yet; no event is the root
  std::vector<const Event*> chain;
  for (const Event& event : events) {
    if (self[static_cast<size_t>(event.id)].count() <= 0) continue;
    for (int64_t at = event.id; at >= 0 && node_of[static_cast<size_t>(at)] == 0; at = events[static_cast<size_t>(at)].parent)
      chain.push_back(&events[static_cast<size_t>(at)]);
    for (; !chain.empty(); chain.pop_back()) {
      const Event& each = *chain.back();
      const std::string_view name = each.name.starts_with(kStepName) ? "ProfilerStep*" : std::string_view(each.name);
      const size_t parent = each.parent < 0 ? 0 : node_of[static_cast<size_t>(each.parent)];
      const auto [place, fresh] = places.try_emplace({parent, name, each.file, each.line}, nodes.size());
      if (fresh) {
        nodes.emplace_back().frame = each.file.empty() ? std::string(name) : str(name, " (", each.file, ":", each.line, ")");
        nodes.back().label = label_of(name, each);
        nodes.back().parent = parent;
      }
      node_of[static_cast<size_t>(each.id)] = place->second;
    }
    nodes[node_of[static_cast<size_t>(event.id)]].self += self[static_cast<size_t>(event.id)];
  }
  for (size_t i = nodes.size(); i-- > 0;) {
    nodes[i].total += nodes[i].self;
    if (i > 0) nodes[nodes[i].parent].total += nodes[i].total;
  }
  return nodes;
}

}  // namespace tandem::profiler
