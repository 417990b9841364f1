// What a binding to another language does around waits: called before, after and meanwhile, and it may end a wait.
#include "base/wait_hook.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "virtual_gpus.h"

namespace tandem::testing {
namespace {

using detail::HookedWait;
using detail::WaitHook;

thread_local int begun = 0, ended = 0, checks = 0, most_checks = 0;
thread_local void* last_ended = nullptr;

const WaitHook hook{[]() -> void* {
                      ++begun;
                      return &begun;
                    },
                    [](void* state) {
                      ++ended;
                      last_ended = state;
                    },
                    [] {
                      if (++checks >= most_checks) throw std::runtime_error("enough");
                    }};

/// The hook for the length of a test.
class Hooked : public ::testing::Test {
 protected:
  Hooked() {
    begun = ended = checks = 0;
    most_checks = 1000000;
    last_ended = nullptr;
    detail::wait_hook.store(&hook);
  }
  ~Hooked() override { detail::wait_hook.store(nullptr); }
};

TEST_F(Hooked, AStreamsWaitIsBetweenBeginAndEnd) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  Gate gate;
  gpus.run(stream, gate.task());
  std::thread opener([&] { gate.open(); });
  gpus.synchronize(stream);
  opener.join();
  EXPECT_EQ(begun, ended);
  if (begun > 0) {
    EXPECT_EQ(last_ended, &begun);
  }
  begun = ended = 0;
  gpus.synchronize(stream);  // nothing to wait for
  EXPECT_EQ(begun, 0);
}

TEST_F(Hooked, ACheckThatThrowsEndsTheWaitAlone) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  Gate gate;
  bool ran = false;
  gpus.run(stream, gate.task());
  gpus.run(stream, [&](const Queue&) { ran = true; });
  most_checks = 2;
  const auto waits = [&] {
    const detail::MayEndWaits may_end;
    gpus.synchronize(stream);
  };
  EXPECT_THROW(waits(), std::runtime_error);
  EXPECT_EQ(checks, 2);
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(ended, 1);
  gate.open();
  most_checks = 1000000;
  gpus.synchronize(stream);
  EXPECT_TRUE(ran);
}

// A copy that is queued writes into its caller's memory: the wait for it goes on to its end.
TEST_F(Hooked, OtherWaitsAreNotEnded) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  Gate gate;
  gpus.run(stream, gate.task());
  most_checks = 1;
  std::thread opener([&] {
    std::this_thread::sleep_for(3 * detail::kWaitCheck);
    gate.open();
  });
  gpus.synchronize(stream);
  opener.join();
  EXPECT_EQ(checks, 0);
  EXPECT_EQ(begun, ended);
}

TEST_F(Hooked, SoDoesTheWaitForACondition) {
  std::mutex mutex;
  std::condition_variable changed;
  most_checks = 1;
  {
    const detail::MayEndWaits may_end;
    const HookedWait waiting;
    std::unique_lock lock(mutex);
    EXPECT_THROW(waiting.until(changed, lock, [] { return false; }), std::runtime_error);
    EXPECT_FALSE(lock.owns_lock());
  }
  EXPECT_EQ(ended, 1);
  most_checks = 1000000;
  bool ready = false;
  std::thread sets([&] {
    const std::lock_guard lock(mutex);
    ready = true;
    changed.notify_all();
  });
  const HookedWait waiting;
  std::unique_lock lock(mutex);
  waiting.until(changed, lock, [&] { return ready; });
  EXPECT_TRUE(ready);
  sets.join();
}

}  // namespace
}  // namespace tandem::testing
