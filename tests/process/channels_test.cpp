// Queues and pipes between processes.

#include <csignal>
#include <cstdlib>
#include <optional>
#include <set>
#include <thread>

#include "support.h"

namespace tandem::testing {
namespace {

void puts(mp::Queue<int> queue, int first, int count) {
  for (int i = 0; i < count; ++i) queue.put(first + i);
}
void moves(mp::Queue<int> from, mp::Queue<int> to, int count) {
  for (int i = 0; i < count; ++i) to.put(from.get());
}
void dies_before_put(mp::Queue<int>) { raise(SIGKILL); }
void throws_with(mp::Connection<int>) { throw std::runtime_error("before it answered"); }
void throws_and_leaves_slowly(mp::Connection<int>) {
  std::atexit([] { std::this_thread::sleep_for(milliseconds(1500)); });
  throw std::runtime_error("before it left");
}
void holds(mp::Event begun, mp::Queue<int>) {
  begun.set();
  mp::Event().wait();
}
void doubles(mp::Connection<double> pipe) {
  while (const double x = pipe.recv()) pipe.send(2 * x);
}
void puts_a_queue(mp::Queue<mp::Queue<int>> queue) {
  mp::Queue<int> own;
  own.put(11);
  queue.put(own);
}
void closes(mp::Connection<mp::Connection<int>> pipe) {
  auto [mine, theirs] = mp::pipe<int>();
  pipe.send(theirs);
  mine.send(5);
}

TEST(Queue, ValuesComeInOrder) {
  mp::Queue<std::string> queue;
  EXPECT_TRUE(queue.empty());
  queue.put("a");
  queue.put(std::string(100'000, 'b'));
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.get(), "a");
  EXPECT_EQ(queue.get().size(), 100'000U);
  expect_error<mp::Empty>([&] { (void)queue.get(milliseconds(1)); }, "Queue.get");
  expect_error<mp::Empty>([&] { (void)queue.get(milliseconds(0)); }, "Queue.get");
  expect_error<Error>([] { mp::Queue<int> negative(-1); }, "maxsize is -1");
}

TEST(Queue, ManyPutAndManyGet) {
  constexpr int kEach = 400;
  mp::Queue<int> in, out(10);
  std::vector<mp::Process> processes;
  for (int i = 0; i < 2; ++i) processes.emplace_back(puts, in, i * kEach, kEach);
  for (int i = 0; i < 2; ++i) processes.emplace_back(moves, in, out, kEach);
  for (auto& process : processes) process.start();
  std::set<int> seen;
  for (int i = 0; i < 2 * kEach; ++i) seen.insert(out.get(kLong));
  EXPECT_EQ(seen.size(), 2U * kEach);
  EXPECT_EQ(*seen.rbegin(), 2 * kEach - 1);
  for (auto& process : processes) {
    EXPECT_TRUE(process.join(kLong));
    EXPECT_EQ(process.exitcode(), 0);
  }
}

TEST(Queue, BoundsAreKept) {
  mp::Queue<int> queue(2);
  queue.put(1);
  queue.put(2);
  expect_error<mp::Full>([&] { queue.put(3, milliseconds(1)); }, "holds its 2 values");
  EXPECT_EQ(queue.get(), 1);
  queue.put(3, milliseconds(0));
  EXPECT_EQ(queue.get(), 2);
  EXPECT_EQ(queue.get(), 3);
  std::thread getter([&] {
    for (int i = 0; i < 200; ++i) EXPECT_EQ(queue.get(kLong), i);
  });
  for (int i = 0; i < 200; ++i) queue.put(i, kLong);
  getter.join();
}

TEST(Queue, PutWaitsWhereTheSystemTakesNoMore) {
  mp::Queue<int> queue;
  int count = 0;
  try {
    for (; count < 100'000; ++count) queue.put(count, milliseconds(1));
    ADD_FAILURE() << "it took them all";
  } catch (const mp::Full&) {
  }
  EXPECT_GT(count, 50);
  std::thread putter([&] { queue.put(count, kLong); });
  for (int i = 0; i <= count; ++i) EXPECT_EQ(queue.get(kLong), i);
  putter.join();
}

TEST(Queue, QueuesTravelInQueues) {
  mp::Queue<mp::Queue<int>> queue;
  mp::Process process(puts_a_queue, queue);
  process.start();
  const auto got = queue.get(kLong);
  EXPECT_TRUE(process.join(kLong));
  EXPECT_EQ(got.get(kLong), 11);
}

TEST(Queue, AWaitForAProcessThatDiesEnds) {
  mp::Queue<int> queue;
  mp::Process process(dies_before_put, queue);
  process.start();
  expect_error<mp::ProcessError>([&] { (void)queue.get(); }, "SIGKILL");
  expect_error<mp::ProcessError>([&] { (void)queue.get(); }, "every process that it was given to has ended");
  expect_error<mp::Empty>([&] { (void)queue.get(milliseconds(1)); }, "");
  EXPECT_TRUE(process.join(kLong));

  // What was put before an end comes out first, and a good end is no error.
  mp::Process good(puts, queue, 5, 3);
  good.start();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.get(), 5 + i);
  expect_error<mp::ProcessError>([&] { (void)queue.get(); }, "would wait for ever");
  EXPECT_TRUE(good.join(kLong));
}

TEST(Queue, AFullQueueWhoseReaderDiesEndsThePut) {
  mp::Queue<int> queue(1);
  mp::Event begun;
  mp::Process reader(holds, begun, queue);
  reader.start();
  ASSERT_TRUE(begun.wait(kLong));
  queue.put(1);
  std::thread killer([&] { reader.kill(); });
  expect_error<mp::ProcessError>([&] { queue.put(2); }, "SIGKILL");
  killer.join();
}

TEST(Pipe, BothWays) {
  auto [here, there] = mp::pipe<double>();
  mp::Process process(doubles, there);
  process.start();
  for (const double x : {1.0, 2.5, -3.0}) {
    here.send(x);
    EXPECT_EQ(here.recv(), 2 * x);
  }
  EXPECT_FALSE(here.poll());
  here.send(4);
  EXPECT_TRUE(here.poll(kLong));
  EXPECT_TRUE(here.poll({}));
  EXPECT_EQ(here.recv(), 8);
  here.send(0);
  EXPECT_TRUE(process.join(kLong));
  expect_error<mp::ProcessError>([&, &end = here] { (void)end.recv(); }, "every process");
}

TEST(Pipe, AClosedEnd) {
  auto kept = [] {
    auto [one, other] = mp::pipe<int>();
    other.send(1);
    other.send(2);
    return one;
  }();
  EXPECT_EQ(kept.recv(), 1);
  EXPECT_TRUE(kept.poll());
  EXPECT_EQ(kept.recv(), 2);
  EXPECT_TRUE(kept.poll());  // recv would not wait: it would say this
  expect_error<mp::ConnectionClosed>([&] { (void)kept.recv(); }, "other end is closed");
  expect_error<mp::ConnectionClosed>([&] { kept.send(3); }, "other end is closed");

  // Also where the end that is closed has not received everything.
  auto left = [] {
    auto [one, other] = mp::pipe<int>();
    one.send(9);
    other.send(1);
    return one;
  }();
  EXPECT_EQ(left.recv(), 1);
  expect_error<mp::ConnectionClosed>([&] { (void)left.recv(); }, "other end is closed");
}

TEST(Pipe, AProcessThatFailsInsteadOfAnswering) {
  auto [here, there] = mp::pipe<int>();
  mp::Process process(throws_with, there);
  process.start();
  expect_error<mp::ProcessError>([&, &end = here] { (void)end.recv(); }, "before it answered");
}

TEST(Pipe, AProcessThatFailsAndTakesLongToEnd) {
  std::optional<mp::Process> process;
  auto kept = [&] {
    auto [here, there] = mp::pipe<int>();
    process.emplace(throws_and_leaves_slowly, there);
    process->start();
    return here;
  }();  // the worker alone has the other end
  expect_error<mp::ProcessError>([&] { (void)kept.recv(); }, "before it left");
}

TEST(Pipe, EndsTravel) {
  auto [here, there] = mp::pipe<mp::Connection<int>>();
  mp::Process process(closes, there);
  process.start();
  const auto got = here.recv();
  EXPECT_EQ(got.recv(), 5);
  EXPECT_TRUE(process.join(kLong));
  expect_error<mp::ConnectionClosed>([&] { (void)got.recv(); }, "closed");
}

TEST(Channels, WithoutDescriptorsItIsAnErrorAndNothingLeaks) {
  mp::Queue<Tensor> queue;
  const int before = open_descriptors();
  queue.put(ones({100'000}));
  queue.put(ones({100'000}));
  std::string put, get, make, share;
  // What earlier tests had open may go meanwhile and leave room for a call or two: until one finds none.
  const auto text_of = [](auto&& call) -> std::string {
    try {
      std::vector<decltype(call())> kept;
      for (int i = 0; i < 20; ++i) kept.push_back(call());
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  {
    const FewFiles few(0);
    put = text_of([&] { return queue.put(ones({100'000})), 0; });
    get = text_of([&] { return queue.get(kLong); });
    make = text_of([] { return std::make_unique<mp::Queue<int>>(); });
    share = text_of([] { return zeros({3}).share_memory_(); });
  }
  EXPECT_NE(put.find("Too many open files"), std::string::npos) << put;
  EXPECT_NE(get.find("too many files are open"), std::string::npos) << get;
  EXPECT_NE(make.find("Too many open files"), std::string::npos) << make;
  EXPECT_NE(share.find("Too many open files"), std::string::npos) << share;
  EXPECT_EQ(queue.get(kLong).sum().item<float>(), 100'000.f) << "the next one is whole";
  while (!queue.empty()) (void)queue.get(kLong);
  EXPECT_LE(open_descriptors(), before) << "what earlier tests had open may go meanwhile";
  EXPECT_EQ(mapped_memories(), 1) << "the queue's numbers";
}

}  // namespace
}  // namespace tandem::testing
