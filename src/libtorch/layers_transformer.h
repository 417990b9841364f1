// Transformers: encoders, decoders, and both together, with their options.
#pragma once

#include <limits>

#include "libtorch/any.h"
#include "libtorch/containers.h"
#include "libtorch/layers_attention.h"

namespace torch::nn {

/// Of TransformerEncoder: the layer that all are clones of, how many, and a normalization behind them.
struct TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers, Site site = Site::here())
      : encoder_layer_(encoder_layer_options, site), num_layers_(num_layers) {}
  TORCH_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;
  TORCH_ARG(int64_t, num_layers);
  TORCH_ARG(AnyModule, norm);
};

/// Of TransformerDecoder.
struct TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers, Site site = Site::here())
      : decoder_layer_(decoder_layer_options, site), num_layers_(num_layers) {}
  TORCH_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  TORCH_ARG(int64_t, num_layers);
  TORCH_ARG(AnyModule, norm);
};

/// Of Transformer.
struct TransformerOptions {
  TransformerOptions() = default;
  TransformerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers)
      : d_model_(d_model), nhead_(nhead), num_encoder_layers_(num_encoder_layers), num_decoder_layers_(num_decoder_layers) {}
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
  explicit LayersImpl(LayerOptions options_, Site = Site::here()) : options(std::move(options_)) { reset(); }
  void reset() override {
    const Site site = making_site();
    layers = this->register_module("layers", ModuleList(), site);
    for (int64_t i = 0; i < options.num_layers(); ++i) layers->push_back(Derived::layer_of(options)->clone());
    reset_norm(site);
  }
  void reset_parameters(Site site = Site::here()) {
    for (int64_t i = 0; i < options.num_layers(); ++i) layer(i).reset_parameters(site);
    if (!norm.is_empty()) this->unregister_module("norm", site);
    reset_norm(site);
  }

  LayerOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;

 protected:
  Layer& layer(int64_t i) { return layers->template at<Layer>(static_cast<size_t>(i)); }
  Tensor normalized(const Tensor& x) { return norm.is_empty() ? x : norm.forward<Tensor>(x); }

 private:
  void reset_norm(Site site) {
    norm = options.norm().is_empty() ? AnyModule() : options.norm().clone();
    if (!norm.is_empty()) this->register_module("norm", norm.ptr(), site);
  }
};

}  // namespace detail

/// Encodes a sequence.
class TransformerEncoderImpl : public detail::LayersImpl<TransformerEncoderImpl, TransformerEncoderOptions, TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers, Site site = Site::here())
      : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers), site) {}
  explicit TransformerEncoderImpl(TransformerEncoderOptions options_, Site site = Site::here()) : LayersImpl(std::move(options_), site) {}
  static TransformerEncoderLayer layer_of(const TransformerEncoderOptions& options) { return options.encoder_layer(); }

  /// src (S, N, d_model) to the same.
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {}, Site site = Site::here()) {
    Tensor x = src;
    for (int64_t i = 0; i < options.num_layers(); ++i) x = layer(i).forward(x, src_mask, src_key_padding_mask, site);
    return normalized(x);
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TORCH_MODULE(TransformerEncoder);

/// Decodes a sequence beside a memory.
class TransformerDecoderImpl : public detail::LayersImpl<TransformerDecoderImpl, TransformerDecoderOptions, TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers, Site site = Site::here())
      : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers), site) {}
  explicit TransformerDecoderImpl(TransformerDecoderOptions options_, Site site = Site::here()) : LayersImpl(std::move(options_), site) {}
  static TransformerDecoderLayer layer_of(const TransformerDecoderOptions& options) { return options.decoder_layer(); }

  /// tgt (T, N, d_model) beside memory (S, N, d_model) to tgt's sizes.
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {}, Site site = Site::here()) {
    Tensor x = tgt;
    for (int64_t i = 0; i < options.num_layers(); ++i)
      x = layer(i).forward(x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, site);
    return normalized(x);
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
};
TORCH_MODULE(TransformerDecoder);

/// An encoder and a decoder, each with a normalization behind its layers; all matrices start as xavier_uniform_.
class TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions options_ = {}, Site = Site::here()) : options(std::move(options_)) {
    TransformerImpl::reset();
  }

  void reset() override {
    const Site site = detail::making_site();
    const std::vector<int64_t> size{options.d_model()};
    const auto layer = [&](auto o) {
      return o.dim_feedforward(options.dim_feedforward()).dropout(options.dropout()).activation(options.activation());
    };
    if (options.custom_encoder().is_empty()) {
      const auto own = layer(TransformerEncoderLayerOptions(options.d_model(), options.nhead()));
      encoder = AnyModule(TransformerEncoder(
          TransformerEncoderOptions(own, options.num_encoder_layers(), site).norm(AnyModule(LayerNorm(size, site))), site));
    } else {
      encoder = options.custom_encoder().clone();
    }
    register_module("encoder", encoder.ptr(), site);
    if (options.custom_decoder().is_empty()) {
      const auto own = layer(TransformerDecoderLayerOptions(options.d_model(), options.nhead()));
      decoder = AnyModule(TransformerDecoder(
          TransformerDecoderOptions(own, options.num_decoder_layers(), site).norm(AnyModule(LayerNorm(size, site))), site));
    } else {
      decoder = options.custom_decoder().clone();
    }
    register_module("decoder", decoder.ptr(), site);
    reset_parameters(site);
  }
  void reset_parameters(Site site = Site::here()) {
    for (const Tensor& parameter : parameters())
      if (parameter.dim(site) > 1) tandem::nn::init::xavier_uniform_(parameter, 1, site);
  }

  /// src (S, N, d_model) and tgt (T, N, d_model) to tgt's sizes.
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {}, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {}, Site site = Site::here()) {
    if (src.dim(site) != 3 || tgt.dim(site) != 3)
      tandem::fail("[Transformer] src and tgt should have 3 dimensions, but got ", src.dim(), " and ", tgt.dim());
    if (src.size(1, site) != tgt.size(1, site))
      tandem::fail("[Transformer] src and tgt should have equal batch size (at dim 1), but got ", src.size(1), " and ", tgt.size(1));
    if (src.size(2, site) != options.d_model() || tgt.size(2, site) != options.d_model())
      tandem::fail("[Transformer] src and tgt should have d_model, ", options.d_model(), ", features (at dim 2), but got ", src.size(2),
                   " and ", tgt.size(2));
    const Tensor memory = encoder.forward<Tensor>(src, src_mask, src_key_padding_mask);
    return decoder.forward<Tensor>(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  }

  /// (size, size): 0 up to the diagonal, -inf above it. A mask that lets no step look ahead.
  static Tensor generate_square_subsequent_mask(int64_t size, Site site = Site::here()) {
    if (size < 0) tandem::fail("[Transformer.generate_square_subsequent_mask] size must be non-negative, but got ", size);
    return tandem::full({size, size}, -std::numeric_limits<float>::infinity(), {}, site).triu(1, site);
  }

  TransformerOptions options;
  AnyModule encoder, decoder;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())},
                           {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})
};
TORCH_MODULE(Transformer);

}  // namespace torch::nn
