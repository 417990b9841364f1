// math::… for vectors: the same names as in kernels/math.h for numbers. Include before kernels/pointwise.h, whose functors look them up by
// name. Functions of floats are vector code (exponential.h, hyperbolic.h, trigonometric.h, inverse.h), and so are those of doubles that are
// used all the time; the rest is one library call a lane.
#pragma once

#include "kernels/cpu/isa/exponential.h"
#include "kernels/cpu/isa/hyperbolic.h"
#include "kernels/cpu/isa/inverse.h"
#include "kernels/cpu/isa/trigonometric.h"
#include "kernels/special.h"

namespace tandem::kernels::math {

namespace isa = cpu::TD_ISA;
template <class T>
using IsaVec = cpu::TD_ISA::Vec<T>;
using IsaFloat = IsaVec<float>;
using IsaDouble = IsaVec<double>;
using IsaInt = IsaVec<int64_t>;

#define TD_VECTOR(name, function)         \
  template <class T>                      \
  TD_INLINE IsaVec<T> name(IsaVec<T> x) { \
    return isa::function(x);              \
  }
TD_VECTOR(exp, exp_of)
TD_VECTOR(exp2, exp2_of)
TD_VECTOR(expm1, expm1_of)
TD_VECTOR(log, log_of)
TD_VECTOR(log1p, log1p_of)
TD_VECTOR(tanh, tanh_of)
TD_VECTOR(sin, sin_of)
TD_VECTOR(cos, cos_of)
TD_VECTOR(sqrt, sqrt)
TD_VECTOR(rsqrt, rsqrt)
#undef TD_VECTOR

template <class T>
TD_INLINE IsaVec<T> log1p_exp(IsaVec<T> x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return isa::log1p_exp_by_table(x);
#endif
  return log1p(exp(x));
}

#define TD_ROUNDING(name, function)                \
  template <class T>                               \
  TD_INLINE IsaVec<T> name(IsaVec<T> x) {          \
    if constexpr (std::is_integral_v<T>) return x; \
    else return isa::function(x);                  \
  }
TD_ROUNDING(floor, floor)
TD_ROUNDING(ceil, ceil)
TD_ROUNDING(trunc, trunc)
TD_ROUNDING(round, round)
#undef TD_ROUNDING

#define TD_SPECIAL(name)                                    \
  template <class T>                                        \
  TD_INLINE IsaVec<T> name(IsaVec<T> x) {                   \
    return isa::each(x, [](T v) { return math::name(v); }); \
  }
TD_SPECIAL(lgamma)
TD_SPECIAL(digamma)
TD_SPECIAL(erfinv)
#undef TD_SPECIAL

// In float vector code, in double the library.
#define TD_FLOAT(name, function)                                \
  TD_INLINE IsaFloat name(IsaFloat x) { return function; }      \
  TD_INLINE IsaDouble name(IsaDouble x) {                       \
    return isa::each(x, [](double v) { return std::name(v); }); \
  }
TD_FLOAT(asin, isa::asin_of(x))
TD_FLOAT(acos, isa::acos_of(x))
TD_FLOAT(atan, isa::atan_of(x))
TD_FLOAT(erf, isa::erf_of(x))
TD_FLOAT(tan, isa::tan_of(x))
TD_FLOAT(sinh, isa::sinh_of(x))
TD_FLOAT(cosh, isa::cosh_of(x))
TD_FLOAT(asinh, isa::asinh_of(x))
TD_FLOAT(acosh, isa::acosh_of(x))
TD_FLOAT(atanh, isa::atanh_of(x))
#if defined(__AVX512F__)
TD_FLOAT(log2, isa::in_base<isa::kBase2>(isa::logarithm(x)))
TD_FLOAT(log10, isa::in_base<isa::kBase10>(isa::logarithm(x)))
TD_FLOAT(erfc, isa::erfc_by_table(x))
#else
TD_FLOAT(log2, isa::in_double(x, [](IsaDouble v) { return isa::log_in_base(v, 1.44269504088896340736, 1); }))
TD_FLOAT(log10, isa::in_double(x, [](IsaDouble v) { return isa::log_in_base(v, 0.43429448190325182765, 0.30102999566398119521); }))
TD_FLOAT(erfc, isa::each(x, [](float v) { return std::erfc(v); }))
#endif
#undef TD_FLOAT
template <class T>
TD_INLINE IsaVec<T> atan2(IsaVec<T> a, IsaVec<T> b) {
  if constexpr (sizeof(T) == 4) return isa::atan2_of(a, b);
  else return isa::each(a, b, [](T x, T y) { return std::atan2(x, y); });
}
template <class T>
TD_INLINE IsaVec<T> polygamma(IsaVec<T> x, IsaVec<T> n) {
  return isa::each(x, n, [](T v, T k) { return math::polygamma(v, k); });
}
template <class T>
TD_INLINE IsaVec<T> hypot(IsaVec<T> a, IsaVec<T> b) {
  if constexpr (sizeof(T) == 4) {
    const IsaFloat squares = isa::fma(a, a, b * b);
    if (isa::any(!((squares > IsaFloat(0x1p-80)) & (squares < IsaFloat(0x1p120))))) [[unlikely]]
      return isa::hypot_in_double(a, b);
    return isa::sqrt(squares);
  } else {
    return isa::each(a, b, [](T x, T y) { return std::hypot(x, y); });
  }
}
template <class T>
TD_INLINE IsaVec<T> copysign(IsaVec<T> a, IsaVec<T> b) {
  return isa::copysign(a, b);
}

template <class T>
TD_INLINE IsaVec<T> abs(IsaVec<T> x) {
  if constexpr (std::is_integral_v<T>) return isa::select(x < IsaVec<T>(0), -x, x);
  else return isa::abs(x);
}
template <class T>
TD_INLINE isa::Mask<T> isnan(IsaVec<T> x) {
  return x != x;
}
template <class T>
TD_INLINE isa::Mask<T> isinf(IsaVec<T> x) {
  if constexpr (std::is_integral_v<T>) return x != x;
  else return isa::abs(x) == IsaVec<T>(isa::kInf<T>);
}
template <class T>
TD_INLINE isa::Mask<T> isfinite(IsaVec<T> x) {
  if constexpr (std::is_integral_v<T>) return x == x;
  else return isa::abs(x) < IsaVec<T>(isa::kInf<T>);
}
template <class T>
TD_INLINE isa::Mask<T> signbit(IsaVec<T> x) {
  if constexpr (std::is_integral_v<T>) return x < IsaVec<T>(0);
  else return isa::signbit(x);
}
template <class T>
TD_INLINE IsaVec<T> minimum(IsaVec<T> a, IsaVec<T> b) {
  if constexpr (std::is_integral_v<T>) return isa::select(a < b, a, b);
  else return isa::select(a != a, a, isa::min(a, b));
}
template <class T>
TD_INLINE IsaVec<T> maximum(IsaVec<T> a, IsaVec<T> b) {
  if constexpr (std::is_integral_v<T>) return isa::select(a > b, a, b);
  else return isa::select(a != a, a, isa::max(a, b));
}

/// Within two constants; nan stays.
template <class T>
TD_INLINE IsaVec<T> clip(IsaVec<T> x, IsaVec<T> low, IsaVec<T> high) {
  return isa::min(high, isa::max(low, x));
}

/// A remainder is exact: where the quotient is small its product is taken away in one rounding, else the library divides bit by bit.
TD_INLINE IsaInt fmod(IsaInt a, IsaInt b) {
  return isa::each(a, b, [](int64_t x, int64_t y) { return math::fmod(x, y); });
}
template <class T>
TD_INLINE IsaVec<T> fmod(IsaVec<T> a, IsaVec<T> b) {
#if defined(__FMA__)
  using V = IsaVec<T>;
  const V x = isa::abs(a), y = isa::abs(b), q = isa::trunc(x / y);
  if (!isa::any((!(q < V(sizeof(T) == 4 ? 0x1p22 : 0x1p51))) | (!(x < V(isa::kInf<T>))) | (y < V(sizeof(T) == 4 ? 0x1p-100 : 0x1p-900)))) {
    const V r = isa::fma(-q, y, x);
    return isa::copysign(isa::select(r < V(0), r + y, r), a);  // the quotient may have been rounded up
  }
#endif
  return isa::each(a, b, [](T x, T y) { return std::fmod(x, y); });
}
template <class T>
TD_INLINE IsaVec<T> remainder(IsaVec<T> a, IsaVec<T> b) {
  const IsaVec<T> zero(0), r = math::fmod(a, b);
  return isa::select((r != zero) & ((r < zero) ^ (b < zero)), r + b, r);
}
TD_INLINE IsaInt trunc_divide(IsaInt a, IsaInt b) {
  return isa::each(a, b, [](int64_t x, int64_t y) { return math::trunc_divide(x, y); });
}
TD_INLINE IsaInt floor_divide(IsaInt a, IsaInt b) {
  return isa::each(a, b, [](int64_t x, int64_t y) { return math::floor_divide(x, y); });
}
template <class T>
TD_INLINE IsaVec<T> trunc_divide(IsaVec<T> a, IsaVec<T> b) {
  return isa::trunc(a / b);
}
template <class T>
TD_INLINE IsaVec<T> floor_divide(IsaVec<T> a, IsaVec<T> b) {
  using V = IsaVec<T>;
  const V zero(0), r = math::fmod(a, b), whole = (a - r) / b;
  const V q = isa::select((r != zero) & ((r < zero) ^ (b < zero)), whole - V(1), whole), lower = isa::floor(q);
  const V y = isa::select(q == zero, isa::copysign(zero, a / b), isa::select(q - lower > V(0.5), lower + V(1), lower));
  return isa::select(b == zero, a / b, y);
}

TD_INLINE IsaFloat pow(IsaFloat a, IsaFloat b) { return isa::pow_of(a, b); }
TD_INLINE IsaDouble pow(IsaDouble a, IsaDouble b) {
  return isa::each(a, b, [](double x, double y) { return std::pow(x, y); });
}
TD_INLINE IsaInt pow(IsaInt a, IsaInt b) {
  return isa::each(a, b, [](int64_t x, int64_t y) { return math::pow(x, y); });
}
TD_INLINE IsaInt shift_left(IsaInt a, IsaInt b) {
  return isa::each(a, b, [](int64_t x, int64_t y) { return math::shift_left(x, y); });
}
TD_INLINE IsaInt shift_right(IsaInt a, IsaInt b) {
  return isa::each(a, b, [](int64_t x, int64_t y) { return math::shift_right(x, y); });
}

}  // namespace tandem::kernels::math
