// Samples that several distributions are made of. Each has the dtype and device of its parameters. For the library.
#pragma once

#include "tensor/tensor.h"

namespace tandem::distributions::detail {

/// Normal numbers, of mean 0 and deviation 1.
[[nodiscard]] Tensor standard_normal(const Shape& sizes, const Tensor& like);
/// Uniform numbers from 0 to below 1.
[[nodiscard]] Tensor standard_uniform(const Shape& sizes, const Tensor& like);
/// Uniform numbers above 0 and below 1, of float32 where the dtype has 16 bits: the logarithms of so few numbers would be no sample.
[[nodiscard]] Tensor wide_uniform(const Shape& sizes, const Tensor& like);
/// Gamma samples of rate 1, none of them 0, differentiable by the concentration once: at a fixed quantile, as M. Figurnov, S. Mohamed and
/// A. Mnih, "Implicit reparameterization gradients" (2018). nan where the concentration is below 0.
[[nodiscard]] Tensor standard_gamma(const Tensor& concentration);
/// Dirichlet samples along the last dimension, differentiable by the concentration once.
[[nodiscard]] Tensor standard_dirichlet(const Tensor& concentration);
/// Poisson counts. ValueError for a rate below 0 or nan.
[[nodiscard]] Tensor poisson(const Tensor& rate);
/// How many of `count` trials succeed, of the same sizes. nan where a parameter is.
[[nodiscard]] Tensor binomial(const Tensor& count, const Tensor& probs);

}  // namespace tandem::distributions::detail
