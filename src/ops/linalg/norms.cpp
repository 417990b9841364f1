#include "ops/linalg/norms.h"

#include <cmath>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/linalg/linalg.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/reduction.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

using kernels::Reduce;
using ops::spread;

/// The gradient of a p-norm: g * sign(x) * (|x| / y)^(p - 1), 0 where x or y is 0.
Tensor norm_backward(const Tensor& g, const Tensor& x, const Tensor& y, double p, uint32_t mask, bool keepdim) {
  const auto wide = [&](const Tensor& t) { return spread(t, x.sizes(), mask, keepdim); };
  if (p == 1) return wide(g) * sign(x);
  if (p == 2 && is_half(x.dtype())) return wide(g) * where(wide(y) == 0, 0.0, x / wide(y));  // rounded as PyTorch's
  if (p == 2) return x * wide(where(y == 0, 0.0, g / where(y == 0, 1.0, y)));
  if (std::isinf(p)) return ops::spread_to_equal(g, abs(x), y, mask, keepdim) * sign(x);
  if (p < 1) return where(x == 0, 0.0, sign(x) * pow(where(x == 0, 1.0, abs(x)), p - 1)) * wide(g) * wide(pow(y, 1 - p));
  const Tensor size = where(x == 0, 1.0, abs(x)), scale = where(y == 0, 0.0, g * pow(where(y == 0, 1.0, y), 1 - p));
  return where(x == 0, 0.0, sign(x) * pow(size, p - 1)) * wide(scale);
}

Tensor norm_over(const Tensor& given, double p, uint32_t mask, bool keepdim, std::optional<DType> dtype, Site site) {
  const Tensor x = dtype ? given.to(*dtype, {}, site) : given;
  if (!is_floating(x.dtype()))
    fail<NotImplementedError>("[norm] linalg.vector_norm: Expected a floating point or complex tensor as input. Got ",
                              scalar_name(x.dtype()));
  if ((p < 0 || p == INFINITY) && ops::reduced_count(x, mask) == 0)
    fail("[norm] linalg.vector_norm cannot compute the ", p, " norm on an empty tensor because the operation does not have an identity");
  if (p == 0) return ops::reduce("norm", Reduce::CountNonzero, x, mask, keepdim, kInt64, site).to(x.dtype(), {}, site);
  Tensor y;
  if (p == 1 || p == 2 || p == INFINITY) {
    y = ops::reduce("norm", p == 1 ? Reduce::Norm1 : p == 2 ? Reduce::Norm2 : Reduce::NormInf, x, mask, keepdim, x.dtype(), site);
  } else {
    const NoGradGuard no_grad;
    const Tensor size = abs(x, site);
    if (p == -INFINITY) {
      y = ops::reduce("norm", Reduce::Min, size, mask, keepdim, x.dtype(), site);
    } else {
      const Tensor total = ops::reduce("norm", Reduce::Sum, pow(size, p, site), mask, keepdim, x.dtype(), site);
      y = pow(total, 1 / p, site);
    }
  }
  if (!autograd::needs_grad(x)) return y;
  return autograd::record("LinalgVectorNormBackward0", y, {x}, site,
                          [x = autograd::saved(x), y = autograd::saved_output(y), mask, keepdim, p](const Tensor& g, autograd::Wanted,
                                                                                                    const autograd::Node* node) {
                            return norm_backward(g, x.get(), y.get(node), p, mask, keepdim);
                          });
}

/// The two dimensions of a matrix norm.
std::pair<int64_t, int64_t> matrix_dims(const Tensor& x, const Shape& dims) {
  if (x.dim() < 2)
    fail("[matrix_norm] linalg.matrix_norm: The input tensor A must have at least 2 dimensions, but has the sizes ", x.sizes());
  if (dims.size() != 2) fail("[matrix_norm] linalg.matrix_norm: dim must be a 2-tuple. Got ", dims);
  const int64_t row = wrap_dim(dims[0], x.dim()), column = wrap_dim(dims[1], x.dim());
  if (row == column) fail("[matrix_norm] linalg.matrix_norm: dims must be different. Got ", dims);
  return {row, column};
}

/// The singular values of the matrices in two dimensions, along a last dimension.
Tensor singular_values(const Tensor& x, int64_t row, int64_t column, Site site) {
  Shape order;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (d != row && d != column) order.push_back(d);
  order.push_back(row);
  order.push_back(column);
  return linalg::svdvals(x.permute(order, site), site);
}

/// A number for each matrix, with its two dimensions at size 1 where they are to be kept.
Tensor with_dims(const Tensor& y, int64_t row, int64_t column, bool keepdim, Site site) {
  return keepdim ? y.unsqueeze(std::min(row, column), site).unsqueeze(std::max(row, column), site) : y;
}

}  // namespace

