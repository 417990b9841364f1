// The windows of convolutions and pooling: what their attributes say, as numbers for each spatial dimension.
#pragma once

#include "onnx/call.h"

namespace tandem::onnx {

/// How windows lie over an input (N, C, …).
struct Windows {
  Shape kernel, stride, dilation, front, back;  // one number a spatial dimension; `front` and `back` are pads
  bool by_name = false;                         // pads come of auto_pad

  /// How many spatial dimensions there are.
  [[nodiscard]] size_t dims() const { return kernel.size(); }
  /// Whether pads are the same at both ends.
  [[nodiscard]] bool is_symmetric() const { return front == back; }
};

/// Reads `strides`, `dilations`, `pads` and `auto_pad` for windows of the size `kernel`. Error for lists of another length, and for numbers
/// that make no sense.
[[nodiscard]] Windows windows_of(Call& call, const Tensor& x, const Shape& kernel);

/// How many windows there are along a dimension; with `ceil` also one that begins inside and ends outside.
[[nodiscard]] int64_t window_count(int64_t size, const Windows& windows, size_t dim, bool ceil);

/// x with `value` around its spatial dimensions.
[[nodiscard]] Tensor padded_with(Call& call, const Tensor& x, const Shape& front, const Shape& back, const Scalar& value);

}  // namespace tandem::onnx
