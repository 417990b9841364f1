#include "runtime/observer.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "base/fork.h"

namespace tandem::runtime {

constinit std::atomic<bool> detail::observed{false};
constinit thread_local WorkTimes* detail::current_work_times = nullptr;

namespace {

// Told under the shared lock, so that whoever is removed is not being told any more. While the list is to change, who comes to tell of what
// has a length waits at the gate: threads that tell without end would keep the lock between them. Marks are told with locks of the
// library's held, which an observer may be waiting for, so they do not wait.
struct Observers {
  std::mutex gate;
  std::atomic<bool> changing{false};
  std::shared_mutex mutex;
  std::vector<Observer*> all;

  template <class Change>
  void change(Change&& make) {
    const std::lock_guard closed(gate);
    changing.store(true);
    const std::lock_guard lock(mutex);
    changing.store(false);
    make();
    detail::observed.store(!all.empty());
  }
};
Observers& observers() {
  // Not destroyed: static objects may still do something. A forked child has nobody's threads, so nobody is told there.
  static auto* the_observers = [] {
    (void)tandem::detail::in_forked_children([] { detail::observed.store(false); });
    return new Observers;
  }();
  return *the_observers;
}

/// What an observer does itself with the library is not told.
thread_local constinit bool telling = false;

template <class Tell>
void tell_all(bool may_wait, Tell&& tell) {
  if (telling) return;
  Observers& list = observers();
  if (may_wait && list.changing.load()) const std::lock_guard wait(list.gate);
  const std::shared_lock lock(list.mutex);
  struct Here {
    Here() { telling = true; }
    ~Here() { telling = false; }
  } const here;
  for (Observer* const observer : list.all) tell(*observer);
}

}  // namespace

void add_observer(Observer& observer) {
  Observers& list = observers();
  list.change([&] { list.all.push_back(&observer); });
}

void remove_observer(Observer& observer) noexcept {
  Observers& list = observers();
  list.change([&] { std::erase(list.all, &observer); });
}

template <class Fact>
void detail::tell_begin(const Fact& fact) {
  if constexpr (requires(Observer & observer) { observer.allow(fact); }) tell_all(true, [&](Observer& observer) { observer.allow(fact); });
  tell_all(true, [&](Observer& observer) { observer.begin(fact); });
}
template <class Fact>
void detail::tell_end(const Fact& fact) noexcept {
  tell_all(true, [&](Observer& observer) { observer.end(fact); });
}
template <class Fact>
void detail::tell_mark(const Fact& fact) noexcept {
  tell_all(false, [&](Observer& observer) { observer.mark(fact); });
}

void detail::tell_missed() noexcept {
  tell_all(false, [](Observer& observer) { observer.missed(); });
}

template void detail::tell_begin(const facts::Kernel&);
template void detail::tell_begin(const facts::Copy&);
template void detail::tell_begin(const facts::Wait&);
template void detail::tell_begin(const facts::Collective&);
template void detail::tell_begin(const facts::Replay&);
template void detail::tell_begin(const facts::Scope&);
template void detail::tell_end(const facts::Kernel&) noexcept;
template void detail::tell_end(const facts::Copy&) noexcept;
template void detail::tell_end(const facts::Wait&) noexcept;
template void detail::tell_end(const facts::Collective&) noexcept;
template void detail::tell_end(const facts::Replay&) noexcept;
template void detail::tell_end(const facts::Scope&) noexcept;
template void detail::tell_mark(const facts::Recorded&) noexcept;
template void detail::tell_mark(const facts::EventMark&) noexcept;
template void detail::tell_mark(const facts::Order&) noexcept;
template void detail::tell_mark(const facts::CaptureMark&) noexcept;
template void detail::tell_mark(const facts::MemoryMark&) noexcept;

}  // namespace tandem::runtime
