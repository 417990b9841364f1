// Attention and transformers.
#include "modules.h"

namespace golden {
namespace {

nn::TransformerLayerOptions layer_options(const Call& c) {
  nn::TransformerLayerOptions options;
  options.dim_feedforward = c.integer("dim_feedforward");
  options.dropout = c.real("dropout");
  options.activation = c.text("activation").c_str();
  options.layer_norm_eps = c.real("layer_norm_eps");
  options.batch_first = c.flag("batch_first");
  options.norm_first = c.flag("norm_first");
  options.bias = c.flag("bias");
  return options;
}

nn::TransformerOptions options(const Call& c) {
  const nn::TransformerLayerOptions layer = layer_options(c);
  nn::TransformerOptions options;
  options.num_encoder_layers = c.integer("num_encoder_layers");
  options.num_decoder_layers = c.integer("num_decoder_layers");
  options.dim_feedforward = layer.dim_feedforward;
  options.dropout = layer.dropout;
  options.activation = layer.activation;
  options.layer_norm_eps = layer.layer_norm_eps;
  options.batch_first = layer.batch_first;
  options.norm_first = layer.norm_first;
  options.bias = layer.bias;
  return options;
}

Tensor mask(const Call& c, const char* name) { return c.tensor_or_none(name); }

Results attend(nn::MultiheadAttention& m, const Call& c) {
  const MultiHeadAttentionResult result = m(c.tensor("query"), c.tensor("key"), c.tensor("value"),
                                            {.key_padding_mask = mask(c, "key_padding_mask"),
                                             .need_weights = c.flag("need_weights"),
                                             .attn_mask = mask(c, "attn_mask"),
                                             .average_attn_weights = c.flag("average_attn_weights"),
                                             .is_causal = c.flag("is_causal")});
  if (!result.attn_output_weights.defined()) return result.attn_output;
  return {result.attn_output, result.attn_output_weights};
}

}  // namespace

void add_attention_modules(Modules& table) {
  table.add(
      "nn.MultiheadAttention(embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None, "
      "batch_first=False)",
      [](Call& c) {
        return built(nn::MultiheadAttention(c.integer("embed_dim"), c.integer("num_heads"),
                                            {.dropout = c.real("dropout"),
                                             .bias = c.flag("bias"),
                                             .add_bias_kv = c.flag("add_bias_kv"),
                                             .add_zero_attn = c.flag("add_zero_attn"),
                                             .kdim = c.integer_or_none("kdim"),
                                             .vdim = c.integer_or_none("vdim"),
                                             .batch_first = c.flag("batch_first")}),
                     "(query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, "
                     "is_causal=False)",
                     attend);
      });
  const std::string rest =
      "dim_feedforward=2048, dropout=0.1, activation='relu', layer_norm_eps=1e-05, batch_first=False, norm_first=False, bias=True)";
  table.add("nn.TransformerEncoderLayer(d_model, nhead, " + rest, [](Call& c) {
    return built(nn::TransformerEncoderLayer(c.integer("d_model"), c.integer("nhead"), layer_options(c)),
                 "(src, src_mask=None, src_key_padding_mask=None, is_causal=False)", [](nn::TransformerEncoderLayer& m, Call& c) {
                   return m(c.tensor("src"), {.src_mask = mask(c, "src_mask"),
                                              .src_key_padding_mask = mask(c, "src_key_padding_mask"),
                                              .is_causal = c.flag("is_causal")});
                 });
  });
  table.add("nn.TransformerDecoderLayer(d_model, nhead, " + rest, [](Call& c) {
    return built(nn::TransformerDecoderLayer(c.integer("d_model"), c.integer("nhead"), layer_options(c)),
                 "(tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, "
                 "tgt_is_causal=False, memory_is_causal=False)",
                 [](nn::TransformerDecoderLayer& m, Call& c) {
                   return m(c.tensor("tgt"), c.tensor("memory"),
                            {.tgt_mask = mask(c, "tgt_mask"),
                             .memory_mask = mask(c, "memory_mask"),
                             .tgt_key_padding_mask = mask(c, "tgt_key_padding_mask"),
                             .memory_key_padding_mask = mask(c, "memory_key_padding_mask"),
                             .tgt_is_causal = c.flag("tgt_is_causal"),
                             .memory_is_causal = c.flag("memory_is_causal")});
                 });
  });
  table.add("nn.Transformer(d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, " + rest, [](Call& c) {
    return built(nn::Transformer(c.integer("d_model"), c.integer("nhead"), options(c)),
                 "(src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, tgt_key_padding_mask=None, "
                 "memory_key_padding_mask=None)",
                 [](nn::Transformer& m, Call& c) {
                   return m(c.tensor("src"), c.tensor("tgt"),
                            {.src_mask = mask(c, "src_mask"),
                             .tgt_mask = mask(c, "tgt_mask"),
                             .memory_mask = mask(c, "memory_mask"),
                             .src_key_padding_mask = mask(c, "src_key_padding_mask"),
                             .tgt_key_padding_mask = mask(c, "tgt_key_padding_mask"),
                             .memory_key_padding_mask = mask(c, "memory_key_padding_mask")});
                 });
  });
}

}  // namespace golden
