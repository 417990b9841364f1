// Losses as layers.
#pragma once

#include "libtorch/functional_loss.h"
#include "libtorch/layers_base.h"
#include "libtorch/options_loss.h"

namespace torch::nn {

/// A layer NameImpl, and Name that holds one, which computes functional's function of that name.
#define TANDEM_LOSS(Name)                                                                \
  class Name##Impl : public detail::OptionsOnly<Name##Impl, Name##Options> {             \
   public:                                                                               \
    using OptionsOnly::OptionsOnly;                                                      \
    Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::here()); \
    void pretty_print(std::ostream& stream) const override;                              \
  };                                                                                     \
  TANDEM_TORCH_LAYER(Name)

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
#define TANDEM_LOSS_OF_THREE(Name, first, second, third)                                                      \
  class Name##Impl : public detail::OptionsOnly<Name##Impl, Name##Options> {                                  \
   public:                                                                                                    \
    using OptionsOnly::OptionsOnly;                                                                           \
    Tensor forward(const Tensor& first, const Tensor& second, const Tensor& third, Site site = Site::here()); \
    void pretty_print(std::ostream& stream) const override;                                                   \
  };                                                                                                          \
  TANDEM_TORCH_LAYER(Name)

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
TANDEM_TORCH_LAYER(MultiMarginLoss);

extern template class detail::WeightedLoss<BCELossImpl, BCELossOptions, functional::binary_cross_entropy>;
extern template class detail::WeightedLoss<BCEWithLogitsLossImpl, BCEWithLogitsLossOptions, functional::binary_cross_entropy_with_logits>;
extern template class detail::WeightedLoss<NLLLossImpl, NLLLossOptions, functional::nll_loss>;
extern template class detail::WeightedLoss<CrossEntropyLossImpl, CrossEntropyLossOptions, functional::cross_entropy>;
extern template class detail::WeightedLoss<MultiLabelSoftMarginLossImpl, MultiLabelSoftMarginLossOptions,
                                           functional::multilabel_soft_margin_loss>;
extern template class detail::WeightedLoss<MultiMarginLossImpl, MultiMarginLossOptions, functional::multi_margin_loss>;

/// Connectionist temporal classification.
class CTCLossImpl : public detail::OptionsOnly<CTCLossImpl, CTCLossOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                 Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;
};
TANDEM_TORCH_LAYER(CTCLoss);

}  // namespace torch::nn
