// Hooks that change the list they stand in or return what they may not, and gradients that results retain.
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class BackwardHooks : public OnDevice {
 protected:
  static td::Tensor leaf(const td::NestedList& data) { return td::tensor(data, {.device = device(), .requires_grad = true}); }
};

td::Tensor nothing(const td::Tensor&) { return {}; }

TEST_P(BackwardHooks, AHookRemovesItself) {
  for (const bool of_leaf : {true, false}) {
    const auto x = leaf({1., 2.}), y = x + 0, on = of_leaf ? x : y;
    int calls = 0, others = 0;
    int64_t number = -1;
    const std::string held(1000, 'x');  // goes with the hook
    number = on.register_hook([&, held](const td::Tensor& g) {
      on.remove_hook(number);
      ++calls;
      EXPECT_EQ(held.size(), 1000U);
      return g * 2;
    });
    for (int i = 0; i < 3; ++i)
      on.register_hook([&](const td::Tensor&) {
        ++others;
        return td::Tensor();
      });
    y.sum().backward();
    y.sum().backward();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(others, 6);
    EXPECT_TRUE(td::equal(x.grad(), td::tensor({3., 3.}, device())));
  }
}

TEST_P(BackwardHooks, AHookThatAHookAddsBeginsWithTheNextWalk) {
  for (const bool of_leaf : {true, false}) {
    const auto x = leaf({1.}), y = x + 0, on = of_leaf ? x : y;
    int calls = 0;
    on.register_hook([&](const td::Tensor&) {
      for (int i = 0; i < 100; ++i)
        on.register_hook([&](const td::Tensor&) {
          ++calls;
          return td::Tensor();
        });
      return td::Tensor();
    });
    y.backward();
    EXPECT_EQ(calls, 0);
    y.backward();
    EXPECT_EQ(calls, 100);
  }
}

TEST_P(BackwardHooks, AHookRemembersWhatItCounted) {
  auto x = leaf({1.});
  std::vector<int> counts;
  x.register_hook([&, count = 0](const td::Tensor& g) mutable {
    x.register_hook(nothing);
    counts.push_back(++count);
    return nothing(g);
  });
  for (int i = 0; i < 3; ++i) x.backward(td::ones({1}, device()));
  EXPECT_EQ(counts, (std::vector<int>{1, 2, 3}));
}

TEST_P(BackwardHooks, AHookOfTheHistoryBeforeAnInPlaceChangeStaysThere) {
  auto x = leaf({1.});
  auto y = x * 2;
  const auto before = y.register_hook([](const td::Tensor& g) { return g * 10; });
  y.mul_(3);
  const auto after = y.register_hook([](const td::Tensor& g) { return g * 100; });
  EXPECT_NE(before, after);
  (y * 1).backward();
  EXPECT_EQ(x.grad().item<float>(), 6000);
}

TEST_P(BackwardHooks, AHookAfterAccumulationSeesTheSum) {
  const auto x = leaf({1., 2.}), unused = leaf({1.});
  std::vector<float> seen;
  const auto number = x.register_post_accumulate_grad_hook([&](const td::Tensor& leaf) {
    EXPECT_TRUE(leaf.is_same(x));
    seen.push_back(leaf.grad()[1].item<float>());
  });
  unused.register_post_accumulate_grad_hook([](const td::Tensor&) { ADD_FAILURE() << "it has no gradient"; });
  (x * x + x).sum().backward();  // two gradients for the leaf: one call
  EXPECT_EQ(seen, (std::vector<float>{5}));
  (x * 10).sum().backward();
  EXPECT_EQ(seen, (std::vector<float>{5, 15}));
  (void)td::grad({(x * 2).sum()}, {x});  // adds to no .grad
  x.remove_hook(number);
  (x * 10).sum().backward();
  EXPECT_EQ(seen.size(), 2u);
}

TEST_P(BackwardHooks, AHookAfterAccumulationMayTakeTheGradientAway) {
  const auto x = leaf({1., 2.});
  td::Tensor taken;
  x.register_post_accumulate_grad_hook([&](const td::Tensor& leaf) { taken = std::exchange(leaf.grad(), td::Tensor()); });
  (x * 3).sum().backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(td::equal(taken, td::tensor({3., 3.}, device())));
}

