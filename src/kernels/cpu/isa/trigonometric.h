// sin, cos and tan, the hyperbolic functions that float takes through double, erf, and pow in float.
#pragma once

#include "kernels/cpu/isa/exponential.h"

namespace tandem::kernels::cpu::TD_ISA {

/// x = n pi/2 + head + tail with |head| <= pi/4, for |x| < 2^20: pi/2 in three parts, of which n times the first two are exact.
struct Quadrant {
  Vec<int64_t> n;
  Vec<double> head, tail;
};
inline constexpr double kLargestAngle = 0x1p20;

TD_INLINE Quadrant reduce_angle(Vec<double> x) {
  using V = Vec<double>;
  const V n = nearest(x * V(6.36619772367581382433e-01));
  const V first = x - n * V(1.57079632673412561417e+00), second = n * V(6.07710050630396597660e-11);
  const V r = first - second, lost = ((first - r) - second) - n * V(2.02226624879595063154e-21);
  const V head = r + lost;
  return {Vec<int64_t>((n + V(0x1.8p52)).bits()), head, (r - head) + lost};
}
TD_INLINE Vec<double> sin_kernel(Vec<double> x, Vec<double> tail) {  // fdlibm's polynomials
  using V = Vec<double>;
  const V z = x * x, v = z * x;
  const V r = polynomial(z, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                         -2.50507602534068634195e-08, 1.58969099521155010221e-10);
  return x - ((z * (V(0.5) * tail - v * r) - tail) - v * V(-1.66666666666666324348e-01));
}
TD_INLINE Vec<double> cos_kernel(Vec<double> x, Vec<double> tail) {
  using V = Vec<double>;
  const V z = x * x;
  const V r = z * polynomial(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                             -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11);
  const V half = V(0.5) * z, w = V(1) - half;
  return w + (((V(1) - w) - half) + (z * r - x * tail));
}
/// y, but what the library says where x is too large for the reduction above.
template <class F>
TD_INLINE Vec<double> or_library(Vec<double> x, Vec<double> y, F library) {
  const Mask<double> large = !(absolute(x) < Vec<double>(kLargestAngle));
  return any(large) ? select(large, each(x, library), y) : y;
}
/// sin of x + shift pi/2.
TD_INLINE Vec<double> sin_shifted(const Quadrant& a, int shift) {
  const auto n = a.n.v + shift;
  const Mask<double> odd{(n & 1) != 0}, negative{(n & 2) != 0};
  const Vec<double> y = select(odd, cos_kernel(a.head, a.tail), sin_kernel(a.head, a.tail));
  return select(negative, -y, y);
}
TD_INLINE Vec<double> sin_of(Vec<double> x) {
  return or_library(x, select(x == Vec<double>(0), x, sin_shifted(reduce_angle(x), 0)), [](double v) { return std::sin(v); });
}
TD_INLINE Vec<double> cos_of(Vec<double> x) {
  return or_library(x, sin_shifted(reduce_angle(x), 1), [](double v) { return std::cos(v); });
}
/// In float where products are exact enough (one rounding with the sum) and the angle is not large, else through double.
template <class F>
TD_INLINE Vec<float> sin_shifted(Vec<float> x, int shift, F wide) {
#if defined(__FMA__)
  using V = Vec<float>;
  const Mask<float> large = !(absolute(x) < V(0x1p15));
  const V n = nearest(x * V(0.636619747F));
  const V r = fma(n, V(1.71512489e-15F), fma(n, V(4.37113883e-8F), fma(n, V(-1.57079637F), x))), s = r * r;
  const V sine = fma(polynomial(s, -1.66666672e-1F, 8.33338592e-3F, -1.98559923e-4F, 2.86567956e-6F), r * s, r);
  const V cosine = fma(s, polynomial(s, -0.5, 4.16666567e-2F, -1.38877297e-3F, 2.44677067e-5F), V(1));
  const auto quadrant = __builtin_convertvector(n.v, Raw<int32_t>) + shift;
  const Mask<float> odd{(quadrant & 1) != 0};
  const V y = select(odd, cosine, sine), usual = V::of_bits(y.bits() ^ ((quadrant & 2) << 30));
  return any(large) ? select(large, in_double(x, wide), usual) : usual;
#else
  (void)shift;
  return in_double(x, wide);
#endif
}
TD_INLINE Vec<float> sin_of(Vec<float> x) {
  const Vec<float> y = sin_shifted(x, 0, [](Vec<double> v) { return sin_of(v); });
  return select(x == Vec<float>(0), x, y);
}
TD_INLINE Vec<float> cos_of(Vec<float> x) {
  return sin_shifted(x, 1, [](Vec<double> v) { return cos_of(v); });
}
TD_INLINE Vec<double> tan_of(Vec<double> x) {
  const Quadrant a = reduce_angle(x);
  return or_library(x, select(x == Vec<double>(0), x, sin_shifted(a, 0) / sin_shifted(a, 1)), [](double v) { return std::tan(v); });
}

// Good to a float's precision and range.
TD_INLINE Vec<double> sinh_of(Vec<double> x) {
  const Vec<double> e = expm1_of(absolute(x));
  return with_sign(select(e < Vec<double>(kInf<double>), (e + e / (e + Vec<double>(1))) * Vec<double>(0.5), e), x);
}
TD_INLINE Vec<double> cosh_of(Vec<double> x) {
  const Vec<double> e = exp_of(absolute(x));
  return (e + Vec<double>(1) / e) * Vec<double>(0.5);
}
TD_INLINE Vec<double> asinh_of(Vec<double> x) {
  using V = Vec<double>;
  const V a = absolute(x);
  return with_sign(select(a < V(kInf<double>), log1p_of(a + a * a / (V(1) + root(a * a + V(1)))), a), x);
}
TD_INLINE Vec<double> acosh_of(Vec<double> x) {
  using V = Vec<double>;
  const V t = x - V(1);
  return select(x < V(1), V(kNan<double>), log1p_of(t + root(t * (t + V(2)))));
}
TD_INLINE Vec<double> atanh_of(Vec<double> x) {
  using V = Vec<double>;
  const V a = absolute(x);
  return with_sign(V(0.5) * log1p_of((a + a) / (V(1) - a)), x);
}

/// Near zero a polynomial, else 1 - exp of one.
TD_INLINE Vec<float> erf_of(Vec<float> x) {
  using V = Vec<float>;
  const V t = lesser(V(4), absolute(x)), s = t * t;
  V far = fma(V(-1.72853470e-5F), t, V(3.83197126e-4F));
  far = fma(far, s, fma(V(-3.88396438e-3F), t, V(2.42546219e-2F)));
  far = fma(far, t, V(-1.06777877e-1F));
  far = fma(far, t, V(-6.34846687e-1F));
  far = fma(far, t, V(-1.28717512e-1F));
  far = V(1) - exp_of(fma(far, t, -t));
  V near = fma(V(-5.96761703e-4F), s, V(4.99119423e-3F));
  near = fma(near, s, V(-2.67681349e-2F));
  near = fma(near, s, V(1.12819925e-1F));
  near = fma(near, s, V(-3.76125336e-1F));
  near = fma(near, s, V(1.28379166e-1F));
  near = fma(near, t, t);
  return with_sign(select(t > V(0.927734375F), far, near), x);
}

/// Through double: exp(b log(a)) keeps more digits than a float has.
TD_INLINE Vec<float> pow_of(Vec<float> a, Vec<float> b) {
  using V = Vec<float>;
  const V magnitude = absolute(a), inf(kInf<float>);
  const V y = in_double(magnitude, b, [](Vec<double> x, Vec<double> z) { return exp_of(z * log_of(x)); });
  const Mask<float> negative = a < V(0), whole = toward_zero(b) == b;
  const V half = b * V(0.5);
  const Mask<float> odd = whole & (toward_zero(half) != half);
  const V usual = select(negative & !whole, V(kNan<float>), select(negative & odd, -y, y));
  const Mask<float> special = (!(magnitude < inf)) | (!(absolute(b) < inf)) | (a == V(0));
  return any(special) ? select(special, each(a, b, [](float x, float z) { return std::pow(x, z); }), usual) : usual;
}

}  // namespace tandem::kernels::cpu::TD_ISA
