// Which leaves a backward from some results will reach. For the library.
#pragma once

#include <span>
#include <unordered_map>

#include "autograd/node.h"
#include "tensor/tensor.h"

namespace tandem::parallel::detail {

/// The leaves that gradients of `outputs` flow to, each with an operation that uses it: nullptr for a leaf among `outputs`.
[[nodiscard]] std::unordered_map<const TensorImpl*, const autograd::Node*> leaves_behind(std::span<const Tensor> outputs);

}  // namespace tandem::parallel::detail
