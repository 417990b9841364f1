// Pointwise operations with parameters, factories and draws: values, result types and refusals.
#include <cmath>
#include <limits>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Arithmetic : public OnDevice {
 protected:
  static td::Tensor of(const td::NestedList& data) { return td::tensor(data, device()); }
};

TEST_P(Arithmetic, RoundedDivisionKeepsIntegers) {
  const auto a = of({7, -7}), b = of({2, 2});
  EXPECT_TRUE(td::equal(td::div(a, b, "floor"), of({3, -4})));
  EXPECT_TRUE(td::equal(td::div(a, b, "trunc"), of({3, -3})));
  EXPECT_NE(error_of([&] { (void)td::div(a, b, "up"); }).find("'trunc' or 'floor' but found 'up'"), std::string::npos);
  EXPECT_TRUE(td::equal(td::round(of({15.25, -14.75}), 1), of({15.2, -14.8})));
  EXPECT_EQ(td::float_power(of({2}), 3).dtype(), td::kFloat64);
}

/// Whole vectors of them, so that none goes the way of the others.
TEST_P(Arithmetic, RemaindersOfInfiniteDivisorsAreWhatIsDivided) {
  for (const auto dtype : {td::kFloat32, td::kFloat64}) {
    const auto x = td::full({64}, 3.5, {.dtype = dtype, .device = device()});
    EXPECT_TRUE(td::equal(td::fmod(x, INFINITY), x));
    EXPECT_TRUE(td::equal(td::remainder(x, INFINITY), x));
    EXPECT_TRUE(td::equal(td::fmod(-x, INFINITY), -x));
    EXPECT_TRUE(td::equal(td::floor_divide(x, td::full_like(x, INFINITY)), td::zeros_like(x)));
  }
}

/// A dimension of size 1 is contracted with any other: tensordot keeps the dtype, einsum's sum of integers is int64, as in PyTorch.
TEST_P(Arithmetic, IntegersAreContractedWithADimensionOfOne) {
  const td::Options options{.dtype = td::kInt32, .device = device()};
  const auto a = td::arange(12, options).view({3, 4}), b = td::full({1, 2}, 5, options),
             sums = td::tensor({{30, 30}, {110, 110}, {190, 190}});
  const auto dot = td::tensordot(a, b, td::Shape{1}, td::Shape{0}), turned = td::tensordot(b, a, td::Shape{0}, td::Shape{1});
  EXPECT_EQ(dot.dtype(), td::kInt32);
  EXPECT_TRUE(td::equal(dot.cpu().to(td::kInt64), sums));
  EXPECT_EQ(turned.dtype(), td::kInt32);
  EXPECT_TRUE(td::equal(turned.t().cpu().to(td::kInt64), sums));
  EXPECT_TRUE(td::equal(td::einsum("ij,jk->ik", {a, b}).cpu(), sums));
}

TEST_P(Arithmetic, RunningSumsOfLongRowsAddUp) {
  for (const int64_t n : {16384, 16385, 20001}) {  // long enough to be summed in parts; whole numbers, so every sum is exact
    const auto x = td::randint(-9, 10, {n}).to(device()), wanted = td::cumsum(x, 0).to(td::kFloat32), y = x.to(td::kFloat32);
    EXPECT_TRUE(td::equal(td::cumsum(y, 0), wanted)) << n;
    EXPECT_TRUE(td::equal(td::cumsum(td::stack({y, -y}, 1).select(1, 0), 0), wanted)) << n;
  }
}

TEST_P(Arithmetic, BoundsAreNumbersOrTensors) {
  const auto x = of({-2., 0., 3.});
  EXPECT_TRUE(td::equal(x.clamp(of({-1., 1., 1.}), of({1., 2., 2.})), of({-1., 1., 2.})));
  EXPECT_TRUE(td::equal(x.clamp(td::Tensor(), of({1.})), of({-2., 0., 1.})));
  EXPECT_TRUE(td::equal(td::clamp_min(of({1, 2}), 1.5), of({1.5, 2.})));  // promoted, as every pointwise operation
  auto y = of({1, 2});
  EXPECT_NE(error_of([&] { y.clamp_(1.5); }).find("result type Float can't be cast"), std::string::npos);
}

TEST_P(Arithmetic, InPlaceFormsKeepWhatTheirGradientNeeds) {
  const auto x = of({0.5, 1.}).requires_grad_();
  auto y = x * 1;
  y.sin_();
  y.clamp_(0.6);
  y.sum().backward();
  EXPECT_TRUE(td::allclose(x.grad(), of({0., std::cos(1.)})));
}

TEST_P(Arithmetic, RefusalsNameTheReason) {
  EXPECT_NE(error_of([&] { (void)td::pow(of({2}), -1); }).find("negative integer powers"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::add(of({2}), of({1}), 0.5); }).find("must not be a floating point number"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::gelu(of({1.}), "fast"); }).find("either none or tanh"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::silu(of({1})); }).find("not implemented for 'Long'"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::isclose(of({1.}), of({1})); }).find("Float did not match Long"), std::string::npos);
}

TEST_P(Arithmetic, IndicesOfTriangles) {
  EXPECT_TRUE(td::equal(td::tril_indices(2, 3, 0, {.device = device()}), of({{0, 1, 1}, {0, 0, 1}})));
  EXPECT_TRUE(td::equal(td::triu_indices(2, 3, 1, {.device = device()}), of({{0, 0, 1}, {1, 2, 2}})));
  EXPECT_EQ(td::tril_indices(0, 3, 0, {.device = device()}).sizes(), (td::Shape{2, 0}));
}

