#include "nn/adaptive_softmax.h"

#include <cmath>

#include "base/error.h"
#include "nn/sequential.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/pointwise.h"
#include "ops/scatter.h"
#include "ops/softmax.h"

namespace tandem::nn {
namespace detail {

std::vector<int64_t> with_classes(std::vector<int64_t> cutoffs, int64_t n_classes) {
  if (cutoffs.empty()) fail("[AdaptiveLogSoftmaxWithLoss] cutoffs should be a sequence of length larger than 0");
  int64_t before = 0;
  for (const int64_t cutoff : cutoffs) {
    if (cutoff <= before || cutoff >= n_classes)
      fail("[AdaptiveLogSoftmaxWithLoss] cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where ",
           "each value is between 1 and n_classes-1; ", cutoff, " after ", before, " is not, with n_classes ", n_classes);
    before = cutoff;
  }
  cutoffs.push_back(n_classes);
  return cutoffs;
}

int64_t width_of_cluster(int64_t in_features, double div_value, size_t cluster) {
  const double width = std::floor(static_cast<double>(in_features) / std::pow(div_value, static_cast<double>(cluster + 1)));
  if (!(width >= 0 && width <= 0x1p62))
    fail("[AdaptiveLogSoftmaxWithLoss] div_value ", div_value, " gives cluster ", cluster, " no width, of ", in_features, " in_features");
  return static_cast<int64_t>(width);
}

AdaptiveLogSoftmaxOutput AdaptiveSoftmax::operator()(const Tensor& input, const Tensor& target, Site site) const {
  const bool batched = target.dim(site) > 0;
  if (target.dim(site) > 1) fail("[AdaptiveLogSoftmaxWithLoss] 0D or 1D target tensor expected, multi-target not supported");
  if (input.dim(site) != (batched ? 2 : 1))
    fail("[AdaptiveLogSoftmaxWithLoss] ", batched ? "1D target tensor expects 2D" : "0D target tensor expects 1D",
         " input tensors, but found inputs with size ", input.sizes());
  const Tensor x = batched ? input : input.unsqueeze(0, site), classes = batched ? target : target.unsqueeze(0, site);
  const int64_t samples = classes.size(0, site), shortlist = cutoffs[0];
  if (x.size(0, site) != samples)
    fail("[AdaptiveLogSoftmaxWithLoss] Input and target should have the same size in the batch dimension, but have ", x.size(0, site),
         " and ", samples);
  const Tensor head_logs = log_softmax(head(x), 1, site);
  Tensor within = zeros({samples}, {.dtype = head_logs.dtype(), .device = x.device()}, site);
  const Tensor in_head = empty({samples}, classes.options(), site);
  int64_t found = 0;
  for (size_t i = 0; i < cutoffs.size(); ++i) {
    const int64_t low = i ? cutoffs[i - 1] : 0;
    const Tensor here =
        logical_and({ge({classes, site}, {low, site}, site), site}, {lt({classes, site}, {cutoffs[i], site}, site), site}, site);
    const Tensor rows = here.nonzero(site).squeeze(1, site);
    const int64_t count = rows.numel();
    if (count == 0) continue;
    found += count;
    const Tensor own = index_select(classes, 0, rows, site);
    if (i == 0) {
      in_head.index_copy_(0, rows, own, site);
      continue;
    }
    in_head.index_fill_(0, rows, {shortlist + static_cast<int64_t>(i) - 1, site}, site);
    const Tensor logs = log_softmax(cluster(i - 1, index_select(x, 0, rows, site)), 1, site);
    const Tensor column = sub({own, site}, {low, site}, site).unsqueeze(1, site);
    within = within.index_copy(0, rows, gather(logs, 1, column, site).squeeze(1, site), site);
  }
  if (found != samples)
    fail("[AdaptiveLogSoftmaxWithLoss] Target values should be in [0, ", cutoffs.back() - 1, "], but values in range [",
         target.min(site).item<int64_t>(site), ", ", target.max(site).item<int64_t>(site), "] were found.");
  const Tensor output = add({within, site}, {gather(head_logs, 1, in_head.unsqueeze(1, site), site).squeeze(1, site), site}, site);
  const Tensor loss = neg({output, site}, site).mean(site);
  return {batched ? output : output.squeeze(0, site), loss};
}

Tensor AdaptiveSoftmax::log_prob(const Tensor& input, const Tensor& head_output, Site site) const {
  const Tensor head_logs = log_softmax(head_output, 1, site);
  std::vector<Tensor> parts = {head_logs.narrow(1, 0, cutoffs[0], site)};
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const Tensor logs = log_softmax(cluster(i, input), 1, site);
    parts.push_back(add({logs, site}, {head_logs.narrow(1, cutoffs[0] + static_cast<int64_t>(i), 1, site), site}, site));
  }
  return cat(parts, 1, site);
}

Tensor AdaptiveSoftmax::predict(const Tensor& input, Site site) const {
  const Tensor head_output = head(input);
  const Tensor first = head_output.argmax(1, false, site);
  if (first.numel() == 0 || first.max(site).item<int64_t>(site) < cutoffs[0]) return first;
  const Tensor rest = log_prob(input, head_output, site).argmax(1, false, site);
  return where(lt({first, site}, {cutoffs[0], site}, site), {first, site}, {rest, site}, site);
}

}  // namespace detail

