#include "observe/profiler/chrome_trace.h"

#include <unistd.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/json_text.h"
#include "io/file.h"

namespace tandem::profiler {
namespace {

using nlohmann::json;

/// GPUs stand as processes of their own; the system gives no process such a number.
constexpr int64_t kFirstDevice = 1'000'000'000;

int64_t process_of(const Event& event) { return event.device.is_cuda() ? kFirstDevice + event.device.index() : getpid(); }
int64_t thread_of(const Event& event) { return event.on_device() ? event.stream : event.thread; }

std::string json_text(std::string_view text) { return tandem::detail::json_text(json(text)); }

/// Microseconds, which the format wants, to the nanosecond.
std::string microseconds(nanoseconds time) {
  return tandem::detail::formatted("%lld.%03lld", static_cast<long long>(time.count() / 1000), static_cast<long long>(time.count() % 1000));
}

class Writer {
 public:
  Writer(const char* op, const std::string& path) : file_(op, path, io::MissingFolder::IsMade) {}

  template <class... Parts>
  void entry(const Parts&... parts) {
    text_ += std::exchange(any_, true) ? ",\n{" : "\n{";
    text_ += str(parts...);
    text_ += '}';
    if (text_.size() > kAtOnce) flush();
  }
  void raw(std::string_view text) { text_ += text; }
  void commit() {
    flush();
    file_.commit();
  }

 private:
  static constexpr size_t kAtOnce = size_t{1} << 20;
  void flush() {
    file_.write(text_.data(), text_.size());
    text_.clear();
  }

