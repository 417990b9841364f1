// SSE4.2 (x86-64-v2): registers of 16 bytes. Defines what vec.h lists.
#pragma once

namespace tandem::kernels::cpu::TD_ISA {
inline constexpr int kVectorBytes = 16;
inline constexpr bool kHasFma = false, kConvertsHalf = false;
}  // namespace tandem::kernels::cpu::TD_ISA

#include "kernels/cpu/isa/vec_portable.h"

namespace tandem::kernels::cpu::TD_ISA {

// These are chosen before vec_portable.h's because they are constrained.
template <class T>
requires(sizeof(T) >= 4) TD_INLINE bool any(Mask<T> mask) {
  return !_mm_testz_si128(reinterpret_cast<__m128i>(mask.v), reinterpret_cast<__m128i>(mask.v));
}
/// By instructions that pack; the compiler takes the lanes out one by one.
template <class T>
requires(sizeof(T) >= 4) TD_INLINE auto to_bytes(Mask<T> mask) {
  const auto lanes = reinterpret_cast<__m128i>(mask.v);
  const __m128i words = _mm_packs_epi32(lanes, lanes), bytes = _mm_packs_epi16(words, words);
  if constexpr (sizeof(T) == 4) return _mm_cvtsi128_si32(bytes) & 0x01010101;
  else return static_cast<int16_t>(_mm_cvtsi128_si32(_mm_packs_epi16(bytes, bytes)) & 0x0101);
}

TD_INLINE Vec<float> sqrt(Vec<float> x) { return Vec<float>(_mm_sqrt_ps(x.v)); }
TD_INLINE Vec<double> sqrt(Vec<double> x) { return Vec<double>(_mm_sqrt_pd(x.v)); }
inline constexpr int kExact = _MM_FROUND_NO_EXC;
TD_INLINE Vec<float> round(Vec<float> x) { return Vec<float>(_mm_round_ps(x.v, _MM_FROUND_TO_NEAREST_INT | kExact)); }
TD_INLINE Vec<double> round(Vec<double> x) { return Vec<double>(_mm_round_pd(x.v, _MM_FROUND_TO_NEAREST_INT | kExact)); }
TD_INLINE Vec<float> floor(Vec<float> x) { return Vec<float>(_mm_round_ps(x.v, _MM_FROUND_TO_NEG_INF | kExact)); }
TD_INLINE Vec<double> floor(Vec<double> x) { return Vec<double>(_mm_round_pd(x.v, _MM_FROUND_TO_NEG_INF | kExact)); }
TD_INLINE Vec<float> ceil(Vec<float> x) { return Vec<float>(_mm_round_ps(x.v, _MM_FROUND_TO_POS_INF | kExact)); }
TD_INLINE Vec<double> ceil(Vec<double> x) { return Vec<double>(_mm_round_pd(x.v, _MM_FROUND_TO_POS_INF | kExact)); }
TD_INLINE Vec<float> trunc(Vec<float> x) { return Vec<float>(_mm_round_ps(x.v, _MM_FROUND_TO_ZERO | kExact)); }
TD_INLINE Vec<double> trunc(Vec<double> x) { return Vec<double>(_mm_round_pd(x.v, _MM_FROUND_TO_ZERO | kExact)); }
TD_INLINE Vec<float> min(Vec<float> a, Vec<float> b) { return Vec<float>(_mm_min_ps(a.v, b.v)); }
TD_INLINE Vec<double> min(Vec<double> a, Vec<double> b) { return Vec<double>(_mm_min_pd(a.v, b.v)); }
TD_INLINE Vec<float> max(Vec<float> a, Vec<float> b) { return Vec<float>(_mm_max_ps(a.v, b.v)); }
TD_INLINE Vec<double> max(Vec<double> a, Vec<double> b) { return Vec<double>(_mm_max_pd(a.v, b.v)); }
TD_INLINE Words64 multiply_low(Words64 a, Words64 b) {
  return reinterpret_cast<Words64>(_mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}

}  // namespace tandem::kernels::cpu::TD_ISA