TEST_P(BackwardHooks, AHookAfterAccumulationIsForLeavesWithGradients) {
  const auto x = leaf({1.});
  EXPECT_NE(error_of([&] { (x * 2).register_post_accumulate_grad_hook([](const td::Tensor&) {}); }).find("non-leaf"), std::string::npos);
  EXPECT_NE(error_of([&] { x.detach().register_post_accumulate_grad_hook([](const td::Tensor&) {}); }).find("doesn't require gradient"),
            std::string::npos);
}

TEST_P(BackwardHooks, CallbacksComeAtTheEndOfTheirBackward) {
  const auto x = leaf({1.}), y = leaf({2.});
  std::vector<std::string> order;
  x.register_post_accumulate_grad_hook([&](const td::Tensor&) {
    td::autograd::queue_callback([&] {
      order.emplace_back("outer");
      EXPECT_TRUE(td::is_grad_enabled());
      td::autograd::queue_callback([&] { order.emplace_back("queued by a callback"); });
    });
    order.emplace_back("x");
  });
  y.register_post_accumulate_grad_hook([&](const td::Tensor&) {
    order.emplace_back("y");
    const auto z = leaf({3.});
    z.register_hook([&](const td::Tensor&) {
      td::autograd::queue_callback([&] { order.emplace_back("inner"); });
      return td::Tensor();
    });
    const td::EnableGradGuard recording;
    (z * 1).sum().backward();
  });
  const auto later = x * 2;  // walked before y * 2
  ((y * 2) * 1).sum().backward();
  EXPECT_EQ(order, (std::vector<std::string>{"y", "inner"}));
  order.clear();
  (later + y).sum().backward();
  ASSERT_EQ(order.size(), 5u);
  EXPECT_EQ(order[3], "outer");
  EXPECT_EQ(order[4], "queued by a callback");
}

TEST_P(BackwardHooks, CallbacksOfABackwardThatThrowsAreDropped) {
  const auto x = leaf({1.});
  int calls = 0;
  bool fails = true;
  const auto y = x * 2;
  y.register_hook([&](const td::Tensor&) {
    td::autograd::queue_callback([&] { ++calls; });
    return td::Tensor();
  });
  x.register_hook([&](const td::Tensor&) -> td::Tensor {
    if (fails) td::fail("on purpose");
    return {};
  });
  EXPECT_EQ(error_of([&] { y.sum().backward({}, {.retain_graph = true}); }), "on purpose");
  EXPECT_EQ(calls, 0);
  fails = false;
  y.sum().backward();
  EXPECT_EQ(calls, 1);
  EXPECT_NE(error_of([] { td::autograd::queue_callback([] {}); }).find("no backward is running"), std::string::npos);
}

TEST_P(BackwardHooks, AHooksTensorMustBeLikeTheGradient) {
  auto x = leaf({1., 2., 3.});
  auto y = x + 0;
  for (const td::Tensor& on : {x, y}) {
    const auto error = [&](td::Tensor replacement) {
      const auto number = on.register_hook([=](const td::Tensor&) { return replacement; });
      const auto text = error_of([&] { y.sum().backward(); });
      on.remove_hook(number);
      EXPECT_EQ(text.find("hook '" + std::to_string(number) + "' has changed the "), 0U) << text;
      return text;
    };
    EXPECT_NE(error(td::ones({2}, device())).find("size of value (was [3] got [2])"), std::string::npos);
    EXPECT_NE(error(td::ones({1}, device())).find("size of value"), std::string::npos);
    EXPECT_NE(error(td::ones({3}, {.dtype = td::kFloat64, .device = device()})).find("type of value"), std::string::npos);
    EXPECT_NE(error(td::ones({3}, device().is_cpu() ? td::gpu(0) : td::cpu())).find("type of value"), std::string::npos);
    if (device().is_cuda()) {
      EXPECT_NE(error(td::ones({3}, td::gpu(1 - device().index()))).find("device of value"), std::string::npos);
    }
  }
  EXPECT_FALSE(x.grad().defined());
}

TEST_P(BackwardHooks, ATensorThatDiedDetachedIsNotWrittenTo) {
  auto x = leaf({1.});
  auto y = x * 2;
  y.retain_grad();
  auto z = y * 3;
  y.detach_();
  const auto* const place = &y.impl();
  y = {};
  std::vector<td::Tensor> others;  // one of them takes its place
  do others.push_back(td::zeros({1}, device()));
  while (&others.back().impl() != place && others.size() < 10000);
#if !defined(__SANITIZE_ADDRESS__)  // which gives no address out again; it sees by itself what is written to memory that is gone
  ASSERT_EQ(&others.back().impl(), place);
#endif
  z.backward();
  EXPECT_FALSE(others.back().grad().defined());
  EXPECT_EQ(x.grad().item<float>(), 6);
}

