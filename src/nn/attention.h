// Multi-head attention.
#pragma once

#include "nn/linear.h"
#include "ops/attention.h"

namespace tandem::nn {

struct MultiheadAttentionOptions {
  double dropout = 0;                           // of the weights, in training
  bool bias = true;                             // of the projections
  bool add_bias_kv = false;                     // one more key and value, learnt
  bool add_zero_attn = false;                   // one more key and value of zeros
  std::optional<int64_t> kdim = {}, vdim = {};  // features of key and value; embed_dim where not given
  bool batch_first = false;                     // (N, L, E) rather than (L, N, E)
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};
/// How one call of attention goes.
struct AttentionArguments {
  Tensor key_padding_mask = {};  // (N, S): bool, true where a key does NOT count; or numbers added to the scores
  bool need_weights = true;      // without them it is faster
  Tensor attn_mask = {};         // (L, S) or (N · heads, L, S), in the same sense
  bool average_attn_weights = true;
  bool is_causal = false;  // says that attn_mask is causal

  template <class F>
  void each_tensor(F&& f) {
    f(key_padding_mask);
    f(attn_mask);
  }
};

/// A Linear under the name that PyTorch prints for the last projection of attention.
struct NonDynamicallyQuantizableLinear : Linear {
  using Linear::Linear;
};

/// Attention of several heads, Vaswani et al. 2017: query, key and value are projected, each head takes its part of the features, the
/// results are joined and projected once more. As torch.nn.MultiheadAttention.
struct MultiheadAttention : Module {
  int64_t embed_dim, num_heads, kdim, vdim;
  double dropout;
  bool add_zero_attn, batch_first;
  Tensor in_proj_weight;                               // (3 E, E); undefined where kdim or vdim is another than E, which is when there are
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;  // (E, E), (E, kdim), (E, vdim)
  Tensor in_proj_bias;                                 // (3 E)
  Tensor bias_k, bias_v;                               // (1, 1, E)
  NonDynamicallyQuantizableLinear out_proj;

  /// Error unless num_heads divides embed_dim.
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, const MultiheadAttentionOptions& options = {}, Site site = Site::here());

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  using Module::forward;
  /// attn_output (L, N, E) and attn_output_weights (N, L, S), of query (L, N, E), key (S, N, kdim) and value (S, N, vdim), or all without
  /// N. Unless averaged, the weights have heads after N; they are undefined unless needed.
  MultiHeadAttentionResult forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionArguments& arguments,
                                   Site site);
  MultiHeadAttentionResult operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionArguments& arguments = {},
                                      Site site = Site::here());
  [[nodiscard]] int64_t multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const override;
  /// Draws all parameters anew: projections as xavier_uniform_, biases zero.
  void reset_parameters(Site site = Site::here());
};

}  // namespace tandem::nn
