// Distributions of vectors and of classes, and what several distributions make together.
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "distributions/cases.h"

namespace tandem::testing {
namespace {

class VectorsOn : public OnDevice {
 protected:
  [[nodiscard]] static Options options(DType dtype = kFloat64) { return {.dtype = dtype, .device = device()}; }
  [[nodiscard]] static Tensor covariance(DType dtype = kFloat64) {
    return tensor({{2.0, 0.5, 0.1}, {0.5, 1.0, -0.2}, {0.1, -0.2, 0.5}}, options(dtype));
  }
};

TEST_P(VectorsOn, MultivariateNormalIsThatOfSciPyByAnyMatrix) {
  // numpy.linalg.cholesky and inv of the covariance; scipy.stats.multivariate_normal(loc, covariance).logpdf([0, -0.5, 1.5]) and entropy().
  const std::vector<double> root = {
      1.4142135623730951, 0, 0, 0.35355339059327373, 0.9354143466934853, 0, 0.07071067811865475, -0.24053511772118197, 0.6611677980232077};
  const std::vector<double> inverse = {0.6013071895424836,   -0.3529411764705882, -0.261437908496732,
                                       -0.35294117647058826, 1.2941176470588234,  0.588235294117647,
                                       -0.261437908496732,   0.588235294117647,   2.287581699346405};
  for (const DType dtype : {kFloat64, kFloat32}) {
    const double near = dtype == kFloat64 ? 1e-12 : 1e-5;
    const Tensor loc = tensor({0.5, -1.0, 2.0}, options(dtype)), at = tensor({0.0, -0.5, 1.5}, options(dtype));
    for (const td::MultivariateNormalOptions& matrix :
         {td::MultivariateNormalOptions{.covariance_matrix = covariance(dtype)},
          td::MultivariateNormalOptions{.precision_matrix = tensor(inverse, options(dtype)).view({3, 3})},
          td::MultivariateNormalOptions{.scale_tril = tensor(root, options(dtype)).view({3, 3})}}) {
      const td::MultivariateNormal d(loc, matrix);
      EXPECT_EQ(d.batch_shape(), Shape{});
      EXPECT_EQ(d.event_shape(), Shape{3});
      expect_near(d.log_prob(at), {-3.021568687493734}, near * 10);
      expect_near(d.log_prob(at.expand({2, 3})), {-3.021568687493734, -3.021568687493734}, near * 10);
      expect_near(d.entropy(), {4.122875877036218}, near * 10);
      expect_near(d.mean(), {0.5, -1, 2});
      expect_near(d.mode(), {0.5, -1, 2});
      expect_near(d.variance(), {2, 1, 0.5}, near * 10);
      expect_near(d.scale_tril(), root, near * 10);
      expect_near(d.covariance_matrix(), values(covariance()), near * 10);
      expect_near(d.precision_matrix(), inverse, near * 10);
      const Tensor samples = d.sample({20000});
      EXPECT_EQ(samples.sizes(), Shape({20000, 3}));
      EXPECT_EQ(samples.dtype(), dtype);
      expect_near(samples.mean(0), {0.5, -1, 2}, 5 * std::sqrt(2.0 / 20000));
      const Tensor apart = samples - samples.mean(0);
      expect_near(apart.mT().matmul(apart) / 20000, values(covariance()), 0.12);  // five deviations of the largest
      const td::MultivariateNormal larger = d.expand({4, 2});
      EXPECT_EQ(larger.sample({5}).sizes(), Shape({5, 4, 2, 3}));
      EXPECT_EQ(larger.covariance_matrix().sizes(), Shape({4, 2, 3, 3}));
      EXPECT_EQ(larger.variance().sizes(), Shape({4, 2, 3}));
      expect_near(larger.entropy(), std::vector<double>(8, 4.122875877036218), near * 10);
      EXPECT_EQ(larger.log_prob(at).sizes(), Shape({4, 2}));
    }
  }
  const td::MultivariateNormal batches(zeros({4, 1, 3}, options()), covariance().expand({2, 3, 3}));
  EXPECT_EQ(batches.batch_shape(), Shape({4, 2}));
  EXPECT_EQ(batches.rsample({5}).sizes(), Shape({5, 4, 2, 3}));
  const td::MultivariateNormal none(zeros({0, 3}, options()), covariance());
  EXPECT_EQ(none.sample({2}).sizes(), Shape({2, 0, 3}));
  EXPECT_EQ(none.entropy().sizes(), Shape{0});
}

TEST_P(VectorsOn, DirichletIsThatOfSciPy) {
  for (const DType dtype : {kFloat64, kFloat32}) {
    const double near = dtype == kFloat64 ? 1e-8 : 1e-5;
    const td::Dirichlet d(tensor({0.5, 2.0, 3.5}, options(dtype)));
    EXPECT_EQ(d.batch_shape(), Shape{});
    EXPECT_EQ(d.event_shape(), Shape{3});
    // scipy.stats.dirichlet([0.5, 2, 3.5]).logpdf([0.125, 0.375, 0.5]), entropy(), mean() and var()
    expect_near(d.log_prob(tensor({0.125, 0.375, 0.5}, options(dtype))), {1.3401767639386}, near);
    expect_near(d.entropy(), {-2.0582311419371573}, near);
    expect_near(d.mean(), {1.0 / 12, 1.0 / 3, 7.0 / 12}, near);
    expect_near(d.variance(), {0.010912698412698412, 0.031746031746031744, 0.03472222222222222}, near);
    expect_near(d.mode(), {0, 1 / 3.5, 2.5 / 3.5}, near);
    expect_near(td::Dirichlet(tensor({0.5, 0.9, 0.2}, options(dtype))).mode(), {1, 0, 0});  // the first one, as PyTorch
    const Tensor samples = d.sample({20000});
    EXPECT_TRUE(d.support().check(samples).all());
    expect_near(samples.mean(0), {1.0 / 12, 1.0 / 3, 7.0 / 12}, 5 * std::sqrt(0.035 / 20000));
    expect_near(samples.var({0}), {0.010912698412698412, 0.031746031746031744, 0.03472222222222222}, 2e-3);
    EXPECT_EQ(d.expand({2}).rsample({4}).sizes(), Shape({4, 2, 3}));
  }
  EXPECT_EQ(td::Dirichlet(ones({0, 3}, options())).sample({2}).sizes(), Shape({2, 0, 3}));
}

TEST_P(VectorsOn, ClassesComeAsOftenAsTheirProbabilitiesSay) {
  for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16})
    for (const bool by_logits : {false, true}) {
      const double near = dtype == kFloat64 ? 1e-12 : dtype == kFloat32 ? 1e-6 : 2e-2;
      const Tensor weights = tensor({{2.0, 3.0, 5.0}, {1.0, 0.0, 1.0}}, options(dtype));
      const td::ProbsOrLogits given = by_logits ? td::ProbsOrLogits{.logits = weights.log()} : td::ProbsOrLogits{.probs = weights};
      const td::Categorical d(given);
      EXPECT_EQ(d.batch_shape(), Shape{2});
      EXPECT_EQ(d.event_shape(), Shape{});
      expect_near(d.probs(), {0.2, 0.3, 0.5, 0.5, 0, 0.5}, near);
      expect_near(d.logits().exp(), {0.2, 0.3, 0.5, 0.5, 0, 0.5}, near);
      expect_near(d.log_prob(2), {std::log(0.5), std::log(0.5)}, near);
      expect_near(d.log_prob(tensor({{0, 0}, {1, 2}}, device())), {std::log(0.2), std::log(0.5), std::log(0.3), std::log(0.5)}, near);
      expect_near(d.entropy(), {1.02965301406457366, std::log(2.0)}, near);
      expect_near(d.mode().select(0, 0), {2});
      EXPECT_TRUE(std::isnan(d.mean().select(0, 0).item<double>()));
      EXPECT_TRUE(std::isnan(d.variance().select(0, 0).item<double>()));
      const Tensor samples = d.sample({100, 100});
      EXPECT_EQ(samples.sizes(), Shape({100, 100, 2}));
      EXPECT_EQ(samples.dtype(), kInt64);
      EXPECT_EQ(samples.device(), device());
      const Tensor counted = one_hot(samples.view({-1, 2}), 3).to(kFloat64).mean(0);
      expect_near(counted, {0.2, 0.3, 0.5, 0.5, 0, 0.5}, 5 * std::sqrt(0.25 / 10000) + (is_half(dtype) ? 2e-3 : 0));
      EXPECT_EQ(counted.select(0, 1).select(0, 1).item<double>(), 0);  // a class of probability 0 never comes
      EXPECT_EQ(d.sample().sizes(), Shape{2});
      EXPECT_EQ(d.sample({0}).sizes(), Shape({0, 2}));
      EXPECT_EQ(d.enumerate_support().sizes(), Shape({3, 2}));
      EXPECT_EQ(d.enumerate_support(false).sizes(), Shape({3, 1}));
      EXPECT_EQ(d.expand({4, 2}).sample({5}).sizes(), Shape({5, 4, 2}));

      const td::OneHotCategorical h(given);
      EXPECT_EQ(h.batch_shape(), Shape{2});
      EXPECT_EQ(h.event_shape(), Shape{3});
      const Tensor vectors = h.sample({10000});
      EXPECT_EQ(vectors.sizes(), Shape({10000, 2, 3}));
      EXPECT_EQ(vectors.dtype(), dtype);
      EXPECT_TRUE(h.support().check(vectors).all());
      expect_near(vectors.to(kFloat64).mean(0), {0.2, 0.3, 0.5, 0.5, 0, 0.5}, 5 * std::sqrt(0.25 / 10000) + (is_half(dtype) ? 2e-3 : 0));
      expect_near(h.mean(), {0.2, 0.3, 0.5, 0.5, 0, 0.5}, near);
      expect_near(h.variance(), {0.16, 0.21, 0.25, 0.25, 0, 0.25}, near);
      expect_near(h.mode().select(0, 0), {0, 0, 1});
      expect_near(h.entropy(), {1.02965301406457366, std::log(2.0)}, near);
      expect_near(h.log_prob(tensor({0.0, 0.0, 1.0}, options(dtype))), {std::log(0.5), std::log(0.5)}, near);
      EXPECT_EQ(h.enumerate_support().sizes(), Shape({3, 2, 3}));
      EXPECT_EQ(h.enumerate_support(false).sizes(), Shape({3, 1, 3}));
      EXPECT_EQ(h.expand({4, 2}).sample({5}).sizes(), Shape({5, 4, 2, 3}));
    }
  EXPECT_EQ(td::Categorical(ones({0, 3}, options())).sample({2}).sizes(), Shape({2, 0}));
  expect_near(td::Categorical(tensor({1, 3}, device())).probs(), {0.25, 0.75});  // whole numbers are weights, too
}

