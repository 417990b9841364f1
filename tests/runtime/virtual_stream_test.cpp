// Virtual streams: asynchronous, in order, side by side, ordered by events, and gone when they should be. Data that tasks share is plain
// memory on purpose: under the thread sanitizer a missing order between streams shows as a race.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>

#include "expect_error.h"
#include "runtime/virtual/stream.h"
#include "virtual_cards.h"

namespace tandem::testing {
namespace {

TEST(VirtualStream, TheCallerGoesOnWhileTheTaskWaits) {
  Cards cards;
  const auto stream = cards.stream();
  EXPECT_TRUE(cards.driver.query_stream(stream));
  Gate gate;
  bool ran = false;
  cards.run(stream, gate.task());
  cards.run(stream, [&](const Queue&) { ran = true; });
  EXPECT_FALSE(cards.driver.query_stream(stream));
  gate.open();
  cards.synchronize(stream);
  EXPECT_TRUE(cards.driver.query_stream(stream));
  EXPECT_TRUE(ran);
}

TEST(VirtualStream, RunsInOrder) {
  Cards cards;
  const auto stream = cards.stream();
  std::vector<int> order;
  for (int i = 0; i < 3000; ++i) cards.run(stream, [i, &order](const Queue&) { order.push_back(i); });
  cards.synchronize(stream);
  ASSERT_EQ(order.size(), 3000U);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(VirtualStream, KernelsAreToldWhereTheyRun) {
  Cards cards;
  const auto stream = cards.stream(1);
  Queue seen;
  std::thread::id thread;
  cards.run(stream,
            [&](const Queue& queue) {
              seen = queue;
              thread = std::this_thread::get_id();
            },
            {}, {}, "add", {"model.cpp", 12});
  cards.synchronize(stream);
  EXPECT_EQ(seen.stream, stream);
  EXPECT_EQ(seen.device, 1);
  EXPECT_STREQ(seen.op, "add");
  EXPECT_STREQ(seen.site.file, "model.cpp");
  EXPECT_EQ(seen.site.line, 12);
  EXPECT_NE(seen.status, nullptr);
  EXPECT_GE(seen.threads, 1);
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(VirtualStream, StreamsOfOneCardRunSideBySide) {
  Cards cards;
  const auto first = cards.stream(), second = cards.stream();
  // Each meets the other in the middle: with one thread for both this would never end.
  std::promise<void> one, two;
  auto one_there = one.get_future().share(), two_there = two.get_future().share();
  cards.run(first, [&](const Queue&) {
    one.set_value();
    two_there.wait();
  });
  cards.run(second, [&](const Queue&) {
    one_there.wait();
    two.set_value();
  });
  cards.driver.synchronize_device(0, Site::here());
  EXPECT_TRUE(cards.driver.query_stream(first) && cards.driver.query_stream(second));
}

TEST(VirtualStream, TakesTasksFromManyThreads) {
  Cards cards;
  const auto stream = cards.stream();
  std::array<std::vector<int>, 4> seen;  // written by the stream's thread alone
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) cards.run(stream, [&seen, t, i](const Queue&) { seen[t].push_back(i); });
        cards.synchronize(stream);
      });
    }
  }
  for (const auto& list : seen) {
    ASSERT_EQ(list.size(), 500U);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(list[static_cast<size_t>(i)], i);
  }
}

TEST(VirtualStream, TasksOfAnySizeFit) {
  Cards cards;
  const auto stream = cards.stream();
  int64_t sum = 0;
  const auto add = [&]<size_t n>(std::array<char, n> data) {
    data.back() = 1;
    cards.run(stream, [data, &sum](const Queue&) { sum += data.back(); });
  };
  for (int i = 0; i < 40; ++i) {
    add(std::array<char, 1>{});
    add(std::array<char, 200000>{});  // larger than a chunk
    for (int j = 0; j < 20; ++j) add(std::array<char, 3001>{});
    if (i % 8 == 0) cards.synchronize(stream);
  }
  cards.synchronize(stream);
  EXPECT_EQ(sum, 40 * 22);
}

