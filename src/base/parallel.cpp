// The thread pool. A region is a job on its caller's stack: the caller claims idle workers, gives each a contiguous range of the pieces,
// works itself, takes over what is left of the others' ranges, calls back the workers that have not begun, and waits only for those that
// run. So a small region never waits for a thread to wake up, and consecutive regions of one size give each thread the same part of the
// data.
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/cores.h"
#include "base/float_mode.h"
#include "base/fork.h"
#include "base/futex.h"
#include "base/serial.h"
#include "base/thread.h"

namespace tandem {
namespace {

using detail::cpu_pause;
using detail::futex_wait;
using detail::futex_wake;

constexpr int kMaxWorkers = 1023;
constexpr int kMaxRanges = 64;
constexpr int64_t kLongRange = 12;                           // pieces of a thread
constexpr auto kWorkerSpin = std::chrono::microseconds(40);  // between two regions of a training step there are a few microseconds
constexpr auto kCallerSpin = std::chrono::microseconds(20);

/// What a worker is doing. Idle: awake, or about to be. Claimed: a caller is preparing its job. Ready: it may begin. Anyone may move it
/// from Idle or Sleeping to Claimed, from Ready the worker to Running or its caller back. Above these bits stands the claim's number, so
/// that a caller whose job is long done does not take back the job of the next one.
enum State : uint32_t { kIdle, kSleeping, kClaimed, kReady, kRunning, kStateMask = 7, kNextClaim = 8 };

struct Job;

struct alignas(128) Worker {
  std::atomic<uint32_t> state{kIdle};
  int participant = 0;  // which range it begins with; this and job are written while Claimed
  Job* job = nullptr;
};

/// A worker in a caller's hands: the claim's number, without state.
struct Claim {
  Worker* worker;
  uint32_t number;
};

/// Pieces [begin, end), packed into one word: the owner takes from the end where it begins, the others from the other one.
struct alignas(64) Range {
  uint64_t span;  // read and changed through atomic_ref; plain, so that making a job doesn't clear all of them
};

struct Job {
  detail::RangeFunction function;
  void* context;
  int64_t count, grain;  // grain: elements of one piece
  int64_t pieces_per_unit;
  uint64_t float_mode;  // the caller's, for all: results must not depend on who computes them
  int ranges;
  bool backward;                     // the pieces of a range from its last to its first
  std::atomic<int> next_to_wake{0};  // into sleepers: who is awake wakes two more
  int sleeper_count = 0;
  std::atomic<uint32_t> pending{0};  // workers that are not back yet; kCallerSleeps is added to it
  Range range[kMaxRanges];
  Worker* sleepers[kMaxWorkers];  // only the first sleeper_count are written
};
constexpr uint32_t kCallerSleeps = 1U << 31;

uint64_t pack(uint64_t begin, uint64_t end) { return end << 32 | begin; }

/// Takes about a quarter of what is left in a range, at least one unit, from its front or its back.
bool take(Range& range, bool from_front, uint32_t& begin, uint32_t& end) {
  const std::atomic_ref shared(range.span);
  uint64_t span = shared.load(std::memory_order_relaxed);
  while (true) {
    const auto from = static_cast<uint32_t>(span), to = static_cast<uint32_t>(span >> 32);
    if (from >= to) return false;
    const uint32_t share = (to - from + 3) / 4;
    begin = from_front ? from : to - share;
    end = from_front ? from + share : to;
    if (shared.compare_exchange_weak(span, from_front ? pack(end, to) : pack(from, begin), std::memory_order_relaxed)) return true;
  }
}

/// [begin, end) piece by piece, where begin is a multiple of the grain.
void run_in_pieces(int64_t begin, int64_t end, int64_t grain, bool backward, detail::RangeFunction function, void* context) {
  const int64_t pieces = (end - begin + grain - 1) / grain;
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t at = begin + (backward ? pieces - 1 - i : i) * grain;
    function(context, at, std::min(at + grain, end));
  }
}

void run_pieces(const Job& job, uint32_t begin, uint32_t end) {
  const int64_t unit = job.grain * job.pieces_per_unit;
  run_in_pieces(begin * unit, std::min(job.count, end * unit), job.grain, job.backward, job.function, job.context);
}

void wake_next(Job& job, int how_many) {
  for (int i = 0; i < how_many; ++i) {
    if (job.next_to_wake.load(std::memory_order_relaxed) >= job.sleeper_count) return;
    const int which = job.next_to_wake.fetch_add(1, std::memory_order_acq_rel);
    if (which >= job.sleeper_count) return;
    futex_wake(job.sleepers[which]->state, 1);
  }
}

thread_local bool in_region = false;
/// A region with long ranges goes through them the other way round than the one before it: what that one touched last is still in the
/// cache.
thread_local bool went_backward = false;

void participate(Job& job, int participant) {
  in_region = true;
  uint32_t begin = 0, end = 0;
  const int own = participant % job.ranges;
  while (take(job.range[own], !job.backward, begin, end)) run_pieces(job, begin, end);
  for (int i = 1; i < job.ranges; ++i) {
    Range& other = job.range[(own + i) % job.ranges];
    while (take(other, job.backward, begin, end)) run_pieces(job, begin, end);
  }
  in_region = false;
}

/// Spins until `done()` or the time is up.
template <class Done>
bool spin(std::chrono::nanoseconds most, Done done) {
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      cpu_pause();
    }
  } while (std::chrono::steady_clock::now() - start < most);
  return false;
}

