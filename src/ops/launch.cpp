#include "ops/launch.h"

#include <atomic>
#include <cstring>

#include "base/error.h"
#include "runtime/driver.h"

namespace tandem::ops {
namespace {

constinit std::atomic<const kernels::Table*> other_card_kernels{nullptr};

const kernels::Table& card_kernels() {
  if (const auto* other = other_card_kernels.load(std::memory_order_relaxed)) return *other;
  static const kernels::Table& table =
      runtime::cards_are_virtual() ? kernels::virtual_table() : *static_cast<const kernels::Table*>(runtime::plugin_kernels());
  return table;
}

}  // namespace

const kernels::Table& kernels_of(Device device) { return device.is_cpu() ? kernels::cpu_table() : card_kernels(); }

void use_card_kernels(const kernels::Table* table) { other_card_kernels.store(table); }

kernels::View view(const Tensor& x) {
  kernels::View v;
  if (!x.defined()) return v;
  const TensorImpl& impl = x.impl();
  v.data = impl.data;
  v.dtype = impl.dtype;
  v.ndim = static_cast<int32_t>(impl.sizes.size());
  for (int i = 0; i < v.ndim; ++i) {
    v.sizes[i] = impl.sizes[i];
    v.strides[i] = impl.strides[i];
  }
  return v;
}

kernels::Out out(const Tensor& x) { return kernels::Out{view(x)}; }

kernels::View last(kernels::View v, int64_t dim) {
  if (v.ndim == 0) {
    v.ndim = 1;
    v.sizes[0] = v.strides[0] = 1;
    return v;
  }
  const int64_t size = v.sizes[dim], stride = v.strides[dim];
  for (int64_t d = dim; d + 1 < v.ndim; ++d) {
    v.sizes[d] = v.sizes[d + 1];
    v.strides[d] = v.strides[d + 1];
  }
  v.sizes[v.ndim - 1] = size;
  v.strides[v.ndim - 1] = stride;
  return v;
}

Tensor workspace(const Tensor& like, size_t bytes, Site site) {
  if (bytes == 0) return Tensor();
  return Tensor(TensorImpl::make({static_cast<int64_t>(bytes)}, kUInt8, like.device(), false, site));
}

void check_same_device(const char* op, const Tensor& first, const char* first_name, const Tensor& second, const char* second_name) {
  if (!first.defined() || !second.defined() || first.device() == second.device()) return;
  const bool blame_first = first.is_cpu();
  fail("Expected all tensors to be on the same device, but got ", blame_first ? first_name : second_name, " is on ",
       blame_first ? first.device() : second.device(), ", different from other tensors on ", blame_first ? second.device() : first.device(),
       " (when checking argument in method ", op, ")");
}

void check_floating(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype())) fail("[", op, "] is not implemented for '", scalar_name(x.dtype()), "'; convert with to(kFloat32)");
}

}  // namespace tandem::ops
