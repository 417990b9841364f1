// What the optimizers beside SGD and Adam do to one element, written once for every backend. A step is given the element's parameter
// (already times `keep`), its gradient (sign and weight decay are in it), up to three numbers of state, and numbers that are the same for
// the whole parameter and that the optimizer computes on the host.
#pragma once

#include <array>
#include <cmath>

#include "base/dtype.h"
#include "kernels/host_device.h"

namespace tandem::kernels {

enum class OptimizerStep : uint8_t {
  Adadelta,
  Adagrad,
  Adamax,
  Asgd,
  Nadam,
  Radam,
  RmsProp,
  RmsPropCentered,
  RmsPropMomentum,
  RmsPropBoth,
  Rprop
};
inline constexpr int kOptimizerSteps = static_cast<int>(OptimizerStep::Rprop) + 1;
inline constexpr int kStepStates = 3, kStepNumbers = 6;

/// One parameter of such a step. Contiguous, of one floating dtype; states that the step does not have are nullptr.
struct StepParameter {
  void *parameter, *gradient;
  void* state[kStepStates];
  int64_t numel;
  DType dtype;
  double keep;          // the parameter is multiplied by it first
  double weight_decay;  // times the parameter as it was, added to the gradient
  double sign;          // -1 where maximizing
  double numbers[kStepNumbers];

  /// The memory that a step changes; it reads `gradient` besides.
  [[nodiscard]] std::array<void*, 1 + kStepStates> changed() const { return {parameter, state[0], state[1], state[2]}; }
};
/// A parameter of any step.
template <class T>
concept OptimizerParameter = requires(const T& parameter) {
  parameter.changed();
};

namespace steps {

struct Adadelta {  // square average, accumulated deltas; rho, eps, lr
  static constexpr int states = 2;
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[0] = c[0] * s[0] + (T(1) - c[0]) * g * g;
    const T delta = std::sqrt(s[1] + c[1]) / std::sqrt(s[0] + c[1]) * g;
    s[1] = c[0] * s[1] + (T(1) - c[0]) * delta * delta;
    p -= c[2] * delta;
  }
};

struct Adagrad {  // sum of squares; decayed lr, eps
  static constexpr int states = 1;
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[0] += g * g;
    p -= c[0] * g / (std::sqrt(s[0]) + c[1]);
  }
};

struct Adamax {  // mean, infinity norm; 1 - beta1, beta2, eps, lr / (1 - beta1^step)
  static constexpr int states = 2;
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[0] += c[0] * (g - s[0]);
    const T before = c[1] * s[1], now = (g < T(0) ? -g : g) + c[2];
    s[1] = before > now ? before : now;
    p -= c[3] * s[0] / s[1];
  }
};

struct Asgd {  // average of the parameter; eta, mu
  static constexpr int states = 1;
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    p -= c[0] * g;
    s[0] += c[1] * (p - s[0]);
  }
};

struct Nadam {  // mean, square; 1 - beta1, beta2, 1 / sqrt(1 - beta2^step), eps, what the gradient and what the mean counts
  static constexpr int states = 2;
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[0] += c[0] * (g - s[0]);
    s[1] = c[1] * s[1] + (T(1) - c[1]) * g * g;
    p -= (c[4] * g + c[5] * s[0]) / (std::sqrt(s[1]) * c[2] + c[3]);
  }
};

struct Radam {  // mean, square; 1 - beta1, beta2, eps, what the rectified and what the plain step counts
  static constexpr int states = 2;
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[0] += c[0] * (g - s[0]);
    s[1] = c[1] * s[1] + (T(1) - c[1]) * g * g;
    p -= s[0] * (c[3] / (std::sqrt(s[1]) + c[2]) + c[4]);
  }
};

template <bool centered, bool momentum>
struct RmsProp {  // square average, gradient average where centered, momentum; alpha, eps, lr, momentum
  static constexpr int states = 1 + centered + momentum;
  static constexpr int velocity = 1 + centered;
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[0] = c[0] * s[0] + (T(1) - c[0]) * g * g;
    T variance = s[0];
    if constexpr (centered) {
      s[1] += (T(1) - c[0]) * (g - s[1]);
      variance -= s[1] * s[1];
    }
    const T scaled = g / (std::sqrt(variance) + c[1]);
    if constexpr (momentum) s[velocity] = c[3] * s[velocity] + scaled;
    p -= c[2] * (momentum ? s[velocity] : scaled);
  }
};

struct Rprop {  // gradient before, step size; eta below and above, smallest and largest step size
  static constexpr int states = 2;
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    const T agreement = g * s[0];
    T size = s[1] * (agreement > T(0) ? c[1] : agreement < T(0) ? c[0] : T(1));
    size = size < c[2] ? c[2] : size > c[3] ? c[3] : size;
    const T used = agreement < T(0) ? T(0) : g;
    p -= used > T(0) ? size : used < T(0) ? -size : T(0);
    s[0] = used;
    s[1] = size;
  }
};

}  // namespace steps

/// Calls `f` with the functor of `step`.
template <class F>
void visit_step(OptimizerStep step, F f) {
  switch (step) {
    case OptimizerStep::Adadelta: return f(steps::Adadelta{});
    case OptimizerStep::Adagrad: return f(steps::Adagrad{});
    case OptimizerStep::Adamax: return f(steps::Adamax{});
    case OptimizerStep::Asgd: return f(steps::Asgd{});
    case OptimizerStep::Nadam: return f(steps::Nadam{});
    case OptimizerStep::Radam: return f(steps::Radam{});
    case OptimizerStep::RmsProp: return f(steps::RmsProp<false, false>{});
    case OptimizerStep::RmsPropCentered: return f(steps::RmsProp<true, false>{});
    case OptimizerStep::RmsPropMomentum: return f(steps::RmsProp<false, true>{});
    case OptimizerStep::RmsPropBoth: return f(steps::RmsProp<true, true>{});
    case OptimizerStep::Rprop: return f(steps::Rprop{});
  }
}

}  // namespace tandem::kernels
