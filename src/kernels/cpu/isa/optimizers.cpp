// Optimizer steps over dense memory, one pass over everything an element has. Plain loops, which the compiler turns into vectors;
// settings that change what is read or written are template parameters.
#include <cmath>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/vec.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

template <class T, bool momentum, bool nesterov>
void sgd_loop(T* __restrict p, const T* __restrict g, T* __restrict buffer, int64_t n, const SgdSettings& settings, bool first) {
  const T lr = static_cast<T>(settings.lr), decay = static_cast<T>(settings.weight_decay), sign = settings.maximize ? T(-1) : T(1);
  const T keep = first ? T(0) : static_cast<T>(settings.momentum), take = first ? T(1) : static_cast<T>(1 - settings.dampening);
  const T again = static_cast<T>(settings.momentum);
  for (int64_t i = 0; i < n; ++i) {
    T d = sign * g[i] + decay * p[i];
    if constexpr (momentum) {
      const T b = (first ? T(0) : keep * buffer[i]) + take * d;  // what a first step finds there may be anything
      buffer[i] = b;
      d = nesterov ? d + again * b : b;
    }
    p[i] -= lr * d;
  }
}

template <class T>
void sgd(void* parameter, const void* gradient, void* momentum, int64_t n, const SgdSettings& settings, bool first) {
  auto* p = static_cast<T*>(parameter);
  const auto* g = static_cast<const T*>(gradient);
  auto* b = static_cast<T*>(momentum);
  if (!b) sgd_loop<T, false, false>(p, g, b, n, settings, first);
  else if (settings.nesterov) sgd_loop<T, true, true>(p, g, b, n, settings, first);
  else sgd_loop<T, true, false>(p, g, b, n, settings, first);
}

template <class T, bool keeps_max>
void adam_loop(T* __restrict p, const T* __restrict g, T* __restrict mean, T* __restrict square, T* __restrict max_square, int64_t n,
               const AdamStep& step) {
  const T decay = static_cast<T>(step.decay), weight_decay = static_cast<T>(step.weight_decay), sign = static_cast<T>(step.sign);
  const T beta2 = static_cast<T>(step.beta2), rest1 = static_cast<T>(1 - step.beta1), rest2 = static_cast<T>(1 - step.beta2);
  const T step_size = static_cast<T>(step.step_size), scale = static_cast<T>(1 / step.bias_correction2_sqrt),
          eps = static_cast<T>(step.eps);
  for (int64_t i = 0; i < n; ++i) {
    const T before = p[i] * decay, d = sign * g[i] + weight_decay * before;
    const T m = mean[i] + rest1 * (d - mean[i]);
    const T v = beta2 * square[i] + rest2 * d * d;
    mean[i] = m;
    square[i] = v;
    T largest = v;
    if constexpr (keeps_max) max_square[i] = largest = max_square[i] > v ? max_square[i] : v;
    p[i] = before - step_size * m / (std::sqrt(largest) * scale + eps);
  }
}

template <class T>
void adam(void* parameter, const void* gradient, void* mean, void* square, void* max_square, int64_t n, const AdamStep& step) {
  auto *p = static_cast<T*>(parameter), *m = static_cast<T*>(mean), *v = static_cast<T*>(square), *max = static_cast<T*>(max_square);
  const auto* g = static_cast<const T*>(gradient);
  if (max) adam_loop<T, true>(p, g, m, v, max, n, step);
  else adam_loop<T, false>(p, g, m, v, max, n, step);
}

template <class F, class T>
void step_loop(T* __restrict p, const T* __restrict g, T* __restrict s0, T* __restrict s1, T* __restrict s2, int64_t n,
               const StepParameter& parameter) {
  const T keep = static_cast<T>(parameter.keep), decay = static_cast<T>(parameter.weight_decay), sign = static_cast<T>(parameter.sign);
  T numbers[kStepNumbers];
  for (int i = 0; i < kStepNumbers; ++i) numbers[i] = static_cast<T>(parameter.numbers[i]);
  constexpr bool has1 = F::kStates > 1, has2 = F::kStates > 2;
  for (int64_t i = 0; i < n; ++i) {
    T x = p[i] * keep;
    T state[kStepStates] = {s0[i], T(0), T(0)};
    if constexpr (has1) state[1] = s1[i];
    if constexpr (has2) state[2] = s2[i];
    F::apply(x, sign * g[i] + decay * p[i], state, numbers);
    p[i] = x;
    s0[i] = state[0];
    if constexpr (has1) s1[i] = state[1];
    if constexpr (has2) s2[i] = state[2];
  }
}

template <class T>
void optimizer_step(OptimizerStep step, void* const* data, int64_t n, const StepParameter& parameter) {
  visit_step(step, [&](auto functor) {
    step_loop<decltype(functor)>(static_cast<T*>(data[0]), static_cast<const T*>(data[1]), static_cast<T*>(data[2]),
                                 static_cast<T*>(data[3]), static_cast<T*>(data[4]), n, parameter);
  });
}

/// In double, over sixteen sums side by side.
template <class T>
double sum_of_squares(const void* in, int64_t n) {
  constexpr int kSums = 16;
  const auto* x = static_cast<const T*>(in);
  double sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (int s = 0; s < kSums; ++s) sums[s] += static_cast<double>(x[i + s]) * static_cast<double>(x[i + s]);
  for (; i < n; ++i) sums[0] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

template <class T>
void scale(void* values, int64_t n, double factor) {
  auto* x = static_cast<T*>(values);
  const T by = static_cast<T>(factor);
  for (int64_t i = 0; i < n; ++i) x[i] *= by;
}

template <class T>
constexpr OptimizerFunctions functions() {
  return {sgd<T>, adam<T>, optimizer_step<T>, sum_of_squares<T>, scale<T>};
}

}  // namespace

void fill_optimizers(OptimizerFunctions (&optimizers)[2]) {
  optimizers[0] = functions<float>();
  optimizers[1] = functions<double>();
}

}  // namespace tandem::kernels::cpu::TD_ISA
