// The memory as a page of HTML. Everything is drawn when it is written, and said in words; a script only finds events.
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "io/file.h"
#include "io/html.h"
#include "observe/local_time.h"
#include "observe/memory/memory_history.h"
#include "observe/memory/memory_page_html.h"
#include "runtime/driver.h"
#include "runtime/memory.h"
#include "runtime/memory_text.h"

namespace tandem::cuda::memory {
namespace {

using namespace detail;
using io::escaped;
using runtime::readable_size;
using tandem::detail::formatted;

constexpr size_t kMostSegments = 400;  // of a GPU, those with most free memory first
constexpr size_t kMostBlocks = 400;    // listed of a segment

std::string number(double value) { return formatted("%.2f", value); }
std::string figure(const char* name, const std::string& value) { return str("<div><dt>", name, "</dt><dd>", value, "</dd></div>"); }

std::string holders_panel(const std::vector<SegmentInfo>& segments, size_t reserved) {
  std::vector<std::vector<std::string>> rows;
  for (const Holder& holder : holders(segments))
    rows.push_back({line_cell(holder.file, holder.line), readable_size(holder.bytes), percent(holder.bytes, reserved), str(holder.blocks),
                    readable_size(holder.requested)});
  if (rows.empty()) return "<p>No tensor holds memory.</p>";
  return str("<div class=\"panel\">",
             table("Who asked for the memory that is held now", {"line", "bytes", "of what is reserved", "blocks", "asked for"}, rows),
             "</div>");
}

size_t free_bytes(const SegmentInfo& segment) { return segment.total_size - segment.active_size; }

std::string segment_panel(const SegmentInfo& segment) {
  const double scale = 100 / static_cast<double>(segment.total_size);
  std::string bar;
  std::vector<std::vector<std::string>> rows;
  size_t offset = 0, holes = 0;
  for (const BlockInfo& block : segment.blocks) {
    const bool free = block.state == "inactive";
    holes += free;
    const char* const kind = free ? "free" : block.state == "active_allocated" ? "held" : "waits";
    const char* const words = free ? "free" : block.state == "active_allocated" ? "held" : "freed, another stream still uses it";
    const std::string line = free ? "" : line_words(block.file, block.line);
    const double width = static_cast<double>(block.size) * scale;
    bar += str("<span class=\"", kind, width > 0.4 ? " edge" : "", "\" style=\"left:", number(static_cast<double>(offset) * scale),
               "%;width:", number(width), "%\"");
    if (width > 0.1) bar += str(" title=\"", line, line.empty() ? "" : ", ", readable_size(block.size), ", ", words, "\"");
    bar += "></span>";
    if (rows.size() < kMostBlocks) rows.push_back({line.empty() ? "-" : line, words, readable_size(block.size), str(offset)});
    offset += block.size;
  }
  const std::string words =
      str(readable_size(segment.total_size), " at ", address_text(segment.address), ", ", segment.is_large ? "large" : "small",
          " pool, stream ", segment.stream, ": ", readable_size(segment.allocated_size), " held, ", readable_size(free_bytes(segment)),
          " free in ", plural(holes, "hole"));
  std::string caption = plural(segment.blocks.size(), "block");
  if (rows.size() < segment.blocks.size()) caption += str(", the first ", rows.size(), " of them");
  return str("<div class=\"panel\"><div class=\"bar\" role=\"img\" aria-label=\"", words, "\">", bar, "</div><details><summary>", words,
             "</summary>", table(caption, {"line", "state", "bytes", "offset"}, rows), "</details></div>");
}

std::string section(int device) {
  std::vector<SegmentInfo> segments = memory_snapshot(gpu(device));
  const MemoryStats stats = memory_stats(gpu(device));
  const std::vector<HistoryEntry> events = history(gpu(device));
  if (segments.empty() && events.empty()) return "";
  size_t largest = 0, free = 0;
  for (const SegmentInfo& segment : segments)
    for (const BlockInfo& block : segment.blocks)
      if (block.state == "inactive") largest = std::max(largest, block.size), free += block.size;
  const size_t allocated = stats.allocated_bytes.all.current, reserved = stats.reserved_bytes.all.current;
  const std::string name = gpu(device).str();
  std::string out = str("<section aria-labelledby=\"gpu-", device, "\"><h2 id=\"gpu-", device, "\">", name, " <span class=\"dim\">",
                        escaped(get_device_properties(device).name), "</span></h2><dl>", figure("allocated", readable_size(allocated)),
                        figure("most allocated", readable_size(stats.allocated_bytes.all.peak)),
                        figure("reserved", readable_size(reserved)), figure("free in segments", readable_size(free)),
                        figure("largest free block", readable_size(largest)), figure("fragmented", percent(free - largest, reserved)),
                        figure("out of memory", str(stats.num_ooms)), figure("segments", str(segments.size())), "</dl>");
  out += over_time_panels(over_time(events, segments, allocated, reserved), events.size());
  out += "<h3>Largest holders now</h3>" + holders_panel(segments, reserved);
  out +=
      "<h3>Segments</h3><p class=\"keys\"><span class=\"key\"><span class=\"swatch held\"></span>held</span>"
      "<span class=\"key\"><span class=\"swatch waits\"></span>freed, another stream still uses it</span>"
      "<span class=\"key\"><span class=\"swatch free\"></span>free</span></p>";
  std::stable_sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return free_bytes(a) > free_bytes(b); });
  if (segments.size() > kMostSegments) out += str("<p>The ", kMostSegments, " of ", segments.size(), " with most free memory.</p>");
  for (size_t i = 0; i < std::min(segments.size(), kMostSegments); ++i) out += segment_panel(segments[i]);
  return out + events_panels(name, events) + "</section>";
}

}  // namespace

void write_page(const std::string& path) {
  const int devices = runtime::require_driver().device_count();
  std::string sections;
  for (int device = 0; device < devices; ++device) sections += section(device);
  if (sections.empty()) sections = "<p>No GPU's memory is in use.</p>";
  io::write_file("write_page", path,
                 str("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                     "content=\"width=device-width,initial-scale=1\"><title>GPU memory</title><style>",
                     kPageStyle, "</style></head><body><main><h1>GPU memory</h1><p class=\"dim\">Process ", getpid(), ", ",
                     observe::local_time(), ".</p>", sections, "</main><script>", kEventsScript, "</script></body></html>\n"),
                 io::MissingFolder::IsMade);
}

}  // namespace tandem::cuda::memory
