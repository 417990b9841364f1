#include "nn/transformer.h"

#include <limits>
#include <string_view>

#include "base/error.h"
#include "nn/clone.h"
#include "nn/init.h"
#include "ops/activation.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/operators.h"

namespace tandem::nn {
namespace {

MultiheadAttention attention(int64_t d_model, int64_t nhead, const TransformerLayerOptions& o, Site site) {
  return {d_model, nhead, {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first, .device = o.device, .dtype = o.dtype}, site};
}
Linear product(int64_t in, int64_t out, const TransformerLayerOptions& o, Site site) {
  return {in, out, {.bias = o.bias, .device = o.device, .dtype = o.dtype}, site};
}
LayerNorm norm_of(int64_t d_model, const TransformerLayerOptions& o, Site site) {
  return LayerNorm(d_model, {.eps = o.layer_norm_eps, .bias = o.bias, .device = o.device, .dtype = o.dtype}, site);
}

TransformerLayerOptions layer_of(const TransformerOptions& o) {
  return {.dim_feedforward = o.dim_feedforward,
          .dropout = o.dropout,
          .activation = o.activation,
          .layer_norm_eps = o.layer_norm_eps,
          .batch_first = o.batch_first,
          .norm_first = o.norm_first,
          .bias = o.bias,
          .device = o.device,
          .dtype = o.dtype};
}

/// x + part(norm(x)), or norm(x + part(x)).
template <class F>
Tensor residual(const Tensor& x, LayerNorm& norm, bool norm_first, F part, Site site) {
  if (norm_first) return add(x, part(norm(x, site)), site);
  return norm(add(x, part(x), site), site);
}

/// The feed-forward part of a layer.
template <class Layer>
Tensor feed_forward(Layer& layer, const Tensor& x, Site site) {
  return layer.linear2(layer.dropout(layer.activation(layer.linear1(x, site), site), site), site);
}

template <class Layer>
ModuleList clones(const char* type, const Layer& layer, int64_t count, Site site) {
  if (count < 0) fail("[", type, "] num_layers must not be negative, got ", count);
  ModuleList list;
  for (int64_t i = 0; i < count; ++i) list.append(clone(layer, site));
  return list;
}

}  // namespace

Activation::Activation(const char* name) : name_(name) {
  if (std::string_view(name) == "relu") function_ = [](const Tensor& x, Site site) { return relu(x, site); };
  else if (std::string_view(name) == "gelu") function_ = [](const Tensor& x, Site site) { return gelu(x, "none", site); };
  else fail("[Activation] activation should be relu/gelu, or a function, not ", name);
}

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t nhead, const TransformerLayerOptions& options, Site site)
    : self_attn(attention(d_model, nhead, options, site)),
      linear1(product(d_model, options.dim_feedforward, options, site)),
      dropout(options.dropout),
      linear2(product(options.dim_feedforward, d_model, options, site)),
      norm1(norm_of(d_model, options, site)),
      norm2(norm_of(d_model, options, site)),
      dropout1(options.dropout),
      dropout2(options.dropout),
      activation(options.activation),
      norm_first(options.norm_first) {}

void TransformerEncoderLayer::fields(Fields& f) {
  f("self_attn", self_attn);
  f("linear1", linear1);
  f("dropout", dropout);
  f("linear2", linear2);
  f("norm1", norm1);
  f("norm2", norm2);
  f("dropout1", dropout1);
  f("dropout2", dropout2);
}

Tensor TransformerEncoderLayer::forward(const Tensor& src) { return forward(src, {}, detail::call_site()); }

Tensor TransformerEncoderLayer::forward(const Tensor& src, const EncoderMasks& masks, Site site) {
  const AttentionArguments own{
      .key_padding_mask = masks.src_key_padding_mask, .need_weights = false, .attn_mask = masks.src_mask, .is_causal = masks.is_causal};
  const Tensor x = residual(
      src, norm1, norm_first, [&](const Tensor& y) { return dropout1(self_attn(y, y, y, own, site).attn_output, site); }, site);
  return residual(
      x, norm2, norm_first, [&](const Tensor& y) { return dropout2(feed_forward(*this, y, site), site); }, site);
}

Tensor TransformerEncoderLayer::operator()(const Tensor& src, const EncoderMasks& masks, Site site) {
  return hooked_forward(*this, site, src, masks);
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t d_model, int64_t nhead, const TransformerLayerOptions& options, Site site)
    : self_attn(attention(d_model, nhead, options, site)),
      multihead_attn(attention(d_model, nhead, options, site)),
      linear1(product(d_model, options.dim_feedforward, options, site)),
      dropout(options.dropout),
      linear2(product(options.dim_feedforward, d_model, options, site)),
      norm1(norm_of(d_model, options, site)),
      norm2(norm_of(d_model, options, site)),
      norm3(norm_of(d_model, options, site)),
      dropout1(options.dropout),
      dropout2(options.dropout),
      dropout3(options.dropout),
      activation(options.activation),
      norm_first(options.norm_first) {}

