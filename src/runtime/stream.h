// Streams and events. Work within a stream runs in order; between streams only events make an order.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>

#include "runtime/device.h"

namespace tandem::runtime {
struct StreamRecord;
struct EventState;
struct ShareHandle;
}  // namespace tandem::runtime

namespace tandem::cuda {

class Event;

/// A queue of work on a GPU, run in order. A copy of the object is the same stream. New streams come in turn from a pool of 32 for each GPU
/// and priority: the 33rd is the first again, as in PyTorch.
class Stream {
 public:
  /// A stream of the current GPU, or of `device`. A negative priority is high, any other normal. As torch.cuda.Stream.
  explicit Stream(Device device = Device(DeviceType::CUDA), int priority = 0);

  /// Its GPU.
  [[nodiscard]] Device device() const;
  /// A number that tells streams of one GPU apart; 0 is the default stream.
  [[nodiscard]] int id() const;
  /// -1 high, 0 normal.
  [[nodiscard]] int priority() const;
  /// Work queued here from now on waits for what `event` has recorded now.
  void wait_event(const Event& event, Site site = Site::here()) const;
  /// Work queued here from now on waits for what is queued on `other` now.
  void wait_stream(const Stream& other, Site site = Site::here()) const;
  /// Waits until all work queued here is done; throws what went wrong in it.
  void synchronize(Site site = Site::here()) const;
  /// Whether all work queued here is done.
  [[nodiscard]] bool query() const;
  friend bool operator==(const Stream& a, const Stream& b) { return a.record_ == b.record_; }

  /// For the library: the runtime's record of the stream.
  explicit Stream(runtime::StreamRecord* record) : record_(record) {}
  [[nodiscard]] runtime::StreamRecord* record() const { return record_; }

 private:
  runtime::StreamRecord* record_;
};

/// As PyTorch prints it.
std::ostream& operator<<(std::ostream& out, const Stream& stream);

/// What an event can do besides marking a place.
struct EventOptions {
  bool enable_timing = false;
  bool interprocess = false;  // other processes of this machine can open it; not together with enable_timing
};

/// A mark in a stream. Made on the GPU of the stream that first records it. As torch.cuda.Event.
class Event {
 public:
  /// Error where `options` ask for timing and for other processes.
  Event(EventOptions options = {}, Site = Site::here());
  /// Marks the end of what is queued now on the current stream of the current GPU, or on `stream`. Error where the event belongs to another
  /// GPU.
  void record(Site site = Site::here());
  void record(const Stream& stream, Site site = Site::here());
  /// Makes `stream` wait for the record; does nothing where there is none.
  void wait(const Stream& stream, Site site = Site::here()) const;
  /// Whether the record has been passed; true where there is none.
  [[nodiscard]] bool query() const;
  /// The host waits until the record has been passed; nothing where there is none.
  void synchronize(Site site = Site::here()) const;
  /// A handle by which another process opens the event. Error unless it was made with `interprocess`. An event that was never recorded
  /// becomes one of the current GPU.
  [[nodiscard]] runtime::ShareHandle ipc_handle(Site = Site::here());
  /// An event of another process, for `device`. That process must keep its event. Error where that process has ended.
  [[nodiscard]] static Event from_ipc_handle(Device device, const runtime::ShareHandle& handle);
  /// Milliseconds from this record to that of `end`. Error unless both were made with timing and have been passed.
  [[nodiscard]] double elapsed_time(const Event& end, Site = Site::here()) const;

  /// For the library: what the event holds.
  [[nodiscard]] const std::shared_ptr<runtime::EventState>& state() const { return state_; }

 private:
  std::shared_ptr<runtime::EventState> state_;
};

/// The calling thread's stream for a GPU.
[[nodiscard]] Stream current_stream(Device device = Device(DeviceType::CUDA));
/// The stream that every thread has for a GPU until it sets another.
[[nodiscard]] Stream default_stream(Device device = Device(DeviceType::CUDA));
/// Makes `stream` the calling thread's current stream for its GPU. The current GPU stays.
void set_stream(const Stream& stream);

/// Makes a stream, and its GPU, current for the calling thread until the end of the scope.
class StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  DeviceGuard device_;
  Stream before_;
};

}  // namespace tandem::cuda
