// The table, in the form of nvidia-smi's.
#include "observe/smi/smi_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "base/version.h"
#include "observe/local_time.h"

namespace tandem::smi {
namespace {

using detail::TableStyle;

constexpr size_t kNarrowest = 36, kWidest = 117, kGap = 2, kBar = 10;
constexpr const char *kBold = "\x1b[1m", *kGreen = "\x1b[32m", *kYellow = "\x1b[33m", *kRed = "\x1b[31m", *kPlain = "\x1b[0m";

/// `text` in a field of `width`, cut where it is longer. Bytes count as columns.
std::string left(std::string_view text, size_t width) {
  std::string out(text.substr(0, width));
  if (text.size() > width && width > 3) out.replace(width - 3, 3, "...");
  out.resize(width, ' ');
  return out;
}
std::string right(const std::string& text, size_t width) { return tandem::detail::padded(text, width, true); }

std::string mebibytes(size_t bytes) { return str((bytes + (size_t{1} << 19)) >> 20, "MiB"); }

std::string gauge(std::optional<int> value, const char* unit) { return value ? str(*value, unit) : "N/A"; }

std::string watts(std::optional<int> milliwatts) { return milliwatts ? tandem::detail::formatted("%.0fW", *milliwatts / 1000.0) : "N/A"; }

/// A share of one as a bar.
std::string bar(double share, const TableStyle& style) {
  const auto full = static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBar));
  std::string out;
  if (style.color) out += share >= 0.95 ? kRed : share >= 0.75 ? kYellow : kGreen;
  for (size_t i = 0; i < kBar; ++i) {
    if (style.color && i == full) out += kPlain;
    out += style.unicode ? (i < full ? "━" : "·") : (i < full ? "=" : ".");
  }
  return style.color && full == kBar ? out + kPlain : out;
}

/// A column of one of the two tables, whose rows are `Row`.
template <class Row>
struct Column {
  const char* head;
  size_t width;    // 0: whatever the others leave, at least 8
  int importance;  // what has the lowest goes first where there is no room; 9: stays
  bool at_left;
  std::function<std::string(const Row&)> text;
};

/// The columns that a line of `inside` has room for, with their widths.
template <class Row>
std::vector<Column<Row>> fitting(std::vector<Column<Row>> columns, size_t inside) {
  constexpr size_t kNarrowestName = 8;
  for (;;) {
    size_t taken = kGap * (columns.size() - 1);
    for (const auto& column : columns) taken += column.width;
    const bool fits = taken + kNarrowestName <= inside;
    const auto least =
        std::min_element(columns.begin(), columns.end(), [](const auto& a, const auto& b) { return a.importance < b.importance; });
    if (!fits && least->importance < 9) {
      columns.erase(least);
      continue;
    }
    for (auto& column : columns)
      if (column.width == 0) column.width = inside > taken ? inside - taken : 1;
    return columns;
  }
}

class Lines {
 public:
  explicit Lines(const TableStyle& style) : style_(style), inside_(std::clamp(style.width, kNarrowest, kWidest) - 4) {}

