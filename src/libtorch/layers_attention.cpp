#include "libtorch/layers_attention.h"

#include "libtorch/functional_activation.h"
#include "nn/init.h"
#include "ops/activation.h"
#include "ops/creation.h"
#include "ops/operators.h"

namespace torch::nn {
namespace {

// relu, gelu, or the function that stands between a layer's products.
Tensor activate(const activation_t& activation, const Tensor& x, Site site) {
  if (std::holds_alternative<enumtype::kReLU>(activation)) return tandem::relu({x, site}, site);
  if (std::holds_alternative<enumtype::kGELU>(activation)) return tandem::gelu({x, site}, "none", site);
  return std::get<std::function<Tensor(const Tensor&)>>(activation)(x);
}

// A transformer layer's part `name`, made by this holder's options.
template <class Layer>
MultiheadAttention attention_of(Layer& layer, const char* name, Site site) {
  const auto& o = layer.options;
  return layer.register_module(name, MultiheadAttention(MultiheadAttentionOptions(o.d_model(), o.nhead()).dropout(o.dropout()), site),
                               site);
}
template <class Layer>
LayerNorm norm_of(Layer& layer, const char* name, Site site) {
  return layer.register_module(name, LayerNorm(std::vector<int64_t>{layer.options.d_model()}, site), site);
}
template <class Layer>
Dropout dropout_of(Layer& layer, const char* name, Site site) {
  return layer.register_module(name, Dropout(layer.options.dropout(), site), site);
}

// norm(x + dropout(part)).
Tensor residual(LayerNorm& norm, Dropout& dropout, const Tensor& x, const Tensor& part, Site site) {
  return norm->forward(tandem::add({x, site}, {dropout->forward(part, site), site}, site), site);
}

}  // namespace

MultiheadAttentionImpl::MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads, Site site)
    : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads), site) {}

MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options_, Site)
    : Module("torch::nn::MultiheadAttention"), options(options_) {
  MultiheadAttentionImpl::reset();
}

void MultiheadAttentionImpl::reset() {
  const Site site = detail::making_site();
  const int64_t embed = options.embed_dim(), heads = options.num_heads();
  if (heads <= 0 || embed % heads)
    tandem::fail("[MultiheadAttention] embed_dim must be divisible by num_heads: ", embed, " is not by ", heads);
  head_dim = embed / heads;
  _qkv_same_embed_dim = options.kdim() == embed && options.vdim() == embed;
  const auto parameter = [&](const char* name, bool wanted, const tandem::Shape& sizes) {
    return register_parameter(name, wanted ? tandem::empty(sizes, {}, site) : Tensor(), wanted, site);
  };
  q_proj_weight = parameter("q_proj_weight", !_qkv_same_embed_dim, {embed, embed});
  k_proj_weight = parameter("k_proj_weight", !_qkv_same_embed_dim, {embed, options.kdim()});
  v_proj_weight = parameter("v_proj_weight", !_qkv_same_embed_dim, {embed, options.vdim()});
  in_proj_weight = parameter("in_proj_weight", _qkv_same_embed_dim, {3 * embed, embed});
  in_proj_bias = parameter("in_proj_bias", options.bias(), {3 * embed});
  out_proj = register_module("out_proj", Linear(LinearOptions(embed, embed).bias(options.bias()), site), site);
  bias_k = parameter("bias_k", options.add_bias_kv(), {1, 1, embed});
  bias_v = parameter("bias_v", options.add_bias_kv(), {1, 1, embed});
  _reset_parameters(site);
}

