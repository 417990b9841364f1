#include "ops/distance.h"

#include "base/error.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/linalg/norms.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace tandem {
namespace {

/// x over its norm along `dim`. A norm below eps is raised to it without a change of its gradient, as in PyTorch.
Tensor direction(const Tensor& x, int64_t dim, double eps, Site site) {
  const Tensor length = norm(x, 2, {dim}, true, {}, site), values = length.detach();
  return div(x, add(length, sub(maximum(values, eps, site), values, site), site), site);
}

}  // namespace

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps, Site site) {
  if (const ops::Cast cast("cosine_similarity", site, x1, x2); cast) return cosine_similarity(cast(x1), cast(x2), dim, eps, site);
  const DType dtype = promote_types(x1.dtype(), x2.dtype());
  if (!is_floating(dtype)) fail("[cosine_similarity] expected common dtype to be floating point, yet common dtype is ", dtype);
  const Shape sizes = broadcast_shapes(x1.sizes(), x2.sizes());
  const Tensor a = x1.to(dtype, {}, site).expand(sizes, site), b = x2.to(dtype, {}, site).expand(sizes, site);
  return mul(direction(a, dim, eps, site), direction(b, dim, eps, site), site).sum(dim, false, {}, site);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, Flag keepdim, Site site) {
  return norm(add(sub(x1, x2, site), eps, site), p, {-1}, keepdim, {}, site);
}

}  // namespace tandem
