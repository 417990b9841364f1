// A sequence of the CTC loss, the same in every back end: its target with blanks between the labels, and sums of probabilities as
// logarithms.
#pragma once

#include <limits>

#include "kernels/math.h"

namespace tandem::kernels {

/// The logarithm of 0.
template <class T>
inline constexpr T kNever = -std::numeric_limits<T>::infinity();

/// log(exp(a) + exp(b) + exp(c)).
template <class T>
TD_HOST_DEVICE inline T log_sum(T a, T b, T c = kNever<T>) {
  const T two = a > b ? a : b, max = two > c ? two : c;
  return max == kNever<T> ? max : max + math::log(math::exp(a - max) + math::exp(b - max) + math::exp(c - max));
}

/// One sequence: its lengths, its labels, and where its logarithms of probabilities are.
template <class T>
struct CtcSequence {
  int64_t steps, length;
  const int64_t* labels;
  int64_t blank;
  const T* log_probs;  // of its first step
  int64_t step_stride, class_stride;

  /// The class at place s of the target with blanks between: blank, l0, blank, l1, …, blank.
  [[nodiscard]] TD_HOST_DEVICE int64_t at(int64_t s) const { return s % 2 ? labels[s / 2] : blank; }
  [[nodiscard]] TD_HOST_DEVICE int64_t places() const { return 2 * length + 1; }
  [[nodiscard]] TD_HOST_DEVICE T log_prob(int64_t step, int64_t label) const {
    return log_probs[step * step_stride + label * class_stride];
  }
  /// Whether place s can be reached from s - 2 (and s - 2 from s on the way back): labels that differ.
  [[nodiscard]] TD_HOST_DEVICE bool skips(int64_t s) const { return s >= 2 && s % 2 && at(s) != at(s - 2); }

  /// Minus the logarithm of all alignments that end at the last place or the one before. alpha: a row of `width` for each step.
  [[nodiscard]] TD_HOST_DEVICE T loss(const T* alpha, int64_t width) const {
    if (steps == 0) return length == 0 ? T(0) : -kNever<T>;
    const T* const last = alpha + (steps - 1) * width;
    return -log_sum(last[places() - 1], places() > 1 ? last[places() - 2] : kNever<T>);
  }
};

}  // namespace tandem::kernels
