// AVX-512: registers of 64 bytes, masks of one bit a lane. Defines what vec.h lists.
#pragma once

namespace tandem::kernels::cpu::TD_ISA {
inline constexpr int kVectorBytes = 64;
inline constexpr bool kHasFma = true, kConvertsHalf = true;
}  // namespace tandem::kernels::cpu::TD_ISA

#include "kernels/cpu/isa/vec_type.h"

namespace tandem::kernels::cpu::TD_ISA {

template <class T>
struct Mask {
  using Word = std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8>;
  Word v;

  TD_INLINE friend Mask operator&(Mask a, Mask b) { return {static_cast<Word>(a.v & b.v)}; }
  TD_INLINE friend Mask operator|(Mask a, Mask b) { return {static_cast<Word>(a.v | b.v)}; }
  TD_INLINE friend Mask operator^(Mask a, Mask b) { return {static_cast<Word>(a.v ^ b.v)}; }
  TD_INLINE friend Mask operator!(Mask a) { return {static_cast<Word>(~a.v)}; }
};

template <Order order, class T>
TD_INLINE Mask<T> compare(Vec<T> a, Vec<T> b) {
  constexpr int floats[] = {_CMP_LT_OQ, _CMP_LE_OQ, _CMP_GT_OQ, _CMP_GE_OQ, _CMP_EQ_OQ, _CMP_NEQ_UQ, _CMP_UNORD_Q};
  constexpr int integers[] = {_MM_CMPINT_LT, _MM_CMPINT_LE, _MM_CMPINT_NLE, _MM_CMPINT_NLT, _MM_CMPINT_EQ, _MM_CMPINT_NE, 0};
  constexpr int predicate = (std::is_integral_v<T> ? integers : floats)[static_cast<int>(order)];
  if constexpr (std::is_integral_v<T>) return {_mm512_cmp_epi64_mask((__m512i)a.v, (__m512i)b.v, predicate)};
  else if constexpr (sizeof(T) == 4) return {_mm512_cmp_ps_mask(a.v, b.v, predicate)};
  else return {_mm512_cmp_pd_mask(a.v, b.v, predicate)};
}
template <class T>
TD_INLINE Mask<T> has_bits(Vec<T> x, Bits<T> bits) {
  if constexpr (sizeof(T) == 4) return {_mm512_test_epi32_mask((__m512i)x.v, _mm512_set1_epi32(bits))};
  else return {_mm512_test_epi64_mask((__m512i)x.v, _mm512_set1_epi64(bits))};
}
template <class T>
TD_INLINE bool any(Mask<T> mask) {
  return mask.v != 0;
}
template <class T>
TD_INLINE Vec<T> select(Mask<T> mask, Vec<T> a, Vec<T> b) {
  if constexpr (std::is_integral_v<T>) return Vec<T>((Raw<T>)_mm512_mask_blend_epi64(mask.v, (__m512i)b.v, (__m512i)a.v));
  else if constexpr (sizeof(T) == 4) return Vec<T>(_mm512_mask_blend_ps(mask.v, b.v, a.v));
  else return Vec<T>(_mm512_mask_blend_pd(mask.v, b.v, a.v));
}
template <class T>
TD_INLINE auto to_bytes(Mask<T> y) {
  return _mm_maskz_set1_epi8(y.v, 1);  // of eight lanes, the lower half
}

template <class T>
TD_INLINE Vec<T> load_first(Vec<T> /*zero*/, const void* from, int64_t n) {
  if constexpr (sizeof(T) == 4) return Vec<T>((Raw<T>)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1U << n) - 1), from));
  else return Vec<T>((Raw<T>)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1U << n) - 1), from));
}
template <class T>
TD_INLINE void store_first(Vec<T> x, void* to, int64_t n) {
  if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1U << n) - 1), (__m512i)x.v);
  else _mm512_mask_storeu_epi64(to, static_cast<__mmask8>((1U << n) - 1), (__m512i)x.v);
}

