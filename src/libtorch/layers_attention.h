// Attention, and the layers of transformers.
#pragma once

#include <tuple>

#include "libtorch/layers_activation.h"
#include "libtorch/layers_linear.h"
#include "libtorch/layers_norm.h"
#include "libtorch/options_recurrent.h"

namespace torch::nn {

/// Attention of several heads with projections before and behind it.
class MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads, Site site = Site::here());
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options_, Site = Site::here());

  void reset() override;
  void _reset_parameters(Site site = Site::here());

  /// Query (L, N, E), key and value (S, N, E); the output (L, N, E), and the weights (N, L, S) where they are needed, with heads behind N
  /// unless averaged.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& key_padding_mask = {},
                                     bool need_weights = true, const Tensor& attn_mask = {}, bool average_attn_weights = true,
                                     Site site = Site::here());

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;
  Tensor in_proj_weight, in_proj_bias;
  Linear out_proj = nullptr;
  Tensor bias_k, bias_v;
  int64_t head_dim = 0;
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())}, {6, AnyValue(true)})
};
TANDEM_TORCH_LAYER(MultiheadAttention);

/// Self-attention, then two products with an activation between; each added to its input and normalized.
class TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead, Site site = Site::here());
  explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_, Site = Site::here());
  void reset() override;
  void reset_parameters(Site site = Site::here());
  /// src (S, N, d_model) to the same.
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {}, Site site = Site::here());

  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr, norm2 = nullptr;
  Dropout dropout1 = nullptr, dropout2 = nullptr;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TANDEM_TORCH_LAYER(TransformerEncoderLayer);

/// Self-attention, attention to a memory, then two products with an activation between; each added to its input and normalized.
class TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead, Site site = Site::here());
  explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_, Site = Site::here());
  void reset() override;
  void reset_parameters(Site site = Site::here());
  /// tgt (T, N, d_model) beside memory (S, N, d_model) to tgt's sizes.
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {}, Site site = Site::here());

  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn = nullptr, multihead_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr, norm2 = nullptr, norm3 = nullptr;
  Dropout dropout1 = nullptr, dropout2 = nullptr, dropout3 = nullptr;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
};
TANDEM_TORCH_LAYER(TransformerDecoderLayer);

}  // namespace torch::nn