void work(Worker& self) {
  while (true) {
    const auto ready = [&] { return (self.state.load(std::memory_order_relaxed) & kStateMask) == kReady; };
    if (!spin(kWorkerSpin, ready)) {
      uint32_t state = self.state.load(std::memory_order_relaxed);
      if ((state & kStateMask) == kIdle && self.state.compare_exchange_strong(state, state | kSleeping, std::memory_order_relaxed))
        state |= kSleeping;
      while ((state & kStateMask) == kSleeping) {
        futex_wait(self.state, state);
        state = self.state.load(std::memory_order_relaxed);
      }
      continue;
    }
    uint32_t state = self.state.load(std::memory_order_relaxed);
    const uint32_t claim = state & ~kStateMask;
    if ((state & kStateMask) != kReady ||
        !self.state.compare_exchange_strong(state, claim | kRunning, std::memory_order_acquire, std::memory_order_relaxed))
      continue;
    Job& job = *self.job;
    wake_next(job, 2);
    {
      const detail::FloatModeScope mode(job.float_mode);
      participate(job, self.participant);
    }
    // Free first, report second: when the caller returns and begins its next region, this worker can already be claimed.
    self.state.store(claim | kIdle, std::memory_order_release);
    const uint32_t before = job.pending.fetch_sub(1, std::memory_order_acq_rel);
    if (before == (kCallerSleeps | 1)) futex_wake(job.pending, 1);  // the job may be gone: only its address is used
  }
}

/// Its threads live until the process ends, so there is nothing to destroy.
class Pool {
 public:
  /// For a forked child, which has none of the threads: the next region starts its own.
  void forget_threads() {
    const int started = started_.exchange(0);
    for (int i = 0; i <= std::min(started, kMaxWorkers - 1); ++i) workers_[i].state.store(kIdle);  // one may have been starting
    new (&mutex_) std::mutex;
  }

  /// Claims up to `most` idle workers of the first `limit`.
  int claim(int most, int limit, Claim* claims, Job& job) {
    if (started_.load(std::memory_order_acquire) < std::min(limit, kMaxWorkers)) start(std::min(limit, kMaxWorkers));
    const int workers = std::min(limit, started_.load(std::memory_order_acquire));
    int count = 0;
    for (int i = 0; i < workers && count < most; ++i) {
      Worker& worker = workers_[i];
      uint32_t state = worker.state.load(std::memory_order_relaxed);
      const uint32_t was = state & kStateMask, number = (state & ~kStateMask) + kNextClaim;
      if (was != kIdle && was != kSleeping) continue;
      if (!worker.state.compare_exchange_strong(state, number | kClaimed, std::memory_order_acquire, std::memory_order_relaxed)) continue;
      if (was == kSleeping) job.sleepers[job.sleeper_count++] = &worker;
      claims[count++] = {&worker, number};
    }
    return count;
  }

 private:
  void start(int wanted);

  std::atomic<int> started_{0};
  std::mutex mutex_;
  Worker workers_[kMaxWorkers];
};

constinit Pool pool;

