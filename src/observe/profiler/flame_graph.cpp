#include "observe/profiler/flame_graph.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/format.h"
#include "io/html.h"
#include "observe/profiler/stacks.h"

namespace tandem::profiler {
namespace {

using io::escaped;
using tandem::detail::formatted;

constexpr double kNarrowest = 0.05;  // percent: what is narrower is left out
constexpr size_t kMostLines = 30;
constexpr int kRow = 22;  // pixels
constexpr int kMostRows = 200;
constexpr size_t kMostGraphs = 16;  // of threads, and of GPUs

constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--page:#f4f5f7;--panel:#fff;--text:#1b1f24;--dim:#5d6570;--rule:#d9dde2;--f0:#9cc9e8;--f1:#f4bf98;--f2:#97d6c1;--f3:#dcb5d3}
@media(prefers-color-scheme:dark){:root{--page:#111418;--panel:#1a1e24;--text:#e4e7eb;--dim:#98a2ae;--rule:#2b313a;--f0:#1f567c;--f1:#7c4419;--f2:#1d6550;--f3:#6a3a60}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,"Segoe UI",Roboto,Arial,sans-serif}
main{max-width:1400px;margin:0 auto;padding:28px 20px 48px}
h1{font-size:24px;margin:0}h2{font-size:18px;margin:28px 0 6px}p{margin:4px 0 10px;color:var(--dim)}
.flames{position:relative;background:var(--panel);border:1px solid var(--rule);border-radius:8px;overflow:hidden}
.flames button{position:absolute;height:21px;border:0;border-radius:2px;padding:0 4px;font:12px/21px system-ui,sans-serif;color:var(--text);text-align:left;
white-space:nowrap;overflow:hidden;text-overflow:ellipsis;cursor:pointer;min-width:1px}
.f0{background:var(--f0)}.f1{background:var(--f1)}.f2{background:var(--f2)}.f3{background:var(--f3)}
.flames button:hover,.flames button:focus-visible{outline:2px solid var(--text);outline-offset:-2px;z-index:1}
.panel{background:var(--panel);border:1px solid var(--rule);border-radius:8px;overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:4px 12px;border-bottom:1px solid var(--rule);white-space:nowrap}th:last-child,td:last-child{text-align:left;width:99%}
)css";

constexpr const char* kScript = R"js(
for (const graph of document.querySelectorAll(".flames")) {
  const frames = [...graph.children];
  const show = (begin, wide) => frames.forEach(frame => {
    const left = (frame.dataset.l - begin) / wide * 100, width = frame.dataset.w / wide * 100;
    frame.hidden = left + width <= 0.01 || left >= 99.99;
    frame.style.left = Math.max(0, left) + "%";
    frame.style.width = Math.min(100, left + width) - Math.max(0, left) + "%";
  });
  let shown = null;
  graph.addEventListener("click", event => {
    const frame = event.target.closest("button");
    shown = frame && frame !== shown ? frame : null;
    shown ? show(Number(shown.dataset.l), Number(shown.dataset.w)) : show(0, 100);
  });
}
document.documentElement.dataset.ready = "yes";
)js";

std::string time_text(nanoseconds time) {
  const auto ns = static_cast<double>(time.count());
  return ns >= 1e9 ? formatted("%.2f s", ns * 1e-9) : ns >= 1e6 ? formatted("%.2f ms", ns * 1e-6) : formatted("%.1f µs", ns * 1e-3);
}

std::string position(double percent) { return formatted("%.3f", percent); }
std::string percent(double value) {
  if (value < 0.05) return "under 0.1 %";
  return value < 10 ? formatted("%.1f %%", value) : formatted("%.0f %%", value);
}

using Children = std::vector<std::vector<size_t>>;  // of each node, largest first

/// Draws what is within a node. Gives the deepest row.
int draw(std::string& out, const std::vector<StackNode>& nodes, const Children& children, size_t node, double left, double width, int row) {
  int deepest = row - 1;
  if (row == kMostRows) return deepest;
  for (const size_t each : children[node]) {
    const double all = static_cast<double>(std::max<int64_t>(1, nodes[node].total.count()));
    const double wide = width * static_cast<double>(nodes[each].total.count()) / all;
    if (wide < kNarrowest) break;
    const std::string& name = nodes[each].frame;
    const std::string title = escaped(str(name, ": ", time_text(nodes[each].total), ", ", percent(wide)));
    const size_t colour = std::hash<std::string_view>()(std::string_view(name).substr(0, name.find(" ("))) % 4;
    out += str("<button type=\"button\" class=\"f", colour, "\" style=\"top:", row * kRow, "px;left:", position(left),
               "%;width:", position(wide), "%\" data-l=\"", position(left), "\" data-w=\"", position(wide), "\" title=\"", title,
               "\" aria-label=\"", title, "\">", escaped(nodes[each].label), "</button>\n");
    deepest = std::max({deepest, row, draw(out, nodes, children, each, left, wide, row + 1)});
    left += wide;
  }
  return deepest;
}

void add_graph(std::string& page, const std::string& title, const char* what, const std::vector<StackNode>& nodes) {
  Children children(nodes.size());
  for (size_t i = 1; i < nodes.size(); ++i) children[nodes[i].parent].push_back(i);
  for (auto& each : children)
    std::stable_sort(each.begin(), each.end(), [&](size_t a, size_t b) { return nodes[a].total > nodes[b].total; });
  std::string frames;
  const int deepest = draw(frames, nodes, children, 0, 0, 100, 0);
  page += str("<h2>", title, "</h2>\n<p>", time_text(nodes[0].total), " ", what,
              deepest + 1 == kMostRows ? str("; no more than ", kMostRows, " rows are drawn") : "",
              "</p>\n<div class=\"flames\" role=\"group\" aria-label=\"", title, "\" style=\"height:", std::max(1, deepest + 1) * kRow + 2,
              "px\">\n", frames, "</div>\n");
}

/// The innermost of all stacks, by name and line, what took most first.
void add_lines(std::string& page, const char* title, const std::vector<StackNode>& nodes) {
  std::map<std::string_view, std::pair<nanoseconds, const StackNode*>> lines;
  for (const StackNode& node : nodes) {
    if (node.self.count() <= 0) continue;
    auto& [time, first] = lines[node.frame];
    time += node.self;
    first = &node;
  }
  std::vector<std::pair<nanoseconds, const StackNode*>> most;
  for (const auto& [frame, line] : lines) most.push_back(line);
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (most.size() > kMostLines) most.resize(kMostLines);
  page +=
      str("<h2>", title, "</h2>\n<div class=\"panel\"><table><thead><tr><th>time</th><th>share</th><th>what</th></tr></thead><tbody>\n");
  const auto all = static_cast<double>(nodes[0].total.count());
  for (const auto& [time, node] : most)
    page += str("<tr><td>", time_text(time), "</td><td>", percent(100. * static_cast<double>(time.count()) / all), "</td><td title=\"",
                escaped(node->frame), "\">", escaped(node->label), "</td></tr>\n");
  page += "</tbody></table></div>\n";
}

/// A graph of each thread or GPU, the one with most time first. `of` says which an event belongs to, `title` what to call it.
template <class Of, class Title>
void add_graphs(std::string& page, const std::vector<Event>& events, bool on_device, const char* what, Of of, Title title) {
  std::map<int64_t, nanoseconds> times;
  for (const Event& event : events)
    if (on_device ? event.on_device() && event.launch >= 0 : event.on_host() && event.parent < 0) times[of(event)] += event.duration;
  std::vector<std::pair<int64_t, nanoseconds>> order(times.begin(), times.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (size_t i = 0; i < std::min(order.size(), kMostGraphs); ++i) {
    const int64_t which = order[i].first;
    const auto nodes = stacks_of(events, on_device, [&](const Event& event) { return of(event) == which; });
    if (nodes.size() > 1) add_graph(page, title(which, order.size()), what, nodes);
  }
  if (order.size() > kMostGraphs) page += str("<p>The ", kMostGraphs, " of ", order.size(), " in which most time went.</p>\n");
}

}  // namespace

std::string flame_graph_page(const std::vector<Event>& events) {
  std::string page =
      str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\"><title>Where the time went</title><style>",
          kStyle,
          "</style></head>\n<body><main><h1>Where the time went</h1>\n"
          "<p>A frame is as wide as the time that it took, and stands below what it was a part of. A click or Enter enlarges one, a second "
          "one shows all again.</p>\n");
  const auto host = stacks_of(events, false), device = stacks_of(events, true);
  if (host.size() > 1) {
    add_graphs(
        page, events, false, "on this thread", [](const Event& event) { return event.thread; },
        [](int64_t thread, size_t threads) { return threads == 1 ? "Host" : str("Host, thread ", thread); });
    add_lines(page, "Host, by line", host);
  }
  if (device.size() > 1) {
    add_graphs(
        page, events, true, "of work on its streams, by what queued it",
        [](const Event& event) { return int64_t{event.device.is_cuda() ? event.device.index() : -1}; },
        [](int64_t index, size_t) { return str("cuda:", index); });
    add_lines(page, "GPUs, by line", device);
  }
  if (host.size() == 1 && device.size() == 1) page += "<p>Nothing was recorded.</p>\n";
  return page + "</main><script>" + kScript + "</script></body></html>\n";
}

}  // namespace tandem::profiler
