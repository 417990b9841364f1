// asin, acos, atan and atan2 of floats: a polynomial near zero, and the rest of the range brought there by a root or a quotient.
#pragma once

#include "kernels/cpu/isa/exponential.h"

namespace tandem::kernels::cpu::TD_ISA {

/// pi/2 in two parts.
inline constexpr float kHalfPi = 1.57079637F, kHalfPiLow = -4.37113883e-8F;

/// The arc sine of the square root s of z, for z <= 1/4.
TD_INLINE Vec<float> arc_of_sine(Vec<float> s, Vec<float> z) {
  return fma(polynomial(z, 0.166667521, 0.0749530941, 0.0454691537, 0.0241847411, 0.0421583988) * z, s, s);
}
/// sin(y) = x near 0; from 1/2 on, sin(pi/4 - y/2)^2 = (1 - x) / 2.
struct Arc {
  Mask<float> far;
  Vec<float> y;  // of |x|: the angle, or where it is far, half of what pi/2 has more
};
TD_INLINE Arc arc_of(Vec<float> x) {
  using V = Vec<float>;
  const V a = abs(x);
  const Mask<float> far = a > V(0.5);
  const V z = select(far, fma(a, V(-0.5), V(0.5)), a * a);
  return {far, arc_of_sine(select(far, sqrt(z), a), z)};
}
TD_INLINE Vec<float> asin(Vec<float> x) {
  using V = Vec<float>;
  const Arc a = arc_of(x);
  return copysign(select(a.far, V(kHalfPi) - (a.y + a.y - V(kHalfPiLow)), a.y), x);
}
TD_INLINE Vec<float> acos(Vec<float> x) {
  using V = Vec<float>;
  const Arc a = arc_of(x);
  const Mask<float> negative = x < V(0);
  const V near = V(kHalfPi) - (copysign(a.y, x) - V(kHalfPiLow)), twice = a.y + a.y;
  return select(a.far, select(negative, V(2 * kHalfPi) - (twice - V(2 * kHalfPiLow)), twice), near);
}

/// The arc tangent of t for |t| <= 1.
TD_INLINE Vec<float> arc_of_tangent(Vec<float> t) {
  using V = Vec<float>;
  const V z = t * t;
  return fma(
      polynomial(z, -0.333331525, 0.199937671, -0.14211002, 0.106657535, -0.0755156949, 0.0432028063, -0.0163614228, 0.00291882618) * z, t,
      t);
}
TD_INLINE Vec<float> atan(Vec<float> x) {
  using V = Vec<float>;
  const V a = abs(x);
  const Mask<float> far = a > V(1);
  const V y = arc_of_tangent(select(far, V(-1), a) / select(far, a, V(1)));
  return copysign(select(far, V(kHalfPi) + (y + V(kHalfPiLow)), y), x);
}
TD_INLINE Vec<float> atan2(Vec<float> y, Vec<float> x) {
  using V = Vec<float>;
  const V a = abs(y), b = abs(x);
  const Mask<float> steep = a > b, left = signbit(x);
  const V quotient = select(steep, b, a) / select(steep, a, b);
  const V t = select(a == b, select(a == V(0), V(0), V(1)), quotient);  // 0 of 0, 1 of infinities
  const V arc = arc_of_tangent(t), start = select(steep, V(kHalfPi), select(left, V(2 * kHalfPi), V(0)));
  return copysign(start + fma(start, V(kHalfPiLow / kHalfPi), select(steep ^ left, -arc, arc)), y);
}

}  // namespace tandem::kernels::cpu::TD_ISA
