#include "tools/board/timeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/event_reader.h"

namespace tandem::tools::board {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr size_t kMostBytes = size_t{64} << 20, kMostEvents = 6000, kEndOfRun = 2000;
constexpr double kSeen = 0.0002;                 // of the window: what is shorter is not drawn
constexpr int64_t kFirstDevice = 1'000'000'000;  // the number of cuda:0's process, as observe/profiler/chrome_trace.cpp has it
constexpr std::string_view kStep = "ProfilerStep#";
// The classes of optim/: an operation of such a name ends a training step.
constexpr std::array<std::string_view, 12> kOptimizers = {"SGD",    "ASGD",    "Adam",     "AdamW",   "NAdam", "RAdam",
                                                          "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "LBFGS"};

struct Slice {
  double begin, length;
  const json* entry;
  [[nodiscard]] double end() const { return begin + length; }
};

/// What the picture shows, in the trace's microseconds.
struct Window {
  std::string what;
  double begin = 0, end = 0;
};

int64_t whole(const json& entry, const char* name) {
  return entry.contains(name) && entry[name].is_number() ? entry[name].get<int64_t>() : 0;
}
std::string text(const json& entry, const char* name) {
  return entry.contains(name) && entry[name].is_string() ? entry[name].get<std::string>() : "";
}
/// The event's details; an empty object where it has none.
const json& details(const json& entry) {
  static const json none = json::object();
  return entry.contains("args") && entry["args"].is_object() ? entry["args"] : none;
}
bool on_device(const json& entry) { return whole(entry, "pid") >= kFirstDevice; }

/// From the end of one optimizer's work to the end of the next one's: on the GPU where it was done there, else on the host. Two operations
/// of an optimizer belong to one step where no backward pass lies between them.
std::optional<Window> last_training_step(const std::vector<Slice>& slices) {
  struct Group {
    std::set<int64_t> ids;
    double host_end = 0, device_end = -1;
  };
  std::vector<Group> groups;
  bool backward = true;
  for (const Slice& slice : slices) {  // by their ends
    const json& entry = *slice.entry;
    if (on_device(entry)) continue;
    if (text(entry, "cat") == "backward") backward = true;
    if (std::find(kOptimizers.begin(), kOptimizers.end(), text(entry, "name")) == kOptimizers.end()) continue;
    if (std::exchange(backward, false)) groups.emplace_back();
    groups.back().ids.insert(whole(details(entry), "id"));
    groups.back().host_end = slice.end();
  }
  if (groups.size() < 2) return std::nullopt;
  Group& last = groups.back();
  Group& before = groups[groups.size() - 2];
  for (const Slice& slice : slices) {
    const json& args = details(*slice.entry);
    if (!on_device(*slice.entry) || !args.contains("launch")) continue;
    for (Group* const group : {&before, &last})
      if (group->ids.contains(whole(args, "launch"))) group->device_end = std::max(group->device_end, slice.end());
  }
  const std::string what = str("the last training step, number ", groups.size(), " of the trace");
  if (before.device_end >= 0 && last.device_end > before.device_end) return Window{what, before.device_end, last.device_end};
  return Window{what, before.host_end, last.host_end};
}

Window window_of(const std::vector<Slice>& slices) {
  const Slice* step = nullptr;
  for (const Slice& slice : slices)
    if (text(*slice.entry, "name").starts_with(kStep)) step = &slice;
  if (step) return {text(*step->entry, "name"), step->begin, step->end()};
  if (auto training = last_training_step(slices)) return *std::move(training);
  Window window{"the end of the run", slices.back().end(), slices.back().end()};
  for (size_t i = slices.size() > kEndOfRun ? slices.size() - kEndOfRun : 0; i < slices.size(); ++i)
    window.begin = std::min(window.begin, slices[i].begin);
  return window;
}

/// Where a GPU did nothing: the share of the window, and the parts of it, those left out that are too short to be seen.
struct Idle {
  double share = 0;
  std::vector<std::pair<double, double>> gaps;  // since the window began
};

/// Of each GPU that has events.
std::map<int64_t, Idle> idle_gpus(const std::vector<Slice>& slices, const Window& window) {
  std::map<int64_t, std::vector<std::pair<double, double>>> busy;
  for (const Slice& slice : slices) {
    if (!on_device(*slice.entry)) continue;
    auto& all = busy[whole(*slice.entry, "pid")];
    const double begin = std::max(slice.begin, window.begin), end = std::min(slice.end(), window.end);
    if (begin < end) all.emplace_back(begin, end);
  }
  const double length = window.end - window.begin;
  std::map<int64_t, Idle> found;
  if (length <= 0) return found;
  for (auto& [process, all] : busy) {
    std::sort(all.begin(), all.end());
    all.emplace_back(window.end, window.end);
    Idle& idle = found[process];
    double until = window.begin;
    for (const auto& [begin, end] : all) {
      const double gap = std::max(0.0, begin - until);
      idle.share += gap / length;
      if (gap > kSeen * length) idle.gaps.emplace_back(until - window.begin, begin - window.begin);
      until = std::max(until, end);
    }
  }
  return found;
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
  for (const json& entry : document["traceEvents"]) {
    if (!entry.is_object()) continue;
    const std::string phase = text(entry, "ph");
    if (phase == "M") {
      if (text(entry, "name") == "process_name") processes[whole(entry, "pid")] = text(details(entry), "name");
      else if (text(entry, "name") == "thread_name") names[{whole(entry, "pid"), whole(entry, "tid")}] = text(details(entry), "name");
    }
    if (phase == "X" && entry.contains("ts") && entry.contains("dur") && entry["ts"].is_number() && entry["dur"].is_number())
      slices.push_back({entry["ts"].get<double>(), entry["dur"].get<double>(), &entry});
  }
  if (slices.empty()) return {{"why", "The trace holds no events."}};
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.end() < b.end(); });
  const Window window = window_of(slices);

