// math::… for vectors: the same names as in kernels/math.h for numbers. Include before kernels/pointwise.h, whose functors look them up by
// name. Functions used all the time are vector code (exponential.h, trigonometric.h); the rest is one library call a lane.
#pragma once

#include "kernels/cpu/isa/exponential.h"
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
TD_VECTOR(sqrt, root)
#undef TD_VECTOR

#define TD_ROUNDING(name, function)                \
  template <class T>                               \
  TD_INLINE IsaVec<T> name(IsaVec<T> x) {          \
    if constexpr (std::is_integral_v<T>) return x; \
    else return isa::function(x);                  \
  }
TD_ROUNDING(floor, down)
TD_ROUNDING(ceil, up)
TD_ROUNDING(trunc, toward_zero)
TD_ROUNDING(round, nearest)
#undef TD_ROUNDING

// In float through double, whose vectors are at hand; in double by the library.
#define TD_THROUGH_DOUBLE(name, ...)                                   \
  TD_INLINE IsaFloat name(IsaFloat x) {                                \
    return isa::in_double(x, [](IsaDouble v) { return __VA_ARGS__; }); \
  }                                                                    \
  TD_INLINE IsaDouble name(IsaDouble x) {                              \
    return isa::each(x, [](double v) { return std::name(v); });        \
  }
TD_THROUGH_DOUBLE(log2, isa::log_in_base(v, 1.44269504088896340736, 1))
TD_THROUGH_DOUBLE(log10, isa::log_in_base(v, 0.43429448190325182765, 0.30102999566398119521))
TD_THROUGH_DOUBLE(tan, isa::tan_of(v))
TD_THROUGH_DOUBLE(sinh, isa::sinh_of(v))
TD_THROUGH_DOUBLE(cosh, isa::cosh_of(v))
TD_THROUGH_DOUBLE(asinh, isa::asinh_of(v))
TD_THROUGH_DOUBLE(acosh, isa::acosh_of(v))
TD_THROUGH_DOUBLE(atanh, isa::atanh_of(v))
#undef TD_THROUGH_DOUBLE

#define TD_SPECIAL(name)                                    \
  template <class T>                                        \
  TD_INLINE IsaVec<T> name(IsaVec<T> x) {                   \
    return isa::each(x, [](T v) { return math::name(v); }); \
  }
TD_SPECIAL(lgamma)
TD_SPECIAL(digamma)
TD_SPECIAL(erfinv)
#undef TD_SPECIAL

#define TD_LIBRARY(name)                                   \
  template <class T>                                       \
  TD_INLINE IsaVec<T> name(IsaVec<T> x) {                  \
    return isa::each(x, [](T v) { return std::name(v); }); \
  }
TD_LIBRARY(asin)
TD_LIBRARY(acos)
TD_LIBRARY(atan)
TD_LIBRARY(erfc)
#undef TD_LIBRARY

TD_INLINE IsaFloat erf(IsaFloat x) { return isa::erf_of(x); }
TD_INLINE IsaDouble erf(IsaDouble x) {
  return isa::each(x, [](double v) { return std::erf(v); });
}

template <class T>
TD_INLINE IsaVec<T> atan2(IsaVec<T> a, IsaVec<T> b) {
  return isa::each(a, b, [](T x, T y) { return std::atan2(x, y); });
}
template <class T>
TD_INLINE IsaVec<T> polygamma(IsaVec<T> x, IsaVec<T> n) {
  return isa::each(x, n, [](T v, T k) { return math::polygamma(v, k); });
}
template <class T>
TD_INLINE IsaVec<T> hypot(IsaVec<T> a, IsaVec<T> b) {
  if constexpr (sizeof(T) == 4) {  // squares of floats neither overflow nor vanish in double
    const IsaFloat y = isa::in_double(a, b, [](IsaDouble x, IsaDouble z) { return isa::root(x * x + z * z); });
    const IsaFloat inf(isa::kInf<float>);
    return isa::select((isa::absolute(a) == inf) | (isa::absolute(b) == inf), inf, y);
  } else {
    return isa::each(a, b, [](T x, T y) { return std::hypot(x, y); });
  }
}
template <class T>
TD_INLINE IsaVec<T> copysign(IsaVec<T> a, IsaVec<T> b) {
  return isa::with_sign(a, b);
}

template <class T>
TD_INLINE IsaVec<T> abs(IsaVec<T> x) {
  if constexpr (std::is_integral_v<T>) return isa::select(x < IsaVec<T>(0), -x, x);
  else return isa::absolute(x);
}
template <class T>
TD_INLINE isa::Mask<T> isnan(IsaVec<T> x) {
  return x != x;
}
template <class T>
TD_INLINE isa::Mask<T> isinf(IsaVec<T> x) {
  if constexpr (std::is_integral_v<T>) return x != x;
  else return isa::absolute(x) == IsaVec<T>(isa::kInf<T>);
}
template <class T>
TD_INLINE isa::Mask<T> signbit(IsaVec<T> x) {
  if constexpr (std::is_integral_v<T>) return x < IsaVec<T>(0);
  else return isa::with_sign(IsaVec<T>(1), x) < IsaVec<T>(0);
}
template <class T>
TD_INLINE IsaVec<T> minimum(IsaVec<T> a, IsaVec<T> b) {
  return isa::select((a < b) | (a != a), a, b);
}
template <class T>
TD_INLINE IsaVec<T> maximum(IsaVec<T> a, IsaVec<T> b) {
  return isa::select((a > b) | (a != a), a, b);
}

/// A remainder is exact: where the quotient is small its product is taken away in one rounding, else the library divides bit by bit.
TD_INLINE IsaInt fmod(IsaInt a, IsaInt b) {
  return isa::each(a, b, [](int64_t x, int64_t y) { return math::fmod(x, y); });
}
template <class T>
TD_INLINE IsaVec<T> fmod(IsaVec<T> a, IsaVec<T> b) {
#if defined(__FMA__)
  using V = IsaVec<T>;
  const V x = isa::absolute(a), y = isa::absolute(b), q = isa::toward_zero(x / y);
  if (!isa::any((!(q < V(sizeof(T) == 4 ? 0x1p22 : 0x1p51))) | (!(x < V(isa::kInf<T>))) | (y < V(sizeof(T) == 4 ? 0x1p-100 : 0x1p-900)))) {
    const V r = isa::fma(-q, y, x);
    return isa::with_sign(isa::select(r < V(0), r + y, r), a);  // the quotient may have been rounded up
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
  return isa::toward_zero(a / b);
}
template <class T>
TD_INLINE IsaVec<T> floor_divide(IsaVec<T> a, IsaVec<T> b) {
  using V = IsaVec<T>;
  const V zero(0), r = math::fmod(a, b), whole = (a - r) / b;
  const V q = isa::select((r != zero) & ((r < zero) ^ (b < zero)), whole - V(1), whole), lower = isa::down(q);
  const V y = isa::select(q == zero, isa::with_sign(zero, a / b), isa::select(q - lower > V(0.5), lower + V(1), lower));
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
