#include "ops/reduce.h"

#include <array>
#include <cmath>
#include <limits>

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;
using kernels::Reduce;

/// Dimensions to reduce, as a mask; none given means all.
uint32_t dims_mask(const char* op, const Tensor& x, const Shape& dims) {
  if (dims.empty()) return (1U << x.dim()) - 1;
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

/// x as a kernel wants it: kept dimensions first, then those to reduce. Gives how many the latter are.
kernels::View arranged(const Tensor& x, uint32_t mask, int32_t& reduced) {
  const kernels::View in = ops::view(x);
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

/// A fresh result's view without the dimensions that `keepdim` left at size 1.
kernels::Out kept(const Tensor& y, const Tensor& x, uint32_t mask) {
  kernels::Out out = ops::out(y);
  const Shape sizes = reduced_sizes(x, mask, false), strides = contiguous_strides(sizes);
  out.ndim = static_cast<int32_t>(sizes.size());
  for (int d = 0; d < out.ndim; ++d) {
    out.sizes[d] = sizes[static_cast<size_t>(d)];
    out.strides[d] = strides[static_cast<size_t>(d)];
  }
  return out;
}

Tensor reduce(const char* op, Reduce kind, const Tensor& x, uint32_t mask, bool keepdim, DType dtype, Site site) {
  Tensor y = empty(reduced_sizes(x, mask, keepdim), {.dtype = dtype, .device = x.device()}, site);
  if (y.numel() == 0) return y;
  int32_t reduced;
  const kernels::View in = arranged(x, mask, reduced);
  ops::kernels_of(x).reduce(ops::launch(x, op, site), kind, kept(y, x, mask), in, reduced);
  return y;
}

/// A reduced tensor spread over the sizes it came from.
Tensor spread(const Tensor& g, const Shape& sizes, uint32_t mask, bool keepdim) {
  if (keepdim || mask == 0) return g.expand(sizes);
  if (g.dim() == 0) return g.expand(sizes);
  Shape raised = sizes;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (mask >> d & 1) raised[d] = 1;
  return g.view(raised).expand(sizes);
}

int64_t reduced_count(const Tensor& x, uint32_t mask) {
  int64_t count = 1;
  for (size_t d = 0; d < x.sizes().size(); ++d)
    if (mask >> d & 1) count *= x.sizes()[d];
  return count;
}

Tensor sum_over(const Tensor& x, uint32_t mask, bool keepdim, bool all, Site site) {
  Tensor y = reduce("sum", Reduce::Sum, x, mask, keepdim, is_floating(x.dtype()) ? x.dtype() : kInt64, site);
  if (!needs_grad(x)) return y;
  return record(all ? "SumBackward0" : "SumBackward1", y, {x}, site,
                [sizes = x.sizes(), mask, keepdim](const Tensor& g) { return spread(g, sizes, mask, keepdim); });
}

Tensor mean_over(const Tensor& x, uint32_t mask, bool keepdim, bool all, Site site) {
  if (!is_floating(x.dtype()))
    fail("[mean] mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: ",
         scalar_name(x.dtype()));
  Tensor y = reduce("mean", Reduce::Mean, x, mask, keepdim, x.dtype(), site);
  if (!needs_grad(x)) return y;
  return record(all ? "MeanBackward0" : "MeanBackward1", y, {x}, site,
                [sizes = x.sizes(), mask, keepdim, count = static_cast<double>(reduced_count(x, mask))](const Tensor& g) {
                  return spread(g / count, sizes, mask, keepdim);
                });
}

void check_not_empty(const char* op, const Tensor& x, uint32_t mask) {
  if (x.numel() > 0) return;
  if (mask + 1 == 1U << x.dim())
    fail("[", op, "] ", op,
         "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  for (size_t d = 0; d < x.sizes().size(); ++d)
    if ((mask >> d & 1) && x.sizes()[d] == 0)
      fail<IndexError>("[", op, "] ", op, "(): Expected reduction dim ", d, " to have non-zero size.");
}

/// The largest or smallest over dimensions; gradients go in equal parts to all that tie.
Tensor extreme(const char* op, const char* grad_fn, Reduce kind, const Tensor& x, uint32_t mask, bool keepdim, Site site) {
  check_not_empty(op, x, mask);
  Tensor y = reduce(op, kind, x, mask, keepdim, x.dtype(), site);
  if (!needs_grad(x)) return y;
  return record(grad_fn, y, {x}, site,
                [x = autograd::saved(x), y = autograd::saved_output(y), mask, keepdim](const Tensor& g, autograd::Wanted,
                                                                                       const autograd::Node* node) {
                  const Tensor in = x.get();
                  const Tensor hit = (in == spread(y.get(node), in.sizes(), mask, keepdim)).to(g.dtype());
                  const Tensor count = reduce("sum", Reduce::Sum, hit, mask, true, g.dtype(), Site::here());
                  return spread(g, in.sizes(), mask, keepdim) * (hit / count);
                });
}

ValuesIndices extreme_along(const char* op, const char* grad_fn, bool largest, const Tensor& x, int64_t dim, bool keepdim, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  const uint32_t mask = x.dim() ? 1U << at : 0;
  if (x.dim() && x.size(at) == 0) fail<IndexError>("[", op, "] ", op, "(): Expected reduction dim ", at, " to have non-zero size.");
  const Shape sizes = reduced_sizes(x, mask, keepdim);
  ValuesIndices y{empty(sizes, {.dtype = x.dtype(), .device = x.device()}, site),
                  empty(sizes, {.dtype = kInt64, .device = x.device()}, site)};
  if (y.values.numel()) {
    int32_t reduced;
    const kernels::View in = arranged(x, mask, reduced);
    ops::kernels_of(x).arg_reduce(ops::launch(x, op, site), largest, kept(y.values, x, mask), kept(y.indices, x, mask), in, reduced);
  }
  if (needs_grad(x)) {
    y.values =
        record(grad_fn, y.values, {x}, site, [sizes = x.sizes(), at, keepdim, indices = autograd::saved(y.indices)](const Tensor& g) {
          if (sizes.empty()) return g;
          const Tensor index = keepdim ? indices.get() : indices.get().unsqueeze(at);
          return scatter_add(zeros(sizes, {.dtype = g.dtype(), .device = g.device()}), at, index, keepdim ? g : g.unsqueeze(at));
        });
  }
  return y;
}

Tensor arg_extreme(const char* op, bool largest, const Tensor& x, std::optional<int64_t> dim, bool keepdim, Site site) {
  const uint32_t mask = !dim ? (1U << x.dim()) - 1 : x.dim() ? 1U << wrap_dim(*dim, x.dim()) : (static_cast<void>(wrap_dim(*dim, 0)), 0U);
  check_not_empty(op, x, mask);
  Tensor y = empty(reduced_sizes(x, mask, keepdim), {.dtype = kInt64, .device = x.device()}, site);
  if (y.numel() == 0) return y;
  int32_t reduced;
  const kernels::View in = arranged(x, mask, reduced);
  ops::kernels_of(x).arg_reduce(ops::launch(x, op, site), largest, kernels::Out{}, kept(y, x, mask), in, reduced);
  return y;
}

Tensor truth(const char* op, Reduce kind, const Tensor& x, uint32_t mask, bool keepdim, Site site) {
  return reduce(op, kind, x, mask, keepdim, kBool, site);
}

/// Variance, or its square root, over dimensions.
Tensor spread_of(const Tensor& x, uint32_t mask, double correction, bool keepdim, bool root, Site site) {
  const char* op = root ? "std" : "var";
  if (!is_floating(x.dtype())) fail("[", op, "] ", op, "(): only support floating point dtypes, not ", scalar_name(x.dtype()));
  Tensor y = empty(reduced_sizes(x, mask, keepdim), {.dtype = x.dtype(), .device = x.device()}, site);
  if (y.numel()) {
    int32_t reduced;
    const kernels::View in = arranged(x, mask, reduced);
    ops::kernels_of(x).variance(ops::launch(x, op, site), kept(y, x, mask), kernels::Out{}, in, reduced, correction);
  }
  if (root) {
    const autograd::detail::NoRecord quiet;
    sqrt_(y, site);
  }
  if (!needs_grad(x)) return y;
  const double divisor = std::max(0.0, static_cast<double>(reduced_count(x, mask)) - correction);
  return record(root ? "StdBackward0" : "VarBackward0", y, {x}, site,
                [x = autograd::saved(x), y = autograd::saved_output(y), mask, keepdim, divisor, root](const Tensor& g, autograd::Wanted,
                                                                                                      const autograd::Node* node) {
                  const Tensor in = x.get();
                  const Tensor centred = in - mean_over(in, mask, true, false, Site::here());
                  if (!root) return spread(g, in.sizes(), mask, keepdim) * centred * (2 / divisor);
                  const Tensor std = y.get(node);
                  const Tensor scale = where(std == 0, 0.0, g / (std * divisor));
                  return spread(scale, in.sizes(), mask, keepdim) * centred;
                });
}

Tensor norm_over(const Tensor& x, double p, uint32_t mask, bool keepdim, Site site) {
  if (!is_floating(x.dtype()))
    fail("[norm] linalg.vector_norm: Expected a floating point or complex tensor as input. Got ", scalar_name(x.dtype()));
  if (p == 0) return sum_over(ne(x, 0, site).to(x.dtype(), {}, site), mask, keepdim, false, site);
  if (p == -INFINITY) return extreme("norm", "AminBackward0", Reduce::Min, abs(x, site), mask, keepdim, site);
  if (p != 1 && p != 2 && p != INFINITY) return pow(sum_over(pow(abs(x, site), p, site), mask, keepdim, false, site), 1 / p, site);
  Tensor y = reduce("norm", p == 1 ? Reduce::Norm1 : p == 2 ? Reduce::Norm2 : Reduce::NormInf, x, mask, keepdim, x.dtype(), site);
  if (!needs_grad(x)) return y;
  return record("LinalgVectorNormBackward0", y, {x}, site,
                [x = autograd::saved(x), y = autograd::saved_output(y), mask, keepdim, p](const Tensor& g, autograd::Wanted,
                                                                                          const autograd::Node* node) {
                  const Tensor in = x.get();
                  if (p == 1) return spread(g, in.sizes(), mask, keepdim) * sign(in);
                  const Tensor norm = y.get(node);
                  if (p == 2) return in * spread(where(norm == 0, 0.0, g / norm), in.sizes(), mask, keepdim);
                  const Tensor hit = (abs(in) == spread(norm, in.sizes(), mask, keepdim)).to(g.dtype());
                  const Tensor count = reduce("sum", Reduce::Sum, hit, mask, true, g.dtype(), Site::here());
                  return spread(g, in.sizes(), mask, keepdim) * sign(in) * (hit / count);
                });
}

/// Running sums or products along a dimension.
Tensor scan(const char* op, kernels::Scan kind, const Tensor& x, int64_t at, Site site) {
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : kInt64;
  Tensor y = empty(x.sizes(), {.dtype = dtype, .device = x.device()}, site);
  if (y.numel() == 0) return y;
  const autograd::detail::NoRecord quiet;
  const Tensor from = (x.dtype() == dtype ? x : x.to(dtype, {}, site));
  ops::kernels_of(x).scan(ops::launch(x, op, site), kind, ops::out(x.dim() ? y.transpose(at, -1) : y),
                          ops::view(x.dim() ? from.transpose(at, -1) : from));
  return y;
}

Tensor prod_along(const Tensor& x, int64_t at, bool keepdim, Site site) {
  Tensor y = reduce("prod", Reduce::Prod, x, x.dim() ? 1U << at : 0, keepdim, is_floating(x.dtype()) ? x.dtype() : kInt64, site);
  if (!needs_grad(x)) return y;
  // The product of all others, without dividing (an element may be zero): those before times those after.
  return record("ProdBackward1", y, {x}, site, [x = autograd::saved(x), at, keepdim](const Tensor& g) {
    const Tensor in = x.get();
    if (in.dim() == 0) return g;
    const auto before = [at](const Tensor& t) {
      const Tensor one = ones_like(t.slice(at, 0, 1));
      return scan("prod", kernels::Scan::Prod, cat({one, t.slice(at, 0, t.size(at) - 1)}, at), at, Site::here());
    };
    const NoGradGuard no_grad;
    const Tensor others = before(in) * before(in.flip({at})).flip({at});
    return (keepdim ? g : g.unsqueeze(at)) * others;
  });
}

}  // namespace

Tensor sum(const Tensor& x, Site site) { return sum_over(x, (1U << x.dim()) - 1, false, true, site); }
Tensor sum(const Tensor& x, const Shape& dims, bool keepdim, Site site) {
  return sum_over(x, dims_mask("sum", x, dims), keepdim, false, site);
}
Tensor mean(const Tensor& x, Site site) { return mean_over(x, (1U << x.dim()) - 1, false, true, site); }
Tensor mean(const Tensor& x, const Shape& dims, bool keepdim, Site site) {
  return mean_over(x, dims_mask("mean", x, dims), keepdim, false, site);
}
Tensor prod(const Tensor& x, Site site) { return prod_along(x.reshape({-1}, site), 0, false, site); }
Tensor max(const Tensor& x, Site site) { return extreme("max", "MaxBackward1", Reduce::Max, x, (1U << x.dim()) - 1, false, site); }
Tensor min(const Tensor& x, Site site) { return extreme("min", "MinBackward1", Reduce::Min, x, (1U << x.dim()) - 1, false, site); }
ValuesIndices max(const Tensor& x, int64_t dim, bool keepdim, Site site) {
  return extreme_along("max", "MaxBackward0", true, x, dim, keepdim, site);
}
ValuesIndices min(const Tensor& x, int64_t dim, bool keepdim, Site site) {
  return extreme_along("min", "MinBackward0", false, x, dim, keepdim, site);
}
Tensor amax(const Tensor& x, const Shape& dims, bool keepdim, Site site) {
  return extreme("amax", "AmaxBackward0", Reduce::Max, x, dims_mask("amax", x, dims), keepdim, site);
}
Tensor amin(const Tensor& x, const Shape& dims, bool keepdim, Site site) {
  return extreme("amin", "AminBackward0", Reduce::Min, x, dims_mask("amin", x, dims), keepdim, site);
}
Tensor argmax(const Tensor& x, std::optional<int64_t> dim, bool keepdim, Site site) {
  return arg_extreme("argmax", true, x, dim, keepdim, site);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> dim, bool keepdim, Site site) {
  return arg_extreme("argmin", false, x, dim, keepdim, site);
}
Tensor all(const Tensor& x, Site site) { return truth("all", Reduce::All, x, (1U << x.dim()) - 1, false, site); }
Tensor any(const Tensor& x, Site site) { return truth("any", Reduce::Any, x, (1U << x.dim()) - 1, false, site); }
Tensor var(const Tensor& x, const Shape& dims, double correction, bool keepdim, Site site) {
  return spread_of(x, dims_mask("var", x, dims), correction, keepdim, false, site);
}
Tensor std(const Tensor& x, const Shape& dims, double correction, bool keepdim, Site site) {
  return spread_of(x, dims_mask("std", x, dims), correction, keepdim, true, site);
}
Tensor norm(const Tensor& x, double p, Site site) { return norm_over(x, p, (1U << x.dim()) - 1, false, site); }
Tensor norm(const Tensor& x, double p, const Shape& dims, bool keepdim, Site site) {
  return norm_over(x, p, dims_mask("norm", x, dims), keepdim, site);
}

Tensor cumsum(const Tensor& x, int64_t dim, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  Tensor y = scan("cumsum", kernels::Scan::Sum, x, at, site);
  if (!needs_grad(x)) return y;
  return record("CumsumBackward0", y, {x}, site, [at](const Tensor& g) { return g.dim() ? g.flip({at}).cumsum(at).flip({at}) : g; });
}

ValuesIndices sort(const Tensor& x, int64_t dim, bool descending, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  ValuesIndices y{empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site),
                  empty(x.sizes(), {.dtype = kInt64, .device = x.device()}, site)};
  if (x.numel()) {
    const autograd::detail::NoRecord quiet;
    const auto last = [at](const Tensor& t) { return t.dim() ? t.transpose(at, -1) : t.view({1}); };
    const kernels::View in = ops::view(last(x));
    const Tensor scratch = ops::workspace(x, ops::kernels_of(x).sort_workspace(in), site);
    ops::kernels_of(x).sort(ops::launch(x, "sort", site), ops::out(last(y.values)), ops::out(last(y.indices)), in, descending,
                            ops::address(scratch));
  }
  if (needs_grad(x)) {
    y.values = record("SortBackward0", y.values, {x}, site, [at, sizes = x.sizes(), indices = autograd::saved(y.indices)](const Tensor& g) {
      return sizes.empty() ? g : scatter_add(zeros(sizes, {.dtype = g.dtype(), .device = g.device()}), at, indices.get(), g);
    });
  }
  return y;
}

Tensor argsort(const Tensor& x, int64_t dim, bool descending, Site site) { return sort(x.detach(), dim, descending, site).indices; }

ValuesIndices topk(const Tensor& x, int64_t k, int64_t dim, bool largest, bool, Site site) {
  const int64_t at = wrap_dim(dim, x.dim()), size = x.dim() ? x.size(at) : 1;
  if (k < 0 || k > size) fail("[topk] selected index k out of range: k is ", k, ", but dimension ", at, " has size ", size);
  const ValuesIndices sorted = sort(x, at, largest, site);
  if (x.dim() == 0) return sorted;
  return {sorted.values.slice(at, 0, k, 1, site), sorted.indices.slice(at, 0, k, 1, site).contiguous(site)};
}

bool equal(const Tensor& a, const Tensor& b, Site site) {
  if (!(a.sizes() == b.sizes())) return false;
  if (a.device() != b.device())
    fail("Expected all tensors to be on the same device, but found at least two devices, ", a.is_cpu() ? b.device() : a.device(), " and ",
         a.is_cpu() ? a.device() : b.device(), "!");
  const NoGradGuard no_grad;
  return all(eq(a, b, site), site).item<bool>(site);
}

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan, Site site) {
  const NoGradGuard no_grad;
  const DType dtype = promote_types(a.dtype(), b.dtype());
  const Tensor x = a.to(dtype, {}, site), y = b.to(dtype, {}, site);
  Tensor near = eq(x, y, site);
  if (equal_nan && is_floating(dtype)) near = logical_or(near, logical_and(ne(x, x, site), ne(y, y, site), site), site);
  const Tensor difference = abs(sub(x, y, site), site), allowed = add(mul(abs(y, site), rtol, site), atol, site);
  const Tensor finite = lt(difference, std::numeric_limits<double>::infinity(), site);
  near = logical_or(near, logical_and(finite, le(difference, allowed, site), site), site);
  return all(near, site).item<bool>(site);
}

