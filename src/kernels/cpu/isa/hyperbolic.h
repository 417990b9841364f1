// The hyperbolic functions and their inverses, and pow, of floats: where AVX-512 has its tables in float, else in double, rounded once.
#pragma once

#include "kernels/cpu/isa/exponential.h"

namespace tandem::kernels::cpu::TD_ISA {

// Good to a float's precision and range.
TD_INLINE Vec<double> sinh_of(Vec<double> x) {
  const Vec<double> e = expm1_of(abs(x));
  return copysign(select(e < Vec<double>(kInf<double>), (e + e / (e + Vec<double>(1))) * Vec<double>(0.5), e), x);
}
TD_INLINE Vec<double> cosh_of(Vec<double> x) {
  const Vec<double> e = exp_of(abs(x));
  return (e + Vec<double>(1) / e) * Vec<double>(0.5);
}
TD_INLINE Vec<double> asinh_of(Vec<double> x) {
  using V = Vec<double>;
  const V a = abs(x);
  return copysign(select(a < V(kInf<double>), log1p_of(a + a * a / (V(1) + sqrt(a * a + V(1)))), a), x);
}
TD_INLINE Vec<double> acosh_of(Vec<double> x) {
  using V = Vec<double>;
  const V t = x - V(1);
  return select(x < V(1), V(kNan<double>), log1p_of(t + sqrt(t * (t + V(2)))));
}
TD_INLINE Vec<double> atanh_of(Vec<double> x) {
  using V = Vec<double>;
  const V a = abs(x);
  return copysign(V(0.5) * log1p_of((a + a) / (V(1) - a)), x);
}

#if defined(__AVX512F__)
inline constexpr float kLargestSquared = 0x1p60F;
TD_INLINE Vec<float> sinh_of(Vec<float> x) {
  using V = Vec<float>;
  const V a = abs(x), quarter = quarter_expm1_by_table(a), half = quarter + quarter;
  return select(a < V(0x1p-12), x, copysign(half + quarter / (half + V(0.5)), x));  // (e + e / (e + 1)) / 2
}
TD_INLINE Vec<float> cosh_of(Vec<float> x) {
  using V = Vec<float>;
  const Scaled e = exp_by_table(abs(x));
  const V half = Scaled{e.mantissa, e.n - V(1)}.value();
  return half + V(0.25) / half;
}
TD_INLINE Vec<float> asinh_of(Vec<float> x) {
  using V = Vec<float>;
  const V a = abs(x), y = copysign(log1p_by_table(a + a * a / (V(1) + sqrt(fma(a, a, V(1))))), x);
  if (any_beyond(x, kLargestSquared)) [[unlikely]]
    return beyond_in_double(x, y, kLargestSquared, [](Vec<double> v) { return asinh_of(v); });
  return y;
}
TD_INLINE Vec<float> acosh_of(Vec<float> x) {
  using V = Vec<float>;
  const V t = x - V(1), y = select(x < V(1), V(kNan<float>), log1p_by_table(t + sqrt(t * (t + V(2)))));
  if (any_beyond(x, kLargestSquared)) [[unlikely]]
    return beyond_in_double(x, y, kLargestSquared, [](Vec<double> v) { return acosh_of(v); });
  return y;
}
TD_INLINE Vec<float> atanh_of(Vec<float> x) {
  using V = Vec<float>;
  const V a = abs(x);
  return copysign(select(a < V(0x1p-12), a, V(0.5) * log1p_by_table((a + a) / (V(1) - a))), x);
}
#else
#define TD_IN_DOUBLE(function)                                      \
  TD_INLINE Vec<float> function(Vec<float> x) {                     \
    return in_double(x, [](Vec<double> v) { return function(v); }); \
  }
TD_IN_DOUBLE(sinh_of)
TD_IN_DOUBLE(cosh_of)
TD_IN_DOUBLE(asinh_of)
TD_IN_DOUBLE(acosh_of)
TD_IN_DOUBLE(atanh_of)
#undef TD_IN_DOUBLE
#endif

#if defined(__AVX512F__)
/// 2^(b log2(a)), the logarithm and the product in two parts.
TD_INLINE Vec<float> positive_pow(Vec<float> a, Vec<float> b) {
  const Parts log = log2_in_parts(a);
  const Parts power = product(b, log.high);
  return exp2_by_table(power.high, fma(b, log.low, power.low));
}
#else
/// Through double: exp(b log(a)) keeps more digits than a float has.
TD_INLINE Vec<float> positive_pow(Vec<float> a, Vec<float> b) {
  return in_double(a, b, [](Vec<double> x, Vec<double> z) { return exp_of(z * log_of(x)); });
}
#endif
/// Squares of floats neither overflow nor vanish in double. Not inlined: such floats are rare, and the loop keeps its registers.
[[gnu::noinline, gnu::cold]] inline Vec<float> hypot_in_double(Vec<float> a, Vec<float> b) {
  const Vec<float> inf(kInf<float>), y = in_double(a, b, [](Vec<double> x, Vec<double> z) { return sqrt(x * x + z * z); });
  return select((abs(a) == inf) | (abs(b) == inf), inf, y);
}

/// Not inlined: zeros, infinities and nan are rare, and the loop keeps its registers.
[[gnu::noinline, gnu::cold]] inline Vec<float> special_pow(Vec<float> a, Vec<float> b, Vec<float> usual, Mask<float> special) {
  return select(special, each(a, b, [](float x, float z) { return std::pow(x, z); }), usual);
}
TD_INLINE Vec<float> pow_of(Vec<float> a, Vec<float> b) {
  using V = Vec<float>;
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