AdaptiveLogSoftmaxWithLoss::AdaptiveLogSoftmaxWithLoss(int64_t in_features, int64_t n_classes, const std::vector<int64_t>& first_cutoffs,
                                                       const AdaptiveLogSoftmaxWithLossOptions& options, Site site)
    : cutoffs(detail::with_classes(first_cutoffs, n_classes)),
      head(in_features, cutoffs[0] + static_cast<int64_t>(cutoffs.size()) - 1,
           {.bias = options.head_bias, .device = options.device, .dtype = options.dtype}, site) {
  const LinearOptions plain = {.bias = false, .device = options.device, .dtype = options.dtype};
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const int64_t width = detail::width_of_cluster(in_features, options.div_value, i);
    tail.append(Sequential(Linear(in_features, width, plain, site), Linear(width, cutoffs[i + 1] - cutoffs[i], plain, site)), site);
  }
}

void AdaptiveLogSoftmaxWithLoss::fields(Fields& f) {
  f("head", head);
  f("tail", tail);
}

detail::AdaptiveSoftmax AdaptiveLogSoftmaxWithLoss::parts(Site site) {
  return {.head = [this, site](const Tensor& x) { return head(x, site); },
          .cluster = [this, site](size_t i, const Tensor& x) { return tail.at(static_cast<int64_t>(i), site)(x, site); },
          .cutoffs = cutoffs};
}

AdaptiveLogSoftmaxOutput AdaptiveLogSoftmaxWithLoss::forward(const Tensor& input, const Tensor& target, Site site) {
  return parts(site)(input, target, site);
}

AdaptiveLogSoftmaxOutput AdaptiveLogSoftmaxWithLoss::operator()(const Tensor& input, const Tensor& target, Site site) {
  return hooked_forward(*this, site, input, target);
}

Tensor AdaptiveLogSoftmaxWithLoss::log_prob(const Tensor& input, Site site) { return parts(site).log_prob(input, head(input, site), site); }

Tensor AdaptiveLogSoftmaxWithLoss::predict(const Tensor& input, Site site) { return parts(site).predict(input, site); }

void AdaptiveLogSoftmaxWithLoss::reset_parameters(Site site) {
  head.reset_parameters(site);
  for (Module& cluster : tail)
    for (const auto& [name, layer] : cluster.named_children())
      if (auto* linear = dynamic_cast<Linear*>(layer)) linear->reset_parameters(site);
}

}  // namespace tandem::nn
