// Several tensors into one, and copies that repeat or turn one round.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace tandem {

/// Joined along an existing dimension; the other sizes must agree.
[[nodiscard]] Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0, Site site = Site::here());
/// Joined along a new dimension; all sizes must agree.
[[nodiscard]] Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0, Site site = Site::here());
[[nodiscard]] Tensor repeat(const Tensor& x, const Shape& repeats, Site site = Site::here());
[[nodiscard]] Tensor flip(const Tensor& x, const Shape& dims, Site site = Site::here());

}  // namespace tandem
