// The walk itself: order, accumulation, hooks, retained gradients, errors, depth, several threads, streams.
#include <thread>

#include "support/counted.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Engine : public OnDevice {
 protected:
  static td::Tensor leaf(const td::NestedList& data) { return td::tensor(data, {.device = device(), .requires_grad = true}); }
};

TEST_P(Engine, AddsToGradAndKeepsTheFirstOne) {
  auto x = leaf({1., 2.});
  (x * 3).sum().backward();
  const auto first = x.grad();
  (x * x).sum().backward();
  EXPECT_TRUE(x.grad().is_same(first));
  EXPECT_TRUE(td::equal(x.grad(), td::tensor({5., 7.}, device())));
}

TEST_P(Engine, SharesNoMemoryBetweenTwoLeavesOfOneSum) {
  auto a = leaf({1., 1.}), b = leaf({1., 1.});
  (a + b).backward(td::ones({2}, device()));
  a.grad().mul_(5);
  EXPECT_TRUE(td::equal(b.grad(), td::ones({2}, device())));
}

/// A sum hands its gradient to the leaf as it is, and the leaf keeps that very tensor. One that somebody else holds is copied.
TEST_P(Engine, AGradientThatPassesThroughIsNotCopied) {
  for (const bool held : {false, true}) {
    auto x = leaf({1.});
    const void* given = nullptr;
    td::Tensor holder;
    x.register_hook([&](const td::Tensor& gradient) {
      given = gradient.impl().data;
      if (held) holder = gradient;
      return td::Tensor();
    });
    (x + td::ones({1}, device())).backward();
    EXPECT_EQ(x.grad().impl().data == given, !held);
    EXPECT_EQ(x.grad().item<float>(), 1);
  }
}

TEST_P(Engine, AddsToTheGivenInputsAlone) {
  auto a = leaf({1., 2.}), b = leaf({3., 4.});
  const auto product = a * b, sum = product.sum();
  sum.backward({}, {.retain_graph = true}, {a, product, a});
  EXPECT_TRUE(td::equal(a.grad(), td::tensor({3., 4.}, device())));  // once, though it was given twice
  EXPECT_TRUE(td::equal(product.grad(), td::ones({2}, device())));
  EXPECT_FALSE(b.grad().defined());
  const auto first = a.grad();
  td::autograd::backward({sum}, {}, {}, {a});
  EXPECT_TRUE(a.grad().is_same(first));
  EXPECT_TRUE(td::equal(first, td::tensor({6., 8.}, device())));

  (a + b).backward(td::ones({2}, device()), {}, {b});
  (a + b).backward(td::ones({2}, device()), {}, {a, b});
  b.grad().mul_(5);
  EXPECT_TRUE(td::equal(a.grad(), td::tensor({7., 9.}, device())));

  auto x = leaf({3.});
  (x * x).backward({}, {.create_graph = true}, {x});
  EXPECT_EQ(td::grad({x.grad()}, {x})[0].item<float>(), 2);
  x.grad() = td::Tensor();  // a gradient with a history holds its leaf
  EXPECT_EQ(error_of([&] { (x * x).backward({}, {}, std::vector<td::Tensor>()); }),
            "[backward] 'inputs' argument to backward() cannot be empty.");
  EXPECT_NE(error_of([&] { (x * x).backward({}, {}, {td::ones({1}, device())}); }).find("does not require grad"), std::string::npos);
}

TEST_P(Engine, DiamondsAddUp) {
  auto x = leaf({2.});
  auto y = x * x;
  auto z = y * y + y;  // x^4 + x^2
  z.backward();
  EXPECT_EQ(x.grad().item<float>(), 4 * 8 + 4);
}

TEST_P(Engine, SecondWalkNeedsARetainedGraph) {
  auto x = leaf({2.});
  auto y = x * x;
  y.backward({}, {.retain_graph = true});
  y.backward();
  EXPECT_EQ(x.grad().item<float>(), 8);
  EXPECT_NE(error_of([&] { y.backward(); }).find("backward through the graph a second time"), std::string::npos);
  auto z = x.sum();  // saves nothing
  z.backward();
  EXPECT_NO_THROW(z.backward());
  auto w = (x * 2).sum();  // PyTorch keeps the number
  w.backward();
  EXPECT_NE(error_of([&] { w.backward(); }).find("backward through the graph a second time"), std::string::npos);
}

