// The 16-bit floating types as numbers: each operation is done in float and its result rounded. For the few kernels where a half-precision
// answer is by definition the one of such arithmetic; others compute in float and round once.
#pragma once

#include <cmath>

#include "base/dtype.h"

namespace tandem::kernels::cpu {

/// A number stored as H (BFloat16 or Half); integers and other numbers are rounded to it when they come in.
template <class H>
class Rounded {
 public:
  Rounded() = default;
  template <class N>
  requires std::is_arithmetic_v<N> Rounded(N value)
      : stored_(static_cast<float>(value)) {}  // NOLINT(google-explicit-constructor): as any number
  explicit operator float() const { return static_cast<float>(stored_); }
  explicit operator int64_t() const { return static_cast<int64_t>(float(*this)); }

  friend Rounded operator+(Rounded a, Rounded b) { return float(a) + float(b); }
  friend Rounded operator-(Rounded a, Rounded b) { return float(a) - float(b); }
  friend Rounded operator*(Rounded a, Rounded b) { return float(a) * float(b); }
  friend Rounded operator/(Rounded a, Rounded b) { return float(a) / float(b); }
  friend Rounded operator-(Rounded a) { return -float(a); }
  friend bool operator==(Rounded a, Rounded b) { return float(a) == float(b); }
  friend auto operator<=>(Rounded a, Rounded b) { return float(a) <=> float(b); }
  Rounded& operator+=(Rounded b) { return *this = *this + b; }

  friend Rounded fabs(Rounded a) { return std::fabs(float(a)); }
  friend Rounded floor(Rounded a) { return std::floor(float(a)); }
  friend Rounded nearbyint(Rounded a) { return std::nearbyint(float(a)); }
  friend Rounded fmod(Rounded a, Rounded b) { return std::fmod(float(a), float(b)); }

 private:
  H stored_;
};
static_assert(sizeof(Rounded<BFloat16>) == sizeof(BFloat16) && sizeof(Rounded<Half>) == sizeof(Half));

/// Calls `f` with a zero of the type that computes in a floating dtype's own precision.
template <class F>
void visit_rounded(DType dtype, F&& f) {
  switch (dtype) {
    case kFloat16: return f(Rounded<Half>{});
    case kBFloat16: return f(Rounded<BFloat16>{});
    case kFloat32: return f(float{});
    default: return f(double{});
  }
}

}  // namespace tandem::kernels::cpu
