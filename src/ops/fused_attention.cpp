#include "ops/fused_attention.h"

#include <array>

#include "autograd/history.h"
#include "kernels/random.h"
#include "ops/attention_weights.h"
#include "ops/creation.h"
#include "ops/generator.h"
#include "ops/launch.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace tandem::ops {
namespace {

using autograd::needs_grad;

Tensor new_like(const Tensor& x, const Shape& sizes, Site site) { return empty(sizes, {.dtype = x.dtype(), .device = x.device()}, site); }

std::array<Tensor, 3> gradients(const Tensor& given, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& y,
                                const Tensor& normalizer, const kernels::Attention& how, Site site) {
  const Tensor g = given.stride(-1) == 1 || given.size(-1) == 1 ? given : given.contiguous(site);
  std::array<Tensor, 3> grads{new_like(q, q.sizes(), site), new_like(k, k.sizes(), site), new_like(v, v.sizes(), site)};
  launch(q, "scaled_dot_product_attention_backward", site, &kernels::Table::attention_backward, grads[0], grads[1], grads[2], g, q, k, v,
         mask, y, normalizer, how, kernels_of(q).attention_workspace(view(q), view(k), view(v), view(mask), how, true));
  return grads;
}

/// What the kernel multiplies the weights by, as a tensor.
Tensor dropout_factors(const Tensor& weights, const kernels::Attention& how, Site site) {
  const Tensor factors = ones(weights.sizes(), {.dtype = weights.dtype(), .device = weights.device()}, site),
               kept = empty(weights.sizes(), {.dtype = kBool, .device = weights.device()}, site);
  launch(weights, "scaled_dot_product_attention_backward", site, &kernels::Table::dropout, factors, kept, factors, how.dropout, how.seed,
         how.offset);
  return factors;
}

/// The same by operations that keep their history, to be differentiated again.
std::array<Tensor, 3> recorded_gradients(const Tensor& given, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                                         const kernels::Attention& how, Site site) {
  const DType type = q.dtype(), wide = is_half(type) ? kFloat32 : type;
  const int64_t groups = q.size(1) / k.size(1);
  const auto widened = [&](const Tensor& x) { return x.to(wide, {}, site); };
  const auto for_heads = [&](const Tensor& x) { return groups == 1 ? widened(x) : shared_heads(widened(x), groups, site); };
  const auto of_groups = [&](const Tensor& x, const Tensor& like) {
    return (groups == 1 ? x : x.unflatten(1, {like.size(1), groups}, site).sum({2}, false, {}, site)).to(type, {}, site);
  };
  const Tensor query = widened(q), key = for_heads(k), value = for_heads(v), g = widened(given);
  const Tensor weights = attention_weights(query, key, mask, how, site);
  Tensor dropped = weights, to_weights = matmul(g, value.transpose(-2, -1, site), site);
  if (how.dropout > 0) {
    const Tensor factors = dropout_factors(weights, how, site);
    dropped = weights * factors;
    to_weights = to_weights * factors;
  }
  const Tensor to_scores = weights * (to_weights - (to_weights * weights).sum({-1}, true, {}, site)) * how.scale;
  return {matmul(to_scores, key, site).to(type, {}, site), of_groups(matmul(to_scores.transpose(-2, -1, site), query, site), k),
          of_groups(matmul(dropped.transpose(-2, -1, site), g, site), v)};
}

}  // namespace

Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, kernels::Attention how, Site site) {
  const int64_t b = q.size(0), h = q.size(1), m = q.size(2);
  if (how.dropout > 0) {
    const GeneratorState state =
        take_counters(q.device(), kernels::random_counters(kernels::Random::Bernoulli, q.dtype(), b * h * m * k.size(2)));
    how.seed = state.seed;
    how.offset = state.offset;
  }
  const bool recorded = needs_grad(q, k, v);
  const Tensor y = new_like(q, {b, h, m, v.size(3)}, site);
  Tensor normalizer;
  if (recorded) normalizer = empty({b, h, m}, {.dtype = q.dtype() == kFloat64 ? kFloat64 : kFloat32, .device = q.device()}, site);
  launch(q, "scaled_dot_product_attention", site, &kernels::Table::attention, y, normalizer, q, k, v, mask, how,
         kernels_of(q).attention_workspace(view(q), view(k), view(v), view(mask), how, false));
  if (!recorded) return y;
  return autograd::record("ScaledDotProductFlashAttentionBackward0", y, {q, k, v}, site,
                          [q = autograd::saved(q), k = autograd::saved(k), v = autograd::saved(v), mask = autograd::saved(mask),
                           y = autograd::saved_output(y), normalizer, how](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                            const Tensor query = q.get(), key = k.get(), value = v.get();
                            const Tensor hidden = mask.defined() ? mask.get() : Tensor();
                            if (needs_grad(g, query, key, value))
                              return recorded_gradients(g, query, key, value, hidden, how, node->site());
                            return gradients(g, query, key, value, hidden, y.get(node), normalizer, how, node->site());
                          });
}

}  // namespace tandem::ops
