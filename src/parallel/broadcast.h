// Tensors copied to other devices together: small ones travel in one parcel, so that a model of many small parameters costs one copy, not
// hundreds.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace tandem::parallel {

/// Copies of all `tensors`, which are on one device, on each of `devices`: result[device][tensor]. On their own device they are the tensors
/// themselves. Gradients flow back, in one parcel too.
[[nodiscard]] std::vector<std::vector<Tensor>> broadcast_coalesced(const std::vector<Tensor>& tensors, const std::vector<Device>& devices,
                                                                   Site site = Site::here());

}  // namespace tandem::parallel
