// One generic struct for all rows of kernels/pointwise.def: the row gives the functions, the types and whether there is a gradient; the
// table below gives each a reference in plain C++ and the range its inputs are drawn from.
#include <cmath>
#include <map>
#include <numbers>

#include "cases/case.h"
#include "ops/elementwise.h"

namespace tandem::cases {
namespace {

using ops::Rule;

struct ListRow {
  const char* name;
  int operands;
  Rule rule;
  bool gradient;
  Tensor (*unary)(const Input&, Site);
  const Tensor& (*unary_in_place)(const Tensor&, Site);
  Tensor (*binary)(const Operand&, const Operand&, Site);
  const Tensor& (*binary_in_place)(const Tensor&, const Operand&, Site);
};

#define NONE 0
#define GRAD(...) 1
#define TD_UNARY(name, Functor, rule, grad_name, gradient, ...) \
  {#name, 1, Rule::rule, gradient != 0, tandem::name, tandem::name##_, nullptr, nullptr},
#define TD_BINARY(name, Functor, rule, grad_name, gradient_a, gradient_b, ...) \
  {#name, 2, Rule::rule, gradient_a != 0, nullptr, nullptr, tandem::name, tandem::name##_},
#define TD_KERNEL(...)
const ListRow kRows[] = {
#include "kernels/pointwise.def"
};

/// Where inputs are drawn from: [low, high].
struct Range {
  double low = -3, high = 3;
};
constexpr Range kPositive{0.1, 4}, kUnit{-0.95, 0.95}, kFromOne{1.1, 4};

struct Reference {
  std::function<double(double)> unary;
  std::function<double(double, double)> binary;
  Range a, b;
};

Reference one(double (*f)(double), Range range = {}) { return {f, {}, range, {}}; }
Reference two(double (*f)(double, double), Range a = {}, Range b = {}) { return {{}, f, a, b}; }

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double softplus_of(double x) { return std::log1p(std::exp(x)); }
double slope_of_gelu(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}
double gelu_by_tanh(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); }
double mish_of(double x) { return x * std::tanh(softplus_of(x)); }
/// By central differences of fourth order: for slopes that have no simple formula.
double slope(double (*f)(double), double x) {
  constexpr double h = 1e-3;
  return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
}
/// By bisection.
double erfinv_of(double y) {
  if (std::abs(y) >= 1) return std::abs(y) > 1 ? NAN : std::copysign(INFINITY, y);
  double low = -6, high = 6;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle) < y ? low : high) = middle;
  }
  return (low + high) / 2;
}
/// From far out, where three terms of the series are exact.
double digamma_of(double x) {
  double y = 0;
  for (; x < 1000; x += 1) y -= 1 / x;
  return y + std::log(x) - 1 / (2 * x) - 1 / (12 * x * x);
}
double modulo(double a, double b) { return a - b * std::floor(a / b); }
int64_t whole(double x) { return static_cast<int64_t>(x); }

