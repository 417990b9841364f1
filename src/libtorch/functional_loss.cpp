#include "libtorch/functional_loss.h"

#include "libtorch/functional_arguments.h"
#include "ops/loss/loss.h"

namespace torch::nn::functional {

using nn::detail::reduction_of;

// A loss that has no other option.
#define TANDEM_LOSS(name)                                                                                          \
  Tensor name(const Tensor& input, const Tensor& target, const nn::detail::ReductionOptions& options, Site site) { \
    return tandem::name(input, target, {.reduction = reduction_of(options.reduction())}, site);                    \
  }

TANDEM_LOSS(l1_loss)
TANDEM_LOSS(mse_loss)
TANDEM_LOSS(soft_margin_loss)
TANDEM_LOSS(multilabel_margin_loss)
#undef TANDEM_LOSS

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options, Site site) {
  return tandem::smooth_l1_loss(input, target, {.reduction = reduction_of(options.reduction()), .beta = options.beta()}, site);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, SmoothL1LossFuncOptions options, double beta, Site site) {
  return smooth_l1_loss(input, target, options.beta(beta), site);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options, Site site) {
  return tandem::huber_loss(input, target, {.reduction = reduction_of(options.reduction()), .delta = options.delta()}, site);
}

Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options, Site site) {
  return tandem::kl_div(input, target, {.reduction = reduction_of(options.reduction()), .log_target = options.log_target()}, site);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& options, Site site) {
  return tandem::binary_cross_entropy(input, target, {.weight = options.weight(), .reduction = reduction_of(options.reduction())}, site);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const BinaryCrossEntropyWithLogitsFuncOptions& options,
                                        Site site) {
  return tandem::binary_cross_entropy_with_logits(
      input, target, {.weight = options.weight(), .reduction = reduction_of(options.reduction()), .pos_weight = options.pos_weight()},
      site);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& options, Site site) {
  return tandem::poisson_nll_loss(
      input, target,
      {.log_input = options.log_input(), .full = options.full(), .eps = options.eps(), .reduction = reduction_of(options.reduction())},
      site);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& options, Site site) {
  return tandem::hinge_embedding_loss(input, target, {.margin = options.margin(), .reduction = reduction_of(options.reduction())}, site);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, const MarginRankingLossFuncOptions& options,
                           Site site) {
  return tandem::margin_ranking_loss(input1, input2, target, {.margin = options.margin(), .reduction = reduction_of(options.reduction())},
                                     site);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& options, Site site) {
  return tandem::cosine_embedding_loss(input1, input2, target, {.margin = options.margin(), .reduction = reduction_of(options.reduction())},
                                       site);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& options, Site site) {
  return tandem::triplet_margin_loss(anchor, positive, negative,
                                     {.margin = options.margin(),
                                      .p = options.p(),
                                      .eps = options.eps(),
                                      .swap = options.swap(),
                                      .reduction = reduction_of(options.reduction())},
                                     site);
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& options, Site site) {
  return tandem::triplet_margin_with_distance_loss(anchor, positive, negative,
                                                   {.distance_function = options.distance_function().value_or(nullptr),
                                                    .margin = options.margin(),
                                                    .swap = options.swap(),
                                                    .reduction = reduction_of(options.reduction())},
                                                   site);
}

Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options, Site site) {
  return tandem::cross_entropy(input, target,
                               {.weight = options.weight(),
                                .ignore_index = options.ignore_index(),
                                .reduction = reduction_of(options.reduction()),
                                .label_smoothing = options.label_smoothing()},
                               site);
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options, Site site) {
  return tandem::nll_loss(
      input, target, {.weight = options.weight(), .ignore_index = options.ignore_index(), .reduction = reduction_of(options.reduction())},
      site);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& options, Site site) {
  return tandem::multi_margin_loss(
      input, target,
      {.p = options.p(), .margin = options.margin(), .weight = options.weight(), .reduction = reduction_of(options.reduction())}, site);
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const MultilabelSoftMarginLossFuncOptions& options,
                                   Site site) {
  return tandem::multilabel_soft_margin_loss(input, target, {.weight = options.weight(), .reduction = reduction_of(options.reduction())},
                                             site);
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                const CTCLossFuncOptions& options, Site site) {
  return tandem::ctc_loss(
      log_probs, targets, input_lengths, target_lengths,
      {.blank = options.blank(), .reduction = reduction_of(options.reduction()), .zero_infinity = options.zero_infinity()}, site);
}

}  // namespace torch::nn::functional
