// Activation checkpointing: the tensors inside a part of the forward are not kept for backward, which computes them again.
#pragma once

#include <functional>
#include <vector>

#include "nn/sequential.h"
#include "tensor/tensor.h"

namespace tandem::nn {

/// Options of checkpoint(), in this order.
struct CheckpointOptions {
  bool preserve_rng_state = true;  // dropout draws the same in the second run
};

/// `function(inputs)`, whose inner tensors are not kept: backward calls the function once more, with the autocast of this call, and goes
/// through its graph then. It must do the same both times. Gradients reach the inputs and all parameters that the function uses. As
/// torch.utils.checkpoint.checkpoint.
[[nodiscard]] std::vector<Tensor> checkpoint(std::function<std::vector<Tensor>(const std::vector<Tensor>&)> function,
                                             const std::vector<Tensor>& inputs, const CheckpointOptions& options = {},
                                             Site site = Site::here());
/// The same of a module, which must live until backward.
[[nodiscard]] Tensor checkpoint(Module& module, const Tensor& x, const CheckpointOptions& options = {}, Site site = Site::here());
/// The layers of `net` in `segments` parts of about the same number: each but the last keeps its input alone. Error unless 1 <= segments <=
/// the number of layers. As torch.utils.checkpoint.checkpoint_sequential.
[[nodiscard]] Tensor checkpoint_sequential(Sequential& net, int64_t segments, const Tensor& x, const CheckpointOptions& options = {},
                                           Site site = Site::here());

}  // namespace tandem::nn
