#include "ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/reduction.h"
#include "ops/scan.h"
#include "ops/view.h"
#include "tensor/dims.h"
#include "tensor/host_values.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;
using kernels::Reduce;
using ops::all_dims;
using ops::dims_mask;
using ops::spread;

/// What sums and products of a dtype are made of.
DType total_dtype(const Tensor& x, std::optional<DType> dtype) { return dtype.value_or(is_floating(x.dtype()) ? x.dtype() : kInt64); }

/// x in the dtype to compute in; the kernel converts integers by itself.
Tensor converted(const Tensor& x, DType dtype, Site site) {
  const bool by_kernel = !is_floating(x.dtype()) && (is_floating(dtype) || dtype == kInt64);
  return by_kernel ? x : x.to(dtype, {}, site);
}

Tensor sum_over(const Tensor& x, uint32_t mask, bool keepdim, bool all, std::optional<DType> dtype, Site site) {
  const DType total = total_dtype(x, dtype);
  const Tensor in = converted(x, total, site);
  Tensor y = ops::reduce("sum", Reduce::Sum, in, mask, keepdim, total, site);
  if (!needs_grad(in)) return y;
  return record(all ? "SumBackward0" : "SumBackward1", y, {in}, site,
                [sizes = in.sizes(), mask, keepdim](const Tensor& g) { return spread(g, sizes, mask, keepdim); });
}

Tensor mean_over(const Tensor& x, uint32_t mask, bool keepdim, bool all, std::optional<DType> dtype, Site site) {
  if (!is_floating(dtype.value_or(x.dtype())))
    fail<NotImplementedError>("[mean] mean(): could not infer output dtype. ", dtype ? "Optional" : "Input",
                              " dtype must be either a floating point or complex dtype. Got: ", scalar_name(dtype.value_or(x.dtype())),
                              "; convert with to(kFloat32)");
  const DType total = dtype.value_or(x.dtype());
  const Tensor in = converted(x, total, site);
  Tensor y = ops::reduce("mean", Reduce::Mean, in, mask, keepdim, total, site);
  if (!needs_grad(in)) return y;
  return record(all ? "MeanBackward0" : "MeanBackward1", y, {in}, site,
                [sizes = in.sizes(), mask, keepdim, count = static_cast<double>(ops::reduced_count(in, mask))](const Tensor& g) {
                  return spread(g / count, sizes, mask, keepdim);
                });
}

/// The products of the elements before each along a dimension.
Tensor products_before(const Tensor& x, int64_t at) {
  return cumprod(cat({ones_like(x.slice(at, 0, 1)), x.slice(at, 0, x.size(at) - 1)}, at), at);
}

Tensor prod_along(const char* grad_fn, const Tensor& given, int64_t at, bool keepdim, std::optional<DType> dtype, Site site) {
  const DType total = total_dtype(given, dtype);
  const Tensor x = converted(given, total, site);
  Tensor y = ops::reduce("prod", Reduce::Prod, x, ops::one_dim(x, at), keepdim, total, site);
  if (!needs_grad(x)) return y;
  // The product of all others, without dividing (an element may be zero): those before times those after.
  return record(grad_fn, y, {x}, site, [x = autograd::saved(x), at, keepdim](const Tensor& g) {
    const Tensor in = x.get();
    if (in.dim() == 0) return g;
    if (in.size(at) == 0) return zeros_like(in);
    const Tensor others = products_before(in, at) * products_before(in.flip({at}), at).flip({at});
    return (keepdim ? g : g.unsqueeze(at)) * others;
  });
}

Tensor truth(const char* op, Reduce kind, const Tensor& x, uint32_t mask, bool keepdim, Site site) {
  return ops::reduce(op, kind, x, mask, keepdim, x.dtype() == kUInt8 ? kUInt8 : kBool, site);
}

