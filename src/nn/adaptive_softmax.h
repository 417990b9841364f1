// Softmax over many classes, of which the frequent ones come first.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nn/containers.h"
#include "nn/linear.h"

namespace tandem::nn {

/// The log-probability of each target, (n), and minus their mean.
struct AdaptiveLogSoftmaxOutput {
  Tensor output, loss;
  template <class F>
  void each_tensor(F&& f) {
    f(output);
    f(loss);
  }
};

struct AdaptiveLogSoftmaxWithLossOptions {
  double div_value = 4;  // how many times narrower each cluster's space is than that of the one before
  bool head_bias = false;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

namespace detail {

/// The parts of an adaptive softmax, however a module holds them. For the library.
struct AdaptiveSoftmax {
  std::function<Tensor(const Tensor& x)> head;                     // (n, in) to (n, first cutoff + clusters)
  std::function<Tensor(size_t cluster, const Tensor& x)> cluster;  // (n, in) to (n, classes of the cluster)
  std::span<const int64_t> cutoffs;                                // where each cluster begins, and the number of classes

  /// Of samples (n, in) and classes (n), or of one of each. A cluster is computed for the samples that fall into it.
  [[nodiscard]] AdaptiveLogSoftmaxOutput operator()(const Tensor& input, const Tensor& target, Site site) const;
  /// The log-probabilities of all classes, (n, classes); `head_output` is what the head gave for the input.
  [[nodiscard]] Tensor log_prob(const Tensor& input, const Tensor& head_output, Site site) const;
  /// The most probable classes, (n). Clusters are looked at only where the head says one.
  [[nodiscard]] Tensor predict(const Tensor& input, Site site) const;
};

/// The cutoffs with the number of classes behind them. Error unless they ascend between 1 and n_classes - 1.
[[nodiscard]] std::vector<int64_t> with_classes(std::vector<int64_t> cutoffs, int64_t n_classes);
/// The width of a cluster's space. Error where it is none.
[[nodiscard]] int64_t width_of_cluster(int64_t in_features, double div_value, size_t cluster);

}  // namespace detail

/// The head has the classes before the first cutoff and one entry for each cluster of rarer ones; a cluster has a softmax of its own,
/// through a narrower space, which is computed only for the samples that fall into it. Called with samples (n, in) and classes (n). As
/// torch.nn.AdaptiveLogSoftmaxWithLoss. E. Grave et al., "Efficient softmax approximation for GPUs" (2016).
struct AdaptiveLogSoftmaxWithLoss : Module {
  std::vector<int64_t> cutoffs;  // where each cluster begins, and the number of classes
  Linear head;
  ModuleList tail;  // a Sequential of two Linear for each cluster

  /// Error unless the cutoffs ascend between 1 and n_classes - 1.
  AdaptiveLogSoftmaxWithLoss(int64_t in_features, int64_t n_classes, const std::vector<int64_t>& first_cutoffs,
                             const AdaptiveLogSoftmaxWithLossOptions& options = {}, Site site = Site::here());
  explicit AdaptiveLogSoftmaxWithLoss(detail::Blank) : head(1, 1) {}

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  using Module::forward;
  /// The log-probability of each target, and minus their mean. Error for a target that is no class.
  AdaptiveLogSoftmaxOutput forward(const Tensor& input, const Tensor& target, Site site = Site::here());
  AdaptiveLogSoftmaxOutput operator()(const Tensor& input, const Tensor& target, Site site = Site::here());
  /// The log-probabilities of all classes, (n, n_classes).
  [[nodiscard]] Tensor log_prob(const Tensor& input, Site site = Site::here());
  /// The most probable class of each sample, (n).
  [[nodiscard]] Tensor predict(const Tensor& input, Site site = Site::here());
  /// Draws all weights anew.
  void reset_parameters(Site site = Site::here());

 private:
  [[nodiscard]] detail::AdaptiveSoftmax parts(Site site);
};

}  // namespace tandem::nn
