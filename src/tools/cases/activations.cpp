// Pointwise operations with parameters.
#include <cmath>
#include <numbers>

#include "tools/cases/case.h"

namespace tandem::cases {
namespace {

/// Inputs of an activation without or with one or two parameters.
struct Activation : Case {
  void inputs(Inputs& in) const { shapes(in); }
  template <class... P>
  void shapes(Inputs& in, P... parameters) const {
    in.add(randn({37}) * 3, parameters...);
    in.add(randn({2, 3, 5}), parameters...);
    in.add(randn({}), parameters...);
    in.add(randn({0, 3}), parameters...);
  }
};

struct Where : Case {
  static constexpr const char* name = "where";
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}) > 0, randn({3, 5}), randn({3, 5}));
    in.add(randn({3, 1}) > 0, randn({5}), randn({3, 5}));
    in.add(randn({}) > 0, randn({}), randn({}));
    in.add(randn({0, 5}) > 0, randn({0, 5}), randn({5}));
  }
  Tensor run(const Tensor& condition, const Tensor& a, const Tensor& b) const { return where(condition, a, b); }
  Tensor reference(const Tensor& condition, const Tensor& a, const Tensor& b) const {
    const Tensor c = condition.to(kFloat64);
    return c * a + (1 - c) * b;
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}) > 0, randn({n}), randn({n})); }
};

struct Clamp : Case {
  static constexpr const char* name = "clamp";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Any;  // int64 of bool
  void inputs(Inputs& in) const {
    in.add(randn({37}) * 3, Scalar(-1), Scalar(2));
    in.add(randn({2, 3, 5}) * 3, std::nullopt, Scalar(1));
    in.add(randn({}), Scalar(0), std::nullopt);
    in.add(randn({0, 3}), Scalar(0), Scalar(1));
  }
  Tensor run(const Tensor& x, std::optional<Scalar> low, std::optional<Scalar> high) const { return clamp(x, low, high); }
  Tensor reference(const Tensor& x, std::optional<Scalar> low, std::optional<Scalar> high) const {
    return each(x, [&](double v) {
      if (low) v = std::fmax(v, low->to<double>());
      if (high) v = std::fmin(v, high->to<double>());
      return v;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), Scalar(-1), Scalar(1)); }
};

struct AddAlpha : Activation {
  static constexpr const char* name = "add_alpha";
  static constexpr bool torch = false;  // torch.add(a, b, alpha=…)
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({5}), 2.5);
    in.add(randn({}), randn({}), -1.0);
    in.add(randn({0, 3}), randn({3}), 2.0);
  }
  Tensor run(const Tensor& a, const Tensor& b, double alpha) const { return add(a, b, alpha); }
  Tensor reference(const Tensor& a, const Tensor& b, double alpha) const {
    return each(a, b, [&](double x, double y) { return x + alpha * y; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}), 2.5); }
};

struct Lerp : Case {
  static constexpr const char* name = "lerp";
  static constexpr double tolerance = 2;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}), rand({3, 5}));
    in.add(randn({3, 1}), randn({5}), rand({}));
    in.add(randn({}), randn({}), rand({}));
    in.add(randn({0, 5}), randn({5}), rand({5}));
  }
  Tensor run(const Tensor& a, const Tensor& b, const Tensor& weight) const { return lerp(a, b, weight); }
  Tensor reference(const Tensor& a, const Tensor& b, const Tensor& weight) const { return a * (1 - weight) + b * weight; }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}), rand({n})); }
};

struct Addcmul : Case {
  static constexpr const char* name = "addcmul";
  static constexpr DTypes dtypes = kFloating;
  static constexpr double tolerance = 2;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}), randn({5}), 0.5);
    in.add(randn({}), randn({}), randn({}), 2.0);
    in.add(randn({0, 5}), randn({5}), randn({5}), 2.0);
  }
  Tensor run(const Tensor& x, const Tensor& a, const Tensor& b, double value) const { return addcmul(x, a, b, value); }
  Tensor reference(const Tensor& x, const Tensor& a, const Tensor& b, double value) const {
    return x + each(a, b, [&](double p, double q) { return value * p * q; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}), randn({n}), 0.5); }
};

