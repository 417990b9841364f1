// Parts of gradients in kernels/pointwise.def that don't fit on a row. For ops/pointwise.cpp.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

/// g * b * a^(b - 1), 0 where b is 0.
[[nodiscard]] Tensor pow_gradient_of_base(const Tensor& g, const Operand& a, const Operand& b);
/// g * y * log(a), 0 where a is 0 and b >= 0; y = a^b.
[[nodiscard]] Tensor pow_gradient_of_exponent(const Tensor& g, const Operand& a, const Operand& b, const Operand& y);
/// g * log(b), 0 where a is 0 and b <= 0.
[[nodiscard]] Tensor xlogy_gradient_of_factor(const Tensor& g, const Operand& a, const Operand& b);
/// g * 2^b.
[[nodiscard]] Tensor ldexp_gradient_of_factor(const Tensor& g, const Operand& b);
/// g * a * 2^b * log(2), with the sizes of b.
[[nodiscard]] Tensor ldexp_gradient_of_exponent(const Tensor& g, const Operand& a, const Operand& b);
/// The factor of g in the gradient of atan2(a, b) by a, given b, or by b, given -a: that / (a * a + b * b), 0 at the origin.
[[nodiscard]] Tensor atan2_slope(const Operand& a, const Operand& b, const Operand& of);
/// The second derivatives of silu, mish, gelu and its tanh form.
[[nodiscard]] Tensor silu_curvature(const Operand& x);
[[nodiscard]] Tensor mish_curvature(const Operand& x);
[[nodiscard]] Tensor gelu_curvature(const Operand& x);
[[nodiscard]] Tensor gelu_tanh_curvature(const Operand& x);

}  // namespace tandem
