// The thread pool: every piece once, the same pieces whatever helps, and nothing that waits for ever.
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/float_mode.h"

namespace tandem {
namespace {

/// Sets the number of threads for one test.
class Threads {
 public:
  explicit Threads(int count) : before_(get_num_threads()) { set_num_threads(count); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_;
};

TEST(ParallelFor, RunsEachPieceOnceWithTheSameBounds) {
  const Threads threads(4);
  for (const int64_t count : {1, 2, 3, 7, 64, 1000, 4097}) {
    for (const int64_t grain : {1, 2, 3, 64, 1000, 5000}) {
      for (const int width : {1, 2, 3, 4, 9}) {
        const int64_t pieces = (count + grain - 1) / grain;
        auto runs = std::make_unique<std::atomic<int>[]>(static_cast<size_t>(pieces));
        std::atomic<bool> wrong{false};
        parallel_for(count, grain, width, [&](int64_t begin, int64_t end) {
          if (begin % grain != 0 || end != std::min(begin + grain, count)) wrong = true;
          ++runs[static_cast<size_t>(begin / grain)];
        });
        EXPECT_FALSE(wrong) << count << " by " << grain << " on " << width;
        for (int64_t i = 0; i < pieces; ++i)
          ASSERT_EQ(runs[static_cast<size_t>(i)], 1) << count << " by " << grain << " on " << width << ": piece " << i;
      }
    }
  }
}

TEST(ParallelFor, DoesNothingForAnEmptyRange) {
  parallel_for(0, 4, 4, [](int64_t, int64_t) { FAIL(); });
  parallel_for(-3, 4, 4, [](int64_t, int64_t) { FAIL(); });
}

TEST(ParallelFor, PassesWritesOnToTheCaller) {
  const Threads threads(4);
  std::vector<int64_t> values(10000);
  for (int64_t round = 1; round <= 200; ++round) {
    parallel_for(static_cast<int64_t>(values.size()), 16, 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] += i;
    });
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], round * static_cast<int64_t>(i));
  }
}

/// Whether two pieces run at the same time: each waits until the other has begun, but not for ever.
bool two_meet(int width) {
  std::atomic<int> begun{0};
  std::atomic<bool> met{true};
  parallel_for(2, 1, width, [&](int64_t, int64_t) {
    ++begun;
    const auto start = std::chrono::steady_clock::now();
    while (begun < 2 && met) {
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) met = false;
      std::this_thread::yield();
    }
  });
  return met;
}

TEST(ParallelFor, UsesTwoThreadsAtOnce) {
  const Threads threads(2);
  EXPECT_TRUE(two_meet(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough for the worker to fall asleep
  EXPECT_TRUE(two_meet(2));
}

// Two pieces at once, so one of them on a worker; then again without the mode.
TEST(ParallelFor, ComputesInTheCallersFloatMode) {
  const Threads threads(2);
  const auto halves = [] {
    std::vector<float> found(2);
    std::atomic<int> begun{0};
    parallel_for(2, 1, 2, [&](int64_t i, int64_t) {
      ++begun;
      const auto start = std::chrono::steady_clock::now();
      while (begun < 2 && std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) std::this_thread::yield();
      volatile float smallest = std::numeric_limits<float>::min();
      found[static_cast<size_t>(i)] = smallest * 0.5F;
    });
    return found;
  };
  const float half = std::numeric_limits<float>::denorm_min() * 0x1p22F;
  EXPECT_EQ(halves(), (std::vector{half, half}));
  std::vector<float> flushed;
  {
    const detail::FloatModeScope mode(detail::flushing(detail::float_mode()));
    flushed = halves();
  }
  EXPECT_EQ(flushed, (std::vector{0.0F, 0.0F}));  // out of the scope, in which all such numbers are equal
  EXPECT_EQ(halves(), (std::vector{half, half}));
}

// What a program asks the processor about its own arithmetic is not forgotten by a layer that it calls.
TEST(FloatMode, AScopeKeepsTheFlagsOfExceptions) {
  std::feclearexcept(FE_ALL_EXCEPT);
  volatile double zero = 0;
  volatile double infinite = 1 / zero;
  (void)infinite;
  { const detail::FloatModeScope mode(detail::flushing(detail::float_mode())); }
  EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO), FE_DIVBYZERO);
  std::feclearexcept(FE_ALL_EXCEPT);
}