  io::AtomicFile file_;
  std::string text_;
  bool any_ = false;
};

void name_rows(Writer& out, const std::vector<Event>& events, const std::vector<ThreadName>& threads) {
  const auto name = [&](const char* what, int64_t process, int64_t thread, const std::string& text) {
    out.entry(R"("ph":"M","name":")", what, R"(","pid":)", process, R"(,"tid":)", thread, R"(,"args":{"name":)", json_text(text), "}");
  };
  name("process_name", getpid(), 0, "host");
  for (const ThreadName& each : threads) name("thread_name", getpid(), each.thread, str(each.name, " (", each.thread, ")"));
  std::set<std::pair<int, int>> streams;
  std::set<int> devices;
  for (const Event& event : events) {
    if (!event.device.is_cuda()) continue;
    devices.insert(event.device.index());
    if (event.on_device()) streams.insert({event.device.index(), event.stream});
  }
  for (const int device : devices) name("process_name", kFirstDevice + device, 0, gpu(device).str());
  for (const auto& [device, stream] : streams) name("thread_name", kFirstDevice + device, stream, str("stream ", stream));
}

void write_event(Writer& out, const Event& event) {
  std::string more;
  if (!event.file.empty()) more += str(R"(,"file":)", json_text(event.file), R"(,"line":)", event.line);
  if (event.launch >= 0) more += str(R"(,"launch":)", event.launch);
  if (event.parent >= 0) more += str(R"(,"parent":)", event.parent);
  if (event.forward_id >= 0) more += str(R"(,"forward id":)", event.forward_id);
  if (event.bytes) more += str(R"(,"bytes":)", event.bytes);
  if (event.memory) more += str(R"(,"memory":)", event.memory);
  if (event.flops) more += str(R"(,"flops":)", event.flops);
  if (!event.shapes.empty()) more += str(R"(,"Input Dims":)", json(event.shapes).dump());
  if (event.on_device()) more += str(R"(,"thread":)", event.thread);
  out.entry(R"("ph":"X","cat":)", json_text(event.category), R"(,"name":)", json_text(event.name), R"(,"pid":)", process_of(event),
            R"(,"tid":)", thread_of(event), R"(,"ts":)", microseconds(event.start), R"(,"dur":)", microseconds(event.duration),
            R"(,"args":{"id":)", event.id, more, "}");
}

void write_arrow(Writer& out, const char* category, int64_t id, const Event& from, const Event& to) {
  const auto end = [&](const char* phase, const Event& event) {
    out.entry(R"("ph":")", phase, R"(","cat":")", category, R"(","name":")", category, R"(","id":)", id, R"(,"pid":)", process_of(event),
              R"(,"tid":)", thread_of(event), R"(,"ts":)", microseconds(event.start), *phase == 'f' ? R"(,"bp":"e")" : "");
  };
  end("s", from);
  end("f", to);
}

}  // namespace

void write_chrome_trace(const char* op, const std::string& path, const std::vector<Event>& events, const std::vector<ThreadName>& threads,
                        size_t dropped) {
  Writer out(op, path);
  out.raw(R"({"displayTimeUnit":"ns","otherData":{"program":"tandem","dropped":)" + std::to_string(dropped) + "},\n\"traceEvents\":[");
  name_rows(out, events, threads);
  std::map<int64_t, const Event*> forward;
  std::map<Device, int64_t, decltype([](const Device& a, const Device& b) { return a.index() < b.index(); })> memory;
  for (const Event& event : events) {
    if (event.category == "memory") {
      int64_t& bytes = memory[event.device];
      bytes += event.bytes;
      out.entry(R"("ph":"C","name":"memory","pid":)", process_of(event), R"(,"tid":0,"ts":)", microseconds(event.start),
                R"(,"args":{"bytes":)", bytes, "}");
      continue;
    }
    write_event(out, event);
    if (event.launch >= 0) write_arrow(out, "launch", event.id, events[static_cast<size_t>(event.launch)], event);
    if (event.forward_id < 0 || !event.on_host()) continue;
    if (event.category != "backward") {
      forward.try_emplace(event.forward_id, &event);
    } else if (const auto at = forward.find(event.forward_id); at != forward.end()) {
      write_arrow(out, "backward", event.id, *at->second, event);
    }
  }
  out.raw("\n]}\n");
  out.commit();
}

std::vector<Event> read_chrome_trace(const std::string& path) {
  const io::InputFile file("read_chrome_trace", path);
  const json trace = json::parse(file.read(file.size(), 0), nullptr, false);
  const auto entries = trace.is_object() ? trace.find("traceEvents") : trace.end();
  if (!trace.is_object() || entries == trace.end() || !entries->is_array()) file.bad("this is no trace: there is no list of traceEvents");
  std::vector<Event> events;
  try {
    std::map<int64_t, int64_t> place;  // moments of memory have numbers, too, and are left out
    const auto time = [](const json& value) { return nanoseconds(std::llround(value.get<double>() * 1000)); };
    for (const json& entry : *entries) {
      if (entry.at("ph") != "X") continue;
      const json& args = entry.at("args");
      Event& event = events.emplace_back();
      event.name = entry.at("name");
      event.category = entry.at("cat");
      const auto process = entry.at("pid").get<int64_t>();
      if (process >= kFirstDevice) event.device = gpu(static_cast<int>(process - kFirstDevice));
      event.thread = entry.at("tid");
      if (event.on_device()) event.stream = static_cast<int>(std::exchange(event.thread, args.value("thread", int64_t{0})));
      event.start = time(entry.at("ts"));
      event.duration = time(entry.at("dur"));
      event.file = args.value("file", "");
      event.line = args.value("line", 0);
      event.parent = args.value("parent", int64_t{-1});
      event.launch = args.value("launch", int64_t{-1});
      event.forward_id = args.value("forward id", int64_t{-1});
      event.bytes = args.value("bytes", int64_t{0});
      event.memory = args.value("memory", int64_t{0});
      event.flops = args.value("flops", int64_t{0});
      event.shapes = args.value("Input Dims", std::vector<std::vector<int64_t>>());
      event.id = static_cast<int64_t>(events.size()) - 1;
      place[args.at("id").get<int64_t>()] = event.id;
    }
    for (Event& event : events)
      for (int64_t* const link : {&event.parent, &event.launch})
        if (*link >= 0) *link = place.at(*link);
  } catch (const std::exception& error) {
    file.bad("this is no trace of tandem's: ", error.what());
  }
  return events;
}

}  // namespace tandem::profiler
