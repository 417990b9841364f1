// The hyperbolic functions and their inverses, hypot and pow, of floats: in double, rounded once.
#pragma once

#include "kernels/cpu/isa/exponential.h"

namespace tandem::kernels::cpu::TD_ISA {

// Of doubles, good to a float's precision and range.
TD_INLINE Vec<double> sinh_for_float(Vec<double> x) {
  const Vec<double> e = expm1(abs(x));
  return copysign(select(e < Vec<double>(kInf<double>), (e + e / (e + Vec<double>(1))) * Vec<double>(0.5), e), x);
}
TD_INLINE Vec<double> cosh_for_float(Vec<double> x) {
  const Vec<double> e = exp(abs(x));
  return (e + Vec<double>(1) / e) * Vec<double>(0.5);
}
TD_INLINE Vec<double> asinh_for_float(Vec<double> x) {
  using V = Vec<double>;
  const V a = abs(x);
  return copysign(select(a < V(kInf<double>), log1p(a + a * a / (V(1) + sqrt(a * a + V(1)))), a), x);
}
TD_INLINE Vec<double> acosh_for_float(Vec<double> x) {
  using V = Vec<double>;
  const V t = x - V(1);
  return select(x < V(1), V(kNan<double>), log1p(t + sqrt(t * (t + V(2)))));
}
TD_INLINE Vec<double> atanh_for_float(Vec<double> x) {
  using V = Vec<double>;
  const V a = abs(x);
  return copysign(V(0.5) * log1p((a + a) / (V(1) - a)), x);
}

#define TD_IN_DOUBLE(name)                                                  \
  template <std::same_as<float> T>                                          \
  TD_INLINE Vec<T> name(Vec<T> x) {                                         \
    return in_double(x, [](Vec<double> v) { return name##_for_float(v); }); \
  }
TD_IN_DOUBLE(sinh)
TD_IN_DOUBLE(cosh)
TD_IN_DOUBLE(asinh)
TD_IN_DOUBLE(acosh)
TD_IN_DOUBLE(atanh)
#undef TD_IN_DOUBLE

/// a^b for positive a: exp(b log(a)) in double keeps more digits than a float has.
template <std::same_as<float> T>
TD_INLINE Vec<T> positive_pow(Vec<T> a, Vec<T> b) {
  return in_double(a, b, [](Vec<double> x, Vec<double> z) { return exp(z * log(x)); });
}
/// Squares of floats neither overflow nor vanish in double. Not inlined: such floats are rare, and the loop keeps its registers.
[[gnu::noinline, gnu::cold]] inline Vec<float> hypot_in_double(Vec<float> a, Vec<float> b) {
  const Vec<float> inf(kInf<float>), y = in_double(a, b, [](Vec<double> x, Vec<double> z) { return sqrt(x * x + z * z); });
  return select((abs(a) == inf) | (abs(b) == inf), inf, y);
}

/// Not inlined: zeros, infinities and nan are rare, and the loop keeps its registers.
[[gnu::noinline, gnu::cold]] inline Vec<float> special_pow(Vec<float> a, Vec<float> b, Vec<float> usual, Mask<float> special) {
  return select(special, each(a, b, [](float x, float z) { return std::pow(x, z); }), usual);
}
template <std::same_as<float> T>
TD_INLINE Vec<T> pow(Vec<T> a, Vec<T> b) {
  using V = Vec<T>;
  const V magnitude = abs(a), inf(kInf<float>);
  V y = positive_pow(magnitude, b);
  if (any(!((a > V(0)) & (a < inf) & (abs(b) < inf)))) [[unlikely]] {
    const V half = b * V(0.5);
    const Mask<float> negative = a < V(0), whole = trunc(b) == b, odd = whole & (trunc(half) != half);
    y = select(negative & !whole, V(kNan<float>), select(negative & odd, -y, y));
    const Mask<float> special = (!(magnitude < inf)) | (!(abs(b) < inf)) | (a == V(0));
    if (any(special)) [[unlikely]]
      return special_pow(a, b, y, special);
  }
  return y;
}

}  // namespace tandem::kernels::cpu::TD_ISA
