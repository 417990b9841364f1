// Softmax and its kin.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

/// exp(x) divided by its sum along `dim`, taken from the maximum so that it cannot overflow.
/// Shape, dtype and device are x's. Error where `dim` is outside [-x.dim(), x.dim()) or x is not floating. As torch.softmax.
[[nodiscard]] Tensor softmax(const Tensor& x, int64_t dim, Site site = Site::here());
/// The same, x converted to `dtype` first.
[[nodiscard]] Tensor softmax(const Tensor& x, int64_t dim, ExactlyDType auto dtype, Site site = Site::here()) {
  return softmax(x.to(dtype, {}, site), dim, site);
}
/// The logarithm of softmax, computed without it.
[[nodiscard]] Tensor log_softmax(const Tensor& x, int64_t dim, Site site = Site::here());
[[nodiscard]] Tensor log_softmax(const Tensor& x, int64_t dim, ExactlyDType auto dtype, Site site = Site::here()) {
  return log_softmax(x.to(dtype, {}, site), dim, site);
}
/// softmax(-x).
[[nodiscard]] Tensor softmin(const Tensor& x, int64_t dim, Site site = Site::here());
[[nodiscard]] Tensor softmin(const Tensor& x, int64_t dim, ExactlyDType auto dtype, Site site = Site::here()) {
  return softmin(x.to(dtype, {}, site), dim, site);
}
/// softmax((logits + noise) / tau) with Gumbel noise: a sample of the categories. `hard`: one-hot, with the gradient of the soft one. As
/// torch.nn.functional.gumbel_softmax.
[[nodiscard]] Tensor gumbel_softmax(const Tensor& logits, double tau = 1, Flag hard = false, int64_t dim = -1, Site site = Site::here());

}  // namespace tandem
