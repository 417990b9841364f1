#include "observe/key_averages.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/format.h"

namespace tandem::profiler {
namespace {

using tandem::detail::formatted;
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

/// "us" up to a millisecond, as PyTorch: 12.345us, 1.234ms, 1.234s.
std::string time_text(double ns) {
  return ns >= 1e9 ? formatted("%.3fs", ns * 1e-9) : ns >= 1e6 ? formatted("%.3fms", ns * 1e-6) : formatted("%.3fus", ns * 1e-3);
}
std::string time_text(nanoseconds time) { return time_text(static_cast<double>(time.count())); }

std::string percent(nanoseconds part, nanoseconds all) {
  return formatted("%.2f%%", all.count() ? 100. * static_cast<double>(part.count()) / static_cast<double>(all.count()) : 0.);
}

std::string bytes_text(int64_t bytes) {
  constexpr std::array<const char*, 3> kUnits = {"KiB", "MiB", "GiB"};
  auto size = static_cast<double>(bytes);
  if (bytes < 1024) return str(bytes, " B");
  size_t unit = 0;
  for (size /= 1024; size >= 1024 && unit + 1 < kUnits.size(); size /= 1024) ++unit;
  return formatted("%.2f %s", size, kUnits[unit]);
}

std::string rate_text(const KeyAverage& row) { return row.gflops() == 0 ? "--" : formatted("%.3f", row.gflops()); }
std::string share_text(const KeyAverage& row, double peak) {
  return row.gflops() == 0 ? "--" : formatted("%.1f%%", 100 * row.gflops() / peak);
}

std::string shapes_text(const Shapes& shapes) {
  std::string text = "[";
  for (size_t i = 0; i < shapes.size(); ++i) {
    text += i ? ", [" : "[";
    for (size_t d = 0; d < shapes[i].size(); ++d) text += (d ? ", " : "") + std::to_string(shapes[i][d]);
    text += ']';
  }
  return text + ']';
}

/// Names may be any bytes: a table has one line a row, and no letter is cut in two.
std::string name_text(std::string name) {
  constexpr size_t kWidest = 55;
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  if (name.size() <= kWidest) return name;
  size_t cut = kWidest - 3;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0U) == 0x80U) --cut;
  return name.substr(0, cut) + "...";
}

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
  const auto by = std::find_if(kSortKeys.begin(), kSortKeys.end(), [&](const SortKey& each) { return each.name == wanted; });
  if (by == kSortKeys.end()) {
    std::string names;
    for (const SortKey& each : kSortKeys) names += str(each.name, ", ");
    fail("[KeyAverages::table] cannot sort by '", key, "': the columns are ", names, "name");
  }
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return by->of(a) > by->of(b); });
  return sorted;
}

std::string KeyAverages::table(const TableOptions& options, Site /*site*/) const {
  if (options.row_limit < -1) fail("[KeyAverages::table] row_limit is ", options.row_limit, ": give a number of rows, or -1 for all");
  nanoseconds self_cpu{0}, self_device{0};
  bool any_bytes = false, any_memory = false, any_flops = false;
  for (const KeyAverage& row : rows_) {
    self_cpu += row.self_cpu_time_total;
    self_device += row.self_device_time_total;
    any_bytes |= row.bytes != 0;
    any_memory |= row.memory != 0;
    any_flops |= row.flops != 0;
  }
  const bool any_device = self_device.count() != 0;
  std::vector<std::vector<std::string>> lines;
  const auto line = [&](auto&& name, auto&& cpu, auto&& device, auto&& bytes, auto&& memory, auto&& flops, auto&& share, auto&& shapes) {
    std::vector<std::string> cells = {name};
    cells.insert(cells.end(), cpu.begin(), cpu.end() - 1);
    if (any_device) cells.insert(cells.end(), device.begin(), device.end());
    if (any_bytes) cells.push_back(bytes);
    if (any_memory) cells.push_back(memory);
    cells.push_back(cpu.back());
    if (any_flops) cells.push_back(flops);
    if (any_flops && options.peak_gflops > 0) cells.push_back(share);
    if (by_shape_) cells.push_back(shapes);
    lines.push_back(std::move(cells));
  };
  using Cells = std::vector<std::string>;
  line("Name", Cells{"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"},
       Cells{"Self device", "Self device %", "Device total", "Device time avg"}, "Copied", "Memory", "GFLOP/s", "of peak", "Input Shapes");
  int64_t left = options.row_limit < 0 ? static_cast<int64_t>(rows_.size()) : options.row_limit;
  for (const KeyAverage& row : sorted_by(options.sort_by)) {
    if (left-- == 0) break;
    line(name_text(row.key),
         Cells{percent(row.self_cpu_time_total, self_cpu), time_text(row.self_cpu_time_total), percent(row.cpu_time_total, self_cpu),
               time_text(row.cpu_time_total), time_text(average(row.cpu_time_total, row.count)), std::to_string(row.count)},
         Cells{time_text(row.self_device_time_total), percent(row.self_device_time_total, self_device), time_text(row.device_time_total),
               time_text(average(row.device_time_total, row.count))},
         bytes_text(row.bytes), bytes_text(row.memory), rate_text(row), share_text(row, options.peak_gflops), shapes_text(row.shapes));
  }
  std::vector<size_t> widths(lines[0].size(), 0);
  for (const auto& cells : lines)
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  std::string rule;
  for (const size_t width : widths) rule += std::string(width, '-') + "  ";
  rule += '\n';
  std::string text = rule;
  for (size_t row = 0; row < lines.size(); ++row) {
    for (size_t i = 0; i < lines[row].size(); ++i) text += tandem::detail::padded(lines[row][i], widths[i], true) + "  ";
    text += '\n';
    if (row == 0) text += rule;
  }
  text += rule + "Self CPU time total: " + time_text(self_cpu) + '\n';
  if (any_device) text += "Self device time total: " + time_text(self_device) + '\n';
  return text;
}

}  // namespace tandem::profiler
