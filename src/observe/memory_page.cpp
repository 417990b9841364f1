// The memory as a page of HTML. Everything is drawn when it is written: the page has no script, and says in words what it shows.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "io/file.h"
#include "io/html.h"
#include "observe/local_time.h"
#include "observe/memory_history.h"
#include "runtime/driver.h"
#include "runtime/memory.h"
#include "runtime/memory_text.h"

namespace tandem::cuda::memory {
namespace {

using io::escaped;
using runtime::readable_size;
using tandem::detail::formatted;

constexpr size_t kMostPoints = 1000;   // of a timeline
constexpr size_t kMostSegments = 400;  // of a GPU, those with most free memory first
constexpr size_t kMostBlocks = 400;    // listed of a segment
constexpr size_t kMostEvents = 300;    // listed of a GPU
constexpr double kWidth = 1000, kHeight = 200;

// Colours after Okabe and Ito; what is free is hatched, too, so that nothing is told by its colour alone.
constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--page:#f4f5f7;--panel:#fff;--text:#1b1f24;--dim:#5d6570;--rule:#d9dde2;--held:#0067a8;--waits:#c74e00;--free:#e6e9ed;--hatch:#b4bbc4}
@media(prefers-color-scheme:dark){:root{--page:#111418;--panel:#1a1e24;--text:#e4e7eb;--dim:#98a2ae;--rule:#2b313a;--held:#63b8f0;--waits:#f39a55;--free:#262c34;--hatch:#48525f}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,"Segoe UI",Roboto,Arial,sans-serif}
main{max-width:1160px;margin:0 auto;padding:32px 24px 56px}
h1{font-size:26px;margin:0}h2{font-size:20px;margin:36px 0 8px}h3{font-size:16px;margin:24px 0 8px}
p{margin:4px 0 12px}.dim,figcaption,th{color:var(--dim);font-weight:500}
.panel{background:var(--panel);border:1px solid var(--rule);border-radius:10px;padding:14px 16px;overflow-x:auto;margin:0 0 12px}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:12px 0}
dl div{background:var(--panel);border:1px solid var(--rule);border-radius:10px;padding:10px 14px}
dt{color:var(--dim);font-size:13px}dd{margin:0;font-size:21px;font-weight:600}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
th,td{text-align:right;padding:4px 12px 4px 0;border-bottom:1px solid var(--rule);white-space:nowrap}
th:first-child,td:first-child{text-align:left}
svg{display:block;width:100%;height:auto}.bar{height:22px}
summary{cursor:pointer}summary:focus-visible,a:focus-visible{outline:2px solid var(--held);outline-offset:2px}
.held{fill:var(--held)}.waits{fill:var(--waits)}.free{fill:var(--free)}.hatch{stroke:var(--hatch);stroke-width:2}
.edge{stroke:var(--panel);stroke-width:1;vector-effect:non-scaling-stroke}
.line{fill:none;stroke-width:2;vector-effect:non-scaling-stroke}.allocated{stroke:var(--held)}.reserved{stroke:var(--waits);stroke-dasharray:6 4}
.axis{stroke:var(--rule);vector-effect:non-scaling-stroke}svg text{fill:var(--dim);font-size:13px}
.key::before{content:"";display:inline-block;width:22px;height:0;margin:0 6px 4px 0;border-top:3px solid var(--held)}
.key.dashed::before{border-top:3px dashed var(--waits)}.key+.key{margin-left:18px}
)css";

std::string number(double value) { return formatted("%.2f", value); }
std::string seconds_text(double value) { return formatted("%.4f", value); }
std::string percent(size_t part, size_t whole) {
  return formatted("%.1f %%", whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
}
std::string address_text(uintptr_t address) { return formatted("0x%llx", static_cast<unsigned long long>(address)); }
std::string line_of(const std::string& file, int line) { return file.empty() ? "unknown" : runtime::line_text(file.c_str(), line); }
std::string plural(size_t count, const char* what) { return str(count, " ", what, count == 1 ? "" : "s"); }

std::string figure(const char* name, const std::string& value) { return str("<div><dt>", name, "</dt><dd>", value, "</dd></div>"); }

/// A head and rows of cells that are HTML already.
std::string table(const std::string& caption, const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::string out = str("<table><caption class=\"dim\">", caption, "</caption><thead><tr>");
  for (const std::string& cell : head) out += str("<th scope=\"col\">", cell, "</th>");
  out += "</tr></thead><tbody>";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += str("<td>", cell, "</td>");
    out += "</tr>";
  }
  return out + "</tbody></table>";
}

struct Holder {
  std::string file;
  int line = 0;
  size_t bytes = 0, requested = 0, blocks = 0;
};

std::vector<Holder> holders(const std::vector<SegmentInfo>& segments) {
  std::map<std::pair<std::string, int>, Holder> by_line;
  for (const SegmentInfo& segment : segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == "inactive") continue;
      Holder& holder = by_line[{block.file, block.line}];
      holder.file = block.file;
      holder.line = block.line;
      holder.bytes += block.size;
      holder.requested += block.requested_size;
      ++holder.blocks;
    }
  }
  std::vector<Holder> out;
  for (auto& [line, holder] : by_line) out.push_back(std::move(holder));
  std::stable_sort(out.begin(), out.end(), [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return out;
}

std::string holders_panel(const std::vector<SegmentInfo>& segments, size_t reserved) {
  std::vector<std::vector<std::string>> rows;
  for (const Holder& holder : holders(segments))
    rows.push_back({str("<span title=\"", escaped(holder.file), "\">", escaped(line_of(holder.file, holder.line)), "</span>"),
                    readable_size(holder.bytes), percent(holder.bytes, reserved), str(holder.blocks), readable_size(holder.requested)});
  if (rows.empty()) return "<p>No tensor holds memory.</p>";
  return str("<div class=\"panel\">",
             table("Who asked for the memory that is held now", {"line", "bytes", "of what is reserved", "blocks", "asked for"}, rows),
             "</div>");
}

/// What was allocated and reserved after each event.
struct Moment {
  double seconds = 0;
  size_t allocated = 0, reserved = 0;
};

/// Backwards from what there is now, since the first events may be forgotten. Where there are too many, the most of several in a row.
std::vector<Moment> timeline(const std::vector<HistoryEntry>& events, size_t allocated, size_t reserved) {
  std::vector<Moment> all(events.size());
  for (size_t i = events.size(); i-- > 0;) {
    const HistoryEntry& event = events[i];
    all[i] = {std::chrono::duration<double>(event.time - events.front().time).count(), allocated, reserved};
    // A thread may have taken or freed memory since the figures were asked for: never below nothing.
    const auto back = [&event](size_t& figure, bool grew) { figure = grew ? figure - std::min(figure, event.size) : figure + event.size; };
    if (event.action == "alloc" || event.action == "free_requested") back(allocated, event.action == "alloc");
    if (event.action == "segment_alloc" || event.action == "segment_free") back(reserved, event.action == "segment_alloc");
  }
  const size_t step = all.size() / kMostPoints + 1;
  std::vector<Moment> out;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % step == 0) out.push_back(all[i]);
    out.back().allocated = std::max(out.back().allocated, all[i].allocated);
    out.back().reserved = std::max(out.back().reserved, all[i].reserved);
  }
  return out;
}