const std::map<std::string_view, Reference>& references() {
  using std::numbers::pi;
  static const std::map<std::string_view, Reference> all = {
      {"neg", one([](double x) { return -x; })},
      {"abs", one([](double x) { return std::fabs(x); })},
      {"sign", one([](double x) { return double((x > 0) - (x < 0)); })},
      {"sgn", one([](double x) { return double((x > 0) - (x < 0)); })},
      {"square", one([](double x) { return x * x; })},
      {"floor", one([](double x) { return std::floor(x); })},
      {"ceil", one([](double x) { return std::ceil(x); })},
      {"round", one([](double x) { return std::nearbyint(x); })},
      {"trunc", one([](double x) { return std::trunc(x); })},
      {"frac", one([](double x) { return x - std::trunc(x); })},
      {"exp", one([](double x) { return std::exp(x); })},
      {"exp2", one([](double x) { return std::exp2(x); })},
      {"expm1", one([](double x) { return std::expm1(x); })},
      {"log", one([](double x) { return std::log(x); }, kPositive)},
      {"log2", one([](double x) { return std::log2(x); }, kPositive)},
      {"log10", one([](double x) { return std::log10(x); }, kPositive)},
      {"log1p", one([](double x) { return std::log1p(x); }, kPositive)},
      {"sqrt", one([](double x) { return std::sqrt(x); }, kPositive)},
      {"rsqrt", one([](double x) { return 1 / std::sqrt(x); }, kPositive)},
      {"reciprocal", one([](double x) { return 1 / x; }, kPositive)},
      {"sin", one([](double x) { return std::sin(x); })},
      {"cos", one([](double x) { return std::cos(x); })},
      {"tan", one([](double x) { return std::tan(x); }, {-1.2, 1.2})},
      {"asin", one([](double x) { return std::asin(x); }, kUnit)},
      {"acos", one([](double x) { return std::acos(x); }, kUnit)},
      {"atan", one([](double x) { return std::atan(x); })},
      {"sinh", one([](double x) { return std::sinh(x); })},
      {"cosh", one([](double x) { return std::cosh(x); })},
      {"tanh", one([](double x) { return std::tanh(x); })},
      {"asinh", one([](double x) { return std::asinh(x); })},
      {"acosh", one([](double x) { return std::acosh(x); }, kFromOne)},
      {"atanh", one([](double x) { return std::atanh(x); }, kUnit)},
      {"erf", one([](double x) { return std::erf(x); })},
      {"erfc", one([](double x) { return std::erfc(x); })},
      {"erfinv", one(erfinv_of, kUnit)},
      {"lgamma", one([](double x) { return std::lgamma(x); }, kPositive)},
      {"digamma", one(digamma_of, kPositive)},
      {"sigmoid", one(sigmoid_of)},
      {"logsigmoid", one([](double x) { return std::log(sigmoid_of(x)); })},
      {"silu", one([](double x) { return x * sigmoid_of(x); })},
      {"mish", one(mish_of)},
      {"relu", one([](double x) { return x > 0 ? x : 0; })},
      {"relu6", one([](double x) { return std::fmin(std::fmax(x, 0), 6); }, {-9, 9})},
      {"hardsigmoid", one([](double x) { return std::fmin(std::fmax(x / 6 + 0.5, 0), 1); }, {-6, 6})},
      {"hardswish", one([](double x) { return x * std::fmin(std::fmax(x / 6 + 0.5, 0), 1); }, {-6, 6})},
      {"selu", one([](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)); })},
      {"softsign", one([](double x) { return x / (1 + std::fabs(x)); })},
      {"tanhshrink", one([](double x) { return x - std::tanh(x); })},
      {"sinc", one([](double x) { return x == 0 ? 1 : std::sin(pi * x) / (pi * x); })},
      {"angle", one([](double x) { return x < 0 ? pi : x - x; })},
      {"deg2rad", one([](double x) { return x / 180 * pi; })},
      {"rad2deg", one([](double x) { return x / pi * 180; })},
      {"isnan", one([](double x) { return double(std::isnan(x)); })},
      {"isinf", one([](double x) { return double(std::isinf(x)); })},
      {"isfinite", one([](double x) { return double(std::isfinite(x)); })},
      {"isposinf", one([](double x) { return double(std::isinf(x) && x > 0); })},
      {"isneginf", one([](double x) { return double(std::isinf(x) && x < 0); })},
      {"signbit", one([](double x) { return double(std::signbit(x)); })},
      {"logical_not", one([](double x) { return double(x == 0); })},
      {"bitwise_not", one([](double x) { return double(~whole(x)); })},
      {"add", two([](double a, double b) { return a + b; })},
      {"sub", two([](double a, double b) { return a - b; })},
      {"rsub", two([](double a, double b) { return b - a; })},
      {"mul", two([](double a, double b) { return a * b; })},
      {"div", two([](double a, double b) { return a / b; }, {}, kPositive)},
      {"floor_divide", two([](double a, double b) { return std::floor(a / b); }, {}, kPositive)},
      {"remainder", two(modulo, {}, kPositive)},
      {"fmod", two([](double a, double b) { return std::fmod(a, b); }, {}, kPositive)},
      {"pow", two([](double a, double b) { return std::pow(a, b); }, {0.2, 3}, {0.2, 3})},
      {"atan2", two([](double a, double b) { return std::atan2(a, b); })},
      {"hypot", two([](double a, double b) { return std::hypot(a, b); })},
      {"copysign", two([](double a, double b) { return std::copysign(a, b); })},
      {"maximum", two([](double a, double b) { return a != a || a > b ? a : b; })},
      {"minimum", two([](double a, double b) { return a != a || a < b ? a : b; })},
      {"fmax", two([](double a, double b) { return std::fmax(a, b); })},
      {"fmin", two([](double a, double b) { return std::fmin(a, b); })},
      {"xlogy", two([](double a, double b) { return a == 0 ? 0 : a * std::log(b); }, {}, kPositive)},
      {"logaddexp", two([](double a, double b) { return std::log(std::exp(a) + std::exp(b)); })},
      {"logaddexp2", two([](double a, double b) { return std::log2(std::exp2(a) + std::exp2(b)); })},
      {"ldexp", two([](double a, double b) { return a * std::exp2(b); })},
      {"heaviside", two([](double a, double b) { return a < 0   ? 0
                                                        : a > 0 ? 1
                                                                : b; })},
      {"eq", two([](double a, double b) { return double(a == b); })},
      {"ne", two([](double a, double b) { return double(a != b); })},
      {"lt", two([](double a, double b) { return double(a < b); })},
      {"le", two([](double a, double b) { return double(a <= b); })},
      {"gt", two([](double a, double b) { return double(a > b); })},
      {"ge", two([](double a, double b) { return double(a >= b); })},
      {"logical_and", two([](double a, double b) { return double(a != 0 && b != 0); })},
      {"logical_or", two([](double a, double b) { return double(a != 0 || b != 0); })},
      {"logical_xor", two([](double a, double b) { return double((a != 0) != (b != 0)); })},
      {"bitwise_and", two([](double a, double b) { return double(whole(a) & whole(b)); })},
      {"bitwise_or", two([](double a, double b) { return double(whole(a) | whole(b)); })},
      {"bitwise_xor", two([](double a, double b) { return double(whole(a) ^ whole(b)); })},
      {"bitwise_left_shift", two([](double a, double b) { return a * std::exp2(b); }, {0, 6}, {0, 3})},
      {"bitwise_right_shift", two([](double a, double b) { return std::floor(a / std::exp2(b)); }, {0, 60}, {0, 3})},
      {"tanh_backward", two([](double g, double y) { return g * (1 - y * y); })},
      {"sigmoid_backward", two([](double g, double y) { return g * y * (1 - y); })},
      {"silu_backward", two([](double g, double x) { return g * sigmoid_of(x) * (1 + x * sigmoid_of(-x)); })},
      {"mish_backward", two([](double g, double x) { return g * slope(mish_of, x); })},
      {"gelu_backward", two([](double g, double x) { return g * slope_of_gelu(x); })},
      {"hardswish_backward", two([](double g, double x) { return x <= -3 ? 0
                                                                 : x < 3 ? g * (x / 3 + 0.5)
                                                                         : g; }, {}, {-6, 6})},
      {"gelu_tanh_backward", two([](double g, double x) { return g * slope(gelu_by_tanh, x); })},
  };
  return all;
}

