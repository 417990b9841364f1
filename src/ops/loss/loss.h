// Losses, functional forms.
#pragma once

#include <functional>

#include "tensor/tensor.h"

namespace tandem {

/// What becomes of the losses of elements or rows. BatchMean is kl_div's: their sum over the number of rows.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // by g++: an enumerator of its own scope, beside td::None
enum class Reduction : uint8_t { None, Mean, Sum, BatchMean };
#pragma GCC diagnostic pop

struct LossOptions {
  Reduction reduction = Reduction::Mean;
};
/// Options of the losses that weight elements or classes, in this order.
struct WeightedLossOptions {
  Reduction reduction = Reduction::Mean;
  Tensor weight = {};  // one factor an element; Mean then divides by their sum
};
struct SmoothL1LossOptions {
  Reduction reduction = Reduction::Mean;
  double beta = 1;
};
struct HuberLossOptions {
  Reduction reduction = Reduction::Mean;
  double delta = 1;
  Tensor weight = {};
};
struct BinaryCrossEntropyOptions {
  Tensor weight = {};  // broadcast to the losses
  Reduction reduction = Reduction::Mean;
};
struct BinaryCrossEntropyWithLogitsOptions {
  Tensor weight = {};
  Reduction reduction = Reduction::Mean;
  Tensor pos_weight = {};  // factors of the targets that are 1
};
struct KlDivOptions {
  Reduction reduction = Reduction::Mean;
  bool log_target = false;
};
struct PoissonNllLossOptions {
  bool log_input = true, full = false;
  double eps = 1e-8;
  Reduction reduction = Reduction::Mean;
};
struct GaussianNllLossOptions {
  bool full = false;
  double eps = 1e-6;
  Reduction reduction = Reduction::Mean;
};
struct HingeEmbeddingLossOptions {
  double margin = 1;
  Reduction reduction = Reduction::Mean;
};
/// Options of the losses with a margin, in this order.
struct MarginLossOptions {
  double margin = 0;
  Reduction reduction = Reduction::Mean;
};
struct TripletMarginLossOptions {
  double margin = 1, p = 2, eps = 1e-6;
  bool swap = false;
  Reduction reduction = Reduction::Mean;
};
struct TripletMarginWithDistanceLossOptions {
  std::function<Tensor(const Tensor&, const Tensor&)> distance_function = {};  // pairwise_distance where there is none
  double margin = 1;
  bool swap = false;
  Reduction reduction = Reduction::Mean;
};
struct CrossEntropyOptions {
  Tensor weight = {};           // one factor a class
  int64_t ignore_index = -100;  // targets that do not count
  Reduction reduction = Reduction::Mean;
  double label_smoothing = 0;
};
struct NllLossOptions {
  Tensor weight = {};
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::Mean;
};
struct MultiMarginLossOptions {
  int64_t p = 1;
  double margin = 1;
  Tensor weight = {};  // one factor a class
  Reduction reduction = Reduction::Mean;
};
struct MultilabelSoftMarginLossOptions {
  Tensor weight = {};
  Reduction reduction = Reduction::Mean;
};
struct CtcLossOptions {
  int64_t blank = 0;
  Reduction reduction = Reduction::Mean;
  bool zero_infinity = false;  // losses of targets that don't fit, and their gradients, count as 0
};

// --- Of numbers (loss.cpp). Input and target broadcast; the formulas are those of an element.
/// (input - target)^2. As torch.nn.functional.mse_loss.
[[nodiscard]] Tensor mse_loss(const Tensor& input, const Tensor& target, const WeightedLossOptions& options = {}, Site site = Site::here());
/// |input - target|.
[[nodiscard]] Tensor l1_loss(const Tensor& input, const Tensor& target, const WeightedLossOptions& options = {}, Site site = Site::here());
/// d^2 / (2 beta) for d = |input - target| < beta, else d - beta / 2.
[[nodiscard]] Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossOptions& options = {},
                                    Site site = Site::here());