// --- The same as methods
Tensor Tensor::sum(Site site) const { return tandem::sum(*this, site); }
Tensor Tensor::sum(const Shape& dims, bool keepdim, Site site) const { return tandem::sum(*this, dims, keepdim, site); }
Tensor Tensor::sum(int64_t dim, bool keepdim, Site site) const { return tandem::sum(*this, Shape{dim}, keepdim, site); }
Tensor Tensor::mean(Site site) const { return tandem::mean(*this, site); }
Tensor Tensor::mean(const Shape& dims, bool keepdim, Site site) const { return tandem::mean(*this, dims, keepdim, site); }
Tensor Tensor::mean(int64_t dim, bool keepdim, Site site) const { return tandem::mean(*this, Shape{dim}, keepdim, site); }
Tensor Tensor::prod(Site site) const { return tandem::prod(*this, site); }
Tensor Tensor::prod(int64_t dim, bool keepdim, Site site) const { return prod_along(*this, wrap_dim(dim, this->dim()), keepdim, site); }
Tensor Tensor::max(Site site) const { return tandem::max(*this, site); }
ValuesIndices Tensor::max(int64_t dim, bool keepdim, Site site) const { return tandem::max(*this, dim, keepdim, site); }
Tensor Tensor::min(Site site) const { return tandem::min(*this, site); }
ValuesIndices Tensor::min(int64_t dim, bool keepdim, Site site) const { return tandem::min(*this, dim, keepdim, site); }
Tensor Tensor::amax(const Shape& dims, bool keepdim, Site site) const { return tandem::amax(*this, dims, keepdim, site); }
Tensor Tensor::amin(const Shape& dims, bool keepdim, Site site) const { return tandem::amin(*this, dims, keepdim, site); }
Tensor Tensor::argmax(std::optional<int64_t> dim, bool keepdim, Site site) const { return tandem::argmax(*this, dim, keepdim, site); }
Tensor Tensor::argmin(std::optional<int64_t> dim, bool keepdim, Site site) const { return tandem::argmin(*this, dim, keepdim, site); }
Tensor Tensor::all(Site site) const { return tandem::all(*this, site); }
Tensor Tensor::all(int64_t dim, bool keepdim, Site site) const {
  return truth("all", Reduce::All, *this, dims_mask("all", *this, {dim}), keepdim, site);
}
Tensor Tensor::any(Site site) const { return tandem::any(*this, site); }
Tensor Tensor::any(int64_t dim, bool keepdim, Site site) const {
  return truth("any", Reduce::Any, *this, dims_mask("any", *this, {dim}), keepdim, site);
}
Tensor Tensor::var(bool unbiased, Site site) const { return tandem::var(*this, {}, unbiased ? 1 : 0, false, site); }
Tensor Tensor::var(const Shape& dims, double correction, bool keepdim, Site site) const {
  return tandem::var(*this, dims, correction, keepdim, site);
}
Tensor Tensor::std(bool unbiased, Site site) const { return tandem::std(*this, {}, unbiased ? 1 : 0, false, site); }
Tensor Tensor::std(const Shape& dims, double correction, bool keepdim, Site site) const {
  return tandem::std(*this, dims, correction, keepdim, site);
}
Tensor Tensor::norm(double p, Site site) const { return tandem::norm(*this, p, site); }
Tensor Tensor::norm(double p, const Shape& dims, bool keepdim, Site site) const { return tandem::norm(*this, p, dims, keepdim, site); }
Tensor Tensor::cumsum(int64_t dim, Site site) const { return tandem::cumsum(*this, dim, site); }
ValuesIndices Tensor::sort(int64_t dim, bool descending, Site site) const { return tandem::sort(*this, dim, descending, site); }
Tensor Tensor::argsort(int64_t dim, bool descending, Site site) const { return tandem::argsort(*this, dim, descending, site); }
ValuesIndices Tensor::topk(int64_t k, int64_t dim, bool largest, bool sorted, Site site) const {
  return tandem::topk(*this, k, dim, largest, sorted, site);
}

}  // namespace tandem
