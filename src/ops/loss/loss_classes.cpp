// Losses of class predictions.
#include <array>

#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"
#include "ops/accumulate.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/launch.h"
#include "ops/loss/loss.h"
#include "ops/loss/loss_reduction.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/view.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;
using ops::reduced;

/// Classes first moved behind everything else: (n, c, d1, …) as rows of c, and the targets as one vector.
struct LossRows {
  Tensor input, target;
};
LossRows rows_of(const char* op, const Tensor& input, const Tensor& target, Site site) {
  if (input.dim() == 0) fail("[", op, "] expected an input with at least one dimension");
  Shape expected;
  for (int64_t d = 0; d < input.dim(); ++d)
    if (d != (input.dim() == 1 ? 0 : 1)) expected.push_back(input.size(d));
  if (input.dim() == 2 && target.dim() == 1 && input.size(0) != target.size(0))
    fail<ValueError>("[", op, "] Expected input batch_size (", input.size(0), ") to match target batch_size (", target.size(0),
                     "): give one class a sample");
  if (!(target.sizes() == expected))
    fail("[", op, "] Expected target size ", expected, ", got ", target.sizes(), " for input of size ", input.sizes(),
         ": give one class a sample");
  if (target.dtype() != kInt64 && target.dtype() != kUInt8)
    fail("[", op, "] expected scalar type Long for the target, but found ", scalar_name(target.dtype()), "; convert with to(kInt64)");
  ops::check_same_device(op, input, "self", target, "target");
  const Tensor wide = target.dtype() == kInt64 ? target : target.to(kInt64, {}, site);
  if (input.dim() == 2) return {input, wide};
  if (input.dim() == 1) return {input.unsqueeze(0, site), wide.unsqueeze(0, site)};
  return {movedim(input, 1, -1, site).reshape({-1, input.size(1)}, site), wide.reshape({-1}, site)};
}

void check_weight(const char* op, const Tensor& weight, int64_t classes) {
  if (weight.defined() && (weight.dim() != 1 || weight.size(0) != classes))
    fail("[", op, "] weight tensor should be defined either for all ", classes,
         " classes or no classes but got weight tensor of shape: ", weight.sizes());
}

/// The gradient of the losses of rows, each scaled with its entry of `scale`.
Tensor cross_entropy_backward(const Tensor& scale, const Tensor& input, const Tensor& log_probabilities, const Tensor& target,
                              const Tensor& weight, int64_t ignore, double smoothing, Site site) {
  if (!needs_grad(scale, input)) {
    Tensor y = empty_like(log_probabilities, {}, site);
    ops::launch(y, "cross_entropy_backward", site, &kernels::Table::cross_entropy_backward, y, scale, log_probabilities, target, weight,
                ignore, smoothing);
    return y;
  }
  // To be differentiated again: the same by operations. Each row is q - p·sum(q), with q the smoothed, weighted target.
  const int64_t classes = input.size(1);
  const Tensor counted = (target != ignore).to(input.dtype());
  const Tensor index = where(target == ignore, 0, target).unsqueeze(1);
  Tensor q = scatter(zeros_like(log_probabilities), 1, index, 1.0 - smoothing) + smoothing / static_cast<double>(classes);
  if (weight.defined()) q = q * weight;
  q = q * counted.unsqueeze(1);
  return (softmax(input, 1) * q.sum(1, true) - q) * scale.unsqueeze(1);
}

Tensor with_probabilities(const Tensor& input, const Tensor& target, const CrossEntropyOptions& options, Site site) {
  if (!(target.sizes() == input.sizes()))
    fail("[cross_entropy] class probabilities must have the input's sizes ", input.sizes(), ", not ", target.sizes(),
         "; where the target is ", scalar_name(target.dtype()), " numbers of classes, convert it with to(kInt64)");
  const int64_t at = input.dim() == 1 ? 0 : 1;
  const int64_t classes = input.size(at);
  check_weight("cross_entropy", options.weight, classes);
  Tensor q = options.label_smoothing > 0 ? target * (1 - options.label_smoothing) + options.label_smoothing / static_cast<double>(classes)
                                         : target;
  Tensor terms = log_softmax(input, at, site) * q;
  if (options.weight.defined()) {
    Shape sizes(std::vector<int64_t>(static_cast<size_t>(input.dim()), 1));
    sizes[static_cast<size_t>(at)] = classes;
    terms = terms * options.weight.view(sizes);
  }
  const Tensor losses = -terms.sum(at, false, {}, site);
  if (options.reduction != Reduction::Mean) return reduced("cross_entropy", losses, options.reduction, site);
  return losses.mean(site);
}