TEST_P(Engine, GradLeavesLeavesAloneAndSkipsWhatLeadsNowhere) {
  auto x = leaf({3.}), w = leaf({5.});
  int called = 0;
  auto side = w * 2;
  side.register_hook([&](const td::Tensor& g) {
    ++called;
    return g;
  });
  auto y = x * x + side;
  const auto g = td::grad({y}, {x});
  EXPECT_EQ(g[0].item<float>(), 6);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(w.grad().defined());
  EXPECT_EQ(called, 0);
}

// Of an operation's gradients those are computed that lead to a target, in second derivatives too.
TEST_P(Engine, GradComputesNoGradientOfOtherInputs) {
  using tandem::testing::times;
  const auto x = td::ones({2, 1, 4, 4}, {.device = device(), .requires_grad = true}),
             w = td::ones({3, 1, 2, 2}, {.device = device(), .requires_grad = true});
  const auto y = td::conv2d(x, w).square().sum();
  td::Tensor of_x;
  const auto take = [&] { of_x = td::grad({y}, {x}, {.create_graph = true})[0]; };
  EXPECT_EQ(times("convolution_weight", take), 0);
  EXPECT_EQ(times("convolution_input", take), 1);
  EXPECT_EQ(of_x.sum().item<float>(), 2 * 9 * 3 * 4 * 2 * 4);
  EXPECT_EQ(times("convolution_input", [&] { (void)td::grad({y}, {w}, {.retain_graph = true}); }), 0);
  // All of them again where no targets are named: nothing was left behind in the graph.
  EXPECT_EQ(times("convolution_weight", [&] { y.backward(); }), 1);
  EXPECT_TRUE(td::equal(x.grad(), of_x));
  EXPECT_EQ(w.grad().sum().item<float>(), 2 * 9 * 3 * 4 * 2 * 4);
}

TEST_P(Engine, GradOfAnIntermediate) {
  auto x = leaf({3.});
  auto y = x * 2;
  auto z = y * y;
  EXPECT_EQ(td::grad({z}, {y}, {.retain_graph = true})[0].item<float>(), 12);
  EXPECT_EQ(td::grad({z}, {y, x})[1].item<float>(), 24);
}

TEST_P(Engine, UnusedInputsAreAnErrorUnlessAllowed) {
  auto x = leaf({3.}), w = leaf({5.});
  auto y = x * x;
  EXPECT_NE(error_of([&] { (void)td::grad({y}, {w}, {.retain_graph = true}); }).find("not have been used in the graph"), std::string::npos);
  EXPECT_FALSE(td::grad({y}, {w}, {.allow_unused = true})[0].defined());
}

TEST_P(Engine, HooksReplaceGradientsAndCanBeRemoved) {
  auto x = leaf({1.});
  const auto number = x.register_hook([](const td::Tensor& g) { return g * 7; });
  (x * 2).backward();
  EXPECT_EQ(x.grad().item<float>(), 14);
  x.remove_hook(number);
  (x * 2).backward();
  EXPECT_EQ(x.grad().item<float>(), 16);
}

TEST_P(Engine, RetainedGradientsOfResultsThatDiedAreNotWrittenTo) {
  auto x = leaf({1.});
  auto y = x * 2;
  y.retain_grad();
  auto z = y * 3;
  y = td::Tensor();
  z.backward();
  EXPECT_EQ(x.grad().item<float>(), 6);
}

TEST_P(Engine, InPlaceChangesAreFoundOut) {
  auto x = leaf({1., 2.});
  auto y = x * 1;
  auto z = y * y;
  y.add_(1);
  EXPECT_NE(error_of([&] { z.sum().backward(); }).find("modified by an inplace operation"), std::string::npos);
  EXPECT_NE(error_of([&] { x.add_(1); }).find("a leaf Variable that requires grad"), std::string::npos);
  EXPECT_NE(error_of([&] { x.select(0, 0).mul_(2); }).find("a view of a leaf Variable that requires grad"), std::string::npos);
  const td::NoGradGuard no_grad;
  EXPECT_NO_THROW(x.add_(1));
}

TEST_P(Engine, ChangesThroughDataGoUnnoticedAndHaveAVersionOfTheirOwn) {
  auto w = leaf({1., 2.});
  auto y = (w * w).sum();
  w.data().add_(1);
  w.data().select(0, 1).fill_(5);
  EXPECT_EQ(w.version(), 0U);
  y.backward();
  EXPECT_TRUE(td::equal(w.grad(), td::tensor({4., 10.}, device())));

  const auto data = w.data(), part = data.narrow(0, 0, 1);
  y = (data * w).sum();
  part.mul_(2);
  EXPECT_EQ(data.version(), 1U);
  EXPECT_EQ(w.version(), 0U);
  EXPECT_NE(error_of([&] { y.backward(); }).find("modified by an inplace operation"), std::string::npos);
  y = (w * w).sum();
  w.detach().add_(1);
  EXPECT_NE(error_of([&] { y.backward(); }).find("modified by an inplace operation"), std::string::npos);
}

