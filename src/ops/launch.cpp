#include "ops/launch.h"

#include "base/error.h"
#include "base/work_site.h"
#include "runtime/stream_record.h"
#include "runtime/tracer.h"

namespace tandem::ops {

const kernels::Table& kernels_of(Device device) {
  if (runtime::Tracer* const tracer = runtime::tracer()) [[unlikely]] {
    if (device.is_cpu()) return tracer->kernels();
    tracer->refuse("a kernel on a GPU");
  }
  return device.is_cpu() ? kernels::cpu_table() : kernels::gpu_table();
}

kernels::View view(const Tensor& x) {
  kernels::View v;
  if (!x.defined()) return v;
  const TensorImpl& impl = x.impl();
  impl.check_bytes();
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

Tensor workspace(Device device, size_t bytes, Site site) {
  if (bytes == 0) return Tensor();
  return Tensor(TensorImpl::make({static_cast<int64_t>(bytes)}, kUInt8, device, false, site));
}

namespace launching {
runtime::facts::Kernel kernel_fact(Device device, const char* op, Site site) {
  return {.op = op,
          .site = tandem::detail::site_of_work(site),
          .device = device,
          .stream = device.is_cuda() ? runtime::current_stream(device.index()) : nullptr};
}

void AccessList::operator()(const kernels::Touched& elements) const {
  const kernels::Reach reach = elements.reach();
  accesses.push_back({.begin = reach.begin,
                      .bytes = reach.bytes,
                      .sizes = Shape(elements.sizes, static_cast<size_t>(elements.ndim)),
                      .dtype = elements.dtype,
                      .kind = elements.touch});
}
}  // namespace launching

void check_same_device(const char* op, const Tensor& first, const char* first_name, const Tensor& second, const char* second_name) {
  if (!first.defined() || !second.defined() || first.device() == second.device()) return;
  const bool blame_first = first.is_cpu();
  fail("Expected all tensors to be on the same device, but got ", blame_first ? first_name : second_name, " is on ",
       blame_first ? first.device() : second.device(), ", different from other tensors on ", blame_first ? second.device() : first.device(),
       " (when checking argument in method ", op, "); move it with to(device)");
}

void check_floating(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype()))
    fail<NotImplementedError>("[", op, "] is not implemented for '", scalar_name(x.dtype()), "'; convert with to(kFloat32)");
}

}  // namespace tandem::ops
