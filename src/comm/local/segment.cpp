// Waiting: a thread looks for 50 microseconds, then sleeps on the word by a futex. It wakes every few milliseconds to see whether the rank
// it waits for is still there and whether the time is up, which costs nothing beside what goes wrong then.
#include "comm/local/segment.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <thread>

#include "base/error.h"
#include "comm/launched.h"
#include "comm/recorder.h"

namespace tandem::comm {
namespace {

constexpr auto kSpin = std::chrono::microseconds(50);
// A nap of one rank; many on few cores nap longer, so that their looks at each other leave time for work.
constexpr long kNapNanoseconds = 5'000'000, kLongestNap = 250'000'000;
constexpr int kNappersPerCore = 16;

int cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

long nap_of(int size) {
  const long times = std::max(1, size / (cores() * kNappersPerCore));
  return std::min(kLongestNap, times * kNapNanoseconds);
}

constexpr size_t round_up(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

}  // namespace

size_t Segment::bytes_for(int size, tandem::detail::Futex whose) {
  const auto n = static_cast<size_t>(size);
  const size_t heaps = whose == tandem::detail::Futex::Shared ? n * kHeap : 0;
  return round_up(sizeof(Head)) + n * sizeof(Seat) + n * round_up(recorder_bytes()) + round_up(n * n * sizeof(Channel)) + heaps;
}

Segment::Segment(void* memory, int size, tandem::detail::Futex whose, std::shared_ptr<void> keeper)
    : size_(size), whose_(whose), crowded_(size > cores()), nap_(nap_of(size)), keeper_(std::move(keeper)) {
  auto* at = static_cast<std::byte*>(memory);
  const auto n = static_cast<size_t>(size);
  head_ = reinterpret_cast<Head*>(at);
  at += round_up(sizeof(Head));
  seats_ = reinterpret_cast<Seat*>(at);
  at += n * sizeof(Seat);
  recorders_ = at;
  at += n * round_up(recorder_bytes());
  channels_ = reinterpret_cast<Channel*>(at);
  heaps_ = at + round_up(n * n * sizeof(Channel));
  members_.resize(n);
}

void* Segment::recorder(int rank) const { return recorders_ + static_cast<size_t>(rank) * round_up(recorder_bytes()); }

Channel& Segment::channel(int from, int to) const { return channels_[from * size_ + to]; }

int64_t Segment::heap_offset(int rank, const void* data, size_t bytes) const {
  if (one_process()) return -1;
  const auto offset = reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(heap(rank));  // below the heap: a huge number
  return offset < kHeap && bytes <= kHeap - offset ? static_cast<int64_t>(offset) : -1;
}

// --- Who is there

void Segment::sit(int rank, int pid, int watch, int number) {
  seat(rank).pid.store(pid);
  members_[static_cast<size_t>(rank)] = {watch, number};
}

bool Segment::has_died(int rank) const {
  const int watch = members_[static_cast<size_t>(rank)].watch;
  if (watch < 0) return watch == kEnded;
  pollfd asked{watch, POLLIN, 0};
  return poll(&asked, 1, 0) == 1;
}

void Segment::leave(int rank) noexcept {
  seat(rank).left.store(1);
  for (Announcement& announcement : seat(rank).announcements) wake(announcement.number);
  wake(seat(rank).signal);
  for (int peer = 0; peer < size_; ++peer) ring(peer);
}

std::string Segment::describe(int rank) const {
  if (one_process()) return tandem::str("rank ", rank);
  return tandem::str("rank ", rank, " (pid ", seat(rank).pid.load(), ')');
}

// --- The end

void Segment::abort(const std::string& reason) const noexcept {
  uint32_t alive = 0;
  if (!head_->dead.compare_exchange_strong(alive, 1)) return;
  const size_t bytes = std::min(reason.size(), sizeof head_->reason - 1);
  std::memcpy(head_->reason, reason.data(), bytes);
  head_->reason[bytes] = 0;
  head_->dead.store(2);
  for (int rank = 0; rank < size_; ++rank) {
    for (Announcement& announcement : seat(rank).announcements) wake(announcement.number);
    wake(seat(rank).signal);
    ring(rank);
  }
}

std::string Segment::reason() const {
  if (head_->dead.load(std::memory_order_acquire) != 2) return "by another rank";  // which is writing it, or died at it
  return {head_->reason, strnlen(head_->reason, sizeof head_->reason)};
}

void Segment::fail_dead(const Context& context) const {
  for (int i = 0; i < 100 && head_->dead.load() == 1; ++i) sched_yield();
  fail('[', name(context.call.kind), "] the group was aborted: ", reason());
}

void Segment::fail_all(const Context& context, const std::string& text) const {
  const std::string whole = tandem::str('[', name(context.call.kind), "] ", text);
  abort(whole);
  throw Error(whole);
}

// --- Waiting

bool Segment::wait_for_mail(int rank, uint32_t seen) const {
  Seat& own = seat(rank);
  own.mail_sleepers.fetch_add(1);
  const timespec nap{0, nap_};
  tandem::detail::futex_wait(own.mail, seen, &nap, whose_);
  own.mail_sleepers.fetch_sub(1);
  return own.mail.load() != seen;
}

void Segment::wake(std::atomic<uint32_t>& word) const { tandem::detail::futex_wake(word, INT_MAX, whose_); }

void Segment::check_waiting(const Context& context, int peer, const std::function<bool(int)>& ready) const {
  check_alive(context);
  if (context.aborted && context.aborted->load(std::memory_order_acquire))
    fail('[', name(context.call.kind), "] this rank has left the group, and ", str(context.call), " has not ended");
  if (seat(peer).left.load() && !ready(peer)) fail_without(context, peer, " has left the group, but ");
  if (has_died(peer) && !ready(peer)) fail_without(context, peer, " has died, while ");
  if (Clock::now() < context.deadline) return;
  std::string missing;
  for (int rank = 0; rank < size_; ++rank) {
    if (ready(rank)) continue;
    missing += tandem::str(missing.empty() ? "" : "; ", describe(rank), ", last seen ", last_seen(recorder(rank)));
  }
  if (missing.empty()) return;
  fail_all(context, tandem::str("the time limit was reached in ", str(context.call), ". Missing: ", missing));
}

void Segment::fail_without(const Context& context, int peer, const char* what) const {
  if (const int number = members_[static_cast<size_t>(peer)].number; number >= 0) tell_launcher_missing(number);
  fail_all(context, tandem::str(describe(peer), what, str(context.call), " waits for it; it was last seen ", last_seen(recorder(peer))));
}

void Segment::wait_slowly(const Context& context, int peer, std::atomic<uint32_t>& word, std::atomic<uint32_t>& sleepers,
                          const std::function<bool(int)>& ready) const {
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready(peer)) return;
      tandem::detail::cpu_pause();
    }
    if (crowded_) sched_yield();
  } while (Clock::now() < end);
  struct Sleeper {
    std::atomic<uint32_t>& count;
    explicit Sleeper(std::atomic<uint32_t>& c) : count(c) { count.fetch_add(1); }
    ~Sleeper() { count.fetch_sub(1); }
  } const sleeper(sleepers);
  for (;;) {
    // Who publishes stores the word, then looks at the sleepers; we count as one, then look at the word: one of us sees the other.
    const uint32_t seen = word.load();
    if (ready(peer)) return;
    check_waiting(context, peer, ready);
    const timespec nap{0, nap_};
    tandem::detail::futex_wait(word, seen, &nap, whose_);
  }
}

}  // namespace tandem::comm
