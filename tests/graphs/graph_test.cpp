// Graphs: what is kept, what a replay does, where its memory comes from, and what a capture refuses.
#include "runtime/graph.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/driver.h"
#include "runtime/expect_error.h"
#include "runtime/memory.h"
#include "runtime/stream_record.h"
#include "tandem.h"

namespace tandem::testing {
namespace {

double value(const Tensor& x) { return x.cpu().item<double>(); }

TEST(Graphs, WorkIsKeptAndDoneAtEachReplay) {
  const Tensor x = full({4}, 2.0, {.device = gpu(0)}), count = zeros({1}, {.device = gpu(0)});
  cuda::Graph graph;
  Tensor y;
  EXPECT_FALSE(cuda::is_current_stream_capturing());
  cuda::graph(graph, [&] {
    EXPECT_TRUE(cuda::is_current_stream_capturing());
    y = x * 3 + 1;
    count.add_(1);
  });
  EXPECT_FALSE(cuda::is_current_stream_capturing());
  EXPECT_EQ(value(count), 0) << "nothing runs in a capture";
  graph.replay();
  EXPECT_TRUE(equal(y.cpu(), full({4}, 7.0)));
  x.fill_(5);
  graph.replay();
  EXPECT_TRUE(equal(y.cpu(), full({4}, 16.0)));
  EXPECT_EQ(value(count), 2);
  for (int i = 0; i < 100; ++i) graph.replay();
  EXPECT_EQ(value(count), 102);
}

TEST(Graphs, KeepNothingTwice) {
  cuda::Graph graph;
  EXPECT_ERROR(graph.replay(), Error, "[replay] the graph holds no capture");
  EXPECT_ERROR(graph.capture_end(), Error, "no capture has begun");
  EXPECT_ERROR(graph.capture_begin(), Error, "non-default stream");
  EXPECT_ERROR((void)graph.pool(), Error, "before a capture");
  const Tensor x = ones({3}, {.device = gpu(0)});
  cuda::graph(graph, [&] { x.mul_(2); });
  EXPECT_ERROR(cuda::graph(graph, [&] { x.mul_(2); }), Error, "call reset first");
  graph.reset();
  EXPECT_ERROR(graph.replay(), Error, "holds no capture");
  cuda::graph(graph, [&] { x.add_(1); });
  graph.replay();
  EXPECT_TRUE(equal(x.cpu(), full({3}, 2.0)));
}

TEST(Graphs, RefuseWhatWaitsForTheGpu) {
  const Tensor x = ones({3}, {.device = gpu(0)});
  cuda::Graph graph, other;
  Tensor y;
  cuda::graph(graph, [&] {
    y = x + 1;
    EXPECT_ERROR((void)y.sum().item<float>(), Error, "being captured");
    EXPECT_ERROR((void)y.cpu(), Error, "being captured");
    EXPECT_ERROR((void)ones({3}).to(gpu(0)), Error, "being captured");
    EXPECT_ERROR(cuda::synchronize(), Error, "being captured");
    EXPECT_ERROR(cuda::current_stream().synchronize(), Error, "being captured");
    EXPECT_ERROR((void)cuda::current_stream().query(), Error, "being captured");
    EXPECT_ERROR(other.capture_begin(), Error, "another graph");
    EXPECT_ERROR(graph.replay(), Error, "holds no capture");
    y.mul_(2);
  });
  graph.replay();
  EXPECT_TRUE(equal(y.cpu(), full({3}, 4.0))) << "the capture went on";
}

TEST(Graphs, KeepWhatTheHostComputedForAKernel) {
  const Tensor image = rand({2, 3, 5, 7}, {.device = gpu(0)}).requires_grad_(),
               bytes = randint(0, 256, {1, 3, 5, 7}, {.device = gpu(0)}).to(kUInt8);
  const Tensor logits = randn({6, 2, 5}, {.device = gpu(0)}).requires_grad_(), labels = randint(1, 5, {2, 3}, {.device = gpu(0)});
  std::vector<Tensor> results;
  const auto work = [&] {
    image.set_grad({});
    logits.set_grad({});
    Tensor sum = ctc_loss(log_softmax(logits, 2), labels, {6, 5}, {3, 2});
    for (const char* mode : {"nearest", "bilinear", "bicubic"})
      sum = sum + interpolate(image, {.size = Shape{9, 4}, .mode = mode}).square().sum();
    sum.backward();
    results = {sum, image.grad(), logits.grad(), interpolate(bytes, {.size = Shape{9, 4}, .mode = "bilinear"})};
  };
  work();
  std::vector<Tensor> expected;
  for (const Tensor& result : results) expected.push_back(result.cpu());
  cuda::Graph graph;
  cuda::graph(graph, work);
  for (int i = 0; i < 64; ++i) (void)full({64 + i}, 7, {.dtype = kInt64}).pin_memory();  // takes page-locked memory that nobody holds
  const cuda::Stream other{gpu(0)};
  for (const cuda::Stream& stream : {cuda::current_stream(gpu(0)), other}) {
    const cuda::StreamGuard guard(stream);
    cuda::synchronize(gpu(0));
    for (const Tensor& result : results) result.detach().zero_();
    graph.replay();
    for (size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(equal(results[i].cpu(), expected[i])) << i;
  }
}

TEST(Graphs, ResetWhileAReplayReadsWhatTheHostComputed) {
  const Tensor x = rand({1, 1, 64, 64}, {.device = gpu(0)});
  const Tensor expected = interpolate(x, {.size = Shape{640, 640}, .mode = "bilinear"}).cpu();
  for (int i = 0; i < 20; ++i) {
    cuda::Graph graph;
    Tensor y;
    cuda::graph(graph, [&] { y = interpolate(x, {.size = Shape{640, 640}, .mode = "bilinear"}); });
    graph.replay();
    graph.reset();
    for (int64_t size = 64; size <= 4096; size *= 2) (void)full({size}, -1, {.dtype = kInt64}).pin_memory();
    ASSERT_TRUE(equal(y.cpu(), expected));
  }
}

TEST(Graphs, RefuseDecompositions) {
  const Tensor x = eye(3, {}, {.device = gpu(0)});
  cuda::Graph graph;
  Tensor y;
  cuda::graph(graph, [&] {
    y = x + 1;
    EXPECT_ERROR((void)linalg::svd(x), Error, "[linalg.svd] would wait for a stream that is being captured");
    EXPECT_ERROR((void)linalg::cholesky(x), Error, "[linalg.cholesky] would wait");
    EXPECT_ERROR((void)linalg::inv(x), Error, "being captured");
  });
  graph.replay();
  EXPECT_EQ(value(y.sum()), 12) << "the capture went on";
}

TEST(Graphs, AnErrorInTheWorkEndsTheCapture) {
  const Tensor x = ones({3}, {.device = gpu(0)});
  cuda::Graph graph;
  EXPECT_ERROR(cuda::graph(graph, [&] { (void)matmul(x, ones({2, 2}, {.device = gpu(0)})); }), Error, "matmul");
  EXPECT_FALSE(cuda::is_current_stream_capturing());
  EXPECT_ERROR(graph.replay(), Error, "holds no capture");
  EXPECT_EQ(value(x.sum()), 3);
}

TEST(Graphs, OtherStreamsJoinByEvents) {
  const Tensor x = ones({1000}, {.device = gpu(0)});
  const cuda::Stream main{gpu(0)}, side{gpu(0)};
  Tensor a, b;
  cuda::Graph graph;
  cuda::graph(graph,
              [&] {
                a = x * 2;
                side.wait_stream(cuda::current_stream());
                {
                  const cuda::StreamGuard guard(side);
                  EXPECT_TRUE(cuda::is_current_stream_capturing());
                  b = a + 1;
                }
                a = a * 3;
                cuda::current_stream().wait_stream(side);
                b = a + b;
              },
              {.stream = main});
  {
    const cuda::StreamGuard guard(side);
    EXPECT_FALSE(cuda::is_current_stream_capturing());
  }
  graph.replay();
  EXPECT_TRUE(equal(b.cpu(), full({1000}, 9.0)));
  graph.reset();
  EXPECT_ERROR(cuda::graph(graph,
                           [&] {
                             side.wait_stream(cuda::current_stream());
                             const cuda::StreamGuard guard(side);
                             b = x + 1;
                           },
                           {.stream = main}),
               Error, "wait_stream");
  EXPECT_ERROR(graph.replay(), Error, "holds no capture");
}

TEST(Graphs, EventsOfACaptureCannotBeAsked) {
  cuda::Event inside, before;
  const cuda::Stream side{gpu(0)};
  const Tensor x = ones({3}, {.device = gpu(0)});
  before.record(side);
  cuda::Graph graph;
  cuda::graph(graph, [&] {
    x.add_(1);
    inside.record();
  });
  EXPECT_ERROR((void)inside.query(), Error, "capture");
  inside.record();
  inside.synchronize();
  EXPECT_TRUE(inside.query());
}

TEST(Graphs, MemoryIsTheirs) {
  const Tensor x = ones({1 << 18}, {.device = gpu(0)});
  cuda::Graph graph;
  Tensor y;
  cuda::graph(graph, [&] { y = exp(x * 0) + 1; });  // two tensors die in the capture
  std::vector<Tensor> others;
  for (int i = 0; i < 8; ++i) others.push_back(full({1 << 18}, 5.0, {.device = gpu(0)}));
  graph.replay();
  for (const Tensor& other : others) EXPECT_EQ(value(other.sum()), 5.0 * (1 << 18)) << "a replay writes into nobody's memory";
  EXPECT_EQ(value(y.sum()), 2.0 * (1 << 18));
  others.clear();
  cuda::empty_cache();
  const size_t held = cuda::memory_reserved(gpu(0));
  graph.replay();
  EXPECT_EQ(value(y.mean()), 2);
  y = Tensor();
  cuda::empty_cache();
  EXPECT_EQ(cuda::memory_reserved(gpu(0)), held) << "the graph may be replayed: its memory stays";
  graph.reset();
  cuda::empty_cache();
  EXPECT_LT(cuda::memory_reserved(gpu(0)), held);
}

TEST(Graphs, AResultMovedOutLeavesTheirMemoryAlone) {
  const Tensor x = ones({4}, {.device = gpu(0)});
  cuda::Graph graph;
  Tensor y;
  cuda::graph(graph, [&] { y = x + 1; });
  graph.replay();
  const Tensor z = std::move(y) * 10;  // not in the memory that the next replay writes
  x.fill_(5);
  graph.replay();
  EXPECT_EQ(value(z.sum()), 80);
}

TEST(Graphs, GiveAllTheirMemoryBackOnceTheyAreGone) {
  const cuda::Stream side(gpu(0));
  const Tensor x = ones({1 << 18}, {.device = gpu(0)});
  cuda::synchronize(gpu(0));
  cuda::empty_cache();
  const size_t before = cuda::memory_reserved(gpu(0));
  {
    cuda::Graph graph;
    cuda::graph(graph, [&] {
      Tensor y = x + 1;
      side.wait_stream(cuda::current_stream(gpu(0)));
      {
        const cuda::StreamGuard guard(side);
        y.add_(1);
      }
      y.record_stream(side);
      cuda::current_stream(gpu(0)).wait_stream(side);
      y = y * 2;  // what was used on both streams is let go of in the capture
    });
    graph.replay();
    EXPECT_GT(cuda::memory_reserved(gpu(0)), before);
  }
  runtime::require_driver().host_function(
      side.record()->handle, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr);
  cuda::empty_cache();
  EXPECT_EQ(cuda::memory_reserved(gpu(0)), before);
}

TEST(Graphs, MemoryOfOneThatIsGoneStaysUntilItsReplaysHavePassed) {
  const Tensor x = ones({1 << 20}, {.device = gpu(0)});
  cuda::Graph graph;
  Tensor y;
  cuda::graph(graph, [&] { y = x + 1; });
  const size_t held = cuda::memory_reserved(gpu(0));
  const cuda::Stream other(gpu(0));
  static std::atomic<bool> passed;
  passed = false;
  const auto queue = [&](void (*run)(void*)) { runtime::require_driver().host_function(other.record()->handle, run, nullptr); };
  queue([](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  {
    const cuda::StreamGuard guard(other);
    graph.replay();
  }
  queue([](void*) { passed = true; });
  graph.reset();
  y = Tensor();
  cuda::empty_cache();
  EXPECT_TRUE(passed) << "the replay's stream was waited for";
  EXPECT_LT(cuda::memory_reserved(gpu(0)), held);
}

TEST(Graphs, SharedPoolsUseMemoryAgain) {
  const Tensor x = ones({1 << 19}, {.device = gpu(0)});
  const cuda::GraphPool pool = cuda::graph_pool_handle();
  cuda::Graph first, second;
  Tensor a, b;
  cuda::graph(first, [&] { a = (x + 1).sum(); }, {.pool = pool});
  const size_t held = cuda::memory_reserved(gpu(0));
  cuda::graph(second, [&] { b = (x + 2).sum(); }, {.pool = pool});
  EXPECT_EQ(cuda::memory_reserved(gpu(0)), held);
  EXPECT_TRUE(first.pool() == second.pool());
  first.replay();
  second.replay();
  EXPECT_EQ(value(a), 2.0 * (1 << 19));
  EXPECT_EQ(value(b), 3.0 * (1 << 19));
}

TEST(Graphs, RandomNumbersGoOn) {
  for (const bool permutation : {false, true}) {
    const auto draw = [&] { return permutation ? randperm(1000, {.device = gpu(0)}) : randn({1000}, gpu(0)) + rand({1000}, gpu(0)); };
    manual_seed(7);
    std::vector<Tensor> expected;
    for (int i = 0; i < 3; ++i) expected.push_back(draw().cpu());
    cuda::Graph graph;
    Tensor y;
    cuda::graph(graph, [&] { y = draw(); });
    manual_seed(7);
    graph.replay();
    EXPECT_TRUE(equal(y.cpu(), expected[0]));
    EXPECT_TRUE(equal(draw().cpu(), expected[1])) << "the generator moved as in a call";
    graph.replay();
    EXPECT_TRUE(equal(y.cpu(), expected[2]));
  }
}

TEST(Graphs, ErrorsOfReplayedWorkNameTheLine) {
  const Tensor table = ones({3, 2}, {.device = gpu(0)}), index = zeros({1}, {.dtype = kInt64, .device = gpu(0)});
  cuda::Graph graph;
  Tensor y;
  cuda::graph(graph, [&] { y = index_select(table, 0, index) * 2; });
  graph.replay();
  EXPECT_EQ(value(y.sum()), 4);
  index.fill_(9);
  graph.replay();
  EXPECT_ERROR(cuda::synchronize(gpu(0)), IndexError, "graph_test.cpp");
  index.fill_(1);
  graph.replay();
  EXPECT_EQ(value(y.sum()), 4);
}

TEST(Graphs, PinnedMemoryFreedInACaptureIsUsedAgainLater) {
  const Tensor x = ones({100}, {.device = gpu(0)});
  cuda::Graph graph;
  Tensor host;
  cuda::graph(graph, [&] {
    Tensor passing = empty({100}).pin_memory();
    passing.copy_(x, true);
    host = empty({100}).pin_memory();
    host.copy_(x * 2, true);
  });
  graph.replay();
  cuda::synchronize(gpu(0));
  EXPECT_TRUE(equal(host, full({100}, 2.0)));
  for (int i = 0; i < 4; ++i) (void)empty({100}).pin_memory();
}

/// Calls f in another thread and waits for its end.
template <class F>
void elsewhere(F f) {
  std::thread(f).join();
}

TEST(Graphs, OtherThreadsWaitForAllButTheCapturedStream) {
  const Tensor x = ones({3}, {.device = gpu(0)});
  const cuda::Stream captured{gpu(0)};
  cuda::Graph graph;
  Tensor y;
  cuda::graph(graph,
              [&] {
                y = x + 1;
                elsewhere([&] {
                  EXPECT_ERROR(captured.synchronize(), Error, "being captured");
                  EXPECT_ERROR((void)captured.query(), Error, "being captured");
                  EXPECT_EQ(value((x + 2).sum()), 9) << "another stream of the same device";
                  cuda::synchronize(gpu(0));
                  {
                    const cuda::StreamGuard guard(captured);
                    EXPECT_ERROR((void)x.cpu(), Error, "being captured");
                  }
                  cuda::Graph own;
                  Tensor z;
                  cuda::graph(own, [&] { z = x + 3; }, {.stream = cuda::Stream{gpu(0)}});
                  own.replay();
                  EXPECT_EQ(value(z.sum()), 12) << "a graph that began and ended meanwhile";
                });
                y.mul_(2);
              },
              {.stream = captured});
  graph.replay();
  EXPECT_TRUE(equal(y.cpu(), full({3}, 4.0))) << "the capture went on";
}

TEST(Graphs, OtherThreadsEmptyTheCacheAndRunOutOfMemoryMeanwhile) {
  const Tensor x = ones({3}, {.device = gpu(0)});
  const cuda::Stream captured{gpu(0)};
  cuda::empty_cache();
  {
    const cuda::StreamGuard guard(captured);
    (void)zeros({1 << 20}, {.device = gpu(0)});  // lies idle on the stream
  }
  cuda::synchronize(gpu(0));
  cuda::Graph graph;
  Tensor y;
  {
    const cuda::StreamGuard guard(captured);
    graph.capture_begin();
    y = x + 1;
    elsewhere([&] {
      const size_t before = cuda::memory_reserved(gpu(0));
      cuda::empty_cache();
      EXPECT_EQ(cuda::memory_reserved(gpu(0)), before) << "what lies on the captured stream stays";
      EXPECT_THROW((void)empty({int64_t{1} << 40}, {.dtype = kUInt8, .device = gpu(0)}), OutOfMemoryError);
    });
    y.mul_(2);
    graph.capture_end();
  }
  graph.replay();
  EXPECT_TRUE(equal(y.cpu(), full({3}, 4.0))) << "the capture went on";
}

TEST(Graphs, OnAnotherGpuThanTheCurrent) {
  const Tensor x = ones({10}, {.device = gpu(1)});
  cuda::Graph graph;
  Tensor y;
  {
    const cuda::DeviceGuard guard(gpu(1));
    cuda::graph(graph, [&] { y = x + 1; });
  }
  graph.replay();
  EXPECT_EQ(value(y.sum()), 20);
}

}  // namespace
}  // namespace tandem::testing
