// sin, cos and tan, for vectors: the rest of the angle after quarter or half turns, and a polynomial.
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
  const V n = round(x * V(6.36619772367581382433e-01));
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
  const Mask<double> large = !(abs(x) < Vec<double>(kLargestAngle));
  return any(large) ? select(large, each(x, library), y) : y;
}
/// sin of x + shift pi/2.
TD_INLINE Vec<double> sin_shifted(const Quadrant& a, int shift) {
  const Vec<double> n = Vec<double>::of_bits(a.n.v + shift);
  const Mask<double> odd = has_bits(n, 1), negative = has_bits(n, 2);
  const Vec<double> y = select(odd, cos_kernel(a.head, a.tail), sin_kernel(a.head, a.tail));
  return select(negative, -y, y);
}
TD_INLINE Vec<double> sin(Vec<double> x) {
  return or_library(x, select(x == Vec<double>(0), x, sin_shifted(reduce_angle(x), 0)), [](double v) { return std::sin(v); });
}
TD_INLINE Vec<double> cos(Vec<double> x) {
  return or_library(x, sin_shifted(reduce_angle(x), 1), [](double v) { return std::cos(v); });
}
/// Of a double, good to a float's precision.
TD_INLINE Vec<double> tan_for_float(Vec<double> x) {
  const Quadrant a = reduce_angle(x);
  return or_library(x, select(x == Vec<double>(0), x, sin_shifted(a, 0) / sin_shifted(a, 1)), [](double v) { return std::tan(v); });
}

// In float where products and sums are fused, so exact enough, and the angle is not large; else through double.
/// x - n times the number whose parts they are: the angle's rest, right to the last digit for |n| < 2^14.
TD_INLINE Vec<float> angle_rest(Vec<float> x, Vec<float> n, float first, float second, float third) {
  using V = Vec<float>;
  return fma(n, V(third), fma(n, V(second), fma(n, V(first), x)));
}
inline constexpr float kLargestFloatAngle = 0x1p15F;
inline constexpr float kWhole = 0x1.8p23F;  // a sum with it is a whole number, the low bits of which are its own
/// (-1)^n sin(x - half_turns pi), where n are the low bits of `bits` and half_turns pi is nearest to x.
TD_INLINE Vec<float> sin_of_rest(Vec<float> x, Vec<float> half_turns, Raw<int32_t> bits) {
  using V = Vec<float>;
  const V r = angle_rest(x, half_turns, -3.14159274F, 8.74227766e-08F, 3.43024902e-15F), s = r * r;
  const V y = fma(polynomial(s, -0.166666597, 0.00833306927, -0.000198097739, 2.60608181e-06) * s, r, r);
  return V::of_bits(min(V(1), max(V(-1), y)).bits() ^ (bits << 31));  // rounding shall not lead beyond 1
}
TD_INLINE Vec<float> sin(Vec<float> x) {
  const auto of_double = [](Vec<double> v) { return sin(v); };
  if constexpr (!kHasFma) return in_double(x, of_double);
  using V = Vec<float>;
  const V shifted = fma(x, V(0.318309886F), V(kWhole));
  const V y = select(x == V(0), x, sin_of_rest(x, shifted - V(kWhole), shifted.bits()));
  if (any_beyond(x, kLargestFloatAngle)) [[unlikely]]
    return beyond_in_double(x, y, kLargestFloatAngle, of_double);
  return y;
}
TD_INLINE Vec<float> cos(Vec<float> x) {  // cos(x) = sin(x + pi/2)
  const auto of_double = [](Vec<double> v) { return cos(v); };
  if constexpr (!kHasFma) return in_double(x, of_double);
  using V = Vec<float>;
  const V shifted = fma(x, V(0.318309886F), V(-0.5)) + V(kWhole);
  const V y = sin_of_rest(x, (shifted - V(kWhole)) + V(0.5), ~shifted.bits());
  if (any_beyond(x, kLargestFloatAngle)) [[unlikely]]
    return beyond_in_double(x, y, kLargestFloatAngle, of_double);
  return y;
}
TD_INLINE Vec<float> tan(Vec<float> x) {
  const auto of_double = [](Vec<double> v) { return tan_for_float(v); };
  if constexpr (!kHasFma) return in_double(x, of_double);
  using V = Vec<float>;
  const V shifted = fma(x, V(0.636619747F), V(kWhole));
  const V r = angle_rest(x, shifted - V(kWhole), -1.57079637F, 4.37113883e-08F, 1.71512451e-15F), s = r * r;
  const V y = fma(polynomial(s, 0.333331555, 0.133388355, 0.0534082018, 0.0244413894, 0.00310149114, 0.00939651579) * s, r, r);
  const Mask<float> odd = has_bits(shifted, 1);
  const V quotient = select(x == V(0), x, select(odd, V(-1), y) / select(odd, y, V(1)));
  if (any_beyond(x, kLargestFloatAngle)) [[unlikely]]
    return beyond_in_double(x, quotient, kLargestFloatAngle, of_double);
  return quotient;
}

}  // namespace tandem::kernels::cpu::TD_ISA
