// A forked child finds the mutexes free and the pool of threads able to work, whatever the parent's threads were at.
#include "base/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/parallel.h"

namespace tandem::detail {
namespace {

/// Whether a forked child runs `body` to its end, and that says true.
template <class Body>
bool in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

TEST(Fork, WaitsForMutexesInAnyOrderOfTaking) {
  static ForkSafeMutex first, second;
  static int guarded[2] = {};  // equal where nobody is at work
  std::atomic<bool> stop{false};
  const auto work = [&](ForkSafeMutex& outer, ForkSafeMutex& inner) {
    while (!stop) {
      const std::scoped_lock lock(outer, inner);
      for (int& count : guarded) ++count;
    }
  };
  std::thread one([&] { work(first, second); }), other([&] { work(second, first); });
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(in_child([] { return first.try_lock() && second.try_lock() && guarded[0] == guarded[1]; }));
  stop = true;
  one.join();
  other.join();
}

TEST(Fork, ForgetsMutexesThatAreGone) {
  { const ForkSafeMutex gone; }
  EXPECT_TRUE(in_child([] { return true; }));
}

bool computes() {
  std::vector<int> marks(10000);
  for (int round = 0; round < 50; ++round)
    tandem::parallel_for(10000, 10, 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++marks[static_cast<size_t>(i)];
    });
  return std::all_of(marks.begin(), marks.end(), [](int mark) { return mark == 50; });
}

TEST(Fork, LeavesTheChildAPoolOfThreads) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not take threads of a forked child";
#elif defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer's allocator leaves a forked child the locks that other threads held";
#endif
  const int before = get_num_threads();
  set_num_threads(4);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) EXPECT_TRUE(computes());
  });
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(in_child([] { return computes() && in_child(computes); }));
  stop = true;
  busy.join();
  set_num_threads(before);
}

}  // namespace
}  // namespace tandem::detail
