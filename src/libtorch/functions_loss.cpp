#include "libtorch/functions_loss.h"

namespace torch {

detail::LossReduction::operator tandem::Reduction() const {
  return number_ == 0 ? tandem::Reduction::None : number_ == 1 ? tandem::Reduction::Mean : tandem::Reduction::Sum;
}

Tensor detail::value_of(const std::optional<Tensor>& tensor) { return tensor ? *tensor : Tensor(); }

// A loss that has no other parameter.
#define TANDEM_LOSS(name)                                                                              \
  Tensor name(const Tensor& input, const Tensor& target, detail::LossReduction reduction, Site site) { \
    return tandem::name(input, target, {.reduction = reduction}, site);                                \
  }

TANDEM_LOSS(mse_loss)
TANDEM_LOSS(l1_loss)
TANDEM_LOSS(soft_margin_loss)
TANDEM_LOSS(multilabel_margin_loss)
#undef TANDEM_LOSS

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, detail::LossReduction reduction, double beta, Site site) {
  return tandem::smooth_l1_loss(input, target, {.reduction = reduction, .beta = beta}, site);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, detail::LossReduction reduction, double delta, Site site) {
  return tandem::huber_loss(input, target, {.reduction = reduction, .delta = delta}, site);
}

Tensor kl_div(const Tensor& input, const Tensor& target, detail::LossReduction reduction, bool log_target, Site site) {
  return tandem::kl_div(input, target, {.reduction = reduction, .log_target = log_target}, site);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps, detail::LossReduction reduction,
                        Site site) {
  return tandem::poisson_nll_loss(input, target, {.log_input = log_input, .full = full, .eps = eps, .reduction = reduction}, site);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin, detail::LossReduction reduction, Site site) {
  return tandem::hinge_embedding_loss(input, target, {.margin = margin, .reduction = reduction}, site);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, detail::LossReduction reduction,
                           Site site) {
  return tandem::margin_ranking_loss(input1, input2, target, {.margin = margin, .reduction = reduction}, site);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             detail::LossReduction reduction, Site site) {
  return tandem::cosine_embedding_loss(input1, input2, target, {.margin = margin, .reduction = reduction}, site);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p, double eps,
                           bool swap, detail::LossReduction reduction, Site site) {
  return tandem::triplet_margin_loss(anchor, positive, negative,
                                     {.margin = margin, .p = p, .eps = eps, .swap = swap, .reduction = reduction}, site);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const tandem::BinaryCrossEntropyOptions& options, Site site) {
  const bool fits = target.sizes() == input.sizes() || target.numel() != input.numel();
  return tandem::binary_cross_entropy(input, fits ? target : target.reshape(input.sizes(), site), options, site);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight, detail::LossReduction reduction,
                            Site site) {
  return torch::binary_cross_entropy(input, target,
                                     tandem::BinaryCrossEntropyOptions{.weight = detail::value_of(weight), .reduction = reduction}, site);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                                        const std::optional<Tensor>& pos_weight, detail::LossReduction reduction, Site site) {
  return tandem::binary_cross_entropy_with_logits(
      input, target, {.weight = detail::value_of(weight), .reduction = reduction, .pos_weight = detail::value_of(pos_weight)}, site);
}

Tensor cross_entropy_loss(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight, detail::LossReduction reduction,
                          int64_t ignore_index, double label_smoothing, Site site) {
  return tandem::cross_entropy(
      input, target,
      {.weight = detail::value_of(weight), .ignore_index = ignore_index, .reduction = reduction, .label_smoothing = label_smoothing}, site);
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight, detail::LossReduction reduction,
                int64_t ignore_index, Site site) {
  return tandem::nll_loss(input, target, {.weight = detail::value_of(weight), .ignore_index = ignore_index, .reduction = reduction}, site);
}

Tensor nll_loss2d(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight, detail::LossReduction reduction,
                  int64_t ignore_index, Site site) {
  return torch::nll_loss(input, target, weight, reduction, ignore_index, site);
}

Tensor nll_loss_nd(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight, detail::LossReduction reduction,
                   int64_t ignore_index, Site site) {
  return torch::nll_loss(input, target, weight, reduction, ignore_index, site);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const Scalar& p, const Scalar& margin,
                         const std::optional<Tensor>& weight, detail::LossReduction reduction, Site site) {
  return tandem::multi_margin_loss(
      input, target, {.p = p.to<int64_t>(), .margin = margin.to<double>(), .weight = detail::value_of(weight), .reduction = reduction},
      site);
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank,
                detail::LossReduction reduction, bool zero_infinity, Site site) {
  return tandem::ctc_loss(log_probs, targets, input_lengths, target_lengths,
                          {.blank = blank, .reduction = reduction, .zero_infinity = zero_infinity}, site);
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths, int64_t blank,
                detail::LossReduction reduction, bool zero_infinity, Site site) {
  return tandem::ctc_loss(log_probs, targets, input_lengths, target_lengths,
                          {.blank = blank, .reduction = reduction, .zero_infinity = zero_infinity}, site);
}

}  // namespace torch
