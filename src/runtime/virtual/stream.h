// A virtual stream: a thread and the work queued for it. `enqueue` is how kernels get there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/queue.h"
#include "base/wait_hook.h"
#include "runtime/virtual/busy.h"
#include "runtime/virtual/faults.h"
#include "runtime/virtual/options.h"
#include "runtime/virtual/recording.h"
#include "runtime/virtual/task_queue.h"

namespace tandem::runtime::virtual_gpu {

/// What the streams of one driver share.
struct Machine {
  explicit Machine(const Options& o) : options(o) {}
  const Options options;
  Faults faults;
  std::atomic<bool> stopping{false};  // the program ends: kernels are dropped, everything else still happens
  std::atomic<bool> dropped{false};   // some work was: copies to the host could be wrong and are dropped from now on, too
  /// The most threads a kernel of one GPU uses: its share of the cores.
  [[nodiscard]] int share() const;
};

/// Work of one GPU, run in order by a thread that starts with the first of it. Tasks are numbered from 1. Thread-safe.
class Stream {
 public:
  Stream(Machine& machine, int device, int id, int priority);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] int priority() const { return priority_; }
  [[nodiscard]] Machine& machine() const { return machine_; }
  [[nodiscard]] Poison& poison() { return poison_; }

  /// How many tasks have been queued, and whether the first `number` of them are done.
  [[nodiscard]] uint64_t queued() const { return queued_.load(std::memory_order_acquire); }
  [[nodiscard]] bool done(uint64_t number) const { return done_.load(std::memory_order_acquire) >= number; }
  /// Waits until the first `number` tasks are done.
  void wait_done(uint64_t number, const tandem::detail::HookedWait* hooked = nullptr);
  /// The first task that was a copy to the host, or waited for one, and was dropped at the end of the program.
  [[nodiscard]] uint64_t lost() const { return lost_.load(); }
  /// Work queued from now on waits for `point`, and takes over its poison.
  void wait_for(Point point);

  /// Tasks go to `recording` instead; nullptr: they are done again.
  void record_into(std::shared_ptr<Recording> recording);
  /// Where tasks go, nullptr where they are done.
  [[nodiscard]] std::shared_ptr<Recording> recording();
  /// For the stream's own thread, while it runs a task: what a task of a recording would do in its place.
  void replay(TaskHeader* task, const Replay* values) { process(task, running_, values, false); }

  /// The stream whose thread calls this, nullptr elsewhere.
  [[nodiscard]] static Stream* of_this_thread();
  /// For a task of Kind::Meets that is called although it is skipped, while it runs: the error of the work before it.
  [[nodiscard]] const std::string& why_skipped() const { return why_skipped_; }

  /// The share of about the last second in which the thread had work and did not wait for another stream.
  [[nodiscard]] double busy() const { return busy_.share(); }

  /// Wakes the thread so that it sees `machine.stopping`; it ends when its queue is empty.
  void request_stop();
  /// Waits for the thread to end, at most so long (negative: as long as it takes). Whether it ended.
  bool join(int64_t most_ms);

  /// Holds the stream's mutex while a task of `op` is written into the queue, or into a recording. Counts once committed.
  class Slot {
   public:
    Slot(Stream& stream, size_t bytes, const char* op, Site site);
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    [[nodiscard]] TaskHeader* task() const { return task_; }
    void commit();

   private:
    Stream& stream_;
    std::unique_lock<std::mutex> lock_;
    std::unique_ptr<std::byte[]> own_;  // where the task stands that is recorded, or comes after the thread has ended
    TaskHeader* task_;
  };

 private:
  void start();
  void work();
  bool wait_for_work(uint64_t next);
  void process(TaskHeader* task, uint64_t number, const Replay* replay, bool last);
  void run(TaskHeader* task, uint64_t number, const Replay* replay, bool last);
  void meet(TaskHeader* task, bool last);
  bool skips(TaskHeader* task, uint64_t number);
  void wait_slowly(uint64_t number, bool or_abandoned, const tandem::detail::HookedWait* hooked = nullptr);
  void lose(uint64_t number);
  void delay(uint64_t number) const;

  Machine& machine_;
  const int device_, id_, priority_;
  std::mutex mutex_;  // writers, start and end of the thread, recording_
  std::shared_ptr<Recording> recording_;
  bool started_ = false, ended_ = false;
  TaskQueue queue_;
  std::thread thread_;
  Poison poison_;
  Status status_;
  uint64_t running_ = 0;
  std::string why_skipped_;
  Busy busy_;

  alignas(64) std::atomic<uint64_t> queued_{0};
  std::atomic<uint32_t> asleep_{0};  // 1 while the thread sleeps
  alignas(64) std::atomic<uint64_t> done_{0};
  std::atomic<uint64_t> wake_at_{UINT64_MAX};  // the lowest number somebody sleeps for
  std::atomic<uint32_t> done_word_{0};         // what they sleep on
  std::atomic<uint32_t> thread_ended_{0};
  std::atomic<bool> abandoned_{false};  // its own thread ends the program, so what is queued behind is never done
  std::atomic<uint64_t> lost_{UINT64_MAX};
};

namespace detail {
template <class Closure>
struct Task {
  static constexpr size_t kOffset = (sizeof(TaskHeader) + alignof(Closure) - 1) / alignof(Closure) * alignof(Closure);
  static void act(TaskHeader* task, const Queue* queue, bool last) {
    struct Destroy {
      Closure* closure;
      bool last;
      ~Destroy() {
        if (last) closure->~Closure();
      }
    } guard{std::launder(reinterpret_cast<Closure*>(reinterpret_cast<std::byte*>(task) + kOffset)), last};
    if (queue) (*guard.closure)(*queue);
  }
};
}  // namespace detail

/// Queues `closure` on the virtual stream that `queue` (from Driver::queue) names and returns; the stream's thread calls it as
/// closure(on_worker), with a Queue of its own, and destroys it; from a graph it is called at each replay. `writes` and `reads` are the
/// memory it touches (kernels' addresses). What the closure throws is an error of the stream.
template <class Closure>
void enqueue(const Queue& queue, Closure&& closure, std::span<const Range> writes = {}, std::span<const Range> reads = {},
             Kind kind = Kind::Kernel) {
  using Plain = std::decay_t<Closure>;
  using Task = detail::Task<Plain>;
  static_assert(alignof(Plain) <= 16);
  static_assert(std::is_invocable_v<Plain&, const Queue&>);
  const size_t bytes = (Task::kOffset + sizeof(Plain) + 7) / 8 * 8 + (writes.size() + reads.size()) * sizeof(Range);
  const size_t rounded = (bytes + 15) / 16 * 16;
  Stream::Slot slot(*static_cast<Stream*>(queue.stream), rounded, queue.op, queue.site);
  TaskHeader* task = slot.task();
  new (reinterpret_cast<std::byte*>(task) + Task::kOffset) Plain(std::forward<Closure>(closure));
  task->act = &Task::act;
  task->op = queue.op;
  task->file = queue.site.file;
  task->line = queue.site.line;
  task->bytes = static_cast<uint32_t>(rounded);
  task->writes = static_cast<uint32_t>(writes.size());
  task->reads = static_cast<uint32_t>(reads.size());
  task->kind = kind;
  Range* range = task->ranges();
  for (const Range& r : writes) new (range++) Range(r);
  for (const Range& r : reads) new (range++) Range(r);
  slot.commit();
}

}  // namespace tandem::runtime::virtual_gpu
