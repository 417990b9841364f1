#include "comm/cuda/watcher.h"

#include <condition_variable>
#include <list>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"
#include "runtime/driver.h"

namespace tandem::comm::nccl {
namespace {

constexpr std::chrono::milliseconds kPause{10};   // between two looks
constexpr std::chrono::seconds kTimeToLeave{10};  // for other ranks to take their leave too

/// A call whose work is queued.
struct Queued {
  std::shared_ptr<Rank> rank;
  std::shared_ptr<Communicator> communicator;
  runtime::EventHandle passed;
  Clock::time_point deadline;
  std::string call;
  UnderWay work;
  Rank::Place place;
};
struct Leaving {
  std::shared_ptr<Communicator> communicator;
  Clock::time_point deadline;
};

/// Texts of failures, which streams' statuses point to.
const char* lasting(const std::string& text) {
  static auto* const mutex = new std::mutex;
  static auto* const texts = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  return texts->insert(text).first->c_str();
}

class Watcher;
Watcher& watcher();

/// As kernels report: the stream's next synchronization throws it.
void report(const UnderWay& work, const std::string& failure) {
  if (work.status->trouble.load() != Trouble::None) return;
  work.status->op = work.op;
  work.status->site = work.site;
  work.status->report(Trouble::Library, static_cast<int64_t>(reinterpret_cast<intptr_t>(lasting(failure))), 2);
}

/// One a process, never destroyed. Its thread lives while there is something to look after.
class Watcher {
 public:
  void add(Queued queued) {
    const std::lock_guard lock(mutex_);
    queued_.push_back(std::move(queued));
    wake();
  }
  void add(Leaving leaving) {
    const std::lock_guard lock(mutex_);
    leaving_.push_back(std::move(leaving));
    wake();
  }
  runtime::EventHandle event(int device) {
    {
      const std::lock_guard lock(mutex_);
      for (auto it = events_.begin(); it != events_.end(); ++it)
        if (it->first == device) {
          const runtime::EventHandle found = it->second;
          events_.erase(it);
          return found;
        }
    }
    return runtime::require_driver().create_event(device, false);
  }
  void give_back(int device, runtime::EventHandle event) {
    const std::lock_guard lock(mutex_);
    events_.emplace_back(device, event);
  }

 private:
  /// With the mutex held.
  void wake() {
    static const int at_exit = std::atexit([] { watcher().stop(); });
    (void)at_exit;
    if (working_ || stopping_) return;
    working_ = true;
    std::thread([this] { work(); }).detach();
  }
  /// The program ends: what it uses may be gone soon.
  void stop() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    ended_.wait(lock, [this] { return !working_; });
  }

  void work() {
    for (;;) {
      std::list<Queued> queued;
      std::list<Leaving> leaving;
      {
        const std::lock_guard lock(mutex_);
        working_ = !stopping_ && !(queued_.empty() && leaving_.empty());
        if (!working_) return ended_.notify_all();
        queued.splice(queued.end(), queued_);
        leaving.splice(leaving.end(), leaving_);
      }
      queued.remove_if([this](const Queued& each) { return look_at(each); });
      leaving.remove_if([](const Leaving& each) { return look_at(each); });
      {
        const std::lock_guard lock(mutex_);
        queued_.splice(queued_.begin(), queued);
        leaving_.splice(leaving_.begin(), leaving);
      }
      std::this_thread::sleep_for(kPause);
    }
  }

  /// Whether there is nothing to wait for any more.
  bool look_at(const Queued& each) {
    std::string failure = each.communicator->asynchronous_error();
    try {
      if (failure.empty() && runtime::require_driver().query_event(each.passed)) {
        each.rank->end(each.place);
        give_back(each.communicator->device(), each.passed);
        return true;
      }
    } catch (const Error& error) {
      failure = error.what();
    }
    if (failure.empty() && Clock::now() >= each.deadline)
      failure = tandem::str(each.call, " did not end within its time limit: not all ranks called it, or one of them is gone");
    if (failure.empty()) return false;
    each.rank->abort(failure);
    each.rank->end(each.place);
    runtime::require_driver().destroy_event(each.passed);
    return true;
  }
  static bool look_at(const Leaving& each) { return each.communicator->finalized() || Clock::now() >= each.deadline; }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool working_ = false, stopping_ = false;
  std::list<Queued> queued_;
  std::list<Leaving> leaving_;
  std::vector<std::pair<int, runtime::EventHandle>> events_;  // free ones, with their devices
};

Watcher& watcher() {
  static auto* const one = new Watcher;
  return *one;
}

}  // namespace

void Rank::add(std::shared_ptr<Communicator> communicator) {
  const std::lock_guard lock(mutex_);
  if (!reason_.empty()) communicator->abort(reason_);
  communicators_.push_back(std::move(communicator));
}

void Rank::abort(const std::string& reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (!reason_.empty()) return;
  reason_ = reason;
  for (const UnderWay& work : under_way_) report(work, reason);  // before an abort lets the streams go on
  for (const auto& each : communicators_) each->abort(reason);
  if (host_) host_->abort(reason);
}

void Rank::refuse_dead() const {
  const std::lock_guard lock(mutex_);
  if (!reason_.empty()) fail(reason_);
}

std::vector<std::shared_ptr<Communicator>> Rank::leave() noexcept {
  const std::lock_guard lock(mutex_);
  host_ = nullptr;
  if (reason_.empty()) reason_ = "this rank has left the group";
  return std::move(communicators_);
}

Rank::Place Rank::begin(const UnderWay& work) {
  const std::lock_guard lock(mutex_);
  if (!reason_.empty()) report(work, reason_);
  return under_way_.insert(under_way_.end(), work);
}

void Rank::end(Place work) noexcept {
  const std::lock_guard lock(mutex_);
  under_way_.erase(work);
}

void watch(std::shared_ptr<Rank> rank, std::shared_ptr<Communicator> communicator, const Context& context, const Queue& queue) {
  Queued queued{
      std::move(rank), std::move(communicator), nullptr, context.deadline, str(context.call), {queue.late, queue.op, queue.site}, {}};
  Held::afterwards([queued = std::move(queued), stream = context.stream]() mutable {
    const int device = queued.communicator->device();
    queued.passed = watcher().event(device);
    if (!runtime::require_driver().record_event_outside_capture(queued.passed, stream)) return watcher().give_back(device, queued.passed);
    queued.place = queued.rank->begin(queued.work);
    watcher().add(std::move(queued));
  });
}

void close(std::vector<std::shared_ptr<Communicator>> communicators) noexcept {
  for (auto& each : communicators) {
    each->finalize();
    watcher().add(Leaving{std::move(each), Clock::now() + kTimeToLeave});
  }
}

}  // namespace tandem::comm::nccl
