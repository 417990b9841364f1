#include "process/event.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "process/peers.h"

namespace tandem::multiprocessing {
namespace detail {

Counter::Counter(Descriptor file) : file_(std::make_shared<const Descriptor>(std::move(file))), peers_(std::make_shared<Peers>()) {}

Counter::Counter(Kind kind, unsigned value, const char* op)
    : Counter(Descriptor(eventfd(value, EFD_CLOEXEC | EFD_NONBLOCK | (kind == Kind::Semaphore ? EFD_SEMAPHORE : 0)))) {
  if (!*file_) fail('[', op, "] no new descriptor: ", std::strerror(errno), errno == EMFILE ? "; raise `ulimit -n`" : "");
}

void Counter::put(Parcel& parcel) const {
  parcel.put_file(file_->get(), file_);
  parcel.give(peers_);
}

Counter Counter::take(Received& received) {
  Descriptor file = received.take_file();
  char kind[64] = {};
  const std::string link = str("/proc/self/fd/", file.get());
  if (readlink(link.c_str(), kind, sizeof kind - 1) < 0 || std::strcmp(kind, "anon_inode:[eventfd]") != 0)
    refuse(received.op(), "a descriptor is neither an event nor a semaphore");
  return Counter(std::move(file));
}

bool Counter::is_zero() const {
  pollfd counted{file_->get(), POLLIN, 0};
  return ::poll(&counted, 1, 0) != 1;
}

bool Counter::wait(const Deadline& deadline, const char* op) const { return peers_->wait(file_->get(), POLLIN, deadline, op); }

bool Counter::take_away() const {
  uint64_t taken = 0;
  return read(file_->get(), &taken, sizeof taken) == sizeof taken;
}

void Counter::add(unsigned count, const char* op) const {
  const uint64_t more = count;
  if (write(file_->get(), &more, sizeof more) != sizeof more) fail('[', op, "] ", count, " are more than the system counts");
}

}  // namespace detail

Event::Event() : counter_(detail::Counter::Kind::Event, 0, "Event") {}
bool Event::is_set() const { return !counter_.is_zero(); }
void Event::set() const {
  if (counter_.is_zero()) counter_.add(1, "Event.set");
}
void Event::clear() const { counter_.take_away(); }
bool Event::wait(Timeout timeout) const { return counter_.wait(detail::Deadline(timeout), "Event.wait"); }

Semaphore::Semaphore(unsigned permits) : counter_(detail::Counter::Kind::Semaphore, permits, "Semaphore") {}
bool Semaphore::acquire(Timeout timeout) const {
  const detail::Deadline deadline(timeout);
  while (!counter_.take_away()) {
    if (!counter_.wait(deadline, "Semaphore.acquire")) return false;  // another may be faster than we are
  }
  return true;
}
void Semaphore::release(unsigned permits) const { counter_.add(permits, "Semaphore.release"); }

}  // namespace tandem::multiprocessing
