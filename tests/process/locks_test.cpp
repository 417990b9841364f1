// Events, semaphores, locks, barriers and shared numbers between processes.
#include <csignal>
#include <mutex>
#include <thread>

#include "support.h"

namespace tandem::testing {
namespace {

void sets(mp::Event event) { event.set(); }
void waits(mp::Event event, mp::Event then) {
  event.wait();
  then.set();
}
void dies(mp::Event) { raise(SIGKILL); }
void releases(mp::Semaphore semaphore) { semaphore.release(3); }
void adds(int, mp::Lock lock, mp::Array<int64_t> sum, int times) {
  for (int i = 0; i < times; ++i) {
    const std::lock_guard guard(lock);
    const int64_t before = sum[0];
    std::this_thread::yield();
    sum[0] = before + 1;
  }
}
void adds_at_once(int, mp::Value<int64_t> sum, mp::Value<double> real, int times) {
  for (int i = 0; i < times; ++i) {
    sum.fetch_add(1);
    real.fetch_add(0.5);
  }
}
void dies_holding(mp::Lock lock) {
  lock.lock();
  raise(SIGKILL);
}
void dies_holding_twice(mp::RLock lock) {
  lock.lock();
  lock.lock();
  raise(SIGKILL);
}
void holds(mp::Lock lock, mp::Event held, mp::Event go) {
  const std::lock_guard guard(lock);
  held.set();
  go.wait();
}
void meets(int rank, mp::Barrier barrier, mp::Array<int> turns, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    turns[rank] = i + 1;
    barrier.wait();
    for (const int turn : turns)
      if (turn != i + 1) throw std::runtime_error("somebody went on without the others");
    barrier.wait();
  }
}
void does_not_come(mp::Barrier) { raise(SIGKILL); }
void finds_it_broken(mp::Barrier barrier, mp::Queue<std::string> told) {
  try {
    barrier.wait();
    told.put("not broken");
  } catch (const mp::BrokenBarrier& e) {
    told.put(e.what());
  }
}
void fills(mp::Array<float> array) {
  float next = 0;
  for (float& x : array) x = next++;
}

TEST(Event, SetWaitClear) {
  mp::Event event, then;
  EXPECT_FALSE(event.is_set());
  EXPECT_FALSE(event.wait(milliseconds(1)));
  event.set();
  event.set();
  EXPECT_TRUE(event.is_set());
  EXPECT_TRUE(event.wait());
  EXPECT_TRUE(event.wait(milliseconds(0)));
  event.clear();
  EXPECT_FALSE(event.is_set());
  event.clear();
  mp::Process waiter(waits, event, then), setter(sets, event);
  waiter.start();
  setter.start();
  EXPECT_TRUE(then.wait());
  EXPECT_TRUE(waiter.join(kLong));
  EXPECT_TRUE(setter.join(kLong));
}

TEST(Event, AWaitForAProcessThatDiesEnds) {
  mp::Event event;
  mp::Process process(dies, event);
  process.start();
  expect_error<mp::ProcessError>([&] { event.wait(); }, "SIGKILL");
}

TEST(Semaphore, PermitsAreCounted) {
  mp::Semaphore semaphore(2);
  EXPECT_TRUE(semaphore.acquire());
  EXPECT_TRUE(semaphore.acquire(milliseconds(0)));
  EXPECT_FALSE(semaphore.acquire(milliseconds(1)));
  mp::Process process(releases, semaphore);
  process.start();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(semaphore.acquire());
  EXPECT_FALSE(semaphore.acquire(milliseconds(0)));
  EXPECT_TRUE(process.join(kLong));
}

TEST(Lock, OneAtATime) {
  mp::Lock lock;
  mp::Array<int64_t> sum(1);
  mp::spawn(adds, 3, lock, sum, 500);
  EXPECT_EQ(sum[0], 1500);
}

TEST(Lock, ItsOwnErrors) {
  mp::Lock lock;
  lock.lock();
  expect_error<Error>([&] { lock.lock(); }, "holds the lock already");
  std::thread([&] {
    EXPECT_FALSE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock_for(milliseconds(1)));
#if !defined(__SANITIZE_THREAD__)  // which takes the question for the mistake
    expect_error<Error>([&] { lock.unlock(); }, "does not hold");
#endif
  }).join();
  lock.unlock();
#if !defined(__SANITIZE_THREAD__)
  expect_error<Error>([&] { lock.unlock(); }, "does not hold");
#endif
  mp::RLock again;
  again.lock();
  again.lock();
  again.unlock();
  std::thread([&] { EXPECT_FALSE(again.try_lock()); }).join();
  again.unlock();
  std::thread([&] {
    EXPECT_TRUE(again.try_lock());
    again.unlock();
  }).join();
}

