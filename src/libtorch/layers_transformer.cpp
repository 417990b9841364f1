#include "libtorch/layers_transformer.h"

#include <limits>

#include "nn/init.h"
#include "ops/creation.h"

namespace torch::nn {

template <class Derived, class LayerOptions, class Layer>
detail::LayersImpl<Derived, LayerOptions, Layer>::LayersImpl(LayerOptions options_, Site) : options(std::move(options_)) {
  reset();
}

template <class Derived, class LayerOptions, class Layer>
void detail::LayersImpl<Derived, LayerOptions, Layer>::reset() {
  const Site site = making_site();
  layers = this->register_module("layers", ModuleList(), site);
  for (int64_t i = 0; i < options.num_layers(); ++i) layers->push_back(Derived::layer_of(options)->clone());
  reset_norm(site);
}

template <class Derived, class LayerOptions, class Layer>
void detail::LayersImpl<Derived, LayerOptions, Layer>::reset_parameters(Site site) {
  for (int64_t i = 0; i < options.num_layers(); ++i) layer(i).reset_parameters(site);
  if (!norm.is_empty()) this->unregister_module("norm", site);
  reset_norm(site);
}

template <class Derived, class LayerOptions, class Layer>
Layer& detail::LayersImpl<Derived, LayerOptions, Layer>::layer(int64_t i) {
  return layers->template at<Layer>(static_cast<size_t>(i));
}

template <class Derived, class LayerOptions, class Layer>
Tensor detail::LayersImpl<Derived, LayerOptions, Layer>::normalized(const Tensor& x) {
  return norm.is_empty() ? x : norm.forward<Tensor>(x);
}

template <class Derived, class LayerOptions, class Layer>
void detail::LayersImpl<Derived, LayerOptions, Layer>::reset_norm(Site site) {
  norm = options.norm().is_empty() ? AnyModule() : options.norm().clone();
  if (!norm.is_empty()) this->register_module("norm", norm.ptr(), site);
}

template class detail::LayersImpl<TransformerEncoderImpl, TransformerEncoderOptions, TransformerEncoderLayerImpl>;
template class detail::LayersImpl<TransformerDecoderImpl, TransformerDecoderOptions, TransformerDecoderLayerImpl>;

TransformerEncoderOptions::TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
    : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}

TransformerEncoderOptions::TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers,
                                                     Site site)
    : encoder_layer_(encoder_layer_options, site), num_layers_(num_layers) {}

TransformerDecoderOptions::TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
    : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}

TransformerDecoderOptions::TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers,
                                                     Site site)
    : decoder_layer_(decoder_layer_options, site), num_layers_(num_layers) {}

TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers)
    : d_model_(d_model), nhead_(nhead), num_encoder_layers_(num_encoder_layers), num_decoder_layers_(num_decoder_layers) {}

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers, Site site)
    : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers), site) {}

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options_, Site site) : LayersImpl(std::move(options_), site) {}

TransformerEncoderLayer TransformerEncoderImpl::layer_of(const TransformerEncoderOptions& options) { return options.encoder_layer(); }

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask, Site site) {
  Tensor x = src;
  for (int64_t i = 0; i < options.num_layers(); ++i) x = layer(i).forward(x, src_mask, src_key_padding_mask, site);
  return normalized(x);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers, Site site)
    : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers), site) {}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options_, Site site) : LayersImpl(std::move(options_), site) {}

TransformerDecoderLayer TransformerDecoderImpl::layer_of(const TransformerDecoderOptions& options) { return options.decoder_layer(); }

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask, const Tensor& memory_mask,
                                       const Tensor& tgt_key_padding_mask, const Tensor& memory_key_padding_mask, Site site) {
  Tensor x = tgt;
  for (int64_t i = 0; i < options.num_layers(); ++i)
    x = layer(i).forward(x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, site);
  return normalized(x);
}

TransformerImpl::TransformerImpl(TransformerOptions options_, Site) : options(std::move(options_)) { TransformerImpl::reset(); }

void TransformerImpl::reset() {
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

void TransformerImpl::reset_parameters(Site site) {
  for (const Tensor& parameter : parameters())
    if (parameter.dim(site) > 1) tandem::nn::init::xavier_uniform_(parameter, 1, site);
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask, const Tensor& tgt_mask,
                                const Tensor& memory_mask, const Tensor& src_key_padding_mask, const Tensor& tgt_key_padding_mask,
                                const Tensor& memory_key_padding_mask, Site site) {
  if (src.dim(site) != 3 || tgt.dim(site) != 3)
    tandem::fail("[Transformer] src and tgt should have 3 dimensions, but got ", src.dim(), " and ", tgt.dim());
  if (src.size(1, site) != tgt.size(1, site))
    tandem::fail("[Transformer] src and tgt should have equal batch size (at dim 1), but got ", src.size(1), " and ", tgt.size(1));
  if (src.size(2, site) != options.d_model() || tgt.size(2, site) != options.d_model())
    tandem::fail("[Transformer] src and tgt should have same feature size as d_model (at dim 2), but got ", src.size(2), " and ",
                 tgt.size(2), " while d_model is ", options.d_model());
  const Tensor memory = encoder.forward<Tensor>(src, src_mask, src_key_padding_mask);
  return decoder.forward<Tensor>(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t size, Site site) {
  if (size < 0) tandem::fail("[Transformer.generate_square_subsequent_mask] size must be non-negative, but got ", size);
  return tandem::full({size, size}, -std::numeric_limits<float>::infinity(), {}, site).triu(1, site);
}

}  // namespace torch::nn
