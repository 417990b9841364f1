// Who is told what the library does: nobody, unless an observer was added. Then being told costs one load and a branch at each place.
//
// Everything that launches, copies, waits, orders streams or takes memory is told here, by the thread that does it, when it does it. What
// has a length is told twice, before and after; on a GPU that is the length of the queuing. The ledger, the checker of races, the profiler
// and the memory's history are observers, and have no hooks of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "base/site.h"
#include "base/touch.h"
#include "runtime/copy_reason.h"
#include "runtime/device.h"
#include "runtime/work_times.h"

namespace tandem::runtime {

struct StreamRecord;

/// Memory that a kernel uses, from the first byte to the last one that it may touch.
struct Access {
  using Kind = Touch;
  using enum Touch;

  const void* begin = nullptr;
  size_t bytes = 0;
  Shape sizes;
  DType dtype = DType::Float32;
  Kind kind = Read;
};
using Accesses = std::vector<Access>;

namespace facts {

/// A kernel: it has run on the CPU, or is queued on a GPU, when its end is told.
struct Kernel {
  const char* op = "";
  Site site = Site::none();  // the user's line, as in all of these
  Device device{};
  const StreamRecord* stream = nullptr;  // nullptr: the CPU
  Accesses accesses{};
};

/// Bytes that go from one device to another.
struct Copy {
  const char* op = "";
  Site site = Site::none();
  const void* to = nullptr;
  const void* from = nullptr;
  Device to_device{}, from_device{};
  bool to_pinned = false, from_pinned = false;  // of memory of the host
  size_t bytes = 0;
  bool non_blocking = false;  // as was asked for
  bool waits = false;         // the calling thread waits until the bytes have arrived
  CopyReason reason = CopyReason::Asked;
  const StreamRecord* stream = nullptr;  // where it is queued: the source's, between two GPUs
};

/// The calling thread waits for a GPU.
struct Wait {
  enum Kind : uint8_t {
    Stream,
    Device,
    Event,
    Memory,  // for memory to become free
    Collective,
    Queue,  // for room in a virtual GPU's queue; cannot be refused
  };

  Kind kind = Stream;
  const char* op = "";
  Site site = Site::none();
  tandem::Device device{};
  const StreamRecord* stream = nullptr;  // of Stream
  const void* event = nullptr;           // of Event, as in EventMark
};

/// A collective operation of this rank, or a message: `accesses` are its tensors.
struct Collective {
  const char* op = "";
  Site site = Site::none();
  Device device{};
  const StreamRecord* stream = nullptr;
  Accesses accesses{};
  int rank = 0;
  uint64_t number = 0;  // in its group
  bool waits = false;   // the calling thread runs it: it has ended when its end is told
};

/// All the work of a graph is queued once more.
struct Replay {
  Site site = Site::none();
  const void* graph = nullptr;  // as in CaptureMark
  const StreamRecord* stream = nullptr;
};

/// An event takes a stream's place, a stream waits for an event's, an event is gone, or the host has seen that it has passed.
struct EventMark {
  enum Kind : uint8_t { Recorded, WaitedFor, Gone, Passed };

  Kind kind = Recorded;
  const void* event = nullptr;
  const StreamRecord* stream = nullptr;  // of Recorded and WaitedFor
  Site site = Site::none();
};

/// What is queued on `later` from now on comes behind what is queued on `earlier` now. A stream alone, later == nullptr: the host has seen
/// that all its work is done.
struct Order {
  const StreamRecord* earlier = nullptr;
  const StreamRecord* later = nullptr;
  Site site = Site::none();
};

/// What is queued on the stream, and on streams that wait for it, becomes a part of a graph and does not run; until the capture's end.
struct CaptureMark {
  enum Kind : uint8_t { Began, Ended, Gone };  // Gone: the graph holds nothing any more

  Kind kind = Began;
  const void* graph = nullptr;
  const StreamRecord* stream = nullptr;  // of Began
  Site site = Site::none();
};

/// What happens to memory that the library keeps for reuse: a GPU's, or page-locked memory of the host (`device` is the CPU).
struct MemoryMark {
  enum Kind : uint8_t {
    Allocated,        // a block is somebody's
    Freed,            // its owner has let go
    Reusable,         // and so have all streams that it was used on
    Used,             // it is used on `stream`, too (record_stream)
    SegmentTaken,     // from the driver
    SegmentReturned,  // to the driver
    Exhausted,        // `bytes` could not be had: an error follows
  };

