#include "observe/ledger/ledger_report.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "runtime/memory_text.h"

namespace tandem::ledger {

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::Copy: return "copy";
    case Kind::Upload: return "upload";
    case Kind::Pageable: return "pageable copy";
    case Kind::Download: return "download";
    case Kind::Item: return "item";
    case Kind::Printing: return "printing";
    case Kind::Condition: return "if (tensor)";
    case Kind::Values: return "reading values";
    case Kind::Synchronize: return "synchronize";
    case Kind::FullQueue: return "full queue";
    case Kind::Memory: return "full memory";
    case Kind::Collective: return "collective";
  }
  return "";
}

std::string_view advice(Kind kind) {
  switch (kind) {
    case Kind::Copy: return "nobody waits; keep what is used together on one device: docs/ledger.md#copy";
    case Kind::Upload: return "pin_memory() the source and pass {.non_blocking = true}, or make it on the GPU: docs/ledger.md#upload";
    case Kind::Pageable: return "only page-locked memory need not be waited for: pin_memory() it once: docs/ledger.md#pageable-copy";
    case Kind::Download: return "gather results on the device and move them once: docs/ledger.md#download";
    case Kind::Item: return "keep the loss on the device and read it once an epoch: docs/ledger.md#item";
    case Kind::Printing: return "print after the loop, or every hundredth step: docs/ledger.md#printing";
    case Kind::Condition: return "choose between values with where(), or test them every hundredth step: docs/ledger.md#if-tensor";
    case Kind::Values: return "give sizes that are known before: where() or a product with the mask: docs/ledger.md#reading-values";
    case Kind::Synchronize: return "order streams with wait_stream() and events; only timing needs it: docs/ledger.md#synchronize";
    case Kind::FullQueue: return "the GPU has enough to do: the host may wait: docs/ledger.md#full-queue";
    case Kind::Memory: return "smaller batches, or let go of tensors earlier: docs/ledger.md#full-memory";
    case Kind::Collective: return "pass .async_op = true and wait later: docs/ledger.md#collective";
  }
  return "";
}

namespace detail {
namespace {

using tandem::detail::formatted;
using tandem::detail::padded;

std::string time_text(std::chrono::nanoseconds time) {
  const auto microseconds = static_cast<double>(time.count()) * 1e-3;
  if (microseconds < 1e3) return formatted("%.1f us", microseconds);
  return microseconds < 1e6 ? formatted("%.2f ms", microseconds * 1e-3) : formatted("%.2f s", microseconds * 1e-6);
}

int number(Device device) { return device.is_cpu() ? -1 : device.index(); }

std::string place(const Entry& entry) {
  if (entry.line == 0) return entry.file.empty() ? "(no line known)" : std::string(entry.file);
  return str(entry.file, ':', entry.line, entry.behind_line ? " or behind" : "");
}

std::string what(const Entry& entry) {
  std::string text(name(entry.kind));
  if (entry.op != text) text += str(" by ", entry.op);
  if (entry.from != entry.to) text += str(", ", entry.from, " to ", entry.to);
  else if (entry.from.is_cuda()) text += str(", ", entry.from);
  if (entry.own) text += str(" (", entry.reason, ", ordered by that line)");
  else if (!entry.reason.empty()) text += str(" (allowed: ", entry.reason, ")");
  return text;
}

}  // namespace

void Table::add(const Entry& entry) {
  Row& row = rows_[{entry.file, entry.line, entry.kind, entry.op, entry.reason, entry.own, entry.behind_line, number(entry.from),
                    number(entry.to)}];
  if (row.count++ == 0) row.first = entry;
  row.bytes += entry.bytes;
  row.waited += entry.waited;
}

std::string Table::text() const {
  if (rows_.empty()) return "nothing was copied or waited for\n";
  std::vector<const Row*> sorted;
  for (const auto& [key, row] : rows_) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Row* a, const Row* b) { return a->waited > b->waited; });
  std::vector<std::array<std::string, 5>> lines = {{"time lost", "count", "bytes", "line", "what"}};
  for (const Row* row : sorted)
    lines.push_back({time_text(row->waited), str(row->count), row->bytes ? runtime::readable_size(row->bytes) : "-", place(row->first),
                     what(row->first)});
  std::array<size_t, 4> widths{};
  for (const auto& line : lines)
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (size_t l = 0; l < lines.size(); ++l) {
    for (size_t i = 0; i < widths.size(); ++i) text += padded(lines[l][i], widths[i], i < 3) + "  ";
    text += lines[l].back() + '\n';
    // What the library does for itself is not the user's to mend.
    if (l == 0 || sorted[l - 1]->first.own) continue;
    text += str(std::string(widths[0] + widths[1] + widths[2] + 6, ' '), "-> ", advice(sorted[l - 1]->first.kind), '\n');
  }
  return text;
}

}  // namespace detail

std::string report(const std::vector<Entry>& entries) {
  detail::Table table;
  for (const Entry& entry : entries) table.add(entry);
  return table.text();
}

}  // namespace tandem::ledger
