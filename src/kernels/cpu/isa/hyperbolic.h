// Of floats: the hyperbolic functions and their inverses, in double where products are not fused with sums, and pow and hypot.
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

/// e^a / 2, for a >= 0.
TD_INLINE Vec<float> half_exp(Vec<float> a) {
  using V = Vec<float>;
  const Reduced<float> e = reduce_exp(min(V(89.5), a));
  const V p = fma(exp_tail(e.r) * e.r, e.r, e.r) + V(1);
  return (p + p) * power_of_two(e.n - V(2));  // the power of two stays within its range
}

// Where products and sums are fused, in float: near zero a polynomial in z = x^2 of (f(x) / x - 1) / z, which has the least greatest error
// relative to f(x) (Remez's exchange; 2^-34 for sinh, 2^-28 for asinh, 2^-29 for atanh).
template <std::same_as<float> T>
TD_INLINE Vec<T> sinh(Vec<T> x) {
  if constexpr (!kHasFma) return in_double(x, [](Vec<double> v) { return sinh_for_float(v); });
  using V = Vec<T>;
  const V a = abs(x), z = a * a, half = half_exp(a);
  const V near = fma(polynomial(z, 0.166666665, 0.008333350058, 0.0001983615988, 2.816950717e-6) * z, a, a);
  return copysign(select(a < V(1), near, half - V(0.25) / half), x);
}
template <std::same_as<float> T>
TD_INLINE Vec<T> cosh(Vec<T> x) {
  if constexpr (!kHasFma) return in_double(x, [](Vec<double> v) { return cosh_for_float(v); });
  const Vec<T> half = half_exp(abs(x));
  return half + Vec<T>(0.25) / half;
}
template <std::same_as<float> T>
TD_INLINE Vec<T> asinh(Vec<T> x) {
  if constexpr (!kHasFma) return in_double(x, [](Vec<double> v) { return asinh_for_float(v); });
  using V = Vec<T>;
  const V a = abs(x), z = a * a;
  const V near = fma(polynomial(z, -0.1666662929, 0.07498703698, -0.04448699932, 0.02945311164, -0.01917574446, 0.01042378479,
                                -0.003834297071, 0.0006729904151) *
                         z,
                     a, a);
  const Mask<T> large = a > V(0x1p20);  // log(2a)
  const V root = sqrt(fma(a, a, V(1))), u = a + root, lost = a - (u - root);
  const V far = log_of_sum(select(large, a, u), select(large, V(0), lost), select(large, V(1), V(0)));
  return copysign(select(a < V(1), near, far), x);
}
template <std::same_as<float> T>
TD_INLINE Vec<T> acosh(Vec<T> x) {
  if constexpr (!kHasFma) return in_double(x, [](Vec<double> v) { return acosh_for_float(v); });
  using V = Vec<T>;
  const Mask<T> large = x > V(0x1p20);  // log(2x)
  const V t = x - V(1), root = sqrt(fma(t, t, t + t)), v = t + root, u = v + V(1);
  const V lost = (v - (u - V(1))) + (t - (v - root));
  return log_of_sum(select(large, x, select(x < V(1), V(-1), u)), select(large, V(0), lost), select(large, V(1), V(0)));
}
template <std::same_as<float> T>
TD_INLINE Vec<T> atanh(Vec<T> x) {
  if constexpr (!kHasFma) return in_double(x, [](Vec<double> v) { return atanh_for_float(v); });
  using V = Vec<T>;
  const V a = abs(x), z = a * a;
  const V near = fma(polynomial(z, 0.3333330007, 0.2000251823, 0.1422276194, 0.1182373534, 0.0513579918, 0.17669153) * z, a, a);
  const V far = V(0.5) * log_of_sum((V(1) + a) / (V(1) - a), V(0), V(0));
  return copysign(select(a < V(0.5), near, far), x);
}

/// 2^(b log2(a)) for positive finite a: the logarithm and the product in double, to 37 digits. The logarithm of m in [sqrt(1/2), sqrt(2))
/// is an odd polynomial of s = (m - 1) / (m + 1). Both polynomials have the least greatest relative error, 2^-38 and 2^-34 (Remez's
/// exchange).
template <std::same_as<float> T>
TD_INLINE Vec<T> positive_pow(Vec<T> a, Vec<T> b) {
  using V = Vec<double>;
  const Split<T> parts = split(a);
  const Halves m = widen(parts.m), e = widen(parts.e), exponent = widen(b);
  const auto power = [](V mantissa, V whole, V z) __attribute__((always_inline)) {
    const V s = (mantissa - V(1)) / (mantissa + V(1));
    const V log2 =
        fma(polynomial(s * s, 2.8853900817900815, 0.96179667334945368, 0.57708358332067646, 0.41167282583186866, 0.34072800546261817), s,
            whole);
    const V y = min(V(130), max(V(-152), z * log2)), n = round(y);
    return polynomial(y - n, 0.99999999996169586, 0.69314718072851268, 0.24022651198115603, 0.055504103533019059, 0.0096180272545945955,
                      0.0013333922676823378, 0.00015469289308004982, 1.5201894995194942e-05) *
           power_of_two(n);
  };
  return narrow({power(m.low, e.low, exponent.low), power(m.high, e.high, exponent.high)});
}
/// Squares of floats neither overflow nor vanish in double. Not inlined: such floats are rare, and the loop keeps its registers.
[[gnu::noinline, gnu::cold]] inline Vec<float> hypot_in_double(Vec<float> a, Vec<float> b) {
  const Vec<float> inf(kInf<float>), y = in_double(a, b, [](Vec<double> x, Vec<double> z) { return sqrt(x * x + z * z); });
  return select((abs(a) == inf) | (abs(b) == inf), inf, y);
}

/// The power, where |a|^b is y for finite numbers and |a| > 0. Not inlined: the loop keeps its registers.
[[gnu::noinline, gnu::cold]] inline Vec<float> signed_pow(Vec<float> a, Vec<float> b, Vec<float> y) {
  using V = Vec<float>;
  const V magnitude = abs(a), inf(kInf<float>), half = b * V(0.5);
  const Mask<float> endless = abs(b) == inf, whole = trunc(b) == b, odd = whole & (trunc(half) != half);
  y = select(endless | (magnitude == V(0)) | (magnitude == inf), select((magnitude < V(1)) ^ (b < V(0)), V(0), inf), y);
  y = select(signbit(a) & odd, -y, y);
  const Mask<float> none = unordered(a, b) | ((a < V(0)) & (magnitude < inf) & !whole);
  return select((b == V(0)) | (a == V(1)) | ((magnitude == V(1)) & endless), V(1), select(none, V(kNan<float>), y));
}
template <std::same_as<float> T>
TD_INLINE Vec<T> pow(Vec<T> a, Vec<T> b) {
  using V = Vec<T>;
  const V inf(kInf<float>), y = positive_pow(abs(a), b);
  if (any(!((a > V(0)) & (a < inf) & (abs(b) < inf)))) [[unlikely]]
    return signed_pow(a, b, y);
  return y;
}

}  // namespace tandem::kernels::cpu::TD_ISA