TEST(VirtualStream, ClosuresAreDestroyedOnceAndByThen) {
  Cards cards;
  const auto stream = cards.stream();
  const auto token = std::make_shared<int>(3);
  int seen = 0;
  for (int i = 0; i < 100; ++i) cards.run(stream, [token, &seen](const Queue&) { seen += *token; });
  cards.synchronize(stream);
  EXPECT_EQ(seen, 300);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(VirtualStream, HostFunctionsRunInOrderToo) {
  Cards cards;
  const auto stream = cards.stream();
  struct Context {
    int before = 0, seen = -1;
  } context;
  cards.run(stream, [&](const Queue&) { context.before = 7; });
  cards.driver.host_function(
      stream, [](void* c) { static_cast<Context*>(c)->seen = static_cast<Context*>(c)->before; }, &context);
  cards.synchronize(stream);
  EXPECT_EQ(context.seen, 7);
}

TEST(VirtualStream, AStreamCannotWaitForItself) {
  Cards cards;
  const auto stream = cards.stream();
  cards.run(stream, [&](const Queue&) { cards.synchronize(stream); });
  EXPECT_NE(cards.error_of(stream).find("cannot wait for that stream"), std::string::npos);
}

TEST(VirtualEvent, OrdersStreamsOfTwoCards) {
  Cards cards;
  const auto first = cards.stream(0), second = cards.stream(1);
  int64_t value = 0;
  for (int i = 0; i < 500; ++i) {
    cards.run(first, [&](const Queue&) { value += 3; });
    cards.record_and_wait(first, second);
    cards.run(second, [&](const Queue&) { value *= 2, value %= 1000003; });
    cards.record_and_wait(second, first);
  }
  cards.synchronize(first);
  int64_t expected = 0;
  for (int i = 0; i < 500; ++i) expected = (expected + 3) * 2 % 1000003;
  EXPECT_EQ(value, expected);
}

TEST(VirtualEvent, StandsForWhatWasQueuedWhenItWasRecorded) {
  Cards cards;
  const auto first = cards.stream(), second = cards.stream();
  const EventHandle event = cards.driver.create_event(0, false);
  EXPECT_TRUE(cards.driver.query_event(event));  // never recorded
  cards.driver.wait_event(second, event);
  cards.driver.synchronize_event(event, Site::here());
  cards.run(first, [](const Queue&) {});
  cards.driver.record_event(event, first);
  Gate gate;
  cards.run(first, gate.task());
  cards.driver.synchronize_event(event, Site::here());  // not held up by the gate
  EXPECT_TRUE(cards.driver.query_event(event));
  cards.driver.record_event(event, first);
  EXPECT_FALSE(cards.driver.query_event(event));
  gate.open();
  cards.driver.synchronize_event(event, Site::here());
  EXPECT_TRUE(cards.driver.query_event(event));
  cards.driver.destroy_event(event);
}

TEST(VirtualEvent, AWaitIsBoundWhenItIsAskedFor) {
  Cards cards;
  const auto first = cards.stream(), second = cards.stream();
  const EventHandle event = cards.driver.create_event(0, false);
  cards.run(first, [](const Queue&) {});
  cards.driver.record_event(event, first);
  cards.driver.wait_event(second, event);
  Gate gate;
  cards.run(first, gate.task());
  cards.driver.record_event(event, first);  // does not move the wait above
  bool ran = false;
  cards.run(second, [&](const Queue&) { ran = true; });
  cards.synchronize(second);
  EXPECT_TRUE(ran);
  EXPECT_FALSE(cards.driver.query_event(event));
  cards.driver.destroy_event(event);
}

TEST(VirtualEvent, MayGoWhileAStreamStillWaitsForIt) {
  Cards cards;
  const auto first = cards.stream(), second = cards.stream();
  Gate gate;
  int value = 0;
  cards.run(first, gate.task());
  cards.run(first, [&](const Queue&) { value = 1; });
  cards.record_and_wait(first, second);
  cards.run(second, [&](const Queue&) { value *= 5; });
  EXPECT_FALSE(cards.driver.query_stream(second));
  gate.open();
  cards.synchronize(second);
  EXPECT_EQ(value, 5);
}

TEST(VirtualEvent, ARingOfStreamsDoesNotLock) {
  Cards cards("2x4MiB");
  std::vector<StreamHandle> ring;
  for (int i = 0; i < 6; ++i) ring.push_back(cards.stream(i % 2));
  int64_t turns = 0;
  for (int round = 0; round < 60; ++round) {
    for (size_t i = 0; i < ring.size(); ++i) {
      cards.run(ring[i], [&](const Queue&) { ++turns; });
      cards.record_and_wait(ring[i], ring[(i + 1) % ring.size()]);
    }
  }
  cards.synchronize(ring[0]);
  EXPECT_EQ(turns, 360);
}

TEST(VirtualEvent, TellsTheTimeBetweenTwoRecords) {
  Cards cards;
  const auto stream = cards.stream();
  const EventHandle began = cards.driver.create_event(0, true), ended = cards.driver.create_event(0, true);
  EXPECT_ERROR(cards.driver.elapsed_ms(began, ended), Error, "elapsed_time");
  Gate gate;
  cards.driver.record_event(began, stream);
  cards.run(stream, gate.task());
  cards.driver.record_event(ended, stream);
  EXPECT_ERROR(cards.driver.elapsed_ms(began, ended), Error, "must have been passed");
  gate.open();
  cards.driver.synchronize_event(ended, Site::here());
  EXPECT_GT(cards.driver.elapsed_ms(began, ended), 0);
  EXPECT_LT(cards.driver.elapsed_ms(ended, began), 0);
  cards.driver.destroy_event(began);
  cards.driver.destroy_event(ended);
}

TEST(VirtualStream, EndsWithWorkQueued) {
  int kernels = 0, functions = 0;
  const auto token = std::make_shared<int>(0);
  Gate gate;
  std::jthread opener;
  {
    Cards cards;
    const auto first = cards.stream(0), second = cards.stream(1), third = cards.stream(1);
    std::promise<void> began;
    cards.run(first, [&began, task = gate.task()](const Queue& queue) {
      began.set_value();
      task(queue);
    });
    began.get_future().wait();
    for (int i = 0; i < 1000; ++i) cards.run(first, [token, &kernels](const Queue&) { ++kernels; });
    cards.driver.host_function(
        first, [](void* count) { ++*static_cast<int*>(count); }, &functions);
    cards.record_and_wait(first, second);
    cards.run(second, [token](const Queue&) {});
    (void)third;  // never used: no thread
    opener = std::jthread([&] {
      // Opens once the streams are told to stop: work queued from then on is not run any more, but does not hang either.
      while (!static_cast<virtual_gpu::Stream*>(first)->machine().stopping) std::this_thread::yield();
      gate.open();
    });
  }
  EXPECT_EQ(kernels, 0);
  EXPECT_EQ(functions, 1);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(VirtualEvent, OtherProcessesWaitForNothingThatWasDropped) {
  Cards cards;
  const auto stream = cards.stream();
  cards.driver.host_function(
      stream,
      [](void* own) {
        while (!static_cast<virtual_gpu::Stream*>(own)->machine().stopping) std::this_thread::yield();
      },
      stream);
  const EventHandle before = cards.driver.create_shared_event(0), after = cards.driver.create_shared_event(0);
  cards.driver.record_event(before, stream);
  cards.run(stream, [](const Queue&) {});
  cards.driver.record_event(after, stream);
  cards.driver.stop(-1);
  EXPECT_TRUE(cards.driver.query_event(before));
  EXPECT_FALSE(cards.driver.query_event(after));
  cards.driver.destroy_event(before);
  cards.driver.destroy_event(after);
}

TEST(VirtualStream, WorkQueuedAfterTheEndIsDroppedAndNothingHangs) {
  Cards cards;
  const auto used = cards.stream(0), unused = cards.stream(1);
  cards.run(used, [](const Queue&) {});
  cards.driver.stop(-1);
  int kernels = 0, functions = 0;
  const auto token = std::make_shared<int>(0);
  for (const auto stream : {used, unused}) {
    cards.run(stream, [token, &kernels](const Queue&) { ++kernels; });
    cards.driver.host_function(
        stream, [](void* count) { ++*static_cast<int*>(count); }, &functions);
    cards.record_and_wait(used, stream);
    cards.synchronize(stream);
    EXPECT_TRUE(cards.driver.query_stream(stream));
  }
  EXPECT_EQ(kernels, 0);
  EXPECT_EQ(functions, 2);
  EXPECT_EQ(token.use_count(), 1);
}

}  // namespace
}  // namespace tandem::testing
