// How far two distributions are apart.
#pragma once

#include "distributions/distribution.h"

namespace tandem::distributions {

/// The Kullback-Leibler divergence of q from p: the mean under p of log p - log q, of the sizes that their batches broadcast to. Infinite
/// where p has values that q has not. NotImplementedError that names both for classes without a formula; docs/distributions.md lists those
/// with one. As torch.distributions.kl_divergence.
[[nodiscard]] Tensor kl_divergence(const Distribution& p, const Distribution& q, Site site = Site::here());

}  // namespace tandem::distributions