  std::map<Row, ordered_json> rows;
  size_t count = 0;
  for (auto slice = slices.rbegin(); slice != slices.rend() && count < kMostEvents; ++slice) {
    // What is around all of it, such as a range over the whole run, tells nothing of the step.
    if (slice->end() <= window.begin || slice->begin >= window.end) continue;
    if (slice->begin < window.begin && slice->end() > window.end) continue;
    const json& entry = *slice->entry;
    const json& args = details(entry);
    const double begin = std::max(slice->begin, window.begin), end = std::min(slice->end(), window.end);
    std::string line = text(args, "file");
    if (!line.empty()) line += str(':', whole(args, "line"));
    ordered_json& row = rows[{whole(entry, "pid"), whole(entry, "tid")}];
    const auto number = [&](const char* name) { return args.contains(name) ? whole(args, name) : -1; };
    row.push_back({begin - window.begin, end - begin, text(entry, "name"), text(entry, "cat"), slice->length, whole(args, "bytes"), line,
                   on_device(entry) ? number("launch") : number("id")});
    ++count;
  }
  ordered_json all = ordered_json::array(), idle = ordered_json::array();
  const auto process_name = [&](int64_t process) { return processes.contains(process) ? processes[process] : str("process ", process); };
  for (auto& [row, events] : rows) {
    const auto [process, thread] = row;
    const std::string within = names.contains(row) ? names[row] : str("thread ", thread);
    all.push_back({{"device", process_name(process)}, {"stream", within}, {"events", std::move(events)}});
  }
  for (const auto& [process, gpu] : idle_gpus(slices, window))
    idle.push_back({{"device", process_name(process)}, {"share", gpu.share}, {"gaps", gpu.gaps}});
  return {{"what", window.what},     {"length", window.end - window.begin},
          {"shown", count},          {"events", slices.size()},
          {"idle", std::move(idle)}, {"rows", std::move(all)}};
}

}  // namespace tandem::tools::board
