// Every functor against the standard library in more precision, over a wide range of values and the special ones.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "kernels/raw.h"

namespace tandem::kernels::testing {
namespace {

using Real = long double;
using cpu::Tile;
using One = Real (*)(Real);

struct Unary {
  PointwiseOp op;
  const char* name;
  One reference;
  double ulps_float, ulps_double;
  Real low = -INFINITY, high = INFINITY;  // values outside are not tried
};

Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
Real softplus(Real x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
Real digamma(Real x) {  // for x > 0: from far out, where the series is exact
  Real y = 0;
  for (; x < 40; x += 1) y -= 1 / x;
  const Real z = 1 / (x * x);
  return y + std::log(x) - 1 / (2 * x) - z * (Real(1) / 12 - z * (Real(1) / 120 - z * (Real(1) / 252 - z * (Real(1) / 240 - z / 132))));
}
Real erfinv(Real x) {  // Newton's method from below
  const Real magnitude = std::fabs(x);
  if (!(magnitude < 1)) return magnitude == 1 ? x * INFINITY : Real(NAN);
  Real y = magnitude * 0.88622692545275801365L;
  for (int i = 0; i < 200; ++i) {
    const Real rest = magnitude < 0.5L ? magnitude - std::erf(y) : std::erfc(y) - (1 - magnitude);
    y += rest * 0.88622692545275801365L * std::exp(y * y);
  }
  return std::copysign(y, x);
}
Real erf_scaled(Real x) { return std::erf(x / std::sqrt(Real(2))); }

const Unary kUnary[] = {
    {PointwiseOp::neg, "neg", [](Real x) { return -x; }, 0, 0},
    {PointwiseOp::abs, "abs", [](Real x) { return std::fabs(x); }, 0, 0},
    {PointwiseOp::sign, "sign", [](Real x) { return Real(x > 0) - Real(x < 0); }, 0, 0},
    {PointwiseOp::square, "square", [](Real x) { return x * x; }, 0.5, 0.5},
    {PointwiseOp::floor, "floor", [](Real x) { return std::floor(x); }, 0, 0},
    {PointwiseOp::ceil, "ceil", [](Real x) { return std::ceil(x); }, 0, 0},
    {PointwiseOp::round, "round", [](Real x) { return std::nearbyint(x); }, 0, 0},
    {PointwiseOp::trunc, "trunc", [](Real x) { return std::trunc(x); }, 0, 0},
    {PointwiseOp::frac, "frac", [](Real x) { return x - std::trunc(x); }, 0, 0, -1e30L, 1e30L},
    {PointwiseOp::exp, "exp", [](Real x) { return std::exp(x); }, 1.1, 1.1},
    {PointwiseOp::exp2, "exp2", [](Real x) { return std::exp2(x); }, 1.5, 1.5},
    {PointwiseOp::expm1, "expm1", [](Real x) { return std::expm1(x); }, 2, 2},
    {PointwiseOp::log, "log", [](Real x) { return std::log(x); }, 1.5, 1.5},
    {PointwiseOp::log2, "log2", [](Real x) { return std::log2(x); }, 1, 1},
    {PointwiseOp::log10, "log10", [](Real x) { return std::log10(x); }, 1, 2},
    {PointwiseOp::log1p, "log1p", [](Real x) { return std::log1p(x); }, 2, 2},
    {PointwiseOp::sqrt, "sqrt", [](Real x) { return std::sqrt(x); }, 0.5, 0.5},
    {PointwiseOp::rsqrt, "rsqrt", [](Real x) { return 1 / std::sqrt(x); }, 1.5, 1.5},
    {PointwiseOp::reciprocal, "reciprocal", [](Real x) { return 1 / x; }, 0.5, 0.5},
    {PointwiseOp::sin, "sin", [](Real x) { return std::sin(x); }, 2, 1, -1e15L, 1e15L},
    {PointwiseOp::cos, "cos", [](Real x) { return std::cos(x); }, 2, 1, -1e15L, 1e15L},
    {PointwiseOp::tan, "tan", [](Real x) { return std::tan(x); }, 2.75, 1.5, -1e15L, 1e15L},
    {PointwiseOp::asin, "asin", [](Real x) { return std::asin(x); }, 2.5, 1},
    {PointwiseOp::acos, "acos", [](Real x) { return std::acos(x); }, 1.5, 1},
    {PointwiseOp::atan, "atan", [](Real x) { return std::atan(x); }, 2, 1},
    {PointwiseOp::sinh, "sinh", [](Real x) { return std::sinh(x); }, 2.75, 2},
    {PointwiseOp::cosh, "cosh", [](Real x) { return std::cosh(x); }, 1.75, 2},
    {PointwiseOp::tanh, "tanh", [](Real x) { return std::tanh(x); }, 3, 3},
    {PointwiseOp::asinh, "asinh", [](Real x) { return std::asinh(x); }, 2, 2.5},
    {PointwiseOp::acosh, "acosh", [](Real x) { return std::acosh(x); }, 2, 2.5},
    {PointwiseOp::atanh, "atanh", [](Real x) { return std::atanh(x); }, 2.25, 2.5},
    {PointwiseOp::erf, "erf", [](Real x) { return std::erf(x); }, 2.5, 1.5},
    {PointwiseOp::erfc, "erfc", [](Real x) { return std::erfc(x); }, 5, 5},
    {PointwiseOp::erfinv, "erfinv", erfinv, 1, 4},
    {PointwiseOp::lgamma, "lgamma", [](Real x) { return std::lgamma(x); }, 1, 6, 0, 1e30L},
    {PointwiseOp::digamma, "digamma", digamma, 1, 16, 2, 1e30L},
    {PointwiseOp::sigmoid, "sigmoid", sigmoid, 3, 3, -87, INFINITY},
    {PointwiseOp::logsigmoid, "logsigmoid", [](Real x) { return -softplus(-x); }, 3, 3, -INFINITY, 80},
    {PointwiseOp::silu, "silu", [](Real x) { return x * sigmoid(x); }, 3.5, 3.5, -80, 1e30L},
    {PointwiseOp::mish, "mish", [](Real x) { return x * std::tanh(softplus(x)); }, 6, 6, -80, 1e30L},
    {PointwiseOp::gelu, "gelu", [](Real x) { return x / 2 * (1 + erf_scaled(x)); }, 4, 4, -0.5L, 1e30L},
    {PointwiseOp::gelu_tanh, "gelu_tanh",
     [](Real x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846264L) * (x + 0.044715L * x * x * x))); }, 4, 4, -0.5L,
     1e9L},
    {PointwiseOp::relu, "relu", [](Real x) { return x >= 0 || x != x ? x : Real(0); }, 0, 0},
    {PointwiseOp::relu6, "relu6", [](Real x) { return x != x   ? x
                                                      : x >= 0 ? std::min(x, Real(6))
                                                               : Real(0); }, 0, 0},
    {PointwiseOp::hardsigmoid, "hardsigmoid", [](Real x) { return x != x ? x : std::clamp(x + 3, Real(0), Real(6)) / 6; }, 2, 2, -2,
     INFINITY},
    {PointwiseOp::hardswish, "hardswish", [](Real x) { return x != x ? x : x * std::clamp(x + 3, Real(0), Real(6)) / 6; }, 3, 3, -2, 1e30L},
    {PointwiseOp::selu, "selu", [](Real x) { return 1.0507009873554804934L * (x > 0 ? x : 1.6732632423543772848L * std::expm1(x)); }, 4, 4,
     -INFINITY, 1e30L},
    {PointwiseOp::softsign, "softsign", [](Real x) { return x / (1 + std::fabs(x)); }, 2, 2, -1e30L, 1e30L},
    {PointwiseOp::deg2rad, "deg2rad", [](Real x) { return x * 3.14159265358979323846264L / 180; }, 1.5, 1.5},
    {PointwiseOp::rad2deg, "rad2deg", [](Real x) { return x * 180 / 3.14159265358979323846264L; }, 1.5, 1.5},
    {PointwiseOp::isnan, "isnan", [](Real x) { return Real(std::isnan(x)); }, 0, 0},
    {PointwiseOp::isinf, "isinf", [](Real x) { return Real(std::isinf(x)); }, 0, 0},
    {PointwiseOp::isfinite, "isfinite", [](Real x) { return Real(std::isfinite(x)); }, 0, 0},
    {PointwiseOp::isposinf, "isposinf", [](Real x) { return Real(x == INFINITY); }, 0, 0},
    {PointwiseOp::isneginf, "isneginf", [](Real x) { return Real(x == -INFINITY); }, 0, 0},
    {PointwiseOp::signbit, "signbit", [](Real x) { return Real(std::signbit(x)); }, 0, 0},
    {PointwiseOp::logical_not, "logical_not", [](Real x) { return Real(x == 0); }, 0, 0},
};

