// Transformers: layers of attention and feed-forward parts, for encoding a sequence and for decoding one beside it.
#pragma once

#include <functional>
#include <string>
#include <type_traits>

#include "nn/attention.h"
#include "nn/containers.h"
#include "nn/dropout.h"
#include "nn/normalization.h"

namespace tandem::nn {

/// What stands between the two products of a feed-forward part: "relu", "gelu", or a function or module from tensor to tensor.
class Activation {
 public:
  /// Error for another name.
  Activation(const char* name);
  template <class F>
  requires std::is_invocable_r_v<Tensor, F, const Tensor&> Activation(F function)
      : function_([function = std::move(function)](const Tensor& x, Site) mutable { return function(x); }) {}
  [[nodiscard]] Tensor operator()(const Tensor& x, Site site) const { return function_(x, site); }
  /// "relu" or "gelu"; empty for another function.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::function<Tensor(const Tensor&, Site)> function_;
};

/// Of a layer of either kind.
struct TransformerLayerOptions {
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  Activation activation = "relu";
  double layer_norm_eps = 1e-5;
  bool batch_first = false;  // (N, T, E) rather than (T, N, E)
  bool norm_first = false;   // normalize before attention and feed-forward instead of behind them
  bool bias = true;          // of products and normalizations
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// What a sequence may look at in itself. Masks are those of AttentionArguments.
struct EncoderMasks {
  Tensor src_mask = {}, src_key_padding_mask = {};
  bool is_causal = false;  // says that src_mask is causal

  template <class F>
  void each_tensor(F&& f) {
    f(src_mask);
    f(src_key_padding_mask);
  }
};
/// The same of a decoded sequence and of the memory beside it.
struct DecoderMasks {
  Tensor tgt_mask = {}, memory_mask = {}, tgt_key_padding_mask = {}, memory_key_padding_mask = {};
  bool tgt_is_causal = false, memory_is_causal = false;

  template <class F>
  void each_tensor(F&& f) {
    for (Tensor* mask : {&tgt_mask, &memory_mask, &tgt_key_padding_mask, &memory_key_padding_mask}) f(*mask);
  }
};

/// Self-attention, then two products with an activation between; each added to its input and normalized. As
/// torch.nn.TransformerEncoderLayer.
struct TransformerEncoderLayer : Module {
  MultiheadAttention self_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;
  Activation activation;
  bool norm_first;

  TransformerEncoderLayer(int64_t d_model, int64_t nhead, const TransformerLayerOptions& options = {}, Site site = Site::here());
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  /// src (T, N, d_model) to the same.
  Tensor forward(const Tensor& src) override;
  Tensor forward(const Tensor& src, const EncoderMasks& masks, Site site);
  Tensor operator()(const Tensor& src, const EncoderMasks& masks = {}, Site site = Site::here());
};

/// Self-attention, attention to a memory, then two products with an activation between; each added to its input and normalized. As
/// torch.nn.TransformerDecoderLayer.
struct TransformerDecoderLayer : Module {
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;
  Activation activation;
  bool norm_first;

  TransformerDecoderLayer(int64_t d_model, int64_t nhead, const TransformerLayerOptions& options = {}, Site site = Site::here());
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  using Module::forward;
  /// tgt (T, N, d_model) beside memory (S, N, d_model) to tgt's sizes.
  Tensor forward(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks, Site site);
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks = {}, Site site = Site::here());
};

/// Layers one after another, and a normalization behind them if one is given. The layers are clones of the one given. As
/// torch.nn.TransformerEncoder.
struct TransformerEncoder : Module {
  ModuleList layers;
  AnyModule norm;  // or none

  explicit TransformerEncoder(detail::Blank) {}
  TransformerEncoder(const TransformerEncoderLayer& layer, int64_t num_layers, AnyModule norm = {}, Site site = Site::here());
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& src) override;
  Tensor forward(const Tensor& src, const EncoderMasks& masks, Site site);
  Tensor operator()(const Tensor& src, const EncoderMasks& masks = {}, Site site = Site::here());
};

/// The same of decoder layers. As torch.nn.TransformerDecoder.
struct TransformerDecoder : Module {
  ModuleList layers;
  AnyModule norm;  // or none

  explicit TransformerDecoder(detail::Blank) {}
  TransformerDecoder(const TransformerDecoderLayer& layer, int64_t num_layers, AnyModule norm = {}, Site site = Site::here());
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  using Module::forward;
  Tensor forward(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks, Site site);
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks = {}, Site site = Site::here());
};

struct TransformerOptions {
  int64_t num_encoder_layers = 6, num_decoder_layers = 6;
  // Of the layers, as in TransformerLayerOptions.
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  Activation activation = "relu";
  double layer_norm_eps = 1e-5;
  bool batch_first = false, norm_first = false, bias = true;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};
/// Of a Transformer's call.
struct TransformerMasks {
  Tensor src_mask = {}, tgt_mask = {}, memory_mask = {};
  Tensor src_key_padding_mask = {}, tgt_key_padding_mask = {}, memory_key_padding_mask = {};
  bool src_is_causal = false, tgt_is_causal = false, memory_is_causal = false;

  template <class F>
  void each_tensor(F&& f) {
    for (Tensor* mask : {&src_mask, &tgt_mask, &memory_mask, &src_key_padding_mask, &tgt_key_padding_mask, &memory_key_padding_mask})
      f(*mask);
  }
};

/// An encoder and a decoder, each with a normalization behind its layers; all matrices start as xavier_uniform_. As torch.nn.Transformer.
struct Transformer : Module {
  int64_t d_model, nhead;
  bool batch_first;
  TransformerEncoder encoder;
  TransformerDecoder decoder;

  explicit Transformer(detail::Blank blank) : d_model(1), nhead(1), batch_first(false), encoder(blank), decoder(blank) {}
  explicit Transformer(int64_t d_model = 512, int64_t nhead = 8, const TransformerOptions& options = {}, Site site = Site::here());
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  using Module::forward;
  /// src (S, N, d_model) and tgt (T, N, d_model) to tgt's sizes.
  Tensor forward(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks, Site site);
  Tensor operator()(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks = {}, Site site = Site::here());
  /// (size, size): 0 up to the diagonal, -inf above it. A mask that lets no step look ahead.
  [[nodiscard]] static Tensor generate_square_subsequent_mask(int64_t size, const Options& options = {}, Site site = Site::here());
};

}  // namespace tandem::nn
