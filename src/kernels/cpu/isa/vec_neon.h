// NEON, which every 64-bit ARM processor has: registers of 16 bytes. Defines what vec.h lists.
#pragma once

#include <arm_neon.h>

namespace tandem::kernels::cpu::TD_ISA {
inline constexpr int kVectorBytes = 16;
inline constexpr bool kHasFma = true, kConvertsHalf = true;
}  // namespace tandem::kernels::cpu::TD_ISA

#include "kernels/cpu/isa/vec_portable.h"

namespace tandem::kernels::cpu::TD_ISA {

/// Chosen before vec_portable.h's because it is constrained.
template <class T>
requires(sizeof(T) >= 4) TD_INLINE bool any(Mask<T> mask) { return vmaxvq_u32((uint32x4_t)mask.v) != 0; }

TD_INLINE Vec<float> sqrt(Vec<float> x) { return Vec<float>((Raw<float>)vsqrtq_f32((float32x4_t)x.v)); }
TD_INLINE Vec<double> sqrt(Vec<double> x) { return Vec<double>((Raw<double>)vsqrtq_f64((float64x2_t)x.v)); }
TD_INLINE Vec<float> round(Vec<float> x) { return Vec<float>((Raw<float>)vrndnq_f32((float32x4_t)x.v)); }
TD_INLINE Vec<double> round(Vec<double> x) { return Vec<double>((Raw<double>)vrndnq_f64((float64x2_t)x.v)); }
TD_INLINE Vec<float> floor(Vec<float> x) { return Vec<float>((Raw<float>)vrndmq_f32((float32x4_t)x.v)); }
TD_INLINE Vec<double> floor(Vec<double> x) { return Vec<double>((Raw<double>)vrndmq_f64((float64x2_t)x.v)); }
TD_INLINE Vec<float> ceil(Vec<float> x) { return Vec<float>((Raw<float>)vrndpq_f32((float32x4_t)x.v)); }
TD_INLINE Vec<double> ceil(Vec<double> x) { return Vec<double>((Raw<double>)vrndpq_f64((float64x2_t)x.v)); }
TD_INLINE Vec<float> trunc(Vec<float> x) { return Vec<float>((Raw<float>)vrndq_f32((float32x4_t)x.v)); }
TD_INLINE Vec<double> trunc(Vec<double> x) { return Vec<double>((Raw<double>)vrndq_f64((float64x2_t)x.v)); }
TD_INLINE Vec<float> fused(Vec<float> a, Vec<float> b, Vec<float> c) {
  return Vec<float>((Raw<float>)vfmaq_f32((float32x4_t)c.v, (float32x4_t)a.v, (float32x4_t)b.v));
}
TD_INLINE Vec<double> fused(Vec<double> a, Vec<double> b, Vec<double> c) {
  return Vec<double>((Raw<double>)vfmaq_f64((float64x2_t)c.v, (float64x2_t)a.v, (float64x2_t)b.v));
}
TD_INLINE Words64 multiply_low(Words64 a, Words64 b) { return (Words64)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b)); }

TD_INLINE Vec<float> load_half(const void* from) {
  float16x4_t half;
  std::memcpy(&half, from, sizeof half);
  return Vec<float>((Raw<float>)vcvt_f32_f16(half));
}
TD_INLINE void store_half(Vec<float> x, void* to) {
  const float16x4_t half = vcvt_f16_f32((float32x4_t)x.v);
  std::memcpy(to, &half, sizeof half);
}

}  // namespace tandem::kernels::cpu::TD_ISA
