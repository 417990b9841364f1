#include "ops/elementwise.h"

#include "base/error.h"
#include "ops/launch.h"
#include "ops/overlap.h"
#include "ops/view.h"

namespace tandem {

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const size_t dims = longer.size();
  Shape result = longer;
  for (size_t i = dims; i-- > 0;) {
    const int64_t from_a = i + a.size() >= dims ? a[i + a.size() - dims] : 1, from_b = i + b.size() >= dims ? b[i + b.size() - dims] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1)
      fail("The size of tensor a (", from_a, ") must match the size of tensor b (", from_b, ") at non-singleton dimension ", i,
           ": the sizes are ", a, " and ", b, "; reshape one so that they agree or are 1");
    result[i] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

namespace ops {
namespace {

DType dtype_of(const Operand& operand) { return operand.is_tensor() ? operand.tensor().dtype() : operand.number().dtype(); }

}  // namespace

void refuse_bools(const Operand& a, const Operand& b) {
  const bool first = dtype_of(a) == kBool, second = dtype_of(b) == kBool;
  if (first && second)
    fail<NotImplementedError>(
        "[sub] Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.");
  if (first || second)
    fail<NotImplementedError>(
        "[sub] Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
        "use the `~` or `logical_not()` operator instead.");
}

namespace {

using kernels::Pointwise;

constexpr DType compute_type(DType dtype) { return dtype == kFloat64 ? kFloat64 : is_floating(dtype) ? kFloat32 : kInt64; }

DType combine(DType higher, bool has_higher, DType lower, bool has_lower) {
  if (!has_higher) return lower;
  if (!has_lower || is_floating(higher)) return higher;
  if (higher == kBool || is_floating(lower)) return promote_types(higher, lower);
  return higher;
}

struct Types {
  DType common, compute, result;
};

Types types_of(const PointwiseRow& row, DType common) {
  switch (row.rule) {
    case Rule::Float:
      if (!is_floating(common)) common = get_default_dtype();
      return {common, compute_type(common), common};
    case Rule::Compare:
    case Rule::Logical: return {common, compute_type(common), kBool};
    case Rule::NoBool:
      if (common == kBool && row.op == kernels::PointwiseOp::neg)
        fail<NotImplementedError>(
            "[neg] Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead.");
      if (common == kBool)
        fail<NotImplementedError>("[", row.name,
                                  "] is not defined for bool tensors; use logical_not, logical_xor or ^, or convert with to(kInt64)");
      break;
    case Rule::Widen:
      if (common == kBool) common = kInt64;
      break;
    case Rule::Floating:
      if (!is_floating(common))
        fail<NotImplementedError>("[", row.name, "] is not implemented for '", scalar_name(common), "'; convert with to(kFloat32)");
      break;
    case Rule::Shift:
      if (common == kBool) fail<NotImplementedError>("[", row.name, "] is not implemented for 'Bool'; convert with to(kInt64)");
      [[fallthrough]];
    case Rule::Integer:
      if (is_floating(common))
        fail<NotImplementedError>("[", row.name, "] is defined for integers and bool only, not for ", common, "; convert with to(kInt64)");
      break;
    case Rule::Same: break;
  }
  return {common, compute_type(common), common};
}

/// What some operations refuse that their types alone don't show.
void check_operands(const PointwiseRow& row, std::span<const Operand* const> operands, DType common) {
  if (row.rule == Rule::Floating) {  // numbers don't make integers floating
    const Operand* whole = nullptr;
    bool floating = false;
    for (const Operand* operand : operands) {
      if (!operand->is_tensor()) continue;
      if (is_floating(operand->tensor().dtype())) floating = true;
      else whole = operand;
    }
    if (whole && !floating)
      fail<NotImplementedError>("[", row.name, "] is not implemented for '", scalar_name(whole->tensor().dtype()),
                                "'; convert with to(kFloat32)");
  }
  if (row.op == kernels::PointwiseOp::sub || row.op == kernels::PointwiseOp::rsub) refuse_bools(*operands[0], *operands[1]);
  if (row.op == kernels::PointwiseOp::pow && !is_floating(common) && !operands[1]->is_tensor() && operands[1]->number().to<int64_t>() < 0)
    fail("[pow] Integers to negative integer powers are not allowed, but got exponent ", operands[1]->number().to<int64_t>());
  if (row.op == kernels::PointwiseOp::heaviside && operands[0]->is_tensor() && operands[1]->is_tensor() &&
      operands[0]->tensor().dtype() != operands[1]->tensor().dtype())
    fail("[heaviside] is not yet implemented for tensors with different dtypes: ", operands[0]->tensor().dtype(), " and ",
         operands[1]->tensor().dtype());
}

/// The operands as a narrow integer type computes them: numbers, and tensors without dimensions, that did not decide it are converted
/// first.
class Narrowed {
 public:
  Narrowed(const PointwiseRow& row, std::span<const Operand* const> operands, size_t mask, DType common, DType compute, Site site)
      : operands_(operands) {
    if (is_floating(compute) || common == kInt64 || common == kBool) return;
    const bool bounds = row.op == kernels::PointwiseOp::clamp || row.op == kernels::PointwiseOp::maximum ||
                        row.op == kernels::PointwiseOp::minimum;  // what no element can be bounds none
    for (size_t i = mask; i < operands.size(); ++i) {
      if (bounds && !operands[i]->is_tensor()) continue;
      if (dtype_of(*operands[i]) == common || (operands[i]->is_tensor() && operands[i]->tensor().dim() > 0)) continue;
      if (pointers_.empty()) {
        pointers_.assign(operands.begin(), operands.end());
        held_.reserve(operands.size());
        tensors_.reserve(operands.size());
      }
      if (operands[i]->is_tensor()) held_.emplace_back(tensors_.emplace_back(operands[i]->tensor().to(common, {}, site)));
      else held_.emplace_back(narrow(operands[i]->number().to<int64_t>(), common));
      pointers_[i] = &held_.back();
    }
    if (!pointers_.empty()) operands_ = pointers_;
  }
  operator std::span<const Operand* const>() const { return operands_; }

