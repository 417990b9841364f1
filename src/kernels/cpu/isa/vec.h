// SIMD vectors for functors: one register of float, double or int64 for the instruction set that the file is compiled for. GCC's vector
// extensions with the few instructions they lack. Everything is inlined, and lies in the namespace of the instruction set, so nothing is
// shared between sets.
#pragma once

#include <cmath>
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

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T, int bytes>
struct RawOf {
  typedef T type __attribute__((vector_size(bytes)));
};
template <class T, int bytes = kVectorBytes>
using Raw = typename RawOf<T, bytes>::type;

/// The integer as wide as T.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

/// A truth value for each lane: a bit, where the instruction set has registers of them, else all ones or all zeros.
#if defined(__AVX512F__)
template <class T>
struct Mask {
  using Word = std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>;
  Word v;

  TD_INLINE friend Mask operator&(Mask a, Mask b) { return {static_cast<Word>(a.v & b.v)}; }
  TD_INLINE friend Mask operator|(Mask a, Mask b) { return {static_cast<Word>(a.v | b.v)}; }
  TD_INLINE friend Mask operator^(Mask a, Mask b) { return {static_cast<Word>(a.v ^ b.v)}; }
  TD_INLINE friend Mask operator!(Mask a) { return {static_cast<Word>(~a.v)}; }
};
#else
template <class T>
struct Mask {
  using Lanes = Raw<Bits<T>>;
  Lanes v;

  TD_INLINE friend Mask operator&(Mask a, Mask b) { return {a.v & b.v}; }
  TD_INLINE friend Mask operator|(Mask a, Mask b) { return {a.v | b.v}; }
  TD_INLINE friend Mask operator^(Mask a, Mask b) { return {a.v ^ b.v}; }
  TD_INLINE friend Mask operator!(Mask a) { return {~a.v}; }
};
#endif

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
  /// The first n lanes, 0 < n < kLanes; the others are zero.
  TD_INLINE static Vec load(const void* from, int64_t n) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return Vec((Lanes)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1U << n) - 1), from));
    else return Vec((Lanes)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1U << n) - 1), from));
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4) return Vec((Lanes)_mm256_maskload_epi32(static_cast<const int*>(from), first(n)));
    else return Vec((Lanes)_mm256_maskload_epi64(static_cast<const long long*>(from), first(n)));
#else
    Vec x(0);
    for (int64_t i = 0; i < n; ++i) x.v[i] = static_cast<const T*>(from)[i];
    return x;
#endif
  }
  TD_INLINE void store(void* to, int64_t n) const {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1U << n) - 1), (__m512i)v);
    else _mm512_mask_storeu_epi64(to, static_cast<__mmask8>((1U << n) - 1), (__m512i)v);
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4) _mm256_maskstore_epi32(static_cast<int*>(to), first(n), (__m256i)v);
    else _mm256_maskstore_epi64(static_cast<long long*>(to), first(n), (__m256i)v);
#else
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(to)[i] = v[i];
#endif
  }
#if defined(__AVX2__) && !defined(__AVX512F__)
  TD_INLINE static __m256i first(int64_t n) {
    if constexpr (sizeof(T) == 4)
      return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    else return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  }
#endif

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
#if defined(__AVX512F__)
  template <int order, int integer_order>  // of floating numbers and of integers
  TD_INLINE static Mask<T> compare(Vec a, Vec b) {
    if constexpr (std::is_integral_v<T>) return {_mm512_cmp_epi64_mask((__m512i)a.v, (__m512i)b.v, integer_order)};
    else if constexpr (sizeof(T) == 4) return {_mm512_cmp_ps_mask(a.v, b.v, order)};
    else return {_mm512_cmp_pd_mask(a.v, b.v, order)};
  }
  TD_INLINE friend Mask<T> operator<(Vec a, Vec b) { return compare<_CMP_LT_OQ, _MM_CMPINT_LT>(a, b); }
  TD_INLINE friend Mask<T> operator<=(Vec a, Vec b) { return compare<_CMP_LE_OQ, _MM_CMPINT_LE>(a, b); }
  TD_INLINE friend Mask<T> operator>(Vec a, Vec b) { return compare<_CMP_GT_OQ, _MM_CMPINT_NLE>(a, b); }
  TD_INLINE friend Mask<T> operator>=(Vec a, Vec b) { return compare<_CMP_GE_OQ, _MM_CMPINT_NLT>(a, b); }
  TD_INLINE friend Mask<T> operator==(Vec a, Vec b) { return compare<_CMP_EQ_OQ, _MM_CMPINT_EQ>(a, b); }
  TD_INLINE friend Mask<T> operator!=(Vec a, Vec b) { return compare<_CMP_NEQ_UQ, _MM_CMPINT_NE>(a, b); }