TEST_P(VectorsOn, MultinomialIsThatOfSciPy) {
  for (const bool by_logits : {false, true}) {
    const Tensor probs = tensor({0.2, 0.3, 0.5}, options());
    const td::ProbsOrLogits given = by_logits ? td::ProbsOrLogits{.logits = probs.log()} : td::ProbsOrLogits{.probs = probs};
    const td::Multinomial d(5, given);
    EXPECT_EQ(d.batch_shape(), Shape{});
    EXPECT_EQ(d.event_shape(), Shape{3});
    EXPECT_EQ(d.total_count(), 5);
    // scipy.stats.multinomial(5, [0.2, 0.3, 0.5]).logpmf([1, 1, 3]) and entropy()
    expect_near(d.log_prob(tensor({1.0, 1.0, 3.0}, options())), {-1.8971199848858813}, 1e-12);
    expect_near(d.entropy(), {2.5918085962714987}, 1e-12);
    expect_near(d.mean(), {1, 1.5, 2.5});
    expect_near(d.variance(), {0.8, 1.05, 1.25});
    const Tensor samples = d.sample({2, 5000});
    EXPECT_EQ(samples.sizes(), Shape({2, 5000, 3}));
    EXPECT_TRUE((samples.sum(-1) == 5).all());
    expect_near(samples.view({-1, 3}).mean(0), {1, 1.5, 2.5}, 5 * std::sqrt(1.25 / 10000));
    EXPECT_EQ(d.expand({4, 2}).sample({3}).sizes(), Shape({3, 4, 2, 3}));
    EXPECT_EQ(d.expand({4, 2}).entropy().sizes(), Shape({4, 2}));
  }
  const td::Multinomial none(0, tensor({0.5, 0.5}, options()));
  expect_near(none.sample(), {0, 0});
  const td::Multinomial never(3, tensor({1.0, 0.0}, options()));
  expect_near(never.log_prob(tensor({3.0, 0.0}, options())), {0}, 1e-12);
}

