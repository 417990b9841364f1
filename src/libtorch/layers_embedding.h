// Tables of learned rows: Embedding and EmbeddingBag.
#pragma once

#include "libtorch/layers_base.h"
#include "libtorch/options_linear.h"

namespace torch::nn {
namespace detail {

/// What both share: a table (num_embeddings, embedding_dim) that starts normal, with zeros at padding_idx.
template <class Derived, class LayerOptions>
class TableImpl : public Cloneable<Derived> {
 public:
  explicit TableImpl(LayerOptions options_, Site = Site::here());
  TableImpl(int64_t num_embeddings, int64_t embedding_dim, Site site = Site::here());
  void reset() override;
  void reset_parameters(Site site = Site::here());

  LayerOptions options;
  Tensor weight;
};

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

extern template class detail::TableImpl<EmbeddingImpl, EmbeddingOptions>;
extern template class detail::TableImpl<EmbeddingBagImpl, EmbeddingBagOptions>;

}  // namespace torch::nn
