#include "libtorch/layers_embedding.h"

namespace torch::nn {

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
  return detail::from_pretrained<Embedding>("Embedding", embeddings, EmbeddingOptions(embeddings.size(0, site), embeddings.size(-1, site)),
                                            options, site);
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
  return detail::from_pretrained<EmbeddingBag>("EmbeddingBag", embeddings,
                                               EmbeddingBagOptions(embeddings.size(0, site), embeddings.size(-1, site))
                                                   .mode(options.mode())
                                                   .include_last_offset(options.include_last_offset()),
                                               options, site);
}

}  // namespace torch::nn
