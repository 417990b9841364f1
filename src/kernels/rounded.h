// The 16-bit floating types as numbers: each operation is done in float and its result rounded. For the few kernels where a half-precision
// answer is by definition the one of such arithmetic; others compute in float and round once.
#pragma once

#include <cmath>

#include "kernels/math.h"
#include "kernels/visit.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace tandem::kernels {

#if defined(__CUDACC__)
TD_HOST_DEVICE inline float widened(Half x) { return __half2float(__ushort_as_half(x.bits)); }
TD_HOST_DEVICE inline float widened(BFloat16 x) { return __bfloat162float(__ushort_as_bfloat16(x.bits)); }
TD_HOST_DEVICE inline void narrow(float x, Half& to) { to.bits = __half_as_ushort(__float2half(x)); }
TD_HOST_DEVICE inline void narrow(float x, BFloat16& to) { to.bits = __bfloat16_as_ushort(__float2bfloat16(x)); }
#else
template <class H>
float widened(H x) {
  return static_cast<float>(x);
}
template <class H>
void narrow(float x, H& to) {
  to = H(x);
}
#endif

/// A number stored as H (BFloat16 or Half); integers and other numbers are rounded to it when they come in.
template <class H>
class Rounded {
 public:
  Rounded() = default;
  template <class N>
  requires std::is_arithmetic_v<N> TD_HOST_DEVICE Rounded(N value) {  // NOLINT(google-explicit-constructor): as any number
    narrow(static_cast<float>(value), stored_);
  }
  TD_HOST_DEVICE explicit operator float() const { return widened(stored_); }
  TD_HOST_DEVICE explicit operator int64_t() const { return static_cast<int64_t>(float(*this)); }

  TD_HOST_DEVICE friend Rounded operator+(Rounded a, Rounded b) { return float(a) + float(b); }
  TD_HOST_DEVICE friend Rounded operator-(Rounded a, Rounded b) { return float(a) - float(b); }
  TD_HOST_DEVICE friend Rounded operator*(Rounded a, Rounded b) { return float(a) * float(b); }
  TD_HOST_DEVICE friend Rounded operator/(Rounded a, Rounded b) { return float(a) / float(b); }
  TD_HOST_DEVICE friend Rounded operator-(Rounded a) { return -float(a); }
  TD_HOST_DEVICE friend bool operator==(Rounded a, Rounded b) { return float(a) == float(b); }
  TD_HOST_DEVICE friend auto operator<=>(Rounded a, Rounded b) { return float(a) <=> float(b); }
  TD_HOST_DEVICE Rounded& operator+=(Rounded b) { return *this = *this + b; }

  TD_HOST_DEVICE friend Rounded fabs(Rounded a) { return ::fabsf(float(a)); }
  TD_HOST_DEVICE friend Rounded floor(Rounded a) { return ::floorf(float(a)); }
  TD_HOST_DEVICE friend Rounded nearbyint(Rounded a) { return ::nearbyintf(float(a)); }
  TD_HOST_DEVICE friend Rounded fmod(Rounded a, Rounded b) { return ::fmodf(float(a), float(b)); }

 private:
  H stored_;
};
static_assert(sizeof(Rounded<BFloat16>) == sizeof(BFloat16) && sizeof(Rounded<Half>) == sizeof(Half));

/// Calls `f` with a zero of the type that computes in a floating dtype's own precision.
template <class F>
void visit_rounded(DType dtype, F&& f) {
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) == 2) f(Rounded<T>{});
    else f(zero);
  });
}

}  // namespace tandem::kernels