/// Targets as indices for gather, where a negative one would count from the end: outside the classes, so that it is an error.
Tensor class_index(const Tensor& target, int64_t classes, Site site) { return where(target < 0, classes, target, site).unsqueeze(1, site); }

}  // namespace

Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& options, Site site) {
  if (const ops::Cast cast("cross_entropy", site, input, target); cast)
    return cross_entropy(cast(input), cast(target), cast(options), site);
  const detail::ComposedAt line(site);
  if (!is_floating(input.dtype())) fail<NotImplementedError>("[cross_entropy] is not implemented for '", scalar_name(input.dtype()), "'");
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    fail("[cross_entropy] label_smoothing must be between 0.0 and 1.0. Got: ", options.label_smoothing);
  if (is_floating(target.dtype())) return with_probabilities(input, target, options, site);
  const LossRows rows = rows_of("cross_entropy", input, target, site);
  const int64_t count = rows.input.size(0), classes = rows.input.size(1);
  check_weight("cross_entropy", options.weight, classes);
  const Options like{.dtype = input.dtype(), .device = input.device()};
  const Tensor weight = options.weight.defined() ? options.weight.to(input.dtype(), {}, site) : Tensor();
  Tensor losses = empty({count}, like, site), weights = empty({count}, like, site);
  const Tensor log_probabilities = empty({count, classes}, like, site);
  ops::launch(input, "cross_entropy", site, &kernels::Table::cross_entropy, losses, weights, log_probabilities, rows.input, rows.target,
              weight, options.ignore_index, options.label_smoothing);
  Tensor loss, total;
  {
    const NoGradGuard no_grad;
    if (options.reduction == Reduction::None) loss = losses.view(target.sizes(), site);
    else if (options.reduction == Reduction::Sum) loss = losses.sum(site);
    else {
      const DType wide = ops::sum_type(input.dtype());
      loss = (sum(losses, wide, site) / (total = sum(weights, wide, site))).to(input.dtype(), {}, site);
    }
  }
  if (!needs_grad(rows.input)) return loss;
  return record("NllLossBackward0", loss, {rows.input}, site,
                [input = autograd::saved(rows.input), target = autograd::saved(rows.target), weight = autograd::saved(weight),
                 log_probabilities = autograd::saved(log_probabilities), total, ignore = options.ignore_index,
                 smoothing = options.label_smoothing, count, site](const Tensor& g) {
                  const Tensor scale = total.defined() ? (g / total).to(g.dtype()) : g;
                  return cross_entropy_backward(scale.dim() == 0 ? scale.expand({count}) : scale.reshape({count}), input.get(),
                                                log_probabilities.get(), target.get(), weight.get(), ignore, smoothing, site);
                });
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const NllLossOptions& options, Site site) {
  if (const ops::Cast cast("nll_loss", site, input, target); cast) return nll_loss(cast(input), cast(target), cast(options), site);
  const detail::ComposedAt line(site);
  ops::check_floating("nll_loss", input);
  const LossRows rows = rows_of("nll_loss", input, target, site);
  const int64_t classes = rows.input.size(1);
  check_weight("nll_loss", options.weight, classes);
  const Tensor ignored = rows.target == options.ignore_index;
  const Tensor index = class_index(where(ignored, 0, rows.target, site), classes, site);
  Tensor losses = neg(ops::gather("nll_loss", rows.input, 1, index, site).squeeze(1, site), site), weights;
  if (options.weight.defined()) {
    weights = where(ignored, 0, options.weight.index({index.squeeze(1, site)}, site), site);
    losses = losses * weights;
  }
  losses = where(ignored, 0, losses, site);
  const char* const grad_fn = input.dim() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0";
  if (options.reduction != Reduction::Mean)
    return autograd::called(reduced("nll_loss", losses.view(target.sizes(), site), options.reduction, site), grad_fn);
  return autograd::called(ops::mean_by_weight(losses, weights.defined() ? weights : logical_not(ignored, site), site), grad_fn);
}

