// Who is told what the library does: nobody, unless an observer is set. Then being told costs one load and a branch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "base/site.h"
#include "runtime/device.h"

namespace tandem::runtime {

/// Memory that a kernel uses, from the first byte to the last one that it may touch.
struct Access {
  enum Kind : uint8_t { Read, Written, Changed, Scratch };  // Changed: what was there before counts

  const void* begin = nullptr;
  size_t bytes = 0;
  Shape sizes;
  DType dtype = DType::Float32;
  Kind kind = Read;
};
using Accesses = std::vector<Access>;

/// Is told of every kernel when it is queued, by the thread that queues it.
class Observer {
 public:
  virtual ~Observer() = default;
  /// `site` is the user's line. The stream is the calling thread's current one of the device.
  virtual void launched(Device device, const char* op, Site site, const Accesses& accesses) = 0;
};

namespace detail {
extern constinit std::atomic<Observer*> observer;
}

/// nullptr where nobody is told.
inline Observer* observer() { return detail::observer.load(std::memory_order_acquire); }
/// From now on `observer` is told; nullptr: nobody. Whoever sets one keeps it until no thread can still be telling it.
void set_observer(Observer* observer);

}  // namespace tandem::runtime