#else
  TD_INLINE friend Mask<T> operator<(Vec a, Vec b) { return {a.v < b.v}; }
  TD_INLINE friend Mask<T> operator<=(Vec a, Vec b) { return {a.v <= b.v}; }
  TD_INLINE friend Mask<T> operator>(Vec a, Vec b) { return {a.v > b.v}; }
  TD_INLINE friend Mask<T> operator>=(Vec a, Vec b) { return {a.v >= b.v}; }
  TD_INLINE friend Mask<T> operator==(Vec a, Vec b) { return {a.v == b.v}; }
  TD_INLINE friend Mask<T> operator!=(Vec a, Vec b) { return {a.v != b.v}; }
#endif
};

#if defined(__AVX512F__)
template <class T>
TD_INLINE Vec<T> select(Mask<T> mask, Vec<T> a, Vec<T> b) {
  if constexpr (std::is_integral_v<T>) return Vec<T>((Raw<T>)_mm512_mask_blend_epi64(mask.v, (__m512i)b.v, (__m512i)a.v));
  else if constexpr (sizeof(T) == 4) return Vec<T>(_mm512_mask_blend_ps(mask.v, b.v, a.v));
  else return Vec<T>(_mm512_mask_blend_pd(mask.v, b.v, a.v));
}
template <class T>
TD_INLINE bool any(Mask<T> mask) {
  return mask.v != 0;
}
/// Which lanes have some of `bits` set.
template <class T>
TD_INLINE Mask<T> has_bits(Vec<T> x, Bits<T> bits) {
  if constexpr (sizeof(T) == 4) return {_mm512_test_epi32_mask((__m512i)x.v, _mm512_set1_epi32(bits))};
  else return {_mm512_test_epi64_mask((__m512i)x.v, _mm512_set1_epi64(bits))};
}
#else
template <class T>
TD_INLINE Vec<T> select(Mask<T> mask, Vec<T> a, Vec<T> b) {
  return Vec<T>(mask.v ? a.v : b.v);
}
template <class T>
TD_INLINE bool any(Mask<T> mask) {
#if defined(__AVX2__)
  return !_mm256_testz_si256(reinterpret_cast<__m256i>(mask.v), reinterpret_cast<__m256i>(mask.v));
#elif defined(__SSE4_1__)
  return !_mm_testz_si128(reinterpret_cast<__m128i>(mask.v), reinterpret_cast<__m128i>(mask.v));
#else
  Bits<T> found = 0;
  for (int i = 0; i < Vec<T>::kLanes; ++i) found |= mask.v[i];
  return found != 0;
#endif
}
/// Which lanes have some of `bits` set.
template <class T>
TD_INLINE Mask<T> has_bits(Vec<T> x, Bits<T> bits) {
  return {(x.bits() & bits) != 0};
}
#endif
/// Which lanes have a sign, -0 and -nan too.
template <class T>
TD_INLINE Mask<T> signbit(Vec<T> x) {
  return has_bits(x, std::numeric_limits<Bits<T>>::min());
}

/// Reads as one thing what was written as another of the same size.
template <class To, class From>
TD_INLINE To recast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return reinterpret_cast<To>(from);
}

}  // namespace tandem::kernels::cpu::TD_ISA
