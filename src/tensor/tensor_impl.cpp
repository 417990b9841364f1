// A tensor and its first storage lie in one piece of memory, freed when both are done with. Views have a piece of their own.
#include "tensor/tensor_impl.h"

#include <cstddef>
#include <new>

#include "autograd/hooks.h"
#include "autograd/recording.h"
#include "base/error.h"
#include "runtime/allocator.h"

namespace tandem {

/// The piece: the tensor, the storage, and how many of the two are still in use.
struct TensorBlock {
  alignas(TensorImpl) unsigned char impl[sizeof(TensorImpl)];
  alignas(Storage) unsigned char storage[sizeof(Storage)];
  std::atomic<int> parts;

  static TensorBlock* of(const Storage* storage) {
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<Storage*>(storage));
    return reinterpret_cast<TensorBlock*>(bytes - offsetof(TensorBlock, storage));
  }
  static void drop_part(TensorBlock* block) {
    if (block->parts.fetch_sub(1, std::memory_order_acq_rel) == 1) runtime::free_host(block, sizeof(TensorBlock));
  }
  static Ref<TensorImpl> make(const Shape& sizes, int64_t numel, DType dtype, Device device, bool pinned, Site site) {
    auto* block = static_cast<TensorBlock*>(runtime::allocate_host(sizeof(TensorBlock)));
    Storage* storage;
    try {
      storage = new (block->storage) Storage(device, static_cast<size_t>(numel) * size_of(dtype), pinned, site);
    } catch (...) {
      runtime::free_host(block, sizeof(TensorBlock));
      throw;
    }
    storage->embedded_ = true;
    storage->retain();
    block->parts.store(2, std::memory_order_relaxed);
    auto* impl = new (block->impl) TensorImpl;
    impl->storage = storage;
    impl->embedding_storage = true;
    impl->data = storage->data();
    impl->offset = 0;
    impl->numel = numel;
    impl->sizes = sizes;
    impl->strides.resize(sizes.size());
    int64_t stride = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      impl->strides[i] = stride;
      stride = wrapping_product(stride, sizes[i] > 1 ? sizes[i] : 1);
    }
    impl->dtype = dtype;
    impl->device = device;
    impl->inference = autograd::detail::inference_mode;
    impl->contiguous = true;
    return Ref<TensorImpl>(impl);
  }
  static TensorImpl* make_view() {
    auto* impl = new (runtime::allocate_host(sizeof(TensorImpl))) TensorImpl;
    impl->embedding_storage = false;
    return impl;
  }
};

static_assert(offsetof(TensorBlock, impl) == 0);

namespace {

int64_t checked_numel(const Shape& sizes, DType dtype) {
  if (sizes.size() > kMaxDims) fail("[empty] a tensor can have up to ", kMaxDims, " dimensions, not ", sizes.size());
  int64_t numel = 1;
  bool overflow = false, zero = false;
  for (const int64_t size : sizes) {
    if (size < 0) fail("[empty] Trying to create tensor with negative dimension ", size, ": ", sizes);
    zero |= size == 0;
    overflow |= __builtin_mul_overflow(numel, size == 0 ? 1 : size, &numel);
  }
  int64_t bytes = 0;
  overflow |= __builtin_mul_overflow(numel, static_cast<int64_t>(size_of(dtype)), &bytes);
  if (overflow && !zero) fail("[empty] the number of elements of ", sizes, " overflows");
  return zero ? 0 : numel;
}

}  // namespace

void Storage::destroy() const {
  auto* self = const_cast<Storage*>(this);
  if (!embedded_) {
    delete self;
    return;
  }
  auto* block = TensorBlock::of(this);
  self->~Storage();
  TensorBlock::drop_part(block);
}

Ref<TensorImpl> TensorImpl::make(const Shape& sizes, DType dtype, Device device, bool pinned, Site site) {
  return TensorBlock::make(sizes, checked_numel(sizes, dtype), dtype, device, pinned, site);
}

Ref<TensorImpl> TensorImpl::view(Storage* storage, Shape sizes, Shape strides, int64_t offset, DType dtype) {
  TensorImpl* impl = TensorBlock::make_view();
  impl->storage = storage;
  storage->retain();
  impl->sizes = std::move(sizes);
  impl->strides = std::move(strides);
  impl->offset = offset;
  impl->dtype = dtype;
  impl->device = storage->device();
  impl->inference = autograd::detail::inference_mode;
  impl->refresh();
  return Ref<TensorImpl>(impl);
}

Ref<TensorImpl> TensorImpl::alias(Shape view_sizes, Shape view_strides, int64_t view_offset, DType view_dtype) const {
  Ref<TensorImpl> other = view(storage, std::move(view_sizes), std::move(view_strides), view_offset, view_dtype);
  other->own_version = own_version;
  other->inference = inference;
  return other;
}

void TensorImpl::refresh() {
  numel = sizes.numel();
  data = storage->data() ? static_cast<char*>(storage->data()) + offset * static_cast<int64_t>(size_of(dtype)) : nullptr;
  contiguous = true;
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0 && contiguous;) {
    if (sizes[i] != 1 && strides[i] != expected) contiguous = numel == 0;
    expected = wrapping_product(expected, sizes[i]);
  }
}

void TensorImpl::fail_without_bytes() const {
  fail("a tensor of size ", sizes, " has no memory now: its values are in shards on several ranks (FullyShardedDataParallel), and are ",
       "together only while the module that they belong to is called. Call that module, not a function with its parameters, or make the "
       "module that uses them one unit");
}

void TensorImpl::replace_storage(const TensorImpl& other) {
  Storage* before = storage;
  storage = other.storage;
  storage->retain();
  // Other bytes are a change: who holds a tensor and knows its version knows its values.
  if (storage->changes() <= before->changes()) storage->version_.store(before->changes() + 1, std::memory_order_relaxed);
  sizes = other.sizes;
  strides = other.strides;
  offset = other.offset;
  dtype = other.dtype;
  device = other.device;
  refresh();
  before->release();
}

void TensorImpl::destroy() const {
  auto* self = const_cast<TensorImpl*>(this);
  Storage* held = storage;
  if (!embedding_storage) {
    self->~TensorImpl();
    held->release();
    runtime::free_host(self, sizeof(TensorImpl));
    return;
  }
  auto* block = reinterpret_cast<TensorBlock*>(self);
  self->~TensorImpl();
  if (reinterpret_cast<unsigned char*>(held) == block->storage && held->use_count() == 1) {  // the usual case: no view is left
    held->~Storage();
    runtime::free_host(block, sizeof(TensorBlock));
    return;
  }
  held->release();
  TensorBlock::drop_part(block);
}

TensorImpl::~TensorImpl() {
  if (wrapper.kept) [[unlikely]]
    detail::wrapper_ended.load(std::memory_order_acquire)(wrapper.object);
}

Shape contiguous_strides(const Shape& sizes) {
  Shape strides;
  strides.resize(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = wrapping_product(stride, sizes[i] > 1 ? sizes[i] : 1);
  }
  return strides;
}

}  // namespace tandem
