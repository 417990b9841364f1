// What linear algebra shares: checks of matrices, and the two kernels. For the library.
#pragma once

#include "kernels/table.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// Error unless x holds float32 or float64 matrices.
void check_matrix(const char* op, const Tensor& x, const char* name = "A");
void check_square(const char* op, const Tensor& x, const char* name = "A");

/// The dimensions before those of the matrix.
Shape batch_of(const Tensor& x);
/// x with its batch dimensions expanded.
Tensor expand_batch(const Tensor& x, const Shape& batch, Site site);
/// Memory for a part of a decomposition of x: x's batch, then `sizes`. x's dtype unless told otherwise.
Tensor part_of(const Tensor& x, const Shape& sizes, Site site, std::optional<DType> dtype = {});
/// n by n, one for each of x's batch, as a view.
Tensor identities(const Tensor& x, int64_t n, Site site);

/// The kernels, without history; see kernels/entries.def.
void decompose(const char* op, kernels::Decomposition kind, const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& in,
               bool strict, Site site);
Tensor solve(const char* op, kernels::Solver kind, const Tensor& a, const Tensor& pivots, const Tensor& b, Site site);

}  // namespace tandem::ops
