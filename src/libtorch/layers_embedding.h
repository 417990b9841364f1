// Tables of learned rows: Embedding and EmbeddingBag.
#pragma once

#include "libtorch/functional_linear.h"
#include "libtorch/layers_base.h"
#include "nn/init.h"

namespace torch::nn {
namespace detail {

/// What both share: a table (num_embeddings, embedding_dim) that starts normal, with zeros at padding_idx.
template <class Derived, class LayerOptions>
class TableImpl : public Cloneable<Derived> {
 public:
  explicit TableImpl(LayerOptions options_, Site = Site::here()) : options(std::move(options_)) { reset(); }
  TableImpl(int64_t num_embeddings, int64_t embedding_dim, Site site = Site::here())
      : TableImpl(LayerOptions(num_embeddings, embedding_dim), site) {}
  void reset() override {
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
  void reset_parameters(Site site = Site::here()) {
    tandem::nn::init::normal_(weight, 0, 1, site);
    if (options.padding_idx()) tandem::nn::init::zeros_(weight.detach().select(0, *options.padding_idx(), site), site);
  }

  LayerOptions options;
  Tensor weight;
};

/// A holder with a layer that has the rows of `embeddings`; the options are those of the given kind that a table has too.
template <class Holder, class LayerOptions, class Given>
Holder from_pretrained(const char* op, const Tensor& embeddings, LayerOptions options, const Given& given, Site site) {
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

}  // namespace detail

/// Rows of a table at the input's indices.
class EmbeddingImpl : public detail::TableImpl<EmbeddingImpl, EmbeddingOptions> {
 public:
  static constexpr const char* kName = "Embedding";
  using TableImpl::TableImpl;

  Tensor forward(const Tensor& input, Site site = Site::here()) {
    return tandem::embedding(input, weight, options.padding_idx(), options.max_norm(), options.norm_type(), options.scale_grad_by_freq(),
                             site);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text text(stream, kName);
    text("num_embeddings", options.num_embeddings())("embedding_dim", options.embedding_dim());
    text.when(options.padding_idx().has_value(), "padding_idx", options.padding_idx());
    text.when(options.max_norm().has_value(), "max_norm", options.max_norm());
    text.when(options.norm_type() != 2, "norm_type", options.norm_type());
    text.when(options.scale_grad_by_freq(), "scale_grad_by_freq", true).when(options.sparse(), "sparse", true);
  }
};

class Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl = EmbeddingImpl;

  /// A table of these rows, which are not trained unless `freeze` is off.
  static Embedding from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedOptions& options = {}, Site site = Site::here()) {
    return detail::from_pretrained<Embedding>("Embedding", embeddings,
                                              EmbeddingOptions(embeddings.size(0, site), embeddings.size(-1, site)), options, site);
  }
};

/// Sums, means or maxima of bags of rows.
class EmbeddingBagImpl : public detail::TableImpl<EmbeddingBagImpl, EmbeddingBagOptions> {
 public:
  static constexpr const char* kName = "EmbeddingBag";
  using TableImpl::TableImpl;

  /// The bags are the rows of a 2-D input, or the parts of a list that `offsets` says.
  Tensor forward(const Tensor& input, const Tensor& offsets = {}, const Tensor& per_sample_weights = {}, Site site = Site::here()) {
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
  void pretty_print(std::ostream& stream) const override {
    detail::Text text(stream, kName);
    text("num_embeddings", options.num_embeddings())("embedding_dim", options.embedding_dim());
    text.when(options.max_norm().has_value(), "max_norm", options.max_norm());
    text.when(options.norm_type() != 2, "norm_type", options.norm_type());
    text.when(options.scale_grad_by_freq(), "scale_grad_by_freq", true).when(options.sparse(), "sparse", true);
    text.when(!std::holds_alternative<enumtype::kMean>(options.mode()), "mode", options.mode());
    text.when(options.include_last_offset(), "include_last_offset", true);
    text.when(options.padding_idx().has_value(), "padding_idx", options.padding_idx());
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};

class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl = EmbeddingBagImpl;

  /// A table of these rows, which are not trained unless `freeze` is off.
  static EmbeddingBag from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options = {},
                                      Site site = Site::here()) {
    return detail::from_pretrained<EmbeddingBag>("EmbeddingBag", embeddings,
                                                 EmbeddingBagOptions(embeddings.size(0, site), embeddings.size(-1, site))
                                                     .mode(options.mode())
                                                     .include_last_offset(options.include_last_offset()),
                                                 options, site);
  }
};

}  // namespace torch::nn