std::string steps(const std::vector<Moment>& moments, size_t Moment::*figure, double seconds, double most) {
  std::string path;
  for (const Moment& moment : moments) {
    const std::string x = number(moment.seconds / seconds * kWidth);
    const std::string y = number(kHeight - static_cast<double>(moment.*figure) / most * kHeight);
    path += path.empty() ? str("M", x, " ", y) : str("H", x, "V", y);
  }
  return path + str("H", kWidth);
}

std::string timeline_panel(const std::vector<Moment>& moments, size_t events) {
  if (moments.empty()) return "<p>No history: call cuda::memory::record_history() before what is to be seen.</p>";
  const double seconds = std::max(moments.back().seconds, 1e-6);
  size_t most = 1, peak = 0;
  for (const Moment& moment : moments) {
    most = std::max({most, moment.allocated, moment.reserved});
    peak = std::max(peak, moment.allocated);
  }
  const std::string words = str("Over ", seconds_text(seconds), " seconds and ", plural(events, "event"), " at most ", readable_size(peak),
                                " were allocated; at the end ", readable_size(moments.back().allocated), " of ",
                                readable_size(moments.back().reserved), " reserved.");
  std::string out = str("<figure class=\"panel\"><figcaption>", words,
                        "<br><span class=\"key\">allocated</span><span class=\"key dashed\">reserved</span></figcaption>",
                        "<svg viewBox=\"0 -8 ", kWidth, " ", kHeight + 34, "\" role=\"img\" aria-label=\"", words, "\">");
  for (const int part : {0, 1, 2}) {
    const double y = kHeight * part / 2;
    out += str("<line class=\"axis\" x1=\"0\" x2=\"", kWidth, "\" y1=\"", y, "\" y2=\"", y, "\"/>");
  }
  out += str("<path class=\"line reserved\" d=\"", steps(moments, &Moment::reserved, seconds, static_cast<double>(most)),
             "\"/><path class=\"line allocated\" d=\"", steps(moments, &Moment::allocated, seconds, static_cast<double>(most)), "\"/>");
  out += str("<text x=\"4\" y=\"14\">", readable_size(most), "</text><text x=\"4\" y=\"", kHeight + 18, "\">0 s</text><text x=\"", kWidth,
             "\" y=\"", kHeight + 18, "\" text-anchor=\"end\">", seconds_text(seconds), " s</text></svg>");
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < moments.size(); i += moments.size() / 50 + 1)
    rows.push_back({seconds_text(moments[i].seconds), readable_size(moments[i].allocated), readable_size(moments[i].reserved)});
  return out + "<details><summary>As numbers</summary>" + table("", {"seconds", "allocated", "reserved"}, rows) + "</details></figure>";
}

size_t free_bytes(const SegmentInfo& segment) { return segment.total_size - segment.active_size; }

