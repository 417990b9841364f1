// How far apart, and how alike, vectors are.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

/// The cosine of the angle between x1 and x2 along `dim`, after broadcasting; norms count as at least eps. As
/// torch.nn.functional.cosine_similarity.
[[nodiscard]] Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim = 1, double eps = 1e-8, Site site = Site::here());
/// The p-norm of x1 - x2 + eps along the last dimension. As torch.nn.functional.pairwise_distance.
[[nodiscard]] Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6, Flag keepdim = false,
                                       Site site = Site::here());

}  // namespace tandem