TEST(Lock, AnotherProcessHoldsIt) {
  mp::Lock lock;
  mp::Event held, go;
  mp::Process process(holds, lock, held, go);
  process.start();
  ASSERT_TRUE(held.wait(kLong));
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_for(milliseconds(1)));
  go.set();
  EXPECT_TRUE(lock.try_lock_for(kLong));
  lock.unlock();
  EXPECT_TRUE(process.join(kLong));
}

TEST(Lock, AHolderThatDiesIsAnErrorOnce) {
  mp::Lock lock;
  mp::RLock recursive;
  mp::Process one(dies_holding, lock), other(dies_holding_twice, recursive);
  for (mp::Process* process : {&one, &other}) {
    process->start();
    ASSERT_TRUE(process->join(kLong));
  }
  expect_error<mp::ProcessError>([&] { lock.lock(); }, "half changed");
  lock.lock();
  lock.unlock();
  expect_error<mp::ProcessError>([&] { (void)recursive.try_lock(); }, "half changed");
  EXPECT_TRUE(recursive.try_lock());
  recursive.unlock();
}

TEST(Lock, AThreadThatEndsHoldingIt) {
  mp::Lock lock;
  std::thread([lock] { lock.lock(); }).join();
  expect_error<mp::ProcessError>([&] { lock.lock(); }, "ended without releasing");
  // Its last handle goes while it is held.
  std::thread([] {
    mp::Lock own;
    own.lock();
  }).join();
  mp::Lock another;
  const std::lock_guard guard(another);
}

TEST(Barrier, EverybodyMeets) {
  mp::Barrier barrier(3);
  EXPECT_EQ(barrier.parties(), 3);
  mp::Array<int> turns(3);
  mp::spawn(meets, 3, barrier, turns, 50);
  EXPECT_FALSE(barrier.broken());
  expect_error<Error>([] { mp::Barrier none(0); }, "parties is 0");
  EXPECT_EQ(mp::Barrier(1).wait(), 0);
}

TEST(Barrier, OrderOfComing) {
  mp::Barrier barrier(2);
  int one = -1, other = -1;
  std::thread thread([&] { one = barrier.wait(kLong); });
  other = barrier.wait(kLong);
  thread.join();
  EXPECT_EQ(one + other, 1);
}

TEST(Barrier, BreaksInTime) {
  mp::Barrier barrier(2);
  expect_error<mp::BrokenBarrier>([&] { barrier.wait(milliseconds(1)); }, "time is over");
  EXPECT_TRUE(barrier.broken());
  expect_error<mp::BrokenBarrier>([&] { barrier.wait(); }, "reset() mends it");
  barrier.reset();
  EXPECT_FALSE(barrier.broken());
  std::thread thread([&] { barrier.wait(kLong); });
  barrier.wait(kLong);
  thread.join();
  barrier.abort();
  EXPECT_TRUE(barrier.broken());
}

TEST(Barrier, BreaksForAllWhereAProcessDies) {
  mp::Barrier barrier(3);
  mp::Queue<std::string> told;
  mp::Process waiter(finds_it_broken, barrier, told), dead(does_not_come, barrier);
  waiter.start();
  dead.start();
  expect_error<mp::BrokenBarrier>([&] { barrier.wait(); }, "[Barrier.wait]");
  EXPECT_NE(told.get(kLong).find("Barrier.wait"), std::string::npos);
  EXPECT_TRUE(waiter.join(kLong));
  EXPECT_TRUE(dead.join(kLong));
}

TEST(Value, IsAtomic) {
  mp::Value<int64_t> sum(7);
  mp::Value<double> real;
  mp::spawn(adds_at_once, 2, sum, real, 1000);
  EXPECT_EQ(sum.load(), 2007);
  EXPECT_EQ(real.load(), 1000.);
  EXPECT_FALSE(sum.compare_exchange(1, 2));
  EXPECT_TRUE(sum.compare_exchange(2007, -1));
  mp::Value<bool> flag(true);
  EXPECT_TRUE(flag.load());
  flag.store(false);
  EXPECT_FALSE(flag.load());
}

TEST(Array, IsShared) {
  mp::Array<float> array(100);
  EXPECT_EQ(array.size(), 100);
  EXPECT_EQ(array[99], 0.f);
  mp::Process process(fills, array);
  process.start();
  EXPECT_TRUE(process.join(kLong));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(array[i], static_cast<float>(i));
  expect_error<Error>([] { mp::Array<double> negative(-1); }, "size is -1");
  expect_error<OutOfMemoryError>([] { mp::Array<double> huge(int64_t{1} << 50); }, "refused");
  EXPECT_EQ(mp::Array<int>(0).size(), 0);
}

}  // namespace
}  // namespace tandem::testing
