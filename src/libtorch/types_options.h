// Options of one entry: torch::dtype(torch::kFloat64).device(torch::kCUDA, 1).
#pragma once

#include "tensor/tensor_options.h"

namespace torch {

using tandem::Layout;
using tandem::MemoryFormat;
using tandem::TensorOptions;
inline constexpr Layout kStrided = Layout::Strided;

/// Options with this one set.
[[nodiscard]] inline TensorOptions dtype(tandem::DType type) { return TensorOptions(type); }
template <class T>
[[nodiscard]] TensorOptions dtype() {
  return TensorOptions(tandem::dtype_of<T>());
}
[[nodiscard]] inline TensorOptions device(tandem::Device where) { return TensorOptions(where); }
[[nodiscard]] inline TensorOptions device_index(int index) { return TensorOptions().device_index(index); }
[[nodiscard]] inline TensorOptions layout(Layout how) { return TensorOptions(how); }
[[nodiscard]] inline TensorOptions requires_grad(bool required = true) { return TensorOptions().requires_grad(required); }
[[nodiscard]] inline TensorOptions pinned_memory(bool pinned = true) { return TensorOptions().pinned_memory(pinned); }

}  // namespace torch