template <class T>
std::vector<T> values(uint64_t seed) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> all = {T(0),
                        T(-0.0),
                        T(1),
                        T(-1),
                        T(0.5),
                        T(-0.5),
                        T(1.5),
                        T(2.5),
                        T(-2.5),
                        T(2),
                        T(3),
                        T(-3),
                        T(10),
                        T(100),
                        T(-100),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::min(),
                        -Limits::min(),
                        Limits::denorm_min(),
                        -Limits::denorm_min(),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::epsilon(),
                        T(88.7),
                        T(88.8),
                        T(-87.5),
                        T(-103),
                        T(-104),
                        T(709.7),
                        T(-745),
                        T(127),
                        T(128),
                        T(1023),
                        T(1024),
                        T(3.14159265358979),
                        T(1.57079632679489),
                        T(-1) + Limits::epsilon(),
                        T(1) - Limits::epsilon(),
                        T(1) + Limits::epsilon()};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> near(-10, 10), exponent(-40, 20),
      far(-std::log10(Limits::max()) * 1.15, std::log10(Limits::max()));
  for (int i = 0; i < 20000; ++i) all.push_back(static_cast<T>(near(random)));
  for (int i = 0; i < 10000; ++i) all.push_back(static_cast<T>(near(random) * 10));
  for (int i = 0; i < 10000; ++i) all.push_back(static_cast<T>((i % 2 ? 1 : -1) * std::exp2(exponent(random))));
  for (int i = 0; i < 10000; ++i) all.push_back(static_cast<T>((i % 2 ? 1 : -1) * std::pow(10.0, far(random))));
  return all;
}