struct Addcdiv : Case {
  static constexpr const char* name = "addcdiv";
  static constexpr double tolerance = 4;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}), rand({5}) + 0.5, 0.5);
    in.add(randn({}), randn({}), rand({}) + 0.5, 2.0);
    in.add(randn({0, 5}), randn({5}), rand({5}) + 0.5, 2.0);
  }
  Tensor run(const Tensor& x, const Tensor& a, const Tensor& b, double value) const { return addcdiv(x, a, b, value); }
  Tensor reference(const Tensor& x, const Tensor& a, const Tensor& b, double value) const {
    return x + each(a, b, [&](double p, double q) { return value * p / q; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}), rand({n}) + 0.5, 0.5); }
};

struct LeakyRelu : Activation {
  static constexpr const char* name = "leaky_relu";
  void inputs(Inputs& in) const { shapes(in, 0.1); }
  Tensor run(const Tensor& x, double slope) const { return leaky_relu(x, slope); }
  Tensor reference(const Tensor& x, double slope) const {
    return each(x, [&](double v) { return v > 0 ? v : slope * v; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0.1); }
};

struct Elu : Activation {
  static constexpr const char* name = "elu";
  static constexpr double tolerance = 2;
  void inputs(Inputs& in) const { shapes(in, 1.3); }
  Tensor run(const Tensor& x, double alpha) const { return elu(x, alpha); }
  Tensor reference(const Tensor& x, double alpha) const {
    return each(x, [&](double v) { return v > 0 ? v : alpha * std::expm1(v); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 1.3); }
};

struct Softplus : Activation {
  static constexpr const char* name = "softplus";
  static constexpr double tolerance = 2;
  void inputs(Inputs& in) const {
    shapes(in, 1.5, 20.0);
    in.add(randn({20}) * 3, 1.0, 1.0);  // some are past the threshold
  }
  Tensor run(const Tensor& x, double beta, double threshold) const { return softplus(x, beta, threshold); }
  Tensor reference(const Tensor& x, double beta, double threshold) const {
    return each(x, [&](double v) { return beta * v > threshold ? v : std::log1p(std::exp(beta * v)) / beta; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 1.0, 20.0); }
};

struct Gelu : Activation {
  static constexpr const char* name = "gelu";
  static constexpr double tolerance = 2;
  void inputs(Inputs& in) const { shapes(in); }
  Tensor run(const Tensor& x) const { return gelu(x); }
  Tensor reference(const Tensor& x) const {
    return each(x, [](double v) { return v / 2 * std::erfc(-v / std::numbers::sqrt2); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n})); }
};

struct GeluTanh : Activation {
  static constexpr const char* name = "gelu_tanh";
  static constexpr const char* torch = "nn.functional.gelu(approximate='tanh')";
  static constexpr double tolerance = 2;
  void inputs(Inputs& in) const { shapes(in); }
  Tensor run(const Tensor& x) const { return gelu(x, "tanh"); }
  Tensor reference(const Tensor& x) const {
    return each(x, [](double v) { return v / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v))); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n})); }
};

}  // namespace

void add_activations(std::vector<Operation>& list) {
  list.push_back(operation<Where>());
  list.push_back(operation<Clamp>());
  list.push_back(operation<AddAlpha>());
  list.push_back(operation<Lerp>());
  list.push_back(operation<Addcmul>());
  list.push_back(operation<Addcdiv>());
  list.push_back(operation<LeakyRelu>());
  list.push_back(operation<Elu>());
  list.push_back(operation<Softplus>());
  list.push_back(operation<Gelu>());
  list.push_back(operation<GeluTanh>());
}

}  // namespace tandem::cases
