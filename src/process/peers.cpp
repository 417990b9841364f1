#include "process/peers.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "process/worker.h"

namespace tandem::multiprocessing::detail {
namespace {

timespec to_timespec(std::chrono::nanoseconds time) {
  return {static_cast<time_t>(time.count() / 1'000'000'000), static_cast<long>(time.count() % 1'000'000'000)};
}

}  // namespace

void Peers::add(std::shared_ptr<Worker> worker) {
  const std::lock_guard lock(mutex_);
  had_any_ = true;
  workers_.push_back(std::move(worker));
}

void Peers::remove(const Worker& worker) {
  std::shared_ptr<Worker> removed;  // goes without the lock held
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(workers_.begin(), workers_.end(), [&](const auto& other) { return other.get() == &worker; });
  if (found == workers_.end()) return;
  removed = std::move(*found);
  workers_.erase(found);
}

std::vector<std::shared_ptr<Worker>> Peers::running() const {
  const std::lock_guard lock(mutex_);
  return workers_;
}

void Peers::drop_ended(bool forever, const char* op) {
  for (const auto& worker : running()) {
    pollfd end{worker->pidfd.get(), POLLIN, 0};
    if (poll(&end, 1, 0) != 1) continue;
    worker->wait_ended(Deadline(std::nullopt));  // its exit code is being read
    remove(*worker);
    if (auto failure = worker->failure(op); failure && worker->set_reported()) throw std::move(*failure);
  }
  const std::lock_guard lock(mutex_);
  if (forever && had_any_ && workers_.empty())
    throw ProcessError(str('[', op, "] this would wait for ever: every process that it was given to has ended"));
}

void Peers::explain_closed(const char* op) {
  // A worker whose function throws closes its files a moment before it says so; from there to its end it may take long (static objects,
  // a sanitizer's report, a machine with other work). Who is closed to on purpose waits for the first of the two.
  const Deadline told(std::chrono::seconds(1)), ended(std::chrono::seconds(30));
  for (;;) {
    drop_ended(false, op);
    const auto workers = running();
    if (workers.empty()) return;
    std::vector<pollfd> watched;
    for (const auto& worker : workers) watched.push_back({worker->socket.get(), POLLRDHUP, 0});
    (void)poll(watched.data(), watched.size(), 0);
    const bool leaving = std::any_of(watched.begin(), watched.end(), [](const pollfd& socket) { return socket.revents != 0; });
    if (leaving) watched.clear();  // these would be ready at once
    for (const auto& worker : workers) watched.push_back({worker->pidfd.get(), POLLIN, 0});
    const Deadline& deadline = leaving ? ended : told;
    if (deadline.passed()) return;
    const timespec limit = to_timespec(deadline.left(std::chrono::hours(1)));
    (void)ppoll(watched.data(), watched.size(), &limit, nullptr);
  }
}

void Peers::check(bool forever, const char* op) { drop_ended(forever, op); }

bool Peers::wait(int file, short events, const Deadline& deadline, const char* op) {
  for (bool ended = false;;) {
    std::vector<pollfd> watched{{file, events, 0}};
    const auto workers = running();
    for (const auto& worker : workers) watched.push_back({worker->pidfd.get(), POLLIN, 0});
    bool had_any;
    {
      const std::lock_guard lock(mutex_);
      had_any = had_any_;
    }
    // Whoever has ended may have made the file ready before: that comes first.
    if (workers.empty() && had_any && deadline.forever()) ended = true;
    const auto left = ended ? std::chrono::nanoseconds(0) : deadline.left(std::chrono::hours(1));
    const timespec limit = to_timespec(left);
    const int ready = ppoll(watched.data(), watched.size(), &limit, nullptr);
    if (ready < 0 && errno != EINTR) fail('[', op, "] waiting failed: ", std::strerror(errno));
    if (ready > 0 && watched[0].revents != 0) return true;
    if (ended) drop_ended(deadline.forever(), op);
    ended = ready > 0 && !ended;
    if (ready <= 0 && deadline.passed()) return false;
  }
}

}  // namespace tandem::multiprocessing::detail
