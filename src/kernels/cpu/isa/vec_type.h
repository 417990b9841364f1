// Vec<T>: one register of float, double or int64 of the instruction set that the file is compiled for, as one of GCC's vector extensions,
// which bring loads, stores and arithmetic. Everything is inlined, and lies in the namespace of the instruction set, so nothing is shared
// between sets. Included by a set's own header (vec.h lists them), after it has said how long a register is.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push  // gcc 12 warns of its own "undefined" registers in here
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

#define TD_INLINE [[gnu::always_inline]] inline

namespace tandem::kernels::cpu::TD_ISA {

template <class T, int bytes>
struct RawOf {
  typedef T type __attribute__((vector_size(bytes)));
};
template <class T, int bytes = kVectorBytes>
using Raw = typename RawOf<T, bytes>::type;

/// The integer as wide as T.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

/// Reads as one thing what was written as another of the same size.
template <class To, class From>
TD_INLINE To recast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To>(from);
}

/// What two lanes may be asked; Unordered: whether one is nan.
enum class Order : uint8_t { Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, Unordered };

/// A register of T.
template <class T>
struct Vec {
  using Lane = T;
  using Lanes = Raw<T>;
  using BitLanes = Raw<Bits<T>>;
  using Wrapping = Raw<std::conditional_t<std::is_integral_v<T>, uint64_t, T>>;
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  Lanes v;

  Vec() = default;
  TD_INLINE Vec(Lanes lanes) : v(lanes) {}
  template <class S>
  requires std::is_arithmetic_v<S> TD_INLINE explicit Vec(S number) {
    for (int i = 0; i < kLanes; ++i) v[i] = static_cast<T>(number);
  }

  TD_INLINE static Vec load(const void* from) {
    Vec x;
    std::memcpy(&x.v, from, sizeof x.v);
    return x;
  }
  TD_INLINE void store(void* to) const { std::memcpy(to, &v, sizeof v); }
  /// The first n lanes, 0 < n < kLanes; the others are zero. `load_first` and `store_first` are the set's.
  TD_INLINE static Vec load(const void* from, int64_t n) { return load_first(Vec(0), from, n); }
  TD_INLINE void store(void* to, int64_t n) const { store_first(*this, to, n); }

  TD_INLINE BitLanes bits() const { return reinterpret_cast<BitLanes>(v); }
  TD_INLINE static Vec of_bits(BitLanes bits) { return Vec(reinterpret_cast<Lanes>(bits)); }

  // Integers wrap: they are added and multiplied as unsigned ones.
  TD_INLINE friend Vec operator+(Vec a, Vec b) { return Vec((Lanes)((Wrapping)a.v + (Wrapping)b.v)); }
  TD_INLINE friend Vec operator-(Vec a, Vec b) { return Vec((Lanes)((Wrapping)a.v - (Wrapping)b.v)); }
  TD_INLINE friend Vec operator*(Vec a, Vec b) { return Vec((Lanes)((Wrapping)a.v * (Wrapping)b.v)); }
  TD_INLINE friend Vec operator/(Vec a, Vec b) {
    static_assert(std::is_floating_point_v<T>, "integers divide by math::floor_divide and its kind, which look at the divisor");
    return Vec(a.v / b.v);
  }
  TD_INLINE friend Vec operator-(Vec a) { return Vec((Lanes)(-(Wrapping)a.v)); }
  TD_INLINE friend Vec operator&(Vec a, Vec b) { return Vec(a.v & b.v); }  // & | ^: integers only
  TD_INLINE friend Vec operator|(Vec a, Vec b) { return Vec(a.v | b.v); }
  TD_INLINE friend Vec operator^(Vec a, Vec b) { return Vec(a.v ^ b.v); }
  TD_INLINE friend auto operator<(Vec a, Vec b) { return compare<Order::Less>(a, b); }
  TD_INLINE friend auto operator<=(Vec a, Vec b) { return compare<Order::LessEqual>(a, b); }
  TD_INLINE friend auto operator>(Vec a, Vec b) { return compare<Order::Greater>(a, b); }
  TD_INLINE friend auto operator>=(Vec a, Vec b) { return compare<Order::GreaterEqual>(a, b); }
  TD_INLINE friend auto operator==(Vec a, Vec b) { return compare<Order::Equal>(a, b); }
  TD_INLINE friend auto operator!=(Vec a, Vec b) { return compare<Order::NotEqual>(a, b); }
};

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

/// The lower and the upper half of a vector of floats, in double.
struct Halves {
  Vec<double> low, high;
};
/// Lanes of 64 bits, for products of 32-bit words.
using Words64 = Raw<uint64_t>;

}  // namespace tandem::kernels::cpu::TD_ISA
