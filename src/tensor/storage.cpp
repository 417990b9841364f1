#include "tensor/storage.h"

#include "base/error.h"
#include "runtime/allocator.h"
#include "runtime/driver.h"
#include "runtime/tracer.h"
#include "tensor/tensor_impl.h"

namespace tandem {

Storage::Storage(Device device, size_t bytes, bool pinned, Site site) : bytes_(bytes), device_(device), pinned_(pinned) {
  if (bytes == 0) return;
  if (const auto* source = runtime::memory_source.load(std::memory_order_relaxed); source && !pinned) [[unlikely]] {
    const auto allocation = source->allocate(device, bytes, site, context_);
    data_ = allocation.data;
    block_ = allocation.block;
    deleter_ = source->free;
  } else if (device.is_cuda() || pinned) {
    const auto allocation = pinned ? runtime::allocate_pinned(bytes, site) : runtime::allocate_device(device, bytes, site);
    data_ = allocation.data;
    block_ = allocation.block;
  } else if (runtime::Tracer* const tracer = runtime::tracer()) [[unlikely]] {
    const auto memory = tracer->allocate(bytes);
    data_ = memory.data;
    deleter_ = memory.free;
    context_ = memory.record;
    foreign_ = !memory.reusable;
  } else {
    data_ = runtime::allocate_host(bytes);
  }
}

Storage::Storage(Device device, void* data, size_t bytes, void (*deleter)(void*), void* context)
    : data_(data), bytes_(bytes), device_(device), foreign_(true), deleter_(deleter), context_(context) {}

Storage::Storage(Storage& whole, size_t offset, size_t bytes)
    : data_(static_cast<char*>(whole.data_) + offset),
      block_(whole.block_),
      bytes_(bytes),
      device_(whole.device_),
      pinned_(whole.pinned_),
      foreign_(whole.foreign_),
      deleter_([](void* held) { static_cast<Storage*>(held)->release(); }),
      context_(&whole) {
  whole.retain();
}

Storage::~Storage() { clear(); }

void Storage::clear() {
  if (deleter_) deleter_(context_);
  else if (data_ && pinned_) runtime::free_pinned({data_, block_});
  else if (data_ && device_.is_cuda()) runtime::free_device(device_, {data_, block_});
  else if (data_) runtime::free_host(data_, bytes_);
  data_ = block_ = context_ = nullptr;
  deleter_ = nullptr;
}

void Storage::refill(Storage& source) {
  if (data_ || source.bytes_ != bytes_ || !(source.device_ == device_))
    fail("[Storage.refill] only a cleared storage of ", source.bytes_, " bytes on ", source.device_, " takes these");
  data_ = source.data_;
  block_ = source.block_;
  pinned_ = source.pinned_;
  foreign_ = refilled_ = true;
  deleter_ = [](void* held) { static_cast<Storage*>(held)->release(); };
  context_ = &source;
  source.retain();
}

bool Storage::reusable() const {
  if (use_count() != 1 || foreign_ || pinned_) return false;
  return !block_ || runtime::reusable_now(device_, {data_, block_});
}

void* Storage::user_data() const {
  return device_.is_cuda() && data_ ? runtime::require_driver().user_address(device_.index(), data_) : data_;
}

}  // namespace tandem
