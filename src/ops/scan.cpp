#include "ops/scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/reduction.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;

/// An uninitialized contiguous tensor of x's sizes, on its device.
Tensor like(const Tensor& x, DType dtype, Site site) { return empty(x.sizes(), {.dtype = dtype, .device = x.device()}, site); }

/// x as a kernel's output, with dimension `at` moved to the end, along which kernels work.
kernels::Out last_out(const Tensor& x, int64_t at) { return kernels::Out{ops::last(ops::view(x), at)}; }

Tensor scan(const char* op, kernels::Scan kind, const Tensor& x, int64_t at, Site site) {
  Tensor y = like(x, x.dtype(), site);
  ops::launch(x, op, site, &kernels::Table::scan, kind, last_out(y, at), ops::last(ops::view(x), at));
  return y;
}

/// x in the dtype in which its running totals are kept.
Tensor to_total(const Tensor& x, std::optional<DType> dtype, Site site) {
  return x.to(dtype.value_or(is_floating(x.dtype()) ? x.dtype() : kInt64), {}, site);
}

Tensor reversed(const Tensor& x, int64_t at) { return x.dim() ? x.flip({at}) : x; }
/// x shifted by one place along a dimension; `first` fills the first place.
Tensor shifted(const Tensor& x, int64_t at, double first) {
  return cat({full_like(x.slice(at, 0, 1), first), x.slice(at, 0, x.size(at) - 1)}, at);
}

/// y[i] = factor[i] * y[i - 1] + x[i], with 0 before y[0]. The gradient of x is the same from the end: h[i] = factor[i + 1] * h[i + 1] +
/// g[i].
Tensor recurrence(const Tensor& factor, const Tensor& x, int64_t at, Site site) {
  Tensor y = like(x, x.dtype(), site);
  ops::launch(x, "cumprod_backward", site, &kernels::Table::recurrence, last_out(y, at), ops::last(ops::view(factor), at),
              ops::last(ops::view(x), at));
  if (!needs_grad(factor, x)) return y;
  return record("RecurrenceBackward0", y, {factor, x}, site,
                [factor = autograd::saved(factor), y = autograd::saved_output(y), at, site](const Tensor& g, autograd::Wanted wanted,
                                                                                            const autograd::Node* node) {
                  const Tensor later = shifted(reversed(factor.get(), at), at, 0);
                  const Tensor to_x = reversed(recurrence(later, reversed(g, at), at, site), at);
                  std::array<Tensor, 2> gradients;
                  if (wanted[0]) gradients[0] = to_x * shifted(y.get(node), at, 0);
                  gradients[1] = to_x;
                  return gradients;
                });
}

ValuesIndices running_extreme(const char* op, const char* grad_fn, bool largest, const Tensor& x, int64_t dim, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  ValuesIndices y{like(x, x.dtype(), site), like(x, kInt64, site)};
  ops::launch(x, op, site, &kernels::Table::scan_extreme, largest, last_out(y.values, at), last_out(y.indices, at),
              ops::last(ops::view(x), at));
  y.values = ops::record_chosen(grad_fn, y.values, y.indices, x, at, true, site);
  return y;
}

/// The sum over neighbours of their mean times the distance between them, `dx`.
Tensor trapezoids(const Tensor& y, const Operand& dx, int64_t at, Site site) {
  const int64_t size = y.size(at);
  if (size == 0) {
    Shape sizes = y.sizes();
    sizes.erase(static_cast<size_t>(at));
    return zeros(sizes, {.dtype = is_floating(y.dtype()) ? y.dtype() : get_default_dtype(), .device = y.device()}, site);
  }
  const Tensor pairs = add(y.slice(at, 1, size, 1, site), y.slice(at, 0, size - 1, 1, site), site);
  if (dx.is_tensor()) return div(sum(mul(pairs, dx, site), {at}, false, {}, site), 2, site);
  return mul(sum(pairs, {at}, false, {}, site), dx.number().to<double>() / 2, site);
}

}  // namespace

Tensor cumsum(const Tensor& x, int64_t dim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("cumsum", site, x); cast) return cumsum(dtype ? x : cast(x), dim, dtype, site);
  const int64_t at = wrap_dim(dim, x.dim());
  const Tensor in = to_total(x, dtype, site);
  Tensor y = scan("cumsum", kernels::Scan::Sum, in, at, site);
  if (!needs_grad(in)) return y;
  return record("CumsumBackward0", y, {in}, site, [at](const Tensor& g) { return reversed(cumsum(reversed(g, at), at), at); });
}

Tensor cumprod(const Tensor& x, int64_t dim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("cumprod", site, x); cast) return cumprod(dtype ? x : cast(x), dim, dtype, site);
  const int64_t at = wrap_dim(dim, x.dim());
  const Tensor in = to_total(x, dtype, site);
  Tensor y = scan("cumprod", kernels::Scan::Prod, in, at, site);
  if (!needs_grad(in)) return y;
  // d y[i] / d x[j] = (x[0] … x[j - 1]) (x[j + 1] … x[i]). The first product is a cumprod. The sum over i of g[i] times the second is a
  // recurrence from the end. Nothing is divided, so elements may be zero.
  return record("CumprodBackward0", y, {in}, site, [x = autograd::saved(in), at, site](const Tensor& g) {
    const Tensor in = x.get();
    if (in.dim() == 0 || in.numel() == 0) return g;
    const Tensor later = shifted(reversed(in, at), at, 0);
    return reversed(recurrence(later, reversed(g, at), at, site), at) * cumprod(shifted(in, at, 1), at);
  });
}

