// The functions of vectors that functors call as math::…, by the same names as those of numbers in kernels/math.h. Include before
// kernels/pointwise.h, whose functors look them up by name. Functions of floats are vector code (exponential.h, hyperbolic.h,
// trigonometric.h, inverse.h, and with AVX-512 math_avx512.h), and so are those of doubles that are used all the time; the rest is one
// library call a lane.
#pragma once

#include "kernels/cpu/isa/hyperbolic.h"
#include "kernels/cpu/isa/inverse.h"
#include "kernels/cpu/isa/trigonometric.h"
#if defined(__AVX512F__)
#include "kernels/cpu/isa/math_avx512.h"
#endif
#include "kernels/special.h"

namespace tandem::kernels::cpu::TD_ISA {

using Ints = Vec<int64_t>;

#define TD_FROM_STD(name)                                  \
  TD_INLINE Vec<double> name(Vec<double> x) {              \
    return each(x, [](double v) { return std::name(v); }); \
  }
TD_FROM_STD(asin)
TD_FROM_STD(acos)
TD_FROM_STD(atan)
TD_FROM_STD(tan)
TD_FROM_STD(sinh)
TD_FROM_STD(cosh)
TD_FROM_STD(asinh)
TD_FROM_STD(acosh)
TD_FROM_STD(atanh)
TD_FROM_STD(erf)
TD_FROM_STD(erfc)
TD_FROM_STD(log2)
TD_FROM_STD(log10)
#undef TD_FROM_STD
TD_INLINE Vec<double> atan2(Vec<double> a, Vec<double> b) {
  return each(a, b, [](double x, double y) { return std::atan2(x, y); });
}
TD_INLINE Vec<double> pow(Vec<double> a, Vec<double> b) {
  return each(a, b, [](double x, double y) { return std::pow(x, y); });
}
TD_INLINE Vec<double> hypot(Vec<double> a, Vec<double> b) {
  return each(a, b, [](double x, double y) { return std::hypot(x, y); });
}
TD_INLINE Vec<float> hypot(Vec<float> a, Vec<float> b) {
  using V = Vec<float>;
  const V squares = fma(a, a, b * b);
  if (any(!((squares > V(0x1p-80)) & (squares < V(0x1p120))))) [[unlikely]]
    return hypot_in_double(a, b);
  return sqrt(squares);
}

// What kernels/math.h or kernels/special.h has for numbers.
template <class T>
TD_INLINE Vec<T> lgamma(Vec<T> x) {
  return each(x, [](T v) { return math::lgamma(v); });
}
template <class T>
TD_INLINE Vec<T> digamma(Vec<T> x) {
  return each(x, [](T v) { return math::digamma(v); });
}
template <class T>
TD_INLINE Vec<T> erfinv(Vec<T> x) {
  return each(x, [](T v) { return math::erfinv(v); });
}
template <class T>
TD_INLINE Vec<T> polygamma(Vec<T> x, Vec<T> n) {
  return each(x, n, [](T v, T k) { return math::polygamma(v, k); });
}
#define TD_INTEGERS(name)                                                     \
  TD_INLINE Ints name(Ints a, Ints b) {                                       \
    return each(a, b, [](int64_t x, int64_t y) { return math::name(x, y); }); \
  }
TD_INTEGERS(fmod)
TD_INTEGERS(trunc_divide)
TD_INTEGERS(floor_divide)
TD_INTEGERS(pow)
TD_INTEGERS(shift_left)
TD_INTEGERS(shift_right)
#undef TD_INTEGERS

// Rounding leaves integers as they are.
TD_INLINE Ints floor(Ints x) { return x; }
TD_INLINE Ints ceil(Ints x) { return x; }
TD_INLINE Ints trunc(Ints x) { return x; }
TD_INLINE Ints round(Ints x) { return x; }
TD_INLINE Ints abs(Ints x) { return select(x < Ints(0), -x, x); }
TD_INLINE Mask<int64_t> signbit(Ints x) { return x < Ints(0); }

template <class T>
TD_INLINE Mask<T> isnan(Vec<T> x) {
  return x != x;
}
template <class T>
TD_INLINE Mask<T> isinf(Vec<T> x) {
  if constexpr (std::is_integral_v<T>) return x != x;
  else return abs(x) == Vec<T>(kInf<T>);
}
template <class T>
TD_INLINE Mask<T> isfinite(Vec<T> x) {
  if constexpr (std::is_integral_v<T>) return x == x;
  else return abs(x) < Vec<T>(kInf<T>);
}
/// The smaller and the larger of two; nan wins.
template <class T>
TD_INLINE Vec<T> minimum(Vec<T> a, Vec<T> b) {
  if constexpr (std::is_integral_v<T>) return select(a < b, a, b);
  else return select(a != a, a, min(a, b));
}
template <class T>
TD_INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) {
  if constexpr (std::is_integral_v<T>) return select(a > b, a, b);
  else return select(a != a, a, max(a, b));
}
/// Within two constants; nan stays.
template <class T>
TD_INLINE Vec<T> clip(Vec<T> x, Vec<T> low, Vec<T> high) {
  return min(high, max(low, x));
}