TEST(ParallelFor, WakesEveryWorker) {
  const Threads threads(5);
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> begun{0};
    std::atomic<bool> met{true};
    parallel_for(5, 1, 5, [&](int64_t, int64_t) {
      ++begun;
      const auto start = std::chrono::steady_clock::now();
      while (begun < 5 && met) {
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) met = false;
        std::this_thread::yield();
      }
    });
    EXPECT_TRUE(met);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST(ParallelFor, KeepsToItsWidth) {
  const Threads threads(4);
  const auto caller = std::this_thread::get_id();
  bool elsewhere = false;
  parallel_for(1000, 1, 1, [&](int64_t, int64_t) { elsewhere |= std::this_thread::get_id() != caller; });
  EXPECT_FALSE(elsewhere);
  std::atomic<int> at_once{0}, most{0};
  parallel_for(200, 1, 2, [&](int64_t, int64_t) {
    const int now = ++at_once;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::yield();
    --at_once;
  });
  EXPECT_LE(most, 2);
}

TEST(ParallelFor, StaysOnTheCallerWithOneThread) {
  const Threads threads(1);
  const auto caller = std::this_thread::get_id();
  bool elsewhere = false;
  int64_t last = -1;
  parallel_for(100, 1, 8, [&](int64_t begin, int64_t) {
    elsewhere |= std::this_thread::get_id() != caller || begin != last + 1;
    last = begin;
  });
  EXPECT_FALSE(elsewhere);
  EXPECT_EQ(last, 99);
}

TEST(ParallelFor, GoesThroughLongRangesTheOtherWayRoundEachTime) {
  const Threads threads(2);
  const auto caller = std::this_thread::get_id();
  std::vector<int64_t> firsts;
  for (int region = 0; region < 4; ++region) {
    std::atomic<int64_t> first{-1};
    parallel_for(100, 1, 2, [&](int64_t begin, int64_t) {
      int64_t none = -1;
      if (std::this_thread::get_id() == caller) first.compare_exchange_strong(none, begin);
      else
        while (first == -1) std::this_thread::yield();  // takes nothing from the caller's range before it has begun
    });
    firsts.push_back(first);
  }
  EXPECT_EQ(firsts[0] + firsts[1], 49);  // its range is the first half
  EXPECT_EQ(std::abs(firsts[0] - firsts[1]), 49);
  EXPECT_EQ(firsts[0], firsts[2]);
  EXPECT_EQ(firsts[1], firsts[3]);
}

TEST(ParallelFor, RunsANestedRegionOnOneThread) {
  const Threads threads(4);
  std::atomic<int64_t> sum{0};
  std::atomic<bool> elsewhere{false};
  parallel_for(8, 1, 4, [&](int64_t outer, int64_t) {
    const auto self = std::this_thread::get_id();
    parallel_for(100, 7, 4, [&](int64_t begin, int64_t end) {
      if (std::this_thread::get_id() != self) elsewhere = true;
      for (int64_t i = begin; i < end; ++i) sum += outer * i;
    });
  });
  EXPECT_FALSE(elsewhere);
  EXPECT_EQ(sum, 28 * 4950);
}

TEST(ParallelFor, ServesManyCallersAtOnce) {
  const Threads threads(4);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 6; ++c) {
    callers.emplace_back([&, c] {
      std::vector<int> marks(257);
      for (int round = 0; round < 2000; ++round) {
        parallel_for(257, 1 + c, 2 + c % 3, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++marks[static_cast<size_t>(i)];
        });
        for (const int mark : marks) wrong += mark != round + 1;
        if (round % 500 == 499) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // some workers fall asleep meanwhile
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ParallelFor, FollowsAChangeOfTheNumberOfThreads) {
  const Threads threads(2);
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (int i = 0; !stop; ++i) set_num_threads(1 + i % 5);
  });
  int64_t total = 0;
  for (int round = 0; round < 3000; ++round) {
    std::atomic<int64_t> sum{0};
    parallel_for(64, 1, 5, [&](int64_t begin, int64_t) { sum += begin; });
    total += sum;
  }
  stop = true;
  changer.join();
  EXPECT_EQ(total, 3000 * 2016);
}

TEST(NumThreads, IsAtLeastOne) {
  const Threads threads(3);
  EXPECT_EQ(get_num_threads(), 3);
  set_num_threads(0);
  EXPECT_EQ(get_num_threads(), 1);
  set_num_threads(-7);
  EXPECT_EQ(get_num_threads(), 1);
}

}  // namespace
}  // namespace tandem