TEST_P(VectorsOn, IndependentSumsOverItsDimensions) {
  const Tensor loc = arange(6, options()).view({2, 3}), scale = full({3}, 2.0, options());
  const td::Normal base(loc, scale);
  for (int64_t count = 0; count <= 2; ++count) {
    const td::Independent d(base, count);
    EXPECT_EQ(d.batch_shape(), Shape({2, 3}).slice(0, static_cast<size_t>(2 - count)));
    EXPECT_EQ(d.event_shape(), Shape({2, 3}).slice(static_cast<size_t>(2 - count), static_cast<size_t>(count)));
    EXPECT_TRUE(d.has_rsample());
    EXPECT_EQ(d.rsample({4}).sizes(), Shape({4, 2, 3}));
    EXPECT_EQ(d.sample().sizes(), Shape({2, 3}));
    expect_near(d.mean(), values(loc));
    expect_near(d.mode(), values(loc));
    expect_near(d.variance(), std::vector<double>(6, 4.0));
    Tensor log_prob = base.log_prob(loc), entropy = base.entropy();
    for (int64_t i = 0; i < count; ++i) log_prob = log_prob.sum(-1), entropy = entropy.sum(-1);
    expect_near(d.log_prob(loc), values(log_prob), 1e-12);
    expect_near(d.entropy(), values(entropy), 1e-12);
    Shape larger{5};
    for (const int64_t size : d.batch_shape()) larger.push_back(size);
    const td::Independent expanded = d.expand(larger);
    EXPECT_EQ(expanded.batch_shape(), larger);
    EXPECT_EQ(expanded.sample({4}).sizes(), Shape({4, 5, 2, 3}));
    EXPECT_EQ(d.base_dist().batch_shape(), Shape({2, 3}));
  }
  const td::MultivariateNormal vectors(zeros({2, 3}, options()), covariance());
  EXPECT_EQ(td::Independent(vectors, 1).event_shape(), Shape({2, 3}));
  EXPECT_EQ(td::Independent(vectors, 1).log_prob(zeros({4, 2, 3}, options())).sizes(), Shape{4});
  const td::Independent twice(td::Independent(base, 1), 1);
  EXPECT_EQ(twice.event_shape(), Shape({2, 3}));
  EXPECT_EQ(twice.repr(), "Independent(Independent(Normal(loc: [2, 3], scale: [2, 3]), 1), 1)");
  const td::Bernoulli bits(full({3}, 0.5, options()));
  EXPECT_EQ(td::Independent(bits, 0).enumerate_support().sizes(), Shape({2, 3}));
  EXPECT_FALSE(td::Independent(bits, 1).has_enumerate_support());
}

