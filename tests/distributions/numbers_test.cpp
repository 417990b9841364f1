// Distributions of one number: every class on every device, in every dtype, by numbers and by tensors.
#include <cmath>

#include "distributions/cases.h"

namespace tandem::testing {
namespace {

struct Place {
  const char* device;
  DType dtype;
  bool by_tensors;
};

/// Sets the default dtype until the end of the scope.
struct DefaultDType {
  DType before = get_default_dtype();
  explicit DefaultDType(DType dtype) { set_default_dtype(dtype); }
  ~DefaultDType() { set_default_dtype(before); }
};

class NumbersOn : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override { manual_seed(1); }
  /// A case's distribution, by numbers or by tensors of these sizes.
  [[nodiscard]] static std::unique_ptr<td::Distribution> distribution(const Case& one, const Shape& sizes = {2}) {
    const auto [device, dtype, by_tensors] = GetParam();
    const DefaultDType chosen(dtype);
    return by_tensors ? make<Tensor>(one.name, tensors_of(one.parameters, sizes, Device(device), dtype))
                      : make<double>(one.name, one.parameters);
  }
  [[nodiscard]] static Shape batch(const Shape& sizes = {2}) { return GetParam().by_tensors ? sizes : Shape{}; }
  [[nodiscard]] static double tolerance(double double_precision, double single, double half) {
    switch (GetParam().dtype) {
      case kFloat64: return double_precision;
      case kFloat32: return single;
      case kFloat16: return half;
      default: return half * 8;
    }
  }
  static void expect_all(const Tensor& x, double expected, const Case& one, const char* what) {
    EXPECT_EQ(x.dtype(), GetParam().dtype) << one.name << " " << what;
    EXPECT_EQ(x.device(), Device(GetParam().device)) << one.name << " " << what;
    const double allowed = tolerance(1e-10, 1e-5, 6e-3) * std::max(1.0, std::abs(expected));
    for (const double got : values(x)) {
      if (std::isfinite(expected)) {
        EXPECT_NEAR(got, expected, allowed) << one.name << " " << what;
      } else {
        EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected) << one.name << " " << what << " is " << got;
      }
    }
  }
};

/// Whether its formulas take differences of numbers that are too large for 16 bits.
bool is_large(const Case& one) {
  return is_half(NumbersOn::GetParam().dtype) && *std::max_element(one.parameters.begin(), one.parameters.end()) > 6;
}

/// Whether the class has that function.
bool has(const std::function<Tensor()>& call) {
  try {
    (void)call();
    return true;
  } catch (const NotImplementedError&) {
    return false;
  }
}

TEST_P(NumbersOn, HaveTheDensityOfSciPy) {
  for (const Case& one : cases())
    for (const Shape& sizes : {Shape{}, Shape{2}, Shape{3, 1}}) {
      if (is_large(one)) continue;
      const auto d = distribution(one, sizes);
      EXPECT_EQ(d->batch_shape(), batch(sizes)) << one.name;
      EXPECT_EQ(d->event_shape(), Shape{}) << one.name;
      for (size_t i = 0; i < one.values.size(); ++i) {
        const Tensor log_prob = d->log_prob(one.values[i]);
        EXPECT_EQ(log_prob.sizes(), batch(sizes)) << one.name;
        expect_all(log_prob, one.log_probs[i], one, "log_prob");
      }
    }
}

TEST_P(NumbersOn, HaveTheMomentsOfSciPy) {
  for (const Case& one : cases()) {
    const auto d = distribution(one);
    EXPECT_EQ(d->mean().sizes(), batch()) << one.name;
    expect_all(d->mean(), one.mean, one, "mean");
    expect_all(d->variance(), one.variance, one, "variance");
    expect_all(d->stddev(), std::sqrt(one.variance), one, "stddev");
  }
}

TEST_P(NumbersOn, HaveTheEntropyOfSciPy) {
  for (const Case& one : cases()) {
    const auto d = distribution(one);
    if (std::string(one.name) == "Poisson") {
      EXPECT_EQ(error_of<NotImplementedError>([&] { (void)d->entropy(); }), "[Poisson] has no entropy()");
      continue;
    }
    EXPECT_EQ(d->entropy().sizes(), batch()) << one.name;
    if (is_large(one)) continue;
    expect_all(d->entropy(), one.entropy, one, "entropy");
    const double perplexity = std::exp(one.entropy);
    for (const double got : values(d->perplexity())) EXPECT_NEAR(got, perplexity, tolerance(1e-9, 1e-4, 2e-2) * perplexity) << one.name;
  }
}

TEST_P(NumbersOn, HaveTheSharesOfSciPyBelowAValue) {
  int with = 0;
  for (const Case& one : cases()) {
    const auto d = distribution(one);
    if (!has([&] { return d->cdf(one.values[1]); })) continue;
    ++with;
    for (size_t i = 0; i < one.values.size(); ++i) expect_all(d->cdf(one.values[i]), one.cdfs[i], one, "cdf");
  }
  EXPECT_EQ(with, 12);  // all but Student's t, Beta and the discrete ones
}

TEST_P(NumbersOn, HaveQuantilesThatUndoTheShares) {
  int with = 0;
  for (const Case& one : cases()) {
    const auto d = distribution(one);
    if (!has([&] { return d->icdf(0.5); })) continue;
    ++with;
    for (const double value : one.values) {
      const double allowed = tolerance(1e-9, 1e-4, 3e-2) * std::max(1.0, std::abs(value));
      for (const double got : values(d->icdf(d->cdf(value)))) EXPECT_NEAR(got, value, allowed) << one.name;
    }
  }
  EXPECT_EQ(with, 8);
}

