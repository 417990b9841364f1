#include "libtorch/layers_adaptive.h"

#include <cmath>

#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/pointwise.h"
#include "ops/scatter.h"
#include "ops/softmax.h"

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
  int64_t before = 0;
  for (const int64_t cutoff : options.cutoffs()) {
    if (cutoff <= before || cutoff >= options.n_classes())
      tandem::fail("[AdaptiveLogSoftmaxWithLoss] cutoffs should be a sequence of unique, positive integers sorted in an increasing order, ",
                   "where each value is between 1 and n_classes-1; ", cutoff, " after ", before, " is not, with n_classes ",
                   options.n_classes());
    before = cutoff;
  }
  if (options.cutoffs().empty()) tandem::fail("[AdaptiveLogSoftmaxWithLoss] needs at least one cutoff");
  cutoffs = options.cutoffs();
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  const int64_t in = options.in_features();
  head = register_module("head", Linear(LinearOptions(in, head_size).bias(options.head_bias()), site), site);
  tail = register_module("tail", ModuleList(), site);
  for (int64_t i = 0; i < n_clusters; ++i) {
    const int64_t inner = in / static_cast<int64_t>(std::pow(options.div_value(), static_cast<double>(i + 1)));
    tail->push_back(Sequential(Linear(LinearOptions(in, inner).bias(false), site),
                               Linear(LinearOptions(inner, cutoffs[size_t(i) + 1] - cutoffs[size_t(i)]).bias(false), site)));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters(Site site) {
  head->reset_parameters(site);
  for (int64_t i = 0; i < n_clusters; ++i)
    for (const auto& part : cluster(i).children()) part->as<Linear>()->reset_parameters(site);
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input_, const Tensor& target_, Site site) {
  const bool batched = target_.dim(site) > 0;
  if (target_.dim() > 1) tandem::fail("[AdaptiveLogSoftmaxWithLoss] 0D or 1D target tensor expected, multi-target not supported");
  if (input_.dim(site) != (batched ? 2 : 1))
    tandem::fail("[AdaptiveLogSoftmaxWithLoss] ", batched ? "1D target tensor expects 2D" : "0D target tensor expects 1D",
                 " input tensors, but found inputs with sizes ", input_.sizes());
  const Tensor input = batched ? input_ : input_.unsqueeze(0, site), target = batched ? target_ : target_.unsqueeze(0, site);
  const int64_t samples = target.size(0, site);
  const Tensor head_logprob = tandem::log_softmax(head->forward(input, site), 1, site);
  Tensor within = tandem::zeros({samples}, {.dtype = head_logprob.dtype(), .device = input.device()}, site);
  const Tensor in_head = tandem::empty({samples}, target.options(), site);
  int64_t found = 0;
  for (int64_t i = 0; i <= n_clusters; ++i) {
    const int64_t low = i ? cutoffs[size_t(i) - 1] : 0, high = cutoffs[size_t(i)];
    const Tensor here = tandem::logical_and({tandem::ge({target, site}, {low, site}, site), site},
                                            {tandem::lt({target, site}, {high, site}, site), site}, site);
    const Tensor rows = here.nonzero(site).squeeze(1, site);
    const int64_t count = rows.numel();
    if (count == 0) continue;
    found += count;
    const Tensor classes = tandem::index_select(target, 0, rows, site);
    if (i == 0) {
      in_head.index_copy_(0, rows, classes, site);
      continue;
    }
    in_head.index_fill_(0, rows, {shortlist_size + i - 1, site}, site);
    const Tensor logprob = tandem::log_softmax(cluster_output(i - 1, tandem::index_select(input, 0, rows, site), site), 1, site);
    const Tensor own = tandem::sub({classes, site}, {low, site}, site).unsqueeze(1, site);
    within = within.index_copy(0, rows, tandem::gather(logprob, 1, own, site).squeeze(1, site), site);
  }
  if (found != samples)
    tandem::fail("[AdaptiveLogSoftmaxWithLoss] Target values should be in [0, ", options.n_classes() - 1, "], but values in range [",
                 target.min(site).item<int64_t>(site), ", ", target.max(site).item<int64_t>(site), "] were found.");
  const Tensor output =
      tandem::add({within, site}, {tandem::gather(head_logprob, 1, in_head.unsqueeze(1, site), site).squeeze(1, site), site}, site);
  const double loss = -output.detach().mean(site).item<double>(site);
  return {batched ? output : output.squeeze(0, site), loss};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input, Site site) {
  return _get_full_log_prob(input, head->forward(input, site), site);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Tensor& input, const Tensor& head_output, Site site) {
  const Tensor head_logprob = tandem::log_softmax(head_output, 1, site);
  std::vector<Tensor> parts = {head_logprob.narrow(1, 0, shortlist_size, site)};
  for (int64_t i = 0; i < n_clusters; ++i) {
    const Tensor logprob = tandem::log_softmax(cluster_output(i, input, site), 1, site);
    parts.push_back(tandem::add({logprob, site}, {head_logprob.narrow(1, shortlist_size + i, 1, site), site}, site));
  }
  return tandem::cat(parts, 1, site);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input, Site site) {
  const Tensor head_output = head->forward(input, site);
  const Tensor first = head_output.argmax(1, false, site);
  if (first.numel() == 0 || first.max(site).item<int64_t>(site) < shortlist_size) return first;
  const Tensor rest = _get_full_log_prob(input, head_output, site).argmax(1, false, site);
  return tandem::where(tandem::lt({first, site}, {shortlist_size, site}, site), {first, site}, {rest, site}, site);
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::AdaptiveLogSoftmaxWithLoss"; }

SequentialImpl& AdaptiveLogSoftmaxWithLossImpl::cluster(int64_t i) { return *tail[static_cast<size_t>(i)]->as<Sequential>(); }

Tensor AdaptiveLogSoftmaxWithLossImpl::cluster_output(int64_t i, const Tensor& input, Site site) {
  const auto parts = cluster(i).children();
  return parts[1]->as<Linear>()->forward(parts[0]->as<Linear>()->forward(input, site), site);
}

}  // namespace torch::nn