/// Variance, or its square root, and the mean where it is wanted.
VarMean spread_of(const char* op, const Tensor& x, uint32_t mask, double correction, bool keepdim, bool root, bool with_mean, Site site) {
  if (!is_floating(x.dtype()))
    fail<NotImplementedError>("[", op, "] std and var only support floating point and complex dtypes, not ", scalar_name(x.dtype()));
  const Options like{.dtype = x.dtype(), .device = x.device()};
  const Shape sizes = ops::reduced_sizes(x, mask, keepdim);
  VarMean y{empty(sizes, like, site), with_mean ? empty(sizes, like, site) : Tensor()};
  if (y.var.numel()) {
    int32_t reduced;
    const kernels::View in = ops::arranged(x, mask, reduced);
    ops::launch(x, op, site, &kernels::Table::variance, ops::kept(y.var, x, mask), with_mean ? ops::kept(y.mean, x, mask) : kernels::Out{},
                in, reduced, correction, ops::kernels_of(x).reduce_workspace(in, reduced));
  }
  if (root) {
    const NoGradGuard no_grad;
    sqrt_(y.var, site);
  }
  if (!needs_grad(x)) return y;
  const auto count = static_cast<double>(ops::reduced_count(x, mask));
  if (with_mean)
    y.mean = record("MeanBackward1", y.mean, {x}, site,
                    [sizes = x.sizes(), mask, keepdim, count](const Tensor& g) { return spread(g / count, sizes, mask, keepdim); });
  y.var = record(root ? "StdBackward0" : "VarBackward0", y.var, {x}, site,
                 [x = autograd::saved(x), y = autograd::saved_output(y.var), mask, keepdim, divisor = std::max(0.0, count - correction),
                  root](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                   const Tensor in = x.get();
                   const Tensor centred = in - mean_over(in, mask, true, false, {}, Site::here());
                   if (!root) return spread(g, in.sizes(), mask, keepdim) * centred * (2 / divisor);
                   const Tensor std = y.get(node);
                   const Tensor scale = where(std == 0, 0.0, g / (std * divisor));
                   return spread(scale, in.sizes(), mask, keepdim) * centred;
                 });
  return y;
}

}  // namespace

Tensor sum(const Tensor& x, Site site) {
  if (const ops::Cast cast("sum", site, x); cast) return sum(cast(x), site);
  return sum_over(x, all_dims(x), false, true, {}, site);
}
Tensor detail::sum(const Tensor& x, DType dtype, Site site) { return sum_over(x, all_dims(x), false, true, dtype, site); }
Tensor sum(const Tensor& x, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("sum", site, x); cast) return sum(dtype ? x : cast(x), dims, keepdim, dtype, site);
  return sum_over(x, dims_mask("sum", x, dims), keepdim, false, dtype, site);
}
Tensor nansum(const Tensor& x, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("nansum", site, x); cast) return nansum(cast(x), dims, keepdim, dtype, site);
  return sum(is_floating(x.dtype()) ? where(isnan(x, site), 0, x, site) : x, dims, keepdim, dtype, site);
}
Tensor mean(const Tensor& x, Site site) { return mean_over(x, all_dims(x), false, true, {}, site); }
Tensor detail::mean(const Tensor& x, DType dtype, Site site) { return mean_over(x, all_dims(x), false, true, dtype, site); }
Tensor mean(const Tensor& x, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  return mean_over(x, dims_mask("mean", x, dims), keepdim, false, dtype, site);
}
Tensor nanmean(const Tensor& x, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("nanmean", site, x); cast) return nanmean(cast(x), dims, keepdim, dtype, site);
  const detail::ComposedAt line(site);
  if (!is_floating(x.dtype()))
    fail<NotImplementedError>("[nanmean] nanmean(): expected input to have floating point or complex dtype but got ",
                              scalar_name(x.dtype()));
  return nansum(x, dims, keepdim, dtype, site) / sum(logical_not(isnan(x, site), site), dims, keepdim, {}, site);
}
Tensor prod(const Tensor& x, Site site) {
  if (const ops::Cast cast("prod", site, x); cast) return prod(cast(x), site);
  return prod_along("ProdBackward0", x.reshape({-1}, site), 0, false, {}, site);
}
Tensor detail::prod(const Tensor& x, DType dtype, Site site) {
  return prod_along("ProdBackward0", x.reshape({-1}, site), 0, false, dtype, site);
}
Tensor prod(const Tensor& x, int64_t dim, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("prod", site, x); cast) return prod(dtype ? x : cast(x), dim, keepdim, dtype, site);
  return prod_along("ProdBackward1", x, wrap_dim(dim, x.dim()), keepdim, dtype, site);
}

