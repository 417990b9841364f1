// Which stream backward's work goes to: a node's, hooks included, on its own; what the caller gets is ready on the caller's.
#include <optional>
#include <thread>

#include "held_stream.h"

namespace td = tandem;

namespace {

constexpr int64_t kSize = 4096;

class BackwardStreams : public HoldsStreams {};

td::Tensor full(double value, td::Device device) { return td::full({kSize}, value, device); }
td::Tensor leaf(td::Device device) { return td::ones({kSize}, {.device = device, .requires_grad = true}); }
bool all_are(const td::Tensor& x, double value) { return td::equal(x.cpu(), td::full({kSize}, value)); }

/// y = 2 x and z = 3 y on a stream beside the caller's, which is ready for both; z's gradient is 5.
struct Beside {
  explicit Beside(td::Device device)
      : device(device), side(device), callers(td::cuda::current_stream(device)), x(leaf(device)), seed(full(5, device)) {
    td::cuda::synchronize(device);
    const td::cuda::StreamGuard guard(side);
    y = x * 2;
    z = y * 3;
    side.synchronize();
  }
  td::Device device;
  td::cuda::Stream side, callers;
  td::Tensor x, seed, y, z;
};

TEST_F(BackwardStreams, AHookRunsOnItsNodesStream) {
  Beside at(td::gpu(0));
  td::Tensor seen;
  std::optional<td::cuda::Stream> on;
  at.y.register_hook([&](const td::Tensor& g) {
    on = td::cuda::current_stream(at.device);
    seen = g + 1;
    return g * 10;
  });
  {
    const HeldStream held(at.side, at.callers);
    at.z.backward(at.seed);
  }
  td::cuda::synchronize(at.device);
  EXPECT_TRUE(*on == at.side);
  EXPECT_TRUE(all_are(seen, 16));
  EXPECT_TRUE(all_are(at.x.grad(), 300));
}

TEST_F(BackwardStreams, AHooksGpuIsItsNodes) {
  Beside at(td::gpu(1));
  int of_result = -1, of_leaf = -1;
  at.y.register_hook([&](const td::Tensor&) {
    of_result = td::cuda::current_device();
    return td::Tensor();
  });
  at.x.register_hook([&](const td::Tensor&) {
    of_leaf = td::cuda::current_device();
    return td::Tensor();
  });
  at.z.backward(at.seed);
  EXPECT_EQ(of_result, 1);
  EXPECT_EQ(of_leaf, 1);
  EXPECT_EQ(td::cuda::current_device(), 0);
}

TEST_F(BackwardStreams, ALeafsHookRunsOnTheStreamThatAddsToIt) {
  Beside at(td::gpu(0));
  td::Tensor seen;
  at.x.register_hook([&](const td::Tensor& g) {
    EXPECT_TRUE(td::cuda::current_stream(at.device) == td::cuda::default_stream(at.device));
    seen = g + 1;
    return td::Tensor();
  });
  {
    const HeldStream held(at.side, at.callers);
    at.z.backward(at.seed);
  }
  td::cuda::synchronize(at.device);
  EXPECT_TRUE(all_are(seen, 31));
}

TEST_F(BackwardStreams, ARetainedGradientIsReadyForTheCaller) {
  Beside at(td::gpu(0));
  at.y.retain_grad();
  for (int walk = 1; walk <= 2; ++walk) {  // the second one adds
    td::Tensor copy;
    {
      const HeldStream held(at.side, at.callers);
      at.z.backward(at.seed, {.retain_graph = true});
      copy = at.y.grad() * 1;
    }
    EXPECT_TRUE(all_are(copy, 15 * walk));
  }
}

TEST_F(BackwardStreams, GradsResultIsReadyForTheCallerOnEachDevice) {
  for (const int device : {0, 1}) {
    Beside at(td::gpu(device));
    td::Tensor of_result, of_leaf;
    {
      const HeldStream held(at.side, at.callers);
      of_result = td::grad({at.z}, {at.y}, {.grad_outputs = {at.seed}, .retain_graph = true})[0] * 1;
    }
    EXPECT_TRUE(all_are(of_result, 15));
    {
      const HeldStream held(at.side, at.callers);
      of_leaf = td::grad({at.z}, {at.x}, {.grad_outputs = {at.seed}})[0] * 1;
    }
    EXPECT_TRUE(all_are(of_leaf, 30));
  }
}

TEST_F(BackwardStreams, LeavesGradientsAreReadyForTheCallerOnEachDevice) {
  for (const int device : {0, 1}) {
    Beside at(td::gpu(device));
    at.x.set_grad(full(1, at.device));
    td::cuda::synchronize(at.device);
    td::Tensor copy;
    {
      const HeldStream held(at.side, at.callers);
      at.z.backward(at.seed);
      copy = at.x.grad() * 1;
    }
    EXPECT_TRUE(all_are(copy, 31));
  }
}

TEST_F(BackwardStreams, MemoryOfWhatTheCallerGetsIsTheCallersToo) {
  Beside at(td::gpu(0));
  at.y.retain_grad();
  for (const bool retained : {false, true}) {
    td::Tensor given;
    if (retained) {
      at.z.backward(at.seed, {.retain_graph = true});
      given = at.y.grad();
      at.y.set_grad({});
    } else {
      given = td::grad({at.z}, {at.y}, {.grad_outputs = {at.seed}, .retain_graph = true})[0];
      at.y.set_grad({});
    }
    td::cuda::synchronize(at.device);
    td::Tensor copy;
    {
      const HeldStream held(at.callers, at.side);
      copy = given * 1;  // still to be read when its handle goes
      given = {};
      const td::cuda::StreamGuard guard(at.side);
      const td::Tensor next = full(-1, at.device);
      at.side.synchronize();
    }
    EXPECT_TRUE(all_are(copy, 15)) << retained;
  }
}

TEST_F(BackwardStreams, ThreadsWithStreamsOfTheirOwnAddToOneLeafInTurn) {
  const td::Device device = td::gpu(0);
  td::Tensor x = leaf(device);
  const td::cuda::Stream first(device), second(device);
  const td::Tensor seed = full(1, device);
  x.set_grad(full(1, device));
  td::cuda::synchronize(device);
  const auto walk = [&](const td::cuda::Stream& stream, double factor) {
    const td::cuda::StreamGuard guard(stream);
    (x * factor).backward(seed);
    return x.grad() * 1;
  };
  td::Tensor copy;
  {
    const HeldStream held(first, second);
    std::thread([&] { (void)walk(first, 2); }).join();
    std::thread([&] { copy = walk(second, 3); }).join();
  }
  td::cuda::synchronize(device);
  EXPECT_TRUE(all_are(x.grad(), 6));
  EXPECT_TRUE(all_are(copy, 6)) << "the second had to wait for the first";
}

TEST_F(BackwardStreams, ACaptureAddsToGradientsOfAnotherStream) {
  const td::Device device = td::gpu(0);
  td::Tensor x = leaf(device);
  const td::Tensor seed = full(1, device);
  const td::cuda::Stream side(device);
  td::cuda::synchronize(device);
  {
    const td::cuda::StreamGuard guard(side);
    (x * 2).backward(seed);
  }
  td::cuda::synchronize(device);
  td::cuda::Graph graph;
  td::cuda::graph(graph, [&] { (x * 3).backward(seed); });
  graph.replay();
  graph.replay();
  td::cuda::synchronize(device);
  EXPECT_TRUE(all_are(x.grad(), 8));
}

}  // namespace
