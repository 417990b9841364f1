#include "ops/linalg/products.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/linalg/linalg.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

void check_vector(const char* op, const Tensor& x, const char* name) {
  if (x.dim() != 1) fail("[", op, "] ", op, ": Expected 1-D argument ", name, ", but got ", x.dim(), "-D");
}

/// The dimensions of x that `dims` does not name, in order.
Shape others(const Tensor& x, const Shape& dims) {
  Shape rest;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) rest.push_back(d);
  return rest;
}

Shape wrapped(const char* op, const Tensor& x, const Shape& dims) {
  Shape all;
  for (const int64_t dim : dims) {
    const int64_t at = wrap_dim(dim, x.dim());
    if (std::find(all.begin(), all.end(), at) != all.end())
      fail("[", op, "] dim ", at, " appears multiple times in the list of dims ", dims);
    all.push_back(at);
  }
  return all;
}

Shape joined(Shape a, const Shape& b) {
  for (const int64_t d : b) a.push_back(d);
  return a;
}

/// A factor as integer tensors take it.
Scalar cut_off(const Tensor& x, const Scalar& factor) { return is_floating(x.dtype()) ? factor : Scalar(factor.to<int64_t>()); }

int64_t count(const Tensor& x, const Shape& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= x.size(d);
  return n;
}

/// What the in-place forms do: the result must have the sizes of what it replaces.
const Tensor& take_over(const char* op, const Tensor& x, const Tensor& result, Site site) {
  if (!(x.sizes() == result.sizes()))
    fail("[", op, "] output with shape ", x.sizes(), " doesn't match the broadcast shape ", result.sizes());
  if (!can_cast(result.dtype(), x.dtype()))
    fail("[", op, "] result type ", scalar_name(result.dtype()), " can't be cast to the desired output type ", scalar_name(x.dtype()));
  return x.copy_(result, false, site);
}

}  // namespace

Tensor vdot(const Tensor& a, const Tensor& b, Site site) {
  if (const ops::Cast cast("vdot", site, a, b); cast) return vdot(cast(a), cast(b), site);
  return dot(a, b, site);
}

Tensor outer(const Tensor& a, const Tensor& b, Site site) {
  check_vector("outer", a, "self");
  check_vector("outer", b, "vec2");
  return mul(a.unsqueeze(1, site), b, site);
}

Tensor inner(const Tensor& a, const Tensor& b, Site site) {
  if (a.dim() == 0 || b.dim() == 0) return mul(a, b, site);
  if (a.size(-1) != b.size(-1))
    fail("[inner] inner() the last dimension must match on both input tensors but got shapes ", a.sizes(), " and ", b.sizes());
  return tensordot(a, b, {-1}, {-1}, site);
}

Tensor addmv(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha, Site site) {
  if (const ops::Cast cast("addmv", site, input, a, b); cast) return addmv(cast(input), cast(a), cast(b), beta, alpha, site);
  if (a.dim() != 2 || b.dim() != 1 || input.dim() > 1)
    fail("[addmv] vector + matrix @ vector expected, got ", input.dim(), ", ", a.dim(), ", ", b.dim());
  if (a.size(1) != b.size(0) || (input.numel() != 1 && input.numel() != a.size(0)))
    fail("[addmv] size mismatch, got input (", input.numel(), "), mat (", a.size(0), "x", a.size(1), "), vec (", b.size(0), ")");
  return addmm(input.dim() == 1 ? input.unsqueeze(1, site) : input, a, b.unsqueeze(1, site), cut_off(a, beta), cut_off(a, alpha), site)
      .squeeze(1, site);
}

