#include "libtorch/layers_loss.h"

namespace torch::nn {

// functional::function(input, target, its options); printed as what follows.
#define TANDEM_LOSS(Name, function, ...)                                             \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target, Site site) { \
    return functional::function(input, target, options, site);                       \
  }                                                                                  \
  void Name##Impl::pretty_print(std::ostream& stream) const { __VA_ARGS__; }

TANDEM_LOSS(L1Loss, l1_loss, detail::Text(stream, "L1Loss"))
TANDEM_LOSS(MSELoss, mse_loss, detail::Text(stream, "MSELoss"))
TANDEM_LOSS(SmoothL1Loss, smooth_l1_loss, stream << "torch::nn::SmoothL1Loss")
TANDEM_LOSS(HuberLoss, huber_loss, stream << "torch::nn::HuberLoss")
TANDEM_LOSS(KLDivLoss, kl_div, detail::Text(stream, "KLDivLoss"))
TANDEM_LOSS(PoissonNLLLoss, poisson_nll_loss, detail::Text(stream, "PoissonNLLLoss"))
TANDEM_LOSS(SoftMarginLoss, soft_margin_loss, detail::Text(stream, "SoftMarginLoss"))
TANDEM_LOSS(MultiLabelMarginLoss, multilabel_margin_loss, detail::Text(stream, "MultiLabelMarginLoss"))
TANDEM_LOSS(HingeEmbeddingLoss, hinge_embedding_loss, detail::Text(stream, "HingeEmbeddingLoss")("margin", options.margin()))

#undef TANDEM_LOSS

// The same of three inputs.
#define TANDEM_LOSS_OF_THREE(Name, function, first, second, third, ...)                                   \
  Tensor Name##Impl::forward(const Tensor& first, const Tensor& second, const Tensor& third, Site site) { \
    return functional::function(first, second, third, options, site);                                     \
  }                                                                                                       \
  void Name##Impl::pretty_print(std::ostream& stream) const { detail::Text(stream, #Name) __VA_ARGS__; }

TANDEM_LOSS_OF_THREE(MarginRankingLoss, margin_ranking_loss, input1, input2, target, )
TANDEM_LOSS_OF_THREE(CosineEmbeddingLoss, cosine_embedding_loss, input1, input2, target, ("margin", options.margin()))
TANDEM_LOSS_OF_THREE(TripletMarginLoss, triplet_margin_loss, anchor, positive, negative,
                     ("margin", options.margin())("p", options.p())("eps", options.eps())("swap", options.swap()))
TANDEM_LOSS_OF_THREE(TripletMarginWithDistanceLoss, triplet_margin_with_distance_loss, anchor, positive, negative,
                     ("margin", options.margin())("swap", options.swap()))

#undef TANDEM_LOSS_OF_THREE

template <class Derived, class LayerOptions, Tensor (*Function)(const Tensor&, const Tensor&, const LayerOptions&, Site)>
detail::WeightedLoss<Derived, LayerOptions, Function>::WeightedLoss(LayerOptions options_, Site) : options(std::move(options_)) {
  reset();
}

template <class Derived, class LayerOptions, Tensor (*Function)(const Tensor&, const Tensor&, const LayerOptions&, Site)>
void detail::WeightedLoss<Derived, LayerOptions, Function>::reset() {
  const Site site = making_site();
  weight = this->register_buffer("weight", options.weight(), site);
  if constexpr (requires { options.pos_weight(); }) this->pos_weight = this->register_buffer("pos_weight", options.pos_weight(), site);
}

template <class Derived, class LayerOptions, Tensor (*Function)(const Tensor&, const Tensor&, const LayerOptions&, Site)>
Tensor detail::WeightedLoss<Derived, LayerOptions, Function>::forward(const Tensor& input, const Tensor& target, Site site) {
  LayerOptions how = options;
  how.weight(weight);
  if constexpr (requires { options.pos_weight(); }) how.pos_weight(this->pos_weight);
  return Function(input, target, how, site);
}

template <class Derived, class LayerOptions, Tensor (*Function)(const Tensor&, const Tensor&, const LayerOptions&, Site)>
void detail::WeightedLoss<Derived, LayerOptions, Function>::pretty_print(std::ostream& stream) const {
  Text(stream, Derived::kName);
}

template class detail::WeightedLoss<BCELossImpl, BCELossOptions, functional::binary_cross_entropy>;
template class detail::WeightedLoss<BCEWithLogitsLossImpl, BCEWithLogitsLossOptions, functional::binary_cross_entropy_with_logits>;
template class detail::WeightedLoss<NLLLossImpl, NLLLossOptions, functional::nll_loss>;
template class detail::WeightedLoss<CrossEntropyLossImpl, CrossEntropyLossOptions, functional::cross_entropy>;
template class detail::WeightedLoss<MultiLabelSoftMarginLossImpl, MultiLabelSoftMarginLossOptions, functional::multilabel_soft_margin_loss>;
template class detail::WeightedLoss<MultiMarginLossImpl, MultiMarginLossOptions, functional::multi_margin_loss>;

MultiMarginLossImpl::MultiMarginLossImpl(MultiMarginLossOptions options_, Site site) : WeightedLoss(std::move(options_), site) {
  if (options.p() != 1 && options.p() != 2) tandem::fail("[MultiMarginLoss] only p == 1 and p == 2 supported, got ", options.p());
  if (weight.defined() && weight.dim() != 1)
    tandem::fail("[MultiMarginLoss] weight must have 1 dimension, one factor a class, got ", weight.dim());
}

void MultiMarginLossImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, kName)("p", options.p())("margin", options.margin())("weight", weight)("reduction", options.reduction());
}

Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                            Site site) {
  return functional::ctc_loss(log_probs, targets, input_lengths, target_lengths, options, site);
}

void CTCLossImpl::pretty_print(std::ostream& stream) const { detail::Text(stream, "CTCLoss"); }

}  // namespace torch::nn
