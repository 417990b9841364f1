#include "process/watcher.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/thread.h"

namespace tandem::multiprocessing::detail {
namespace {

class Watcher {
 public:
  void watch(int file, std::function<void()> ready) {
    if (const pid_t owner = owner_.load(); owner != 0 && owner != getpid())
      fail("[multiprocessing] this process was forked from one that has workers or shares GPUs' memory: start it anew (fork and exec, ",
           "posix_spawn)");
    const std::lock_guard lock(mutex_);
    start();
    epoll_event event{};
    event.events = EPOLLIN | EPOLLONESHOT;
    event.data.fd = file;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, file, &event) != 0)
      fail("[multiprocessing] a process cannot be watched: ", std::strerror(errno));
    ready_[file] = std::move(ready);
  }

 private:
  void start() {
    if (epoll_) return;
    Descriptor epoll(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll) fail("[multiprocessing] processes cannot be watched: ", std::strerror(errno), errno == EMFILE ? "; raise `ulimit -n`" : "");
    try {
      tandem::detail::start_thread("tandem-process", [this, file = epoll.get()] { work(file); }).detach();
    } catch (const std::system_error& e) {
      fail("[multiprocessing] no thread to watch processes: ", e.what());
    }
    epoll_ = std::move(epoll);
    owner_.store(getpid());
  }

  [[noreturn]] void work(int epoll) {
    for (;;) {
      epoll_event event{};
      if (epoll_wait(epoll, &event, 1, -1) != 1) continue;
      std::function<void()> ready;
      {
        const std::lock_guard lock(mutex_);
        const auto found = ready_.find(event.data.fd);
        if (found == ready_.end()) continue;
        epoll_ctl(epoll, EPOLL_CTL_DEL, event.data.fd, nullptr);
        ready = std::move(found->second);
        ready_.erase(found);
      }
      ready();
    }
  }

  std::mutex mutex_;
  std::atomic<pid_t> owner_{0};  // the process that has the thread
  Descriptor epoll_;
  std::map<int, std::function<void()>> ready_;
};

Watcher& watcher() {
  static auto* the_watcher = new Watcher;  // not destroyed: static objects may still wait, and its thread goes on to the end
  return *the_watcher;
}

}  // namespace

void watch(int file, std::function<void()> ready) { watcher().watch(file, std::move(ready)); }

}  // namespace tandem::multiprocessing::detail
