// Losses as layers.
#pragma once

#include "libtorch/functional_loss.h"
#include "libtorch/layers_base.h"
#include "libtorch/options_loss.h"

namespace torch::nn {

/// A layer NameImpl, and Name that holds one, which computes functional::function(input, target, its options); printed as what follows.
#define TANDEM_LOSS(Name, function, ...)                                                  \
  class Name##Impl : public detail::OptionsOnly<Name##Impl, Name##Options> {              \
   public:                                                                                \
    using OptionsOnly::OptionsOnly;                                                       \
    Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::here()) { \
      return functional::function(input, target, options, site);                          \
    }                                                                                     \
    void pretty_print(std::ostream& stream) const override { __VA_ARGS__; }               \
  };                                                                                      \
  TORCH_MODULE(Name)

TANDEM_LOSS(L1Loss, l1_loss, detail::Text(stream, "L1Loss"));
TANDEM_LOSS(MSELoss, mse_loss, detail::Text(stream, "MSELoss"));
TANDEM_LOSS(SmoothL1Loss, smooth_l1_loss, stream << "torch::nn::SmoothL1Loss");
TANDEM_LOSS(HuberLoss, huber_loss, stream << "torch::nn::HuberLoss");
TANDEM_LOSS(KLDivLoss, kl_div, detail::Text(stream, "KLDivLoss"));
TANDEM_LOSS(PoissonNLLLoss, poisson_nll_loss, detail::Text(stream, "PoissonNLLLoss"));
TANDEM_LOSS(SoftMarginLoss, soft_margin_loss, detail::Text(stream, "SoftMarginLoss"));
TANDEM_LOSS(MultiLabelMarginLoss, multilabel_margin_loss, detail::Text(stream, "MultiLabelMarginLoss"));
TANDEM_LOSS(HingeEmbeddingLoss, hinge_embedding_loss, detail::Text(stream, "HingeEmbeddingLoss")("margin", options.margin()));

#undef TANDEM_LOSS

/// The same of three inputs.
#define TANDEM_LOSS_OF_THREE(Name, function, first, second, third, ...)                                        \
  class Name##Impl : public detail::OptionsOnly<Name##Impl, Name##Options> {                                   \
   public:                                                                                                     \
    using OptionsOnly::OptionsOnly;                                                                            \
    Tensor forward(const Tensor& first, const Tensor& second, const Tensor& third, Site site = Site::here()) { \
      return functional::function(first, second, third, options, site);                                        \
    }                                                                                                          \
    void pretty_print(std::ostream& stream) const override { detail::Text(stream, #Name) __VA_ARGS__; }        \
  };                                                                                                           \
  TORCH_MODULE(Name)

TANDEM_LOSS_OF_THREE(MarginRankingLoss, margin_ranking_loss, input1, input2, target, );
TANDEM_LOSS_OF_THREE(CosineEmbeddingLoss, cosine_embedding_loss, input1, input2, target, ("margin", options.margin()));
TANDEM_LOSS_OF_THREE(TripletMarginLoss, triplet_margin_loss, anchor, positive, negative,
                     ("margin", options.margin())("p", options.p())("eps", options.eps())("swap", options.swap()));
TANDEM_LOSS_OF_THREE(TripletMarginWithDistanceLoss, triplet_margin_with_distance_loss, anchor, positive, negative,
                     ("margin", options.margin())("swap", options.swap()));

#undef TANDEM_LOSS_OF_THREE

namespace detail {

/// A loss with weights of elements or classes, which are a buffer: they move with the layer.
template <class Derived, class LayerOptions, Tensor (*Function)(const Tensor&, const Tensor&, const LayerOptions&, Site)>
class WeightedLoss : public Cloneable<Derived> {
 public:
  explicit WeightedLoss(LayerOptions options_ = {}, Site = Site::here()) : options(std::move(options_)) { reset(); }
  void reset() override {
    const Site site = making_site();
    weight = this->register_buffer("weight", options.weight(), site);
    if constexpr (requires { options.pos_weight(); }) this->register_buffer("pos_weight", options.pos_weight(), site);
  }
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::here()) {
    LayerOptions how = options;
    how.weight(weight);
    return Function(input, target, how, site);
  }
  void pretty_print(std::ostream& stream) const override { Text(stream, Derived::kName); }

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
  TORCH_MODULE(Name)

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

  explicit MultiMarginLossImpl(MultiMarginLossOptions options_ = {}, Site site = Site::here()) : WeightedLoss(std::move(options_), site) {
    if (options.p() != 1 && options.p() != 2) tandem::fail("[MultiMarginLoss] only p == 1 and p == 2 supported, got ", options.p());
    if (weight.defined() && weight.dim() != 1)
      tandem::fail("[MultiMarginLoss] weight must have 1 dimension, one factor a class, got ", weight.dim());
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, kName)("p", options.p())("margin", options.margin())("weight", weight)("reduction", options.reduction());
  }
};
TORCH_MODULE(MultiMarginLoss);

/// Connectionist temporal classification.
class CTCLossImpl : public detail::OptionsOnly<CTCLossImpl, CTCLossOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                 Site site = Site::here()) {
    return functional::ctc_loss(log_probs, targets, input_lengths, target_lengths, options, site);
  }
  void pretty_print(std::ostream& stream) const override { detail::Text(stream, "CTCLoss"); }
};
TORCH_MODULE(CTCLoss);

}  // namespace torch::nn
