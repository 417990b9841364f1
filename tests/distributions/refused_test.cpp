// What distributions refuse, and what they do where nothing is checked.
#include <cmath>
#include <map>

#include "distributions/cases.h"

namespace tandem::testing {
namespace {

class RefusedOn : public OnDevice {
 protected:
  [[nodiscard]] static Tensor on_device(const NestedList& numbers) { return tensor(numbers, device()); }
};

/// The text of the ValueError.
template <class F>
std::string refusal(F&& f) {
  return error_of<ValueError>(std::forward<F>(f));
}

/// The start of every text about a parameter that is a number.
std::string wrong(const char* distribution, const char* parameter, const char* all, const char* constraint, const char* value) {
  return str("[", distribution, "] Expected parameter ", parameter, " (Tensor of sizes []) of distribution ", distribution, "(", all,
             ") to satisfy the constraint ", constraint, ", but found invalid values: ", value);
}

TEST(Refused, ParametersOutsideTheirConstraints) {
  const char *positive = "GreaterThan(lower_bound=0)", *real = "Real()", *unit = "Interval(lower_bound=0, upper_bound=1)";
  EXPECT_EQ(refusal([] { td::Normal(0, -1); }), wrong("Normal", "scale", "loc: 0, scale: -1", positive, "-1"));
  EXPECT_EQ(refusal([] { td::Normal(kNan, 1); }), wrong("Normal", "loc", "loc: nan, scale: 1", real, "nan"));
  EXPECT_EQ(refusal([] { td::Normal(0, kNan); }), wrong("Normal", "scale", "loc: 0, scale: nan", positive, "nan"));
  EXPECT_EQ(refusal([] { td::LogNormal(0, 0); }), wrong("LogNormal", "scale", "loc: 0, scale: 0", positive, "0"));
  EXPECT_EQ(refusal([] { td::HalfNormal(-2); }), wrong("HalfNormal", "scale", "scale: -2", positive, "-2"));
  EXPECT_EQ(refusal([] { td::Laplace(0, 0); }), wrong("Laplace", "scale", "loc: 0, scale: 0", positive, "0"));
  EXPECT_EQ(refusal([] { td::Cauchy(0, -3); }), wrong("Cauchy", "scale", "loc: 0, scale: -3", positive, "-3"));
  EXPECT_EQ(refusal([] { td::Gumbel(kNan, 1); }), wrong("Gumbel", "loc", "loc: nan, scale: 1", real, "nan"));
  EXPECT_EQ(refusal([] { td::StudentT(0); }), wrong("StudentT", "df", "df: 0, loc: 0, scale: 1", positive, "0"));
  EXPECT_EQ(refusal([] { td::StudentT(1, 0, -1); }), wrong("StudentT", "scale", "df: 1, loc: 0, scale: -1", positive, "-1"));
  EXPECT_EQ(refusal([] { td::Uniform(2, 1); }), wrong("Uniform", "low", "low: 2, high: 1", "LessThan(upper_bound=1)", "2"));
  EXPECT_EQ(refusal([] { td::Uniform(kNan, 1); }), wrong("Uniform", "low", "low: nan, high: 1", "LessThan(upper_bound=1)", "nan"));
  EXPECT_EQ(refusal([] { td::Gamma(-1, 1); }), wrong("Gamma", "concentration", "concentration: -1, rate: 1", positive, "-1"));
  EXPECT_EQ(refusal([] { td::Gamma(1, 0); }), wrong("Gamma", "rate", "concentration: 1, rate: 0", positive, "0"));
  EXPECT_EQ(refusal([] { td::Chi2(-1); }), wrong("Chi2", "df", "df: -1", positive, "-1"));
  EXPECT_EQ(refusal([] { td::Exponential(0); }), wrong("Exponential", "rate", "rate: 0", positive, "0"));
  EXPECT_EQ(refusal([] { td::Beta(0, 1); }), wrong("Beta", "concentration1", "concentration1: 0, concentration0: 1", positive, "0"));
  EXPECT_EQ(refusal([] { td::Bernoulli(1.5); }), wrong("Bernoulli", "probs", "probs: 1.5", unit, "1.5"));
  EXPECT_EQ(refusal([] { td::Bernoulli(-0.5); }), wrong("Bernoulli", "probs", "probs: -0.5", unit, "-0.5"));
  EXPECT_EQ(refusal([] { td::Bernoulli({.logits = kNan}); }), wrong("Bernoulli", "logits", "logits: nan", real, "nan"));
  EXPECT_EQ(refusal([] { td::Geometric(0); }), wrong("Geometric", "probs", "probs: 0", positive, "0"));
  EXPECT_EQ(refusal([] { td::Geometric(2); }), wrong("Geometric", "probs", "probs: 2", unit, "2"));
  EXPECT_EQ(refusal([] { td::Binomial(2.5, 0.5); }),
            wrong("Binomial", "total_count", "probs: 0.5, total_count: 2.5", "IntegerGreaterThan(lower_bound=0)", "2.5"));
  EXPECT_EQ(refusal([] { td::Binomial(-1, 0.5); }),
            wrong("Binomial", "total_count", "probs: 0.5, total_count: -1", "IntegerGreaterThan(lower_bound=0)", "-1"));
  EXPECT_EQ(refusal([] { td::Binomial(3, 1.5); }), wrong("Binomial", "probs", "probs: 1.5, total_count: 3", unit, "1.5"));
  EXPECT_EQ(refusal([] { td::Poisson(-1); }), wrong("Poisson", "rate", "rate: -1", "GreaterThanEq(lower_bound=0)", "-1"));
  EXPECT_EQ(refusal([] { td::Multinomial(-1, tensor({0.5, 0.5})); }), "[Multinomial] total_count must not be negative, got -1");
}

TEST_P(RefusedOn, TheFirstWrongElementIsNamed) {
  EXPECT_EQ(refusal([&] {
              td::Normal(0, on_device({{1.0, 2.0, 3.0}, {1.0, -0.5, 0.0}}));
            }),
            "[Normal] Expected parameter scale (Tensor of sizes [2, 3]) of distribution Normal(loc: [2, 3], scale: [2, 3]) to satisfy the "
            "constraint "
            "GreaterThan(lower_bound=0), but found invalid values: -0.5 at [1, 1], and 1 more");
  EXPECT_EQ(refusal([&] {
              td::Categorical(on_device({{0.5, 0.5}, {-1.0, 3.0}}));
            }),
            "[Categorical] Expected parameter probs (Tensor of sizes [2, 2]) of distribution Categorical(probs: [2, 2]) to satisfy the "
            "constraint "
            "Simplex(), but found invalid values: [-0.5, 1.5] at [1]");
  EXPECT_EQ(refusal([&] {
              td::Categorical(on_device({0.0, 0.0}));
            }),
            "[Categorical] Expected parameter probs (Tensor of sizes [2]) of distribution Categorical(probs: [2]) to satisfy the "
            "constraint Simplex(), "
            "but found invalid values: [nan, nan]");
  EXPECT_EQ(
      refusal([&] {
        td::Categorical({.logits = on_device({0.0, kNan})});
      }),
      "[Categorical] Expected parameter logits (Tensor of sizes [2]) of distribution Categorical(logits: [2]) to satisfy the constraint "
      "IndependentConstraint(Real(), 1), but found invalid values: [nan, nan]");
  EXPECT_EQ(refusal([&] {
              td::Dirichlet(on_device({1.0, 0.0}));
            }),
            "[Dirichlet] Expected parameter concentration (Tensor of sizes [2]) of distribution Dirichlet(concentration: [2]) to satisfy "
            "the constraint "
            "IndependentConstraint(GreaterThan(lower_bound=0), 1), but found invalid values: [1, 0]");
}

TEST_P(RefusedOn, MatricesThatAreNoCovariance) {
  const auto matrix = [](const char* name, const char* constraint, const char* values) {
    return str("[MultivariateNormal] Expected parameter ", name, " (Tensor of sizes [2, 2]) of distribution MultivariateNormal(loc: [2], ",
               name, ": [2, 2]) to satisfy the constraint ", constraint, ", but found invalid values: ", values);
  };
  const Tensor loc = on_device({0.0, 0.0});
  EXPECT_EQ(refusal([&] {
              td::MultivariateNormal(loc, on_device({{1.0, 0.5}, {0.25, 1.0}}));
            }),
            matrix("covariance_matrix", "PositiveDefinite()", "[1, 0.5, 0.25, 1]"));
  EXPECT_EQ(refusal([&] {
              td::MultivariateNormal(loc, on_device({{1.0, 2.0}, {2.0, 1.0}}));
            }),
            matrix("covariance_matrix", "PositiveDefinite()", "[1, 2, 2, 1]"));
  EXPECT_EQ(refusal([&] {
              td::MultivariateNormal(loc, on_device({{1.0, kNan}, {kNan, 1.0}}));
            }),
            matrix("covariance_matrix", "PositiveDefinite()", "[1, nan, nan, 1]"));
  EXPECT_EQ(refusal([&] {
              td::MultivariateNormal(loc, {.precision_matrix = on_device({{-1.0, 0.0}, {0.0, 1.0}})});
            }),
            matrix("precision_matrix", "PositiveDefinite()", "[-1, 0, 0, 1]"));
  EXPECT_EQ(refusal([&] {
              td::MultivariateNormal(loc, {.scale_tril = on_device({{1.0, 1.0}, {0.0, 1.0}})});
            }),
            matrix("scale_tril", "LowerCholesky()", "[1, 1, 0, 1]"));
  EXPECT_EQ(refusal([&] {
              td::MultivariateNormal(loc, {.scale_tril = on_device({{1.0, 0.0}, {1.0, 0.0}})});
            }),
            matrix("scale_tril", "LowerCholesky()", "[1, 0, 1, 0]"));
}

TEST(Refused, ParametersThatDoNotGoTogether) {
  const Tensor loc = zeros({3}), root = eye(3);
  EXPECT_EQ(refusal([&] { td::MultivariateNormal(loc, td::MultivariateNormalOptions{}); }),
            "[MultivariateNormal] One of covariance_matrix, precision_matrix and scale_tril must be specified.");
  EXPECT_EQ(
      refusal([&] { td::MultivariateNormal(loc, {.covariance_matrix = root, .scale_tril = root}); }),
      "[MultivariateNormal] Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified, but covariance_matrix and "
      "scale_tril are.");
  EXPECT_EQ(refusal([&] { td::MultivariateNormal(zeros({}), root); }), "[MultivariateNormal] loc must be at least one-dimensional.");
  EXPECT_EQ(refusal([&] { td::MultivariateNormal(loc, zeros({3})); }),
            "[MultivariateNormal] covariance_matrix matrix must be at least two-dimensional, with optional leading batch dimensions");
  EXPECT_EQ(refusal([&] { td::MultivariateNormal(loc, eye(2)); }),
            "[MultivariateNormal] covariance_matrix must have sizes [..., 3, 3] for loc of sizes [3], but has [2, 2]");
  EXPECT_EQ(refusal([&] { td::Dirichlet(tensor(1.0)); }), "[Dirichlet] `concentration` parameter must be at least one-dimensional.");
  EXPECT_EQ(refusal([&] { td::Categorical(0.5); }), "[Categorical] `probs` parameter must be at least one-dimensional.");
  EXPECT_EQ(refusal([&] { td::OneHotCategorical({.logits = 0.5}); }),
            "[OneHotCategorical] `logits` parameter must be at least one-dimensional.");
  EXPECT_EQ(refusal([&] { td::Independent(td::Normal(loc, 1), 2); }),
            "[Independent] Expected reinterpreted_batch_ndims from 0 to len(base_distribution.batch_shape), actual 2 vs 1");
  EXPECT_EQ(refusal([&] { td::Independent(td::Normal(loc, 1), -1); }),
            "[Independent] Expected reinterpreted_batch_ndims from 0 to len(base_distribution.batch_shape), actual -1 vs 1");
  EXPECT_NE(error_of([&] { td::Normal(loc, ones({2})); }), "no error");
  EXPECT_EQ(error_of([&] { td::Normal(loc, ones({3}, "cuda:0")); }), "[Normal] loc is on cpu, but scale is on cuda:0: move one of them");
  EXPECT_EQ(error_of([&] { td::MultivariateNormal(loc, eye(3, "cuda:0")); }),
            "[MultivariateNormal] loc is on cpu, but covariance_matrix is on cuda:0: move one of them");
  EXPECT_NE(error_of([&] { td::Normal(Tensor(), 1); }), "no error");
}

TEST(Refused, ProbsAndLogitsTogetherAndNeither) {
  const Tensor half = tensor({0.5, 0.5});
  const td::ProbsOrLogits both{.probs = half, .logits = half}, none;
  const auto text = [](const char* name) { return str("[", name, "] Either `probs` or `logits` must be specified, but not both."); };
  for (const td::ProbsOrLogits& given : {both, none}) {
    EXPECT_EQ(refusal([&] { td::Bernoulli{given}; }), text("Bernoulli"));
    EXPECT_EQ(refusal([&] { td::Geometric{given}; }), text("Geometric"));
    EXPECT_EQ(refusal([&] { td::Binomial(3, given); }), text("Binomial"));
    EXPECT_EQ(refusal([&] { td::Categorical{given}; }), text("Categorical"));
    EXPECT_EQ(refusal([&] { td::OneHotCategorical{given}; }), text("OneHotCategorical"));
    EXPECT_EQ(refusal([&] { td::Multinomial(3, given); }), text("Multinomial"));
  }
}

TEST_P(RefusedOn, ValuesOutsideTheSupport) {
  const std::map<std::string, std::vector<double>> outside = {{"Normal", {kNan}},           {"LogNormal", {0, -1, kNan}},
                                                              {"HalfNormal", {-1, kNan}},   {"Laplace", {kNan}},
                                                              {"Cauchy", {kNan}},           {"Gumbel", {kNan}},
                                                              {"StudentT", {kNan}},         {"Uniform", {-1.5, 2.5}},
                                                              {"Gamma", {-1, kNan}},        {"Chi2", {-1}},
                                                              {"Exponential", {-1}},        {"Beta", {-0.5, 1.5}},
                                                              {"Bernoulli", {0.5, 2, -1}},  {"Geometric", {-1, 0.5}},
                                                              {"Binomial", {-1, 100, 0.5}}, {"Poisson", {-1, 2.5}}};
  for (const Case& one : cases()) {
    const auto d = make<Tensor>(one.name, tensors_of(one.parameters, {2}, device(), kFloat32));
    const auto unchecked = make<Tensor>(one.name, tensors_of(one.parameters, {2}, device(), kFloat32), {.validate_args = false});
    for (const double value : outside.at(one.name)) {
      const std::string text = refusal([&] { (void)d->log_prob(value); });
      EXPECT_NE(text.find(str("[", one.name, "] Expected value argument (Tensor of sizes []) to be within the support (",
                              d->support().text(), ") of the distribution ", one.name, "(")),
                std::string::npos)
          << text;
      EXPECT_NE(text.find(str("but found invalid values: ", value)), std::string::npos) << text;
      EXPECT_EQ(unchecked->log_prob(value).sizes(), Shape{2}) << one.name;
    }
  }
  const td::Categorical classes(on_device({0.25, 0.75}));
  for (const double value : {-1.0, 2.0, 0.5}) EXPECT_NE(refusal([&] { (void)classes.log_prob(value); }), "no error") << value;
  const td::OneHotCategorical vectors(on_device({0.25, 0.75}));
  EXPECT_NE(refusal([&] { (void)vectors.log_prob(on_device({1.0, 1.0})); }), "no error");
  EXPECT_EQ(refusal([&] {
              (void)vectors.log_prob(on_device({1.0, 0.0, 0.0}));
            }),
            "[OneHotCategorical] The right-most size of value must match event_shape: [3] vs [2]");
  EXPECT_EQ(refusal([&] { (void)vectors.log_prob(1.0); }),
            "[OneHotCategorical] The right-most size of value must match event_shape: [] vs [2]");
  EXPECT_NE(refusal([&] { (void)td::Multinomial(2, on_device({0.25, 0.75})).log_prob(on_device({2.0, 1.0})); }), "no error");
  EXPECT_NE(refusal([&] { (void)td::Dirichlet(on_device({1.0, 1.0})).log_prob(on_device({0.5, 0.25})); }), "no error");
  EXPECT_NE(refusal([&] {
              (void)td::MultivariateNormal(on_device({0.0, 0.0}), eye(2, device())).log_prob(on_device({kNan, 0.0}));
            }),
            "no error");
  EXPECT_NE(refusal([&] { (void)td::Uniform(0, 1).cdf(2); }), "no error");
  EXPECT_EQ(td::LogNormal(0, 1).cdf(0).item<double>(), 0);
}

TEST_P(RefusedOn, SamplesOfWholeNumbers) {
  const td::Normal d(on_device({0, 1}), on_device({1, 2}));
  expect_near(d.log_prob(0.5), values(td::Normal(on_device({0.0, 1.0}), on_device({1.0, 2.0})).log_prob(0.5)));  // as PyTorch computes them
  EXPECT_EQ(error_of<TypeError>([&] { (void)d.sample(); }), "[Normal] sample needs parameters of a floating dtype, but loc is int64");
  EXPECT_EQ(error_of<TypeError>([&] { (void)d.rsample(); }), "[Normal] rsample needs parameters of a floating dtype, but loc is int64");
  EXPECT_EQ(error_of<TypeError>([&] { (void)td::Poisson(on_device({3})).sample(); }),
            "[Poisson] sample needs parameters of a floating dtype, but rate is int64");
  const td::Binomial trials(on_device({4, 5}), 0.5);  // whole numbers of trials are no such parameters
  EXPECT_EQ(trials.sample().dtype(), kFloat32);
  EXPECT_EQ(trials.total_count().dtype(), kFloat32);
}

TEST_P(RefusedOn, SamplesThatAreTooManyOrNegative) {
  for (const Case& one : cases()) {
    const auto d = make<Tensor>(one.name, tensors_of(one.parameters, {2}, device(), kFloat32));
    EXPECT_NE(error_of([&] { (void)d->sample({int64_t{1} << 40}); }), "no error") << one.name;
    EXPECT_NE(error_of([&] { (void)d->sample({int64_t{1} << 40, int64_t{1} << 40}); }), "no error") << one.name;
    EXPECT_NE(error_of([&] { (void)d->sample({-1}); }), "no error") << one.name;
    EXPECT_NE(error_of([&] { (void)d->sample(Shape(std::vector<int64_t>(12, 1))); }), "no error") << one.name;
    EXPECT_EQ(d->sample({2}).sizes(), Shape({2, 2})) << one.name;  // and all goes on
  }
  const td::Categorical classes(on_device({0.25, 0.75}));
  EXPECT_NE(error_of([&] { (void)classes.sample({int64_t{1} << 40}); }), "no error");
  EXPECT_NE(error_of([&] { (void)classes.sample({int64_t{1} << 40, int64_t{1} << 40}); }), "no error");
  EXPECT_NE(error_of([&] { (void)classes.sample({-1}); }), "no error");
  EXPECT_NE(error_of([&] { (void)td::Dirichlet(on_device({1.0, 2.0})).sample({int64_t{1} << 40}); }), "no error");
  EXPECT_NE(error_of([&] {
              (void)td::MultivariateNormal(on_device({0.0, 0.0}), eye(2, device())).sample({int64_t{1} << 40});
            }),
            "no error");
}

TEST_P(RefusedOn, NothingWhereNothingIsChecked) {
  const td::DistributionOptions unchecked{.validate_args = false};
  for (const Case& one : cases())
    for (const double value : {kNan, kInfinity, -1.0, 0.0}) {
      std::vector<double> parameters(one.parameters.size(), value);
      const auto d = make<Tensor>(one.name, tensors_of(parameters, {3}, device(), kFloat32), unchecked);
      const std::string text = error_of([&] { EXPECT_EQ(values(d->sample({2})).size(), 6U) << one.name; });  // it comes to an end
      const bool refuses =
          std::string(one.name) == "Poisson" ? !(value >= 0) : std::string(one.name) == "Bernoulli" && !(value >= 0 && value <= 1);
      EXPECT_EQ(text != "no error", refuses) << one.name << " " << value << ": " << text;
      EXPECT_EQ(d->log_prob(0.5).sizes(), Shape{3}) << one.name;
    }
  EXPECT_TRUE(std::isnan(td::Gamma(kNan, 1, unchecked).sample().item<double>()));
  EXPECT_TRUE(std::isnan(td::Gamma(-1, 1, unchecked).sample().item<double>()));
  EXPECT_TRUE(std::isnan(td::Binomial(5, kNan, unchecked).sample().item<double>()));
  EXPECT_EQ(error_of<ValueError>([&] { (void)td::Poisson(-1, unchecked).sample(); }), "[Poisson] samples need rates of 0 or more");
}

TEST(Refused, NothingByDefaultOnceItIsSwitchedOff) {
  td::Distribution::set_default_validate_args(false);
  const td::Normal d(0, -1);
  td::Distribution::set_default_validate_args(true);
  EXPECT_TRUE(std::isnan(d.log_prob(kNan).item<double>()));
  EXPECT_NE(refusal([] { td::Normal(0, -1); }), "no error");
  EXPECT_EQ(refusal([] { td::Normal(0, -1, {.validate_args = false}); }), "no error");
  td::Distribution::set_default_validate_args(false);
  EXPECT_NE(refusal([] { td::Normal(0, -1, {.validate_args = true}); }), "no error");
  td::Distribution::set_default_validate_args(true);
}

TEST(Refused, WhatAClassDoesNotHave) {
  EXPECT_EQ(error_of<NotImplementedError>([] { (void)td::StudentT(3).cdf(1); }), "[StudentT] has no cdf()");
  EXPECT_EQ(error_of<NotImplementedError>([] { (void)td::Gamma(2, 1).icdf(0.5); }), "[Gamma] has no icdf()");
  EXPECT_EQ(error_of<NotImplementedError>([] { (void)td::Multinomial(2, tensor({0.5, 0.5})).mode(); }), "[Multinomial] has no mode()");
  EXPECT_EQ(error_of<NotImplementedError>([] { (void)td::Categorical(tensor({0.5, 0.5})).rsample(); }), "[Categorical] has no rsample()");
}

TEST(Refused, NamesTheLineOfTheCall) {
  try {
    const int line = __LINE__ + 1;
    td::Normal(0, -1);
    FAIL() << line;
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.where().file, __FILE__);
    EXPECT_EQ(error.where().line, __LINE__ - 4);
  }
}

TEST(Constraints, TellWhatTheyAllow) {
  const auto expect_checks = [](const td::Constraint& constraint, const NestedList& numbers, const std::vector<double>& allowed) {
    expect_near(constraint.check(tensor(numbers)).to(kFloat64), allowed);
  };
  namespace c = td::constraints;
  expect_checks(c::real(), {0.0, kInfinity, kNan}, {1, 1, 0});
  expect_checks(c::positive(), {-1.0, 0.0, 1.0, kNan}, {0, 0, 1, 0});
  expect_checks(c::nonnegative(), {-1.0, 0.0, 1.0, kNan}, {0, 1, 1, 0});
  expect_checks(c::unit_interval(), {-0.1, 0.0, 1.0, 1.1, kNan}, {0, 1, 1, 0, 0});
  expect_checks(c::boolean(), {0.0, 1.0, 0.5, kNan}, {1, 1, 0, 0});
  expect_checks(c::nonnegative_integer(), {-1.0, 0.0, 2.0, 2.5, kNan}, {0, 1, 1, 0, 0});
  expect_checks(c::integer_interval(1, 3), {0.0, 1.0, 2.5, 3.0, 4.0}, {0, 1, 0, 1, 0});
  expect_checks(c::less_than(2), {1.0, 2.0}, {1, 0});
  expect_checks(c::interval(tensor({0.0, 5.0}), 6), {1.0, 1.0}, {1, 0});
  expect_checks(c::simplex(), {{0.5, 0.5}, {1.5, -0.5}, {0.5, 0.4}}, {1, 0, 0});
  expect_checks(c::one_hot(), {{0.0, 1.0}, {1.0, 1.0}, {0.0, 0.0}}, {1, 0, 0});
  expect_checks(c::multinomial(3), {{1.0, 2.0}, {-1.0, 2.0}, {2.0, 2.0}}, {1, 0, 0});
  expect_checks(c::lower_cholesky(), {{{1.0, 0.0}, {5.0, 2.0}}, {{1.0, 1.0}, {0.0, 1.0}}, {{-1.0, 0.0}, {0.0, 1.0}}}, {1, 0, 0});
  expect_checks(c::positive_definite(), {{{2.0, 1.0}, {1.0, 2.0}}, {{1.0, 2.0}, {2.0, 1.0}}}, {1, 0});
  expect_checks(c::positive_definite(), {{1.0, 2.0}}, {0});  // no square
  expect_checks(c::independent(c::positive(), 1), {{1.0, 2.0}, {1.0, 0.0}}, {1, 0});
  EXPECT_EQ(c::real_vector().event_dim(), 1);
  EXPECT_TRUE(c::one_hot().is_discrete());
  EXPECT_EQ(c::integer_interval(0, 3).text(), "IntegerInterval(lower_bound=0, upper_bound=3)");
  EXPECT_EQ(error_of<ValueError>([] { (void)td::constraints::simplex().check(tensor(1.0)); }),
            "[Simplex()] values have 1 dimensions or more, but the tensor has sizes []");
  const td::Constraint even(
      "Even()", [](const Tensor& x) { return x % 2 == 0; }, 0, true);
  expect_checks(even, {1, 2}, {0, 1});
}

INSTANTIATE_TEST_SUITE_P(Devices, RefusedOn, every_device(), device_name);

}  // namespace
}  // namespace tandem::testing
