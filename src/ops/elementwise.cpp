#include "ops/elementwise.h"

#include "base/error.h"
#include "ops/launch.h"
#include "ops/narrowed.h"
#include "ops/overlap.h"
#include "ops/promotion.h"
#include "ops/view.h"

namespace tandem::ops {
namespace {

using kernels::Pointwise;

[[noreturn]] void fail_devices(Device first, Device second) {
  if (first.is_cpu()) std::swap(first, second);
  fail("Expected all tensors to be on the same device, but found at least two devices, ", first, " and ", second,
       "! Move one to the other with to(device)");
}

/// Where the operands live. 0-dim CPU tensors mix with anything.
Device device_of(std::span<const Operand* const> operands) {
  Device device;
  bool found = false;
  for (const Operand* operand : operands) {
    if (!operand->is_tensor()) continue;
    const Tensor& x = operand->tensor();
    if (x.is_cpu() && x.dim() == 0) continue;
    if (!found) {
      device = x.device();
      found = true;
    } else if (device != x.device()) {
      fail_devices(device, x.device());
    }
  }
  return device;
}

void set_number(kernels::PointwiseOperand& in, const Scalar& number, DType dtype) {
  in.data = nullptr;
  in.dtype = dtype;
  in.value = value_of(number);
}

/// Sets operand `i`: a number, or a tensor's elements with strides over the result's sizes.
void set_operand(Pointwise& call, size_t i, const Operand& operand, const Shape& sizes, Device device) {
  kernels::PointwiseOperand& in = call.in[i];
  if (operand.is_tensor()) {
    const TensorImpl& x = operand.tensor().impl();
    if (x.device != device) {  // a 0-dim CPU tensor among a GPU's: read now
      set_number(in, operand.tensor().item(), x.dtype);
      return;
    }
    in.data = x.data;
    in.dtype = x.dtype;
    const size_t dims = sizes.size(), lead = dims - x.sizes.size();
    for (size_t d = 0; d < dims; ++d) in.strides[d] = d < lead || x.sizes[d - lead] == 1 ? 0 : x.strides[d - lead];
  } else {
    set_number(in, operand.number(), operand.number().dtype());
  }
}

/// One flat loop: all operands with elements are dense and of the result's sizes.
bool flat(const Tensor& target, std::span<const Operand* const> operands) {
  if (!target.is_contiguous()) return false;
  for (const Operand* operand : operands) {
    if (!operand->is_tensor()) continue;
    const TensorImpl& x = operand->tensor().impl();
    if (!x.contiguous || x.numel != target.numel() || x.device != target.device() || !(x.sizes == target.sizes())) return false;
  }
  return true;
}

void run(const PointwiseRow& row, const Tensor& target, DType compute, std::span<const Operand* const> operands, Site site) {
  TensorImpl& to = target.impl();
  if (to.numel == 0) return;
  to.check_bytes();
  for (const Operand* operand : operands)
    if (operand->is_tensor()) operand->tensor().impl().check_bytes();
  Pointwise call;
  call.op = row.op;
  call.compute = compute;
  call.out_dtype = to.dtype;
  call.inputs = static_cast<int8_t>(operands.size());
  call.out = to.data;
  call.numel = to.numel;
  if (flat(target, operands)) {
    for (size_t i = 0; i < operands.size(); ++i) {
      kernels::PointwiseOperand& in = call.in[i];
      if (operands[i]->is_tensor()) {
        in.data = operands[i]->tensor().impl().data;
        in.dtype = operands[i]->tensor().impl().dtype;
        in.strides[0] = 1;
      } else {
        set_number(in, operands[i]->number(), operands[i]->number().dtype());
      }
    }
    call.contiguous = true;
    call.ndim = 1;
    call.sizes[0] = to.numel;
    call.out_strides[0] = 1;
  } else {
    for (size_t i = 0; i < operands.size(); ++i) set_operand(call, i, *operands[i], to.sizes, to.device);
    call.ndim = static_cast<int8_t>(to.sizes.size());
    for (int d = 0; d < call.ndim; ++d) {
      call.sizes[d] = to.sizes[d];
      call.out_strides[d] = to.strides[d];
    }
    collapse_dims(call, false);
    call.contiguous = call.ndim == 0 || (call.ndim == 1 && call.out_strides[0] == 1);
    for (int i = 0; i < call.inputs && call.contiguous && call.ndim == 1; ++i)
      if (call.in[i].data && call.in[i].strides[0] != 1) call.contiguous = false;
  }
  launch(target, row.name, site, &kernels::Table::pointwise, call);
}

/// Whether a temporary can become the result: it is what would be allocated.
bool reusable(const Operand& operand, DType dtype, const Shape& sizes, Device device) {
  if (!operand.is_temporary()) return false;
  const TensorImpl& impl = operand.tensor().impl();
  return impl.dtype == dtype && impl.device == device && impl.sizes == sizes && impl.reusable();
}

Tensor allocate_result(std::span<const Operand* const> operands, DType dtype, const Shape& sizes, Device device, Site site) {
  for (const Operand* operand : operands)
    if (reusable(*operand, dtype, sizes, device)) {
      TensorImpl& impl = operand->tensor().impl();
      impl.storage->bump_version();
      impl.view_origin = ViewOrigin::Recorded;  // what it was a view of is gone
      impl.inference = autograd::detail::inference_mode;
      return operand->tensor();
    }
  return Tensor(TensorImpl::make(sizes, dtype, device, false, site));
}

}  // namespace

Tensor pointwise(const PointwiseRow& row, std::span<const Operand* const> operands, Site site, size_t mask) {
  const Operand& first = *operands[0];
  if (mask == 0 && first.is_tensor()) {  // the usual case: same type, sizes and device, nothing to broadcast
    const TensorImpl& a = first.tensor().impl();
    bool plain = a.contiguous && (a.dtype != kBool || !row.check);
    for (size_t i = 1; i < operands.size() && plain; ++i) {
      if (operands[i]->is_tensor()) {
        const TensorImpl& b = operands[i]->tensor().impl();
        plain = b.contiguous && b.dtype == a.dtype && b.device == a.device && b.sizes == a.sizes;
      } else {
        plain = is_floating(a.dtype);
      }
    }
    if (plain) {
      const Types types = types_of(row, a.dtype);
      const Tensor target = allocate_result(operands, types.result, a.sizes, a.device, site);
      run(row, target, types.compute, operands, site);
      return target;
    }
  }
  const Device device = device_of(operands);
  Shape sizes;
  bool have_sizes = false;
  for (const Operand* operand : operands) {
    if (!operand->is_tensor()) continue;
    if (have_sizes) sizes = broadcast_shapes(sizes, operand->tensor().sizes());
    else sizes = operand->tensor().sizes();
    have_sizes = true;
  }
  const DType common = result_type(operands.subspan(mask));
  check_operands(row, operands);
  const Types types = types_of(row, common);
  const Tensor target = allocate_result(operands, types.result, sizes, device, site);
  run(row, target, types.compute, Narrowed(row, operands, mask, common, types.compute, site), site);
  return target;
}

void pointwise_into(const PointwiseRow& row, const Tensor& target, std::span<const Operand* const> operands, Site site) {
  for (const Operand* operand : operands) {
    if (!operand->is_tensor()) continue;
    const Tensor& x = operand->tensor();
    if (x.is_same(target)) continue;
    if (x.device() != target.device() && !(x.is_cpu() && x.dim() == 0)) fail_devices(target.device(), x.device());
    if (x.sizes() == target.sizes()) continue;
    const Shape sizes = broadcast_shapes(target.sizes(), x.sizes());
    if (!(sizes == target.sizes()))
      fail("[", row.name, "_] output with shape ", target.sizes(), " doesn't match the broadcast shape ", sizes,
           "; use the form that gives a new tensor");
  }
  const DType common = result_type(operands);
  check_operands(row, operands);
  const Types types = types_of(row, common);
  if (!can_cast(types.result, target.dtype()))
    fail("[", row.name, "_] result type ", scalar_name(types.result), " can't be cast to the desired output type ",
         scalar_name(target.dtype()), "; use the form that gives a new tensor");
  refuse_shared_elements(row.name, target);
  for (const Operand* operand : operands)
    if (operand->is_tensor()) refuse_partial_overlap(row.name, target, operand->tensor());
  run(row, target, types.compute, Narrowed(row, operands, 0, common, types.compute, site), site);
  target.impl().bump_version();
}

const Tensor& replace(const char* op, const Tensor& x, const Tensor& result, Site site) {
  if (!(result.sizes() == x.sizes()))
    fail("[", op, "] output with shape ", x.sizes(), " doesn't match the broadcast shape ", result.sizes(),
         "; use the form that gives a new tensor");
  if (!can_cast(result.dtype(), x.dtype()))
    fail("[", op, "] result type ", scalar_name(result.dtype()), " can't be cast to the desired output type ", scalar_name(x.dtype()),
         "; use the form that gives a new tensor");
  return x.copy_(result, false, site);
}

Tensor call(kernels::PointwiseOp op, const char* name, Rule rule, std::initializer_list<const Operand*> operands, Site site, size_t mask) {
  return pointwise({.op = op, .name = name, .rule = rule}, {operands.begin(), operands.size()}, site, mask);
}

}  // namespace tandem::ops