TEST_P(Arithmetic, DrawsFollowTheirWeights) {
  td::manual_seed(3);
  const auto p = of({{0., 1., 3.}, {1., 0., 0.}});
  const auto many = td::multinomial(p, 4000, true);
  EXPECT_EQ(many.sizes(), (td::Shape{2, 4000}));
  EXPECT_EQ((many[0] == 0).sum().item<int64_t>(), 0);
  EXPECT_NEAR((many[0] == 2).sum().item<double>(), 3000, 150);
  EXPECT_EQ(many[1].max().item<int64_t>(), 0);
  const auto two = td::multinomial(of({0.1, 0.2, 0.3, 0.4}), 4).sort().values;
  EXPECT_TRUE(td::equal(two, of({0, 1, 2, 3})));  // without replacement, all of them
  EXPECT_NE(error_of([&] { (void)td::multinomial(p, 4); }).find("without replacement"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::multinomial(of({-1., 2.}), 1); }).find("element < 0"), std::string::npos);
  const auto error = error_of([&] { (void)td::multinomial(of({{1., 2., 3.}, {0., 4., 0.}}), 2); });
  EXPECT_NE(error.find("not enough non-negative category to sample): 2 samples of 1 categories"), std::string::npos) << error;
  EXPECT_EQ(td::multinomial(of({{1., 0., 3.}, {0., 4., 5.}}), 2).sizes(), (td::Shape{2, 2}));
  EXPECT_EQ(td::multinomial(of({0., 4., 0.}), 1).item<int64_t>(), 1);
  EXPECT_EQ(td::multinomial(of({0., 4., 0.}), 2, true).sum().item<int64_t>(), 2);
}

/// A GPU is not waited for: it tells at the next synchronization.
TEST_P(Arithmetic, BernoulliRefusesWhatIsNoProbability) {
  const auto error = [](const td::Tensor& p) {
    return error_of([&] {
      (void)td::bernoulli(p);
      if (p.is_cuda()) td::cuda::synchronize(p.device());
    });
  };
  for (const auto dtype : {td::kFloat32, td::kFloat64, td::kBFloat16, td::kFloat16})
    for (const double bad : {1.5, -0.25, double(NAN), double(INFINITY)})
      for (const int64_t n : {1, 5000}) {
        const auto p = td::full({n}, 0.5, device()).to(dtype);
        EXPECT_EQ(error(p), "no error");
        p.select(0, n - 1).fill_(bad);
        EXPECT_NE(error(p).find(td::str("[bernoulli] expects probabilities between 0 and 1, but got ", bad)), std::string::npos)
            << error(p);
      }
  const auto ends = of({0., 1., -0.});
  EXPECT_TRUE(td::equal(td::bernoulli(ends), of({0., 1., 0.})));
  EXPECT_NE(error_of([&] {
              ends.bernoulli_(of({2., 0., 0.}));
              if (ends.is_cuda()) td::cuda::synchronize(ends.device());
            }).find("but got 2"),
            std::string::npos);
}

TEST_P(Arithmetic, DropoutOfChannelsAndOfSelu) {
  td::manual_seed(4);
  const auto y = td::dropout2d(td::ones({50, 20, 3, 3}, device()), 0.5);
  const auto sums = y.sum({2, 3});
  EXPECT_EQ(((sums == 0).sum() + (sums == 18).sum()).item<int64_t>(), 1000);
  const auto x = td::randn({100000}, device()), z = td::alpha_dropout(x, 0.3, true);
  EXPECT_NEAR(z.mean().item<double>(), 0, 0.03);
  EXPECT_NEAR(z.std().item<double>(), 1, 0.03);
  EXPECT_TRUE(td::alpha_dropout(x, 0.3).is_same(x));
}

TEST_P(Arithmetic, DropoutInPlaceIsDropout) {
  for (const bool transposed : {false, true}) {
    const auto leaf = td::randn({30, 20}, {.device = device(), .requires_grad = true});
    const auto weights = td::randn({30, 20}, device());
    const auto run = [&](bool in_place) {
      td::manual_seed(6);
      leaf.set_grad({});
      const auto x = leaf * 2;
      const auto at = transposed ? x.t() : x;
      if (in_place) {
        EXPECT_TRUE(td::dropout_(at, 0.3).is_same(at));
      }
      const auto y = in_place ? x : transposed ? td::dropout(at, 0.3).t() : td::dropout(at, 0.3);
      (y * weights).sum().backward();
      return y.detach();
    };
    const auto expected = run(false);
    const auto gradient = leaf.grad();
    EXPECT_TRUE(td::equal(run(true), expected));
    EXPECT_TRUE(td::equal(leaf.grad(), gradient));
  }
  const auto x = td::ones({4}, device());
  const auto version = x.version();
  EXPECT_EQ(td::dropout_(x, 0.5, false).version(), version);
  EXPECT_GT(td::dropout_(x, 0.5).version(), version);
  EXPECT_NE(error_of([&] { td::dropout_(td::ones({2}, {.device = device(), .requires_grad = true})); }).find("dropout_"),
            std::string::npos);
}

TEST_P(Arithmetic, GumbelSoftmaxIsOneHotWhereHard) {
  td::manual_seed(5);
  const auto logits = td::zeros({7, 3}, device()).requires_grad_();
  const auto y = td::gumbel_softmax(logits, 0.5, true);
  EXPECT_TRUE(td::equal((y == 1).sum(1), td::ones({7}, {.dtype = td::kInt64, .device = device()})));
  (y * td::randn({7, 3}, device())).sum().backward();
  EXPECT_GT(td::abs(logits.grad()).sum().item<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, Arithmetic, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