namespace {

/// Input (n, c), (c) or () as rows.
Tensor two_dims(const char* op, const Tensor& input, Site site) {
  if (input.dim() > 2 || (input.dim() > 0 && input.size(-1) == 0))
    fail("[", op, "] Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", input.sizes());
  return input.dim() == 2 ? input : input.reshape({1, input.numel()}, site);
}

}  // namespace

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossOptions& options, Site site) {
  if (const ops::Cast cast("multi_margin_loss", site, input, target); cast)
    return multi_margin_loss(cast(input), cast(target), cast(options), site);
  const detail::ComposedAt line(site);
  if (options.p != 1 && options.p != 2) fail("[multi_margin_loss] only p == 1 and p == 2 supported, got ", options.p);
  ops::check_floating("multi_margin_loss", input);
  const Tensor x = two_dims("multi_margin_loss", input, site);
  const int64_t count = x.size(0), classes = x.size(1);
  if (target.numel() != count || target.dim() > 1)
    fail("[multi_margin_loss] inconsistent target size, expected ", Shape{count}, " but got ", target.sizes());
  if (target.dtype() != kInt64)
    fail("[multi_margin_loss] expected scalar type Long for the target, but found ", scalar_name(target.dtype()));
  check_weight("multi_margin_loss", options.weight, classes);
  const Tensor index = class_index(target.reshape({count}, site), classes, site);
  Tensor terms = clamp_min(options.margin - x.gather(1, index, site) + x, 0, site);
  if (options.p == 2) terms = square(terms, site);
  if (options.weight.defined()) terms = terms * options.weight.index({index}, site);
  const Tensor losses = scatter(terms, 1, index, 0, site).sum(1, false, {}, site) / classes;
  return reduced("multi_margin_loss", input.dim() < 2 && target.dim() == 0 ? losses.reshape({}, site) : losses, options.reduction, site);
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, LossOptions options, Site site) {
  if (const ops::Cast cast("multilabel_margin_loss", site, input, target); cast)
    return multilabel_margin_loss(cast(input), cast(target), options, site);
  const detail::ComposedAt line(site);
  if (!(input.sizes() == target.sizes()))
    fail("[multilabel_margin_loss] inconsistent target size: ", target.sizes(), " for input of size: ", input.sizes());
  if (target.dtype() != kInt64)
    fail("[multilabel_margin_loss] expected scalar type Long for the target, but found ", scalar_name(target.dtype()),
         "; convert with to(kInt64)");
  ops::check_floating("multilabel_margin_loss", input);
  const Tensor x = two_dims("multilabel_margin_loss", input, site), labels = target.reshape(x.sizes(), site);
  const int64_t count = x.size(0), classes = x.size(1);
  const Tensor valid = lt(labels, 0, site).to(kInt64, {}, site).cumsum(1, {}, site) == 0;  // up to the first negative one
  const Tensor marked =
      scatter(zeros({count, classes + 1}, {.dtype = kBool, .device = x.device()}, site), 1, where(valid, labels, classes, site), true, site)
          .narrow(1, 0, classes, site);
  const Tensor of_targets = x.gather(1, where(valid, labels, 0, site), site);
  const Tensor terms = clamp_min(1 - of_targets.unsqueeze(2, site) + x.unsqueeze(1, site), 0, site);
  const Tensor counted = logical_and(valid.unsqueeze(2, site), logical_not(marked, site).unsqueeze(1, site), site);
  const Tensor losses = where(counted, terms, 0, site).sum({1, 2}, false, {}, site) / classes;
  return reduced("multilabel_margin_loss", input.dim() < 2 ? losses.reshape({}, site) : losses, options.reduction, site);
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const MultilabelSoftMarginLossOptions& options, Site site) {
  if (const ops::Cast cast("multilabel_soft_margin_loss", site, input, target); cast)
    return multilabel_soft_margin_loss(cast(input), cast(target), cast(options), site);
  Tensor terms = neg(
      add(mul(target, logsigmoid(input, site), site), mul(rsub(target, 1, site), logsigmoid(neg(input, site), site), site), site), site);
  if (options.weight.defined()) terms = terms * options.weight;
  return reduced("multilabel_soft_margin_loss", terms.mean(-1, false, {}, site), options.reduction, site);
}

}  // namespace tandem
