// Tensors in messages: dtype, layout, and where the values are. What arrives is checked against the memory that came with it.
#include <cstddef>
#include <limits>

#include "autograd/autograd.h"
#include "base/error.h"
#include "process/codec.h"
#include "process/device_memory.h"
#include "runtime/shared_memory.h"
#include "tensor/share.h"
#include "tensor/storage.h"
#include "tensor/tensor_impl.h"

namespace tandem::multiprocessing {
namespace {

enum class Place : uint8_t { Undefined, Copied, Shared, OnDevice };

/// Error unless each element of such a tensor lies within `bytes`.
void check_layout(const Shape& sizes, const Shape& strides, int64_t offset, DType dtype, size_t bytes, const char* op) {
  bool bad = offset < 0 || sizes.size() > kMaxDims || sizes.size() != strides.size(), none = false;
  int64_t last = offset, numel = 1;
  for (size_t i = 0; i < sizes.size() && !bad; ++i) {
    int64_t step = 0;
    bad = sizes[i] < 0 || strides[i] < 0;
    none |= sizes[i] == 0;
    if (bad || sizes[i] == 0) continue;
    bad = __builtin_mul_overflow(numel, sizes[i], &numel) || __builtin_mul_overflow(sizes[i] - 1, strides[i], &step) ||
          __builtin_add_overflow(last, step, &last);
  }
  if (!bad && !none) bad = static_cast<uint64_t>(last) >= bytes / size_of(dtype);
  if (bad)
    detail::refuse(
        op, str("a tensor of sizes ", sizes, ", strides ", strides, " and offset ", offset, " does not lie within ", bytes, " bytes"));
}

}  // namespace

DType Codec<DType>::take(detail::Received& received) {
  const auto value = received.take<uint8_t>();
  if (value >= kDTypes) detail::refuse(received.op(), str("there is no dtype ", static_cast<int>(value)));
  return static_cast<DType>(value);
}

void Codec<Device>::put(detail::Parcel& parcel, const Device& value) { parcel.put<int32_t>(value.is_cpu() ? -2 : value.index()); }

Device Codec<Device>::take(detail::Received& received) {
  const auto index = received.take<int32_t>();
  if (index < -2 || index > std::numeric_limits<int16_t>::max()) detail::refuse(received.op(), str("there is no device ", index));
  return index == -2 ? Device() : Device(DeviceType::CUDA, index);
}

void Codec<Shape>::put(detail::Parcel& parcel, const Shape& value) {
  parcel.put<uint64_t>(value.size());
  parcel.put_bytes(value.data(), value.size() * sizeof(int64_t));
}

Shape Codec<Shape>::take(detail::Received& received) {
  Shape value;
  value.resize(received.take_count(sizeof(int64_t)));
  received.take_bytes(value.data(), value.size() * sizeof(int64_t));
  return value;
}

void Codec<Tensor>::put(detail::Parcel& parcel, const Tensor& value) {
  if (!value.defined()) return parcel.put(Place::Undefined);
  if (value.requires_grad() && !value.is_leaf())
    fail('[', parcel.op(), "] the tensor requires a gradient and is no leaf: its history cannot follow it into another process; ",
         "send detach() of it");
  const TensorImpl& impl = value.impl();
  const auto* const memory = tandem::detail::shared_memory_of(*impl.storage);
  const Place place = impl.device.is_cuda() ? Place::OnDevice : memory ? Place::Shared : Place::Copied;
  parcel.put(place);
  Codec<DType>::put(parcel, impl.dtype);
  Codec<bool>::put(parcel, value.requires_grad());
  Codec<Shape>::put(parcel, impl.sizes);
  if (place == Place::Copied) {
    const NoGradGuard no_grad;
    parcel.put_copy(value.detach().contiguous());
    return;
  }
  Codec<Shape>::put(parcel, impl.strides);
  parcel.put(impl.offset);
  if (place == Place::OnDevice) {
    parcel.put<uint8_t>(impl.storage->bytes() > 0);
    if (impl.storage->bytes() > 0) detail::put_device_memory(parcel, *impl.storage);
    else Codec<Device>::put(parcel, impl.device);
    return;
  }
  parcel.put<uint64_t>(static_cast<uint64_t>(static_cast<const char*>(impl.storage->data()) - (*memory)->data()));
  parcel.put<uint64_t>(impl.storage->bytes());
  parcel.put_memory(*memory);
}

namespace {

/// The storage of a shared tensor; two tensors of one message that share it do so here.
Ref<Storage> take_shared(detail::Received& received) {
  const auto at = received.take<uint64_t>(), bytes = received.take<uint64_t>();
  const auto memory = received.take_memory();
  if (at > memory->bytes() || bytes > memory->bytes() - at || at % alignof(std::max_align_t) != 0)
    detail::refuse(received.op(), str(bytes, " bytes at ", at, " are outside of a shared memory of ", memory->bytes()));
  for (const auto& met : received.met)
    if (met.address == memory->data() + at && met.bytes == bytes) return met.storage;
  Ref<Storage> storage = tandem::detail::shared_storage(memory, at, bytes);
  received.met.push_back({memory->data() + at, bytes, storage});
  return storage;
}

}  // namespace

Tensor Codec<Tensor>::take(detail::Received& received) {
  const auto place = received.take<Place>();
  if (place == Place::Undefined) return {};
  if (place > Place::OnDevice) detail::refuse(received.op(), "a tensor is in an unknown place");
  const DType dtype = Codec<DType>::take(received);
  const bool requires_grad = Codec<bool>::take(received);
  if (requires_grad && !is_floating(dtype)) detail::refuse(received.op(), str("a tensor of ", name(dtype), " requires a gradient"));
  const Shape sizes = Codec<Shape>::take(received);
  Shape strides;
  int64_t offset = 0;
  Ref<Storage> storage;
  if (place == Place::Copied) {
    strides = contiguous_strides(sizes);
    int64_t bytes = static_cast<int64_t>(size_of(dtype));
    bool bad = false;
    for (const int64_t size : sizes) bad |= size < 0 || __builtin_mul_overflow(bytes, size, &bytes);
    if (bad) detail::refuse(received.op(), str("there is no tensor of sizes ", sizes));
    storage = received.take_copy(static_cast<size_t>(bytes));
  } else {
    strides = Codec<Shape>::take(received);
    offset = received.take<int64_t>();
    if (place == Place::Shared) storage = take_shared(received);
    else if (received.take<uint8_t>() != 0) storage = detail::take_device_memory(received);
    else storage = Ref<Storage>(new Storage(Codec<Device>::take(received), 0, false, Site::none()));
  }
  check_layout(sizes, strides, offset, dtype, storage->bytes(), received.op());
  Tensor value(TensorImpl::view(storage.get(), sizes, strides, offset, dtype));
  if (requires_grad) value.requires_grad_();
  return value;
}

}  // namespace tandem::multiprocessing
