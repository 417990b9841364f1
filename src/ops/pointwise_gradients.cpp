// The parts of gradients that rows of kernels/pointwise.def call.
#include "ops/pointwise_gradients.h"

#include <cmath>
#include <limits>
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
  if (base == 0) return where(b >= 0, 0, g * y * -std::numeric_limits<double>::infinity());
  return g * (y * std::log(base));
}

// A function of a number is computed here, in double: as an operation it would give a tensor of the default dtype.
Tensor xlogy_gradient_of_factor(const Tensor& g, const Operand& a, const Operand& b) {
  if (b.is_tensor()) return where(logical_and(a == 0, b <= 0), 0, g * log(b));
  const double number = b.number().to<double>();
  const Tensor gradient = g * std::log(number);
  return number <= 0 ? where(a == 0, 0, gradient) : gradient;
}

Tensor ldexp_gradient_of_factor(const Tensor& g, const Operand& b) {
  return b.is_tensor() ? g * exp2(b) : g * std::exp2(b.number().to<double>());
}

Tensor ldexp_gradient_of_exponent(const Tensor& g, const Operand& a, const Operand& b) {
  const Tensor by_power = g * a;  // summed before the rest: half types round here
  return (b.is_tensor() ? sum_to_size(by_power, b.tensor().sizes()) : by_power) * (exp2(b) * std::numbers::ln2);
}

// Divided twice: a square may overflow, or be 0.
Tensor atan2_slope(const Operand& a, const Operand& b, const Operand& of) {
  const Tensor distance = hypot(a, b);
  return where(distance == 0, 0, of / distance / distance);
}

Tensor silu_curvature(const Operand& x) {
  const Tensor s = sigmoid(x);
  return s * (1 - s) * (2 + x * (1 - s * 2));
}

Tensor mish_curvature(const Operand& x) {
  const Tensor s = sigmoid(x), t = tanh(-logsigmoid(-x));
  return (1 - t * t) * s * (2 + x * ((1 - s) - t * s * 2));
}

// From these bounds on the rest is 0 in float64 too, while powers of x may overflow.
Tensor gelu_curvature(const Operand& operand) {
  const Tensor x = clamp(operand.tensor(), -40, 40), square = x * x;
  return (2 - square) * exp(square * -0.5) * 0.39894228040143267794;
}

Tensor gelu_tanh_curvature(const Operand& operand) {
  constexpr double k = 0.79788456080286535588, c = 0.044715;
  const Tensor x = clamp(operand.tensor(), -20, 20);
  const Tensor square = x * x, t = tanh(x * (square * (k * c) + k)), slope = square * (3 * k * c) + k, rest = 1 - t * t;
  return rest * (slope + x * (x * (3 * k * c) - t * slope * slope));
}

}  // namespace tandem