TEST_P(VectorsOn, ProbabilitiesAndLogitsAreTheSameDistribution) {
  const Tensor probs = tensor({0.1, 0.5, 0.8}, options());
  const Tensor logits = (probs / (1 - probs)).log();
  const auto expect_same = [](const td::Distribution& a, const td::Distribution& b, double value) {
    expect_near(a.log_prob(value), values(b.log_prob(value)), 1e-12);
    expect_near(a.mean(), values(b.mean()), 1e-12);
    expect_near(a.variance(), values(b.variance()), 1e-12);
    expect_near(a.entropy(), values(b.entropy()), 1e-12);
    manual_seed(5);
    const Tensor sample = a.sample({50});
    manual_seed(5);
    EXPECT_TRUE(sample.equal(b.sample({50})));
  };
  expect_same(td::Bernoulli(probs), td::Bernoulli({.logits = logits}), 1);
  expect_same(td::Geometric(probs), td::Geometric({.logits = logits}), 3);
  expect_same(td::Binomial(4, probs), td::Binomial(4, {.logits = logits}), 3);
  expect_near(td::Bernoulli(probs).logits(), values(logits), 1e-12);
  expect_near(td::Bernoulli({.logits = logits}).probs(), values(probs), 1e-12);
}

TEST_P(VectorsOn, ModesAreWhereTheDensityIsHighest) {
  const std::map<std::string, double> modes = {{"Normal", 0.5},   {"LogNormal", 0.85214378896621135},
                                               {"HalfNormal", 0}, {"Laplace", -0.5},
                                               {"Cauchy", 0.3},   {"Gumbel", 0.4},
                                               {"StudentT", 0.5}, {"Gamma", 1},
                                               {"Chi2", 1},       {"Exponential", 0},
                                               {"Beta", 0.75},    {"Bernoulli", 0},
                                               {"Geometric", 0},  {"Binomial", 3},
                                               {"Poisson", 3}};
  std::set<std::string> seen;
  for (const Case& one : cases()) {
    if (!seen.insert(one.name).second) continue;
    const auto d = make<Tensor>(one.name, tensors_of(one.parameters, {}, device(), kFloat64));
    const double mode = d->mode().item<double>();
    if (std::string(one.name) == "Uniform") {
      EXPECT_TRUE(std::isnan(mode));
    } else {
      EXPECT_NEAR(mode, modes.at(one.name), 1e-12) << one.name;
    }
  }
  EXPECT_TRUE(std::isnan(td::Bernoulli(0.5).mode().item<double>()));
}

