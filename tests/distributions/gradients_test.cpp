// Gradients of densities, and of samples.
#include <cmath>
#include <map>

#include "distributions/cases.h"

namespace tandem::testing {
namespace {

class GradientsOn : public OnDevice {
 protected:
  [[nodiscard]] static std::vector<Tensor> leaves(const std::vector<double>& numbers, const Shape& sizes = {}) {
    std::vector<Tensor> tensors = tensors_of(numbers, sizes, device(), kFloat64);
    for (const Tensor& each : tensors) (void)each.requires_grad_();
    return tensors;
  }
  /// A distribution made of tensors that gradcheck changes.
  [[nodiscard]] static auto of(const Case& one, const std::function<Tensor(const td::Distribution&)>& f) {
    return [one, f](const std::vector<Tensor>& x) {
      std::vector<Tensor> parameters(x.begin(), x.begin() + static_cast<int64_t>(one.parameters.size()));
      if (std::string(one.name) == "Binomial") parameters[0] = full({}, one.parameters[0], {.dtype = kFloat64, .device = device()});
      return f(*make<Tensor>(one.name, parameters, {.validate_args = false}));
    };
  }
};

TEST_P(GradientsOn, OfDensitiesAgreeWithDifferences) {
  for (const Case& one : cases())
    for (const double value : one.values) {
      if (std::string(one.name) == "Laplace" && value == one.parameters[0]) continue;  // where the density has a corner
      const Tensor at = full({}, value, {.dtype = kFloat64, .device = device()});
      EXPECT_TRUE(autograd::gradcheck(of(one, [&](const td::Distribution& d) { return d.log_prob(at) + 0 * d.mean().nan_to_num(); }),
                                      leaves(one.parameters)))
          << one.name;
    }
}

TEST_P(GradientsOn, OfMomentsAndEntropiesAgreeWithDifferences) {
  for (const Case& one : cases()) {
    if (std::isfinite(one.mean)) {
      EXPECT_TRUE(autograd::gradcheck(of(one, [](const td::Distribution& d) { return d.mean() + d.variance(); }), leaves(one.parameters)))
          << one.name;
    }
    if (std::string(one.name) == "Poisson") continue;
    EXPECT_TRUE(autograd::gradcheck(of(one, [](const td::Distribution& d) { return d.entropy() + 0 * d.variance().nan_to_num(0, 0); }),
                                    leaves(one.parameters)))
        << one.name;
  }
}

TEST_P(GradientsOn, OfSharesAgreeWithDifferences) {
  for (const char* name : {"Normal", "LogNormal", "HalfNormal", "Laplace", "Cauchy", "Gumbel", "Uniform", "Gamma", "Chi2", "Exponential"})
    for (const Case& one : cases()) {
      if (std::string(one.name) != name) continue;
      const std::vector<double>& p = one.parameters;
      std::vector<double> numbers = p;
      numbers.push_back(one.values[2]);  // the value's gradient, too
      const auto cdf = [&](const std::vector<Tensor>& x) {
        return make<Tensor>(name, {x.begin(), x.begin() + static_cast<int64_t>(p.size())}, {.validate_args = false})->cdf(x[p.size()]);
      };
      EXPECT_TRUE(autograd::gradcheck(cdf, leaves(numbers))) << name;
    }
}

/// What stays at its place when parameters move, at the same random numbers: how samples move is a matter of differences.
TEST_P(GradientsOn, OfSamplesAgreeWithDifferences) {
  for (const char* name : {"Normal", "LogNormal", "HalfNormal", "Laplace", "Cauchy", "Gumbel", "Uniform", "Exponential"})
    for (const Case& one : cases()) {
      if (std::string(one.name) != name) continue;
      const auto draw = of(one, [](const td::Distribution& d) {
        manual_seed(7);
        return d.rsample({5});
      });
      EXPECT_TRUE(autograd::gradcheck(draw, leaves(one.parameters))) << name;
    }
}

/// Samples by rejection: as the parameter moves, the share below the sample stays, which is the integral of the density.
TEST_P(GradientsOn, OfSamplesByRejectionKeepTheShareBelow) {
  for (const Case& one : cases()) {
    const std::string name = one.name;
    if (name != "Gamma" && name != "Chi2" && name != "Beta") continue;
    for (size_t k = 0; k < one.parameters.size(); ++k) {
      const std::vector<Tensor> p = leaves(one.parameters);
      const Tensor x = make<Tensor>(name, p)->rsample();
      const double got = grad({x}, {p[k]})[0].item<double>(), sample = x.item<double>();
      // The integral from 0 to the sample over t = sample * u^8, which is smooth at 0, by Simpson's rule.
      const int64_t n = 4001;
      const Tensor u = linspace(0, 1, n, {.dtype = kFloat64}).slice(0, 1);
      const Tensor weights = tensor({4.0, 2.0}, kFloat64).repeat({(n - 1) / 2}) / (3.0 * (n - 1));
      const auto share = [&](double moved) {
        std::vector<double> q = one.parameters;
        q[k] += moved;
        const Tensor density =
            make<Tensor>(name, tensors_of(q, {}, cpu(), kFloat64), {.validate_args = false})->log_prob(sample * u.pow(8)).exp();
        const Tensor terms = density * (8 * sample) * u.pow(7) * weights;
        return terms.sum().item<double>() - terms.select(0, n - 2).item<double>() / 2;
      };
      const double slope = (share(1e-4) - share(-1e-4)) / 2e-4;
      const double density = std::exp(make<Tensor>(name, tensors_of(one.parameters, {}, cpu(), kFloat64))->log_prob(sample).item<double>());
      const double expected = -slope / density;
      EXPECT_NEAR(got, expected, 2e-5 * std::max(1.0, std::abs(expected))) << name << " " << k << " at " << sample;
    }
  }
}

/// The mean over many samples of the gradient of f(x), and five times its standard error.
std::pair<double, double> mean_gradient(const Tensor& parameter, const Tensor& f) {
  const std::vector<double> each = values(grad({f}, {parameter}, {.grad_outputs = {ones_like(f)}})[0]);
  double sum = 0, squares = 0;
  for (const double g : each) sum += g, squares += g * g;
  const double n = static_cast<double>(each.size()), mean = sum / n;
  return {mean, 5 * std::sqrt((squares / n - mean * mean) / n)};
}

TEST_P(GradientsOn, OfDirichletSamplesAreThoseOfTheirMoments) {
  const int64_t n = 20000;
  const std::vector<double> numbers = {0.6, 1.5, 2.5};
  const Tensor a = tensor(numbers, {.dtype = kFloat64, .device = device()}).expand({n, 3}).clone().requires_grad_();
  const Tensor x = td::Dirichlet(a).rsample();
  expect_near(x.sum(-1).mean(), {1.0}, 1e-12);
  // The mean of x0^2 is a0 (a0 + 1) / (A (A + 1)).
  const Tensor f = x.select(-1, 0).square();
  const Tensor all = grad({f}, {a}, {.grad_outputs = {ones_like(f)}})[0];
  const auto moment = [&](double a0, double total) { return a0 * (a0 + 1) / (total * (total + 1)); };
  const double h = 1e-5, total = 4.6;
  const std::vector<double> expected = {(moment(0.6 + h, total + h) - moment(0.6 - h, total - h)) / (2 * h),
                                        (moment(0.6, total + h) - moment(0.6, total - h)) / (2 * h),
                                        (moment(0.6, total + h) - moment(0.6, total - h)) / (2 * h)};
  for (int64_t k = 0; k < 3; ++k) {
    const std::vector<double> each = values(all.select(-1, k));
    double sum = 0, squares = 0;
    for (const double g : each) sum += g, squares += g * g;
    const double mean = sum / static_cast<double>(n),
                 error = std::sqrt((squares / static_cast<double>(n) - mean * mean) / static_cast<double>(n));
    EXPECT_NEAR(mean, expected[static_cast<size_t>(k)], 5 * error) << k;
    EXPECT_LT(error, std::abs(expected[static_cast<size_t>(k)]) / 10) << "the test sees nothing";
  }
}

TEST_P(GradientsOn, OfStudentsSamplesAreThoseOfTheirMoments) {
  const int64_t n = 40000;
  const Tensor df = full({n}, 4.5, {.dtype = kFloat64, .device = device(), .requires_grad = true});
  const Tensor loc = full({n}, 0.5, {.dtype = kFloat64, .device = device(), .requires_grad = true});
  const Tensor scale = full({n}, 2.0, {.dtype = kFloat64, .device = device(), .requires_grad = true});
  const Tensor x = td::StudentT(df, loc, scale).rsample();
  const std::vector<Tensor> moved = grad({x}, {loc, scale}, {.grad_outputs = {ones_like(x)}, .retain_graph = true});
  EXPECT_TRUE(allclose(moved[0], ones_like(loc)));
  EXPECT_TRUE(allclose(moved[1], ((x - loc) / scale).detach()));
  // The mean of log(((x - loc) / scale)^2) is digamma(1/2) - digamma(df/2) + log(df).
  const auto [mean, error] = mean_gradient(df, ((x - loc) / scale).square().log());
  const auto expected_of = [](double d) { return -tensor(d / 2, kFloat64).digamma().item<double>() + std::log(d); };
  const double expected = (expected_of(4.5 + 1e-4) - expected_of(4.5 - 1e-4)) / 2e-4;
  EXPECT_NEAR(mean, expected, error);
  EXPECT_LT(error, std::abs(expected) / 2) << "the test sees nothing";
}

TEST_P(GradientsOn, OfVectorsAgreeWithDifferences) {
  const Options options{.dtype = kFloat64, .device = device()};
  const Tensor loc = tensor({0.5, -1.0, 2.0}, options).requires_grad_();
  const Tensor root = tensor({{1.0, 0.0, 0.0}, {0.3, 0.8, 0.0}, {-0.2, 0.1, 0.5}}, options).requires_grad_();
  const Tensor at = tensor({{0.0, -0.5, 1.5}, {1.0, 0.0, 0.5}}, options);
  const std::map<std::string, std::function<td::MultivariateNormal(const Tensor&, const Tensor&)>> ways = {
      {"scale_tril",
       [](const Tensor& m, const Tensor& l) { return td::MultivariateNormal(m, {.scale_tril = l.tril(), .validate_args = false}); }},
      {"covariance",
       [](const Tensor& m, const Tensor& l) {
         return td::MultivariateNormal(m, {.covariance_matrix = l.matmul(l.mT()), .validate_args = false});
       }},
      {"precision", [](const Tensor& m, const Tensor& l) {
         return td::MultivariateNormal(m, {.precision_matrix = l.matmul(l.mT()), .validate_args = false});
       }}};
  for (const auto& [name, way] : ways) {
    EXPECT_TRUE(autograd::gradcheck([&](const std::vector<Tensor>& x) { return way(x[0], x[1]).log_prob(at); }, {loc, root})) << name;
    EXPECT_TRUE(autograd::gradcheck([&](const std::vector<Tensor>& x) { return way(x[0], x[1]).entropy() + 0 * x[0].sum(); }, {loc, root}))
        << name;
    EXPECT_TRUE(autograd::gradcheck(
        [&](const std::vector<Tensor>& x) {
          manual_seed(3);
          return way(x[0], x[1]).rsample({2});
        },
        {loc, root}))
        << name;
  }
  const Tensor a = tensor({0.6, 1.5, 2.5}, options).requires_grad_();
  const Tensor shares = tensor({0.2, 0.3, 0.5}, options);
  EXPECT_TRUE(autograd::gradcheck([&](const std::vector<Tensor>& x) { return td::Dirichlet(x[0]).log_prob(shares); }, {a}));
  EXPECT_TRUE(autograd::gradcheck([&](const std::vector<Tensor>& x) { return td::Dirichlet(x[0]).entropy(); }, {a}));
  for (const bool by_logits : {false, true}) {
    const auto given = [&](const Tensor& x) { return by_logits ? td::ProbsOrLogits{.logits = x} : td::ProbsOrLogits{.probs = x}; };
    EXPECT_TRUE(autograd::gradcheck([&](const std::vector<Tensor>& x) { return td::Categorical(given(x[0])).log_prob(1); }, {a}));
    EXPECT_TRUE(autograd::gradcheck([&](const std::vector<Tensor>& x) { return td::Categorical(given(x[0])).entropy(); }, {a}));
    EXPECT_TRUE(autograd::gradcheck(
        [&](const std::vector<Tensor>& x) {
          return td::Multinomial(5, given(x[0])).log_prob(tensor({1.0, 1.0, 3.0}, options));
        },
        {a}));
  }
}

TEST_P(GradientsOn, OfSamplesByRejectionHaveNoneThemselves) {
  const Tensor a = full({}, 2.0, {.dtype = kFloat64, .device = device(), .requires_grad = true});
  const Tensor x = td::Gamma(a, 1.0).rsample();
  const Tensor first = grad({x}, {a}, {.create_graph = true})[0];
  EXPECT_EQ(error_of<NotImplementedError>([&] { (void)grad({first}, {a}); }),
            "[rsample] the gradient of gamma, beta, Dirichlet and Student's t samples by a concentration has no gradient");
}

TEST_P(GradientsOn, AreNotRecordedBySample) {
  const Tensor loc = zeros({2}, {.device = device(), .requires_grad = true});
  const td::Normal d(loc, 1.0);
  EXPECT_FALSE(d.sample().requires_grad());
  EXPECT_TRUE(d.rsample().requires_grad());
  EXPECT_TRUE(d.log_prob(0).requires_grad());
  const NoGradGuard no_grad;
  EXPECT_FALSE(d.rsample().requires_grad());
}

INSTANTIATE_TEST_SUITE_P(Devices, GradientsOn, every_device(), device_name);

}  // namespace
}  // namespace tandem::testing
