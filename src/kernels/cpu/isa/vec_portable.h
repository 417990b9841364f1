// What vec.h lists, for any processor: the compiler's vector extensions, and a loop over the lanes where they have nothing. A set's own
// header includes this one and adds functions for its types where it has an instruction, which are chosen before these templates.
#pragma once

#include "kernels/cpu/isa/vec_type.h"

namespace tandem::kernels::cpu::TD_ISA {

/// All ones in a lane for true, all zeros for false.
template <class T>
struct Mask {
  using Lanes = Raw<Bits<T>>;
  Lanes v;

  TD_INLINE friend Mask operator&(Mask a, Mask b) { return {a.v & b.v}; }
  TD_INLINE friend Mask operator|(Mask a, Mask b) { return {a.v | b.v}; }
  TD_INLINE friend Mask operator^(Mask a, Mask b) { return {a.v ^ b.v}; }
  TD_INLINE friend Mask operator!(Mask a) { return {~a.v}; }
};

template <Order order, class T>
TD_INLINE Mask<T> compare(Vec<T> a, Vec<T> b) {
  if constexpr (order == Order::Less) return {a.v < b.v};
  else if constexpr (order == Order::LessEqual) return {a.v <= b.v};
  else if constexpr (order == Order::Greater) return {a.v > b.v};
  else if constexpr (order == Order::GreaterEqual) return {a.v >= b.v};
  else if constexpr (order == Order::Equal) return {a.v == b.v};
  else if constexpr (order == Order::NotEqual) return {a.v != b.v};
  else return (a != a) | (b != b);
}
template <class T>
TD_INLINE Mask<T> has_bits(Vec<T> x, Bits<T> bits) {
  return {(x.bits() & bits) != 0};
}
template <class T>
TD_INLINE bool any(Mask<T> mask) {
  Bits<T> found = 0;
  for (int i = 0; i < Vec<T>::kLanes; ++i) found |= mask.v[i];
  return found != 0;
}
template <class T>
TD_INLINE Vec<T> select(Mask<T> mask, Vec<T> a, Vec<T> b) {
  return Vec<T>(mask.v ? a.v : b.v);
}
template <class T>
TD_INLINE auto to_bytes(Mask<T> mask) {
  return __builtin_convertvector(mask.v, Raw<int8_t, Vec<T>::kLanes>) & 1;
}

template <class T>
TD_INLINE Vec<T> load_first(Vec<T> zero, const void* from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) zero.v[i] = static_cast<const T*>(from)[i];
  return zero;
}
template <class T>
TD_INLINE void store_first(Vec<T> x, void* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(to)[i] = x.v[i];
}

template <class T>
TD_INLINE Vec<T> sqrt(Vec<T> x) {
  return each(x, [](T v) { return std::sqrt(v); });
}
template <class T>
TD_INLINE Vec<T> rsqrt(Vec<T> x) {
  return Vec<T>(1) / sqrt(x);
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
template <class T>
TD_INLINE Vec<T> scale(Vec<T> p, Vec<T> n) {
  const Vec<T> half = floor(n * Vec<T>(0.5));
  return p * power_of_two(half) * power_of_two(n - half);
}
template <class T>
TD_INLINE Vec<T> fused(Vec<T> a, Vec<T> b, Vec<T> c) {
  for (int i = 0; i < Vec<T>::kLanes; ++i) a.v[i] = std::fma(a.v[i], b.v[i], c.v[i]);
  return a;
}
template <class W>
TD_INLINE W multiply_low(W a, W b) {
  return (a & 0xffffffffU) * (b & 0xffffffffU);
}

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

}  // namespace tandem::kernels::cpu::TD_ISA
