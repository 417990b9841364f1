#include "ops/attention_weights.h"

#include <limits>

#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/softmax.h"
#include "ops/view.h"

namespace tandem::ops {
namespace {

/// Softmax along the last dimension; zeros where all is -inf.
Tensor masked_softmax(const Tensor& scores, Site site) {
  const Tensor hidden = (scores.detach().amax({-1}, true, site) == -std::numeric_limits<double>::infinity());
  return where(hidden, 0.0, softmax(where(hidden, 0.0, scores, site), -1, site), site);
}

}  // namespace

Tensor as_scores(const Tensor& mask, bool counts, DType dtype, Site site) {
  if (mask.dtype() != kBool) return mask.to(dtype, {}, site);
  const Tensor zero = zeros(mask.sizes(), {.dtype = dtype, .device = mask.device()}, site);
  return masked_fill(zero, counts ? logical_not(mask, site) : mask, -std::numeric_limits<double>::infinity(), site);
}

Tensor shared_heads(const Tensor& x, int64_t groups, Site site) {
  Shape wide = x.sizes(), joined = x.sizes();
  const size_t at = wide.size() - 2;
  wide.insert(at, groups);
  joined[at - 1] *= groups;
  return x.unsqueeze(-3, site).expand(wide, site).reshape(joined, site);
}

Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& mask, const kernels::Attention& how, Site site) {
  const Tensor scores = mul(matmul(query, key.transpose(-2, -1, site), site), how.scale, site);
  if (how.causal) {
    const Tensor seen = tril(ones({query.size(-2), key.size(-2)}, {.dtype = kBool, .device = query.device()}, site), 0, site);
    return softmax(add(scores, as_scores(seen, true, query.dtype(), site), site), -1, site);
  }
  if (!mask.defined()) return softmax(scores, -1, site);
  const Tensor masked = add(scores, as_scores(mask, true, query.dtype(), site), site);
  return key.size(-2) > 0 ? masked_softmax(masked, site) : masked;
}

}  // namespace tandem::ops