  Kind kind = Allocated;
  Device device{};
  const void* address = nullptr;  // the kernels'
  size_t bytes = 0;
  size_t requested = 0;                  // of these, what was asked for
  const StreamRecord* stream = nullptr;  // that it is for; of Used, the other one
  Site site = Site::none();
};

/// What a thread is at, around what else it does: a range that the user named, or the gradient of an operation.
struct Scope {
  enum Kind : uint8_t { Range, Backward };

  Kind kind = Range;
  const char* name = "";  // of Backward: the node's, as PyTorch prints it
  Site site = Site::none();
  const void* node = nullptr;  // of Backward: with `sequence`, as in Recorded; nullptr for what is added to a leaf
  uint64_t sequence = 0;
};

/// The calling thread has recorded an operation for backward.
struct Recorded {
  const char* name = "";  // of the node
  Site site = Site::none();
  const void* node = nullptr;  // another one may have the address later
  uint64_t sequence = 0;       // counts up in each thread
};

}  // namespace facts

/// Is told, by any thread and by several at once. What it does itself with the library is not told. `begin`, `end` and `mark` throw
/// nothing. Marks of memory are told inside of the allocator: who is told of them must not wait for a thread that could be there.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Before any observer is told: throws where it must not happen, and then it does not.
  virtual void allow(const facts::Copy&) {}
  virtual void allow(const facts::Wait&) {}

  virtual void begin(const facts::Kernel&) noexcept {}
  virtual void end(const facts::Kernel&) noexcept {}
  virtual void begin(const facts::Copy&) noexcept {}
  virtual void end(const facts::Copy&) noexcept {}
  virtual void begin(const facts::Wait&) noexcept {}
  virtual void end(const facts::Wait&) noexcept {}
  virtual void begin(const facts::Collective&) noexcept {}
  virtual void end(const facts::Collective&) noexcept {}
  virtual void begin(const facts::Replay&) noexcept {}
  virtual void end(const facts::Replay&) noexcept {}
  virtual void begin(const facts::Scope&) noexcept {}
  virtual void end(const facts::Scope&) noexcept {}
  virtual void mark(const facts::Recorded&) noexcept {}
  virtual void mark(const facts::EventMark&) noexcept {}
  virtual void mark(const facts::Order&) noexcept {}
  virtual void mark(const facts::CaptureMark&) noexcept {}
  virtual void mark(const facts::MemoryMark&) noexcept {}
  /// There was no memory to tell something: it happens all the same.
  virtual void missed() noexcept {}
};

/// From now on `observer` is told.
void add_observer(Observer& observer);
/// Not any more: when this returns, no thread is telling it. What had begun before it was added, or ends later, is told in part.
void remove_observer(Observer& observer) noexcept;
/// Adds those that environment variables ask for, when a GPU is first asked for. The room observe, which knows them, has it. Error for a
/// value that is none.
void observe_from_environment();

namespace detail {
extern constinit std::atomic<bool> observed;

template <class Fact>
void tell_begin(const Fact& fact);  // throws what `allow` throws
template <class Fact>
void tell_end(const Fact& fact) noexcept;
template <class Fact>
void tell_mark(const Fact& fact) noexcept;
void tell_missed() noexcept;
}  // namespace detail

/// Whether anybody is told.
#ifdef TD_NO_OBSERVERS
constexpr bool observed() { return false; }
#else
inline bool observed() { return detail::observed.load(std::memory_order_relaxed); }
#endif

/// Tells of `make()`, which is made only where somebody is told: `tell([&] { return facts::Order{&earlier, &later, site}; })`.
template <class Make>
void tell(Make&& make) {
  if (!observed()) [[likely]]
    return;
  try {
    detail::tell_mark(make());
  } catch (const std::bad_alloc&) {
    detail::tell_missed();
  }
}

/// The same of what has a length: begins here, ends with the scope. Throws where an observer does not allow it.
template <class Fact>
class Telling {
 public:
  template <class Make>
  explicit Telling(Make&& make) {
    if (!observed()) [[likely]]
      return;
    try {
      fact_.emplace(std::forward<Make>(make)());
    } catch (const std::bad_alloc&) {
      detail::tell_missed();
      return;
    }
    times_before_ = detail::current_work_times;
    detail::tell_begin(*fact_);
  }
  ~Telling() {
    if (!fact_) [[likely]]
      return;
    detail::tell_end(*fact_);
    detail::current_work_times = times_before_;
  }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

 private:
  std::optional<Fact> fact_;
  WorkTimes* times_before_ = nullptr;
};
template <class Make>
Telling(Make&&) -> Telling<std::invoke_result_t<Make>>;

}  // namespace tandem::runtime