ValuesIndices cummax(const Tensor& x, int64_t dim, Site site) { return running_extreme("cummax", "CummaxBackward0", true, x, dim, site); }
ValuesIndices cummin(const Tensor& x, int64_t dim, Site site) { return running_extreme("cummin", "CumminBackward0", false, x, dim, site); }

Tensor logcumsumexp(const Tensor& x, int64_t dim, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  if (!is_floating(x.dtype())) fail<NotImplementedError>("[logcumsumexp] not implemented for ", scalar_name(x.dtype()));
  Tensor y = scan("logcumsumexp", kernels::Scan::LogSumExp, x, at, site);
  if (!needs_grad(x)) return y;
  // The gradient of x[j] is the sum over i >= j of g[i] exp(x[j] - y[i]). Positive and negative terms are summed apart, as logarithms.
  return record("LogcumsumexpBackward0", y, {x}, site,
                [x = autograd::saved(x), y = autograd::saved_output(y), at](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                  const Tensor in = x.get(), out = y.get(node);
                  const auto positive_part = [&](const Tensor& gradient) {
                    const Tensor magnitude = where(gradient > 0, gradient, 1);
                    const Tensor terms = where(gradient > 0, log(magnitude) - out, -INFINITY);
                    return exp(reversed(logcumsumexp(reversed(terms, at), at), at) + in);
                  };
                  return positive_part(g) - positive_part(-g);
                });
}

Tensor diff(const Tensor& x, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append, Site site) {
  if (x.dim() == 0) fail("[diff] diff expects input to be at least one-dimensional");
  if (n < 0) fail("[diff] order must be non-negative but got ", n);
  const int64_t at = wrap_dim(dim, x.dim());
  for (const Tensor* joined : {&prepend, &append})
    if (joined->defined() && joined->dim() != x.dim())
      fail("[diff] diff expects prepend or append to be the same dimension as input, but got ", joined->dim(), " and ", x.dim());
  if (n == 0) return x.clone(site);
  std::vector<Tensor> parts;
  if (prepend.defined()) parts.push_back(prepend);
  parts.push_back(x);
  if (append.defined()) parts.push_back(append);
  Tensor y = parts.size() > 1 ? cat(parts, at, site) : x;
  for (int64_t i = 0, size = y.size(at); i < std::min(n, size); ++i) {
    const Tensor later = y.slice(at, 1, y.size(at), 1, site), earlier = y.slice(at, 0, y.size(at) - 1, 1, site);
    y = x.dtype() == kBool ? logical_xor(later, earlier, site) : sub(later, earlier, site);
  }
  return y;
}

Tensor trapezoid(const Tensor& y, double dx, int64_t dim, Site site) { return trapezoids(y, dx, wrap_dim(dim, y.dim()), site); }
Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim, Site site) {
  const int64_t at = wrap_dim(dim, y.dim());
  if (x.dim() == 1) {  // points along `dim`
    if (x.size(0) != y.size(at))
      fail("[trapezoid] trapezoid(): There must be one `x` value for each sample point, but got ", x.size(0), " and ", y.size(at));
    Shape sizes;
    for (int64_t d = 0; d < y.dim(); ++d) sizes.push_back(d == at ? x.size(0) - 1 : 1);
    return trapezoids(y, diff(x, 1, 0, {}, {}, site).view(sizes, site), at, site);
  }
  // x may have fewer dimensions: they are the last of y's, so count from the end in both.
  const int64_t from_end = at - y.dim();
  if (-from_end > x.dim() || x.size(from_end) != y.size(at))
    fail("[trapezoid] trapezoid(): There must be one `x` value for each sample point, but got ", x.sizes(), " and ", y.sizes());
  return trapezoids(y, diff(x, 1, from_end, {}, {}, site), at, site);
}
Tensor trapz(const Tensor& y, double dx, int64_t dim, Site site) { return trapezoid(y, dx, dim, site); }
Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim, Site site) { return trapezoid(y, x, dim, site); }

// --- The same as methods
Tensor Tensor::cumsum(int64_t dim, std::optional<DType> dtype, Site site) const { return tandem::cumsum(*this, dim, dtype, site); }
Tensor Tensor::cumprod(int64_t dim, std::optional<DType> dtype, Site site) const { return tandem::cumprod(*this, dim, dtype, site); }
const Tensor& Tensor::cumsum_(int64_t dim, std::optional<DType> dtype, Site site) const {
  return copy_(tandem::cumsum(*this, dim, dtype, site), false, site);
}
const Tensor& Tensor::cumprod_(int64_t dim, std::optional<DType> dtype, Site site) const {
  return copy_(tandem::cumprod(*this, dim, dtype, site), false, site);
}
ValuesIndices Tensor::cummax(int64_t dim, Site site) const { return tandem::cummax(*this, dim, site); }
ValuesIndices Tensor::cummin(int64_t dim, Site site) const { return tandem::cummin(*this, dim, site); }
Tensor Tensor::logcumsumexp(int64_t dim, Site site) const { return tandem::logcumsumexp(*this, dim, site); }
Tensor Tensor::diff(int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append, Site site) const {
  return tandem::diff(*this, n, dim, prepend, append, site);
}

}  // namespace tandem
