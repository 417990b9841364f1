#include "process/process.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <vector>

#include "base/error.h"
#include "process/worker.h"

namespace tandem::multiprocessing {
namespace {

constexpr std::chrono::seconds kGrace(2);  // what workers that are told to end are given

std::string next_name() {
  static std::atomic<int> count{0};
  return str("Process-", count.fetch_add(1) + 1);
}

}  // namespace

Process::Process(detail::Message call) : name_(next_name()), call_(std::make_unique<detail::Message>(std::move(call))) {
  detail::check_initialised("Process");
}

Process::Process(Process&& other) noexcept = default;

Process& Process::operator=(Process&& other) noexcept {
  if (this == &other) return *this;
  end();
  name_ = std::move(other.name_);
  call_ = std::move(other.call_);
  worker_ = std::move(other.worker_);
  return *this;
}

Process::~Process() { end(); }

void Process::end() noexcept {
  if (!worker_ || worker_->owner != getpid()) return;
  worker_->set_reported();
  worker_->signal(SIGKILL);
  worker_->wait_ended(detail::Deadline(std::nullopt));
  worker_.reset();
}

detail::Worker& Process::worker(const char* op) const {
  if (!worker_) fail('[', op, "] ", name_, " was not started: call start() first");
  return *worker_;
}

void Process::start(Site /*site*/) {
  if (worker_ || !call_) fail("[Process.start] ", name_, " was started before: make another Process");
  worker_ = detail::start_worker(name_, *call_, 1, "Process.start");
  call_.reset();
}

bool Process::join(Timeout timeout) {
  detail::Worker& joined = worker("Process.join");
  if (!joined.wait_ended(detail::Deadline(timeout))) return false;
  joined.set_reported();
  return true;
}

std::optional<int> Process::exitcode() const {
  if (!worker_) return std::nullopt;
  const std::lock_guard lock(worker_->mutex);
  return worker_->ended ? std::optional<int>(worker_->exitcode) : std::nullopt;
}

bool Process::is_alive() const { return worker_ && !exitcode(); }

std::optional<ProcessError> Process::error() const { return worker_ ? worker_->failure("Process") : std::nullopt; }

void Process::terminate() { worker("Process.terminate").signal(SIGTERM); }

void Process::kill() { worker("Process.kill").signal(SIGKILL); }

int Process::pid() const { return worker_ ? worker_->pid : 0; }

namespace detail {
namespace {

/// The workers of one spawn; those that still run when it is left are ended.
class Group {
 public:
  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    for (const auto& worker : workers_) {
      worker->set_reported();
      worker->signal(SIGTERM);
    }
    const Deadline grace(kGrace);
    for (const auto& worker : workers_) {
      if (worker->wait_ended(grace)) continue;
      worker->signal(SIGKILL);
      worker->wait_ended(Deadline(std::nullopt));
    }
  }

  void add(std::shared_ptr<Worker> worker) { workers_.push_back(std::move(worker)); }

  /// Until all have ended, or one has failed: what it failed by.
  std::optional<ProcessError> wait() {
    for (auto left = workers_; !left.empty();) {
      std::vector<pollfd> ends;
      for (const auto& worker : left) ends.push_back({worker->pidfd.get(), POLLIN, 0});
      if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) fail("[spawn] waiting for the processes failed");
      for (size_t i = ends.size(); i-- > 0;) {
        if (ends[i].revents == 0) continue;
        left[i]->wait_ended(Deadline(std::nullopt));
        if (auto failure = left[i]->failure("spawn")) return failure;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<std::shared_ptr<Worker>> workers_;
};

}  // namespace

void spawn(int nprocs, const std::function<Message(int rank)>& call) {
  check_initialised("spawn");
  if (nprocs < 1) fail("[spawn] nprocs is ", nprocs, ": it takes one process or more");
  std::optional<ProcessError> failure;
  {
    Group group;
    for (int rank = 0; rank < nprocs; ++rank) group.add(start_worker(str("rank ", rank), call(rank), nprocs, "spawn"));
    failure = group.wait();
  }
  if (failure) throw std::move(*failure);
}

}  // namespace detail
}  // namespace tandem::multiprocessing
