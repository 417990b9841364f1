#include "process/peers.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "process/worker.h"

namespace tandem::multiprocessing::detail {

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
  constexpr int kMostMs = 200;  // a process that ends closes its files a little before its end can be seen
  std::vector<pollfd> ends;
  for (const auto& worker : running()) ends.push_back({worker->pidfd.get(), POLLIN, 0});
  if (!ends.empty()) (void)poll(ends.data(), ends.size(), kMostMs);
  drop_ended(false, op);
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
    const timespec limit{static_cast<time_t>(left.count() / 1'000'000'000), static_cast<long>(left.count() % 1'000'000'000)};
    const int ready = ppoll(watched.data(), watched.size(), &limit, nullptr);
    if (ready < 0 && errno != EINTR) fail('[', op, "] waiting failed: ", std::strerror(errno));
    if (ready > 0 && watched[0].revents != 0) return true;
    if (ended) drop_ended(deadline.forever(), op);
    ended = ready > 0 && !ended;
    if (ready <= 0 && deadline.passed()) return false;
  }
}

}  // namespace tandem::multiprocessing::detail
