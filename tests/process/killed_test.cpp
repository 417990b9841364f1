// Workers killed at any moment, and parents that end: nothing hangs, and nothing is left over.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <mutex>
#include <random>

#include "support.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace tandem::testing {
namespace {

struct Everything {
  mp::Queue<Tensor> tensors{4};
  mp::Queue<int> numbers;
  mp::Lock lock;
  mp::Semaphore semaphore{2};
  mp::Array<int64_t> sum{1};
  mp::Barrier barrier{2};
};

void works(mp::Queue<Tensor> tensors, mp::Queue<int> numbers, mp::Lock lock, mp::Semaphore semaphore, mp::Array<int64_t> sum,
           mp::Connection<Tensor> pipe, Tensor shared, Tensor on_gpu) {
  for (int i = 0;; ++i) {
    tensors.put(full({20'000}, 1.0 * i));
    numbers.put(i);
    if (semaphore.acquire(milliseconds(1))) semaphore.release();
    try {
      const std::lock_guard guard(lock);
      ++sum[0];
    } catch (const mp::ProcessError&) {
      // One before it was killed holding the lock.
    }
    shared.add_(1);
    on_gpu.add_(1);
    pipe.send(zeros({3}, gpu(1)));
    pipe.send(zeros({20'000}).share_memory_());
  }
}

TEST(Killed, AtRandomMoments) {
  constexpr int kTimes = 200;
  expect_no_gpu_memory();
  Everything all;
  std::mt19937 random(7);
  const Tensor shared = zeros({1000}).share_memory_(), on_gpu = zeros({1000}, gpu(0));
  const size_t allocated = cuda::memory_allocated(gpu(0));
  const int named = named_memories();
  int files = 0, maps = 0;
  for (int time = 0; time < kTimes; ++time) {
    auto [here, there] = mp::pipe<Tensor>();
    mp::Process process(works, all.tensors, all.numbers, all.lock, all.semaphore, all.sum, there, shared, on_gpu);
    process.start();
    // Some are killed while they start, the others after so many rounds.
    const int rounds = static_cast<int>(random() % 12) - 3;
    try {
      for (int i = 0; i < rounds; ++i) {
        (void)all.numbers.get();
        (void)all.tensors.get();
        (void)here.recv();
        (void)here.recv();
      }
    } catch (const mp::ProcessError& e) {
      ADD_FAILURE() << "nobody has killed it yet: " << e.what();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    process.kill();
    ASSERT_TRUE(process.join(kLong)) << "time " << time;
    EXPECT_EQ(process.exitcode(), -SIGKILL);
    // Everything still works, for whoever comes next.
    const auto take_lock = [&] {
      try {
        return all.lock.try_lock_for(kLong);
      } catch (const mp::ProcessError&) {
        return all.lock.try_lock_for(kLong);  // it was killed holding the lock
      }
    };
    ASSERT_TRUE(take_lock());
    all.lock.unlock();
    while (!all.tensors.empty()) (void)all.tensors.get(kLong);
    while (!all.numbers.empty()) (void)all.numbers.get(kLong);
    all.tensors.put(ones({2}), kLong);
    EXPECT_EQ(all.tensors.get(kLong).sum().item<float>(), 2.f);
    if (time == 9) {
      files = open_descriptors();
      maps = mapped_memories();
    }
  }
  EXPECT_EQ(children(), 0);
  EXPECT_TRUE(eventually([&] { return open_descriptors() <= files; })) << open_descriptors() << ", not " << files;
  EXPECT_TRUE(eventually([&] { return mapped_memories() <= maps; })) << mapped_memories() << ", not " << maps;
  EXPECT_TRUE(eventually([&] { return cuda::memory_allocated(gpu(0)) == allocated; }));
  EXPECT_EQ(named_memories(), named);
  const Tensor first = shared[0];
  EXPECT_GT(all.sum[0], 0);
  EXPECT_GT(first.item<float>(), 0.f);
}

// --- The parent ends

void waits_for_ever(mp::Queue<int> pids) {
  pids.put(getpid());
  mp::Event().wait();
}
void starts_one(mp::Queue<int> pids) {
  mp::Process below(waits_for_ever, pids);
  below.start();
  pids.put(getpid());
  mp::Event().wait();
}

TEST(ParentEnds, ItsChildrenEndToo) {
  mp::Queue<int> pids;
  mp::Process middle(starts_one, pids);
  middle.start();
  const int one = pids.get(kLong), other = pids.get(kLong);
  EXPECT_TRUE(runs(one) && runs(other));
  middle.kill();
  EXPECT_TRUE(middle.join(kLong));
  EXPECT_TRUE(eventually([&] { return !runs(one) && !runs(other); }));
}

void ends_first(mp::Queue<int> pids) {
  static mp::Process below(waits_for_ever, pids);  // outlives main
  below.start();
  while (pids.empty()) std::this_thread::yield();
}

TEST(ParentEnds, AlsoWhereItEndsInOrder) {
  mp::Queue<int> pids;
  mp::Process middle(ends_first, pids);
  middle.start();
  EXPECT_TRUE(middle.join(kLong));
  EXPECT_EQ(middle.exitcode(), 0);
  const int below = pids.get(kLong);
  EXPECT_TRUE(eventually([&] { return !runs(below); }));
}

// --- Signals to all of them, as a terminal's Ctrl-C

void sleeps_in_wait(mp::Event begun, mp::Event go) {
  std::signal(SIGINT, [](int) {});
  begun.set();
  go.wait();
}

TEST(Interrupts, WaitsGoOnWhereTheSignalIsHandled) {
  mp::Event begun, go;
  mp::Process process(sleeps_in_wait, begun, go);
  process.start();
  ASSERT_TRUE(begun.wait(kLong));
  const auto before = std::signal(SIGINT, [](int) {});
  std::atomic<bool> joined{false};
  std::thread waiting([&] {
    process.join();
    joined = true;
  });
  for (int i = 0; i < 20; ++i) {
    kill(getpid(), SIGINT);
    kill(process.pid(), SIGINT);
    pthread_kill(waiting.native_handle(), SIGINT);
  }
  EXPECT_TRUE(process.is_alive());
  EXPECT_FALSE(joined);
  go.set();
  waiting.join();
  std::signal(SIGINT, before);
  EXPECT_EQ(process.exitcode(), 0);
}

TEST(Interrupts, AreReportedWhereTheyEndAWorker) {
  mp::Queue<int> pids;
  mp::Process process(waits_for_ever, pids);
  process.start();
  ASSERT_EQ(pids.get(kLong), process.pid());
  kill(process.pid(), SIGINT);
  EXPECT_TRUE(process.join(kLong));
  EXPECT_NE(std::string(process.error().value().what()).find("SIGINT"), std::string::npos);
}

}  // namespace
}  // namespace tandem::testing