std::string segment_panel(const SegmentInfo& segment) {
  const double scale = kWidth / static_cast<double>(segment.total_size);
  std::string bar;
  std::vector<std::vector<std::string>> rows;
  size_t offset = 0, holes = 0;
  for (const BlockInfo& block : segment.blocks) {
    const bool free = block.state == "inactive";
    holes += free;
    const char* const kind = free ? "free" : block.state == "active_allocated" ? "held" : "waits";
    const char* const words = free ? "free" : block.state == "active_allocated" ? "held" : "freed, another stream still uses it";
    const std::string line = free ? "" : escaped(line_of(block.file, block.line));
    const double x = static_cast<double>(offset) * scale, width = static_cast<double>(block.size) * scale;
    bar += str("<rect class=\"", kind, width > 4 ? " edge" : "", "\" x=\"", number(x), "\" width=\"", number(width), "\" height=\"22\">");
    if (width > 1) bar += str("<title>", line, line.empty() ? "" : ", ", readable_size(block.size), ", ", words, "</title>");
    bar += "</rect>";
    if (free && width > 4)
      bar += str("<line class=\"hatch\" x1=\"", number(x + 2), "\" y1=\"20\" x2=\"", number(x + width - 2), "\" y2=\"2\"/>");
    if (rows.size() < kMostBlocks) rows.push_back({line.empty() ? "-" : line, words, readable_size(block.size), str(offset)});
    offset += block.size;
  }
  const std::string words =
      str(readable_size(segment.total_size), " at ", address_text(segment.address), ", ", segment.is_large ? "large" : "small",
          " pool, stream ", segment.stream, ": ", readable_size(segment.allocated_size), " held, ", readable_size(free_bytes(segment)),
          " free in ", plural(holes, "hole"));
  std::string caption = plural(segment.blocks.size(), "block");
  if (rows.size() < segment.blocks.size()) caption += str(", the first ", rows.size(), " of them");
  return str("<div class=\"panel\"><svg class=\"bar\" viewBox=\"0 0 ", kWidth,
             " 22\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"", words, "\">", bar, "</svg><details><summary>", words,
             "</summary>", table(caption, {"line", "state", "bytes", "offset"}, rows), "</details></div>");
}

std::string events_panel(const std::vector<HistoryEntry>& events) {
  if (events.empty()) return "";
  const size_t first = events.size() - std::min(events.size(), kMostEvents);
  std::vector<std::vector<std::string>> rows;
  for (size_t i = events.size(); i-- > first;) {
    const HistoryEntry& event = events[i];
    rows.push_back({seconds_text(std::chrono::duration<double>(event.time - events.front().time).count()), event.action,
                    readable_size(event.size), address_text(event.address), str(event.stream),
                    event.file.empty() ? "-" : escaped(line_of(event.file, event.line))});
  }
  return str("<div class=\"panel\"><details><summary>The latest ", rows.size(), " of ", plural(events.size(), "event"), "</summary>",
             table("The latest first", {"seconds", "action", "bytes", "address", "stream", "line"}, rows), "</details></div>");
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
  std::string out =
      str("<section aria-labelledby=\"gpu-", device, "\"><h2 id=\"gpu-", device, "\">", name, " <span class=\"dim\">",
          escaped(get_device_properties(device).name), "</span></h2><dl>", figure("allocated", readable_size(allocated)),
          figure("most allocated", readable_size(stats.allocated_bytes.all.peak)), figure("reserved", readable_size(reserved)),
          figure("free in segments", readable_size(free)), figure("largest free block", readable_size(largest)),
          figure("fragmented", percent(free - largest, reserved)), figure("out of memory", str(stats.num_ooms)), "</dl>");
  out += "<h3>Over time</h3>" + timeline_panel(timeline(events, allocated, reserved), events.size());
  out += "<h3>Largest holders</h3>" + holders_panel(segments, reserved);
  out += "<h3>Segments</h3>";
  std::stable_sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return free_bytes(a) > free_bytes(b); });
  if (segments.size() > kMostSegments) out += str("<p>The ", kMostSegments, " of ", segments.size(), " with most free memory.</p>");
  for (size_t i = 0; i < std::min(segments.size(), kMostSegments); ++i) out += segment_panel(segments[i]);
  return out + "<h3>Events</h3>" + events_panel(events) + "</section>";
}

}  // namespace

void write_page(const std::string& path) {
  const int devices = runtime::require_driver().device_count();
  std::string sections;
  for (int device = 0; device < devices; ++device) sections += section(device);
  if (sections.empty()) sections = "<p>No GPU's memory is in use.</p>";
  io::write_file(
      "write_page", path,
      str("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width,initial-scale=1\"><title>GPU memory</title><style>",
          kStyle, "</style></head><body><main><h1>GPU memory</h1><p class=\"dim\">Process ", getpid(), ", ", observe::local_time(),
          ". Blue is held, orange waits for another stream, hatched is free.</p>", sections, "</main></body></html>\n"),
      io::MissingFolder::IsMade);
}

}  // namespace tandem::cuda::memory
