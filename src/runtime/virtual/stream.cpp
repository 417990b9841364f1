// The threads behind virtual streams. A thread looks for work for a few microseconds before it sleeps, since waking it costs its caller
// about four.
#include "runtime/virtual/stream.h"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <system_error>

#include "base/error.h"
#include "base/futex.h"
#include "base/parallel.h"
#include "base/splitmix.h"
#include "base/thread.h"
#include "runtime/launch.h"
#include "runtime/observer.h"

namespace tandem::runtime::virtual_gpu {
namespace {

using tandem::detail::cpu_pause;
using tandem::detail::futex_wait;
using tandem::detail::futex_wake;
using Clock = std::chrono::steady_clock;
constexpr auto kSpin = std::chrono::microseconds(20);
constexpr uint64_t kMostQueued = 65536;  // a caller further ahead than this waits

constinit thread_local Stream* this_threads_stream = nullptr;

// Whether `ready` became true while looking for kSpin. Yields in between: what is waited for may need this very core.
template <class Ready>
bool spin_until(Ready ready) {
  const auto end = Clock::now() + kSpin;
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      cpu_pause();
    }
    if (Clock::now() >= end) return false;
    sched_yield();
  }
}

int64_t nanoseconds_now() { return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count(); }

uint64_t mix(uint64_t x) { return tandem::detail::splitmix64(x); }

}  // namespace

int Machine::share() const { return std::max(1, get_num_threads() / std::max(1, options.count)); }

Stream::Stream(Machine& machine, int device, int id, int priority) : machine_(machine), device_(device), id_(id), priority_(priority) {}

// The machine is stopping and the thread has been joined, or was never started.
Stream::~Stream() = default;

Stream* Stream::of_this_thread() { return this_threads_stream; }

// --- Queuing

Stream::Slot::Slot(Stream& stream, size_t bytes, const char* op, Site site) : stream_(stream) {
  // Far ahead of the stream: wait, so that memory for queued work stays bounded. Not for a stream's own thread, which would wait for
  // itself.
  const uint64_t queued = stream.queued();
  if (queued > kMostQueued && !stream.done(queued - kMostQueued) && !of_this_thread()) {
    using facts::Wait;
    const Telling told([&] { return Wait{.kind = Wait::Queue, .op = op, .site = site, .device = gpu(stream.device())}; });
    const tandem::detail::HookedWait hooked;
    stream.wait_done(queued - kMostQueued / 2, &hooked);
  }
  lock_ = std::unique_lock(stream.mutex_);
  if (!stream.recording_ && !stream.started_ && !stream.ended_) stream.start();
  if (stream.recording_ || stream.ended_) {
    own_ = std::make_unique<std::byte[]>(bytes);
    task_ = new (own_.get()) TaskHeader;
  } else {
    task_ = stream.queue_.reserve(bytes);
  }
}

Stream::Slot::~Slot() = default;

void Stream::Slot::commit() {
  if (stream_.recording_) return stream_.recording_->add(stream_, std::move(own_));
  if (own_) {  // the program is ending: only what others may wait for still happens, here
    lock_.unlock();
    const Queue queue{&stream_, nullptr, task_->op, task_->site(), 1, stream_.device_};
    try {
      task_->act(task_, stream_.skips(task_, stream_.queued()) ? nullptr : &queue, true);
    } catch (...) {  // nobody is left to be told
    }
    return;
  }
  task_->times = begin_task(&stream_);
  stream_.queue_.commit(task_);
  stream_.queued_.store(stream_.queued_.load(std::memory_order_relaxed) + 1);  // in one order with asleep_: see wait_for_work
  const bool wake = stream_.asleep_.load() != 0;
  lock_.unlock();
  if (wake && stream_.asleep_.exchange(0) != 0) futex_wake(stream_.asleep_);
}

// --- The thread

void Stream::start() {
  if (machine_.stopping.load()) {
    ended_ = true;
    return;
  }
  char name[16];
  std::snprintf(name, sizeof name, "cuda:%d/%d", device_, id_);
  try {
    thread_ = tandem::detail::start_thread(name, [this] { work(); });
    started_ = true;
  } catch (const std::system_error& error) {
    fail("cannot start the thread of stream ", id_, " of cuda:", device_, ": ", error.what(),
         "; raise the limit on threads or use fewer streams");
  }
}

