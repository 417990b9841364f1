// What functors are made of, for plain numbers: `select` and math::…, on the host and in CUDA kernels. The CPU's SIMD vectors bring their
// own (cpu/isa/math.h).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/host_device.h"

namespace tandem::kernels {

template <class T>
requires std::is_arithmetic_v<T> TD_HOST_DEVICE inline T select(bool mask, T a, T b) { return mask ? a : b; }

namespace math {

#define TD_MATH_1(name)                                              \
  TD_HOST_DEVICE inline float name(float x) { return ::name##f(x); } \
  TD_HOST_DEVICE inline double name(double x) { return ::name(x); }
TD_MATH_1(exp)
TD_MATH_1(exp2)
TD_MATH_1(expm1)
TD_MATH_1(log)
TD_MATH_1(log2)
TD_MATH_1(log10)
TD_MATH_1(log1p)
TD_MATH_1(sqrt)
TD_MATH_1(sin)
TD_MATH_1(cos)
TD_MATH_1(tan)
TD_MATH_1(asin)
TD_MATH_1(acos)
TD_MATH_1(atan)
TD_MATH_1(sinh)
TD_MATH_1(cosh)
TD_MATH_1(tanh)
TD_MATH_1(asinh)
TD_MATH_1(acosh)
TD_MATH_1(atanh)
TD_MATH_1(erf)
TD_MATH_1(erfc)
#undef TD_MATH_1
/// The standard normal distribution up to x, of numbers and vectors of them.
template <class T>
TD_HOST_DEVICE inline T normal_cdf(T x) {
  return T(0.5) * (T(1) + erf(x * T(0.70710678118654752440)));
}
#if defined(__CUDACC__)
TD_HOST_DEVICE inline float rsqrt(float x) { return ::rsqrtf(x); }
TD_HOST_DEVICE inline double rsqrt(double x) { return ::rsqrt(x); }
#else
TD_HOST_DEVICE inline float rsqrt(float x) { return 1 / ::sqrtf(x); }
TD_HOST_DEVICE inline double rsqrt(double x) { return 1 / ::sqrt(x); }
#endif

/// log(1 + e^x), for x <= 0.
template <class T>
requires std::is_floating_point_v<T> TD_HOST_DEVICE inline T log1p_exp(T x) { return log1p(exp(x)); }

#define TD_MATH_2(name)                                                          \
  TD_HOST_DEVICE inline float name(float x, float y) { return ::name##f(x, y); } \
  TD_HOST_DEVICE inline double name(double x, double y) { return ::name(x, y); }
TD_MATH_2(atan2)
TD_MATH_2(hypot)
TD_MATH_2(copysign)
#undef TD_MATH_2

// Rounding leaves integers as they are.
#define TD_MATH_ROUND(name, function)                                    \
  TD_HOST_DEVICE inline float name(float x) { return ::function##f(x); } \
  TD_HOST_DEVICE inline double name(double x) { return ::function(x); }  \
  TD_HOST_DEVICE inline int64_t name(int64_t x) { return x; }
TD_MATH_ROUND(floor, floor)
TD_MATH_ROUND(ceil, ceil)
TD_MATH_ROUND(trunc, trunc)
TD_MATH_ROUND(round, rint)  // to nearest even, as torch.round
#undef TD_MATH_ROUND

/// Integers wrap: they are computed as unsigned ones.
TD_HOST_DEVICE inline int64_t wrap(uint64_t x) { return static_cast<int64_t>(x); }

TD_HOST_DEVICE inline float abs(float x) { return ::fabsf(x); }
TD_HOST_DEVICE inline double abs(double x) { return ::fabs(x); }
TD_HOST_DEVICE inline int64_t abs(int64_t x) { return x < 0 ? wrap(0 - static_cast<uint64_t>(x)) : x; }

template <class T>
TD_HOST_DEVICE inline bool isnan(T x) {
  return x != x;
}
template <class T>
TD_HOST_DEVICE inline bool isinf(T x) {
  if constexpr (std::is_integral_v<T>) return false;
  else return abs(x) == std::numeric_limits<T>::infinity();
}

template <class T>
TD_HOST_DEVICE inline bool signbit(T x) {
  if constexpr (std::is_integral_v<T>) return x < 0;
  else return copysign(T(1), x) < 0;
}

/// The smaller, the larger; nan wins.
template <class T>
TD_HOST_DEVICE inline T minimum(T a, T b) {
  return a < b || a != a ? a : b;
}
template <class T>
TD_HOST_DEVICE inline T maximum(T a, T b) {
  return a > b || a != a ? a : b;
}

/// Within two constants; nan stays.
template <class T>
TD_HOST_DEVICE inline T clip(T x, T low, T high) {
  return x < low ? low : x > high ? high : x;
}
template <class T>
TD_HOST_DEVICE inline bool isfinite(T x) {
  if constexpr (std::is_integral_v<T>) return true;
  else return abs(x) < std::numeric_limits<T>::infinity();
}

TD_HOST_DEVICE inline float fmod(float a, float b) { return ::fmodf(a, b); }
TD_HOST_DEVICE inline double fmod(double a, double b) { return ::fmod(a, b); }
/// By zero: 0 (and the driver reports it); by -1: without the overflow that traps.
TD_HOST_DEVICE inline int64_t fmod(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

/// As Python's %: the sign of b.
template <class T>
TD_HOST_DEVICE inline T remainder(T a, T b) {
  const T r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
TD_HOST_DEVICE inline int64_t trunc_divide(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? wrap(0 - static_cast<uint64_t>(a)) : a / b;
}
template <class T>
requires std::is_floating_point_v<T> TD_HOST_DEVICE inline T trunc_divide(T a, T b) { return trunc(a / b); }
TD_HOST_DEVICE inline int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t q = trunc_divide(a, b);
  return b != 0 && b != -1 && q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}
/// Through fmod, so that it agrees with remainder where a / b rounds up to a whole number.
template <class T>
requires std::is_floating_point_v<T> TD_HOST_DEVICE inline T floor_divide(T a, T b) {
  if (b == 0) return a / b;
  const T r = fmod(a, b);
  T q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return copysign(T(0), a / b);
  const T below = floor(q);
  return q - below > T(0.5) ? below + 1 : below;
}

TD_HOST_DEVICE inline float pow(float a, float b) { return ::powf(a, b); }
TD_HOST_DEVICE inline double pow(double a, double b) { return ::pow(a, b); }
/// Wraps; a negative exponent leaves what its reciprocal has left of the decimal point.
TD_HOST_DEVICE inline int64_t pow(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  uint64_t result = 1, base = static_cast<uint64_t>(a);
  for (; b; b >>= 1, base *= base)
    if (b & 1) result *= base;
  return wrap(result);
}

/// Counts below 0 or past the width shift everything out.
TD_HOST_DEVICE inline int64_t shift_left(int64_t a, int64_t b) { return b < 0 || b > 63 ? 0 : wrap(static_cast<uint64_t>(a) << b); }
TD_HOST_DEVICE inline int64_t shift_right(int64_t a, int64_t b) { return a >> (b < 0 || b > 63 ? 63 : b); }

}  // namespace math
}  // namespace tandem::kernels
