// What stands behind a Stream and an Event, and the calling thread's current streams. For the library (allocator, launch, comm).
#pragma once

#include <memory>
#include <mutex>

#include "runtime/driver.h"
#include "runtime/stream.h"

namespace tandem::runtime {

/// The most GPUs a process can use.
inline constexpr int kMaxDevices = 64;

/// One stream of a GPU. Never destroyed, so a pointer to it stays good; equal pointers mean the same stream.
struct StreamRecord {
  int device = 0;
  int id = 0;  // 0 is the default stream; unique on its GPU
  int priority = 0;
  StreamHandle handle = nullptr;
};

namespace detail {
/// kMaxDevices streams, nullptr where the thread has not used the GPU. To be read only.
extern constinit thread_local StreamRecord** current_streams;
extern constinit thread_local int current_device;
/// The calling thread's own table, to be written.
[[nodiscard]] StreamRecord** own_current_streams();
StreamRecord* first_current_stream(int device);
}  // namespace detail

/// The index of the GPU that `device` names, the current one where it has none. Error for the CPU, naming `call`, and for a GPU that is
/// not there.
[[nodiscard]] int device_index(Device device, const char* call);

/// The calling thread's stream of GPU `device`, an index that exists. An array access once the thread has used the GPU.
[[nodiscard]] inline StreamRecord* current_stream(int device) {
  StreamRecord* stream = detail::current_streams[device];
  return stream ? stream : detail::first_current_stream(device);
}

/// The stream of GPU `device` for copies that the library makes ahead of their use: one a GPU, none of those that users are given.
[[nodiscard]] StreamRecord* copy_stream(int device);

/// A stream of GPU `device` for whoever holds it alone: none of those that users are given. For work that waits for partners, which must
/// not stand behind another's. Given back, it serves the next one.
[[nodiscard]] StreamRecord* take_own_stream(int device);
void give_own_stream(StreamRecord* stream);

/// What an Event holds: the driver's event, made when first recorded.
struct EventState {
  EventState(bool with_timing, bool between_processes) : timing(with_timing), interprocess(between_processes) {}
  ~EventState();
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;

  const bool timing, interprocess;
  std::mutex mutex;              // guards the making of `handle`
  EventHandle handle = nullptr;  // nullptr until the first record
  int device = -1;
};

/// Work queued on `later` from now on waits for what is queued on `earlier` now. Nothing where they are the same stream.
void order_streams(const StreamRecord& earlier, const StreamRecord& later, Site site = Site::none());

}  // namespace tandem::runtime
