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

// Each step names the states it keeps for an element and the numbers it is given; formulas as on PyTorch's page of the optimizer.
namespace steps {

struct Adadelta {
  enum State { kSquareAverage, kAccumulatedDelta, kStates };
  enum Number { kRho, kEps, kLr };
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[kSquareAverage] = c[kRho] * s[kSquareAverage] + (T(1) - c[kRho]) * g * g;
    const T delta = std::sqrt(s[kAccumulatedDelta] + c[kEps]) / std::sqrt(s[kSquareAverage] + c[kEps]) * g;
    s[kAccumulatedDelta] = c[kRho] * s[kAccumulatedDelta] + (T(1) - c[kRho]) * delta * delta;
    p -= c[kLr] * delta;
  }
};

struct Adagrad {
  enum State { kSum, kStates };
  enum Number { kDecayedLr, kEps };
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[kSum] += g * g;
    p -= c[kDecayedLr] * g / (std::sqrt(s[kSum]) + c[kEps]);
  }
};

struct Adamax {
  enum State { kMean, kInfinityNorm, kStates };
  enum Number { kOneMinusBeta1, kBeta2, kEps, kStepSize };  // step size: lr / (1 - beta1^step)
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[kMean] += c[kOneMinusBeta1] * (g - s[kMean]);
    const T before = c[kBeta2] * s[kInfinityNorm], now = (g < T(0) ? -g : g) + c[kEps];
    s[kInfinityNorm] = before > now ? before : now;
    p -= c[kStepSize] * s[kMean] / s[kInfinityNorm];
  }
};

struct Asgd {
  enum State { kAverage, kStates };  // of the parameter
  enum Number { kEta, kMu };
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    p -= c[kEta] * g;
    s[kAverage] += c[kMu] * (p - s[kAverage]);
  }
};

struct Nadam {
  enum State { kMean, kSquare, kStates };
  // kRootScale: 1 / sqrt(1 - beta2^step); the last two: the step sizes of the gradient and of the mean
  enum Number { kOneMinusBeta1, kBeta2, kRootScale, kEps, kGradientStep, kMeanStep };
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[kMean] += c[kOneMinusBeta1] * (g - s[kMean]);
    s[kSquare] = c[kBeta2] * s[kSquare] + (T(1) - c[kBeta2]) * g * g;
    p -= (c[kGradientStep] * g + c[kMeanStep] * s[kMean]) / (std::sqrt(s[kSquare]) * c[kRootScale] + c[kEps]);
  }
};

struct Radam {
  enum State { kMean, kSquare, kStates };
  enum Number { kOneMinusBeta1, kBeta2, kEps, kRectifiedStep, kPlainStep };  // of the two step sizes one is 0
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[kMean] += c[kOneMinusBeta1] * (g - s[kMean]);
    s[kSquare] = c[kBeta2] * s[kSquare] + (T(1) - c[kBeta2]) * g * g;
    p -= s[kMean] * (c[kRectifiedStep] / (std::sqrt(s[kSquare]) + c[kEps]) + c[kPlainStep]);
  }
};

/// The numbers of RmsProp, whatever states it keeps.
struct RmsPropNumbers {
  enum Number { kAlpha, kEps, kLr, kMomentum };
};
template <bool centered, bool momentum>
struct RmsProp : RmsPropNumbers {
  // The gradient's average where centered, the velocity with momentum.
  enum State { kSquareAverage, kGradientAverage, kVelocity = 1 + centered, kStates = 1 + centered + momentum };
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    s[kSquareAverage] = c[kAlpha] * s[kSquareAverage] + (T(1) - c[kAlpha]) * g * g;
    T variance = s[kSquareAverage];
    if constexpr (centered) {
      s[kGradientAverage] += (T(1) - c[kAlpha]) * (g - s[kGradientAverage]);
      variance -= s[kGradientAverage] * s[kGradientAverage];
    }
    const T scaled = g / (std::sqrt(variance) + c[kEps]);
    if constexpr (momentum) s[kVelocity] = c[kMomentum] * s[kVelocity] + scaled;
    p -= c[kLr] * (momentum ? s[kVelocity] : scaled);
  }
};

struct Rprop {
  enum State { kPreviousGradient, kStepSize, kStates };
  enum Number { kEtaMinus, kEtaPlus, kMinStepSize, kMaxStepSize };
  template <class T>
  TD_HOST_DEVICE static void apply(T& p, T g, T* s, const T* c) {
    const T agreement = g * s[kPreviousGradient];
    T size = s[kStepSize] * (agreement > T(0) ? c[kEtaPlus] : agreement < T(0) ? c[kEtaMinus] : T(1));
    size = size < c[kMinStepSize] ? c[kMinStepSize] : size > c[kMaxStepSize] ? c[kMaxStepSize] : size;
    const T used = agreement < T(0) ? T(0) : g;
    p -= used > T(0) ? size : used < T(0) ? -size : T(0);
    s[kPreviousGradient] = used;
    s[kStepSize] = size;
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