void Stream::work() {
  this_threads_stream = this;
  prctl(PR_SET_TIMERSLACK, 1000UL);  // simulated links and delays are short: sleep to the microsecond
  for (uint64_t next = 0;;) {
    if (queued_.load(std::memory_order_acquire) == next) {
      busy_.end();
      if (!wait_for_work(next)) break;
      busy_.begin();
    }
    TaskHeader* task = queue_.front();
    process(task, ++next, nullptr, true);
    queue_.pop(task);
    done_.store(next);
    if (next >= wake_at_.load()) {
      // Sleepers not yet served put their number back when the word has changed.
      wake_at_.exchange(UINT64_MAX);
      done_word_.fetch_add(1);
      futex_wake(done_word_, INT_MAX);
    }
  }
  this_threads_stream = nullptr;
  thread_ended_.store(1);
  futex_wake(thread_ended_);
}

// Until there is more than `next` tasks. False where the thread is to end.
bool Stream::wait_for_work(uint64_t next) {
  for (;;) {
    const auto ready = [&] { return queued_.load(std::memory_order_acquire) != next; };
    if (spin_until([&] { return ready() || machine_.stopping.load(std::memory_order_relaxed); }) && ready()) return true;
    if (machine_.stopping.load()) {
      const std::lock_guard lock(mutex_);
      if (ready()) return true;
      ended_ = true;
      return false;
    }
    asleep_.store(1);
    // A writer publishes, then looks at asleep_; we say that we sleep, then look at what is published: one of us sees the other.
    if (queued_.load() == next && !machine_.stopping.load()) futex_wait(asleep_, 1);
    asleep_.store(0);
    if (ready()) return true;
  }
}

void Stream::process(TaskHeader* task, uint64_t number, const Replay* replay, bool last) {
  if (machine_.options.delay_seed && !machine_.stopping.load(std::memory_order_relaxed) && last) delay(number);
  const int64_t began = task->times ? nanoseconds_now() : 0;
  if (!skips(task, number)) run(task, number, replay, last);
  else if (task->kind == Kind::Meets) meet(task, last);
  else task->act(task, nullptr, last);
  if (task->times) end_task(task->times, began, nanoseconds_now());
}

