// Batch normalization by the statistics of all ranks' batches together.
#pragma once

#include "comm/api/distributed.h"
#include "nn/batch_norm.h"
#include "ops/normalization.h"

namespace tandem::nn {

/// As batch_norm in training, with mean and variance over the batches of all ranks of `group`, which may have different sizes. One
/// collective forward and one backward, which every rank takes part in. Gradients of weight and bias are those of this rank's batch:
/// DistributedDataParallel averages them. Error where a gradient of the gradient is wanted. Without a process group, or with one rank,
/// batch_norm.
[[nodiscard]] Tensor sync_batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                                     const tandem::BatchNormOptions& options, const distributed::ProcessGroup& group,
                                     Site site = Site::here());

/// BatchNorm for (n, c) and (n, c, spatial…), whose statistics in training are those of all ranks' batches. As torch.nn.SyncBatchNorm.
struct SyncBatchNorm : NormBase {
  explicit SyncBatchNorm(int64_t num_features, const BatchNormOptions& options = {}, const distributed::ProcessGroup& group = {},
                         Site site = Site::here());
  Tensor forward(const Tensor& x) override;
};

/// From now on every BatchNorm in `module` takes its statistics over the ranks of `group`. They stay the modules that they are. As
/// torch.nn.SyncBatchNorm.convert_sync_batchnorm.
void convert_sync_batchnorm(ModuleBase& module, const distributed::ProcessGroup& group = {});

}  // namespace tandem::nn
