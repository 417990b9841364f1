// Which leaves a backward from some results will reach. For the library.
#pragma once

#include <span>
#include <unordered_set>

#include "tensor/tensor.h"

namespace tandem::parallel::detail {

/// The leaves that gradients of `outputs` flow to.
[[nodiscard]] std::unordered_set<const TensorImpl*> leaves_behind(std::span<const Tensor> outputs);

}  // namespace tandem::parallel::detail