Tensor logsumexp(const Tensor& x, const Shape& dims, Flag keepdim, Site site) {
  if (const ops::Cast cast("logsumexp", site, x); cast) return logsumexp(cast(x), dims, keepdim, site);
  const uint32_t mask = dims_mask("logsumexp", x, dims);
  const Tensor in = is_floating(x.dtype()) ? x : x.to(get_default_dtype(), {}, site);
  Tensor y;
  {
    const NoGradGuard no_grad;
    if (in.numel() == 0) {
      y = log(sum_over(exp(in, site), mask, keepdim, false, {}, site), site);
    } else {
      Tensor most = ops::reduce("logsumexp", Reduce::Max, in, mask, true, in.dtype(), site);
      most = where(isinf(most, site), 0.0, most, site);
      const Tensor total = sum_over(exp(sub(in, most, site), site), mask, keepdim, false, {}, site);
      y = add(log(total, site), most.reshape(total.sizes(), site), site);
    }
  }
  if (!needs_grad(in)) return y;
  return record("LogsumexpBackward0", y, {in}, site,
                [x = autograd::saved(in), y = autograd::saved_output(y), mask, keepdim](const Tensor& g, autograd::Wanted,
                                                                                        const autograd::Node* node) {
                  const Tensor in = x.get();
                  return spread(g, in.sizes(), mask, keepdim) * exp(in - spread(y.get(node), in.sizes(), mask, keepdim));
                });
}

Tensor trace(const Tensor& x, Site site) {
  if (const ops::Cast cast("trace", site, x); cast) return trace(cast(x), site);
  if (x.dim() != 2) fail("[trace] trace: expected a matrix, but got tensor with dim ", x.dim());
  return sum(x.diagonal(0, 0, 1, site), site);
}

Tensor all(const Tensor& x, Site site) { return truth("all", Reduce::All, x, all_dims(x), false, site); }
Tensor all(const Tensor& x, const Shape& dims, Flag keepdim, Site site) {
  return truth("all", Reduce::All, x, dims_mask("all", x, dims), keepdim, site);
}
Tensor any(const Tensor& x, Site site) { return truth("any", Reduce::Any, x, all_dims(x), false, site); }
Tensor any(const Tensor& x, const Shape& dims, Flag keepdim, Site site) {
  return truth("any", Reduce::Any, x, dims_mask("any", x, dims), keepdim, site);
}
Tensor count_nonzero(const Tensor& x, const Shape& dims, Site site) {
  return ops::reduce("count_nonzero", Reduce::CountNonzero, x, dims_mask("count_nonzero", x, dims), false, kInt64, site);
}

Tensor var(const Tensor& x, const Shape& dims, double correction, Flag keepdim, Site site) {
  return spread_of("var", x, dims_mask("var", x, dims), correction, keepdim, false, false, site).var;
}
Tensor std(const Tensor& x, const Shape& dims, double correction, Flag keepdim, Site site) {
  return spread_of("std", x, dims_mask("std", x, dims), correction, keepdim, true, false, site).var;
}
VarMean var_mean(const Tensor& x, const Shape& dims, double correction, Flag keepdim, Site site) {
  return spread_of("var_mean", x, dims_mask("var_mean", x, dims), correction, keepdim, false, true, site);
}
StdMean std_mean(const Tensor& x, const Shape& dims, double correction, Flag keepdim, Site site) {
  VarMean both = spread_of("std_mean", x, dims_mask("std_mean", x, dims), correction, keepdim, true, true, site);
  return {std::move(both.var), std::move(both.mean)};
}