TEST_P(VectorsOn, SupportsMayBeEnumerated) {
  expect_near(td::Bernoulli(full({2}, 0.3, options())).enumerate_support(), {0, 0, 1, 1});
  const td::Binomial d(3, full({2}, 0.3, options()));
  expect_near(d.enumerate_support(false), {0, 1, 2, 3});
  EXPECT_EQ(d.enumerate_support().sizes(), Shape({4, 2}));
  expect_near(d.log_prob(d.enumerate_support()).exp().sum(0), {1, 1}, 1e-12);
  const td::Binomial mixed(tensor({2.0, 3.0}, options()), 0.5);
  expect_near(mixed.mean(), {1, 1.5});
  EXPECT_EQ(error_of<NotImplementedError>([&] { (void)mixed.enumerate_support(); }),
            "[Binomial] Inhomogeneous total count not supported by `enumerate_support`.");
  EXPECT_EQ(error_of<NotImplementedError>([&] { (void)mixed.entropy(); }),
            "[Binomial] Inhomogeneous total count not supported by `entropy`.");
  EXPECT_EQ(error_of<NotImplementedError>([&] { (void)td::Normal(0, 1).enumerate_support(); }), "[Normal] has no enumerate_support()");
}

TEST_P(VectorsOn, TheSameSeedDrawsTheSameSamples) {
  for (const Case& one : cases()) {
    const auto d = make<Tensor>(one.name, tensors_of(one.parameters, {2}, device(), kFloat32));
    manual_seed(11);
    const Tensor first = d->sample({5});
    manual_seed(11);
    EXPECT_TRUE(first.equal(d->sample({5}))) << one.name;
    EXPECT_FALSE(std::string(one.name) != "Bernoulli" && first.equal(d->sample({5}))) << one.name;
  }
}

TEST(Distribution, IsCopiedAndPrinted) {
  const td::Normal d(0, tensor({1.0, 2.0}));
  std::ostringstream out;
  out << d << " " << td::Exponential(0.5) << " " << td::Binomial(3, {.logits = 0.5});
  EXPECT_EQ(out.str(), "Normal(loc: [2], scale: [2]) Exponential(rate: 0.5) Binomial(logits: 0.5, total_count: 3)");
  td::Normal copy = d;
  copy = td::Normal(1, 2);
  EXPECT_EQ(copy.loc().item<double>(), 1);
  EXPECT_EQ(d.batch_shape(), Shape{2});
  EXPECT_EQ(d.parameters()[1].name, std::string("scale"));
  EXPECT_EQ(d.parameters()[1].constraint.text(), "GreaterThan(lower_bound=0)");
  const td::Normal larger = d.expand({3, -1});
  EXPECT_EQ(larger.batch_shape(), Shape({3, 2}));
}

INSTANTIATE_TEST_SUITE_P(Devices, VectorsOn, every_device(), device_name);

}  // namespace
}  // namespace tandem::testing
