// The single instructions that vector extensions have no operator for: square roots, rounding, products with a sum, powers of two,
// widening.
#pragma once

#include <utility>

#include "kernels/cpu/isa/vec.h"

namespace tandem::kernels::cpu::TD_ISA {

/// One call a lane, for functions without a vector form.
template <class T, class F>
TD_INLINE Vec<T> each(Vec<T> x, F f) {
  for (int i = 0; i < Vec<T>::kLanes; ++i) x.v[i] = f(x.v[i]);
  return x;
}
template <class T, class F>
TD_INLINE Vec<T> each(Vec<T> x, Vec<T> y, F f) {
  for (int i = 0; i < Vec<T>::kLanes; ++i) x.v[i] = f(x.v[i], y.v[i]);
  return x;
}

/// The lanes order(0), order(1), … of a and b laid end to end. `order` is a lambda without captures.
template <class V, class Order, size_t... i>
TD_INLINE V shuffle(V a, V b, Order, std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, Order{}(static_cast<int>(i))...);
}
template <class V, class Order>
TD_INLINE V shuffle(V a, V b, Order order) {
  return shuffle(a, b, order, std::make_index_sequence<sizeof(V) / sizeof(a[0])>());
}

#if defined(__AVX512F__)
#define TD_ONE(name, single, wide)                                       \
  TD_INLINE Vec<float> name(Vec<float> x) { return Vec<float>(single); } \
  TD_INLINE Vec<double> name(Vec<double> x) { return Vec<double>(wide); }
TD_ONE(sqrt, _mm512_sqrt_ps(x.v), _mm512_sqrt_pd(x.v))
TD_ONE(round, _mm512_roundscale_ps(x.v, 8), _mm512_roundscale_pd(x.v, 8))
TD_ONE(floor, _mm512_roundscale_ps(x.v, 9), _mm512_roundscale_pd(x.v, 9))
TD_ONE(ceil, _mm512_roundscale_ps(x.v, 10), _mm512_roundscale_pd(x.v, 10))
TD_ONE(trunc, _mm512_roundscale_ps(x.v, 11), _mm512_roundscale_pd(x.v, 11))
#undef TD_ONE
#define TD_TWO(name, single, wide)                                                     \
  TD_INLINE Vec<float> name(Vec<float> a, Vec<float> b) { return Vec<float>(single); } \
  TD_INLINE Vec<double> name(Vec<double> a, Vec<double> b) { return Vec<double>(wide); }
TD_TWO(min, _mm512_min_ps(a.v, b.v), _mm512_min_pd(a.v, b.v))  // a < b ? a : b, so b where one is nan
TD_TWO(max, _mm512_max_ps(a.v, b.v), _mm512_max_pd(a.v, b.v))
#undef TD_TWO
#elif defined(__AVX2__)
#define TD_ONE(name, single, wide)                                       \
  TD_INLINE Vec<float> name(Vec<float> x) { return Vec<float>(single); } \
  TD_INLINE Vec<double> name(Vec<double> x) { return Vec<double>(wide); }
TD_ONE(sqrt, _mm256_sqrt_ps(x.v), _mm256_sqrt_pd(x.v))
TD_ONE(round, _mm256_round_ps(x.v, 8), _mm256_round_pd(x.v, 8))
TD_ONE(floor, _mm256_round_ps(x.v, 9), _mm256_round_pd(x.v, 9))
TD_ONE(ceil, _mm256_round_ps(x.v, 10), _mm256_round_pd(x.v, 10))
TD_ONE(trunc, _mm256_round_ps(x.v, 11), _mm256_round_pd(x.v, 11))
#undef TD_ONE
#define TD_TWO(name, single, wide)                                                     \
  TD_INLINE Vec<float> name(Vec<float> a, Vec<float> b) { return Vec<float>(single); } \
  TD_INLINE Vec<double> name(Vec<double> a, Vec<double> b) { return Vec<double>(wide); }
TD_TWO(min, _mm256_min_ps(a.v, b.v), _mm256_min_pd(a.v, b.v))
TD_TWO(max, _mm256_max_ps(a.v, b.v), _mm256_max_pd(a.v, b.v))
#undef TD_TWO
#elif defined(__SSE4_1__)
#define TD_ONE(name, single, wide)                                       \
  TD_INLINE Vec<float> name(Vec<float> x) { return Vec<float>(single); } \
  TD_INLINE Vec<double> name(Vec<double> x) { return Vec<double>(wide); }