TEST_P(NumbersOn, DrawSamplesWithTheSharesAndMeanOfSciPy) {
  const int64_t n = 20000;
  for (const Case& one : cases()) {
    const auto d = distribution(one);
    const Tensor sample = d->sample({n / 4, 2});
    EXPECT_EQ(sample.sizes(), Shape(GetParam().by_tensors ? std::vector<int64_t>{n / 4, 2, 2} : std::vector<int64_t>{n / 4, 2}))
        << one.name;
    EXPECT_EQ(sample.dtype(), GetParam().dtype) << one.name;
    EXPECT_EQ(sample.device(), Device(GetParam().device)) << one.name;
    EXPECT_FALSE(sample.requires_grad());
    EXPECT_TRUE(d->support().check(sample).all()) << one.name;
    const std::vector<double> drawn = values(sample);
    const double count = static_cast<double>(drawn.size());
    for (size_t i = 0; i < one.values.size(); ++i) {
      // A number of 16 bits may be the value where the sample was a little above it.
      const double margin = tolerance(0, 0, 2e-3) * std::max(1.0, std::abs(one.values[i]));
      const double below = static_cast<double>(std::count_if(drawn.begin(), drawn.end(), [&](double x) { return x <= one.values[i]; }));
      EXPECT_NEAR(below / count, one.cdfs[i], 5 * std::sqrt(one.cdfs[i] * (1 - one.cdfs[i]) / count) + margin)
          << one.name << " at " << one.values[i];
    }
    if (!std::isfinite(one.variance)) continue;
    double sum = 0;
    for (const double x : drawn) sum += x;
    const double margin = tolerance(0, 0, 2e-3) * std::max(1.0, std::abs(one.mean));
    EXPECT_NEAR(sum / count, one.mean, 5 * std::sqrt(one.variance / count) + margin) << one.name;
  }
}

TEST_P(NumbersOn, DrawSamplesOfAllSizes) {
  for (const Case& one : cases()) {
    const auto d = distribution(one);
    const auto with_batch = [&](std::vector<int64_t> sizes) {
      if (GetParam().by_tensors) sizes.push_back(2);
      return Shape(sizes);
    };
    EXPECT_EQ(d->sample().sizes(), with_batch({})) << one.name;
    EXPECT_EQ(d->sample({3}).sizes(), with_batch({3})) << one.name;
    EXPECT_EQ(d->sample({0, 3}).sizes(), with_batch({0, 3})) << one.name;
    if (d->has_rsample()) {
      EXPECT_EQ(d->rsample({2, 1}).sizes(), with_batch({2, 1})) << one.name;
    } else {
      EXPECT_EQ(error_of<NotImplementedError>([&] { (void)d->rsample(); }), str("[", one.name, "] has no rsample()"));
    }
  }
}

TEST_P(NumbersOn, MayBeEmpty) {
  if (!GetParam().by_tensors) return;
  for (const Case& one : cases()) {
    const auto d = distribution(one, {0, 2});
    EXPECT_EQ(d->sample({3}).sizes(), Shape({3, 0, 2})) << one.name;
    EXPECT_EQ(d->log_prob(one.values[0]).sizes(), Shape({0, 2})) << one.name;
    EXPECT_EQ(d->mean().sizes(), Shape({0, 2})) << one.name;
    EXPECT_EQ(std::string(one.name) == "Poisson" ? Shape({0, 2}) : d->entropy().sizes(), Shape({0, 2})) << one.name;
  }
}

TEST_P(NumbersOn, ExpandToLargerBatches) {
  for (const Case& one : cases()) {
    const auto d = distribution(one);
    const auto larger = d->expand({3, 2});
    EXPECT_STREQ(larger->name(), one.name);
    EXPECT_EQ(larger->batch_shape(), Shape({3, 2})) << one.name;
    EXPECT_EQ(larger->sample({4}).sizes(), Shape({4, 3, 2})) << one.name;
    EXPECT_EQ(larger->mean().sizes(), Shape({3, 2})) << one.name;
    EXPECT_EQ(larger->log_prob(one.values[0]).sizes(), Shape({3, 2})) << one.name;
    if (!is_large(one)) expect_all(larger->log_prob(one.values[0]), one.log_probs[0], one, "log_prob");
    EXPECT_EQ(d->batch_shape(), batch()) << one.name;
    if (!GetParam().by_tensors) continue;
    EXPECT_NE(error_of([&] { (void)d->expand({3}); }), "no error") << one.name;
  }
}

TEST_P(NumbersOn, BroadcastTheirValues) {
  if (!GetParam().by_tensors) return;
  const Options options{.dtype = GetParam().dtype, .device = Device(GetParam().device)};
  for (const Case& one : cases()) {
    const auto d = distribution(one);
    const Tensor values = full({4, 1}, one.values[0], options);
    EXPECT_EQ(d->log_prob(values).sizes(), Shape({4, 2})) << one.name;
    EXPECT_EQ(error_of<ValueError>([&] { (void)d->log_prob(full({3}, one.values[0], options)); }),
              str("[", one.name, "] Value is not broadcastable with batch_shape+event_shape: [3] vs [2]"));
  }
}

std::vector<Place> places() {
  std::vector<Place> all;
  for (const char* device : {"cpu", "cuda:0", "cuda:1"})
    for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) all.push_back({device, dtype, true});
  for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) all.push_back({"cpu", dtype, false});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Places, NumbersOn, ::testing::ValuesIn(places()), [](const auto& info) {
  std::string name = info.param.device;
  std::replace(name.begin(), name.end(), ':', '_');
  return name + "_" + tandem::name(info.param.dtype) + (info.param.by_tensors ? "_tensors" : "_numbers");
});

}  // namespace
}  // namespace tandem::testing
