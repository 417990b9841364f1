#include "observe/profiler/profiler.h"

#include <exception>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "io/file.h"
#include "observe/profiler/chrome_trace.h"
#include "observe/profiler/flame_graph.h"
#include "observe/profiler/profile_events.h"
#include "observe/profiler/profile_recorder.h"
#include "observe/profiler/stacks.h"

namespace tandem::profiler {

Action action_of(const Schedule& schedule, int64_t step) {
  const auto& [wait, warmup, active, repeat, skip_first] = schedule;
  if (wait < 0 || warmup < 0 || active <= 0 || repeat < 0 || skip_first < 0)
    fail("[Schedule] wait ", wait, ", warmup ", warmup, ", active ", active, ", repeat ", repeat, ", skip_first ", skip_first,
         ": none may be negative, and active must be at least 1");
  if (step < skip_first) return Action::None;
  step -= skip_first;
  const int64_t cycle = int64_t{wait} + warmup + active;
  if (repeat > 0 && step / cycle >= repeat) return Action::None;
  const int64_t at = step % cycle;
  if (at < wait) return Action::None;
  if (at < int64_t{wait} + warmup) return Action::Warmup;
  return at < cycle - 1 ? Action::Record : Action::RecordAndSave;
}

struct Profile::State {
  explicit State(ProfileOptions given) : options(std::move(given)) {}

  [[nodiscard]] bool scheduled() const { return options.schedule.active != 0; }
  [[nodiscard]] Action action() const { return scheduled() ? action_of(options.schedule, step) : Action::Record; }
  [[nodiscard]] static bool records(Action action) { return action == Action::Record || action == Action::RecordAndSave; }

  /// From what the last step was to what this one is.
  void go_to(Action next) {
    if (next != Action::None && !recorder) {
      recorder.emplace(RecordOptions{options.record_shapes, options.profile_memory, options.with_flops});
      recorder->start();
    } else if (next == Action::None) {
      recorder.reset();
    } else if (records(next) && current == Action::Warmup) {
      recorder->clear();
    }
    current = next;
    if (!scheduled() || !records(next)) return;
    step_name = str(kStepName, step);
    step_range = {.kind = runtime::facts::Scope::Range, .name = step_name.c_str()};
    recorder->begin(step_range);
  }

  void end_step() {
    if (scheduled() && records(current)) recorder->end(step_range);
  }

  /// What was recorded becomes events.
  void keep() {
    recorder->stop(true);
    events = events_of(*recorder);
    threads.clear();
    for (const ThreadRecords& thread : recorder->threads()) threads.push_back({thread.thread, thread.name});
    dropped = recorder->dropped();
    recorder.reset();
  }

  ProfileOptions options;
  int64_t step = 0;
  std::string step_name;
  runtime::facts::Scope step_range;
  Action current = Action::None;
  bool stopped = false;
  std::optional<Recorder> recorder;
  std::vector<Event> events;
  std::vector<ThreadName> threads;
  size_t dropped = 0;
};

Profile::Profile(ProfileOptions options) : state_(std::make_unique<State>(std::move(options))) {
  const Schedule& s = state_->options.schedule;
  if (!state_->scheduled() && (s.wait != 0 || s.warmup != 0 || s.repeat != 0 || s.skip_first != 0)) (void)action_of(s, 0);  // throws
  state_->go_to(state_->action());
}

Profile::~Profile() {
  try {
    stop();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): who wants to know calls stop()
  }
}

void Profile::step(Site /*site*/) {
  State& state = *state_;
  if (state.stopped) fail("[Profile::step] the profile was stopped: make another one");
  state.end_step();
  const bool ready = state.current == Action::RecordAndSave;
  if (ready) state.keep();
  ++state.step;
  if (ready && state.options.on_trace_ready) {
    state.current = Action::None;  // it may throw, or stop the profile
    state.options.on_trace_ready(*this);
    if (state.stopped) return;
  }
  state.go_to(state.action());
}

void Profile::stop() {
  State& state = *state_;
  if (std::exchange(state.stopped, true)) return;
  const bool ready = State::records(state.current);
  if (ready) {
    state.end_step();
    state.keep();
  }
  state.recorder.reset();
  state.current = Action::None;
  if (ready && state.options.on_trace_ready) state.options.on_trace_ready(*this);
}

const std::vector<Event>& Profile::events(Site /*site*/) const {
  if (State::records(state_->current)) fail("[Profile::events] the profile is being recorded: call stop() first, or use on_trace_ready");
  return state_->events;
}

KeyAverages Profile::key_averages(bool group_by_input_shape) const { return KeyAverages(events(), group_by_input_shape); }

void Profile::export_chrome_trace(const std::string& path) const {
  write_chrome_trace("export_chrome_trace", path, events(), state_->threads, state_->dropped);
}

void Profile::export_stacks(const std::string& path, std::string_view metric, Site /*site*/) const {
  const bool on_device = metric == "self_device_time_total" || metric == "self_cuda_time_total";
  if (!on_device && metric != "self_cpu_time_total")
    fail("[export_stacks] metric '", metric, "' is none: give self_cpu_time_total or self_device_time_total");
  const std::vector<StackNode> nodes = stacks_of(events(), on_device);
  std::vector<std::string> stacks(nodes.size());
  std::map<std::string, nanoseconds> times;
  for (size_t i = 1; i < nodes.size(); ++i) {
    std::string frame = nodes[i].frame;
    for (char& c : frame)  // the format's own letters must not come from names
      if (c == ';' || static_cast<unsigned char>(c) < 0x20) c = '_';
    stacks[i] = nodes[i].parent ? str(stacks[nodes[i].parent], ";", frame) : frame;
    if (nodes[i].self.count() > 0) times[stacks[i]] += nodes[i].self;
  }
  std::string text;
  for (const auto& [stack, time] : times) text += str(stack, " ", (time.count() + 500) / 1000, "\n");
  io::write_file("export_stacks", path, text, io::MissingFolder::IsMade);
}

void Profile::export_flame_graph(const std::string& path) const {
  io::write_file("export_flame_graph", path, flame_graph_page(events()), io::MissingFolder::IsMade);
}

size_t Profile::dropped() const { return state_->dropped; }

namespace {
/// Whoever is not told of a range needs no copy of its name.
std::string kept(std::string_view name) { return runtime::observed() ? std::string(name) : std::string(); }
}  // namespace

RecordFunction::RecordFunction(std::string_view name, Site site)
    : name_(kept(name)),
      told_([&] { return runtime::facts::Scope{.kind = runtime::facts::Scope::Range, .name = name_.c_str(), .site = site}; }) {}

}  // namespace tandem::profiler
