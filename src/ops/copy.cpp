// Moving and converting: to, cpu, cuda, pin_memory, copy_, clone, contiguous, item.
#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/overlap.h"
#include "ops/view.h"
#include "runtime/stream.h"
#include "tensor/host_values.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;

Tensor empty_at(const Shape& sizes, DType dtype, Device device, bool pinned, Site site) {
  return Tensor(TensorImpl::make(sizes, dtype, device, pinned, site));
}

void copy_kernel(const Tensor& to, const Tensor& from, const char* op, Site site) {
  ops::launch(to, op, site, &kernels::Table::copy, to, from);
}

/// Bytes between devices: both dense and of one dtype.
void move_bytes(const Tensor& to, const Tensor& from, bool non_blocking, const char* op, Site site) {
  if (from.numel() == 0) return;
  to.impl().check_bytes();
  from.impl().check_bytes();
  runtime::copy_bytes(to.impl().data, to.device(), to.is_pinned(), from.impl().data, from.device(), from.is_pinned(), from.nbytes(),
                      non_blocking, op, site);
  if (!non_blocking) return;
  if (from.is_pinned() && to.is_cuda()) from.record_stream(cuda::current_stream(to.device()));
  if (to.is_pinned() && from.is_cuda()) to.record_stream(cuda::current_stream(from.device()));
}

/// Writes the values of `from` into `to`: same sizes, any dtypes, layouts and devices. No history.
void transfer(const Tensor& to, const Tensor& from, bool non_blocking, const char* op, Site site) {
  if (to.device() == from.device()) return copy_kernel(to, from, op, site);
  Tensor source = from;
  if (source.dtype() != to.dtype() || !source.is_contiguous()) {
    source = empty_at(from.sizes(), to.dtype(), from.device(), false, site);
    copy_kernel(source, from, op, site);
  }
  if (to.is_contiguous()) return move_bytes(to, source, non_blocking, op, site);
  const Tensor there = empty_at(to.sizes(), to.dtype(), to.device(), false, site);
  move_bytes(there, source, non_blocking, op, site);
  copy_kernel(to, there, op, site);
}

}  // namespace

Tensor Tensor::moved(Device device, DType dtype, ToOptions options, const char* op, Site site) const {
  device = detail::resolve(device);
  if (device == this->device() && dtype == this->dtype() && !options.copy) return *this;
  const bool pinned = device.is_cpu() && is_cuda() && options.non_blocking;
  Tensor y = empty_at(sizes(), dtype, device, pinned, site);
  transfer(y, *this, options.non_blocking, op, site);
  if (!needs_grad(*this) || !is_floating(dtype)) return y;
  return record("ToCopyBackward0", y, {*this}, site,
                [from = this->device(), dtype = this->dtype()](const Tensor& g) { return g.to(from, dtype); });
}
Tensor Tensor::cuda(int index, ToOptions options, Site site) const {
  return moved(Device(DeviceType::CUDA, index), dtype(), options, "cuda", site);
}
Tensor Tensor::on_gpu(Device device, ToOptions options, Site site) const {
  if (!device.is_cuda()) fail("[cuda] Invalid device, must be cuda device, but got ", device);
  return moved(device, dtype(), options, "cuda", site);
}
Tensor Tensor::cpu(Site site) const { return moved(Device(), dtype(), {}, "cpu", site); }

Tensor Tensor::pin_memory(Site site) const {
  if (!is_cpu()) fail("[pin_memory] cannot pin a tensor on ", device(), ": only dense CPU tensors can be pinned");
  if (is_pinned()) return *this;
  const Tensor pinned = empty_at(sizes(), dtype(), device(), true, site);
  copy_kernel(pinned, *this, "pin_memory", site);
  return pinned;
}

const Tensor& Tensor::copy_(const Tensor& source, Flag non_blocking, Site site) const {
  autograd::check_in_place("copy_", *this, needs_grad(source));
  if (is_same(source)) return *this;
  const Shape sizes = broadcast_shapes(this->sizes(), source.sizes());
  if (!(sizes == this->sizes())) fail("[copy_] output with shape ", this->sizes(), " doesn't match the broadcast shape ", sizes);
  ops::refuse_shared_elements("copy", *this);
  ops::refuse_partial_overlap("copy", *this, source);
  Tensor values = source.detach();
  if (!(values.sizes() == this->sizes())) {
    const NoGradGuard no_grad;
    values = values.expand(this->sizes(), site);
  }
  transfer(*this, values, non_blocking, "copy_", site);
  impl().bump_version();
  if (needs_grad(*this, source)) {
    autograd::record_in_place(
        "CopyBackwards", *this, {*this, source}, site,
        [from = source.device(), dtype = source.dtype(), sizes = source.sizes()](const Tensor& g, autograd::Wanted wanted) {
          std::array<Tensor, 2> gradients;
          if (wanted[0]) gradients[0] = zeros_like(g);
          if (wanted[1]) gradients[1] = sum_to_size(g, sizes).to(from, dtype);
          return gradients;
        });
  }
  return *this;
}

const Tensor& Tensor::operator=(const Operand& value) && {
  const TensorImpl& self = impl();
  if (self.embedding_storage && self.use_count() == 1 && self.storage->use_count() == 1)
    fail("[=] nothing else holds the memory of the tensor that is assigned to, of sizes ", self.sizes, ": the values would be lost. ",
         Hint("x.index with tensors gives a copy; use x.index_put_({...}, value)", "x[indices] with tensors gives a copy; use index_put_"));
  return value.is_tensor() ? copy_(value.tensor(), false, value.site()) : fill_(value.number(), value.site());
}

Tensor Tensor::clone(Site site) const {
  Tensor y = empty_at(sizes(), dtype(), device(), false, site);
  copy_kernel(y, *this, "clone", site);
  if (!needs_grad(*this)) return y;
  return record("CloneBackward0", y, {*this}, site, [](const Tensor& g) { return g; });
}

Tensor Tensor::contiguous(Site site) const { return is_contiguous() ? *this : clone(site); }

Scalar Tensor::item(Site site) const { return read_value(*this, "item", site, CopyReason::Item); }

Tensor::operator bool() const {
  if (numel() != 1) fail("[bool] Boolean value of Tensor with ", numel(), " elements is ambiguous; use any() or all()");
  return read_value(*this, "bool", Site{"if (tensor)", 0}, CopyReason::Condition).to<bool>();
}

}  // namespace tandem
