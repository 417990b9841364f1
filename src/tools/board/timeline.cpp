#include "tools/board/timeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "io/event_reader.h"

namespace tandem::tools::board {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr size_t kMostBytes = size_t{64} << 20, kMostEvents = 2000;
constexpr std::string_view kStep = "ProfilerStep#";

struct Slice {
  double begin, length;
  const json* entry;
  [[nodiscard]] double end() const { return begin + length; }
};

int64_t whole(const json& entry, const char* name) {
  return entry.contains(name) && entry[name].is_number() ? entry[name].get<int64_t>() : 0;
}
std::string text(const json& entry, const char* name) {
  return entry.contains(name) && entry[name].is_string() ? entry[name].get<std::string>() : "";
}

}  // namespace

ordered_json timeline_of(const std::string& path) {
  const std::string bytes = io::read_part("board", path, 0, kMostBytes + 1);
  if (bytes.size() > kMostBytes)
    return {{"why", str("The trace has more than ", kMostBytes >> 20U, " MiB: open it in Perfetto, or profile a few steps.")}};
  const json document = json::parse(bytes, nullptr, false);
  if (!document.is_object() || !document.contains("traceEvents") || !document["traceEvents"].is_array())
    return {{"why", "The file is no trace, or is being written."}};

  using Row = std::tuple<int64_t, int64_t>;  // a process's and a thread's number
  std::map<Row, std::string> names;
  std::map<int64_t, std::string> processes;
  std::vector<Slice> slices;
  const Slice* step = nullptr;
  for (const json& entry : document["traceEvents"]) {
    if (!entry.is_object()) continue;
    const std::string phase = text(entry, "ph");
    if (phase == "M" && entry.contains("args") && entry["args"].is_object()) {
      if (text(entry, "name") == "process_name") processes[whole(entry, "pid")] = text(entry["args"], "name");
      else if (text(entry, "name") == "thread_name") names[{whole(entry, "pid"), whole(entry, "tid")}] = text(entry["args"], "name");
    }
    if (phase == "X" && entry.contains("ts") && entry.contains("dur") && entry["ts"].is_number() && entry["dur"].is_number())
      slices.push_back({entry["ts"].get<double>(), entry["dur"].get<double>(), &entry});
  }
  if (slices.empty()) return {{"why", "The trace holds no events."}};
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.end() < b.end(); });
  for (const Slice& slice : slices)
    if (text(*slice.entry, "name").starts_with(kStep)) step = &slice;
  double begin = slices.back().end();
  const double end = step ? step->end() : begin;
  if (step) begin = step->begin;
  else
    for (size_t i = slices.size() > kMostEvents ? slices.size() - kMostEvents : 0; i < slices.size(); ++i)
      begin = std::min(begin, slices[i].begin);

  std::map<Row, ordered_json> rows;
  size_t count = 0;
  for (auto slice = slices.rbegin(); slice != slices.rend() && count < kMostEvents; ++slice) {
    // What is around all of it, such as a range over the whole run, tells nothing of the step.
    if (slice->end() <= begin || slice->begin >= end || slice->begin < begin) continue;
    const json& entry = *slice->entry;
    ordered_json& row = rows[{whole(entry, "pid"), whole(entry, "tid")}];
    row.push_back({slice->begin - begin, slice->length, text(entry, "name"), text(entry, "cat")});
    ++count;
  }
  ordered_json all = ordered_json::array();
  for (auto& [row, events] : rows) {
    const auto [process, thread] = row;
    std::string name = processes.contains(process) ? processes[process] : str("process ", process);
    name += ", " + (names.contains(row) ? names[row] : str("thread ", thread));
    all.push_back({{"name", name}, {"events", std::move(events)}});
  }
  return {{"what", step ? text(*step->entry, "name") : "the end of the run"}, {"length", end - begin}, {"rows", std::move(all)}};
}

}  // namespace tandem::tools::board
