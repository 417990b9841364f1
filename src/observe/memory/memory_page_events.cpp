// The events of the memory's page: the latest as a table, and all of them as a list that a script of the page looks through.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/format.h"
#include "base/json_text.h"
#include "io/html.h"
#include "observe/memory/memory_page_html.h"
#include "runtime/memory_text.h"

namespace tandem::cuda::memory::detail {
namespace {

using io::escaped;
using runtime::readable_size;
using tandem::detail::formatted;

constexpr size_t kMostShown = 300;     // of those that are chosen
constexpr size_t kMostKept = 200'000;  // in the page: about 7 MB

std::string line_of(const HistoryEntry& event) { return event.file.empty() ? "-" : runtime::line_text(event.file.c_str(), event.line); }
double seconds_of(const HistoryEntry& event, const HistoryEntry& first) {
  return std::chrono::duration<double>(event.time - first.time).count();
}

/// Each text once, by the number under which it was first given.
class Texts {
 public:
  size_t operator()(const std::string& text) { return numbers_.try_emplace(text, numbers_.size()).first->second; }
  [[nodiscard]] std::string json() const {
    std::vector<std::string> all(numbers_.size());
    for (const auto& [text, number] : numbers_) all[number] = text;
    std::string json = tandem::detail::json_text(nlohmann::json(all));
    // Inside of a script's element, where "</script>" in a file's name would end it.
    for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
    return json;
  }

 private:
  std::map<std::string, size_t> numbers_;
};

/// The events from `first` on for the script, the latest first: [microseconds, action, bytes, address, stream, line], actions and lines by
/// their numbers.
std::string as_json(const std::vector<HistoryEntry>& events, size_t first) {
  Texts actions, lines;
  std::string list;
  for (size_t i = events.size(); i-- > first;) {
    const HistoryEntry& event = events[i];
    list += str(list.empty() ? "[" : ",[", formatted("%.0f", 1e6 * seconds_of(event, events.front())), ",", actions(event.action), ",",
                event.size, ",\"", address_text(event.address), "\",", event.stream, ",", lines(line_of(event)), "]");
  }
  return str(R"({"actions":)", actions.json(), R"(,"lines":)", lines.json(), R"(,"events":[)", list, "]}");
}

}  // namespace

// A word is looked for in an event's action, line, address and stream; all words must be there.
const char* const kEventsScript = R"js(
"use strict";
const UNITS = ["bytes", "KiB", "MiB", "GiB"];
const readable = bytes => {
  let unit = 0;
  for (; bytes > 1024 && unit < UNITS.length - 1; ++unit) bytes /= 1024;
  return (unit ? bytes.toFixed(2) : bytes) + " " + UNITS[unit];
};
for (const panel of document.querySelectorAll(".events")) {
  const {actions, lines, events} = JSON.parse(panel.querySelector("script").textContent);
  const [words, action, least] = panel.querySelectorAll("input, select"), body = panel.querySelector("tbody");
  action.append(...actions.map(name => Object.assign(document.createElement("option"), {textContent: name})));
  const show = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean), only = actions.indexOf(action.value);
    const chosen = events.filter(([, kind, bytes, address, stream, line]) => bytes >= Number(least.value) && (only < 0 || kind === only) &&
        wanted.every(word => `${actions[kind]} ${address} stream=${stream} ${lines[line]}`.toLowerCase().includes(word)));
    body.replaceChildren(...chosen.slice(0, Number(panel.dataset.most)).map(([time, kind, bytes, address, stream, line]) => {
      const row = document.createElement("tr");
      for (const text of [(time / 1e6).toFixed(4), actions[kind], readable(bytes), address, stream, lines[line]])
        row.append(Object.assign(document.createElement("td"), {textContent: text}));
      return row;
    }));
    panel.querySelector("[role=status]").textContent = `${chosen.length.toLocaleString("en")} of ${events.length.toLocaleString("en")} events` +
        (chosen.length > body.rows.length ? `, the latest ${body.rows.length} are shown` : "");
  };
  for (const field of [words, action, least]) field.addEventListener("input", show);
  panel.querySelector(".find").hidden = false;
}
)js";

std::string events_panels(const std::string& device, const std::vector<HistoryEntry>& events) {
  if (events.empty()) return "";
  const size_t first = events.size() - std::min(events.size(), kMostShown);
  std::vector<std::vector<std::string>> rows;
  for (size_t i = events.size(); i-- > first;) {
    const HistoryEntry& event = events[i];
    rows.push_back({seconds_text(seconds_of(event, events.front())), event.action, readable_size(event.size), address_text(event.address),
                    str(event.stream), escaped(line_of(event))});
  }
  const size_t kept = events.size() - std::min(events.size(), kMostKept);
  const std::string told =
      str(plural(events.size(), "event"), rows.size() < events.size() ? str(", the latest ", rows.size(), " are shown") : "",
          kept > 0 ? str("; fields find the latest ", kMostKept) : "");
  return str(
      "<h3>Events</h3><div class=\"panel\"><details class=\"events\" data-most=\"", kMostShown, "\"><summary>", told,
      "</summary><div class=\"find\" hidden><label>Words <input type=\"search\" placeholder=\"part of a line, an address\" "
      "aria-label=\"Words in events of ",
      device,
      "\"></label><label>Action <select><option value=\"\">all</option></select></label>"
      "<label>At least <select><option value=\"0\">any size</option><option value=\"1024\">1 KiB</option>"
      "<option value=\"1048576\">1 MiB</option><option value=\"10485760\">10 MiB</option><option value=\"104857600\">100 MiB</option>"
      "<option value=\"1073741824\">1 GiB</option></select></label><p role=\"status\"></p></div>",
      table("The latest first", {"seconds", "action", "bytes", "address", "stream", "line"}, rows), "<script type=\"application/json\">",
      as_json(events, kept), "</script></details></div>");
}

}  // namespace tandem::cuda::memory::detail