/// A remainder is exact: where the quotient is small its product is taken away in one rounding, else the library divides bit by bit.
template <class T>
TD_INLINE Vec<T> fmod(Vec<T> a, Vec<T> b) {
  if constexpr (kHasFma) {
    using V = Vec<T>;
    const V x = abs(a), y = abs(b), q = trunc(x / y);
    if (!any((!(q < V(sizeof(T) == 4 ? 0x1p22 : 0x1p51))) | (!(x < V(kInf<T>))) | (!(y < V(kInf<T>))) |
             (y < V(sizeof(T) == 4 ? 0x1p-100 : 0x1p-900)))) {
      const V r = fma(-q, y, x);
      return copysign(select(r < V(0), r + y, r), a);  // the quotient may have been rounded up
    }
  }
  return each(a, b, [](T x, T y) { return std::fmod(x, y); });
}
template <class T>
TD_INLINE Vec<T> remainder(Vec<T> a, Vec<T> b) {
  const Vec<T> zero(0), r = fmod(a, b);
  return select((r != zero) & ((r < zero) ^ (b < zero)), r + b, r);
}
template <class T>
TD_INLINE Vec<T> trunc_divide(Vec<T> a, Vec<T> b) {
  return trunc(a / b);
}
template <class T>
TD_INLINE Vec<T> floor_divide(Vec<T> a, Vec<T> b) {
  using V = Vec<T>;
  const V zero(0), r = fmod(a, b), whole = (a - r) / b;
  const V q = select((r != zero) & ((r < zero) ^ (b < zero)), whole - V(1), whole), lower = floor(q);
  const V y = select(q == zero, copysign(zero, a / b), select(q - lower > V(0.5), lower + V(1), lower));
  return select(b == zero, a / b, y);
}

}  // namespace tandem::kernels::cpu::TD_ISA

namespace tandem::kernels::math {
namespace isa = cpu::TD_ISA;
using isa::abs, isa::acos, isa::acosh, isa::asin, isa::asinh, isa::atan, isa::atan2, isa::atanh, isa::ceil, isa::clip, isa::copysign,
    isa::cos, isa::cosh, isa::digamma, isa::erf, isa::erfc, isa::erfinv, isa::exp, isa::exp2, isa::expm1, isa::floor, isa::floor_divide,
    isa::fmod, isa::hypot, isa::isfinite, isa::isinf, isa::isnan, isa::lgamma, isa::log, isa::log10, isa::log1p, isa::log1p_exp, isa::log2,
    isa::maximum, isa::minimum, isa::polygamma, isa::pow, isa::remainder, isa::round, isa::rsqrt, isa::shift_left, isa::shift_right,
    isa::signbit, isa::sin, isa::sinh, isa::sqrt, isa::tan, isa::tanh, isa::trunc, isa::trunc_divide;
#if !defined(__AVX512F__)  // there the table of erf is faster
using isa::normal_cdf;
#endif
}  // namespace tandem::kernels::math
