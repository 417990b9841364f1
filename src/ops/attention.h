// Attention: weighted means of values, the weights from queries and keys.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace tandem {

/// Options of scaled_dot_product_attention(), in this order.
struct AttentionOptions {
  Tensor attn_mask = {};             // broadcasts to (…, L, S): bool, true where a key counts; or numbers added to the scores
  double dropout_p = 0;              // applied to the weights, always: pass 0 in evaluation
  bool is_causal = false;            // query i sees keys 0 … i only; not together with attn_mask
  std::optional<double> scale = {};  // of the scores; 1 / sqrt(E) where not given
  bool enable_gqa = false;           // key and value may have fewer heads, which groups of query heads share
};
/// softmax(query keyᵀ * scale) value, of query (…, L, E), key (…, S, E), value (…, S, Ev), to (…, L, Ev). A query that sees no key gives
/// zeros. As torch.nn.functional.scaled_dot_product_attention.
[[nodiscard]] Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                                  const AttentionOptions& options = {}, Site site = Site::here());

/// Options of multi_head_attention_forward(), in this order.
struct MultiHeadAttentionOptions {
  Tensor in_proj_weight = {}, in_proj_bias = {};  // (3 E, E), (3 E): for query, key and value, in this order
  Tensor bias_k = {}, bias_v = {};                // (1, 1, E): one more key and value
  bool add_zero_attn = false;                     // one more of zeros
  double dropout_p = 0;
  Tensor out_proj_weight = {}, out_proj_bias = {};
  bool training = true;
  Tensor key_padding_mask = {};  // (N, S): bool, true where a key does NOT count; or numbers added to the scores
  bool need_weights = true;
  Tensor attn_mask = {};  // (L, S) or (N * heads, L, S), in the same sense
  bool use_separate_proj_weight = false;
  Tensor q_proj_weight = {}, k_proj_weight = {}, v_proj_weight = {};
  Tensor static_k = {}, static_v = {};  // (N * heads, S, head)
  bool average_attn_weights = true;
  bool is_causal = false;    // a hint that attn_mask is causal
  bool batch_first = false;  // query, key, value and the result are (N, L, E)
};
/// What multi_head_attention_forward() gives.
struct MultiHeadAttentionResult {
  Tensor attn_output, attn_output_weights;  // (L, N, E); (N, L, S), with heads after N unless averaged, undefined unless needed
  template <class A, class B>
  operator std::tuple<A, B>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(attn_output), detail::tied<B>(attn_output_weights)};
  }

  template <class F>
  void each_tensor(F&& f) {
    f(attn_output);
    f(attn_output_weights);
  }
};
/// Query (L, N, E), key and value (S, N, E), or each without N. Error unless num_heads divides E, and for masks of other sizes. As
/// torch.nn.functional.multi_head_attention_forward.
[[nodiscard]] MultiHeadAttentionResult multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                                    int64_t embed_dim_to_check, int64_t num_heads,
                                                                    const MultiHeadAttentionOptions& options, Site site = Site::here());

}  // namespace tandem
