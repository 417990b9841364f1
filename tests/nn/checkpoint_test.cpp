// Activation checkpointing against the same modules without it: results, gradients, memory, dropout, and what cannot be.
#include "nn/support.h"

namespace tandem::testing {
namespace {

class CheckpointOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, CheckpointOn, every_device(), device_name);

nn::Sequential net_on(Device device) {
  manual_seed(3);
  nn::Sequential net(nn::Linear(4, 8), nn::Tanh(), nn::Dropout(0.5), nn::Linear(8, 8), nn::Tanh(), nn::Linear(8, 2));
  net.to(device);
  return net;
}

/// Gradients of the parameters and of the input, after a step of `forward`.
template <class Forward>
std::vector<std::vector<double>> gradients(Device device, Forward forward) {
  nn::Sequential net = net_on(device);
  const Tensor x = (arange(12).reshape({3, 4}) / 10).to(device).requires_grad_();
  manual_seed(5);
  const Tensor y = forward(net, x);
  (y * y).sum().backward();
  std::vector<std::vector<double>> all{values(y), values(x.grad())};
  for (const Tensor& parameter : net.parameters()) all.push_back(values(parameter.grad()));
  return all;
}

TEST_P(CheckpointOn, GivesTheSameToTheBitDropoutIncluded) {
  const auto plain = gradients(device(), [](nn::Sequential& net, const Tensor& x) { return net(x); });
  EXPECT_EQ(plain, gradients(device(), [](nn::Sequential& net, const Tensor& x) { return nn::checkpoint(net, x); }));
  for (int64_t segments = 1; segments <= 6; ++segments)
    EXPECT_EQ(plain, gradients(device(), [&](nn::Sequential& net, const Tensor& x) { return nn::checkpoint_sequential(net, segments, x); }))
        << segments;
}

TEST_P(CheckpointOn, ReachesParametersWhereTheInputNeedsNoGradient) {
  nn::Sequential net = net_on(device());
  nn::checkpoint(net, ones({2, 4}, Options{.device = device()})).sum().backward();
  for (const Tensor& parameter : net.parameters()) EXPECT_TRUE(parameter.grad().defined());
}

TEST_P(CheckpointOn, GradientsOfGradients) {
  const Tensor x = tensor({2.0}).to(device()).requires_grad_(), w = tensor({3.0}).to(device()).requires_grad_();
  const Tensor y = nn::checkpoint([&](const std::vector<Tensor>& given) { return std::vector<Tensor>{given[0].pow(3) * w}; }, {x})[0];
  const Tensor first = grad({y}, {x}, {.create_graph = true})[0];
  expect_near(first, {36});
  const std::vector<Tensor> second = grad({first}, {x, w});
  expect_near(second[0], {36});
  expect_near(second[1], {12});
}

TEST_P(CheckpointOn, SeveralTensorsOneOfThemUnused) {
  const Tensor a = tensor({1.0, 2.0}).to(device()).requires_grad_(), b = tensor({5.0, 7.0}).to(device()).requires_grad_();
  const Tensor unused = tensor({1.0}).to(device()).requires_grad_();
  const auto both = nn::checkpoint(
      [](const std::vector<Tensor>& given) {
        return std::vector<Tensor>{given[0] * given[1], given[1] * 2};
      },
      {a, b, unused});
  both[0].sum().backward();
  expect_near(a.grad(), {5, 7});
  expect_near(b.grad(), {1, 2});
  EXPECT_FALSE(unused.grad().defined());
}

TEST_P(CheckpointOn, WithoutGradientsItIsTheFunction) {
  nn::Sequential net = net_on(device());
  const NoGradGuard none;
  EXPECT_FALSE(nn::checkpoint(net, ones({2, 4}, Options{.device = device()})).requires_grad());
}

TEST_P(CheckpointOn, KeepsLess) {
  if (!device().is_cuda()) GTEST_SKIP() << "memory is counted on GPUs";
  const auto kept = [&](bool again) {
    nn::Sequential net;
    for (int i = 0; i < 8; ++i) net.push_back(nn::Tanh());
    const Tensor x = ones({1 << 16}, Options{.device = device(), .requires_grad = true});
    const auto before = cuda::memory_allocated(device());
    const Tensor y = again ? nn::checkpoint(net, x) : net(x);
    return cuda::memory_allocated(device()) - before;
  };
  EXPECT_LE(kept(true) * 4, kept(false));
}

TEST(Checkpoint, WhatCannotBe) {
  nn::Sequential net = net_on(cpu());
  const Tensor x = ones({2, 4});
  EXPECT_THROW((void)nn::checkpoint_sequential(net, 0, x), Error);
  EXPECT_THROW((void)nn::checkpoint_sequential(net, 7, x), Error);
  const Tensor w = ones({2}, {.requires_grad = true});
  int calls = 0;
  const auto other =
      nn::checkpoint([&](const std::vector<Tensor>&) { return std::vector<Tensor>(static_cast<size_t>(++calls), w * 1); }, {});
  EXPECT_THROW(other[0].sum().backward(), Error);
  EXPECT_FALSE(w.grad().defined());
}

}  // namespace
}  // namespace tandem::testing
