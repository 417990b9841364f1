// Virtual streams: asynchronous, in order, side by side, ordered by events, and gone when they should be. Data that tasks share is plain
// memory on purpose: under the thread sanitizer a missing order between streams shows as a race.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>

#include "expect_error.h"
#include "runtime/virtual/stream.h"
#include "virtual_gpus.h"

namespace tandem::testing {
namespace {

TEST(VirtualStream, TheCallerGoesOnWhileTheTaskWaits) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  EXPECT_TRUE(gpus.driver.query_stream(stream));
  Gate gate;
  bool ran = false;
  gpus.run(stream, gate.task());
  gpus.run(stream, [&](const Queue&) { ran = true; });
  EXPECT_FALSE(gpus.driver.query_stream(stream));
  gate.open();
  gpus.synchronize(stream);
  EXPECT_TRUE(gpus.driver.query_stream(stream));
  EXPECT_TRUE(ran);
}

TEST(VirtualStream, RunsInOrder) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  std::vector<int> order;
  for (int i = 0; i < 3000; ++i) gpus.run(stream, [i, &order](const Queue&) { order.push_back(i); });
  gpus.synchronize(stream);
  ASSERT_EQ(order.size(), 3000U);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(VirtualStream, KernelsAreToldWhereTheyRun) {
  VirtualGpus gpus;
  const auto stream = gpus.stream(1);
  Queue seen;
  std::thread::id thread;
  gpus.run(stream,
           [&](const Queue& queue) {
             seen = queue;
             thread = std::this_thread::get_id();
           },
           {}, {}, "add", {"model.cpp", 12});
  gpus.synchronize(stream);
  EXPECT_EQ(seen.stream, stream);
  EXPECT_EQ(seen.device, 1);
  EXPECT_STREQ(seen.op, "add");
  EXPECT_STREQ(seen.site.file, "model.cpp");
  EXPECT_EQ(seen.site.line, 12);
  EXPECT_NE(seen.status, nullptr);
  EXPECT_GE(seen.threads, 1);
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(VirtualStream, StreamsOfOneGpuRunSideBySide) {
  VirtualGpus gpus;
  const auto first = gpus.stream(), second = gpus.stream();
  // Each meets the other in the middle: with one thread for both this would never end.
  std::promise<void> one, two;
  auto one_there = one.get_future().share(), two_there = two.get_future().share();
  gpus.run(first, [&](const Queue&) {
    one.set_value();
    two_there.wait();
  });
  gpus.run(second, [&](const Queue&) {
    one_there.wait();
    two.set_value();
  });
  gpus.driver.synchronize_device(0, Site::here());
  EXPECT_TRUE(gpus.driver.query_stream(first) && gpus.driver.query_stream(second));
}

TEST(VirtualStream, TakesTasksFromManyThreads) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  std::array<std::vector<int>, 4> seen;  // written by the stream's thread alone
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) gpus.run(stream, [&seen, t, i](const Queue&) { seen[t].push_back(i); });
        gpus.synchronize(stream);
      });
    }
  }
  for (const auto& list : seen) {
    ASSERT_EQ(list.size(), 500U);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(list[static_cast<size_t>(i)], i);
  }
}

TEST(VirtualStream, TasksOfAnySizeFit) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  int64_t sum = 0;
  const auto add = [&]<size_t n>(std::array<char, n> data) {
    data.back() = 1;
    gpus.run(stream, [data, &sum](const Queue&) { sum += data.back(); });
  };
  for (int i = 0; i < 40; ++i) {
    add(std::array<char, 1>{});
    add(std::array<char, 200000>{});  // larger than a chunk
    for (int j = 0; j < 20; ++j) add(std::array<char, 3001>{});
    if (i % 8 == 0) gpus.synchronize(stream);
  }
  gpus.synchronize(stream);
  EXPECT_EQ(sum, 40 * 22);
}

