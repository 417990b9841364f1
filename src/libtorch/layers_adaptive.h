// AdaptiveLogSoftmaxWithLoss: softmax over many classes, of which the frequent ones come first.
#pragma once

#include <vector>

#include "libtorch/containers.h"
#include "libtorch/layers_linear.h"
#include "libtorch/options_loss.h"

namespace tandem::nn::detail {
struct AdaptiveSoftmax;
}

namespace torch::nn {

/// The log-probability of each target, and minus their mean.
struct ASMoutput {
  ASMoutput(Tensor output_, double loss_);
  Tensor output;
  double loss;
};

/// The head has the classes before the first cutoff and one entry for each cluster of rarer ones; a cluster's own softmax, through a
/// narrower space, is computed for the samples that fall into it (Grave et al. 2016).
class AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs_, Site site = Site::here());
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_, Site = Site::here());

  void reset() override;

  void reset_parameters(Site site = Site::here());

  /// Of samples (N, in) and classes (N), or of one of each.
  ASMoutput forward(const Tensor& input_, const Tensor& target_, Site site = Site::here());

  /// The log-probabilities of all classes, (N, n_classes).
  Tensor log_prob(const Tensor& input, Site site = Site::here());
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output, Site site = Site::here());
  /// The most probable classes, (N). Clusters are looked at only where the head says one.
  Tensor predict(const Tensor& input, Site site = Site::here());

  void pretty_print(std::ostream& stream) const override;

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<int64_t> cutoffs;
  int64_t shortlist_size = 0, n_clusters = 0, head_size = 0;
  Linear head = nullptr;
  ModuleList tail;

 private:
  tandem::nn::detail::AdaptiveSoftmax parts(Site site);
};
TANDEM_TORCH_LAYER(AdaptiveLogSoftmaxWithLoss);

}  // namespace torch::nn
