// What is done to gradients between backward and the optimizer's step.
#pragma once

#include <vector>

#include "nn/module.h"

namespace tandem::nn::utils {

/// Scales all gradients together so that the norm of them, seen as one vector, is at most `max_norm`. Returns that norm as it was, a 0-dim
/// tensor on the first gradient's device (a CPU zero where there is no gradient). Nothing waits for the device. `norm_type` may be
/// infinity. Of gradients that are divided among ranks (FullyShardedDataParallel, ZeroRedundancyOptimizer with shard_gradients) it is the
/// norm of all ranks' parts, and every rank calls it. As torch.nn.utils.clip_grad_norm_.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2, Site site = Site::here());

}  // namespace tandem::nn::utils
