// Options of losses, which layers and functions share.
#pragma once

#include <functional>
#include <vector>

#include "libtorch/arg.h"
#include "libtorch/enums.h"
#include "libtorch/types.h"

namespace torch::nn {
namespace detail {

/// What becomes of the losses of elements or rows.
using Reduction = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;

/// Of losses that have no other option; the word may stand for it: `l1_loss(a, b, torch::kSum)`.
struct ReductionOptions {
  using reduction_t = Reduction;

  ReductionOptions() = default;
  template <class Word>
  requires std::is_constructible_v<reduction_t, Word> ReductionOptions(Word word) : reduction_(word) {}
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

}  // namespace detail

using L1LossOptions = detail::ReductionOptions;
using MSELossOptions = detail::ReductionOptions;
using MultiLabelMarginLossOptions = detail::ReductionOptions;
using SoftMarginLossOptions = detail::ReductionOptions;

struct SmoothL1LossOptions {
  using reduction_t = detail::Reduction;

  SmoothL1LossOptions() = default;
  template <class Word>
  requires std::is_constructible_v<reduction_t, Word> SmoothL1LossOptions(Word word) : reduction_(word) {}
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(double, beta) = 1;
};

struct HuberLossOptions {
  using reduction_t = detail::Reduction;

  HuberLossOptions() = default;
  template <class Word>
  requires std::is_constructible_v<reduction_t, Word> HuberLossOptions(Word word) : reduction_(word) {}
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(double, delta) = 1;
};

/// kBatchMean: the sum over the number of rows.
struct KLDivLossOptions {
  using reduction_t = std::variant<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;

  KLDivLossOptions() = default;
  template <class Word>
  requires std::is_constructible_v<reduction_t, Word> KLDivLossOptions(Word word) : reduction_(word) {}
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(bool, log_target) = false;
};

struct BCELossOptions {
  using reduction_t = detail::Reduction;

  TORCH_ARG(Tensor, weight) = Tensor();
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};
using MultiLabelSoftMarginLossOptions = BCELossOptions;

struct BCEWithLogitsLossOptions {
  using reduction_t = detail::Reduction;

  TORCH_ARG(Tensor, weight) = Tensor();
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(Tensor, pos_weight) = Tensor();
};

struct HingeEmbeddingLossOptions {
  using reduction_t = detail::Reduction;

  TORCH_ARG(double, margin) = 1;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MultiMarginLossOptions {
  using reduction_t = detail::Reduction;

  TORCH_ARG(int64_t, p) = 1;
  TORCH_ARG(double, margin) = 1;
  TORCH_ARG(Tensor, weight) = Tensor();
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct TripletMarginLossOptions {
  using reduction_t = detail::Reduction;

  TORCH_ARG(double, margin) = 1;
  TORCH_ARG(double, p) = 2;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

/// Without a function the distance is pairwise_distance.
struct TripletMarginWithDistanceLossOptions {
  using reduction_t = detail::Reduction;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;

  TORCH_ARG(std::optional<distance_function_t>, distance_function) = std::nullopt;
  TORCH_ARG(double, margin) = 1;
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct CTCLossOptions {
  using reduction_t = detail::Reduction;

  TORCH_ARG(int64_t, blank) = 0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(bool, zero_infinity) = false;
};

struct PoissonNLLLossOptions {
  using reduction_t = detail::Reduction;

  TORCH_ARG(bool, log_input) = true;
  TORCH_ARG(bool, full) = false;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct MarginRankingLossOptions {
  using reduction_t = detail::Reduction;

  TORCH_ARG(double, margin) = 0;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};
using CosineEmbeddingLossOptions = MarginRankingLossOptions;

struct NLLLossOptions {
  using reduction_t = detail::Reduction;

  TORCH_ARG(Tensor, weight) = Tensor();
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
};

struct CrossEntropyLossOptions {
  using reduction_t = detail::Reduction;

  TORCH_ARG(Tensor, weight) = Tensor();
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(reduction_t, reduction) = torch::kMean;
  TORCH_ARG(double, label_smoothing) = 0;
};

/// Of AdaptiveLogSoftmaxWithLoss; classes up to the first cutoff are the head's, those between two of them a cluster's.
struct AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  TORCH_ARG(int64_t, in_features);
  TORCH_ARG(int64_t, n_classes);
  TORCH_ARG(std::vector<int64_t>, cutoffs);
  TORCH_ARG(double, div_value) = 4;
  TORCH_ARG(bool, head_bias) = false;
};

namespace functional {

using L1LossFuncOptions = L1LossOptions;
using MSELossFuncOptions = MSELossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;
using CTCLossFuncOptions = CTCLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;

}  // namespace functional
}  // namespace torch::nn
