#include "ops/reduction.h"

#include "base/error.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem::ops {

uint32_t dims_mask(const char* op, const Tensor& x, const Shape& dims) {
  if (dims.empty()) return all_dims(x);
  uint32_t mask = 0;
  for (const int64_t dim : dims) {
    const auto at = static_cast<uint32_t>(wrap_dim(dim, x.dim()));
    if (mask >> at & 1) fail("[", op, "] dim ", at, " appears multiple times in the list of dims ", dims);
    mask |= 1U << at;
  }
  return x.dim() == 0 ? 0 : mask;
}

Shape reduced_sizes(const Tensor& x, uint32_t mask, bool keepdim) {
  Shape sizes;
  for (size_t d = 0; d < x.sizes().size(); ++d) {
    if (!(mask >> d & 1)) sizes.push_back(x.sizes()[d]);
    else if (keepdim) sizes.push_back(1);
  }
  return sizes;
}

int64_t reduced_count(const Tensor& x, uint32_t mask) {
  int64_t count = 1;
  for (size_t d = 0; d < x.sizes().size(); ++d)
    if (mask >> d & 1) count *= x.sizes()[d];
  return count;
}

void check_not_empty(const char* op, const Tensor& x, uint32_t mask) {
  if (x.numel() > 0) return;
  if (mask == all_dims(x))
    fail("[", op, "] ", op,
         "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  for (size_t d = 0; d < x.sizes().size(); ++d)
    if ((mask >> d & 1) && x.sizes()[d] == 0)
      fail<IndexError>("[", op, "] ", op, "(): Expected reduction dim ", d, " to have non-zero size.");
}

kernels::View arranged(const Tensor& x, uint32_t mask, int32_t& reduced) {
  const kernels::View in = view(x);
  kernels::View v = in;
  int to = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int d = 0; d < in.ndim; ++d)
      if (static_cast<int>(mask >> d & 1) == pass) {
        v.sizes[to] = in.sizes[d];
        v.strides[to++] = in.strides[d];
      }
  reduced = __builtin_popcount(mask & ((1U << in.ndim) - 1));
  return v;
}

kernels::Out kept(const Tensor& y, const Tensor& x, uint32_t mask) {
  kernels::Out result = out(y);
  const Shape sizes = reduced_sizes(x, mask, false), strides = contiguous_strides(sizes);
  result.ndim = static_cast<int32_t>(sizes.size());
  for (int d = 0; d < result.ndim; ++d) {
    result.sizes[d] = sizes[static_cast<size_t>(d)];
    result.strides[d] = strides[static_cast<size_t>(d)];
  }
  return result;
}

Tensor reduce(const char* op, kernels::Reduce kind, const Tensor& x, uint32_t mask, bool keepdim, DType dtype, Site site) {
  Tensor y = empty(reduced_sizes(x, mask, keepdim), {.dtype = dtype, .device = x.device()}, site);
  if (y.numel() == 0) return y;
  int32_t reduced;
  const kernels::View in = arranged(x, mask, reduced);
  launch(x, op, site, &kernels::Table::reduce, kind, kept(y, x, mask), in, reduced, kernels_of(x).reduce_workspace(in, reduced));
  return y;
}

Tensor spread(const Tensor& g, const Shape& sizes, uint32_t mask, bool keepdim) {
  if (keepdim || mask == 0 || g.dim() == 0) return g.expand(sizes);
  Shape raised = sizes;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (mask >> d & 1) raised[d] = 1;
  return g.reshape(raised).expand(sizes);
}

Tensor spread_to_equal(const Tensor& g, const Tensor& x, const Tensor& y, uint32_t mask, bool keepdim) {
  const Tensor hit = x == spread(y, x.sizes(), mask, keepdim);
  const Tensor count = reduce("sum", kernels::Reduce::Sum, hit, mask, true, kInt64, Site::here());
  return spread(g, x.sizes(), mask, keepdim) * hit / count;
}

Tensor record_chosen(const char* grad_fn, const Tensor& values, const Tensor& indices, const Tensor& x, int64_t at, bool keepdim,
                     Site site) {
  if (!autograd::needs_grad(x)) return values;
  return autograd::record(
      grad_fn, values, {x}, site, [sizes = x.sizes(), at, keepdim, indices = autograd::saved(indices)](const Tensor& g) {
        if (sizes.empty()) return g.reshape({});
        const auto raised = [&](const Tensor& t) { return keepdim ? t : t.unsqueeze(at); };
        return zeros(sizes, {.dtype = g.dtype(), .device = g.device()}).scatter_add_(at, raised(indices.get()), raised(g));
      });
}

}  // namespace tandem::ops