Tensor norm(const Tensor& x, double p, Site site) {
  if (const ops::Cast cast("norm", site, x); cast) return norm(cast(x), p, site);
  return norm_over(x, p, ops::all_dims(x), false, {}, site);
}
Tensor norm(const Tensor& x, double p, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("norm", site, x); cast) return norm(dtype ? x : cast(x), p, dims, keepdim, dtype, site);
  return norm_over(x, p, ops::dims_mask("norm", x, dims), keepdim, dtype, site);
}
Tensor norm(const Tensor& x, std::string_view p, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("norm", site, x); cast) return norm(dtype ? x : cast(x), p, dims, keepdim, dtype, site);
  if (p == "fro") return norm_over(x, 2, ops::dims_mask("norm", x, dims), keepdim, dtype, site);
  return linalg::matrix_norm(x, p, dims.empty() && x.dim() == 2 ? Shape{0, 1} : dims, keepdim, dtype, site);
}
Tensor dist(const Tensor& a, const Tensor& b, double p, Site site) {
  if (const ops::Cast cast("dist", site, a, b); cast) return dist(cast(a), cast(b), p, site);
  return norm(sub(a, b, site), p, site);
}

namespace linalg {

Tensor vector_norm(const Tensor& x, double ord, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("norm", site, x); cast) return vector_norm(dtype ? x : cast(x), ord, dims, keepdim, dtype, site);
  return tandem::norm(x, ord, dims, keepdim, dtype, site);
}

Tensor matrix_norm(const Tensor& x, std::string_view ord, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("matrix_norm", site, x); cast) return matrix_norm(dtype ? x : cast(x), ord, dims, keepdim, dtype, site);
  const auto [row, column] = matrix_dims(x, dims);
  if (ord == "fro") return vector_norm(x, 2, {row, column}, keepdim, dtype, site);
  if (ord == "nuc") {
    const Tensor values = singular_values(dtype ? x.to(*dtype, {}, site) : x, row, column, site);
    return with_dims(sum(values, {-1}, false, {}, site), row, column, keepdim, site);
  }
  fail("[matrix_norm] linalg.matrix_norm: Order ", ord, " not supported.");
}

Tensor matrix_norm(const Tensor& given, double ord, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (const ops::Cast cast("matrix_norm", site, given); cast)
    return matrix_norm(dtype ? given : cast(given), ord, dims, keepdim, dtype, site);
  const auto [row, column] = matrix_dims(given, dims);
  const Tensor x = dtype ? given.to(*dtype, {}, site) : given;
  const double size = std::abs(ord);
  if (size == 2) {
    const Tensor values = singular_values(x, row, column, site);
    return with_dims(ord > 0 ? amax(values, {-1}, false, site) : amin(values, {-1}, false, site), row, column, keepdim, site);
  }
  if (size != 1 && size != INFINITY) fail("[matrix_norm] linalg.matrix_norm: Order ", ord, " not supported.");
  const Tensor sums = vector_norm(x, 1, {size == 1 ? row : column}, true, {}, site);
  const Shape rest{size == 1 ? column : row};
  const Tensor y = ord > 0 ? amax(sums, rest, true, site) : amin(sums, rest, true, site);
  if (keepdim) return y;
  return y.squeeze(std::max(row, column), site).squeeze(std::min(row, column), site);
}

Tensor norm(const Tensor& x, std::optional<double> ord, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (!dims.empty() && dims.size() > 2) fail("[norm] linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", dims);
  if (!ord) return vector_norm(x, 2, dims, keepdim, dtype, site);
  if (dims.empty() && x.dim() != 1 && x.dim() != 2)
    fail("[norm] linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", x.dim(), "D.");
  const bool matrix = dims.empty() ? x.dim() == 2 : dims.size() == 2;
  if (matrix) return matrix_norm(x, *ord, dims.empty() ? Shape{0, 1} : dims, keepdim, dtype, site);
  return vector_norm(x, *ord, dims, keepdim, dtype, site);
}

Tensor norm(const Tensor& x, std::string_view ord, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) {
  if (dims.empty() && x.dim() != 2)
    fail("[norm] linalg.norm: the norm ", ord, " without dim is one of a matrix, but the input has ", x.dim(), " dimensions");
  return matrix_norm(x, ord, dims.empty() ? Shape{0, 1} : dims, keepdim, dtype, site);
}

}  // namespace linalg

Tensor Tensor::norm(double p, Site site) const { return tandem::norm(*this, p, site); }
Tensor Tensor::norm(double p, const Shape& dims, Flag keepdim, std::optional<DType> dtype, Site site) const {
  return tandem::norm(*this, p, dims, keepdim, dtype, site);
}
Tensor Tensor::dist(const Tensor& other, double p, Site site) const { return tandem::dist(*this, other, p, site); }

}  // namespace tandem