/// How far `got` is from `wanted`, in units of T's last place there.
template <class T>
double distance(T got, Real wanted) {
  const T rounded = static_cast<T>(wanted);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : INFINITY;
  if (got == rounded) {
    if (got == 0 && std::signbit(got) != std::signbit(rounded)) return INFINITY;
    if (std::isinf(got)) return 0;
    using Limits = std::numeric_limits<T>;
    const int exponent = got == 0 ? Limits::min_exponent - 1 : std::ilogb(got);
    const Real unit = std::max<Real>(std::ldexp(Real(1), exponent - Limits::digits + 1), Limits::denorm_min());
    return static_cast<double>(std::fabs(static_cast<Real>(got) - wanted) / unit);
  }
  if (std::isnan(got) || std::isinf(got)) {
    const Real edge = std::numeric_limits<T>::max();
    return std::isinf(got) && std::fabs(wanted) >= edge * (1 - Real(std::numeric_limits<T>::epsilon())) ? 1 : INFINITY;
  }
  const Real base = std::min<Real>(std::fabs(wanted), std::numeric_limits<T>::max());
  const int exponent = base == 0 ? std::numeric_limits<T>::min_exponent : std::ilogb(base);
  const Real ulp = std::max<Real>(std::ldexp(Real(1), exponent - std::numeric_limits<T>::digits + 1), std::numeric_limits<T>::denorm_min());
  return static_cast<double>(
      std::fabs(static_cast<Real>(got) - std::clamp<Real>(wanted, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max())) / ulp);
}

