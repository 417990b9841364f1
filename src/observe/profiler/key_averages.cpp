#include "observe/profiler/key_averages.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/error.h"
#include "observe/profiler/key_averages_table.h"

namespace tandem::profiler {
namespace {

using Shapes = std::vector<std::vector<int64_t>>;

double average(nanoseconds total, int64_t count) { return count ? static_cast<double>(total.count()) / static_cast<double>(count) : 0; }

struct SortKey {
  std::string_view name;
  double (*of)(const KeyAverage&);
};
constexpr std::array<SortKey, 9> kSortKeys = {{
    {"self_cpu_time_total", [](const KeyAverage& row) { return static_cast<double>(row.self_cpu_time_total.count()); }},
    {"cpu_time_total", [](const KeyAverage& row) { return static_cast<double>(row.cpu_time_total.count()); }},
    {"cpu_time", [](const KeyAverage& row) { return average(row.cpu_time_total, row.count); }},
    {"self_device_time_total", [](const KeyAverage& row) { return static_cast<double>(row.self_device_time_total.count()); }},
    {"device_time_total", [](const KeyAverage& row) { return static_cast<double>(row.device_time_total.count()); }},
    {"device_time", [](const KeyAverage& row) { return average(row.device_time_total, row.count); }},
    {"memory", [](const KeyAverage& row) { return static_cast<double>(row.memory); }},
    {"flops", [](const KeyAverage& row) { return static_cast<double>(row.flops); }},
    {"count", [](const KeyAverage& row) { return static_cast<double>(row.count); }},
}};

}  // namespace

double KeyAverage::gflops() const {
  const nanoseconds time = device_time_total.count() ? device_time_total : cpu_time_total;
  return time.count() ? static_cast<double>(flops) / static_cast<double>(time.count()) : 0;
}

KeyAverages::KeyAverages(const std::vector<Event>& events, bool group_by_input_shape) : by_shape_(group_by_input_shape) {
  std::vector<nanoseconds> self(events.size()), self_device(events.size(), nanoseconds(0)), device(events.size(), nanoseconds(0));
  for (const Event& event : events) {
    const auto at = static_cast<size_t>(event.id);
    if (event.on_host()) self[at] += event.duration;
    if (event.on_host() && event.parent >= 0) self[static_cast<size_t>(event.parent)] -= event.duration;
    if (!event.on_device() || event.launch < 0) continue;
    self_device[static_cast<size_t>(event.launch)] += event.duration;
    for (int64_t outer = event.launch; outer >= 0; outer = events[static_cast<size_t>(outer)].parent)
      device[static_cast<size_t>(outer)] += event.duration;
  }
  std::map<std::pair<std::string_view, Shapes>, size_t> rows;
  for (const Event& event : events) {
    if (!event.on_host()) continue;
    const std::string_view name = event.name.starts_with(kStepName) ? "ProfilerStep*" : std::string_view(event.name);  // as in PyTorch
    const auto [at, fresh] = rows.try_emplace({name, by_shape_ ? event.shapes : Shapes()}, rows_.size());
    if (fresh) {
      rows_.emplace_back().key = name;
      rows_.back().shapes = at->first.second;
    }
    KeyAverage& row = rows_[at->second];
    const auto i = static_cast<size_t>(event.id);
    ++row.count;
    row.cpu_time_total += event.duration;
    row.self_cpu_time_total += self[i];
    row.device_time_total += device[i];
    row.self_device_time_total += self_device[i];
    row.bytes += event.bytes;
    row.memory += event.memory;
    row.flops += event.flops;
  }
}

const KeyAverage* KeyAverages::find(std::string_view name) const {
  const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const KeyAverage& row) { return row.key == name; });
  return at == rows_.end() ? nullptr : &*at;
}

std::vector<KeyAverage> KeyAverages::sorted_by(std::string_view key, Site /*site*/) const {
  std::vector<KeyAverage> sorted = rows_;
  if (key == "name") {
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    return sorted;
  }
  std::string wanted(key);
  if (const auto cuda = wanted.find("cuda"); cuda != std::string::npos) wanted.replace(cuda, 4, "device");
  // PyTorch's names for memory: of the CPU and of GPUs, an operation's own and with what it calls.
  for (const char* const each : {"cpu_memory_usage", "device_memory_usage", "self_cpu_memory_usage", "self_device_memory_usage"})
    if (wanted == each) wanted = "memory";
  const auto by = std::find_if(kSortKeys.begin(), kSortKeys.end(), [&](const SortKey& each) { return each.name == wanted; });
  if (by == kSortKeys.end()) {
    std::string names;
    for (const SortKey& each : kSortKeys) names += str(each.name, ", ");
    fail("[KeyAverages::table] cannot sort by '", key, "': the columns are ", names, "name");
  }
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return by->of(a) > by->of(b); });
  return sorted;
}

std::string KeyAverages::table(const TableOptions& options, Site /*site*/) const { return detail::table(*this, options, by_shape_, 0); }

}  // namespace tandem::profiler
