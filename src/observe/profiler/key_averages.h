// A profile summed up: a row for each name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observe/profiler/profile_event.h"

namespace tandem::profiler {

/// What all events of one name took together. `self`: without what other events of the same thread took within them.
struct KeyAverage {
  std::string key;
  int64_t count = 0;
  nanoseconds cpu_time_total{0}, self_cpu_time_total{0};
  nanoseconds device_time_total{0}, self_device_time_total{0};  // of the GPUs, for what was queued in it
  int64_t bytes = 0;                                            // copied
  int64_t memory = 0;                                           // bytes allocated, with profile_memory
  int64_t flops = 0;                                            // with with_flops
  std::vector<std::vector<int64_t>> shapes;                     // of the inputs, where rows are grouped by them

  /// Thousand million operations a second while they ran: on GPUs where they ran there. 0 where none are counted.
  [[nodiscard]] double gflops() const;
};

struct TableOptions {
  /// "self_cpu_time_total", "cpu_time_total", "cpu_time" (of one call), "self_device_time_total", "device_time_total", "device_time",
  /// "memory", "flops", "count", largest first; "name". PyTorch's names with "cuda" for "device" serve, too.
  std::string sort_by = "self_cpu_time_total";
  int64_t row_limit = 100;  // -1: all
  double peak_gflops = 0;   // what the machine can do: adds each operation's share of it, where operations are counted
};

/// The rows of a profile, in the order in which their names first came; the steps of a schedule are one, "ProfilerStep*". As
/// torch.autograd.profiler_util.EventList.key_averages.
class KeyAverages {
 public:
  /// Of what took place on the host; the time of GPUs is added to what queued the work.
  explicit KeyAverages(const std::vector<Event>& events, bool group_by_input_shape = false);

  /// The (first) row of that name; nullptr where there is none.
  [[nodiscard]] const KeyAverage* find(std::string_view name) const;
  /// A table as PyTorch prints it. Error for an unknown `sort_by`, which lists those that there are.
  [[nodiscard]] std::string table(const TableOptions& options = {}, Site = Site::here()) const;
  /// The rows in that order.
  [[nodiscard]] std::vector<KeyAverage> sorted_by(std::string_view key, Site = Site::here()) const;

  [[nodiscard]] auto begin() const { return rows_.begin(); }
  [[nodiscard]] auto end() const { return rows_.end(); }
  [[nodiscard]] size_t size() const { return rows_.size(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] const KeyAverage& operator[](size_t i) const { return rows_[i]; }

 private:
  std::vector<KeyAverage> rows_;
  bool by_shape_;
};

}  // namespace tandem::profiler
