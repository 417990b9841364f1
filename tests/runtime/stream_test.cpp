// Stream, Event and their guards as a program uses them.
#include "runtime/stream.h"

#include <set>
#include <sstream>
#include <thread>

#include "expect_error.h"
#include "process_gpus.h"
#include "runtime/driver.h"
#include "runtime/launch.h"
#include "runtime/stream_record.h"
#include "virtual_gpus.h"

namespace tandem::testing {
namespace {

struct Streams : ProcessGpus {};

template <class Closure>
void run_on_current(Closure closure, Device device = gpu(0), const char* op = "task") {
  const runtime::Launch launch(device, op, Site::here());
  virtual_gpu::enqueue(launch, std::move(closure));
}

TEST_F(Streams, ComeFromAPoolOfThirtyTwo) {
  for (const int priority : {0, -1}) {
    std::vector<cuda::Stream> pool;
    for (int i = 0; i < 33; ++i) pool.emplace_back(gpu(1), priority);
    EXPECT_EQ(pool[32], pool[0]);
    std::set<int> ids;
    for (int i = 0; i < 32; ++i) ids.insert(pool[static_cast<size_t>(i)].id());
    EXPECT_EQ(ids.size(), 32U);
    EXPECT_FALSE(ids.count(0));
    EXPECT_EQ(pool[5].priority(), priority);
    EXPECT_EQ(pool[5].device(), gpu(1));
  }
  EXPECT_NE(cuda::Stream(gpu(0)), cuda::Stream(gpu(0)));
  EXPECT_NE(cuda::Stream(gpu(0)), cuda::default_stream(gpu(0)));
}

TEST_F(Streams, DefaultStreamIsCurrentUntilAGuardSaysOtherwise) {
  const auto standard = cuda::default_stream(gpu(1));
  EXPECT_EQ(standard.id(), 0);
  EXPECT_EQ(cuda::current_stream(gpu(1)), standard);
  const cuda::Stream side(gpu(1)), other(gpu(0));
  {
    const cuda::StreamGuard guard(side);
    EXPECT_EQ(cuda::current_stream(gpu(1)), side);
    EXPECT_EQ(cuda::current_stream(), side);  // its GPU is current too
    EXPECT_EQ(cuda::current_device(), 1);
    EXPECT_EQ(cuda::current_stream(gpu(0)), cuda::default_stream(gpu(0)));
    {
      const cuda::StreamGuard inner(other);
      EXPECT_EQ(cuda::current_device(), 0);
      EXPECT_EQ(cuda::current_stream(gpu(1)), side);
    }
    EXPECT_EQ(cuda::current_stream(gpu(0)), cuda::default_stream(gpu(0)));
    std::thread([&] { EXPECT_EQ(cuda::current_stream(gpu(1)), standard); }).join();
  }
  EXPECT_EQ(cuda::current_device(), 0);
  EXPECT_EQ(cuda::current_stream(gpu(1)), standard);
  cuda::set_stream(side);
  EXPECT_EQ(runtime::current_stream(1), side.record());
  cuda::set_stream(standard);
}

TEST_F(Streams, AreShown) {
  std::ostringstream out;
  out << cuda::default_stream(gpu(1));
  EXPECT_EQ(out.str(), "Stream(device=cuda:1, id=0)");
}

TEST_F(Streams, OfTheCpuOrOfNoGpuAreErrors) {
  EXPECT_ERROR(cuda::Stream(cpu()), Error, "expected a cuda device, but got: cpu");
  EXPECT_ERROR(cuda::current_stream(gpu(77)), Error, "cuda:77");
}

TEST_F(Streams, WaitForEachOther) {
  const cuda::Stream first(gpu(0)), second(gpu(1));
  int value = 0;
  for (int i = 0; i < 50; ++i) {
    {
      const cuda::StreamGuard guard(first);
      run_on_current([&](const Queue&) { value += 1; });
    }
    second.wait_stream(first);
    const cuda::StreamGuard guard(second);
    run_on_current([&](const Queue&) { value *= 2, value %= 1009; }, gpu(1));
    first.wait_stream(second);
  }
  second.wait_stream(second);
  first.synchronize();
  EXPECT_TRUE(first.query() && second.query());
  int expected = 0;
  for (int i = 0; i < 50; ++i) expected = (expected + 1) * 2 % 1009;
  EXPECT_EQ(value, expected);
}

TEST_F(Streams, EventsMarkAndWait) {
  const cuda::Stream first(gpu(0)), second(gpu(0));
  cuda::Event event;
  EXPECT_TRUE(event.query());
  event.synchronize();
  second.wait_event(event);
  Gate gate;
  int value = 0;
  {
    const cuda::StreamGuard guard(first);
    run_on_current(gate.task());
    run_on_current([&](const Queue&) { value = 4; });
    event.record();
  }
  EXPECT_FALSE(event.query());
  second.wait_event(event);
  {
    const cuda::StreamGuard guard(second);
    run_on_current([&](const Queue&) { value *= 10; });
  }
  EXPECT_FALSE(second.query());
  gate.open();
  event.synchronize();
  EXPECT_TRUE(event.query());
  second.synchronize();
  EXPECT_EQ(value, 40);
}

TEST_F(Streams, AnEventBelongsToOneGpu) {
  cuda::Event event;
  event.record(cuda::default_stream(gpu(0)));
  EXPECT_ERROR(event.record(cuda::default_stream(gpu(1))), Error, "an event of cuda:0 cannot be recorded on a stream of cuda:1");
  event.wait(cuda::default_stream(gpu(1)));  // but any GPU's stream may wait for it
  cuda::synchronize(gpu(1));
}

TEST_F(Streams, EventsTellTheTimeWhereMadeForIt) {
  cuda::Event plain, began({.enable_timing = true}), ended({.enable_timing = true});
  EXPECT_ERROR(began.elapsed_time(ended), Error, "must be recorded");
  EXPECT_ERROR(plain.elapsed_time(ended), Error, "enable_timing");
  Gate gate;
  const auto stream = cuda::default_stream(gpu(0));
  began.record(stream);
  run_on_current(gate.task());
  ended.record(stream);
  EXPECT_ERROR(began.elapsed_time(ended), Error, "must have been passed");
  gate.open();
  ended.synchronize();
  EXPECT_GT(began.elapsed_time(ended), 0);
}

TEST_F(Streams, CopiesOfAnEventAreTheSameMark) {
  cuda::Event event;
  const cuda::Event copy = event;
  Gate gate;
  run_on_current(gate.task());
  event.record();
  EXPECT_FALSE(copy.query());
  gate.open();
  copy.synchronize();
  EXPECT_TRUE(event.query());
}

TEST_F(Streams, ThreadsShareThePool) {
  std::vector<std::jthread> threads;
  std::atomic<int> sum{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 40; ++i) {
        const cuda::Stream stream(gpu(i % 2));
        const cuda::StreamGuard guard(stream);
        run_on_current([&](const Queue&) { ++sum; }, gpu(i % 2));
        cuda::Event event;
        event.record();
        cuda::default_stream(gpu(0)).wait_event(event);
        stream.synchronize();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(sum, 160);
  cuda::synchronize();
}

}  // namespace
}  // namespace tandem::testing