TD_ONE(sqrt, _mm_sqrt_ps(x.v), _mm_sqrt_pd(x.v))
TD_ONE(round, _mm_round_ps(x.v, 8), _mm_round_pd(x.v, 8))
TD_ONE(floor, _mm_round_ps(x.v, 9), _mm_round_pd(x.v, 9))
TD_ONE(ceil, _mm_round_ps(x.v, 10), _mm_round_pd(x.v, 10))
TD_ONE(trunc, _mm_round_ps(x.v, 11), _mm_round_pd(x.v, 11))
#undef TD_ONE
#define TD_TWO(name, single, wide)                                                     \
  TD_INLINE Vec<float> name(Vec<float> a, Vec<float> b) { return Vec<float>(single); } \
  TD_INLINE Vec<double> name(Vec<double> a, Vec<double> b) { return Vec<double>(wide); }
TD_TWO(min, _mm_min_ps(a.v, b.v), _mm_min_pd(a.v, b.v))
TD_TWO(max, _mm_max_ps(a.v, b.v), _mm_max_pd(a.v, b.v))
#undef TD_TWO
#else
template <class T>
TD_INLINE Vec<T> sqrt(Vec<T> x) {
  return each(x, [](T v) { return std::sqrt(v); });
}
template <class T>
TD_INLINE Vec<T> round(Vec<T> x) {
  return each(x, [](T v) { return std::nearbyint(v); });
}
template <class T>
TD_INLINE Vec<T> floor(Vec<T> x) {
  return each(x, [](T v) { return std::floor(v); });
}
template <class T>
TD_INLINE Vec<T> ceil(Vec<T> x) {
  return each(x, [](T v) { return std::ceil(v); });
}
template <class T>
TD_INLINE Vec<T> trunc(Vec<T> x) {
  return each(x, [](T v) { return std::trunc(v); });
}
template <class T>
TD_INLINE Vec<T> min(Vec<T> a, Vec<T> b) {
  return select(a < b, a, b);
}
template <class T>
TD_INLINE Vec<T> max(Vec<T> a, Vec<T> b) {
  return select(a > b, a, b);
}
#endif

/// a * b + c: in one rounding where the processor can (the compiler contracts it).
template <class T>
TD_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) {
  return a * b + c;
}
/// c[0] + x (c[1] + x (c[2] + …)).
template <class T, class... Rest>
TD_INLINE Vec<T> polynomial(Vec<T> x, double first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) return Vec<T>(first);
  else return fma(polynomial(x, rest...), x, Vec<T>(first));
}

/// 1 / sqrt(x).
template <class T>
TD_INLINE Vec<T> rsqrt(Vec<T> x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {  // an estimate of fourteen bits and a step of Newton's method; where that is nan, the estimate is right
    const __m512 y = _mm512_rsqrt14_ps(x.v), error = _mm512_fnmadd_ps(x.v * y, y, Vec<T>(1).v);
    return Vec<T>(_mm512_mask3_fmadd_ps(Vec<T>(0.5).v * y, error, y, _mm512_cmp_ps_mask(error, error, _CMP_ORD_Q)));
  }
#endif
  return Vec<T>(1) / sqrt(x);
}

/// 2^n for whole n from -126 to 127 (-1022 to 1023).
TD_INLINE Vec<float> power_of_two(Vec<float> n) { return Vec<float>::of_bits((__builtin_convertvector(n.v, Raw<int32_t>) + 127) << 23); }
TD_INLINE Vec<double> power_of_two(Vec<double> n) {
  return Vec<double>::of_bits(((n + Vec<double>(0x1.8p52)).bits() + 1023) << 52);  // the sum's low bits are n
}
/// p * 2^n for whole n, into the denormal numbers and to infinity.
template <class T>
TD_INLINE Vec<T> scale(Vec<T> p, Vec<T> n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return Vec<T>(_mm512_scalef_ps(p.v, n.v));
  else return Vec<T>(_mm512_scalef_pd(p.v, n.v));
#else
  const Vec<T> half = floor(n * Vec<T>(0.5));
  return p * power_of_two(half) * power_of_two(n - half);
#endif
}

