// Where the time goes: what the program did on the host and on each stream of the GPUs, with names, lines and links. docs/profiler.md.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/site.h"
#include "observe/profiler/key_averages.h"
#include "observe/profiler/profile_event.h"
#include "runtime/observer.h"

namespace tandem::profiler {

/// Which steps are recorded, as torch.profiler.schedule: after `skip_first` steps, cycles of `wait` steps without a profile, `warmup` steps
/// that are recorded and forgotten, and `active` steps that are recorded and kept; `repeat` cycles, 0: without an end.
struct Schedule {
  int wait = 0, warmup = 0;
  int active = 0;  // 0: no schedule, all is recorded until stop()
  int repeat = 0;
  int skip_first = 0;
};

/// What a schedule says of a step.
enum class Action { None, Warmup, Record, RecordAndSave };
/// As the function that torch.profiler.schedule gives. Error for negative numbers, and where there is no active step.
[[nodiscard]] Action action_of(const Schedule& schedule, int64_t step);

class Profile;

struct ProfileOptions {
  Schedule schedule{};
  bool record_shapes = false;   // sizes of what kernels read
  bool profile_memory = false;  // allocations, and the memory as a counter in the trace
  bool with_flops = false;      // of products of matrices, convolutions, additions and multiplications
  /// Called at the end of each cycle, by the thread that called step() or stop().
  std::function<void(Profile&)> on_trace_ready{};
};

/// Records what all threads of the process do, from when it is made on, as its schedule says. As torch.profiler.profile.
///
/// Several may record at once. step() and stop() are for one thread; the destructor stops. An operation that is recorded costs about half
/// a microsecond on the CPU and one on a GPU, and 300 bytes. The last cycle that was recorded is kept; at most about eight million events
/// of it, what comes after is counted by dropped().
class Profile {
 public:
  explicit Profile(ProfileOptions options = {});
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// A step of the program has ended. At the end of a cycle waits for the GPUs to come to the end of what was recorded.
  void step(Site = Site::here());
  /// The end. What was recorded is kept. A second call does nothing.
  void stop();

  /// The last cycle's events by their start. Error while it is recorded.
  [[nodiscard]] const std::vector<Event>& events(Site = Site::here()) const;
  /// The same, summed up by name, or by name and the sizes of what was read.
  [[nodiscard]] KeyAverages key_averages(bool group_by_input_shape = false) const;
  /// Writes them as a file for ui.perfetto.dev or chrome://tracing; whole or not at all.
  void export_chrome_trace(const std::string& path) const;
  /// Writes for each line of the program, and what it stood in, the microseconds it took: "outer;inner;op 12", as flame graph tools read
  /// it. `metric`: "self_cpu_time_total" or "self_device_time_total". Whole or not at all.
  void export_stacks(const std::string& path, std::string_view metric = "self_cpu_time_total", Site = Site::here()) const;
  /// Writes a page of HTML with flame graphs of the host's and the GPUs' time. Whole or not at all.
  void export_flame_graph(const std::string& path) const;
  /// Events that were not kept, as there were too many.
  [[nodiscard]] size_t dropped() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A range of the program's own, for as long as it lives: they nest, on any thread. Costs a load and a branch where nobody is told of it. A
/// range ends on the thread that made it; elsewhere, it is taken to go on to the end of the profile.
class RecordFunction {
 public:
  explicit RecordFunction(std::string_view name, Site site = Site::here());
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  ~RecordFunction() = default;

 private:
  std::string name_;
  runtime::Telling<runtime::facts::Scope> told_;
};

}  // namespace tandem::profiler
