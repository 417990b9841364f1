// The weights of attention, by operations that keep their history: what attention is composed of, and its gradient's gradient. For the
// library.
#pragma once

#include "kernels/table.h"
#include "tensor/tensor.h"

namespace tandem::ops {

/// 0 where `mask` (bool) is `counts`, -inf elsewhere; numbers as they are.
Tensor as_scores(const Tensor& mask, bool counts, DType dtype, Site site);
/// (…, heads, S, E) with each head standing for a group of `groups`.
Tensor shared_heads(const Tensor& x, int64_t groups, Site site);
/// softmax(scale query keyᵀ + mask), (…, L, S), without dropout; rows that a mask hides altogether are 0.
Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& mask, const kernels::Attention& how, Site site);

}  // namespace tandem::ops
