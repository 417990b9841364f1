// Between numbers and the small whole numbers that stand for them: x = (q - zero) * scale.
#include <algorithm>
#include <limits>

#include "onnx/call.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/view.h"

namespace tandem::onnx {
namespace {

/// A scale or zero point so that it meets the elements of x: one for all, one for each place of an axis, or one for each block of it.
Tensor meeting(Call& call, const Tensor& given, const Tensor& x) {
  const Site site = call.site();
  if (given.numel() == 1) return given.reshape({}, site);
  const int64_t axis = axis_of(call.integer("axis", 1), x.dim()), block = call.integer("block_size", 0);
  if (given.dim() == 1 && block == 0) {
    Shape sizes;
    for (int64_t i = 0; i < x.dim(); ++i) sizes.push_back(i == axis ? given.numel() : 1);
    return given.reshape(sizes, site);
  }
  if (block < 1 || given.dim() != x.dim()) fail("its scale has the sizes ", given.sizes(), ", for ", x.sizes(), " in blocks of ", block);
  return given.repeat_interleave(block, axis, {}, site).narrow(axis, 0, x.size(axis), site);
}

Scalar edge_of(DType dtype, bool low) {
  return visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return Scalar(static_cast<int64_t>(low ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max()));
    else return Scalar(low ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
  });
}

void quantize(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), scale = meeting(call, call.in(1), x);
  const DType to = call.has(2) ? call.in(2).dtype() : call.dtype("output_dtype", kUInt8);
  if (!is_integral(to)) fail("it makes numbers of ", to, ", which tandem does not quantize to");
  Tensor y = round(div(x.to(kFloat32, {}, site), scale.to(kFloat32, {}, site), site), site);
  if (call.has(2)) y = add(y, meeting(call, call.in(2), x).to(kFloat32, {}, site), site);
  call.give(clamp(y, edge_of(to, true), edge_of(to, false), site).to(to, {}, site));
}

void dequantize(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), scale = meeting(call, call.in(1), x);
  const DType to = call.dtype("output_dtype", scale.dtype());
  Tensor y = x.to(kFloat32, {}, site);
  if (call.has(2)) y = sub(y, meeting(call, call.in(2), x).to(kFloat32, {}, site), site);
  call.give(mul(y, scale.to(kFloat32, {}, site), site).to(to, {}, site));
}

void dynamic_quantize(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const Tensor low = clamp(x.min(site), {}, Scalar(0), site), high = clamp(x.max(site), Scalar(0), {}, site);
  const Tensor scale = div(sub(high, low, site), 255, site);
  const Tensor zero = clamp(round(div(neg(low, site), scale, site), site), 0, 255, site);
  call.give(clamp(add(round(div(x, scale, site), site), zero, site), 0, 255, site).to(kUInt8, {}, site));
  call.give(scale);
  call.give(zero.to(kUInt8, {}, site));
}

constexpr OperatorRow kRows[] = {
    {"DequantizeLinear", 10, dequantize},
    {"DynamicQuantizeLinear", 11, dynamic_quantize},
    {"QuantizeLinear", 10, quantize},
};

}  // namespace

std::span<const OperatorRow> quantization_operators() { return kRows; }

}  // namespace tandem::onnx