// The stream is poisoned, or the task reads what was never written: what it throws besides concerns nobody.
void Stream::meet(TaskHeader* task, bool last) {
  why_skipped_ = machine_.faults.why(*this, task);
  const Queue queue{this, nullptr, task->op, task->site(), machine_.share(), device_};
  try {
    task->act(task, &queue, last);
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

// Whether a task is not to be done, which is noted for those who would read what it writes.
bool Stream::skips(TaskHeader* task, uint64_t number) {
  if (task->kind == Kind::Always) return false;
  // At the end of the program: kernels, which may use what is destroyed by now, and copies to the host that could miss what they write.
  if (machine_.stopping.load() && (task->kind == Kind::Kernel || task->kind == Kind::Meets || machine_.dropped.load())) {
    machine_.dropped.store(true);
    if (task->kind == Kind::ToHost) lose(number);
    return true;
  }
  if (poison_.any.load(std::memory_order_acquire)) {
    machine_.faults.skip(*this, task);
    return true;
  }
  return task->reads && machine_.faults.any_marks() && machine_.faults.taints({this, number}, task);
}

void Stream::lose(uint64_t number) {
  uint64_t first = lost_.load();
  while (number < first && !lost_.compare_exchange_weak(first, number)) {
  }
}

void Stream::run(TaskHeader* task, uint64_t number, const Replay* replay, bool last) {
  running_ = number;
  Queue queue{this, &status_, task->op, task->site(), machine_.share(), device_};
  queue.replay = replay;
  const auto where = [&] { return str(" (queued at ", task->file, ':', task->line, " on cuda:", device_, ')'); };
  try {
    task->act(task, &queue, last);
  } catch (const std::exception& error) {
    std::string text = error.what();
    if (!text.starts_with('[')) text = str('[', task->op, "] ", text);
    machine_.faults.raise({this, number}, Trouble::None, text + where(), task);
    return;
  } catch (...) {
    machine_.faults.raise({this, number}, Trouble::None, str('[', task->op, "] threw something that is no std::exception", where()), task);
    return;
  }
  if (const Trouble trouble = status_.trouble.load(std::memory_order_relaxed); trouble != Trouble::None) [[unlikely]] {
    // The kernel's threads have joined, so its report is complete.
    machine_.faults.raise({this, number}, trouble, trouble_text(task->op, trouble, status_.a.load(), status_.b.load()) + where(), task);
    status_.trouble.store(Trouble::None);
  } else if (task->writes && machine_.faults.any_marks()) {
    machine_.faults.wrote(task);
  }
}

// Mostly nothing; before one task in eight up to 200 microseconds. The seed, the stream and the task's number decide.
void Stream::delay(uint64_t number) const {
  const uint64_t stream = mix(*machine_.options.delay_seed) + (static_cast<uint64_t>(device_) << 32) + static_cast<uint64_t>(id_);
  const uint64_t random = mix(mix(stream) + number);
  if (random % 8 != 0) return;
  std::this_thread::sleep_for(std::chrono::nanoseconds((random >> 16) % 200000));
}

// --- Recording

void Stream::record_into(std::shared_ptr<Recording> recording) {
  const std::lock_guard lock(mutex_);
  recording_ = std::move(recording);
}

std::shared_ptr<Recording> Stream::recording() {
  const std::lock_guard lock(mutex_);
  return recording_;
}

// --- Waiting

void Stream::wait_done(uint64_t number, const tandem::detail::HookedWait* hooked) {
  if (done(number)) return;
  wait_slowly(number, false, hooked);
}

void Stream::wait_slowly(uint64_t number, bool or_abandoned, const tandem::detail::HookedWait* hooked) {
  const bool checked = hooked && hooked->checked();
  const timespec until_check{0, std::chrono::nanoseconds(tandem::detail::kWaitCheck).count()};
  const auto ready = [&] { return done(number) || (or_abandoned && abandoned_.load(std::memory_order_relaxed)); };
  if (spin_until(ready)) return;
  for (;;) {
    const uint32_t word = done_word_.load();
    uint64_t lowest = wake_at_.load();
    while (number < lowest && !wake_at_.compare_exchange_weak(lowest, number)) {
    }
    if (done_.load() >= number || (or_abandoned && abandoned_.load())) return;
    futex_wait(done_word_, word, checked ? &until_check : nullptr);
    if (ready()) return;
    if (checked) hooked->check();
  }
}

void Stream::wait_for(Point point) {
  if (point.stream == nullptr || point.stream == this) return;
  if (point.stream->done(point.number) && !point.stream->poison().any.load(std::memory_order_acquire) &&
      point.number < point.stream->lost())
    return;
  const Queue queue{this, nullptr, "wait_event", Site::none(), 1, device_};
  const NoWorkTimes waiting_is_no_work;
  enqueue(
      queue,
      [point](const Queue& on_worker) {
        auto* self = static_cast<Stream*>(on_worker.stream);
        const uint64_t number = of_this_thread() == self ? self->running_ : self->queued();  // the latter where the program is ending
        if (!point.stream->done(point.number) && of_this_thread() != point.stream) {
          const bool own = of_this_thread() == self;
          if (own) self->busy_.end();
          point.stream->wait_slowly(point.number, true);
          if (own) self->busy_.begin();
        }
        if (!point.stream->done(point.number)) {  // as good as dropped
          self->machine_.dropped.store(true);
          self->lose(number);
        }
        if (point.number >= point.stream->lost()) self->lose(number);
        self->machine_.faults.adopt({self, number}, point);
      },
      {}, {}, Kind::Always);
}

// --- Ending

void Stream::request_stop() {
  if (of_this_thread() == this) {
    abandoned_.store(true);
    done_word_.fetch_add(1);
    futex_wake(done_word_, INT_MAX);
  }
  if (asleep_.exchange(0) != 0) futex_wake(asleep_);
}

bool Stream::join(int64_t most_ms) {
  {
    const std::lock_guard lock(mutex_);
    if (!started_) {
      ended_ = true;
      return true;
    }
  }
  if (of_this_thread() == this || !thread_.joinable()) return false;
  const auto end = Clock::now() + std::chrono::milliseconds(most_ms);
  while (thread_ended_.load() == 0) {
    timespec limit{1, 0};
    if (most_ms >= 0) {
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - Clock::now()).count();
      if (left <= 0) {
        thread_.detach();
        return false;
      }
      limit = {static_cast<time_t>(left / 1000000000), static_cast<long>(left % 1000000000)};
    }
    futex_wait(thread_ended_, 0, &limit);
  }
  thread_.join();
  return true;
}

}  // namespace tandem::runtime::virtual_gpu
