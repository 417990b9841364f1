// Largest and smallest elements and where they are.
#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/reduction.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

using kernels::Reduce;
using ops::all_dims;
using ops::dims_mask;

/// The largest or smallest over dimensions; gradients go in equal parts to all that tie.
Tensor extreme(const char* op, const char* grad_fn, bool largest, const Tensor& x, uint32_t mask, bool keepdim, Site site) {
  ops::check_not_empty(op, x, mask);
  Tensor y = ops::reduce(op, largest ? Reduce::Max : Reduce::Min, x, mask, keepdim, x.dtype(), site);
  if (!autograd::needs_grad(x)) return y;
  return autograd::record(grad_fn, y, {x}, site,
                          [x = autograd::saved(x), y = autograd::saved_output(y), mask, keepdim](const Tensor& g, autograd::Wanted,
                                                                                                 const autograd::Node* node) {
                            return ops::spread_to_equal(g, x.get(), y.get(node), mask, keepdim);
                          });
}

ValuesIndices extreme_along(const char* op, const char* grad_fn, bool largest, const Tensor& x, int64_t dim, bool keepdim, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  const uint32_t mask = ops::one_dim(x, at);
  if (x.dim() && x.size(at) == 0) fail<IndexError>("[", op, "] ", op, "(): Expected reduction dim ", at, " to have non-zero size.");
  const Shape sizes = ops::reduced_sizes(x, mask, keepdim);
  ValuesIndices y{empty(sizes, {.dtype = x.dtype(), .device = x.device()}, site),
                  empty(sizes, {.dtype = kInt64, .device = x.device()}, site)};
  if (y.values.numel()) {
    int32_t reduced;
    const kernels::View in = ops::arranged(x, mask, reduced);
    ops::launch(x, op, site, &kernels::Table::arg_reduce, largest, ops::kept(y.values, x, mask), ops::kept(y.indices, x, mask), in, reduced,
                ops::kernels_of(x).reduce_workspace(in, reduced));
  }
  y.values = ops::record_chosen(grad_fn, y.values, y.indices, x, at, keepdim, site);
  return y;
}

Tensor arg_extreme(const char* op, bool largest, const Tensor& x, std::optional<int64_t> dim, bool keepdim, Site site) {
  if (x.dtype() == kBool) fail<NotImplementedError>("[", op, "] ", op, "(): does not support bool input");
  const uint32_t mask = dim ? ops::one_dim(x, wrap_dim(*dim, x.dim())) : all_dims(x);
  if (!dim && x.numel() == 0) fail<IndexError>("[", op, "] ", op, "(): Expected reduction dim to be specified for input.numel() == 0.");
  if (const int64_t at = dim ? wrap_dim(*dim, x.dim()) : 0; dim && x.dim() && x.size(at) == 0)
    fail<IndexError>("[", op, "] ", op, "(): Expected reduction dim ", at, " to have non-zero size.");
  ops::check_not_empty(op, x, mask);
  Tensor y = empty(ops::reduced_sizes(x, mask, keepdim), {.dtype = kInt64, .device = x.device()}, site);
  if (y.numel() == 0) return y;
  int32_t reduced;
  const kernels::View in = ops::arranged(x, mask, reduced);
  ops::launch(x, op, site, &kernels::Table::arg_reduce, largest, kernels::Out{}, ops::kept(y, x, mask), in, reduced,
              ops::kernels_of(x).reduce_workspace(in, reduced));
  return y;
}

}  // namespace

Tensor max(const Tensor& x, Site site) { return extreme("max", "MaxBackward1", true, x, all_dims(x), false, site); }
Tensor min(const Tensor& x, Site site) { return extreme("min", "MinBackward1", false, x, all_dims(x), false, site); }
ValuesIndices max(const Tensor& x, int64_t dim, Flag keepdim, Site site) {
  return extreme_along("max", "MaxBackward0", true, x, dim, keepdim, site);
}
ValuesIndices min(const Tensor& x, int64_t dim, Flag keepdim, Site site) {
  return extreme_along("min", "MinBackward0", false, x, dim, keepdim, site);
}
Tensor max(const Tensor& x, const Tensor& other, Site site) { return maximum(x, other, site); }
Tensor min(const Tensor& x, const Tensor& other, Site site) { return minimum(x, other, site); }
Tensor amax(const Tensor& x, const Shape& dims, Flag keepdim, Site site) {
  return extreme("amax", "AmaxBackward0", true, x, dims_mask("amax", x, dims), keepdim, site);
}
Tensor amin(const Tensor& x, const Shape& dims, Flag keepdim, Site site) {
  return extreme("amin", "AminBackward0", false, x, dims_mask("amin", x, dims), keepdim, site);
}
MinMax aminmax(const Tensor& x, std::optional<int64_t> dim, Flag keepdim, Site site) {
  const uint32_t mask = dim ? ops::one_dim(x, wrap_dim(*dim, x.dim())) : all_dims(x);
  return {extreme("aminmax", "AminmaxBackward0", false, x, mask, keepdim, site),
          extreme("aminmax", "AminmaxBackward0", true, x, mask, keepdim, site)};
}
Tensor argmax(const Tensor& x, std::optional<int64_t> dim, Flag keepdim, Site site) {
  return arg_extreme("argmax", true, x, dim, keepdim, site);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> dim, Flag keepdim, Site site) {
  return arg_extreme("argmin", false, x, dim, keepdim, site);
}

// --- The same as methods
Tensor Tensor::max(Site site) const { return tandem::max(*this, site); }
ValuesIndices Tensor::max(int64_t dim, Flag keepdim, Site site) const { return tandem::max(*this, dim, keepdim, site); }
Tensor Tensor::max(const Tensor& other, Site site) const { return tandem::maximum(*this, other, site); }
Tensor Tensor::min(Site site) const { return tandem::min(*this, site); }
ValuesIndices Tensor::min(int64_t dim, Flag keepdim, Site site) const { return tandem::min(*this, dim, keepdim, site); }
Tensor Tensor::min(const Tensor& other, Site site) const { return tandem::minimum(*this, other, site); }
Tensor Tensor::amax(const Shape& dims, Flag keepdim, Site site) const { return tandem::amax(*this, dims, keepdim, site); }
Tensor Tensor::amin(const Shape& dims, Flag keepdim, Site site) const { return tandem::amin(*this, dims, keepdim, site); }
MinMax Tensor::aminmax(std::optional<int64_t> dim, Flag keepdim, Site site) const { return tandem::aminmax(*this, dim, keepdim, site); }
Tensor Tensor::argmax(std::optional<int64_t> dim, Flag keepdim, Site site) const { return tandem::argmax(*this, dim, keepdim, site); }
Tensor Tensor::argmin(std::optional<int64_t> dim, Flag keepdim, Site site) const { return tandem::argmin(*this, dim, keepdim, site); }

}  // namespace tandem
