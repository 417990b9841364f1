// A thread's view of the GPUs, to be handed to a thread that works for it.
#pragma once

#include <algorithm>
#include <array>

#include "runtime/stream_record.h"

namespace tandem::runtime {

/// The calling thread's current GPU and its current stream on each. Asks no driver for anything.
class ThreadDevices {
 public:
  ThreadDevices() : device_(detail::current_device) { std::copy_n(detail::current_streams, kMaxDevices, streams_.begin()); }
  /// Makes them the calling thread's.
  void adopt() const {
    detail::current_device = device_;
    std::copy_n(streams_.begin(), kMaxDevices, detail::own_current_streams());
  }

 private:
  int device_;
  std::array<StreamRecord*, kMaxDevices> streams_;
};

}  // namespace tandem::runtime
