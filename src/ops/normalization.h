// Normalizations: mean 0 and variance 1 over a batch, a layer, groups of channels; and vectors brought to one length.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace tandem {

struct BatchNormOptions {
  Tensor weight = {}, bias = {};  // (C)
  bool training = false;          // statistics of the input, which the running ones follow
  double momentum = 0.1;          // how far they do
  double eps = 1e-5;
};
/// Each channel of (N, C, …) with mean 0 and variance 1 over all else: by the running statistics (C), or, in training, by the input's own,
/// which change the running ones in place (the variance unbiased). Both may be undefined in training. As
/// torch.nn.functional.batch_norm.
[[nodiscard]] Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                                const BatchNormOptions& options = {}, Site site = Site::here());

struct InstanceNormOptions {
  Tensor running_mean = {}, running_var = {};  // (C)
  Tensor weight = {}, bias = {};               // (C)
  bool use_input_stats = true;
  double momentum = 0.1;
  double eps = 1e-5;
};
/// As batch_norm, with statistics of its own for each sample of (N, C, …). As torch.nn.functional.instance_norm.
[[nodiscard]] Tensor instance_norm(const Tensor& input, const InstanceNormOptions& options = {}, Site site = Site::here());

/// Mean 0 and variance 1 over the last dimensions, whose sizes are `normalized_shape`; weight and bias have these sizes or are undefined.
/// As torch.nn.functional.layer_norm.
[[nodiscard]] Tensor layer_norm(const Tensor& input, const Shape& normalized_shape, const Tensor& weight = {}, const Tensor& bias = {},
                                double eps = 1e-5, Site site = Site::here());
/// The same over groups of channels of (N, C, …); weight and bias are (C). As torch.nn.functional.group_norm.
[[nodiscard]] Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight = {}, const Tensor& bias = {},
                                double eps = 1e-5, Site site = Site::here());
/// The last dimensions divided by the root of the mean of their squares plus eps (the dtype's own where not given). As
/// torch.nn.functional.rms_norm.
[[nodiscard]] Tensor rms_norm(const Tensor& input, const Shape& normalized_shape, const Tensor& weight = {}, std::optional<double> eps = {},
                              Site site = Site::here());
/// x / (k + alpha * the mean of squares over `size` neighbouring channels) ^ beta. As torch.nn.functional.local_response_norm.
[[nodiscard]] Tensor local_response_norm(const Tensor& input, int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1,
                                         Site site = Site::here());
/// x / max(its p-norm along the dimensions `dim`, eps). As torch.nn.functional.normalize.
[[nodiscard]] Tensor normalize(const Tensor& input, double p = 2, const Shape& dim = {1}, double eps = 1e-12, Site site = Site::here());

}  // namespace tandem
