// One entry of a profile.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device.h"

namespace tandem::profiler {

using std::chrono::nanoseconds;

/// What the names of a schedule's steps begin with; their number follows.
inline constexpr std::string_view kStepName = "ProfilerStep#";

/// Something that took time on a thread of the host, or on a stream of a GPU; or a moment at which memory was taken or given back.
///
/// What is queued on a GPU is in the list twice: an event of the host, while it is queued, and one of the GPU, while it runs, whose
/// `launch` is the first one's number. On the CPU a kernel has one event.
struct Event {
  std::string name;      // the operation's, the range's, the node's ("MulBackward0")
  std::string category;  // "operation", "copy", "wait", "collective", "graph", "range", "backward", "memory"; of GPUs "kernel", "copy", …
  Device device;         // where it took place: the CPU for threads of the host; of "memory", whose memory it is
  int stream = -1;       // on a GPU: the stream's id
  int64_t thread = 0;    // the system's number of the thread that did it or queued it
  nanoseconds start{0};  // since the recording began
  nanoseconds duration{0};
  std::string file;  // the line of the user's program; empty where there is none
  int line = 0;
  int64_t id = 0;           // its place in `events()`
  int64_t parent = -1;      // the event of the same thread that it is a part of
  int64_t launch = -1;      // on a GPU: the event of the host that queued it
  int64_t forward_id = -1;  // of the operation that was recorded for backward, the same in both: in the operation, in the events of its
                            // gradient ("MulBackward0") and in all that they do
  std::vector<std::vector<int64_t>> shapes;  // with record_shapes: of what a kernel reads
  int64_t bytes = 0;                         // of a copy; of "memory": taken, or given back (negative)
  int64_t memory = 0;                        // with profile_memory: bytes allocated for this operation on its device
  int64_t flops = 0;                         // with with_flops

  [[nodiscard]] nanoseconds end() const { return start + duration; }
  /// Whether it was on a thread of the host.
  [[nodiscard]] bool on_host() const { return device.is_cpu() && category != "memory"; }
  /// Whether it was on a stream of a GPU.
  [[nodiscard]] bool on_device() const { return device.is_cuda() && category != "memory"; }
};

}  // namespace tandem::profiler
