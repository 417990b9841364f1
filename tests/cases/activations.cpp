// Pointwise operations with parameters.
#include <cmath>
#include <numbers>

#include "cases/case.h"

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
  void many(Inputs& in, int64_t n) const { in.add(ones({n}) > 0, ones({1}), ones({n})); }
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
  void many(Inputs& in, int64_t n) const { in.add(ones({n, 2}), ones({2}), 2.5); }
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
  void many(Inputs& in, int64_t n) const { in.add(ones({n, 2}), ones({2}), ones({1}), 0.5); }
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
  void many(Inputs& in, int64_t n) const { in.add(ones({n, 2}), ones({2}), ones({1}), 0.5); }
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

struct Threshold : Activation {
  static constexpr const char* name = "threshold";
  static constexpr const char* torch = "nn.functional.threshold";
  static constexpr DTypes dtypes = kNumbers;
  void inputs(Inputs& in) const { shapes(in, 0.0, 3.0); }
  Tensor run(const Tensor& x, double limit, double value) const { return threshold(x, limit, value); }
  Tensor reference(const Tensor& x, double limit, double value) const {
    return each(x, [&](double v) { return v > limit ? v : value; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0.1, 3.0); }
};

struct Hardtanh : Activation {
  static constexpr const char* name = "hardtanh";
  static constexpr const char* torch = "nn.functional.hardtanh";
  static constexpr DTypes dtypes = kNumbers;
  void inputs(Inputs& in) const { shapes(in, 0.0, 2.0); }
  Tensor run(const Tensor& x, double low, double high) const { return hardtanh(x, low, high); }
  Tensor reference(const Tensor& x, double low, double high) const {
    return each(x, [&](double v) { return std::fmin(std::fmax(v, low), high); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), -1.0, 1.0); }
};

struct Celu : Activation {
  static constexpr const char* name = "celu";
  static constexpr double tolerance = 2;
  void inputs(Inputs& in) const { shapes(in, 1.3); }
  Tensor run(const Tensor& x, double alpha) const { return celu(x, alpha); }
  Tensor reference(const Tensor& x, double alpha) const {
    return each(x, [&](double v) { return v > 0 ? v : alpha * std::expm1(v / alpha); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 1.3); }
};

struct Hardshrink : Activation {
  static constexpr const char* name = "hardshrink";
  void inputs(Inputs& in) const { shapes(in, 0.5); }
  Tensor run(const Tensor& x, double limit) const { return hardshrink(x, limit); }
  Tensor reference(const Tensor& x, double limit) const {
    return each(x, [&](double v) { return std::fabs(v) > limit ? v : 0; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0.5); }
};

struct Softshrink : Activation {
  static constexpr const char* name = "softshrink";
  static constexpr const char* torch = "nn.functional.softshrink";
  void inputs(Inputs& in) const { shapes(in, 0.5); }
  Tensor run(const Tensor& x, double limit) const { return softshrink(x, limit); }
  Tensor reference(const Tensor& x, double limit) const {
    return each(x, [&](double v) { return v > limit ? v - limit : v < -limit ? v + limit : 0; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0.5); }
};

struct Logit : Activation {
  static constexpr const char* name = "logit";
  static constexpr double tolerance = 8;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Floating;
  void inputs(Inputs& in) const {
    in.add(rand({37}) * 0.9 + 0.05, 0.1);
    in.add(rand({}) * 0.9 + 0.05, 0.01);
    in.add(rand({0, 3}), 0.1);
  }
  Tensor run(const Tensor& x, double eps) const { return logit(x, eps); }
  Tensor reference(const Tensor& x, double eps) const {
    return each(x, [&](double v) {
      v = std::fmin(std::fmax(v, eps), 1 - eps);
      return std::log(v / (1 - v));
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(rand({n}), 0.01); }
};

struct NanToNum : Activation {
  static constexpr const char* name = "nan_to_num";
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add_kink(tensor({1., NAN, INFINITY, -INFINITY, -2.}), 0.5, 7.0, -7.0);
    in.add(randn({2, 3}), 0.5, 7.0, -7.0);
    in.add(randn({}), 0.5, 7.0, -7.0);
    in.add(randn({0, 3}), 0.5, 7.0, -7.0);
  }
  static constexpr bool zero_dim = true;
  Tensor run(const Tensor& x, double nan, double high, double low) const { return nan_to_num(x, nan, high, low); }
  Tensor reference(const Tensor& x, double nan, double high, double low) const {
    return each(x, [&](double v) { return std::isnan(v) ? nan : std::isinf(v) ? (v > 0 ? high : low) : v; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0.5, 7.0, -7.0); }
};

struct Prelu : Case {
  static constexpr const char* name = "prelu";
  static constexpr double tolerance = 2;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), rand({5}));
    in.add(randn({2, 3, 4}), rand({3}));
    in.add(randn({}), rand({}));
    in.add(randn({0, 3}), rand({3}));
  }
  void many(Inputs& in, int64_t n) const { in.add(full({n, 4}, -1.0), ones({4})); }
  Tensor run(const Tensor& x, const Tensor& weight) const { return prelu(x, weight); }
  Tensor reference(const Tensor& x, const Tensor& weight) const {
    return generate(x.sizes(), [&](const Shape& position) {
      const double v = at(x, position), slope = weight.dim() == 0 ? at(weight, {}) : at(weight, {weight.numel() == 1 ? 0 : position[1]});
      return v > 0 ? v : slope * v;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 99) / 100, 100}), rand({100})); }
};

struct Rrelu : Activation {
  static constexpr const char* name = "rrelu";
  void inputs(Inputs& in) const { shapes(in, 0.2, 0.4); }
  Tensor run(const Tensor& x, double low, double high) const { return rrelu(x, low, high); }
  Tensor reference(const Tensor& x, double low, double high) const {
    return each(x, [&](double v) { return v > 0 ? v : v * (low + high) / 2; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), 0.2, 0.4); }
};

struct Glu : Case {
  static constexpr const char* name = "glu";
  static constexpr const char* torch = "nn.functional.glu";
  static constexpr double tolerance = 2;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 6}), -1);
    in.add(randn({4, 5, 3}), 0);
    in.add(randn({0, 4}), 1);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return glu(x, dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    const auto halves = x.chunk(2, dim);
    return each(halves[0], halves[1], [](double a, double b) { return a / (1 + std::exp(-b)); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 99) / 100, 100}), -1); }
};