 private:
  static Scalar narrow(int64_t number, DType dtype) {
    switch (size_of(dtype)) {
      case 1:
        return dtype == kUInt8 ? static_cast<int64_t>(static_cast<uint8_t>(number)) : static_cast<int64_t>(static_cast<int8_t>(number));
      case 2: return static_cast<int64_t>(static_cast<int16_t>(number));
      default: return static_cast<int64_t>(static_cast<int32_t>(number));
    }
  }
  std::span<const Operand* const> operands_;
  std::vector<const Operand*> pointers_;
  std::vector<Operand> held_;
  std::vector<Tensor> tensors_;
};

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

void set_number(kernels::Operand& in, const Scalar& number, DType dtype) {
  in.data = nullptr;
  in.dtype = dtype;
  in.value = value_of(number);
}

/// Sets operand `i`: a number, or a tensor's elements with strides over the result's sizes.
void set_operand(Pointwise& call, size_t i, const Operand& operand, const Shape& sizes, Device device) {
  kernels::Operand& in = call.in[i];
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
      kernels::Operand& in = call.in[i];
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
      return operand->tensor();
    }
  return Tensor(TensorImpl::make(sizes, dtype, device, false, site));
}

}  // namespace

Tensor pointwise(const PointwiseRow& row, std::span<const Operand* const> operands, Site site, size_t mask) {
  const Operand& first = *operands[0];
  if (mask == 0 && first.is_tensor()) {  // the usual case: same type, sizes and device, nothing to broadcast
    const TensorImpl& a = first.tensor().impl();
    bool plain = a.contiguous;
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
  check_operands(row, operands, common);
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
    const Shape sizes = broadcast_shapes(target.sizes(), x.sizes());
    if (!(sizes == target.sizes()))
      fail("[", row.name, "_] output with shape ", target.sizes(), " doesn't match the broadcast shape ", sizes,
           "; use the form that gives a new tensor");
  }
  const DType common = result_type(operands);
  check_operands(row, operands, common);
  const Types types = types_of(row, common);
  if (!can_cast(types.result, target.dtype()))
    fail("[", row.name, "_] result type ", scalar_name(types.result), " can't be cast to the desired output type ",
         scalar_name(target.dtype()), "; use the form that gives a new tensor");
  refuse_shared_elements(row.name, target);
  for (const Operand* operand : operands)
    if (operand->is_tensor()) refuse_partial_overlap(row.name, target, operand->tensor());
  run(row, target, types.compute, Narrowed(row, operands, 0, common, types.compute, site), site);
  target.impl().storage->bump_version();
}

DType result_type(std::span<const Operand* const> operands) {
  DType dims = kBool, zeros = kBool, numbers = kBool;
  bool has_dims = false, has_zeros = false, has_numbers = false;
  const auto add = [](DType& to, bool& has, DType dtype) {
    to = has ? promote_types(to, dtype) : dtype;
    has = true;
  };
  for (const Operand* operand : operands) {
    if (!operand->is_tensor()) add(numbers, has_numbers, operand->number().dtype());
    else if (operand->tensor().dim() > 0) add(dims, has_dims, operand->tensor().dtype());
    else add(zeros, has_zeros, operand->tensor().dtype());
  }
  const DType low = combine(zeros, has_zeros, numbers, has_numbers);
  return combine(dims, has_dims, low, has_zeros || has_numbers);
}

Fit::Fit(const Operand& operand) {
  if (!operand.is_tensor()) return;
  sizes_ = operand.tensor().sizes();
  dtype_ = operand.tensor().dtype();
}

Tensor Fit::operator()(const Tensor& g) const {
  const Tensor summed = sum_to_size(g, sizes_);
  return summed.dtype() == dtype_ ? summed : summed.to(dtype_);
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
  return pointwise({op, name, "", "", rule}, {operands.begin(), operands.size()}, site, mask);
}

}  // namespace ops
}  // namespace tandem