TEST(VirtualStream, ClosuresAreDestroyedOnceAndByThen) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  const auto token = std::make_shared<int>(3);
  int seen = 0;
  for (int i = 0; i < 100; ++i) gpus.run(stream, [token, &seen](const Queue&) { seen += *token; });
  gpus.synchronize(stream);
  EXPECT_EQ(seen, 300);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(VirtualStream, HostFunctionsRunInOrderToo) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  struct Context {
    int before = 0, seen = -1;
  } context;
  gpus.run(stream, [&](const Queue&) { context.before = 7; });
  gpus.driver.host_function(
      stream, [](void* c) { static_cast<Context*>(c)->seen = static_cast<Context*>(c)->before; }, &context);
  gpus.synchronize(stream);
  EXPECT_EQ(context.seen, 7);
}

TEST(VirtualStream, AStreamCannotWaitForItself) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  gpus.run(stream, [&](const Queue&) { gpus.synchronize(stream); });
  EXPECT_NE(gpus.error_of(stream).find("cannot wait for that stream"), std::string::npos);
}

TEST(VirtualEvent, OrdersStreamsOfTwoGpus) {
  VirtualGpus gpus;
  const auto first = gpus.stream(0), second = gpus.stream(1);
  int64_t value = 0;
  for (int i = 0; i < 500; ++i) {
    gpus.run(first, [&](const Queue&) { value += 3; });
    gpus.record_and_wait(first, second);
    gpus.run(second, [&](const Queue&) { value *= 2, value %= 1000003; });
    gpus.record_and_wait(second, first);
  }
  gpus.synchronize(first);
  int64_t expected = 0;
  for (int i = 0; i < 500; ++i) expected = (expected + 3) * 2 % 1000003;
  EXPECT_EQ(value, expected);
}

TEST(VirtualEvent, StandsForWhatWasQueuedWhenItWasRecorded) {
  VirtualGpus gpus;
  const auto first = gpus.stream(), second = gpus.stream();
  const EventHandle event = gpus.driver.create_event(0, false);
  EXPECT_TRUE(gpus.driver.query_event(event));  // never recorded
  gpus.driver.wait_event(second, event);
  gpus.driver.synchronize_event(event, Site::here());
  gpus.run(first, [](const Queue&) {});
  gpus.driver.record_event(event, first);
  Gate gate;
  gpus.run(first, gate.task());
  gpus.driver.synchronize_event(event, Site::here());  // not held up by the gate
  EXPECT_TRUE(gpus.driver.query_event(event));
  gpus.driver.record_event(event, first);
  EXPECT_FALSE(gpus.driver.query_event(event));
  gate.open();
  gpus.driver.synchronize_event(event, Site::here());
  EXPECT_TRUE(gpus.driver.query_event(event));
  gpus.driver.destroy_event(event);
}

TEST(VirtualEvent, AWaitIsBoundWhenItIsAskedFor) {
  VirtualGpus gpus;
  const auto first = gpus.stream(), second = gpus.stream();
  const EventHandle event = gpus.driver.create_event(0, false);
  gpus.run(first, [](const Queue&) {});
  gpus.driver.record_event(event, first);
  gpus.driver.wait_event(second, event);
  Gate gate;
  gpus.run(first, gate.task());
  gpus.driver.record_event(event, first);  // does not move the wait above
  bool ran = false;
  gpus.run(second, [&](const Queue&) { ran = true; });
  gpus.synchronize(second);
  EXPECT_TRUE(ran);
  EXPECT_FALSE(gpus.driver.query_event(event));
  gpus.driver.destroy_event(event);
}

TEST(VirtualEvent, MayGoWhileAStreamStillWaitsForIt) {
  VirtualGpus gpus;
  const auto first = gpus.stream(), second = gpus.stream();
  Gate gate;
  int value = 0;
  gpus.run(first, gate.task());
  gpus.run(first, [&](const Queue&) { value = 1; });
  gpus.record_and_wait(first, second);
  gpus.run(second, [&](const Queue&) { value *= 5; });
  EXPECT_FALSE(gpus.driver.query_stream(second));
  gate.open();
  gpus.synchronize(second);
  EXPECT_EQ(value, 5);
}

