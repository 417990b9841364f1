#include "process/lock.h"

#include <climits>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/futex.h"
#include "process/peers.h"

namespace tandem::multiprocessing {
namespace detail {
namespace {

// The system finds the locks that a thread holds by their addresses when the thread ends: the memory of those must stay mapped.
struct Held {
  struct Lock {
    std::shared_ptr<runtime::SharedMemory> memory;
    int times = 0;
  };
  std::mutex mutex;
  std::map<const RobustMutex*, Lock> locks;  // of all threads; each is held by one
};
Held& held() {
  static auto* all = new Held;  // not destroyed: static locks may outlive it otherwise
  return *all;
}

void keep(const RobustMutex& mutex, const std::shared_ptr<runtime::SharedMemory>& memory) {
  const std::lock_guard lock(held().mutex);
  auto& mine = held().locks[&mutex];
  mine.memory = memory;
  ++mine.times;
}

/// No longer held; `all` of a recursive lock's times.
void drop(const RobustMutex& mutex, bool all) {
  std::shared_ptr<runtime::SharedMemory> last;
  const std::lock_guard lock(held().mutex);
  const auto mine = held().locks.find(&mutex);
  if (mine == held().locks.end() || (--mine->second.times > 0 && !all)) return;
  last = std::move(mine->second.memory);
  held().locks.erase(mine);
}

}  // namespace

bool AnyLock::lock_for(Timeout timeout, const char* op) const {
  const auto taken = mutex_->lock(Deadline(timeout), op);
  if (taken == RobustMutex::Taken::No) return false;
  if (taken == RobustMutex::Taken::HolderDied) {
    drop(*mutex_, true);
    mutex_->unlock(op);
    throw ProcessError(str('[', op,
                           "] the thread or process that held the lock has ended without releasing it: what the lock guards may be ",
                           "half changed; the lock itself is free again"));
  }
  keep(*mutex_, mutex_.memory());
  return true;
}

void AnyLock::unlock() const {
  mutex_->unlock("Lock.unlock");
  drop(*mutex_, false);  // another thread may have it by now: each counts its own times
}

}  // namespace detail

namespace {
constexpr std::chrono::milliseconds kLook(50);  // how often who waits looks at the time
}  // namespace

Barrier::Barrier(detail::SharedObject<State> state, Site /*site*/) : state_(std::move(state)) {
  // Held by the peers alone as long as workers run: they must not hold this object in turn.
  peers_ = std::make_shared<detail::Peers>([state = state_] { break_up(*state); });
}

Barrier::Barrier(int parties)
    : Barrier([&] {
        if (parties < 1) fail("[Barrier] parties is ", parties, ": it takes one or more");
        return detail::SharedObject<State>::make(parties);
      }()) {}

// Whoever died holding the mutex left at most a count behind that reset() sets anew.
void Barrier::break_up(State& state) {
  (void)state.mutex.lock(detail::Deadline(std::nullopt), "Barrier.abort");
  state.broken.store(true);
  state.breaks.fetch_add(1);
  state.waiting = 0;
  state.round.fetch_add(1);
  state.mutex.unlock("Barrier.abort");
  tandem::detail::futex_wake(state.round, INT_MAX, tandem::detail::Futex::Shared);
}

int Barrier::wait(Timeout timeout, Site /*site*/) const {
  const char* const op = "Barrier.wait";
  const auto give_up = [&](const char* why) { fail<BrokenBarrier>('[', op, "] ", why); };
  const detail::Deadline deadline(timeout);
  State& state = *state_;
  const bool whole = state.mutex.lock(detail::Deadline(std::nullopt), op) == detail::RobustMutex::Taken::Yes;
  const uint32_t breaks = state.breaks.load(), round = state.round.load();
  const bool broken = state.broken.load();
  int mine = 0;
  bool last = false;
  if (whole && !broken) {
    mine = state.waiting++;
    last = state.waiting == state.parties;
    if (last) {
      state.waiting = 0;
      state.round.fetch_add(1);
    }
  }
  state.mutex.unlock(op);
  if (!whole) break_up(state);
  if (!whole || broken)
    give_up("the barrier is broken: a process that should have come has failed, or abort() was called; reset() mends it");
  if (last) {
    tandem::detail::futex_wake(state.round, INT_MAX, tandem::detail::Futex::Shared);
    return mine;
  }
  while (state.round.load() == round) {
    if (deadline.passed()) {
      break_up(state);
      give_up("the time is over, and not everybody has come");
    }
    const timespec limit{0, static_cast<long>(deadline.left(kLook).count())};
    tandem::detail::futex_wait(state.round, round, &limit, tandem::detail::Futex::Shared);
  }
  if (state.breaks.load() != breaks) give_up("the barrier broke while this waited: somebody has failed, or abort() or reset() was called");
  return mine;
}

void Barrier::abort() const { break_up(*state_); }

void Barrier::reset() const {
  break_up(*state_);
  state_->broken.store(false);
}

int Barrier::parties() const { return state_->parties; }
bool Barrier::broken() const { return state_->broken.load(); }

void Codec<Barrier>::put(detail::Parcel& parcel, const Barrier& value) {
  value.state_.put(parcel);
  parcel.give(value.peers_);
}

Barrier Codec<Barrier>::take(detail::Received& received) { return Barrier(detail::SharedObject<Barrier::State>::take(received)); }

}  // namespace tandem::multiprocessing
