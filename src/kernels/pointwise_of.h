// A pointwise call of floating numbers from views: for kernels that are made of other kernels.
#pragma once

#include <initializer_list>

#include "kernels/pointwise_call.h"

namespace tandem::kernels {

/// op over views of one floating dtype and out's sizes, which a stride of 0 repeats. A view without data is the number 0.
inline Pointwise pointwise_of(PointwiseOp op, const View& out, std::initializer_list<View> in) {
  Pointwise call{};
  call.op = op;
  call.compute = compute_type(out.dtype);
  call.out_dtype = out.dtype;
  call.ndim = static_cast<int8_t>(out.ndim);
  call.contiguous = out.contiguous();
  call.out = out.data;
  call.numel = out.numel();
  for (int d = 0; d < out.ndim; ++d) {
    call.sizes[d] = out.sizes[d];
    call.out_strides[d] = out.strides[d];
  }
  for (const View& x : in) {
    PointwiseOperand& operand = call.in[call.inputs++];
    operand = {x.data, x.dtype, {}, {}};
    if (!x.data) continue;
    call.contiguous &= x.contiguous();
    for (int d = 0; d < x.ndim; ++d) operand.strides[d] = x.strides[d];
  }
  return call;
}

}  // namespace tandem::kernels
