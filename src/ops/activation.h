// Pointwise operations whose arguments are more than one or two operands, and softmax.
#pragma once

#include <optional>

#include "ops/pointwise.h"
#include "tensor/tensor.h"

namespace tandem {

/// a + alpha * b.
[[nodiscard]] Tensor add(const Operand& a, const Operand& b, const Scalar& alpha, Site site = Site::here());
/// a - alpha * b.
[[nodiscard]] Tensor sub(const Operand& a, const Operand& b, const Scalar& alpha, Site site = Site::here());
/// a where condition is true, else b.
[[nodiscard]] Tensor where(const Tensor& condition, const Operand& a, const Operand& b, Site site = Site::here());
/// Within [min, max]; either may be left out, not both.
[[nodiscard]] Tensor clamp(const Input& x, std::optional<Scalar> min, std::optional<Scalar> max = {}, Site site = Site::here());
/// start + weight * (end - start).
[[nodiscard]] Tensor lerp(const Operand& start, const Operand& end, const Operand& weight, Site site = Site::here());
/// x + value * a * b.
[[nodiscard]] Tensor addcmul(const Operand& x, const Operand& a, const Operand& b, const Scalar& value = 1, Site site = Site::here());
/// x + value * a / b.
[[nodiscard]] Tensor addcdiv(const Operand& x, const Operand& a, const Operand& b, const Scalar& value = 1, Site site = Site::here());
/// g where y > threshold, else 0: the gradient of relu and threshold.
[[nodiscard]] Tensor threshold_backward(const Operand& g, const Operand& y, double threshold, Site site = Site::here());
[[nodiscard]] Tensor leaky_relu(const Input& x, double negative_slope = 0.01, Site site = Site::here());
[[nodiscard]] Tensor elu(const Input& x, double alpha = 1, Site site = Site::here());
[[nodiscard]] Tensor softplus(const Input& x, double beta = 1, double threshold = 20, Site site = Site::here());
/// The Gaussian error linear unit: exact, or by tanh.
[[nodiscard]] Tensor gelu(const Input& x, bool tanh = false, Site site = Site::here());

/// exp(x) divided by its sum along `dim`, taken from the maximum so that it cannot overflow.
/// Shape, dtype and device are x's. Error where `dim` is outside [-x.dim(), x.dim()) or x is not floating. As torch.softmax.
[[nodiscard]] Tensor softmax(const Tensor& x, int64_t dim, Site site = Site::here());
/// The logarithm of softmax, computed without it.
[[nodiscard]] Tensor log_softmax(const Tensor& x, int64_t dim, Site site = Site::here());

}  // namespace tandem
