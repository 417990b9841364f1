// The share of the gamma distribution below a value, and how samples of the gamma and beta distributions move with their parameters. For
// the library.
#pragma once

#include "tensor/tensor.h"

namespace tandem::distributions::detail {

/// P(a, x), the regularized lower incomplete gamma function, with gradients for both. nan where a or x is not of its domain. As
/// torch.special.gammainc.
[[nodiscard]] Tensor gammainc(const Tensor& a, const Tensor& x);

/// How a sample x of the gamma distribution moves with a, its quantile kept: -dP/da / density. float64, without gradients.
[[nodiscard]] Tensor gamma_sample_slope(const Tensor& a, const Tensor& x);

/// How a sample x of the beta distribution moves with a, its quantile kept. rest: 1 - x. float64, without gradients.
[[nodiscard]] Tensor beta_sample_slope(const Tensor& a, const Tensor& b, const Tensor& x, const Tensor& rest);

}  // namespace tandem::distributions::detail