TD_INLINE Vec<float> sqrt(Vec<float> x) { return Vec<float>(_mm512_sqrt_ps(x.v)); }
TD_INLINE Vec<double> sqrt(Vec<double> x) { return Vec<double>(_mm512_sqrt_pd(x.v)); }
/// An estimate of fourteen bits and a step of Newton's method; where that is nan, the estimate is right.
TD_INLINE Vec<float> rsqrt(Vec<float> x) {
  const __m512 y = _mm512_rsqrt14_ps(x.v), error = _mm512_fnmadd_ps(x.v * y, y, Vec<float>(1).v);
  return Vec<float>(_mm512_mask3_fmadd_ps(Vec<float>(0.5).v * y, error, y, _mm512_cmp_ps_mask(error, error, _CMP_ORD_Q)));
}
TD_INLINE Vec<double> rsqrt(Vec<double> x) { return Vec<double>(1) / sqrt(x); }
inline constexpr int kExact = _MM_FROUND_NO_EXC;
TD_INLINE Vec<float> round(Vec<float> x) { return Vec<float>(_mm512_roundscale_ps(x.v, _MM_FROUND_TO_NEAREST_INT | kExact)); }
TD_INLINE Vec<double> round(Vec<double> x) { return Vec<double>(_mm512_roundscale_pd(x.v, _MM_FROUND_TO_NEAREST_INT | kExact)); }
TD_INLINE Vec<float> floor(Vec<float> x) { return Vec<float>(_mm512_roundscale_ps(x.v, _MM_FROUND_TO_NEG_INF | kExact)); }
TD_INLINE Vec<double> floor(Vec<double> x) { return Vec<double>(_mm512_roundscale_pd(x.v, _MM_FROUND_TO_NEG_INF | kExact)); }
TD_INLINE Vec<float> ceil(Vec<float> x) { return Vec<float>(_mm512_roundscale_ps(x.v, _MM_FROUND_TO_POS_INF | kExact)); }
TD_INLINE Vec<double> ceil(Vec<double> x) { return Vec<double>(_mm512_roundscale_pd(x.v, _MM_FROUND_TO_POS_INF | kExact)); }
TD_INLINE Vec<float> trunc(Vec<float> x) { return Vec<float>(_mm512_roundscale_ps(x.v, _MM_FROUND_TO_ZERO | kExact)); }
TD_INLINE Vec<double> trunc(Vec<double> x) { return Vec<double>(_mm512_roundscale_pd(x.v, _MM_FROUND_TO_ZERO | kExact)); }
TD_INLINE Vec<float> min(Vec<float> a, Vec<float> b) { return Vec<float>(_mm512_min_ps(a.v, b.v)); }
TD_INLINE Vec<double> min(Vec<double> a, Vec<double> b) { return Vec<double>(_mm512_min_pd(a.v, b.v)); }
TD_INLINE Vec<float> max(Vec<float> a, Vec<float> b) { return Vec<float>(_mm512_max_ps(a.v, b.v)); }
TD_INLINE Vec<double> max(Vec<double> a, Vec<double> b) { return Vec<double>(_mm512_max_pd(a.v, b.v)); }
TD_INLINE Vec<float> scale(Vec<float> p, Vec<float> n) { return Vec<float>(_mm512_scalef_ps(p.v, n.v)); }
TD_INLINE Vec<double> scale(Vec<double> p, Vec<double> n) { return Vec<double>(_mm512_scalef_pd(p.v, n.v)); }
TD_INLINE Vec<float> fused(Vec<float> a, Vec<float> b, Vec<float> c) { return Vec<float>(_mm512_fmadd_ps(a.v, b.v, c.v)); }
TD_INLINE Words64 multiply_low(Words64 a, Words64 b) {
  return reinterpret_cast<Words64>(_mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}

TD_INLINE Halves widen(Vec<float> x) {
  return {Vec<double>(_mm512_cvtps_pd(_mm512_castps512_ps256(x.v))), Vec<double>(_mm512_cvtps_pd(_mm512_extractf32x8_ps(x.v, 1)))};
}
TD_INLINE Vec<float> narrow(Halves x) {
  return Vec<float>(_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(x.low.v)), _mm512_cvtpd_ps(x.high.v), 1));
}
TD_INLINE Vec<float> load_half(const void* from) {
  return Vec<float>(_mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(from))));
}
TD_INLINE void store_half(Vec<float> x, void* to) { _mm256_storeu_si256(static_cast<__m256i*>(to), _mm512_cvtps_ph(x.v, 0)); }

}  // namespace tandem::kernels::cpu::TD_ISA
