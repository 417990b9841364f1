#include "ops/moving.h"

#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "tensor/dims.h"

namespace tandem {

Tensor flip(const Tensor& x, const Shape& dims, Site site) {
  kernels::View turned = ops::view(x);  // from the other end, with negative strides
  int64_t offset = 0;
  uint64_t seen = 0;
  for (const int64_t dim : dims) {
    const int64_t at = wrap_dim(dim, x.dim());
    if (seen >> at & 1) fail("[flip] dim ", at, " appears multiple times in the list of dims ", dims);
    seen |= uint64_t{1} << at;
    if (x.dim() == 0 || x.numel() == 0) continue;
    offset += (turned.sizes[at] - 1) * turned.strides[at];
    turned.strides[at] = -turned.strides[at];
  }
  Tensor y = empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
  if (x.numel()) {
    turned.data = turned.as<char>() + offset * static_cast<int64_t>(x.element_size());
    ops::launch(x, "flip", site, &kernels::Table::copy, y, turned);
  }
  return autograd::record("FlipBackward0", y, {x}, site, [dims](const Tensor& g) { return g.flip(dims); });
}

Tensor fliplr(const Tensor& x, Site site) {
  if (x.dim() < 2) fail("[fliplr] Input must be >= 2-d.");
  return flip(x, {1}, site);
}

Tensor flipud(const Tensor& x, Site site) {
  if (x.dim() < 1) fail("[flipud] Input must be >= 1-d.");
  return flip(x, {0}, site);
}

Tensor roll(const Tensor& x, const Shape& shifts, const Shape& dims, Site site) {
  if (shifts.empty()) fail("[roll] `shifts` required");
  if (dims.empty() && shifts.size() == 1)
    return autograd::called(roll(x.reshape({-1}, site), shifts, {0}, site).view(x.sizes(), site), "RollBackward0");
  if (shifts.size() != dims.size()) fail("[roll] shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  Tensor y = x;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (x.dim() == 0) fail<IndexError>("[roll] Dimension specified as ", dims[i], " but tensor has no dimensions");
    const int64_t at = wrap_dim(dims[i], x.dim()), size = x.size(at);
    if (x.numel() == 0) continue;
    const int64_t shift = (shifts[i] % size + size) % size;
    if (shift != 0) y = cat({y.slice(at, size - shift, {}, 1, site), y.slice(at, 0, size - shift, 1, site)}, at, site);
  }
  return autograd::called(y.is_same(x) ? x.clone(site) : y, "RollBackward0");
}

Tensor rot90(const Tensor& x, int64_t k, const Shape& dims, Site site) {
  if (dims.size() != 2) fail("[rot90] expected total rotation dims == 2, but got dims = ", dims.size());
  if (x.dim() < 2) fail("[rot90] expected total dims >= 2, but got total dims = ", x.dim());
  const int64_t from = wrap_dim(dims[0], x.dim()), to = wrap_dim(dims[1], x.dim());
  if (from == to) fail("[rot90] expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1: return flip(x, {to}, site).transpose(from, to, site);
    case 2: return flip(x, {from, to}, site);
    case 3: return flip(x, {from}, site).transpose(from, to, site);
    default: return x.clone(site);
  }
}

Tensor Tensor::flip(const Shape& dims, Site site) const { return tandem::flip(*this, dims, site); }
Tensor Tensor::roll(const Shape& shifts, const Shape& dims, Site site) const { return tandem::roll(*this, shifts, dims, site); }
Tensor Tensor::rot90(int64_t k, const Shape& dims, Site site) const { return tandem::rot90(*this, k, dims, site); }

}  // namespace tandem
