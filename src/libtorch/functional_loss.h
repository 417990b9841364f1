// torch::nn::functional: losses.
#pragma once

#include "libtorch/options_loss.h"

namespace torch::nn::functional {

using tandem::Site;

// --- Of numbers

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {}, Site site = Site::here());
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {}, Site site = Site::here());
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options = {}, Site site = Site::here());
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, SmoothL1LossFuncOptions options, double beta, Site site = Site::here());
Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options = {}, Site site = Site::here());
Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {}, Site site = Site::here());
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& options = {},
                            Site site = Site::here());
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& options = {}, Site site = Site::here());
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& options = {}, Site site = Site::here());
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& options = {}, Site site = Site::here());
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& options = {},
                            Site site = Site::here());
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& options = {}, Site site = Site::here());

// --- Of vectors

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& options = {}, Site site = Site::here());
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& options = {}, Site site = Site::here());
Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& options = {}, Site site = Site::here());

// --- Of classes and of sequences

Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {}, Site site = Site::here());
Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {}, Site site = Site::here());
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& options = {},
                         Site site = Site::here());
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, const MultilabelMarginLossFuncOptions& options = {},
                              Site site = Site::here());
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const MultilabelSoftMarginLossFuncOptions& options = {},
                                   Site site = Site::here());
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                const CTCLossFuncOptions& options = {}, Site site = Site::here());

}  // namespace torch::nn::functional
