// Transformers: encoders, decoders, and both together, with their options.
#pragma once

#include "libtorch/any.h"
#include "libtorch/containers.h"
#include "libtorch/layers_attention.h"

namespace torch::nn {

/// Of TransformerEncoder: the layer that all are clones of, how many, and a normalization behind them.
struct TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers, Site site = Site::here());
  TORCH_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;
  TORCH_ARG(int64_t, num_layers);
  TORCH_ARG(AnyModule, norm);
};

/// Of TransformerDecoder.
struct TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers, Site site = Site::here());
  TORCH_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  TORCH_ARG(int64_t, num_layers);
  TORCH_ARG(AnyModule, norm);
};

/// Of Transformer.
struct TransformerOptions {
  TransformerOptions() = default;
  TransformerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers);
  TORCH_ARG(int64_t, d_model) = 512;
  TORCH_ARG(int64_t, nhead) = 8;
  TORCH_ARG(int64_t, num_encoder_layers) = 6;
  TORCH_ARG(int64_t, num_decoder_layers) = 6;
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(activation_t, activation) = torch::kReLU;
  TORCH_ARG(AnyModule, custom_encoder);
  TORCH_ARG(AnyModule, custom_decoder);
};

namespace detail {

/// What encoder and decoder share: clones of one layer, one after another, and a normalization behind them if there is one.
template <class Derived, class LayerOptions, class Layer>
class LayersImpl : public Cloneable<Derived> {
 public:
  explicit LayersImpl(LayerOptions options_, Site = Site::here());
  void reset() override;
  void reset_parameters(Site site = Site::here());

  LayerOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;

 protected:
  Layer& layer(int64_t i);
  Tensor normalized(const Tensor& x);

 private:
  void reset_norm(Site site);
};

}  // namespace detail

/// Encodes a sequence.
class TransformerEncoderImpl : public detail::LayersImpl<TransformerEncoderImpl, TransformerEncoderOptions, TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers, Site site = Site::here());
  explicit TransformerEncoderImpl(TransformerEncoderOptions options_, Site site = Site::here());
  static TransformerEncoderLayer layer_of(const TransformerEncoderOptions& options);

  /// src (S, N, d_model) to the same.
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {}, Site site = Site::here());

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TANDEM_TORCH_LAYER(TransformerEncoder);

/// Decodes a sequence beside a memory.
class TransformerDecoderImpl : public detail::LayersImpl<TransformerDecoderImpl, TransformerDecoderOptions, TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers, Site site = Site::here());
  explicit TransformerDecoderImpl(TransformerDecoderOptions options_, Site site = Site::here());
  static TransformerDecoderLayer layer_of(const TransformerDecoderOptions& options);

  /// tgt (T, N, d_model) beside memory (S, N, d_model) to tgt's sizes.
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {}, Site site = Site::here());

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
};
TANDEM_TORCH_LAYER(TransformerDecoder);

extern template class detail::LayersImpl<TransformerEncoderImpl, TransformerEncoderOptions, TransformerEncoderLayerImpl>;
extern template class detail::LayersImpl<TransformerDecoderImpl, TransformerDecoderOptions, TransformerDecoderLayerImpl>;

/// An encoder and a decoder, each with a normalization behind its layers; all matrices start as xavier_uniform_.
class TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions options_ = {}, Site = Site::here());

  void reset() override;
  void reset_parameters(Site site = Site::here());

  /// src (S, N, d_model) and tgt (T, N, d_model) to tgt's sizes.
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {}, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {}, Site site = Site::here());

  /// (size, size): 0 up to the diagonal, -inf above it. A mask that lets no step look ahead.
  static Tensor generate_square_subsequent_mask(int64_t size, Site site = Site::here());

  TransformerOptions options;
  AnyModule encoder, decoder;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())},
                           {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})
};
TANDEM_TORCH_LAYER(Transformer);

}  // namespace torch::nn