TEST_P(BackwardHooks, ADetachedTensorKeepsTheGradientItAskedFor) {
  auto x = leaf({1.});
  auto y = x * 2;
  y.retain_grad();
  auto z = y * 3;
  y.detach_();
  z.backward();
  EXPECT_EQ(y.grad().item<float>(), 3);
}

TEST_P(BackwardHooks, ARetainedGradientIsThatOfTheTensorAfterAnInPlaceChange) {
  auto x = leaf({1., 1.});
  auto y = x * 2;
  y.retain_grad();
  y.mul_(3);
  (y * 5).sum().backward();
  EXPECT_TRUE(td::equal(y.grad(), td::tensor({5., 5.}, device())));
  EXPECT_TRUE(td::equal(x.grad(), td::tensor({30., 30.}, device())));
}

TEST_P(BackwardHooks, ARetainedGradientFollowsAChangeThroughAView) {
  auto x = leaf({1., 1.});
  auto base = x * 2;
  auto view = base.select(0, 0), other = base.select(0, 0);
  base.retain_grad();
  view.retain_grad();
  other.retain_grad();
  view.mul_(3);
  (base * 5).sum().backward({}, {.retain_graph = true});
  EXPECT_TRUE(td::equal(base.grad(), td::tensor({5., 5.}, device())));
  EXPECT_TRUE(td::equal(x.grad(), td::tensor({30., 10.}, device())));
  EXPECT_FALSE(view.grad().defined());
  (view * 7 + other * 2).backward();
  EXPECT_EQ(view.grad().item<float>(), 7);
  EXPECT_EQ(other.grad().item<float>(), 2);
}

TEST_P(BackwardHooks, ATensorDiesWithAChangedHistory) {
  auto x = leaf({1.});
  auto z = x * 1;
  for (int i = 0; i < 100; ++i) {
    auto y = x * 2;
    y.retain_grad();
    const auto before = y * 1;
    y.mul_(3);
    z = z + before + y;
  }
  std::vector<td::Tensor> others;
  for (int i = 0; i < 200; ++i) others.push_back(td::zeros({1}, device()));
  z.backward();
  for (const auto& other : others) ASSERT_FALSE(other.grad().defined());
}

TEST_P(BackwardHooks, RetainedGradientsShareNoMemory) {
  auto x = leaf({1., 1.});
  auto y = x + 0, z = y + 0;
  y.retain_grad();
  z.retain_grad();
  z.sum().backward();
  y.grad().mul_(5);
  EXPECT_TRUE(td::equal(z.grad(), td::ones({2}, device())));
  EXPECT_TRUE(td::equal(x.grad(), td::ones({2}, device())));
}

TEST_P(BackwardHooks, LeavesOfADifferentiableBackwardShareNoMemory) {
  auto a = leaf({1., 1.}), b = leaf({1., 1.});
  (a + b).backward(td::ones({2}, device()), {.create_graph = true});
  a.grad().detach().mul_(5);
  EXPECT_TRUE(td::equal(b.grad(), td::ones({2}, device())));
}

TEST_P(BackwardHooks, GradLeavesTheGraphBehindATargetAlone) {
  auto x = leaf({3.});
  auto y = x * x;
  int calls = 0;
  x.register_hook([&](const td::Tensor& g) {
    ++calls;
    return nothing(g);
  });
  EXPECT_EQ(td::grad({y * y}, {y})[0].item<float>(), 18);
  EXPECT_EQ(calls, 0);
  y.backward();
  EXPECT_EQ(x.grad().item<float>(), 6);
}

TEST_P(BackwardHooks, GradPassesADeepGraphThatLeadsToNoTarget) {
  auto x = leaf({3.}), w = leaf({1.});
  auto side = w * 1;
  for (int i = 0; i < 200000; ++i) side = side + 1;
  EXPECT_EQ(td::grad({x * x + side}, {x})[0].item<float>(), 6);
}

INSTANTIATE_TEST_SUITE_P(Devices, BackwardHooks, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
