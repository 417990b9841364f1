// From arguments of PyTorch's form to the windows and views over three spatial dimensions that kernels see. For the library.
#pragma once

#include <string>

#include "kernels/table.h"
#include "ops/window.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// `given` as `spatial` numbers. Error where it has another number of them, naming `op` and `what`.
Shape per_dim(const char* op, const char* what, const PerDim& given, int64_t spatial);

/// Writes `spatial` numbers into the last places of three.
void set_last(int64_t (&three)[3], const Shape& values);

/// A tensor of (batch, channels, spatial…), or without the batch, as (n, c, d, h, w).
kernels::View spatial_view(const Tensor& x, int64_t spatial);

/// The sizes of x with other spatial ones.
Shape with_spatial(const Tensor& x, const Shape& spatial);

/// The last `spatial` sizes of x.
Shape spatial_sizes(const Tensor& x, int64_t spatial);

/// The sizes as errors about windows have them: (2 x 3), with " x " for `between`.
std::string crossed(const Shape& sizes, const char* between);

}  // namespace tandem::ops
