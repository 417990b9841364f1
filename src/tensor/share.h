// Moving tensors of the host into memory that processes share. For the library.
#pragma once

#include <memory>
#include <span>

#include "tensor/tensor.h"

namespace tandem::runtime {
class SharedMemory;
}

namespace tandem::detail {

/// The `bytes` from `offset` on of memory that processes share.
[[nodiscard]] Ref<Storage> shared_storage(std::shared_ptr<runtime::SharedMemory> memory, size_t offset, size_t bytes);
/// The memory that a storage lies in where processes can share it; nullptr elsewhere.
[[nodiscard]] const std::shared_ptr<runtime::SharedMemory>* shared_memory_of(const Storage& storage);

/// Moves the tensors of the host that are not shared yet into one piece of shared memory; each keeps its identity. Error, and nothing has
/// changed, where another tensor sees the memory of one of them. `op` names the operation in errors.
void share_memory(std::span<const Tensor> tensors, const char* op);

}  // namespace tandem::detail
