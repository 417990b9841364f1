// The parts of gradients that rows of kernels/pointwise.def call.
#include "ops/pointwise_gradients.h"

#include <cmath>
#include <numbers>

#include "ops/activation.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/view.h"

namespace tandem {

Tensor pow_gradient_of_base(const Tensor& g, const Operand& a, const Operand& b) {
  if (b.is_tensor()) return where(b == 0, 0, g * (b * pow(a, b - 1)));
  const double exponent = b.number().to<double>();  // b - 1 in C++: in tensors it would be rounded to the default dtype
  if (exponent == 0) return zeros_like(g);
  if (exponent == 1) return g;
  if (exponent == 2) return g * a * 2;
  return g * (pow(a, b.number().is_floating() ? Scalar(exponent - 1) : Scalar(b.number().to<int64_t>() - 1)) * b);
}

Tensor pow_gradient_of_exponent(const Tensor& g, const Operand& a, const Operand& b, const Operand& y) {
  if (a.is_tensor()) return where(logical_and(a == 0, b >= 0), 0, g * (y * log(a)));
  const double base = a.number().to<double>();
  if (base == 0) return where(b >= 0, 0, g * y * log(b * 0));
  return g * (y * std::log(base));
}

Tensor ldexp_gradient_of_exponent(const Tensor& g, const Operand& a, const Operand& b) {
  const Tensor by_power = g * a;  // summed before the rest: half types round here
  return (b.is_tensor() ? sum_to_size(by_power, b.tensor().sizes()) : by_power) * (exp2(b) * std::numbers::ln2);
}

Tensor silu_curvature(const Operand& x) {
  const Tensor s = sigmoid(x);
  return s * (1 - s) * (2 + x * (1 - s * 2));
}

Tensor mish_curvature(const Operand& x) {
  const Tensor s = sigmoid(x), t = tanh(-logsigmoid(-x));
  return (1 - t * t) * s * (2 + x * ((1 - s) - t * s * 2));
}

Tensor gelu_tanh_curvature(const Operand& x) {
  constexpr double k = 0.79788456080286535588, c = 0.044715;
  const Tensor square = x * x, t = tanh(x * (square * (k * c) + k)), slope = square * (3 * k * c) + k, rest = 1 - t * t;
  return rest * (slope + x * (x * (3 * k * c) - t * slope * slope));
}

}  // namespace tandem
