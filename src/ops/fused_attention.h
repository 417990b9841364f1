// Attention by one kernel, which never writes the weights down. For the library.
#pragma once

#include "kernels/table.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// dropout(softmax(scale q kᵀ + mask)) v, (b, h, m, e), of operands as kernels/entries.def has them for `attention`; `mask` may be
/// undefined. `how` need not have seed and offset: they are taken from the device's generator.
Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, kernels::Attention how, Site site);

}  // namespace tandem::ops
