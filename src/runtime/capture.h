// The graph that the calling thread captures. For the library, where it has to act otherwise while work is recorded and not run.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "runtime/stream_record.h"

namespace tandem::runtime {

/// A capture under way.
struct Capture {
  const StreamRecord* stream = nullptr;  // where it began
  uint64_t pool = 0;                     // of the caching allocator; 0 is everybody's
  uint64_t random_counters = 0;          // that its random numbers have taken so far
  /// Called by each replay, before it is queued, with what its kernels will see; `steps` counts the replays before this one.
  std::vector<std::function<void(Replay&)>> before_replay;
  /// Called by each replay with its stream: they hold what its work reads outside of the pool, and note that the stream uses it.
  std::vector<std::function<void(const cuda::Stream&)>> uses;
};

namespace detail {
extern constinit thread_local Capture* capture;
}

/// The calling thread's capture on GPU `device`, nullptr where there is none.
[[nodiscard]] inline Capture* capture_on(int device) {
  Capture* const capture = detail::capture;
  return capture && capture->stream->device == device ? capture : nullptr;
}
/// The calling thread's capture, where its current stream of `device` is a part of it; else nullptr.
[[nodiscard]] Capture* capture_of_current_stream(Device device);

/// Error where `stream` is being captured, by this thread or another: `op` would wait for work that is recorded and not run.
void refuse_capture(const StreamRecord& stream, const char* op);

/// Memory of the caching allocators that only captures with this number take. Everything of it that is free can be given back once the last
/// holder has let go.
class PoolHolder {
 public:
  PoolHolder();
  ~PoolHolder();
  PoolHolder(const PoolHolder&) = delete;
  PoolHolder& operator=(const PoolHolder&) = delete;
  [[nodiscard]] uint64_t number() const { return number_; }
  /// A graph whose memory this is was queued on `stream`.
  void replayed_on(const StreamRecord* stream);

 private:
  const uint64_t number_;
  std::mutex mutex_;
  std::vector<const StreamRecord*> replays_;
};

}  // namespace tandem::runtime
