// Diagonals: views of them, and tensors made from them.
#include <algorithm>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/view.h"
#include "ops/view_of.h"
#include "tensor/dims.h"

namespace tandem {

using autograd::needs_grad;
using autograd::record;

Tensor Tensor::diagonal(int64_t offset, int64_t dim1, int64_t dim2, Site site) const {
  const auto a = static_cast<size_t>(wrap_dim(dim1, dim())), b = static_cast<size_t>(wrap_dim(dim2, dim()));
  if (a == b) fail("[diagonal] diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  // An offset past either side leaves nothing; only then can its magnitude be large.
  const int64_t rows = sizes()[a], columns = sizes()[b];
  const int64_t length = offset >= columns || offset <= -rows ? 0
                         : offset >= 0                        ? std::min(rows, columns - offset)
                                                              : std::min(rows + offset, columns);
  const int64_t stride = strides()[a] + strides()[b];
  const int64_t start = length == 0 ? 0 : offset >= 0 ? offset * strides()[b] : -offset * strides()[a];
  Shape wanted = sizes(), strides = this->strides();
  for (const size_t at : {std::max(a, b), std::min(a, b)}) {
    wanted.erase(at);
    strides.erase(at);
  }
  wanted.push_back(length);
  strides.push_back(stride);
  Tensor y = ops::view_of(*this, std::move(wanted), std::move(strides), storage_offset() + start);
  if (!needs_grad(*this)) return y;
  return record("DiagonalBackward0", y, {*this}, site, [sizes = sizes(), offset, dim1, dim2](const Tensor& g) {
    return scatter_view(g, sizes, [=](const Tensor& whole) { return whole.diagonal(offset, dim1, dim2); });
  });
}

Tensor diagonal(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2, Site site) { return x.diagonal(offset, dim1, dim2, site); }

Tensor diag_embed(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2, Site site) {
  const int64_t ndim = x.dim() + 1;
  if (x.dim() == 0) fail<IndexError>("[diag_embed] needs at least one dimension, but got a 0-dim tensor");
  const int64_t a = wrap_dim(dim1, ndim), b = wrap_dim(dim2, ndim);
  if (a == b) fail("[diag_embed] diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  int64_t side;
  if (offset == INT64_MIN || __builtin_add_overflow(x.size(-1), offset < 0 ? -offset : offset, &side))
    fail("[diag_embed] offset ", offset, " is too large for a diagonal of ", x.size(-1), " elements");
  Shape sizes(x.sizes().data(), x.sizes().size() - 1);
  sizes.insert(static_cast<size_t>(std::min(a, b)), side);
  sizes.insert(static_cast<size_t>(std::max(a, b)), side);
  const Tensor y = zeros(sizes, {.dtype = x.dtype(), .device = x.device()}, site);
  {
    const NoGradGuard no_grad;
    y.diagonal(offset, a, b).copy_(x, false, site);
  }
  if (!needs_grad(x)) return y;
  return record("DiagEmbedBackward0", y, {x}, site, [offset, a, b](const Tensor& g) { return g.diagonal(offset, a, b); });
}

Tensor diag(const Tensor& x, int64_t diagonal, Site site) {
  if (x.dim() != 1 && x.dim() != 2) fail("[diag] diag(): Supports 1D or 2D tensors. Got ", x.dim(), "D");
  return x.dim() == 1 ? diag_embed(x, diagonal, 0, 1, site) : x.diagonal(diagonal, 0, 1, site).clone(site);
}

Tensor diagflat(const Tensor& x, int64_t offset, Site site) { return diag_embed(x.reshape({-1}, site), offset, 0, 1, site); }

Tensor Tensor::diag_embed(int64_t offset, int64_t dim1, int64_t dim2, Site site) const {
  return tandem::diag_embed(*this, offset, dim1, dim2, site);
}
Tensor Tensor::diag(int64_t diagonal, Site site) const { return tandem::diag(*this, diagonal, site); }
Tensor Tensor::diagflat(int64_t offset, Site site) const { return tandem::diagflat(*this, offset, site); }

}  // namespace tandem
