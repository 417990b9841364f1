// Losses with libtorch's parameters, one after another: nll_loss(input, target, weight, at::Reduction::Sum). The short calls are tandem's.
#pragma once

#include <concepts>
#include <type_traits>

#include "libtorch/types.h"
#include "ops/loss/loss.h"

namespace torch {

using tandem::Site;

namespace detail {
/// at::Reduction::Mean or its number, as a parameter; empty braces are none.
class LossReduction {
 public:
  template <class T>
  requires(std::is_enum_v<T> || std::integral<T>) LossReduction(T number) : number_(static_cast<int64_t>(number)) {
    if (number_ < 0 || number_ > 2)
      tandem::fail<tandem::ValueError>("[loss] reduction ", number_, " is none: pass at::Reduction::None (0), Mean (1) or Sum (2)");
  }
  operator tandem::Reduction() const;

 private:
  int64_t number_;
};
inline constexpr Reduction::Reduction kMeanLoss = Reduction::Mean;
/// The tensor, or an undefined one.
[[nodiscard]] Tensor value_of(const std::optional<Tensor>& tensor);
/// A tensor, or an optional one, but no braces.
template <class T>
concept TensorLike = std::same_as<T, Tensor> || std::same_as<T, std::optional<Tensor>>;
}  // namespace detail

[[nodiscard]] Tensor mse_loss(const Tensor& input, const Tensor& target, detail::LossReduction reduction, Site site = Site::here());
[[nodiscard]] Tensor l1_loss(const Tensor& input, const Tensor& target, detail::LossReduction reduction, Site site = Site::here());
[[nodiscard]] Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, detail::LossReduction reduction, double beta = 1,
                                    Site site = Site::here());
[[nodiscard]] Tensor huber_loss(const Tensor& input, const Tensor& target, detail::LossReduction reduction, double delta = 1,
                                Site site = Site::here());
[[nodiscard]] Tensor soft_margin_loss(const Tensor& input, const Tensor& target, detail::LossReduction reduction, Site site = Site::here());
[[nodiscard]] Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, detail::LossReduction reduction,
                                            Site site = Site::here());
[[nodiscard]] Tensor kl_div(const Tensor& input, const Tensor& target, detail::LossReduction reduction, bool log_target = false,
                            Site site = Site::here());
[[nodiscard]] Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                                      detail::LossReduction reduction, Site site = Site::here());
[[nodiscard]] Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin,
                                          detail::LossReduction reduction = detail::kMeanLoss, Site site = Site::here());
[[nodiscard]] Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                                         detail::LossReduction reduction = detail::kMeanLoss, Site site = Site::here());
[[nodiscard]] Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                                           detail::LossReduction reduction = detail::kMeanLoss, Site site = Site::here());
[[nodiscard]] Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p = 2,
                                         double eps = 1e-6, bool swap = false, detail::LossReduction reduction = detail::kMeanLoss,
                                         Site site = Site::here());
/// A target of other sizes with as many elements is taken in their order.
[[nodiscard]] Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const tandem::BinaryCrossEntropyOptions& options = {},
                                          Site site = Site::here());
[[nodiscard]] Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const detail::TensorLike auto& weight,
                                          detail::LossReduction reduction = detail::kMeanLoss, Site site = Site::here()) {
  return torch::binary_cross_entropy(input, target,
                                     tandem::BinaryCrossEntropyOptions{.weight = detail::value_of(weight), .reduction = reduction}, site);
}
[[nodiscard]] Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                                          detail::LossReduction reduction, Site site = Site::here());
[[nodiscard]] Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const detail::TensorLike auto& weight,
                                                      Site site = Site::here()) {
  return tandem::binary_cross_entropy_with_logits(input, target, {.weight = detail::value_of(weight)}, site);
}
[[nodiscard]] Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                                                      const std::optional<Tensor>& pos_weight,
                                                      detail::LossReduction reduction = detail::kMeanLoss, Site site = Site::here());
[[nodiscard]] Tensor cross_entropy_loss(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight = {},
                                        detail::LossReduction reduction = detail::kMeanLoss, int64_t ignore_index = -100,
                                        double label_smoothing = 0, Site site = Site::here());
[[nodiscard]] Tensor nll_loss(const Tensor& input, const Tensor& target, const detail::TensorLike auto& weight, Site site = Site::here()) {
  return tandem::nll_loss(input, target, {.weight = detail::value_of(weight)}, site);
}
[[nodiscard]] Tensor nll_loss(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                              detail::LossReduction reduction, int64_t ignore_index = -100, Site site = Site::here());
[[nodiscard]] Tensor nll_loss2d(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight = {},
                                detail::LossReduction reduction = detail::kMeanLoss, int64_t ignore_index = -100, Site site = Site::here());
[[nodiscard]] Tensor nll_loss_nd(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight = {},
                                 detail::LossReduction reduction = detail::kMeanLoss, int64_t ignore_index = -100,
                                 Site site = Site::here());
[[nodiscard]] Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const Scalar& p, const Scalar& margin = 1,
                                       const std::optional<Tensor>& weight = {}, detail::LossReduction reduction = detail::kMeanLoss,
                                       Site site = Site::here());
[[nodiscard]] Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                              int64_t blank, detail::LossReduction reduction = detail::kMeanLoss, bool zero_infinity = false,
                              Site site = Site::here());
[[nodiscard]] Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths,
                              int64_t blank, detail::LossReduction reduction = detail::kMeanLoss, bool zero_infinity = false,
                              Site site = Site::here());

}  // namespace torch
