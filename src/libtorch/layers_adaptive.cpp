#include "libtorch/layers_adaptive.h"

#include "nn/adaptive_softmax.h"

namespace torch::nn {

ASMoutput::ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs_,
                                                               Site site)
    : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs_)), site) {}

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_, Site)
    : options(std::move(options_)) {
  AdaptiveLogSoftmaxWithLossImpl::reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  const Site site = detail::making_site();
  cutoffs = tandem::nn::detail::with_classes(options.cutoffs(), options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  const int64_t in = options.in_features();
  head = register_module("head", Linear(LinearOptions(in, head_size).bias(options.head_bias()), site), site);
  tail = register_module("tail", ModuleList(), site);
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const int64_t inner = tandem::nn::detail::width_of_cluster(in, options.div_value(), i);
    tail->push_back(Sequential(Linear(LinearOptions(in, inner).bias(false), site),
                               Linear(LinearOptions(inner, cutoffs[i + 1] - cutoffs[i]).bias(false), site)));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters(Site site) {
  head->reset_parameters(site);
  for (const auto& cluster : tail->children())
    for (const auto& part : cluster->children()) part->as<Linear>()->reset_parameters(site);
}

tandem::nn::detail::AdaptiveSoftmax AdaptiveLogSoftmaxWithLossImpl::parts(Site site) {
  return {.head = [this, site](const Tensor& x) { return head->forward(x, site); },
          .cluster =
              [this, site](size_t i, const Tensor& x) {
                const auto layers = tail[i]->children();
                return layers[1]->as<Linear>()->forward(layers[0]->as<Linear>()->forward(x, site), site);
              },
          .cutoffs = cutoffs};
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input_, const Tensor& target_, Site site) {
  const auto result = parts(site)(input_, target_, site);
  return {result.output, result.loss.item<double>(site)};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input, Site site) {
  return _get_full_log_prob(input, head->forward(input, site), site);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Tensor& input, const Tensor& head_output, Site site) {
  return parts(site).log_prob(input, head_output, site);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input, Site site) { return parts(site).predict(input, site); }

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::AdaptiveLogSoftmaxWithLoss"; }

}  // namespace torch::nn
