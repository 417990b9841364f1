// Hooks for tensors that backward needs: what they see and give, where they end, and the memory that is free meanwhile.
#include <any>
#include <optional>
#include <stdexcept>
#include <vector>

#include "runtime/expect_error.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using td::autograd::SavedTensorsHooks;
using td::autograd::SaveOnCPU;

namespace {

class SavedHooks : public OnDevice {
 protected:
  static td::Tensor leaf(const td::NestedList& data) { return td::tensor(data, {.device = device(), .requires_grad = true}); }
};

td::Tensor as_it_was(const std::any& kept) { return std::any_cast<const td::Tensor&>(kept); }

TEST_P(SavedHooks, BackwardComputesWithWhatUnpackGives) {
  const auto x = leaf({2., 3.});
  std::vector<std::vector<double>> packed;
  td::Tensor y;
  {
    const SavedTensorsHooks hooks(
        [&](const td::Tensor& t) {
          EXPECT_FALSE(t.requires_grad());
          EXPECT_FALSE(td::is_grad_enabled());
          packed.push_back({t[0].item<double>(), t[1].item<double>()});
          return std::any(t * 10);
        },
        as_it_was);
    y = (x * x).sum();  // both factors are kept
  }
  const auto z = (x * x).sum();  // behind the scope
  EXPECT_EQ(packed, (std::vector<std::vector<double>>{{2, 3}, {2, 3}}));
  y.backward();
  EXPECT_TRUE(td::equal(x.grad(), td::tensor({40.F, 60.F}, device())));
  x.grad() = td::Tensor();
  z.backward();
  EXPECT_TRUE(td::equal(x.grad(), td::tensor({4.F, 6.F}, device())));
}

TEST_P(SavedHooks, TheInnermostScopeCountsAndEachEnds) {
  const auto x = leaf({2.});
  int outer = 0, inner = 0;
  const SavedTensorsHooks first(
      [&](const td::Tensor& t) {
        ++outer;
        return std::any(t);
      },
      as_it_was);
  {
    const SavedTensorsHooks second(
        [&](const td::Tensor& t) {
          ++inner;
          return std::any(t);
        },
        as_it_was);
    x.exp().backward();
  }
  EXPECT_EQ(outer, 0);
  EXPECT_EQ(inner, 1);
  x.exp().backward();
  EXPECT_EQ(outer, 1);
}

TEST_P(SavedHooks, GradientsOfGradientsPassThroughWhatWasPacked) {
  const auto x = leaf({2., 3.});
  const SavedTensorsHooks hooks([](const td::Tensor& t) { return std::any(t.clone()); }, as_it_was);
  const auto y = x.exp() * x * x;  // e^x x^2: a leaf, a result of a node, a result between
  const auto first = td::grad({y.sum()}, {x}, {.create_graph = true})[0];
  const auto second = td::grad({first.sum()}, {x})[0];
  const auto value = x.detach();
  EXPECT_TRUE(td::allclose(first.detach(), value.exp() * (value * value + value * 2)));
  EXPECT_TRUE(td::allclose(second, value.exp() * (value * value + value * 4 + 2)));
}

TEST_P(SavedHooks, NetworksGiveTheSameGradients) {
  td::manual_seed(3);
  td::nn::Sequential net(td::nn::Conv2d(1, 4, 3), td::nn::BatchNorm2d(4), td::nn::ReLU(), td::nn::Flatten(), td::nn::Linear(4 * 36, 16),
                         td::nn::LayerNorm({16}), td::nn::GELU(), td::nn::Linear(16, 3));
  net.to(device());
  const auto x = td::randn({2, 1, 8, 8}, device()), target = td::tensor({0, 2}, device());
  const auto gradients = [&](bool on_host) {
    net.zero_grad();
    std::optional<SaveOnCPU> scope;
    if (on_host) scope.emplace();
    const auto loss = td::cross_entropy(net(x), target);
    scope.reset();
    loss.backward();
    std::vector<td::Tensor> all;
    for (const auto& parameter : net.parameters()) all.push_back(parameter.grad().clone());
    return all;
  };
  const auto plain = gradients(false), kept = gradients(true);
  ASSERT_EQ(plain.size(), kept.size());
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(td::equal(plain[i], kept[i])) << i;
}

TEST_P(SavedHooks, ErrorsOfHooksReachTheCallerAndLeaveAllUsable) {
  const auto x = leaf({2.});
  {
    const SavedTensorsHooks hooks([](const td::Tensor&) -> std::any { throw std::runtime_error("no room"); }, as_it_was);
    EXPECT_THROW((void)x.exp(), std::runtime_error);
    EXPECT_THROW((void)x.exp(), std::runtime_error);  // still in the scope
  }
  {
    const SavedTensorsHooks hooks(
        [](const td::Tensor& t) {
          t.add_(1);
          return std::any(t);
        },
        as_it_was);
    EXPECT_ERROR((void)x.exp(), td::Error, "pack hook is modifying its input in place");
  }
  td::Tensor y;
  {
    const SavedTensorsHooks hooks([](const td::Tensor& t) { return std::any(t); }, [](const std::any&) { return td::Tensor(); });
    y = x.exp();
  }
  EXPECT_ERROR(y.backward(), td::Error, "unpack_hook expected to be a Tensor");
  x.exp().backward();
  EXPECT_TRUE(x.grad().defined());
}

TEST_P(SavedHooks, FunctionsOfOnesOwnAreAsked) {
  struct Cube : td::autograd::Function<Cube> {
    static td::Tensor forward(td::autograd::Context& context, const td::Tensor& x) {
      context.save_for_backward({x});
      return x * x * x;
    }
    static std::vector<td::Tensor> backward(td::autograd::Context& context, const std::vector<td::Tensor>& g) {
      const auto x = context.saved()[0];
      return {g[0] * x * x * 3};
    }
  };
  const auto x = leaf({2.});
  int packed = 0, unpacked = 0;
  const SavedTensorsHooks hooks(
      [&](const td::Tensor& t) {
        ++packed;
        return std::any(t);
      },
      [&](const std::any& kept) {
        ++unpacked;
        return as_it_was(kept);
      });
  const auto y = Cube::apply(x);
  EXPECT_EQ(packed, 1);
  y.backward();
  EXPECT_EQ(unpacked, 1);
  EXPECT_TRUE(td::equal(x.grad(), td::tensor({12.F}, device())));
}

TEST_P(SavedHooks, AChangeInPlaceIsFoundOutOnTheHostAndHarmlessOnAGPU) {
  const auto x = leaf({2., 3.}), y = x * 1;
  td::Tensor z;
  {
    const SaveOnCPU scope;
    z = (y * y).sum();
  }
  y.detach().mul_(10);
  if (!device().is_cuda()) {
    EXPECT_ERROR(z.backward(), td::Error, "modified by an inplace operation");
  } else {
    z.backward();
    EXPECT_TRUE(td::equal(x.grad(), td::tensor({4.F, 6.F}, device())));
  }
}

TEST_P(SavedHooks, ACheckpointKeepsItsInputsByThem) {
  td::manual_seed(4);
  td::nn::Linear linear(5, 5);
  linear.to(device());
  const auto x = td::randn({2, 5}, td::Options{.device = device(), .requires_grad = true});
  const auto gradients = [&](bool on_host) {
    linear.zero_grad();
    std::optional<SaveOnCPU> scope;
    if (on_host) scope.emplace();
    const auto y = td::nn::checkpoint([&](const std::vector<td::Tensor>& in) { return std::vector<td::Tensor>{linear(in[0]).sin()}; }, {x});
    scope.reset();
    return td::grad({y[0].square().sum()}, {x, linear.weight});
  };
  const auto plain = gradients(false), kept = gradients(true);
  EXPECT_TRUE(td::equal(plain[0], kept[0]));
  EXPECT_TRUE(td::equal(plain[1], kept[1]));
}

TEST_P(SavedHooks, OnTheHostTheGPUsMemoryIsFree) {
  if (!device().is_cuda()) GTEST_SKIP() << "about a GPU's memory";
  constexpr int64_t kSide = 512;  // 1 MiB a tensor
  for (const bool pinned : {false, true}) {
    const auto x = td::rand({kSide, kSide}, td::Options{.device = device(), .requires_grad = true});
    const auto chain = [&] {
      auto y = x;
      for (int i = 0; i < 8; ++i) y = y.sin();
      return y;
    };
    const auto plain_before = td::cuda::memory_allocated(device());
    const auto plain = chain();
    const auto with_graph = td::cuda::memory_allocated(device()) - plain_before;
    const auto expected = td::grad({plain.sum()}, {x})[0];
    const auto before = td::cuda::memory_allocated(device());
    td::Tensor y;
    {
      const SaveOnCPU scope(pinned);
      y = chain();
    }
    EXPECT_GE(with_graph, 8U * kSide * kSide * 4);
    EXPECT_LE(td::cuda::memory_allocated(device()) - before, kSide * kSide * 4 + 4096U);  // y alone
    EXPECT_TRUE(td::equal(td::grad({y.sum()}, {x})[0], expected));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SavedHooks, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