  [[nodiscard]] size_t inside() const { return inside_; }
  void rule(char mark) { out_ += "+" + std::string(inside_ + 2, mark) + "+\n"; }
  void text(const std::string& line) { out_ += "| " + left(line, inside_) + " |\n"; }
  template <class Row>
  void head(const std::vector<Column<Row>>& columns) {
    put(columns, [this](const Column<Row>& column) {
      const std::string cell = column.at_left ? left(column.head, column.width) : right(column.head, column.width);
      return style_.color ? kBold + cell + kPlain : cell;
    });
  }
  template <class Row>
  void row(const std::vector<Column<Row>>& columns, const Row& row) {
    put(columns, [&](const Column<Row>& column) {
      const std::string cell = column.text(row);
      return column.at_left ? (column.importance == kIsBar ? cell : left(cell, column.width)) : right(cell, column.width);
    });
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

  static constexpr int kIsBar = 1;

 private:
  template <class Row, class Cell>
  void put(const std::vector<Column<Row>>& columns, Cell cell) {
    out_ += "| ";
    for (size_t i = 0; i < columns.size(); ++i) out_ += (i ? std::string(kGap, ' ') : "") + cell(columns[i]);
    out_ += " |\n";
  }

  const TableStyle& style_;
  size_t inside_;
  std::string out_;
};

double share_of_memory(const Gpu& gpu) {
  return gpu.memory_total ? static_cast<double>(gpu.memory_used) / static_cast<double>(gpu.memory_total) : 0;
}

std::vector<Column<Gpu>> gpu_columns(std::span<const Gpu> gpus, const TableStyle& style, size_t inside) {
  constexpr size_t kRoomForTotal = 43;
  const auto any = [gpus](std::optional<int> Gpu::*value) {
    return std::any_of(gpus.begin(), gpus.end(), [value](const Gpu& gpu) { return gpu.*value; });
  };
  std::vector<Column<Gpu>> columns = {{"GPU", 3, 9, false, [](const Gpu& gpu) { return str(gpu.index); }},
                                      {"Name", 0, 9, true, [](const Gpu& gpu) { return gpu.name; }},
                                      {"Program", 9, 5, false, [](const Gpu& gpu) { return gpu.is_virtual ? str(gpu.program) : "-"; }}};
  if (inside < kRoomForTotal) columns.push_back({"Memory", 9, 9, false, [](const Gpu& gpu) { return mebibytes(gpu.memory_used); }});
  else
    columns.push_back({"Memory-Usage", 21, 9, false,
                       [](const Gpu& gpu) { return str(mebibytes(gpu.memory_used), " / ", right(mebibytes(gpu.memory_total), 9)); }});
  if (style.bars) columns.push_back({"", kBar, Lines::kIsBar, true, [&style](const Gpu& gpu) { return bar(share_of_memory(gpu), style); }});
  columns.push_back({"Util", 5, 9, false, [](const Gpu& gpu) { return gauge(gpu.utilization, "%"); }});
  if (style.bars)
    columns.push_back(
        {"", kBar, Lines::kIsBar, true, [&style](const Gpu& gpu) { return bar(gpu.utilization.value_or(0) / 100.0, style); }});
  // A gauge that no GPU has is the first to go.
  columns.push_back({"Temp", 5, any(&Gpu::temperature) ? 4 : 0, false, [](const Gpu& gpu) { return gauge(gpu.temperature, "C"); }});
  columns.push_back({"Power", 6, any(&Gpu::power_draw) ? 3 : 0, false, [](const Gpu& gpu) { return watts(gpu.power_draw); }});
  return columns;
}

struct Use {
  int index;
  const Process* process;
};

std::vector<Column<Use>> process_columns() {
  return {{"GPU", 3, 9, false, [](const Use& use) { return str(use.index); }},
          {"PID", 9, 9, false, [](const Use& use) { return str(use.process->pid); }},
          {"Process name", 0, 9, true, [](const Use& use) { return use.process->name; }},
          {"GPU Memory", 10, 2, false, [](const Use& use) { return mebibytes(use.process->memory_used); }},
          {"Tensors", 10, 3, false, [](const Use& use) { return mebibytes(use.process->tensor_bytes); }}};
}

}  // namespace

std::string detail::table(std::span<const Gpu> gpus, const TableStyle& style) {
  Lines lines(style);
  lines.rule('-');
  lines.text(str("tandem smi ", kVersion, "   ", observe::local_time()));
  lines.rule('-');
  const auto columns = fitting(gpu_columns(gpus, style, lines.inside()), lines.inside());
  lines.head(columns);
  lines.rule('=');
  for (const Gpu& gpu : gpus) lines.row(columns, gpu);
  if (gpus.empty()) {
    lines.text("No GPUs: set TANDEM_VIRTUAL_GPUS=2 for two virtual ones");
    lines.text("where a program is started");
  }
  lines.rule('-');
  const auto uses = fitting(process_columns(), lines.inside());
  lines.head(uses);
  lines.rule('=');
  bool any = false;
  for (const Gpu& gpu : gpus)
    for (const Process& process : gpu.processes) lines.row(uses, Use{gpu.index, &process}), any = true;
  if (!any) lines.text("No running processes found");
  lines.rule('-');
  return lines.take();
}

std::string table(std::span<const Gpu> gpus) { return detail::table(gpus, {}); }

std::string table() { return table(query()); }

}  // namespace tandem::smi
