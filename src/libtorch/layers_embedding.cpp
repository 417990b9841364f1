#include "libtorch/layers_embedding.h"

#include "libtorch/functional_linear.h"
#include "nn/init.h"
#include "ops/creation.h"
#include "ops/embedding.h"

namespace torch::nn {

template <class Derived, class LayerOptions>
detail::TableImpl<Derived, LayerOptions>::TableImpl(LayerOptions options_, Site) : options(std::move(options_)) {
  reset();
}

template <class Derived, class LayerOptions>
detail::TableImpl<Derived, LayerOptions>::TableImpl(int64_t num_embeddings, int64_t embedding_dim, Site site)
    : TableImpl(LayerOptions(num_embeddings, embedding_dim), site) {}

template <class Derived, class LayerOptions>
void detail::TableImpl<Derived, LayerOptions>::reset() {
  const Site site = making_site();
  const int64_t rows = options.num_embeddings(), columns = options.embedding_dim();
  if (const auto padding = options.padding_idx()) {
    if (*padding < -rows || *padding >= rows)
      tandem::fail("[", Derived::kName, "] Padding_idx must be within num_embeddings, ", rows, ", but is ", *padding);
    if (*padding < 0) options.padding_idx(*padding + rows);
  }
  const Tensor& given = options._weight();
  if (given.defined() && given.sizes() != tandem::Shape{rows, columns})
    tandem::fail("[", Derived::kName, "] Shape of _weight, ", given.sizes(), ", does not match num_embeddings and embedding_dim, ", rows,
                 " and ", columns);
  weight = this->register_parameter("weight", given.defined() ? given : tandem::empty({rows, columns}, {}, site), true, site);
  if (!given.defined()) reset_parameters(site);
}

template <class Derived, class LayerOptions>
void detail::TableImpl<Derived, LayerOptions>::reset_parameters(Site site) {
  tandem::nn::init::normal_(weight, 0, 1, site);
  if (options.padding_idx()) tandem::nn::init::zeros_(weight.detach().select(0, *options.padding_idx(), site), site);
}

namespace {

// A holder with a layer that has the rows of `embeddings`; the options are those of the given kind that a table has too.
template <class Holder, class LayerOptions, class Given>
Holder pretrained(const char* op, const Tensor& embeddings, LayerOptions options, const Given& given, Site site) {
  if (embeddings.dim(site) != 2)
    tandem::fail("[", op, ".from_pretrained] Embeddings parameter is expected to be 2-dimensional, got ", embeddings.sizes());
  options._weight(embeddings)
      .max_norm(given.max_norm())
      .norm_type(given.norm_type())
      .scale_grad_by_freq(given.scale_grad_by_freq())
      .sparse(given.sparse())
      .padding_idx(given.padding_idx());
  Holder layer(std::move(options), site);
  layer->weight.requires_grad_(!given.freeze(), site);
  return layer;
}

}  // namespace

template class detail::TableImpl<EmbeddingImpl, EmbeddingOptions>;
template class detail::TableImpl<EmbeddingBagImpl, EmbeddingBagOptions>;

Tensor EmbeddingImpl::forward(const Tensor& input, Site site) {
  return tandem::embedding(input, weight, options.padding_idx(), options.max_norm(), options.norm_type(), options.scale_grad_by_freq(),
                           site);
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  detail::Text text(stream, kName);
  text("num_embeddings", options.num_embeddings())("embedding_dim", options.embedding_dim());
  text.when(options.padding_idx().has_value(), "padding_idx", options.padding_idx());
  text.when(options.max_norm().has_value(), "max_norm", options.max_norm());
  text.when(options.norm_type() != 2, "norm_type", options.norm_type());
  text.when(options.scale_grad_by_freq(), "scale_grad_by_freq", true).when(options.sparse(), "sparse", true);
}

Embedding Embedding::from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedOptions& options, Site site) {
  return pretrained<Embedding>("Embedding", embeddings, EmbeddingOptions(embeddings.size(0, site), embeddings.size(-1, site)), options,
                               site);
}

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights, Site site) {
  return functional::embedding_bag(input, weight,
                                   functional::EmbeddingBagFuncOptions()
                                       .offsets(offsets)
                                       .max_norm(options.max_norm())
                                       .norm_type(options.norm_type())
                                       .scale_grad_by_freq(options.scale_grad_by_freq())
                                       .mode(options.mode())
                                       .per_sample_weights(per_sample_weights)
                                       .include_last_offset(options.include_last_offset())
                                       .padding_idx(options.padding_idx()),
                                   site);
}

void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  detail::Text text(stream, kName);
  text("num_embeddings", options.num_embeddings())("embedding_dim", options.embedding_dim());
  text.when(options.max_norm().has_value(), "max_norm", options.max_norm());
  text.when(options.norm_type() != 2, "norm_type", options.norm_type());
  text.when(options.scale_grad_by_freq(), "scale_grad_by_freq", true).when(options.sparse(), "sparse", true);
  text.when(!std::holds_alternative<enumtype::kMean>(options.mode()), "mode", options.mode());
  text.when(options.include_last_offset(), "include_last_offset", true);
  text.when(options.padding_idx().has_value(), "padding_idx", options.padding_idx());
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options, Site site) {
  return pretrained<EmbeddingBag>("EmbeddingBag", embeddings,
                                  EmbeddingBagOptions(embeddings.size(0, site), embeddings.size(-1, site))
                                      .mode(options.mode())
                                      .include_last_offset(options.include_last_offset()),
                                  options, site);
}

}  // namespace torch::nn
