// What every reduction does: dimensions as a mask, sizes of the result, the kernel call, and gradients spread back. For the library.
#pragma once

#include "autograd/history.h"
#include "kernels/table.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// Dimensions to reduce, as a mask; none given means all. Error where one is named twice.
uint32_t dims_mask(const char* op, const Tensor& x, const Shape& dims);
inline uint32_t all_dims(const Tensor& x) { return (1U << x.dim()) - 1; }
/// The mask of one dimension, which was wrapped before.
inline uint32_t one_dim(const Tensor& x, int64_t at) { return x.dim() ? 1U << at : 0; }
Shape reduced_sizes(const Tensor& x, uint32_t mask, bool keepdim);
/// How many elements make one of the result.
int64_t reduced_count(const Tensor& x, uint32_t mask);
/// Error for a reduction that has no neutral element over no elements.
void check_not_empty(const char* op, const Tensor& x, uint32_t mask);

/// x as a kernel wants it: kept dimensions first, then those to reduce. Gives how many the latter are.
kernels::View arranged(const Tensor& x, uint32_t mask, int32_t& reduced);
/// A fresh result's view without the dimensions that `keepdim` left at size 1.
kernels::Out kept(const Tensor& y, const Tensor& x, uint32_t mask);
/// The reduction, without history.
Tensor reduce(const char* op, kernels::Reduce kind, const Tensor& x, uint32_t mask, bool keepdim, DType dtype, Site site);

/// A reduced tensor over the sizes it came from.
Tensor spread(const Tensor& g, const Shape& sizes, uint32_t mask, bool keepdim);
/// g shared out in equal parts among the elements of x that equal y, which came from reducing x.
Tensor spread_to_equal(const Tensor& g, const Tensor& x, const Tensor& y, uint32_t mask, bool keepdim);
/// Records values that were chosen from x along a dimension at `indices`: gradients go to where they came from. `keepdim` says whether both
/// still have that dimension.
Tensor record_chosen(const char* grad_fn, const Tensor& values, const Tensor& indices, const Tensor& x, int64_t at, bool keepdim,
                     Site site);

}  // namespace tandem::ops