void MultiheadAttentionImpl::_reset_parameters(Site site) {
  for (const Tensor& weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight})
    if (weight.defined()) tandem::nn::init::xavier_uniform_(weight, 1, site);
  for (const Tensor& bias : {in_proj_bias, out_proj->bias})
    if (bias.defined()) tandem::nn::init::zeros_(bias, site);
  for (const Tensor& bias : {bias_k, bias_v})
    if (bias.defined()) tandem::nn::init::xavier_normal_(bias, 1, site);
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                           const Tensor& key_padding_mask, bool need_weights, const Tensor& attn_mask,
                                                           bool average_attn_weights, Site site) {
  return functional::multi_head_attention_forward(
      query, key, value,
      functional::MultiheadAttentionForwardFuncOptions(options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias, bias_k,
                                                       bias_v, options.add_zero_attn(), options.dropout(), out_proj->weight, out_proj->bias)
          .training(is_training())
          .key_padding_mask(key_padding_mask)
          .need_weights(need_weights)
          .attn_mask(attn_mask)
          .use_separate_proj_weight(!_qkv_same_embed_dim)
          .q_proj_weight(q_proj_weight)
          .k_proj_weight(k_proj_weight)
          .v_proj_weight(v_proj_weight)
          .average_attn_weights(average_attn_weights),
      site);
}

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead, Site site)
    : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead), site) {}

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_, Site) : options(std::move(options_)) {
  TransformerEncoderLayerImpl::reset();
}

void TransformerEncoderLayerImpl::reset() {
  const Site site = detail::making_site();
  self_attn = attention_of(*this, "self_attn", site);
  linear1 = register_module("linear1", Linear(options.d_model(), options.dim_feedforward(), site), site);
  dropout = dropout_of(*this, "dropout", site);
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), options.d_model(), site), site);
  norm1 = norm_of(*this, "norm1", site);
  norm2 = norm_of(*this, "norm2", site);
  dropout1 = dropout_of(*this, "dropout1", site);
  dropout2 = dropout_of(*this, "dropout2", site);
}

void TransformerEncoderLayerImpl::reset_parameters(Site site) {
  self_attn->_reset_parameters(site);
  for (Linear* linear : {&linear1, &linear2}) (*linear)->reset_parameters(site);
  for (LayerNorm* norm : {&norm1, &norm2}) (*norm)->reset_parameters(site);
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask, Site site) {
  const Tensor attended = std::get<0>(self_attn->forward(src, src, src, src_key_padding_mask, false, src_mask, true, site));
  const Tensor x = residual(norm1, dropout1, src, attended, site);
  const Tensor inner = dropout->forward(activate(options.activation(), linear1->forward(x, site), site), site);
  return residual(norm2, dropout2, x, linear2->forward(inner, site), site);
}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead, Site site)
    : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead), site) {}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_, Site) : options(std::move(options_)) {
  TransformerDecoderLayerImpl::reset();
}

void TransformerDecoderLayerImpl::reset() {
  const Site site = detail::making_site();
  self_attn = attention_of(*this, "self_attn", site);
  multihead_attn = attention_of(*this, "multihead_attn", site);
  linear1 = register_module("linear1", Linear(options.d_model(), options.dim_feedforward(), site), site);
  dropout = dropout_of(*this, "dropout", site);
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), options.d_model(), site), site);
  norm1 = norm_of(*this, "norm1", site);
  norm2 = norm_of(*this, "norm2", site);
  norm3 = norm_of(*this, "norm3", site);
  dropout1 = dropout_of(*this, "dropout1", site);
  dropout2 = dropout_of(*this, "dropout2", site);
  dropout3 = dropout_of(*this, "dropout3", site);
}

void TransformerDecoderLayerImpl::reset_parameters(Site site) {
  for (MultiheadAttention* attention : {&self_attn, &multihead_attn}) (*attention)->_reset_parameters(site);
  for (Linear* linear : {&linear1, &linear2}) (*linear)->reset_parameters(site);
  for (LayerNorm* norm : {&norm1, &norm2, &norm3}) (*norm)->reset_parameters(site);
}

Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask, const Tensor& memory_mask,
                                            const Tensor& tgt_key_padding_mask, const Tensor& memory_key_padding_mask, Site site) {
  const Tensor own = std::get<0>(self_attn->forward(tgt, tgt, tgt, tgt_key_padding_mask, false, tgt_mask, true, site));
  const Tensor x = residual(norm1, dropout1, tgt, own, site);
  const Tensor seen = std::get<0>(multihead_attn->forward(x, memory, memory, memory_key_padding_mask, false, memory_mask, true, site));
  const Tensor y = residual(norm2, dropout2, x, seen, site);
  const Tensor inner = dropout->forward(activate(options.activation(), linear1->forward(y, site), site), site);
  return residual(norm3, dropout3, y, linear2->forward(inner, site), site);
}

}  // namespace torch::nn
