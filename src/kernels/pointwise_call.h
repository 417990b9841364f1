// One pointwise call as data: the functor's number, the type it computes in, and up to four operands over common sizes.
#pragma once

#include "kernels/view.h"

namespace tandem::kernels {

/// The rows of pointwise.def, numbered.
enum class PointwiseOp : uint16_t {
#define TD_UNARY(name, ...) name,
#define TD_BINARY(name, ...) name,
#define TD_KERNEL(name, ...) name,
#include "kernels/pointwise.def"
#undef TD_UNARY
#undef TD_BINARY
#undef TD_KERNEL
  kCount
};
inline constexpr int kPointwiseOps = static_cast<int>(PointwiseOp::kCount);

/// Whether an operation has no answer for a divisor of 0 among integers.
constexpr bool divides(PointwiseOp op) {
  return op == PointwiseOp::floor_divide || op == PointwiseOp::remainder || op == PointwiseOp::fmod || op == PointwiseOp::div_trunc;
}

/// Which types an operation takes and gives, told at the top of pointwise.def.
enum class Rule : uint8_t { Same, NoBool, Widen, Float, Floating, Integer, Shift, Compare, Logical };
constexpr bool of_floats(Rule rule) { return rule == Rule::Float || rule == Rule::Floating; }
constexpr bool of_integers(Rule rule) { return rule == Rule::Integer || rule == Rule::Shift; }
constexpr bool gives_bool(Rule rule) { return rule == Rule::Compare || rule == Rule::Logical; }

inline constexpr int kMaxOperands = 4;

/// An input of a pointwise call: elements (strides over the call's sizes, 0 where broadcast), or one number for all.
struct PointwiseOperand {
  const void* data;  // nullptr: `value` for every element
  DType dtype;
  Value value;
  int64_t strides[kMaxDims];
};

/// out[i] = convert(f(compute(in0[i]), compute(in1[i]), …)). `compute` is float32, float64 or int64; half types compute in float32, bool
/// and the integers in int64. Sizes are merged where the strides allow it, so a contiguous call has ndim 1 (0 for one element: then strides
/// are unused).
struct Pointwise {
  PointwiseOp op;
  DType compute;
  DType out_dtype;
  int8_t ndim;
  int8_t inputs;
  bool contiguous;  // every operand that has elements, and the output, is dense in the same order: a flat loop will do
  void* out;
  int64_t numel;
  int64_t sizes[kMaxDims];
  int64_t out_strides[kMaxDims];
  PointwiseOperand in[kMaxOperands];
};

/// Joins dimensions of a call wherever the output and all operands with elements allow it; `by_stride`: in the order of the output's
/// strides.
inline void collapse_dims(Pointwise& call, bool by_stride) {
  int64_t* strides[1 + kMaxOperands] = {call.out_strides};
  int arrays = 1;
  for (int i = 0; i < call.inputs; ++i)
    if (call.in[i].data) strides[arrays++] = call.in[i].strides;
  if (by_stride) {
    int order[kMaxDims];
    order_by_stride(0, call.ndim, call.out_strides, order);
    const auto reorder = [&](int64_t* list) {
      int64_t before[kMaxDims];
      for (int d = 0; d < call.ndim; ++d) before[d] = list[d];
      for (int d = 0; d < call.ndim; ++d) list[d] = before[order[d]];
    };
    reorder(call.sizes);
    for (int k = 0; k < arrays; ++k) reorder(strides[k]);
  }
  int ndim = 0;
  for (int d = 0; d < call.ndim; ++d) {
    int64_t by[1 + kMaxOperands];
    for (int k = 0; k < arrays; ++k) by[k] = strides[k][d];
    ndim = push_dim(ndim, call.sizes, strides, call.sizes[d], by, arrays);
  }
  call.ndim = static_cast<int8_t>(ndim);
}

}  // namespace tandem::kernels
