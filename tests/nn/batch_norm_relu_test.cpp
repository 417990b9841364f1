// ReLU of a batch norm's temporary result: its gradient is a part of batch norm's, and everything is as where the two are apart.
#include "nn/support.h"
#include "support/counted.h"

namespace td = tandem;
namespace nn = td::nn;

namespace {

using tandem::testing::OnDevice;
using tandem::testing::times;
using tandem::testing::values;

class BatchNormReLU : public OnDevice {};

struct Case {
  td::Shape sizes;
  td::DType dtype = td::kFloat32;
  bool affine = true, input_wanted = true;
};

/// Result and gradients, each as one list of numbers.
std::vector<std::vector<double>> results(const Case& of, const std::string& device, bool apart) {
  td::manual_seed(3);
  const auto on = td::Options{.dtype = of.dtype, .device = device};
  const int64_t channels = of.sizes[1];
  auto x = td::randn(of.sizes, on), weight = td::randn({channels}, on), bias = td::randn({channels}, on);
  auto mean = td::zeros({channels}, on), variance = td::ones({channels}, on);
  const auto to = td::randn(of.sizes, on);
  if (channels > 2) weight.select(0, 1).zero_();
  x.requires_grad_(of.input_wanted);
  weight.requires_grad_();
  bias.requires_grad_();
  td::BatchNormOptions options{.training = true};
  if (of.affine) options.weight = weight, options.bias = bias;
  td::Tensor z;
  if (apart) {
    const auto y = td::batch_norm(x, mean, variance, options);
    z = td::relu(y);
  } else {
    z = td::relu(td::batch_norm(x, mean, variance, options));
  }
  EXPECT_EQ(z.grad_fn()->name(), std::string("ReluBackward0"));
  EXPECT_EQ(z.grad_fn()->next_functions(), std::vector<std::string>{"NativeBatchNormBackward0"});
  (z * to).sum().backward();
  std::vector<std::vector<double>> all = {values(z), values(mean), values(variance)};
  for (const td::Tensor& leaf : {x, weight, bias})
    if (leaf.grad().defined()) all.push_back(values(leaf.grad()));
  return all;
}

TEST_P(BatchNormReLU, IsBitForBitWhatBothAreApart) {
  const Case cases[] = {{{4, 5, 6, 7}},
                        {{2, 3, 70, 70}},
                        {{64, 33}},
                        {{8, 4, 9}},
                        {{2, 3, 4, 5, 2}},
                        {{4, 5, 6, 7}, td::kFloat64},
                        {{4, 5, 6, 7}, td::kFloat16},
                        {{4, 5, 6, 7}, td::kBFloat16},
                        {{64, 33}, td::kFloat64},
                        {{4, 5, 6, 7}, td::kFloat32, false},
                        {{4, 5, 6, 7}, td::kFloat32, true, false},
                        {{64, 33}, td::kFloat32, true, false}};
  for (const Case& each : cases) {
    if (!each.affine && !each.input_wanted) continue;
    SCOPED_TRACE(td::str(each.sizes, " ", each.dtype, " affine ", each.affine, " input ", each.input_wanted));
    EXPECT_EQ(results(each, GetParam(), false), results(each, GetParam(), true));
  }
}

TEST_P(BatchNormReLU, TakesOnePassLess) {
  nn::BatchNorm2d norm(3);
  norm.to(device());
  const auto x = td::randn({2, 3, 4, 4}, {.device = device(), .requires_grad = true});
  EXPECT_EQ(times("threshold_backward", [&] { td::relu(norm(x)).sum().backward(); }), 0);
  EXPECT_EQ(times("threshold_backward",
                  [&] {
                    const auto y = norm(x);
                    td::relu(y).sum().backward();
                  }),
            1);
  nn::Sequential net(nn::BatchNorm2d(3), nn::ReLU());
  net.to(device());
  EXPECT_EQ(times("threshold_backward", [&] { net(x).sum().backward(); }), 0);
}

/// What else is done with the result sees its own gradient.
TEST_P(BatchNormReLU, LeavesOtherUsesAlone) {
  const auto gradient = [&](bool apart, const std::function<void(const td::Tensor&)>& before,
                            const std::function<td::Tensor(const td::Tensor&)>& more) {
    td::manual_seed(5);
    nn::BatchNorm2d norm(3);
    norm.to(device());
    const auto x = td::randn({2, 3, 4, 4}, {.device = device(), .requires_grad = true});
    auto y = norm(x);
    before(y);
    const auto other = more(y);
    const td::Tensor kept = apart ? y : td::Tensor();
    (td::relu(std::move(y)).sum() + other).backward();
    return values(x.grad());
  };
  const auto nothing = [](const td::Tensor&) {};
  const auto none = [&](const td::Tensor&) { return td::zeros({}, device()); };
  const auto twice = [](const td::Tensor& y) { return (y * 2).sum(); };    // keeps y's history, not y
  const auto squared = [](const td::Tensor& y) { return (y * y).sum(); };  // keeps y
  const auto viewed = [](const td::Tensor& y) { return (y.select(0, 0) * 3).sum(); };
  const auto hook = [](const td::Tensor& y) { y.register_hook([](const td::Tensor& g) { return g * 5; }); };
  for (const auto& more : std::vector<std::function<td::Tensor(const td::Tensor&)>>{none, twice, squared, viewed})
    for (const auto& before : std::vector<std::function<void(const td::Tensor&)>>{nothing, hook})
      EXPECT_EQ(gradient(false, before, more), gradient(true, before, more));
}

TEST_P(BatchNormReLU, RetainsTheGradientOfAResultThatIsKept) {
  nn::BatchNorm2d norm(2);
  norm.to(device());
  const auto x = td::randn({2, 2, 3, 3}, {.device = device(), .requires_grad = true});
  const auto y = norm(x);
  const auto z = td::relu(y);
  y.retain_grad();
  z.sum().backward();
  EXPECT_EQ(values(y.grad()), values(y.gt(0).to(td::kFloat32)));
  const auto again = norm(x);
  const auto gradients = td::grad({td::relu(again).sum()}, {again});
  EXPECT_EQ(values(gradients[0]), values(again.gt(0).to(td::kFloat32)));
}

TEST_P(BatchNormReLU, MayBeWalkedTwiceAndDifferentiatedTwice) {
  nn::BatchNorm2d norm(3);
  norm.to(device());
  const auto x = td::randn({2, 3, 4, 4}, {.device = device(), .requires_grad = true});
  const auto loss = td::relu(norm(x)).square().sum();
  const auto first = td::grad({loss}, {x}, {.retain_graph = true}), second = td::grad({loss}, {x}, {.retain_graph = true});
  EXPECT_EQ(values(first[0]), values(second[0]));
  const auto third = td::grad({loss}, {x}, {.create_graph = true});
  tandem::testing::expect_near(third[0], values(first[0]), 1e-4);
  EXPECT_TRUE(third[0].requires_grad());

  nn::BatchNorm1d wide(3, {.dtype = td::kFloat64});
  wide.to(device());
  const auto f = [&](const std::vector<td::Tensor>& in) { return td::relu(wide(in[0])); };
  const auto points = td::randn({5, 3}, {.dtype = td::kFloat64, .device = device(), .requires_grad = true});
  EXPECT_TRUE(td::autograd::gradcheck(f, {points}));
  EXPECT_TRUE(td::autograd::gradgradcheck(f, {points}));
}

TEST_P(BatchNormReLU, GoesThroughTheHooksOfModules) {
  nn::BatchNorm2d norm(3);
  norm.to(device());
  int calls = 0;
  td::Tensor seen;
  norm.register_forward_hook([&](nn::ModuleBase&, const td::Tensor&, const td::Tensor& y) {
    ++calls;
    seen = y;
    return td::Tensor();
  });
  const auto x = td::randn({2, 3, 4, 4}, {.device = device(), .requires_grad = true});
  const auto z = td::relu(norm(x));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(values(td::relu(seen)), values(z));
  EXPECT_LT(seen.min().item<double>(), 0);
  z.sum().backward();
  EXPECT_TRUE(x.grad().defined());
}

TEST_P(BatchNormReLU, OfNoSamplesAndOfRunningFigures) {
  nn::BatchNorm2d norm(3);
  norm.to(device());
  const auto none = td::randn({0, 3, 4, 4}, {.device = device(), .requires_grad = true});
  td::relu(norm(none)).sum().backward();
  EXPECT_EQ(none.grad().sizes(), none.sizes());
  EXPECT_EQ(values(norm.weight.grad()), std::vector<double>(3, 0));
  norm.eval();
  const auto x = td::randn({2, 3, 4, 4}, {.device = device(), .requires_grad = true});
  td::relu(norm(x)).sum().backward();
  EXPECT_TRUE(x.grad().defined());
}

INSTANTIATE_TEST_SUITE_P(Devices, BatchNormReLU, tandem::testing::every_device());

}  // namespace
