// Streams and events: order within a stream, none between streams but what events make.
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

/// A queue of work on a GPU, run in order. Copies name the same stream. Streams made anew come from a pool of 32 a GPU and priority.
class Stream {
 public:
  /// A stream of the current GPU, or of `device`. Priority -1 is high, 0 normal. As torch.cuda.Stream.
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

/// Options of Event, in this order.
struct EventOptions {
  bool enable_timing = false;
  bool interprocess = false;  // other processes of this machine can open it; without timing
};

/// A mark in a stream. Made on the GPU of the stream that first records it. As torch.cuda.Event.
class Event {
 public:
  Event(EventOptions options = {}, Site = Site::here());
  /// Marks the end of what is queued now on the current stream of the current GPU, or on `stream`.
  void record(Site site = Site::here());
  void record(const Stream& stream, Site site = Site::here());
  /// Makes `stream` wait for the record.
  void wait(const Stream& stream, Site site = Site::here()) const;
  /// Whether the record has been passed; true where there is none.
  [[nodiscard]] bool query() const;
  /// The host waits until the record has been passed; nothing where there is none.
  void synchronize(Site site = Site::here()) const;
  /// What another process opens the event with; made with interprocess. Of the current GPU where it has not been recorded yet.
  [[nodiscard]] runtime::ShareHandle ipc_handle(Site = Site::here());
  /// Another process's event, for `device`. The other process must keep it. Error where it has ended.
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
/// Makes `stream` the calling thread's one for its GPU.
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
