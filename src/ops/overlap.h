// Whether what is written may be: elements that share memory are written in no order.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace tandem::ops {

/// Error where several elements of `target` are one in memory, as those of an expanded tensor. `op`: the name without the "_", for the
/// error.
void refuse_shared_elements(std::string_view op, const Tensor& target);
/// Error where the memory of `target`, which is written, is in part that of `source`, which is read. All of it may be, and tensors with
/// gaps are not looked at, as in PyTorch.
void refuse_partial_overlap(std::string_view op, const Tensor& target, const Tensor& source);

/// The same, also where it is all of it: for what reads elements in another order than it writes them.
void refuse_overlap(std::string_view op, const Tensor& target, const Tensor& source);

}  // namespace tandem::ops
