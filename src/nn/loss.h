// Losses as modules: from a prediction and a target to a number.
#pragma once

#include "nn/any_module.h"
#include "nn/distance.h"
#include "nn/settings.h"
#include "ops/loss/loss.h"

namespace tandem::nn {

namespace detail {

/// A loss whose value is `Function(input, target, more…, options, site)`. Its options are the function's, and those that are tensors are
/// buffers.
template <auto Function, class OptionsT, class... More>
struct LossOf : Module {
  /// Its options.
  using Options = OptionsT;
  Options options;

  explicit LossOf(Options options_ = {}) : options(std::move(options_)) {}
  void fields(Fields& f) override {
    if constexpr (requires { options.weight; }) f.buffer("weight", options.weight);
    if constexpr (requires { options.pos_weight; }) f.buffer("pos_weight", options.pos_weight);
  }
  void settings(Settings& s) override {
    if constexpr (multiprocessing::detail::Plain<Options>) {
      s(options);
    } else {  // tensors among them are buffers
      s(options.reduction);
      if constexpr (requires { options.ignore_index; }) s(options.ignore_index);
      if constexpr (requires { options.label_smoothing; }) s(options.label_smoothing);
      if constexpr (requires { options.delta; }) s(options.delta);
      if constexpr (requires { options.p; }) s(options.p, options.margin);
    }
  }
  using Module::forward;
  Tensor forward(const Tensor& input, const Tensor& target, const More&... more, Site site = Site::here()) {
    return Function(input, target, more..., options, site);
  }
  Tensor operator()(const Tensor& input, const Tensor& target, const More&... more, Site site = Site::here()) {
    return hooked_forward(*this, site, input, target, more...);
  }
};

}  // namespace detail

// Arguments, shapes and errors are those of the functions in ops/loss/loss.h; defaults and names as in torch.nn.

// --- Of numbers
/// |input - target|. As torch.nn.L1Loss.
struct L1Loss : detail::LossOf<l1_loss, WeightedLossOptions> {
  using LossOf::LossOf;
};
/// (input - target)². As torch.nn.MSELoss.
struct MSELoss : detail::LossOf<mse_loss, WeightedLossOptions> {
  using LossOf::LossOf;
};
/// A parabola below `beta`, a line from there on. As torch.nn.SmoothL1Loss.
struct SmoothL1Loss : detail::LossOf<smooth_l1_loss, SmoothL1LossOptions> {
  using LossOf::LossOf;
};
/// The same with slope `delta`. As torch.nn.HuberLoss.
struct HuberLoss : detail::LossOf<huber_loss, HuberLossOptions> {
  using LossOf::LossOf;
};
/// Cross-entropy of probabilities and targets in [0, 1]. As torch.nn.BCELoss.
struct BCELoss : detail::LossOf<binary_cross_entropy, BinaryCrossEntropyOptions> {
  using LossOf::LossOf;
};
/// The same of logits, which is exact where sigmoid would round to 0 or 1. As torch.nn.BCEWithLogitsLoss.
struct BCEWithLogitsLoss : detail::LossOf<binary_cross_entropy_with_logits, BinaryCrossEntropyWithLogitsOptions> {
  using LossOf::LossOf;
};
/// Kullback-Leibler divergence of log-probabilities from a target distribution. As torch.nn.KLDivLoss.
struct KLDivLoss : detail::LossOf<kl_div, KlDivOptions> {
  using LossOf::LossOf;
};
/// Of counts with a Poisson distribution. As torch.nn.PoissonNLLLoss.
struct PoissonNLLLoss : detail::LossOf<poisson_nll_loss, PoissonNllLossOptions> {
  using LossOf::LossOf;
};
/// Of numbers with a normal distribution: (input, target, var). As torch.nn.GaussianNLLLoss.
struct GaussianNLLLoss : detail::LossOf<gaussian_nll_loss, GaussianNllLossOptions, Operand> {
  using LossOf::LossOf;
};
/// log(1 + exp(-target · input)), targets 1 or -1. As torch.nn.SoftMarginLoss.
struct SoftMarginLoss : detail::LossOf<soft_margin_loss, LossOptions> {
  using LossOf::LossOf;
};
/// Of distances: the input where the target is 1, max(0, margin - input) where it is -1. As torch.nn.HingeEmbeddingLoss.
struct HingeEmbeddingLoss : detail::LossOf<hinge_embedding_loss, HingeEmbeddingLossOptions> {
  using LossOf::LossOf;
};
/// Of (input1, input2, target): the first should rank higher where the target is 1, the second where it is -1. As
/// torch.nn.MarginRankingLoss.
struct MarginRankingLoss : detail::LossOf<margin_ranking_loss, MarginLossOptions, Tensor> {
  using LossOf::LossOf;
};

// --- Of vectors
/// Of (input1, input2, target): alike where the target is 1, apart where it is -1. As torch.nn.CosineEmbeddingLoss.
struct CosineEmbeddingLoss : detail::LossOf<cosine_embedding_loss, MarginLossOptions, Tensor> {
  using LossOf::LossOf;
};
/// Of (anchor, positive, negative): the positive should be nearer by `margin`. As torch.nn.TripletMarginLoss.
struct TripletMarginLoss : detail::LossOf<triplet_margin_loss, TripletMarginLossOptions, Tensor> {
  using LossOf::LossOf;
};
/// How far two inputs are apart: a function of both, or a module.
class DistanceFunction {
 public:
  template <class F>
  requires std::is_invocable_r_v<Tensor, F&, const Tensor&, const Tensor&> DistanceFunction(F distance) {
    if constexpr (IsModule<F>) {
      module_ = AnyModule(std::move(distance));
      call_module_ = [](ModuleBase& module, const Tensor& a, const Tensor& b, [[maybe_unused]] Site site) -> Tensor {
        auto& own = static_cast<F&>(module);
        if constexpr (requires { own.forward(a, b, site); }) return own(a, b, site);
        else return own(a, b);
      };
    } else {
      function_ = std::move(distance);
    }
  }
  [[nodiscard]] Tensor operator()(const Tensor& a, const Tensor& b, Site site) const {
    return module_ ? call_module_(module_.base(), a, b, site) : function_(a, b);
  }
  /// The module, if it is one.
  [[nodiscard]] const AnyModule& module() const { return module_; }

