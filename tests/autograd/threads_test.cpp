// Several threads walk backwards over what they share: leaves, nodes, hooks, tensors that die meanwhile.
#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

/// Calls f(0) … f(n - 1) at the same time.
template <class F>
void at_once(int n, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&, i] { f(i); });
  for (auto& thread : threads) thread.join();
}

/// Until `done`, or for as long as another thread may need to do what it must not.
void give_time(const std::atomic<bool>& done) {
  const auto enough = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (!done && std::chrono::steady_clock::now() < enough) std::this_thread::yield();
}

class BackwardThreads : public OnDevice {
 protected:
  /// A leaf so large that threads meet while they add to it.
  static td::Tensor leaf() { return td::ones({kLarge}, {.device = device(), .requires_grad = true}); }
  static bool all_are(const td::Tensor& x, double value) { return td::equal(x.detach().cpu(), td::full({kLarge}, value)); }
  static constexpr int64_t kLarge = 2 << 20;
};

TEST_P(BackwardThreads, ASharedLeafGetsEveryGradient) {
  const auto seed = td::ones({kLarge}, device());
  for (int round = 0; round < 10; ++round) {
    const auto x = leaf();
    std::barrier begin(2);
    at_once(2, [&](int) {
      begin.arrive_and_wait();
      for (int i = 0; i < 3; ++i) (x * 1).view({kLarge}).backward(seed);
    });
    ASSERT_TRUE(all_are(x.grad(), 6)) << round;
  }
}

TEST_P(BackwardThreads, ASharedLeafKeepsTheFirstGradientOfEach) {
  const auto seed = td::ones({kLarge}, device());
  for (int round = 0; round < 10; ++round) {
    const auto x = leaf();
    std::barrier begin(2);
    at_once(2, [&](int) {
      const auto y = x.view({kLarge});
      begin.arrive_and_wait();
      y.backward(seed);  // which stays the caller's: a copy is kept
    });
    ASSERT_TRUE(all_are(x.grad(), 2)) << round;
  }
}

TEST_P(BackwardThreads, ADoublyDifferentiatedLeafGetsEveryGradient) {
  const auto seed = td::ones({kLarge}, device());
  for (int round = 0; round < 5; ++round) {
    const auto x = leaf();
    std::barrier begin(2);
    at_once(2, [&](int) {
      begin.arrive_and_wait();
      for (int i = 0; i < 3; ++i) (x * 3).backward(seed, {.create_graph = true});
    });
    ASSERT_TRUE(all_are(x.grad(), 18)) << round;
  }
}

TEST_P(BackwardThreads, ARetainedGraphIsWalkedByAll) {
  const auto seed = td::ones({kLarge}, device());
  for (int round = 0; round < 5; ++round) {
    const auto x = leaf(), shared = x * x;
    shared.retain_grad();
    std::barrier begin(2);
    at_once(2, [&](int) {
      begin.arrive_and_wait();
      for (int i = 0; i < 3; ++i) (shared * 2).backward(seed, {.retain_graph = true});
    });
    ASSERT_TRUE(all_are(x.grad(), 24)) << round;
    ASSERT_TRUE(all_are(shared.grad(), 12)) << round;
  }
}

/// Its backward gives another thread time to walk over it as well.
struct Slow : td::autograd::Function<Slow> {
  static inline std::atomic<bool> inside{false}, other_done{false};
  static td::Tensor forward(td::autograd::Context& context, const td::Tensor& x) {
    context.save_for_backward({x});
    return x * x;
  }
  static std::vector<td::Tensor> backward(td::autograd::Context& context, const std::vector<td::Tensor>& grads) {
    if (!inside.exchange(true)) give_time(other_done);
    return {context.saved()[0] * 2 * grads[0]};
  }
};

TEST_P(BackwardThreads, WhoComesFirstFinishesASharedNode) {
  const auto x = td::full({8}, 3., {.device = device(), .requires_grad = true});
  const auto shared = Slow::apply(x);
  Slow::inside = Slow::other_done = false;
  std::string errors[2];
  at_once(2, [&](int i) {
    const auto mine = (shared * 2).sum();
    if (i == 1) {
      while (!Slow::inside) std::this_thread::yield();
    }
    errors[i] = error_of([&] { mine.backward(); });
    if (i == 1) Slow::other_done = true;
  });
  EXPECT_EQ(errors[0], "no error");
  EXPECT_NE(errors[1].find("backward through the graph a second time"), std::string::npos) << errors[1];
  EXPECT_TRUE(td::equal(x.grad().cpu(), td::full({8}, 12.)));
}

TEST_P(BackwardThreads, SavedTensorsOfSharedNodesAreLetGoOfOnce) {
  std::barrier both(2);
  td::Tensor x, shared;
  std::atomic<int> others{0}, walked{0};
  at_once(2, [&](int i) {
    for (int round = 0; round < 500; ++round) {
      if (i == 0) {
        x = td::full({8}, 3., {.device = device(), .requires_grad = true});
        shared = td::exp(x * x) * x;
      }
      both.arrive_and_wait();
      const auto mine = (shared * (i + 2)).sum();
      both.arrive_and_wait();
      const std::string error = error_of([&] { mine.backward(); });
      if (error == "no error") ++walked;
      else if (error.find("backward through the graph a second time") == std::string::npos) ++others;
      both.arrive_and_wait();
    }
  });
  EXPECT_EQ(others, 0);
  EXPECT_GE(walked, 500);
}

TEST_P(BackwardThreads, HooksComeAndGoDuringAWalk) {
  for (const bool on_leaf : {true, false}) {
    const auto x = td::ones({8}, {.device = device(), .requires_grad = true});
    const auto y = x * 2, on = on_leaf ? x : y;
    std::atomic<bool> inside{false}, changed{false};
    std::atomic<int> calls{0};
    on.register_hook([&](const td::Tensor& g) {
      inside = true;
      while (!changed) std::this_thread::yield();
      return g * 2;
    });
    int64_t last = -1;
    for (int i = 0; i < 10; ++i)
      last = on.register_hook([&](const td::Tensor&) {
        ++calls;
        return td::Tensor();
      });
    at_once(2, [&](int i) {
      if (i == 0) return y.sum().backward({}, {.retain_graph = true});
      while (!inside) std::this_thread::yield();
      on.remove_hook(last);
      for (int more = 0; more < 1000; ++more) on.register_hook([](const td::Tensor& g) { return g * 0; });
      changed = true;
    });
    EXPECT_EQ(calls, 10);
    EXPECT_TRUE(td::equal(x.grad().cpu(), td::full({8}, 4.)));
  }
}

TEST_P(BackwardThreads, TensorsThatRetainTheirGradientDieDuringAWalk) {
  std::barrier both(2);
  td::Tensor y, z;
  at_once(2, [&](int i) {
    for (int round = 0; round < 500; ++round) {
      if (i == 0) {
        const auto x = td::ones({8}, {.device = device(), .requires_grad = true});
        y = x * 2;
        y.retain_grad();
        z = y.sum();
      }
      both.arrive_and_wait();
      if (i == 0) z.backward();
      else y = td::Tensor();
      both.arrive_and_wait();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, BackwardThreads, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
