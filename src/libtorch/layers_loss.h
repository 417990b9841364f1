// Losses as layers.
#pragma once

#include "libtorch/functional_loss.h"
#include "libtorch/layers_base.h"
#include "libtorch/options_loss.h"

namespace torch::nn {

/// A layer that computes functional's function of its name.
#define TANDEM_LOSS(Name) TANDEM_OPTIONS_LAYER(Name, const Tensor& input, const Tensor& target)

TANDEM_LOSS(L1Loss);
TANDEM_LOSS(MSELoss);
TANDEM_LOSS(SmoothL1Loss);
TANDEM_LOSS(HuberLoss);
TANDEM_LOSS(KLDivLoss);
TANDEM_LOSS(PoissonNLLLoss);
TANDEM_LOSS(SoftMarginLoss);
TANDEM_LOSS(MultiLabelMarginLoss);
TANDEM_LOSS(HingeEmbeddingLoss);

#undef TANDEM_LOSS

/// The same of three inputs.
#define TANDEM_LOSS_OF_THREE(Name, first, second, third) \
  TANDEM_OPTIONS_LAYER(Name, const Tensor& first, const Tensor& second, const Tensor& third)

TANDEM_LOSS_OF_THREE(MarginRankingLoss, input1, input2, target);
TANDEM_LOSS_OF_THREE(CosineEmbeddingLoss, input1, input2, target);
TANDEM_LOSS_OF_THREE(TripletMarginLoss, anchor, positive, negative);
TANDEM_LOSS_OF_THREE(TripletMarginWithDistanceLoss, anchor, positive, negative);

#undef TANDEM_LOSS_OF_THREE

namespace detail {

/// The second buffer of those losses that have one.
template <class LayerOptions>
struct PositiveWeight {};
template <>
struct PositiveWeight<BCEWithLogitsLossOptions> {
  Tensor pos_weight;
};

/// A loss with weights of elements or classes, which are a buffer: they move with the layer.
template <class Derived, class LayerOptions, Tensor (*Function)(const Tensor&, const Tensor&, const LayerOptions&, Site)>
class WeightedLoss : public Cloneable<Derived>, public PositiveWeight<LayerOptions> {
 public:
  explicit WeightedLoss(LayerOptions options_ = {}, Site = Site::here());
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;

  LayerOptions options;
  Tensor weight;
};

}  // namespace detail

#define TANDEM_WEIGHTED_LOSS(Name, function)                                                        \
  class Name##Impl : public detail::WeightedLoss<Name##Impl, Name##Options, functional::function> { \
   public:                                                                                          \
    static constexpr const char* kName = #Name;                                                     \
    using WeightedLoss::WeightedLoss;                                                               \
  };                                                                                                \
  extern template class detail::WeightedLoss<Name##Impl, Name##Options, functional::function>;      \
  TANDEM_TORCH_LAYER(Name)

TANDEM_WEIGHTED_LOSS(BCELoss, binary_cross_entropy);
TANDEM_WEIGHTED_LOSS(BCEWithLogitsLoss, binary_cross_entropy_with_logits);
TANDEM_WEIGHTED_LOSS(NLLLoss, nll_loss);
TANDEM_WEIGHTED_LOSS(CrossEntropyLoss, cross_entropy);
TANDEM_WEIGHTED_LOSS(MultiLabelSoftMarginLoss, multilabel_soft_margin_loss);

#undef TANDEM_WEIGHTED_LOSS

/// Error unless p is 1 or 2 and the weight is a list.
class MultiMarginLossImpl : public detail::WeightedLoss<MultiMarginLossImpl, MultiMarginLossOptions, functional::multi_margin_loss> {
 public:
  static constexpr const char* kName = "MultiMarginLoss";

  explicit MultiMarginLossImpl(MultiMarginLossOptions options_ = {}, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;
};
extern template class detail::WeightedLoss<MultiMarginLossImpl, MultiMarginLossOptions, functional::multi_margin_loss>;
TANDEM_TORCH_LAYER(MultiMarginLoss);

/// Connectionist temporal classification.
TANDEM_OPTIONS_LAYER(CTCLoss, const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths);

}  // namespace torch::nn
