// One kernel call: which queue it goes to, and where its trouble comes out.
#pragma once

#include "base/parallel.h"
#include "base/queue.h"
#include "runtime/copy_reason.h"
#include "runtime/device.h"

namespace tandem::runtime {

/// Made for one kernel call in its argument list. On the CPU the kernel has run when the statement ends, and trouble it reported is thrown
/// then. On a GPU the kernel is queued on the calling thread's current stream; trouble is thrown at the next synchronisation.
class Launch {
 public:
  Launch(Device device, const char* op, Site site) {
    if (device.is_cpu()) {
      queue_.status = &status_;
      queue_.op = op;
      queue_.site = site;
      queue_.threads = get_num_threads();
    } else {
      queue_ = device_queue(device, op, site);
      if (!queue_.status) queue_.status = &status_;  // what goes wrong with queuing itself
    }
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() noexcept(false) {
    if (status_.trouble.load(std::memory_order_relaxed) != Trouble::None) throw_reported(queue_, status_);
  }
  operator const Queue&() const { return queue_; }  // NOLINT: a launch stands for its queue

 private:
  static Queue device_queue(Device device, const char* op, Site site);
  [[noreturn]] static void throw_reported(const Queue& queue, const Status& status);

  Status status_;
  Queue queue_;
};

/// The text of what a kernel reported: "[embedding] index 99 is out of bounds …".
[[nodiscard]] std::string trouble_text(const char* op, Trouble trouble, int64_t a, int64_t b);
/// Throws `text` as the kind of error that `trouble` of an operation is. `queued_at` is the line that the text names.
[[noreturn]] void throw_trouble(std::string_view op, Trouble trouble, const std::string& text, Site queued_at = Site::none());

/// Queues a copy of bytes between any two devices on the current stream of the GPU involved (the source's where both are GPUs; the
/// destination's stream then waits for it). Host to host copies at once. Blocks until done where one side is pageable host memory.
void copy_bytes(void* to, Device to_device, bool to_pinned, const void* from, Device from_device, bool from_pinned, size_t bytes,
                bool non_blocking, const char* op, Site site, CopyReason reason = CopyReason::Asked);

}  // namespace tandem::runtime