TEST(VirtualEvent, ARingOfStreamsDoesNotLock) {
  VirtualGpus gpus("2x4MiB");
  std::vector<StreamHandle> ring;
  for (int i = 0; i < 6; ++i) ring.push_back(gpus.stream(i % 2));
  int64_t turns = 0;
  for (int round = 0; round < 60; ++round) {
    for (size_t i = 0; i < ring.size(); ++i) {
      gpus.run(ring[i], [&](const Queue&) { ++turns; });
      gpus.record_and_wait(ring[i], ring[(i + 1) % ring.size()]);
    }
  }
  gpus.synchronize(ring[0]);
  EXPECT_EQ(turns, 360);
}

TEST(VirtualEvent, TellsTheTimeBetweenTwoRecords) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  const EventHandle began = gpus.driver.create_event(0, true), ended = gpus.driver.create_event(0, true);
  EXPECT_ERROR(gpus.driver.elapsed_ms(began, ended), Error, "elapsed_time");
  Gate gate;
  gpus.driver.record_event(began, stream);
  gpus.run(stream, gate.task());
  gpus.driver.record_event(ended, stream);
  EXPECT_ERROR(gpus.driver.elapsed_ms(began, ended), Error, "must have been passed");
  gate.open();
  gpus.driver.synchronize_event(ended, Site::here());
  EXPECT_GT(gpus.driver.elapsed_ms(began, ended), 0);
  EXPECT_LT(gpus.driver.elapsed_ms(ended, began), 0);
  gpus.driver.destroy_event(began);
  gpus.driver.destroy_event(ended);
}

TEST(VirtualStream, EndsWithWorkQueued) {
  int kernels = 0, functions = 0;
  const auto token = std::make_shared<int>(0);
  Gate gate;
  std::jthread opener;
  {
    VirtualGpus gpus;
    const auto first = gpus.stream(0), second = gpus.stream(1), third = gpus.stream(1);
    std::promise<void> began;
    gpus.run(first, [&began, task = gate.task()](const Queue& queue) {
      began.set_value();
      task(queue);
    });
    began.get_future().wait();
    for (int i = 0; i < 1000; ++i) gpus.run(first, [token, &kernels](const Queue&) { ++kernels; });
    gpus.driver.host_function(
        first, [](void* count) { ++*static_cast<int*>(count); }, &functions);
    gpus.record_and_wait(first, second);
    gpus.run(second, [token](const Queue&) {});
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
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  gpus.driver.host_function(
      stream,
      [](void* own) {
        while (!static_cast<virtual_gpu::Stream*>(own)->machine().stopping) std::this_thread::yield();
      },
      stream);
  const EventHandle before = gpus.driver.create_shared_event(0), after = gpus.driver.create_shared_event(0);
  gpus.driver.record_event(before, stream);
  gpus.run(stream, [](const Queue&) {});
  gpus.driver.record_event(after, stream);
  gpus.driver.stop(-1);
  EXPECT_TRUE(gpus.driver.query_event(before));
  EXPECT_FALSE(gpus.driver.query_event(after));
  gpus.driver.destroy_event(before);
  gpus.driver.destroy_event(after);
}

TEST(VirtualStream, WorkQueuedAfterTheEndIsDroppedAndNothingHangs) {
  VirtualGpus gpus;
  const auto used = gpus.stream(0), unused = gpus.stream(1);
  gpus.run(used, [](const Queue&) {});
  gpus.driver.stop(-1);
  int kernels = 0, functions = 0;
  const auto token = std::make_shared<int>(0);
  for (const auto stream : {used, unused}) {
    gpus.run(stream, [token, &kernels](const Queue&) { ++kernels; });
    gpus.driver.host_function(
        stream, [](void* count) { ++*static_cast<int*>(count); }, &functions);
    gpus.record_and_wait(used, stream);
    gpus.synchronize(stream);
    EXPECT_TRUE(gpus.driver.query_stream(stream));
  }
  EXPECT_EQ(kernels, 0);
  EXPECT_EQ(functions, 2);
  EXPECT_EQ(token.use_count(), 1);
}

}  // namespace
}  // namespace tandem::testing
