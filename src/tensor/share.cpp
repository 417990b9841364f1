#include "tensor/share.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "runtime/shared_memory.h"
#include "tensor/tensor_impl.h"

namespace tandem {
namespace detail {
namespace {
constexpr size_t kAlignment = 64;  // as the host's allocator
constexpr size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void drop_shared(void* memory) { delete static_cast<std::shared_ptr<runtime::SharedMemory>*>(memory); }
}  // namespace

Ref<Storage> shared_storage(std::shared_ptr<runtime::SharedMemory> memory, size_t offset, size_t bytes) {
  void* const data = memory->data() + offset;
  auto held = std::make_unique<std::shared_ptr<runtime::SharedMemory>>(std::move(memory));
  Ref<Storage> storage(new Storage(cpu(), data, bytes, drop_shared, held.get()));
  static_cast<void>(held.release());
  return storage;
}

const std::shared_ptr<runtime::SharedMemory>* shared_memory_of(const Storage& storage) {
  return static_cast<const std::shared_ptr<runtime::SharedMemory>*>(storage.context_of(drop_shared));
}

void share_memory(std::span<const Tensor> tensors, const char* op) {
  std::vector<const TensorImpl*> moving;
  size_t total = 0;
  for (const Tensor& tensor : tensors) {
    const TensorImpl& impl = tensor.impl();
    if (impl.device.is_cuda() || shared_memory_of(*impl.storage)) continue;
    if (std::find(moving.begin(), moving.end(), &impl) != moving.end()) continue;
    if (impl.storage->use_count() != 1)
      fail('[', op, "] another tensor sees the memory of this one of shape ", impl.sizes,
           ", and would be left behind: share it before views of it are made, or share a clone() of it");
    moving.push_back(&impl);
    total += align_up(impl.storage->bytes());
  }
  if (moving.empty()) return;
  const auto memory = runtime::SharedMemory::create(total);
  size_t offset = 0;
  for (const TensorImpl* impl : moving) {
    const size_t bytes = impl->storage->bytes();
    const Ref<Storage> storage = shared_storage(memory, offset, bytes);
    if (bytes > 0) std::memcpy(storage->data(), impl->storage->data(), bytes);
    const_cast<TensorImpl*>(impl)->replace_storage(*TensorImpl::view(storage.get(), impl->sizes, impl->strides, impl->offset, impl->dtype));
    offset += align_up(bytes);
  }
}

}  // namespace detail

bool Tensor::is_shared() const { return is_cuda() || detail::shared_memory_of(*impl().storage); }

const Tensor& Tensor::share_memory_(Site /*site*/) const {
  detail::share_memory({this, 1}, "share_memory_");
  return *this;
}

}  // namespace tandem
