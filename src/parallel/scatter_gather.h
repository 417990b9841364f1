// One batch onto several devices, and their results back onto one.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace tandem::parallel {

/// Chunks of `x` along `dim`, the i-th on device i. As chunk: 10 over 4 devices gives 3, 3, 3, 1, and 5 over 4 uses three of them.
/// Gradients flow back.
[[nodiscard]] std::vector<Tensor> scatter(const Tensor& x, const std::vector<Device>& devices, int64_t dim = 0, Site site = Site::here());

/// The tensors joined along `dim` on `device`; tensors without dimensions become a vector. Gradients flow back to each one's device.
[[nodiscard]] Tensor gather(const std::vector<Tensor>& tensors, Device device, int64_t dim = 0, Site site = Site::here());

}  // namespace tandem::parallel