DTypes dtypes_of(Rule rule) {
  switch (rule) {
    case Rule::NoBool: return kNumbers;
    case Rule::Floating: return kFloating;
    case Rule::Integer: return kIntegers | only(kBool);
    case Rule::Shift: return kIntegers;
    default: return kAnyType;
  }
}

Tensor drawn(const Shape& sizes, Range range) { return rand(sizes) * (range.high - range.low) + range.low; }

/// Inputs that every pointwise operation gets: vectors longer than a register, several dimensions, none, no elements; of two operands those
/// that broadcast too, and a number.
std::vector<Sample> samples_for(int operands, Range a, Range b) {
  Inputs in;
  if (operands == 1) {
    in.add(drawn({37}, a));
    in.add(drawn({2, 3, 5}, a));
    in.add(drawn({}, a));
    in.add(drawn({0, 3}, a));
    return in.samples();
  }
  in.add(drawn({37}, a), drawn({37}, b));
  in.add(drawn({2, 3, 5}, a), drawn({3, 1}, b));
  in.add(drawn({4, 1}, a), drawn({3}, b));
  in.add(drawn({}, a), drawn({}, b));
  in.add(drawn({3}, a), drawn({}, b));
  in.add(drawn({0, 3}, a), drawn({3}, b));
  return in.samples();
}

