#include "nn/distance.h"

#include "ops/distance.h"

namespace tandem::nn {

Tensor CosineSimilarity::forward(const Tensor& x1, const Tensor& x2, Site site) { return cosine_similarity(x1, x2, dim, eps, site); }
Tensor PairwiseDistance::forward(const Tensor& x1, const Tensor& x2, Site site) { return pairwise_distance(x1, x2, p, eps, keepdim, site); }

Tensor CosineSimilarity::operator()(const Tensor& x1, const Tensor& x2, Site site) { return hooked_forward(*this, site, x1, x2); }
Tensor PairwiseDistance::operator()(const Tensor& x1, const Tensor& x2, Site site) { return hooked_forward(*this, site, x1, x2); }

}  // namespace tandem::nn