void TransformerDecoderLayer::fields(Fields& f) {
  f("self_attn", self_attn);
  f("multihead_attn", multihead_attn);
  f("linear1", linear1);
  f("dropout", dropout);
  f("linear2", linear2);
  f("norm1", norm1);
  f("norm2", norm2);
  f("norm3", norm3);
  f("dropout1", dropout1);
  f("dropout2", dropout2);
  f("dropout3", dropout3);
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks, Site site) {
  const AttentionArguments own{
      .key_padding_mask = masks.tgt_key_padding_mask, .need_weights = false, .attn_mask = masks.tgt_mask, .is_causal = masks.tgt_is_causal};
  const AttentionArguments across{.key_padding_mask = masks.memory_key_padding_mask,
                                  .need_weights = false,
                                  .attn_mask = masks.memory_mask,
                                  .is_causal = masks.memory_is_causal};
  Tensor x = residual(
      tgt, norm1, norm_first, [&](const Tensor& y) { return dropout1(self_attn(y, y, y, own, site).attn_output, site); }, site);
  x = residual(
      x, norm2, norm_first, [&](const Tensor& y) { return dropout2(multihead_attn(y, memory, memory, across, site).attn_output, site); },
      site);
  return residual(
      x, norm3, norm_first, [&](const Tensor& y) { return dropout3(feed_forward(*this, y, site), site); }, site);
}

Tensor TransformerDecoderLayer::operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks, Site site) {
  return hooked_forward(*this, site, tgt, memory, masks);
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer, int64_t num_layers, AnyModule norm, Site site)
    : layers(clones("TransformerEncoder", layer, num_layers, site)), norm(std::move(norm)) {}

void TransformerEncoder::fields(Fields& f) {
  f("layers", layers);
  if (norm) f("norm", *norm);
}

Tensor TransformerEncoder::forward(const Tensor& src) { return forward(src, {}, detail::call_site()); }

Tensor TransformerEncoder::forward(const Tensor& src, const EncoderMasks& masks, Site site) {
  Tensor x = src;
  for (size_t i = 0; i < layers.size(); ++i) x = layers.at<TransformerEncoderLayer>(static_cast<int64_t>(i))(x, masks, site);
  return norm ? (*norm)(x, site) : x;
}

Tensor TransformerEncoder::operator()(const Tensor& src, const EncoderMasks& masks, Site site) {
  return hooked_forward(*this, site, src, masks);
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer, int64_t num_layers, AnyModule norm, Site site)
    : layers(clones("TransformerDecoder", layer, num_layers, site)), norm(std::move(norm)) {}

void TransformerDecoder::fields(Fields& f) {
  f("layers", layers);
  if (norm) f("norm", *norm);
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks, Site site) {
  Tensor x = tgt;
  for (size_t i = 0; i < layers.size(); ++i) x = layers.at<TransformerDecoderLayer>(static_cast<int64_t>(i))(x, memory, masks, site);
  return norm ? (*norm)(x, site) : x;
}

Tensor TransformerDecoder::operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks, Site site) {
  return hooked_forward(*this, site, tgt, memory, masks);
}

Transformer::Transformer(int64_t d_model, int64_t nhead, const TransformerOptions& options, Site site)
    : d_model(d_model),
      nhead(nhead),
      batch_first(options.batch_first),
      encoder(TransformerEncoderLayer(d_model, nhead, layer_of(options), site), options.num_encoder_layers,
              norm_of(d_model, layer_of(options), site), site),
      decoder(TransformerDecoderLayer(d_model, nhead, layer_of(options), site), options.num_decoder_layers,
              norm_of(d_model, layer_of(options), site), site) {
  for (const Tensor& parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter, 1, site);
}

void Transformer::fields(Fields& f) {
  f("encoder", encoder);
  f("decoder", decoder);
}

Tensor Transformer::forward(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks, Site site) {
  if (src.size(-1) != d_model || tgt.size(-1) != d_model)
    fail("[Transformer] the feature number of src and tgt must be equal to d_model, ", d_model, ", but got sizes ", src.sizes(), " and ",
         tgt.sizes());
  const int64_t batch = batch_first ? 0 : 1;
  if (src.dim() == 3 && (tgt.dim() != 3 || src.size(batch) != tgt.size(batch)))
    fail("[Transformer] the batch number of src and tgt must be equal, but got sizes ", src.sizes(), " and ", tgt.sizes());
  const Tensor memory = encoder(
      src, {.src_mask = masks.src_mask, .src_key_padding_mask = masks.src_key_padding_mask, .is_causal = masks.src_is_causal}, site);
  return decoder(tgt, memory,
                 {.tgt_mask = masks.tgt_mask,
                  .memory_mask = masks.memory_mask,
                  .tgt_key_padding_mask = masks.tgt_key_padding_mask,
                  .memory_key_padding_mask = masks.memory_key_padding_mask,
                  .tgt_is_causal = masks.tgt_is_causal,
                  .memory_is_causal = masks.memory_is_causal},
                 site);
}

Tensor Transformer::operator()(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks, Site site) {
  return hooked_forward(*this, site, src, tgt, masks);
}

Tensor Transformer::generate_square_subsequent_mask(int64_t size, const Options& options, Site site) {
  return triu(full({size, size}, -std::numeric_limits<double>::infinity(), options, site), 1, site);
}

}  // namespace tandem::nn