Tensor addr(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha, Site site) {
  if (const ops::Cast cast("addr", site, input, a, b); cast) return addr(cast(input), cast(a), cast(b), beta, alpha, site);
  check_vector("addr", a, "vec1");
  check_vector("addr", b, "vec2");
  const Shape sizes{a.size(0), b.size(0)};
  if (!(broadcast_shapes(input.sizes(), sizes) == sizes))
    fail("[addr] size mismatch, input of sizes ", input.sizes(), " does not broadcast to ", sizes);
  const Tensor product = outer(a, b, site);
  if (product.dtype() == kBool && input.dtype() == kBool) {
    if (beta.is_floating() || alpha.is_floating()) ops::check_factors("addr", kBool, beta, alpha);
    const Tensor scaled = alpha.to<bool>() ? product : zeros_like(product, {}, site);
    return beta.to<bool>() ? logical_or(input.expand(sizes, site), scaled, site) : scaled;
  }
  ops::check_factors("addr", promote_types(input.dtype(), product.dtype()), beta, alpha);
  if (beta == Scalar(0)) return mul(product, alpha, site).to(promote_types(input.dtype(), product.dtype()), {}, site);
  if (is_half(input.dtype()) && input.dtype() == product.dtype() && a.dtype() == b.dtype())  // its gradients are products, rounded once
    return addmm(input, a.unsqueeze(1, site), b.unsqueeze(0, site), beta, alpha, site);
  return addcmul(beta == Scalar(1) ? input : mul(input, beta, site), a.unsqueeze(1, site), b, alpha, site);
}

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t dims, Site site) {
  if (const ops::Cast cast("tensordot", site, a, b); cast) return tensordot(cast(a), cast(b), dims, site);
  if (dims < 0) fail("[tensordot] tensordot expects dims >= 0, but got dims=", dims);
  if (dims > a.dim() || dims > b.dim())
    fail("[tensordot] tensordot expects dims < ndim_a or dims < ndim_b, but got dims=", dims, " for sizes ", a.sizes(), " and ", b.sizes());
  Shape last, first;
  for (int64_t i = 0; i < dims; ++i) {
    last.push_back(a.dim() - dims + i);
    first.push_back(i);
  }
  return tensordot(a, b, last, first, site);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& dims_a, const Shape& dims_b, Site site) {
  if (const ops::Cast cast("tensordot", site, a, b); cast) return tensordot(cast(a), cast(b), dims_a, dims_b, site);
  if (dims_a.size() != dims_b.size()) fail("[tensordot] both dimension lists should have same length, got ", dims_a, " and ", dims_b);
  const Shape in_a = wrapped("tensordot", a, dims_a), in_b = wrapped("tensordot", b, dims_b);
  Tensor x = a, y = b;
  for (size_t i = 0; i < in_a.size(); ++i) {
    const int64_t size_a = x.size(in_a[i]), size_b = y.size(in_b[i]);
    if (size_a == size_b) continue;
    if (size_b == 1) x = x.sum(Shape{in_a[i]}, true, x.dtype(), site);  // a sum of one dimension times what is the same for all of it
    else if (size_a == 1) y = y.sum(Shape{in_b[i]}, true, y.dtype(), site);
    else
      fail("[tensordot] contracted dimensions need to match, but first has size ", size_a, " in dim ", in_a[i], " and second has size ",
           size_b, " in dim ", in_b[i]);
  }
  const Shape rows = others(x, in_a), columns = others(y, in_b);
  Shape sizes;
  for (const int64_t d : rows) sizes.push_back(x.size(d));
  for (const int64_t d : columns) sizes.push_back(y.size(d));
  const int64_t inside = count(x, in_a);
  const Tensor left = x.permute(joined(rows, in_a), site).reshape({count(x, rows), inside}, site);
  const Tensor right = y.permute(joined(in_b, columns), site).reshape({inside, count(y, columns)}, site);
  if (left.size(0) == 1 && right.size(1) == 1) return dot(left.view({inside}, site), right.view({inside}, site), site).reshape(sizes, site);
  return mm(left, right, site).reshape(sizes, site);
}

Tensor kron(const Tensor& a, const Tensor& b, Site site) {
  // Each dimension of a before the same one of b; the product joins them.
  const auto ndim = static_cast<size_t>(std::max(a.dim(), b.dim()));
  Shape left, right, sizes;
  for (size_t i = 0; i < ndim; ++i) {
    const auto size = [&](const Tensor& x) {
      const auto missing = ndim - x.sizes().size();
      return i < missing ? 1 : x.sizes()[i - missing];
    };
    left.push_back(size(a));
    left.push_back(1);
    right.push_back(1);
    right.push_back(size(b));
    int64_t total;
    if (__builtin_mul_overflow(size(a), size(b), &total))
      fail("[kron] the result of sizes ", a.sizes(), " and ", b.sizes(), " is too large");
    sizes.push_back(total);
  }
  return mul(a.reshape(left, site), b.reshape(right, site), site).reshape(sizes, site);
}

Tensor cross(const Tensor& a, const Tensor& b, std::optional<int64_t> dim, Site site) {
  if (const ops::Cast cast("cross", site, a, b); cast) return cross(cast(a), cast(b), dim, site);
  if (dim) return linalg::cross(a, b, *dim, site);
  const Shape sizes = broadcast_shapes(a.sizes(), b.sizes());
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] == 3) return linalg::cross(a, b, static_cast<int64_t>(d) - static_cast<int64_t>(sizes.size()), site);
  fail("[cross] no dimension of size 3 in input: ", a.sizes(), " and ", b.sizes());
}