bool equal(const Tensor& a, const Tensor& b, Site site) {
  if (!(a.sizes() == b.sizes())) return false;
  if (a.device() != b.device())
    fail("Expected all tensors to be on the same device, but found at least two devices, ", a.is_cpu() ? b.device() : a.device(), " and ",
         a.is_cpu() ? a.device() : b.device(), "!");
  const NoGradGuard no_grad;
  return read_value(all(eq(a, b, site), site), "equal", site).to<bool>();
}

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, Flag equal_nan, Site site) {
  const NoGradGuard no_grad;
  const DType dtype = promote_types(a.dtype(), b.dtype());
  const Tensor x = a.to(dtype, {}, site), y = b.to(dtype, {}, site);
  Tensor near = eq(x, y, site);
  if (equal_nan && is_floating(dtype)) near = logical_or(near, logical_and(ne(x, x, site), ne(y, y, site), site), site);
  const Tensor difference = abs(sub(x, y, site), site), allowed = add(mul(abs(y, site), rtol, site), atol, site);
  const Tensor finite = lt(difference, std::numeric_limits<double>::infinity(), site);
  near = logical_or(near, logical_and(finite, le(difference, allowed, site), site), site);
  return read_value(all(near, site), "allclose", site).to<bool>();
}

// --- The same as methods
bool Tensor::equal(const Tensor& other, Site site) const { return tandem::equal(*this, other, site); }
bool Tensor::allclose(const Tensor& other, double rtol, double atol, Flag equal_nan, Site site) const {
  return tandem::allclose(*this, other, rtol, atol, equal_nan, site);
}
Tensor Tensor::sum(Site site) const { return tandem::sum(*this, site); }
Tensor Tensor::sum(const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) const {
  return tandem::sum(*this, dims, keepdim, dtype, site);
}
Tensor Tensor::nansum(const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) const {
  return tandem::nansum(*this, dims, keepdim, dtype, site);
}
Tensor Tensor::mean(Site site) const { return tandem::mean(*this, site); }
Tensor Tensor::mean(const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) const {
  return tandem::mean(*this, dims, keepdim, dtype, site);
}
Tensor Tensor::nanmean(const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) const {
  return tandem::nanmean(*this, dims, keepdim, dtype, site);
}
Tensor Tensor::prod(Site site) const { return tandem::prod(*this, site); }
Tensor Tensor::prod(int64_t dim, Flag keepdim, std::optional<DType> dtype, Site site) const {
  return tandem::prod(*this, dim, keepdim, dtype, site);
}
Tensor Tensor::logsumexp(const Shape& dims, Flag keepdim, Site site) const { return tandem::logsumexp(*this, dims, keepdim, site); }
Tensor Tensor::trace(Site site) const { return tandem::trace(*this, site); }
Tensor Tensor::all(Site site) const { return tandem::all(*this, site); }
Tensor Tensor::all(const Shape& dims, Flag keepdim, Site site) const { return tandem::all(*this, dims, keepdim, site); }
Tensor Tensor::any(Site site) const { return tandem::any(*this, site); }
Tensor Tensor::any(const Shape& dims, Flag keepdim, Site site) const { return tandem::any(*this, dims, keepdim, site); }
Tensor Tensor::count_nonzero(const Shape& dims, Site site) const { return tandem::count_nonzero(*this, dims, site); }
Tensor Tensor::var(const Shape& dims, double correction, Flag keepdim, Site site) const {
  return tandem::var(*this, dims, correction, keepdim, site);
}
Tensor Tensor::std(const Shape& dims, double correction, Flag keepdim, Site site) const {
  return tandem::std(*this, dims, correction, keepdim, site);
}

}  // namespace tandem
