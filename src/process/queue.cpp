// A queue is a socket that everybody sends into and receives from: the system keeps each message whole, and in order. Where the number of
// messages is limited, they are numbered, and what is in the queue is the difference of the last number put in and the last taken out. Both
// heal when a process dies between a message and the number: later messages bring it up to date.
#include "process/queue.h"

#include <poll.h>

#include <atomic>
#include <climits>

#include "base/error.h"
#include "base/futex.h"
#include "process/robust_mutex.h"
#include "process/shared_object.h"
#include "process/socket.h"

namespace tandem::multiprocessing::detail {
namespace {

struct Numbers {
  explicit Numbers(int64_t most) : maxsize(most) {}
  const int64_t maxsize;
  RobustMutex putting{RobustMutex::Kind::Plain};
  std::atomic<uint64_t> put{0}, taken{0};
  std::atomic<uint32_t> changed{0};  // with `taken`; who waits for room sleeps on it
};

bool is_ready(int file) {
  pollfd ready{file, POLLIN, 0};
  return ::poll(&ready, 1, 0) == 1;
}

constexpr std::chrono::milliseconds kLook(20);  // how often a wait for room looks whether anybody is left to make it

}  // namespace

struct AnyQueue::State {
  std::shared_ptr<const Descriptor> in, out;
  SharedObject<Numbers> numbers;
  std::shared_ptr<Peers> peers = std::make_shared<Peers>();
};

AnyQueue::AnyQueue(int64_t maxsize) {
  if (maxsize < 0) fail("[Queue] maxsize is ", maxsize, ": it takes 0, for any number of values, or more");
  auto [in, out] = socket_pair("Queue");
  state_ = std::make_shared<State>(State{std::make_shared<const Descriptor>(std::move(in)),
                                         std::make_shared<const Descriptor>(std::move(out)), SharedObject<Numbers>::make(maxsize)});
}

void AnyQueue::put(Parcel& parcel) const {
  parcel.put_file(state_->in->get(), state_->in);
  parcel.put_file(state_->out->get(), state_->out);
  state_->numbers.put(parcel);
  parcel.give(state_->peers);
}

AnyQueue AnyQueue::take(Received& received) {
  Descriptor in = received.take_file(), out = received.take_file();
  check_socket(in.get(), received.op());
  check_socket(out.get(), received.op());
  return AnyQueue(
      std::make_shared<State>(State{std::make_shared<const Descriptor>(std::move(in)), std::make_shared<const Descriptor>(std::move(out)),
                                    SharedObject<Numbers>::take(received)}));
}

void AnyQueue::send(Parcel& parcel, Timeout timeout) const {
  const char* const op = parcel.op();
  const Deadline deadline(timeout);
  Numbers& numbers = *state_->numbers;
  if (numbers.maxsize == 0) {
    if (!detail::send(state_->in->get(), parcel.finish(), deadline, *state_->peers, op))
      fail<Full>("[Queue.put] nobody has fetched anything in time, and the system takes no more");
    return;
  }
  const auto is_full = [&] {
    return numbers.put.load() - numbers.taken.load() >= static_cast<uint64_t>(numbers.maxsize) && is_ready(state_->out->get());
  };
  Peers none;
  Message message = parcel.finish();
  for (;;) {
    const uint32_t seen = numbers.changed.load();
    if (!is_full()) {
      if (numbers.putting.lock(deadline, op) == RobustMutex::Taken::No) break;
      bool sent = false;
      try {
        if (!is_full()) {
          const uint64_t number = numbers.put.load() + 1;
          message.set_number(number);
          sent = detail::send(state_->in->get(), message, Deadline(std::chrono::nanoseconds(0)), none, op);
          if (sent) numbers.put.store(number);
        }
      } catch (...) {
        numbers.putting.unlock(op);
        throw;
      }
      numbers.putting.unlock(op);
      if (sent) return;
    }
    state_->peers->check(deadline.forever(), op);
    if (deadline.passed()) break;
    const auto left = deadline.left(kLook);
    const timespec limit{0, static_cast<long>(left.count())};
    tandem::detail::futex_wait(numbers.changed, seen, &limit, tandem::detail::Futex::Shared);
  }
  fail<Full>("[Queue.put] the queue still holds its ", numbers.maxsize, " values");
}

Received AnyQueue::receive(Timeout timeout) const {
  auto received = detail::receive(state_->out->get(), Deadline(timeout), *state_->peers, "Queue.get");
  if (!received) fail<Empty>("[Queue.get] nothing was put into the queue in time");
  Numbers& numbers = *state_->numbers;
  if (numbers.maxsize > 0 && received->number() <= numbers.put.load() + 1) {
    uint64_t before = numbers.taken.load();
    while (before < received->number() && !numbers.taken.compare_exchange_weak(before, received->number())) {
    }
    numbers.changed.fetch_add(1);
    tandem::detail::futex_wake(numbers.changed, INT_MAX, tandem::detail::Futex::Shared);
  }
  return std::move(*received);
}

bool AnyQueue::empty() const { return !is_ready(state_->out->get()); }

}  // namespace tandem::multiprocessing::detail
