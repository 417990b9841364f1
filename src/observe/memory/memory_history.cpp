#include "observe/memory/memory_history.h"

#include <array>
#include <deque>
#include <mutex>

#include "base/error.h"
#include "base/fork.h"
#include "observe/memory/memory_recorder.h"
#include "runtime/driver.h"
#include "runtime/observer.h"
#include "runtime/stream_record.h"

namespace tandem::cuda::memory {
namespace {

using runtime::facts::MemoryMark;

/// An event as it is noted, under the allocator's lock: no text is made.
struct Event {
  const char* action;
  const void* address;
  size_t size, requested, device_free;
  int64_t time;  // nanoseconds since the epoch
  Site site;
  int stream;
};

const char* action_of(MemoryMark::Kind kind) {
  switch (kind) {
    case MemoryMark::Allocated: return "alloc";
    case MemoryMark::Freed: return "free_requested";
    case MemoryMark::Reusable: return "free_completed";
    case MemoryMark::SegmentTaken: return "segment_alloc";
    case MemoryMark::SegmentReturned: return "segment_free";
    case MemoryMark::Exhausted: return "oom";
    case MemoryMark::Used: break;
  }
  return nullptr;  // PyTorch's viewer knows no such event
}

int64_t now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

class Recorder final : public runtime::Observer {
 public:
  void mark(const MemoryMark& mark) noexcept override {
    const char* const action = action_of(mark.kind);
    if (!action || mark.device.is_cpu()) return;
    const int device = mark.device.index();
    const bool nobodys = mark.kind == MemoryMark::SegmentTaken || mark.kind == MemoryMark::SegmentReturned;
    try {
      const size_t free = mark.kind == MemoryMark::Exhausted ? runtime::require_driver().memory_info(device).first : 0;
      add(device, {action, mark.address, mark.bytes, mark.requested, free, now(), nobodys ? Site::none() : mark.site,
                   mark.stream ? mark.stream->id : 0});
    } catch (...) {  // NOLINT(bugprone-empty-catch): without memory for it the event is not noted
    }
  }

  void add(int device, const Event& event) {
    const std::lock_guard lock(mutex_);
    auto& events = events_[static_cast<size_t>(device)];
    if (events.size() >= most_) events.pop_front();
    events.push_back(event);
  }
  void forget(size_t most) {
    decltype(events_) old;
    const std::lock_guard lock(mutex_);
    old.swap(events_);
    most_ = most;
  }
  [[nodiscard]] std::deque<Event> events(int device) {
    const std::lock_guard lock(mutex_);
    return events_[static_cast<size_t>(device)];
  }

 private:
  tandem::detail::ForkSafeMutex mutex_;  // the innermost: taken inside of the allocator's
  size_t most_ = 1;
  std::array<std::deque<Event>, runtime::kMaxDevices> events_;
};

/// Whether the recorder is told. Its lock is never held inside of the recorder's, nor the other way round.
struct Recording {
  std::mutex mutex;
  bool on = false;
  Recorder recorder;
};
Recording& recording() {
  static auto* const the_recording = new Recording;  // not destroyed: static objects may still free memory
  return *the_recording;
}

void record(bool on, size_t most) {
  Recording& all = recording();
  const std::lock_guard lock(all.mutex);
  if (all.on) runtime::remove_observer(all.recorder);
  all.on = on;
  all.recorder.forget(most);
  if (on) runtime::add_observer(all.recorder);
}

}  // namespace

void record_history(bool on, Site /*site*/) { record(on, HistoryOptions().max_entries); }

void record_history(HistoryOptions options, Site /*site*/) {
  if (options.max_entries == 0) fail("[record_history] max_entries is 0: give at least 1, or record_history(false) to end");
  record(true, options.max_entries);
}

std::vector<HistoryEntry> history(Device device) {
  const int index = runtime::device_index(device, "history");
  const runtime::Driver& driver = *runtime::driver();  // there is such a GPU, so there is one
  std::vector<HistoryEntry> out;
  for (const Event& event : recording().recorder.events(index)) {
    const auto* const address = event.address ? driver.user_address(index, const_cast<void*>(event.address)) : nullptr;
    out.push_back({.action = event.action,
                   .address = reinterpret_cast<uintptr_t>(address),
                   .size = event.size,
                   .requested = event.requested,
                   .stream = event.stream,
                   .time = std::chrono::system_clock::time_point(
                       std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::nanoseconds(event.time))),
                   .file = event.site.file,
                   .line = event.site.line,
                   .device_free = event.device_free});
  }
  return out;
}

void detail::note_snapshot(int device) {
  Recording& all = recording();
  const std::lock_guard lock(all.mutex);
  if (all.on) all.recorder.add(device, {"snapshot", nullptr, 0, 0, 0, now(), Site::none(), 0});
}

}  // namespace tandem::cuda::memory