template <class T>
TD_INLINE Vec<T> abs(Vec<T> x) {
  return Vec<T>::of_bits(x.bits() & ~Vec<T>(-0.0).bits());
}
/// The magnitude of the first with the sign of the second.
template <class T>
TD_INLINE Vec<T> copysign(Vec<T> x, Vec<T> sign) {
  const auto bit = Vec<T>(-0.0).bits();
  return Vec<T>::of_bits((x.bits() & ~bit) | (sign.bits() & bit));
}

/// Which lanes have nan in a or b.
template <class T>
TD_INLINE Mask<T> unordered(Vec<T> a, Vec<T> b) {
#if defined(__AVX512F__)
  return Vec<T>::template compare<_CMP_UNORD_Q, _MM_CMPINT_LT>(a, b);
#else
  return (a != a) | (b != b);
#endif
}

/// Whether some lane is not below `limit` in magnitude: too large, or nan.
template <class T>
TD_INLINE bool any_beyond(Vec<T> x, double limit) {
  return any(!(abs(x) < Vec<T>(limit)));
}

/// The lower and the upper half of the lanes, in double.
struct Halves {
  Vec<double> low, high;
};
#if defined(__AVX512F__)
TD_INLINE Halves widen(Vec<float> x) {
  return {Vec<double>(_mm512_cvtps_pd(_mm512_castps512_ps256(x.v))), Vec<double>(_mm512_cvtps_pd(_mm512_extractf32x8_ps(x.v, 1)))};
}
TD_INLINE Vec<float> narrow(Halves x) {
  return Vec<float>(_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(x.low.v)), _mm512_cvtpd_ps(x.high.v), 1));
}
#else
TD_INLINE Halves widen(Vec<float> x) {
  using Half = Raw<float, kVectorBytes / 2>;
  Half half[2];
  std::memcpy(half, &x.v, sizeof half);
  return {Vec<double>(__builtin_convertvector(half[0], Raw<double>)), Vec<double>(__builtin_convertvector(half[1], Raw<double>))};
}
TD_INLINE Vec<float> narrow(Halves x) {
  using Half = Raw<float, kVectorBytes / 2>;
  const Half half[2] = {__builtin_convertvector(x.low.v, Half), __builtin_convertvector(x.high.v, Half)};
  Vec<float> y;
  std::memcpy(&y.v, half, sizeof half);
  return y;
}
#endif
/// All lanes into one by `f`, in halves.
template <int half, class T, class F>
TD_INLINE T reduce_by(Vec<T> x, F f) {
  if constexpr (half == 0) {
    return x.v[0];
  } else {
    return reduce_by<half / 2>(f(x, Vec<T>(shuffle(x.v, x.v, [](int i) { return i ^ half; }))), f);
  }
}
template <class T, class F>
TD_INLINE T reduce(Vec<T> x, F f) {
  return reduce_by<Vec<T>::kLanes / 2>(x, f);
}
template <class T>
TD_INLINE T reduce_add(Vec<T> x) {
  return reduce(
      x, [](Vec<T> a, Vec<T> b) __attribute__((always_inline)) { return a + b; });
}
template <class T>
TD_INLINE T reduce_max(Vec<T> x) {
  return reduce(
      x, [](Vec<T> a, Vec<T> b) __attribute__((always_inline)) { return max(a, b); });
}
/// The first n lanes of x; `fill` in the others.
template <class T>
TD_INLINE Vec<T> keep_first(Vec<T> x, int64_t n, T fill) {
  Vec<T> number;
  for (int i = 0; i < Vec<T>::kLanes; ++i) number.v[i] = static_cast<T>(i);
  return select(number < Vec<T>(static_cast<T>(n)), x, Vec<T>(fill));
}

/// A float function computed in double and rounded once.
template <class F>
TD_INLINE Vec<float> in_double(Vec<float> x, F f) {
  const Halves wide = widen(x);
  return narrow({f(wide.low), f(wide.high)});
}
template <class F>
TD_INLINE Vec<float> in_double(Vec<float> x, Vec<float> y, F f) {
  const Halves a = widen(x), b = widen(y);
  return narrow({f(a.low, b.low), f(a.high, b.high)});
}

/// y, but what f says in double where x is not below `limit` in magnitude. Not inlined: it is rare, and the loop keeps its registers.
template <class F>
[[gnu::noinline, gnu::cold]] Vec<float> beyond_in_double(Vec<float> x, Vec<float> y, float limit, F f) {
  return select(abs(x) < Vec<float>(limit), y, in_double(x, f));
}

}  // namespace tandem::kernels::cpu::TD_ISA
