#include "observe/profiler/key_averages_table.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/format.h"

namespace tandem::profiler {
namespace {

using tandem::detail::formatted;
using Shapes = std::vector<std::vector<int64_t>>;

constexpr size_t kWidestName = 55, kNarrowestName = 16;
constexpr int kStays = 99;  // the importance of a column that is never left out

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
std::string name_text(std::string name, size_t widest) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  if (name.size() <= widest) return name;
  size_t cut = widest - 3;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0U) == 0x80U) --cut;
  return name.substr(0, cut) + "...";
}

std::string average_text(nanoseconds total, int64_t count) {
  return time_text(count ? static_cast<double>(total.count()) / static_cast<double>(count) : 0);
}

struct Column {
  std::string head;
  int importance;  // where there is no room, what has the lowest goes first
  std::function<std::string(const KeyAverage&)> text;
  std::vector<std::string> cells = {};
  size_t width = 0;
};

/// All columns but the name that the rows have figures for, in PyTorch's order.
std::vector<Column> columns_of(const KeyAverages& averages, const TableOptions& options, bool by_shape, nanoseconds self_cpu,
                               nanoseconds self_device) {
  using Row = KeyAverage;
  const auto any = [&](auto Row::*figure) {
    return std::any_of(averages.begin(), averages.end(), [=](const Row& row) { return row.*figure != 0; });
  };
  std::vector<Column> columns = {{"Self CPU %", 9, [=](const Row& row) { return percent(row.self_cpu_time_total, self_cpu); }},
                                 {"Self CPU", 12, [](const Row& row) { return time_text(row.self_cpu_time_total); }},
                                 {"CPU total %", 1, [=](const Row& row) { return percent(row.cpu_time_total, self_cpu); }},
                                 {"CPU total", 7, [](const Row& row) { return time_text(row.cpu_time_total); }},
                                 {"CPU time avg", 3, [](const Row& row) { return average_text(row.cpu_time_total, row.count); }}};
  const auto add = [&columns](const char* head, int importance, std::function<std::string(const Row&)> text) {
    columns.push_back({head, importance, std::move(text)});
  };
  if (self_device.count() != 0) {
    add("Self device", kStays, [](const Row& row) { return time_text(row.self_device_time_total); });
    add("Self device %", 10, [=](const Row& row) { return percent(row.self_device_time_total, self_device); });
    add("Device total", 8, [](const Row& row) { return time_text(row.device_time_total); });
    add("Device time avg", 4, [](const Row& row) { return average_text(row.device_time_total, row.count); });
  }
  if (any(&Row::bytes)) add("Copied", 2, [](const Row& row) { return bytes_text(row.bytes); });
  if (any(&Row::memory)) add("Memory", 5, [](const Row& row) { return bytes_text(row.memory); });
  add("# of Calls", 11, [](const Row& row) { return std::to_string(row.count); });
  if (any(&Row::flops)) {
    add("GFLOP/s", 6, [](const Row& row) { return rate_text(row); });
    if (options.peak_gflops > 0) add("of peak", kStays, [peak = options.peak_gflops](const Row& row) { return share_text(row, peak); });
  }
  if (by_shape) add("Input Shapes", kStays, [](const Row& row) { return shapes_text(row.shapes); });
  return columns;
}

/// Fills the cells, leaves columns out until the rest fits, and gives what is left for names.
size_t fit(std::vector<Column>& columns, const std::vector<KeyAverage>& rows, size_t width) {
  size_t taken = 0;
  for (Column& column : columns) {
    column.width = column.head.size();
    for (const KeyAverage& row : rows) column.width = std::max(column.width, column.cells.emplace_back(column.text(row)).size());
    taken += column.width + 2;
  }
  if (width == 0) return kWidestName;
  const auto by_importance = [](const Column& a, const Column& b) { return a.importance < b.importance; };
  while (taken + kNarrowestName > width) {
    const auto least = std::min_element(columns.begin(), columns.end(), by_importance);
    if (least == columns.end() || least->importance == kStays) break;
    taken -= least->width + 2;
    columns.erase(least);
  }
  return std::clamp(width - std::min(width, taken), kNarrowestName, kWidestName);
}

}  // namespace

bool detail::any_device_time(const KeyAverages& averages) {
  return std::any_of(averages.begin(), averages.end(), [](const KeyAverage& row) { return row.self_device_time_total.count() != 0; });
}

std::string detail::table(const KeyAverages& averages, const TableOptions& options, bool by_shape, size_t width) {
  if (options.row_limit < -1) fail("[KeyAverages::table] row_limit is ", options.row_limit, ": give a number of rows, or -1 for all");
  nanoseconds self_cpu{0}, self_device{0};
  for (const KeyAverage& row : averages) {
    self_cpu += row.self_cpu_time_total;
    self_device += row.self_device_time_total;
  }
  std::vector<KeyAverage> rows = averages.sorted_by(options.sort_by);
  if (options.row_limit >= 0) rows.resize(std::min(rows.size(), static_cast<size_t>(options.row_limit)));
  std::vector<Column> columns = columns_of(averages, options, by_shape, self_cpu, self_device);
  const size_t widest = fit(columns, rows, width);
  Column name{"Name", kStays, [widest](const KeyAverage& row) { return name_text(row.key, widest); }};
  columns.insert(columns.begin(), std::move(name));
  columns[0].width = columns[0].head.size();
  for (const KeyAverage& row : rows)
    columns[0].width = std::max(columns[0].width, columns[0].cells.emplace_back(columns[0].text(row)).size());

  const auto line = [&columns](auto cell) {
    std::string out;
    for (const Column& column : columns) out += (out.empty() ? "" : "  ") + tandem::detail::padded(cell(column), column.width, true);
    return out + '\n';
  };
  const std::string rule = line([](const Column& column) { return std::string(column.width, '-'); });
  std::string text = rule + line([](const Column& column) { return column.head; }) + rule;
  for (size_t row = 0; row < rows.size(); ++row) text += line([row](const Column& column) { return column.cells[row]; });
  text += rule + "Self CPU time total: " + time_text(self_cpu) + '\n';
  if (self_device.count() != 0) text += "Self device time total: " + time_text(self_device) + '\n';
  return text;
}

}  // namespace tandem::profiler
