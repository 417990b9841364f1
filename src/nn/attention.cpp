#include "nn/attention.h"

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/init.h"
#include "ops/creation.h"

namespace tandem::nn {

MultiheadAttention::MultiheadAttention(int64_t embed_dim, int64_t num_heads, const MultiheadAttentionOptions& options, Site site)
    : embed_dim(embed_dim),
      num_heads(num_heads),
      kdim(options.kdim.value_or(embed_dim)),
      vdim(options.vdim.value_or(embed_dim)),
      dropout(options.dropout),
      add_zero_attn(options.add_zero_attn),
      batch_first(options.batch_first),
      out_proj(embed_dim, embed_dim, {.bias = options.bias, .device = options.device, .dtype = options.dtype}, site) {
  if (embed_dim <= 0 || num_heads <= 0)
    fail("[MultiheadAttention] embed_dim and num_heads must be greater than 0, got embed_dim=", embed_dim, " and num_heads=", num_heads,
         " instead");
  if (embed_dim % num_heads != 0)
    fail("[MultiheadAttention] embed_dim must be divisible by num_heads, but they are ", embed_dim, " and ", num_heads);
  if (!(dropout >= 0 && dropout <= 1)) fail("[MultiheadAttention] dropout probability has to be between 0 and 1, but got ", dropout);
  const Options made{.dtype = options.dtype, .device = options.device, .requires_grad = true};
  if (kdim == embed_dim && vdim == embed_dim) {
    in_proj_weight = empty({3 * embed_dim, embed_dim}, made, site);
  } else {
    q_proj_weight = empty({embed_dim, embed_dim}, made, site);
    k_proj_weight = empty({embed_dim, kdim}, made, site);
    v_proj_weight = empty({embed_dim, vdim}, made, site);
  }
  if (options.bias) in_proj_bias = empty({3 * embed_dim}, made, site);
  if (options.add_bias_kv) {
    bias_k = empty({1, 1, embed_dim}, made, site);
    bias_v = empty({1, 1, embed_dim}, made, site);
  }
  reset_parameters(site);
}

void MultiheadAttention::reset_parameters(Site site) {
  out_proj.reset_parameters(site);
  for (const Tensor& weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight})
    if (weight.defined()) init::xavier_uniform_(weight, 1, site);
  for (const Tensor& bias : {in_proj_bias, out_proj.bias})
    if (bias.defined()) init::zeros_(bias, site);
  for (const Tensor& bias : {bias_k, bias_v})
    if (bias.defined()) init::xavier_normal_(bias, 1, site);
}

void MultiheadAttention::fields(Fields& f) {
  f("in_proj_weight", in_proj_weight);
  f("q_proj_weight", q_proj_weight);
  f("k_proj_weight", k_proj_weight);
  f("v_proj_weight", v_proj_weight);
  f("in_proj_bias", in_proj_bias);
  f("bias_k", bias_k);
  f("bias_v", bias_v);
  f("out_proj", out_proj);
}

MultiHeadAttentionResult MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                     const AttentionArguments& arguments, Site site) {
  return multi_head_attention_forward(query, key, value, embed_dim, num_heads,
                                      {.in_proj_weight = in_proj_weight,
                                       .in_proj_bias = in_proj_bias,
                                       .bias_k = bias_k,
                                       .bias_v = bias_v,
                                       .add_zero_attn = add_zero_attn,
                                       .dropout_p = dropout,
                                       .out_proj_weight = out_proj.weight,
                                       .out_proj_bias = out_proj.bias,
                                       .training = training(),
                                       .key_padding_mask = arguments.key_padding_mask,
                                       .need_weights = arguments.need_weights,
                                       .attn_mask = arguments.attn_mask,
                                       .use_separate_proj_weight = !in_proj_weight.defined(),
                                       .q_proj_weight = q_proj_weight,
                                       .k_proj_weight = k_proj_weight,
                                       .v_proj_weight = v_proj_weight,
                                       .average_attn_weights = arguments.average_attn_weights,
                                       .is_causal = arguments.is_causal,
                                       .batch_first = batch_first},
                                      site);
}

MultiHeadAttentionResult MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                                        const AttentionArguments& arguments, Site site) {
  return hooked_forward(*this, site, query, key, value, arguments);
}

int64_t MultiheadAttention::multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor>) const {
  const Tensor &query = inputs[0], &key = inputs[1], &value = inputs[2];
  const int64_t keys = key.size(key.dim() == 3 && batch_first ? 1 : 0) + (bias_k.defined() ? 1 : 0) + (add_zero_attn ? 1 : 0);
  const int64_t projections = (2 * query.numel() + key.numel() + value.numel()) * embed_dim;
  return projections + 2 * query.numel() * keys;  // each query with each key, and their weights with the values
}

}  // namespace tandem::nn