struct ClampMin : Case {
  static constexpr const char* name = "clamp_min";
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}));
    in.add(randn({3, 5}), randn({5}));
    in.add(randn({}), randn({}));
    in.add(randn({0, 5}), randn({5}));
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n}), ones({1}) * 2);
    in.add(ones({n}), zeros({1}));
  }
  Tensor run(const Tensor& x, const Tensor& bound) const { return clamp_min(x, bound); }
  Tensor reference(const Tensor& x, const Tensor& bound) const {
    return each(x, bound, [](double v, double b) { return v < b ? b : v; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n})); }
};
struct ClampMax : ClampMin {
  static constexpr const char* name = "clamp_max";
  Tensor run(const Tensor& x, const Tensor& bound) const { return clamp_max(x, bound); }
  Tensor reference(const Tensor& x, const Tensor& bound) const {
    return each(x, bound, [](double v, double b) { return v > b ? b : v; });
  }
};

/// Divisors away from zero.
struct DivTrunc : Case {
  static constexpr const char* name = "div_trunc";
  static constexpr const char* torch = "div(rounding_mode='trunc')";
  static constexpr DTypes dtypes = kNumbers;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}) * 5, rand({3, 5}) + 0.3);
    in.add(randn({}), rand({}) + 0.3);
    in.add(randn({0, 5}), rand({5}) + 0.3);
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return div(a, b, "trunc"); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    return each(a, b, [](double x, double y) { return std::trunc(x / y); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), rand({n}) + 0.3); }
};
struct DivFloor : DivTrunc {
  static constexpr const char* name = "div_floor";
  static constexpr const char* torch = "div(rounding_mode='floor')";
  Tensor run(const Tensor& a, const Tensor& b) const { return div(a, b, "floor"); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    return each(a, b, [](double x, double y) { return std::floor(x / y); });
  }
};
struct TrueDivide : DivTrunc {
  static constexpr const char* name = "true_divide";
  static constexpr bool torch = true;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Floating;
  void many(Inputs& in, int64_t n) const {
    in.add(ones({n}), ones({1}));
    in.add(ones({1}), ones({n}));
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return true_divide(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    return each(a, b, [](double x, double y) { return x / y; });
  }
};
struct FloatPower : DivTrunc {
  static constexpr const char* name = "float_power";
  static constexpr bool torch = true;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr Gives gives = Gives::Any;  // float64
  static constexpr double tolerance = 1e5;    // of float64's
  void inputs(Inputs& in) const {
    in.add(rand({3, 5}) + 0.5, randn({3, 5}));
    in.add(rand({}) + 0.5, randn({}));
    in.add(rand({0, 5}) + 0.5, randn({5}));
  }
  Tensor run(const Tensor& a, const Tensor& b) const { return float_power(a, b); }
  Tensor reference(const Tensor& a, const Tensor& b) const {
    return each(a, b, [](double x, double y) { return std::pow(x, y); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(rand({n}) + 0.5, randn({n})); }
};

struct IsClose : Case {
  static constexpr const char* name = "isclose";
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    in.add(tensor({1., 2., 3., NAN}), tensor({1., 2.5, 3.0001, NAN}), 0.1);
    in.add(randn({}), randn({}), 0.5);
    in.add(randn({0, 5}), randn({5}), 0.5);
  }
  Tensor run(const Tensor& a, const Tensor& b, double rtol) const { return isclose(a, b, rtol, 0.0625); }
  Tensor reference(const Tensor& a, const Tensor& b, double rtol) const {
    return each(a, b, [&](double x, double y) { return double(std::fabs(x - y) <= 0.0625 + rtol * std::fabs(y)); }) != 0;
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n}), randn({n}), 0.5); }
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
  list.push_back(operation<Threshold>());
  list.push_back(operation<Hardtanh>());
  list.push_back(operation<Celu>());
  list.push_back(operation<Hardshrink>());
  list.push_back(operation<Softshrink>());
  list.push_back(operation<Logit>());
  list.push_back(operation<NanToNum>());
  list.push_back(operation<Prelu>());
  list.push_back(operation<Rrelu>());
  list.push_back(operation<Glu>());
  list.push_back(operation<ClampMin>());
  list.push_back(operation<ClampMax>());
  list.push_back(operation<DivTrunc>());
  list.push_back(operation<DivFloor>());
  list.push_back(operation<TrueDivide>());
  list.push_back(operation<FloatPower>());
  list.push_back(operation<IsClose>());
}

}  // namespace tandem::cases