template <class T>
void check(const Unary& test, double limit) {
  std::vector<T> in;
  for (const T x : values<T>(7))
    if (!(x < test.low) && !(x > test.high)) in.push_back(x);
  const auto n = static_cast<int64_t>(in.size());
  const DType dtype = dtype_of<T>();
  const Tile tile = nullptr;
  (void)tile;
  Memory result(dtype, n);
  Pointwise call = call_of(test.op, dtype, result.out({n}), true);
  View v = result.view({n});
  v.data = in.data();
  add_operand(call, v);
  TestQueue queue;
  cpu_table().pointwise(queue, call);
  ASSERT_EQ(queue.trouble(), Trouble::None) << test.name;
  double worst = 0;
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double d = distance(result.as<T>()[i], test.reference(in[static_cast<size_t>(i)]));
    if (d > worst) worst = d, at = i;
  }
  ::testing::Test::RecordProperty(std::string(test.name) + (sizeof(T) == 4 ? "_float" : "_double"), std::to_string(worst));
  EXPECT_LE(worst, limit) << test.name << " of " << in[static_cast<size_t>(at)] << " in " << name(dtype) << " gave " << result.as<T>()[at]
                          << ", not " << static_cast<T>(test.reference(in[static_cast<size_t>(at)]));
  if (std::getenv("TD_SHOW_ULPS"))
    std::printf("%-12s %-8s %-8s %.3f at %.9g\n", cpu::isa().name, test.name, name(dtype), worst, double(in[static_cast<size_t>(at)]));
}

class Accuracy : public EverySet {};
TD_EVERY_SET(Accuracy);

TEST_P(Accuracy, Float) {
  for (const Unary& test : kUnary) check<float>(test, test.ulps_float);
}
TEST_P(Accuracy, Double) {
  for (const Unary& test : kUnary) check<double>(test, test.ulps_double);
}

/// Below -0.5 the factor is the small tail of the distribution, so that its digits are counted from 1: not positive, and 0 in the end.
TEST_P(Accuracy, GeluOfNegativeNumbers) {
  constexpr int64_t n = 13001;
  Memory in(kFloat32, n), result(kFloat32, n);
  for (int64_t i = 0; i < n; ++i) in.set(i, -0.5 - 0.001 * static_cast<double>(i));
  in.set(n - 1, -1e30);
  Pointwise call = call_of(PointwiseOp::gelu, kFloat32, result.out({n}), true);
  add_operand(call, in.view({n}));
  cpu_table().pointwise(TestQueue(), call);
  for (int64_t i = 0; i < n; ++i) {
    const Real x = in.get(i), wanted = x / 2 * std::erfc(-x / std::sqrt(Real(2)));
    ASSERT_LE(result.get(i), 0) << x;
    ASSERT_LE(std::fabs(result.get(i) - wanted), std::fabs(x) * 0x1p-23L * (x > -100)) << x;
  }
}

/// Bases from all over the range, and close to 1, with exponents that lead to its ends.
TEST_P(Accuracy, PowersNearTheEndsOfTheRange) {
  constexpr int64_t n = 20000;
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(-1, 1);
  const std::function<double()> bases[] = {[&] { return std::exp2(125 * unit(random)); }, [&] { return 1 + 0.03 * unit(random); },
                                           [&] { return 1 + 1e-5 * unit(random); }};
  for (const auto& base : bases) {
    Memory a(kFloat32, n), b(kFloat32, n), result(kFloat32, n);
    for (int64_t i = 0; i < n; ++i) {
      a.set(i, base());
      b.set(i, a.get(i) == 1 ? 2 : 126 * unit(random) / std::log2(a.get(i)));
    }
    Pointwise call = call_of(PointwiseOp::pow, kFloat32, result.out({n}), true);
    add_operand(call, a.view({n}));
    add_operand(call, b.view({n}));
    cpu_table().pointwise(TestQueue(), call);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_LE(distance(static_cast<float>(result.get(i)), std::pow(Real(a.get(i)), Real(b.get(i)))), 3.25)
          << a.get(i) << " to " << b.get(i);
  }
}

}  // namespace
}  // namespace tandem::kernels::testing