void Pool::start(int wanted) {
  static const int watched = detail::in_forked_children([] { pool.forget_threads(); });
  (void)watched;
  const std::lock_guard lock(mutex_);
  for (int i = started_.load(std::memory_order_relaxed); i < wanted; ++i) {
    try {
      detail::start_thread("tandem-pool", [this, i] { work(workers_[i]); }).detach();
    } catch (const std::system_error&) {
      break;  // no more threads to be had: the regions run on fewer, and the next one tries again
    }
    started_.store(i + 1, std::memory_order_release);
  }
}

/// Takes back the workers that have not begun; says how many.
uint32_t retract(Job& job, const Claim* claims, int count) {
  const int woken = job.sleeper_count ? job.next_to_wake.exchange(job.sleeper_count, std::memory_order_acq_rel) : 0;
  uint32_t retracted = 0;
  int sleeper = 0;
  for (int i = 0; i < count; ++i) {
    const auto [worker, number] = claims[i];
    const bool slept = sleeper < job.sleeper_count && job.sleepers[sleeper] == worker;
    const uint32_t back_to = slept && sleeper >= woken ? kSleeping : kIdle;
    sleeper += slept;
    uint32_t ready = number | kReady;
    retracted += worker->state.compare_exchange_strong(ready, number | back_to, std::memory_order_release, std::memory_order_relaxed);
  }
  return retracted;
}

void wait_for_workers(Job& job) {
  const auto done = [&] { return job.pending.load(std::memory_order_acquire) == 0; };
  if (spin(kCallerSpin, done)) return;
  uint32_t value = job.pending.fetch_or(kCallerSleeps, std::memory_order_acq_rel) | kCallerSleeps;
  while (value != kCallerSleeps) {
    futex_wait(job.pending, value);
    value = job.pending.load(std::memory_order_acquire);
  }
}

std::atomic<int> thread_count{0};  // 0: not asked for yet

}  // namespace

int get_num_threads() {
  const int count = thread_count.load(std::memory_order_relaxed);
  if (count) return count;
  int unset = 0;
  const int found = std::min(detail::usable_cores(), kMaxWorkers + 1);
  return thread_count.compare_exchange_strong(unset, found) ? found : unset;
}

void set_num_threads(int count) { thread_count.store(std::clamp(count, 1, kMaxWorkers + 1), std::memory_order_relaxed); }

namespace detail {

SerialScope::SerialScope() : before_(std::exchange(in_region, true)) {}
SerialScope::~SerialScope() { in_region = before_; }

void parallel_for(int64_t count, int64_t grain, int width, RangeFunction function, void* context) {
  const int64_t pieces = (count + grain - 1) / grain;
  const int limit = in_region ? 1 : get_num_threads();
  const int most = static_cast<int>(std::min<int64_t>({width, limit, pieces})) - 1;
  const auto alone = [&] { run_in_pieces(0, count, grain, false, function, context); };
  if (most < 1) return alone();

  Job job;  // NOLINT: what is not set here is written before it is read
  Claim claims[kMaxWorkers];
  const int helpers = pool.claim(most, limit - 1, claims, job);
  if (helpers == 0) return alone();

  job.function = function;
  job.context = context;
  job.count = count;
  job.grain = grain;
  job.pieces_per_unit = (pieces >> 31) + 1;  // units are counted in 32 bits
  job.float_mode = float_mode();
  job.backward = pieces >= kLongRange * (most + 1) && (went_backward = !went_backward);
  job.ranges = std::min(helpers + 1, kMaxRanges);
  const int64_t units = (pieces + job.pieces_per_unit - 1) / job.pieces_per_unit;
  for (int i = 0; i < job.ranges; ++i) job.range[i].span = pack(units * i / job.ranges, units * (i + 1) / job.ranges);
  job.pending.store(helpers, std::memory_order_relaxed);
  for (int i = 0; i < helpers; ++i) {
    claims[i].worker->participant = i + 1;
    claims[i].worker->job = &job;
    claims[i].worker->state.store(claims[i].number | kReady, std::memory_order_release);
  }
  wake_next(job, 1);
  participate(job, 0);
  const uint32_t retracted = retract(job, claims, helpers);
  if (job.pending.fetch_sub(retracted, std::memory_order_acq_rel) != retracted) wait_for_workers(job);
}

}  // namespace detail
}  // namespace tandem