/// d^2 / 2 for d = |input - target| <= delta, else delta * (d - delta / 2).
[[nodiscard]] Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossOptions& options = {}, Site site = Site::here());
/// -(y log(x) + (1 - y) log(1 - x)) for probabilities x and targets y of the same sizes; logarithms not below -100. Error for an
/// x or y outside [0, 1], on a device at the next synchronization.
[[nodiscard]] Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyOptions& options = {},
                                          Site site = Site::here());
/// The same of sigmoid(input), computed without it.
[[nodiscard]] Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                                      const BinaryCrossEntropyWithLogitsOptions& options = {}, Site site = Site::here());
/// target * (log(target) - input), input being log-probabilities; with log_target the target too.
[[nodiscard]] Tensor kl_div(const Tensor& input, const Tensor& target, const KlDivOptions& options = {}, Site site = Site::here());
/// exp(input) - target * input, or input - target * log(input + eps); `full` adds Stirling's formula for log(target!).
[[nodiscard]] Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNllLossOptions& options = {},
                                      Site site = Site::here());
/// (log(var) + (input - target)^2 / var) / 2, var not below eps; `full` adds the constant. Error for a negative variance.
[[nodiscard]] Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Operand& var,
                                       const GaussianNllLossOptions& options = {}, Site site = Site::here());
/// log(1 + exp(-target * input)), targets 1 or -1.
[[nodiscard]] Tensor soft_margin_loss(const Tensor& input, const Tensor& target, LossOptions options = {}, Site site = Site::here());
/// input where the target is 1, max(0, margin - input) where it is -1.
[[nodiscard]] Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, HingeEmbeddingLossOptions options = {},
                                          Site site = Site::here());
/// max(0, margin - target * (input1 - input2)).
[[nodiscard]] Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, MarginLossOptions options = {},
                                         Site site = Site::here());

// --- Of vectors (loss_vectors.cpp)
/// Of pairs (n, d) or (d): 1 - cosine where the target is 1, max(0, cosine - margin) where it is -1.
[[nodiscard]] Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, MarginLossOptions options = {},
                                           Site site = Site::here());
/// max(0, margin + |anchor - positive| - |anchor - negative|), p-norms along the last dimension; `swap` takes |positive - negative| where
/// it is less.
[[nodiscard]] Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         TripletMarginLossOptions options = {}, Site site = Site::here());

/// triplet_margin_loss of any distance, a function of two tensors.
[[nodiscard]] Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                                       const TripletMarginWithDistanceLossOptions& options = {}, Site site = Site::here());

// --- Of classes (loss_classes.cpp): input (n, c, …) or (c), target without the c; errors for targets outside [0, c)
/// Of logits and class indices, or class probabilities of the input's sizes. As torch.nn.functional.cross_entropy.
[[nodiscard]] Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& options = {},
                                   Site site = Site::here());
/// Of log-probabilities and class indices.
[[nodiscard]] Tensor nll_loss(const Tensor& input, const Tensor& target, const NllLossOptions& options = {}, Site site = Site::here());
/// The sum over the classes j but the target t of max(0, margin - x[t] + x[j])^p / c, p 1 or 2. Input (n, c) or (c).
[[nodiscard]] Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossOptions& options = {},
                                       Site site = Site::here());
/// The sum over the targets t and other classes j of max(0, 1 - (x[t] - x[j])) / c. A row of the target lists classes up to the first -1.
[[nodiscard]] Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, LossOptions options = {}, Site site = Site::here());
/// Binary cross-entropy of the logits, averaged over the last dimension.
[[nodiscard]] Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                                 const MultilabelSoftMarginLossOptions& options = {}, Site site = Site::here());

// --- Of sequences (loss_ctc.cpp)
/// Connectionist temporal classification: minus the log-probability of the target over all alignments. log_probs (t, n, c) or (t, c), from
/// log_softmax; targets (n, s), or all of them one after another; lengths (n). Graves et al. 2006. As torch.nn.functional.ctc_loss.
[[nodiscard]] Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Shape& input_lengths, const Shape& target_lengths,
                              const CtcLossOptions& options = {}, Site site = Site::here());
/// The lengths as integer tensors, which are read.
[[nodiscard]] Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                              const CtcLossOptions& options = {}, Site site = Site::here());

}  // namespace tandem