Operation from_row(const ListRow& row, const Reference& reference) {
  Operation out;
  out.name = row.name;
  const bool step_of_gradient = out.name.ends_with("_backward");
  out.torch = step_of_gradient ? "" : out.name;
  out.dtypes = dtypes_of(row.rule);
  if (out.name == "bitwise_not") out.without_reference = only(kBool);  // there it is logical_not
  out.gives = row.rule == Rule::Float ? Gives::Floating : row.rule == Rule::Widen ? Gives::Any : Gives::Same;
  out.tolerance = 2;
  out.gradient = row.gradient;
  const Range a = reference.a, b = reference.b;
  out.samples = [operands = row.operands, a, b] { return samples_for(operands, a, b); };
  out.many = [operands = row.operands](int64_t n) {
    Inputs in;
    if (operands == 1) {
      in.add(ones({n}));
    } else {  // broadcast: the gradient of the single one is a sum
      in.add(ones({n}), ones({1}));
      in.add(ones({1}), ones({n}));
    }
    return in.samples();
  };
  const bool truth = gives_bool(row.rule);
  const DType timed = has(out.dtypes, kFloat32) ? kFloat32 : kInt32;
  if (row.operands == 1) {
    out.run = [f = row.unary](const Arguments& in) { return f(in[0].as<Tensor>(), Site::here()); };
    out.in_place = [f = row.unary_in_place](const Arguments& in) { return f(in[0].as<Tensor>(), Site::here()); };
    out.reference = [f = reference.unary, truth](const Arguments& in) {
      const Tensor y = each(in[0].as<Tensor>(), f);
      return truth ? y != 0 : y;
    };
    out.bench = [a, timed](int64_t n) { return Sample{{Argument(drawn({n}, a).to(timed))}}; };
  } else {
    out.run = [f = row.binary](const Arguments& in) { return f(in[0].as<Tensor>(), in[1].as<Tensor>(), Site::here()); };
    out.in_place = [f = row.binary_in_place](const Arguments& in) { return f(in[0].as<Tensor>(), in[1].as<Tensor>(), Site::here()); };
    out.reference = [f = reference.binary, truth](const Arguments& in) {
      const Tensor y = each(in[0].as<Tensor>(), in[1].as<Tensor>(), f);
      return truth ? y != 0 : y;
    };
    out.bench = [a, b, timed](int64_t n) { return Sample{{Argument(drawn({n}, a).to(timed)), Argument(drawn({n}, b).to(timed))}}; };
  }
  out.timed = out.run;
  return out;
}

}  // namespace

void add_pointwise(std::vector<Operation>& list) {
  for (const ListRow& row : kRows)
    if (const auto known = references().find(row.name); known != references().end()) list.push_back(from_row(row, known->second));
}

std::vector<std::string> pointwise_without_reference() {
  std::vector<std::string> out;
  for (const ListRow& row : kRows)
    if (!references().contains(row.name)) out.emplace_back(row.name);
  return out;
}

}  // namespace tandem::cases
