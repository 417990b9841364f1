// AVX2 with FMA and F16C (x86-64-v3): registers of 32 bytes. Defines what vec.h lists.
#pragma once

namespace tandem::kernels::cpu::TD_ISA {
inline constexpr int kVectorBytes = 32;
inline constexpr bool kHasFma = true, kConvertsHalf = true;
}  // namespace tandem::kernels::cpu::TD_ISA

#include "kernels/cpu/isa/vec_portable.h"

namespace tandem::kernels::cpu::TD_ISA {

// These are chosen before vec_portable.h's because they are constrained.
template <class T>
concept AnyLane = sizeof(T) == 4 || sizeof(T) == 8;
template <AnyLane T>
TD_INLINE bool any(Mask<T> mask) {
  return !_mm256_testz_si256(reinterpret_cast<__m256i>(mask.v), reinterpret_cast<__m256i>(mask.v));
}

/// By instructions that pack; the compiler takes the lanes out one by one.
template <AnyLane T>
TD_INLINE auto to_bytes(Mask<T> mask) {
  const auto lanes = reinterpret_cast<__m256i>(mask.v);
  const __m128i low = _mm256_castsi256_si128(lanes), high = _mm256_extracti128_si256(lanes, 1);
  if constexpr (sizeof(T) == 4) {
    const __m128i words = _mm_packs_epi32(low, high);
    return _mm_cvtsi128_si64(_mm_packs_epi16(words, words)) & 0x0101010101010101;
  } else {
    const __m128i words = _mm_packs_epi32(low, high), halves = _mm_packs_epi32(words, words);
    return _mm_cvtsi128_si32(_mm_packs_epi16(halves, halves)) & 0x01010101;
  }
}

/// All ones in the first n lanes.
template <class T>
TD_INLINE __m256i first_lanes(int64_t n) {
  if constexpr (sizeof(T) == 4)
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  else return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
template <AnyLane T>
TD_INLINE Vec<T> load_first(Vec<T> /*zero*/, const void* from, int64_t n) {
  if constexpr (sizeof(T) == 4) return Vec<T>((Raw<T>)_mm256_maskload_epi32(static_cast<const int*>(from), first_lanes<T>(n)));
  else return Vec<T>((Raw<T>)_mm256_maskload_epi64(static_cast<const long long*>(from), first_lanes<T>(n)));
}
template <AnyLane T>
TD_INLINE void store_first(Vec<T> x, void* to, int64_t n) {
  if constexpr (sizeof(T) == 4) _mm256_maskstore_epi32(static_cast<int*>(to), first_lanes<T>(n), (__m256i)x.v);
  else _mm256_maskstore_epi64(static_cast<long long*>(to), first_lanes<T>(n), (__m256i)x.v);
}

TD_INLINE Vec<float> sqrt(Vec<float> x) { return Vec<float>(_mm256_sqrt_ps(x.v)); }
TD_INLINE Vec<double> sqrt(Vec<double> x) { return Vec<double>(_mm256_sqrt_pd(x.v)); }
inline constexpr int kExact = _MM_FROUND_NO_EXC;
TD_INLINE Vec<float> round(Vec<float> x) { return Vec<float>(_mm256_round_ps(x.v, _MM_FROUND_TO_NEAREST_INT | kExact)); }
TD_INLINE Vec<double> round(Vec<double> x) { return Vec<double>(_mm256_round_pd(x.v, _MM_FROUND_TO_NEAREST_INT | kExact)); }
TD_INLINE Vec<float> floor(Vec<float> x) { return Vec<float>(_mm256_round_ps(x.v, _MM_FROUND_TO_NEG_INF | kExact)); }
TD_INLINE Vec<double> floor(Vec<double> x) { return Vec<double>(_mm256_round_pd(x.v, _MM_FROUND_TO_NEG_INF | kExact)); }
TD_INLINE Vec<float> ceil(Vec<float> x) { return Vec<float>(_mm256_round_ps(x.v, _MM_FROUND_TO_POS_INF | kExact)); }
TD_INLINE Vec<double> ceil(Vec<double> x) { return Vec<double>(_mm256_round_pd(x.v, _MM_FROUND_TO_POS_INF | kExact)); }
TD_INLINE Vec<float> trunc(Vec<float> x) { return Vec<float>(_mm256_round_ps(x.v, _MM_FROUND_TO_ZERO | kExact)); }
TD_INLINE Vec<double> trunc(Vec<double> x) { return Vec<double>(_mm256_round_pd(x.v, _MM_FROUND_TO_ZERO | kExact)); }
TD_INLINE Vec<float> min(Vec<float> a, Vec<float> b) { return Vec<float>(_mm256_min_ps(a.v, b.v)); }
TD_INLINE Vec<double> min(Vec<double> a, Vec<double> b) { return Vec<double>(_mm256_min_pd(a.v, b.v)); }
TD_INLINE Vec<float> max(Vec<float> a, Vec<float> b) { return Vec<float>(_mm256_max_ps(a.v, b.v)); }
TD_INLINE Vec<double> max(Vec<double> a, Vec<double> b) { return Vec<double>(_mm256_max_pd(a.v, b.v)); }
TD_INLINE Vec<float> fused(Vec<float> a, Vec<float> b, Vec<float> c) { return Vec<float>(_mm256_fmadd_ps(a.v, b.v, c.v)); }
TD_INLINE Words64 multiply_low(Words64 a, Words64 b) {
  return reinterpret_cast<Words64>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

TD_INLINE Vec<float> load_half(const void* from) { return Vec<float>(_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from)))); }
TD_INLINE void store_half(Vec<float> x, void* to) { _mm_storeu_si128(static_cast<__m128i*>(to), _mm256_cvtps_ph(x.v, 0)); }

}  // namespace tandem::kernels::cpu::TD_ISA
