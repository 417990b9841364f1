// Collectives made of ordinary copies between devices and operations on them: for devices without a back end of their own.
#pragma once

#include <vector>

#include "comm/types.h"
#include "tensor/tensor.h"

namespace tandem::comm {

/// A new tensor on `device`: the reduction of the tensors, which are alike, in their order.
[[nodiscard]] Tensor reduce_by_copies(const std::vector<Tensor>& tensors, Device device, ReduceOp op, Site site);
/// In place. Each device reduces its share of the elements.
void all_reduce_by_copies(const std::vector<Tensor>& tensors, ReduceOp op, Site site);

}  // namespace tandem::comm
