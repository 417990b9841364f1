// The SIMD vector of the instruction set that a file is compiled for, and the functions on it. A set has one header, which defines what the
// sets do by different instructions:
//
//   kVectorBytes, kHasFma, kConvertsHalf   the length of a register; whether there are fused products and conversions of float16
//   Vec<T>                                 a register of float, double or int64_t (vec_type.h)
//   Mask<T>, compare<order>(a, b)          a truth value for each lane; & | ^ ! on them, and what < <= > >= == != do
//   has_bits(x, bits)                      which lanes have some of `bits` set
//   any(mask), select(mask, a, b)          whether some lane is true; a where true, else b
//   to_bytes(mask)                         1 or 0 in a byte for each lane
//   load_first(zero, address, n)           the first n lanes from memory, 0 < n < kLanes, the others zero
//   store_first(x, address, n)             the first n lanes to memory
//   sqrt, rsqrt, round, floor, ceil, trunc round: to the nearest even
//   min, max                               a < b ? a : b and a > b ? a : b, so b where one is nan
//   scale(p, n)                            p * 2^n for whole n, into the denormal numbers and to infinity
//   fused(a, b, c)                         a * b + c in one rounding, always
//   multiply_low(a, b)                     the products of the lower halves of 64-bit lanes
//   widen(x), narrow(halves)               float to double and back
//   load_half, store_half(x, address)      float16 to float and back, where kConvertsHalf
//
// What follows from these is here.
#pragma once

#if defined(__AVX512F__)
#include "kernels/cpu/isa/vec_avx512.h"
#elif defined(__AVX2__)
#include "kernels/cpu/isa/vec_avx2.h"
#elif defined(__SSE4_1__)
#include "kernels/cpu/isa/vec_baseline.h"
#elif defined(__aarch64__)
#include "kernels/cpu/isa/vec_neon.h"
#else
namespace tandem::kernels::cpu::TD_ISA {
inline constexpr int kVectorBytes = 16;
inline constexpr bool kHasFma = false, kConvertsHalf = false;
}  // namespace tandem::kernels::cpu::TD_ISA
#include "kernels/cpu/isa/vec_portable.h"
#endif

#include <utility>

namespace tandem::kernels::cpu::TD_ISA {

/// The lanes order(0), order(1), … of a and b laid end to end. `order` is a lambda without captures.
template <class V, class Order, size_t... i>
TD_INLINE V shuffle(V a, V b, Order, std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, Order{}(static_cast<int>(i))...);
}
template <class V, class Order>
TD_INLINE V shuffle(V a, V b, Order order) {
  return shuffle(a, b, order, std::make_index_sequence<sizeof(V) / sizeof(a[0])>());
}

/// a * b + c: in one rounding where the processor can (the compiler contracts it).
template <class T>
TD_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) {
  return a * b + c;
}
/// a * b in a rounding of its own: the compiler does not contract it with a sum that follows.
TD_INLINE Vec<float> rounded_product(Vec<float> a, Vec<float> b) { return fused(a, b, Vec<float>(0)); }
/// c[0] + x (c[1] + x (c[2] + …)).
template <class T, class... Rest>
TD_INLINE Vec<T> polynomial(Vec<T> x, double first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) return Vec<T>(first);
  else return fma(polynomial(x, rest...), x, Vec<T>(first));
}

/// 2^n for whole n from -126 to 127 (-1022 to 1023).
TD_INLINE Vec<float> power_of_two(Vec<float> n) { return Vec<float>::of_bits((__builtin_convertvector(n.v, Raw<int32_t>) + 127) << 23); }
TD_INLINE Vec<double> power_of_two(Vec<double> n) {
  return Vec<double>::of_bits(((n + Vec<double>(0x1.8p52)).bits() + 1023) << 52);  // the sum's low bits are n
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
  return compare<Order::Unordered>(a, b);
}
/// Which lanes have a sign, -0 and -nan too.
template <class T>
TD_INLINE Mask<T> signbit(Vec<T> x) {
  return has_bits(x, std::numeric_limits<Bits<T>>::min());
}

/// Whether some lane is not below `limit` in magnitude: too large, or nan.
template <class T>
TD_INLINE bool any_beyond(Vec<T> x, double limit) {
  return any(!(abs(x) < Vec<T>(limit)));
}

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