 private:
  AnyModule module_;
  Tensor (*call_module_)(ModuleBase&, const Tensor&, const Tensor&, Site) = nullptr;
  std::function<Tensor(const Tensor&, const Tensor&)> function_;
};
/// Options of TripletMarginWithDistanceLoss, in this order.
struct TripletMarginWithDistanceLayerOptions {
  DistanceFunction distance_function = PairwiseDistance();
  double margin = 1;
  bool swap = false;
  Reduction reduction = Reduction::Mean;
};
/// The same with a distance of one's own, which is a part of it where it is a module. As torch.nn.TripletMarginWithDistanceLoss.
struct TripletMarginWithDistanceLoss : Module {
  /// Its options.
  using Options = TripletMarginWithDistanceLayerOptions;
  Options options;

  explicit TripletMarginWithDistanceLoss(Options options_ = {}) : options(std::move(options_)) {}
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  using Module::forward;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative, Site site = Site::here());
  Tensor operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative, Site site = Site::here());
};

// --- Of classes
/// Softmax and negative log-likelihood together: logits (n, c, …) and class indices, or class probabilities. As torch.nn.CrossEntropyLoss.
struct CrossEntropyLoss : detail::LossOf<cross_entropy, CrossEntropyOptions> {
  using LossOf::LossOf;
};
/// Of log-probabilities (n, c, …) and class indices. As torch.nn.NLLLoss.
struct NLLLoss : detail::LossOf<nll_loss, NllLossOptions> {
  using LossOf::LossOf;
};
/// Hinges between the target class and the others. As torch.nn.MultiMarginLoss.
struct MultiMarginLoss : detail::LossOf<multi_margin_loss, MultiMarginLossOptions> {
  using LossOf::LossOf;
};
/// Hinges between several target classes and the others. As torch.nn.MultiLabelMarginLoss.
struct MultiLabelMarginLoss : detail::LossOf<multilabel_margin_loss, LossOptions> {
  using LossOf::LossOf;
};
/// Binary cross-entropy of each class's logit, averaged over classes. As torch.nn.MultiLabelSoftMarginLoss.
struct MultiLabelSoftMarginLoss : detail::LossOf<multilabel_soft_margin_loss, MultilabelSoftMarginLossOptions> {
  using LossOf::LossOf;
};

// --- Of sequences
/// Connectionist temporal classification. As torch.nn.CTCLoss.
struct CTCLoss : Module {
  /// Its options.
  using Options = CtcLossOptions;
  Options options;

  explicit CTCLoss(Options options_ = {}) : options(options_) {}
  void settings(Settings& s) override;
  using Module::forward;
  /// `Lengths` is a Shape, or an integer Tensor, which is read.
  template <class Lengths = Shape>
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Lengths& input_lengths, const Lengths& target_lengths,
                 Site site = Site::here()) {
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, options, site);
  }
  template <class Lengths = Shape>
  Tensor operator()(const Tensor& log_probs, const Tensor& targets, const Lengths& input_lengths, const Lengths& target_lengths,
                    Site site = Site::here()) {
    return hooked_forward(*this, site, log_probs, targets, input_lengths, target_lengths);
  }
};

}  // namespace tandem::nn
