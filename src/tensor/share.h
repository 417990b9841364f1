// Moving tensors of the host into memory that processes share. For the library.
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace tandem::detail {

/// Moves the tensors of the host that are not shared yet into one piece of shared memory; each keeps its identity. Error, and nothing has
/// changed, where another tensor sees the memory of one of them. `op` names the operation in errors.
void share_memory(std::span<const Tensor> tensors, const char* op);

}  // namespace tandem::detail