TEST_P(Engine, AViewMadeBeforeSeesAnInPlaceChangeOfItsBase) {
  auto x = leaf({1., 2., 3.});
  auto y = x * 1;
  auto view = y.slice(0, 0, 2);
  y.mul_(10);
  (view * 1).sum().backward();
  EXPECT_TRUE(td::equal(x.grad(), td::tensor({10., 10., 0.}, device())));
}

TEST_P(Engine, NanIsFoundWhereItIsLookedFor) {
  const auto x = leaf({0., 1.});
  const auto loss = [&] { return (x.sqrt() * 0).sum(); };  // 0 / 0
  loss().backward();
  EXPECT_TRUE(x.grad()[0].isnan().item<bool>());
  {
    const td::autograd::DetectAnomaly scope;
    const auto y = x.sqrt();
    const int line = __LINE__ - 1;
    try {
      (y * 0).sum().backward();
      FAIL() << "no error";
    } catch (const td::Error& error) {
      EXPECT_NE(error.message().find("Function 'SqrtBackward0' returned nan values in its 0th output."), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(td::str("engine_test.cpp:", line)), std::string::npos) << error.what();
    }
    EXPECT_NO_THROW((x * 2).sum().backward());
    const td::autograd::DetectAnomaly silent(false);
    EXPECT_NO_THROW(loss().backward());
  }
  EXPECT_FALSE(td::autograd::is_anomaly_enabled());
  EXPECT_NO_THROW(loss().backward());
}

TEST_P(Engine, DeepGraphsAreWalkedAndDestroyedWithoutRecursion) {
  auto x = leaf({1.});
  {
    auto y = x * 1;
    for (int i = 0; i < 200000; ++i) y = y + 1;
    y.backward();
  }
  EXPECT_EQ(x.grad().item<float>(), 1);
  auto never_walked = x * 1;
  for (int i = 0; i < 200000; ++i) never_walked = never_walked * 1;
}

TEST_P(Engine, ThreadsWalkTheirGraphsAtTheSameTime) {
  std::vector<std::thread> threads;
  std::vector<float> found(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      auto x = td::tensor({1. + i}, {.device = device(), .requires_grad = true});
      for (int k = 0; k < 50; ++k) {
        auto y = x * 1;
        for (int n = 0; n < 20; ++n) y = y * 1 + x;
        y.backward();
      }
      found[static_cast<size_t>(i)] = x.grad().item<float>();
    });
  for (auto& thread : threads) thread.join();
  for (const float value : found) EXPECT_EQ(value, 50 * 21);
}

TEST_P(Engine, NextFunctionsShowTheGraph) {
  auto x = leaf({1.});
  auto y = x * 2 + 1;
  EXPECT_STREQ(y.grad_fn()->name(), "AddBackward0");
  EXPECT_EQ(y.grad_fn()->next_functions()[0], "MulBackward0");
  EXPECT_EQ((x * 2).grad_fn()->next_functions()[0], "AccumulateGrad");
}

INSTANTIATE_TEST_SUITE_P(Devices, Engine, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(EngineAcrossDevices, CopiesCarryGradients) {
  auto x = td::ones({3}, {.device = td::gpu(0), .requires_grad = true});
  auto y = (x * 2).to(td::gpu(1)) * 3;
  auto z = y.cpu() + 1;
  z.sum().backward();
  EXPECT_EQ(x.grad().device(), td::gpu(0));
  EXPECT_TRUE(td::equal(x.grad().cpu(), td::full({3}, 6.)));
}

TEST(EngineOnStreams, BackwardRunsOnTheForwardsStream) {
  const td::cuda::Stream side(td::gpu(0));
  auto x = td::ones({1000}, {.device = td::gpu(0), .requires_grad = true});
  td::Tensor y;
  side.wait_stream(td::cuda::current_stream(td::gpu(0)));
  {
    const td::cuda::StreamGuard guard(side);
    y = (x * 2).sum();
  }
  td::cuda::current_stream(td::gpu(0)).wait_stream(side);
  y.backward();
  EXPECT_TRUE(td::equal(x.grad().cpu(), td::full({1000}, 2.)));
}

}  // namespace