Tensor chain_matmul(const std::vector<Tensor>& matrices, Site site) {
  if (const ops::Cast cast("chain_matmul", site, matrices); cast) return chain_matmul(cast(matrices), site);
  for (const Tensor& x : matrices)
    if (x.dim() != 2) fail("[chain_matmul] Tensor dimension is ", x.dim(), ", expected 2 instead.");
  if (matrices.empty()) fail("[chain_matmul] chain_matmul(): Expected one or more matrices");
  return matrices.size() == 1 ? matrices[0] : linalg::multi_dot(matrices, site);
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias, Site site) {
  if (const ops::Cast cast("bilinear", site, input1, input2, weight, bias); cast)
    return bilinear(cast(input1), cast(input2), cast(weight), cast(bias), site);
  if (weight.dim() != 3) fail("[bilinear] weight must be (out, in1, in2), but has sizes ", weight.sizes());
  if (input1.dim() != input2.dim() || input1.dim() == 0)
    fail("[bilinear] bilinear(): input dimensions do not match: got ", input1.dim(), " and ", input2.dim());
  for (int64_t d = 0; d < input1.dim() - 1; ++d)
    if (input1.size(d) != input2.size(d))
      fail("[bilinear] bilinear(): input batch dimensions do not match at dim ", d, ": got ", input1.size(d), " and ", input2.size(d));
  const int64_t out = weight.size(0), in1 = weight.size(1), in2 = weight.size(2);
  if (input1.size(-1) != in1 || input2.size(-1) != in2)
    fail("[bilinear] bilinear(): the last sizes of the inputs, ", input1.size(-1), " and ", input2.size(-1),
         ", do not match weight of sizes ", weight.sizes());
  if (bias.defined() && !(bias.sizes() == Shape{out}))
    fail("[bilinear] bilinear(): bias size does not match weight size: got ", bias.sizes(), " but expected [", out, "]");
  Shape sizes = input1.sizes();
  sizes[sizes.size() - 1] = out;
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  const Tensor half = mm(input1.reshape({rows, in1}, site), weight.permute({1, 0, 2}, site).reshape({in1, out * in2}, site), site);
  const Tensor whole = bmm(half.reshape({rows, out, in2}, site), input2.reshape({rows, in2, 1}, site), site).reshape(sizes, site);
  return bias.defined() ? add(whole, bias, site) : whole;
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::string_view compute_mode, Site site) {
  if (const ops::Cast cast("cdist", site, x1, x2); cast) return cdist(cast(x1), cast(x2), p, compute_mode, site);
  if (!is_floating(x1.dtype()) || !is_floating(x2.dtype()))
    fail("[cdist] cdist only supports floating-point dtypes, got ", x1.dtype(), " and ", x2.dtype());
  if (x1.dim() < 2 || x2.dim() < 2) fail("[cdist] cdist only supports at least 2D tensors, got: ", x1.dim(), "D and ", x2.dim(), "D");
  if (x1.size(-1) != x2.size(-1)) fail("[cdist] X1 and X2 must have the same number of columns. X1: ", x1.size(-1), " X2: ", x2.size(-1));
  if (!(p >= 0)) fail("[cdist] cdist only supports non-negative p values");
  const bool always = compute_mode == "use_mm_for_euclid_dist";
  if (!always && compute_mode != "use_mm_for_euclid_dist_if_necessary" && compute_mode != "donot_use_mm_for_euclid_dist")
    fail("[cdist] possible modes: use_mm_for_euclid_dist, use_mm_for_euclid_dist_if_necessary, donot_use_mm_for_euclid_dist, but was: ",
         compute_mode);
  const bool large = x1.size(-2) > 25 || x2.size(-2) > 25;
  if (p == 2 && x1.size(-1) > 0 && (always || (large && compute_mode == "use_mm_for_euclid_dist_if_necessary"))) {
    // |a - b|² = |a|² + |b|² - 2ab; sums may come out a little below zero, and at zero the root has no slope to hand on.
    const Tensor a = x1.mul(x1, site).sum(-1, true, {}, site), b = x2.mul(x2, site).sum(-1, true, {}, site).mT(site);
    const Tensor square = add(add(mul(matmul(x1, x2.mT(site), site), -2, site), a, site), b, site);
    const Tensor positive = gt(square, 0, site);
    return where(positive, sqrt(where(positive, square, 1, site), site), 0, site);
  }
  const Tensor apart = sub(x1.unsqueeze(-2, site), x2.unsqueeze(-3, site), site);
  if (x1.size(-1) == 0) return apart.sum(-1, false, {}, site);
  if (p == 0) return ne(apart, 0, site).to(apart.dtype(), {}, site).sum(-1, false, {}, site);
  return apart.norm(p, Shape{-1}, false, {}, site);
}

Tensor Tensor::vdot(const Tensor& other, Site site) const { return tandem::vdot(*this, other, site); }
Tensor Tensor::inner(const Tensor& other, Site site) const { return tandem::inner(*this, other, site); }
Tensor Tensor::outer(const Tensor& other, Site site) const { return tandem::outer(*this, other, site); }
Tensor Tensor::kron(const Tensor& other, Site site) const { return tandem::kron(*this, other, site); }
Tensor Tensor::cross(const Tensor& other, std::optional<int64_t> dim, Site site) const { return tandem::cross(*this, other, dim, site); }

// A sum with a product, and the same in place.
#define TD_SUM(name)                                                                                                          \
  Tensor Tensor::name(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha, Site site) const {           \
    return tandem::name(*this, a, b, beta, alpha, site);                                                                      \
  }                                                                                                                           \
  const Tensor& Tensor::name##_(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha, Site site) const { \
    return take_over(#name "_", *this, name(a, b, beta, alpha, site), site);                                                  \
  }
TD_SUM(addmm)
TD_SUM(addmv)
TD_SUM(addr)
TD_SUM(addbmm)
TD_SUM(baddbmm)
#undef TD_SUM

}  // namespace tandem
