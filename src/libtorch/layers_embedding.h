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

  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;
};

class Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl = EmbeddingImpl;

  /// A table of these rows, which are not trained unless `freeze` is off.
  static Embedding from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedOptions& options = {}, Site site = Site::here());
};

/// Sums, means or maxima of bags of rows.
class EmbeddingBagImpl : public detail::TableImpl<EmbeddingBagImpl, EmbeddingBagOptions> {
 public:
  static constexpr const char* kName = "EmbeddingBag";
  using TableImpl::TableImpl;

  /// The bags are the rows of a 2-D input, or the parts of a list that `offsets` says.
  Tensor forward(const Tensor& input, const Tensor& offsets = {}, const Tensor& per_sample_weights = {}, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};

class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl = EmbeddingBagImpl;

  /// A table of these rows, which are not trained unless `freeze` is off.
  static EmbeddingBag from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options = {},
                                      Site site = Site::here());
};

}  // namespace torch::nn
