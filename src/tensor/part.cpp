#include "tensor/part.h"

#include "tensor/tensor_impl.h"

namespace tandem::detail {

Tensor part_of(const Tensor& flat, int64_t offset, const Shape& sizes) {
  const size_t width = flat.element_size();
  const Ref<Storage> storage(
      new Storage(*flat.impl().storage, static_cast<size_t>(offset) * width, static_cast<size_t>(sizes.numel()) * width));
  return Tensor(TensorImpl::view(storage.get(), sizes, contiguous_strides(sizes), 0, flat.dtype()));
}

}  // namespace tandem::detail
