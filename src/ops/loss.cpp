#include "ops/loss.h"

#include <array>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/activation.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/view.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;

Tensor reduced(const Tensor& losses, Reduction reduction, Site site) {
  return reduction == Reduction::None ? losses : reduction == Reduction::Sum ? losses.sum(site) : losses.mean(site);
}

/// Classes first moved behind everything else: (n, c, d1, …) as rows of c, and the targets as one vector.
struct Rows {
  Tensor input, target;
};
Rows rows_of(const char* op, const Tensor& input, const Tensor& target, Site site) {
  if (input.dim() == 0) fail("[", op, "] expected an input with at least one dimension");
  Shape expected;
  for (int64_t d = 0; d < input.dim(); ++d)
    if (d != (input.dim() == 1 ? 0 : 1)) expected.push_back(input.size(d));
  if (!(target.sizes() == expected))
    fail("[", op, "] Expected target size ", expected, ", got ", target.sizes(), " for input of size ", input.sizes());
  if (target.dtype() != kInt64 && target.dtype() != kUInt8)
    fail("[", op, "] expected scalar type Long for the target, but found ", scalar_name(target.dtype()));
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
    if (y.numel())
      ops::kernels_of(y).cross_entropy_backward(ops::launch(y, "cross_entropy_backward", site), ops::out(y), ops::view(scale),
                                                ops::view(log_probabilities), ops::view(target), ops::view(weight), ignore, smoothing);
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
    fail("[cross_entropy] class probabilities must have the input's sizes ", input.sizes(), ", not ", target.sizes());
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
  if (options.reduction != Reduction::Mean) return reduced(losses, options.reduction, site);
  return losses.sum(site) / static_cast<double>(std::max<int64_t>(1, losses.numel()));
}

}  // namespace

Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& options, Site site) {
  if (!is_floating(input.dtype())) fail("[cross_entropy] is not implemented for '", scalar_name(input.dtype()), "'");
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    fail("[cross_entropy] label_smoothing must be between 0.0 and 1.0. Got: ", options.label_smoothing);
  if (is_floating(target.dtype())) return with_probabilities(input, target, options, site);
  const Rows rows = rows_of("cross_entropy", input, target, site);
  const int64_t count = rows.input.size(0), classes = rows.input.size(1);
  check_weight("cross_entropy", options.weight, classes);
  const Options like{.dtype = input.dtype(), .device = input.device()};
  const Tensor weight = options.weight.defined() ? options.weight.to(input.dtype(), {}, site) : Tensor();
  Tensor losses = empty({count}, like, site), weights = empty({count}, like, site);
  const Tensor log_probabilities = empty({count, classes}, like, site);
  if (count > 0)
    ops::kernels_of(input).cross_entropy(ops::launch(input, "cross_entropy", site), ops::out(losses), ops::out(weights),
                                         ops::out(log_probabilities), ops::view(rows.input), ops::view(rows.target), ops::view(weight),
                                         options.ignore_index, options.label_smoothing);
  Tensor loss, total;
  {
    const autograd::detail::NoRecord quiet;
    if (options.reduction == Reduction::None) loss = losses.view(target.sizes(), site);
    else if (options.reduction == Reduction::Sum) loss = losses.sum(site);
    else loss = losses.sum(site) / (total = weights.sum(site));
  }
  if (!needs_grad(rows.input)) return loss;
  return record("NllLossBackward0", loss, {rows.input}, site,
                [input = autograd::saved(rows.input), target = autograd::saved(rows.target), weight = autograd::saved(weight),
                 log_probabilities = autograd::saved(log_probabilities), total, ignore = options.ignore_index,
                 smoothing = options.label_smoothing, count, site](const Tensor& g) {
                  const Tensor scale = total.defined() ? g / total : g;
                  return cross_entropy_backward(scale.dim() == 0 ? scale.expand({count}) : scale.reshape({count}), input.get(),
                                                log_probabilities.get(), target.get(), weight.get(), ignore, smoothing, site);
                });
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const NllLossOptions& options, Site site) {
  const Rows rows = rows_of("nll_loss", input, target, site);
  check_weight("nll_loss", options.weight, rows.input.size(1));
  const Tensor counted = (rows.target != options.ignore_index).to(input.dtype(), {}, site);
  const Tensor index = where(rows.target == options.ignore_index, 0, rows.target, site);
  const Tensor weights = options.weight.defined() ? options.weight.index({index}, site) * counted : counted;
  const Tensor losses = -(rows.input.gather(1, index.unsqueeze(1), site).squeeze(1) * weights);
  if (options.reduction == Reduction::None) return losses.view(target.sizes(), site);
  return options.reduction == Reduction::Sum ? losses.sum(site) : losses.sum(site) / weights.sum(site);
}

Tensor mse_loss(const Tensor& input, const Tensor& target, LossOptions options, Site site) {
  if (options.reduction == Reduction::None || !is_floating(input.dtype()) || input.dtype() != target.dtype())
    return reduced(square(sub(input, target, site), site), options.reduction, site);
  Tensor difference, loss;
  double factor = 1;
  {
    const autograd::detail::NoRecord quiet;
    difference = sub(input, target, site);
    if (options.reduction == Reduction::Mean) factor = 1.0 / static_cast<double>(difference.numel());
    loss = empty({}, {.dtype = input.dtype(), .device = difference.device()}, site);
    ops::kernels_of(loss).reduce(ops::launch(loss, "mse_loss", site), kernels::Reduce::SumOfSquares, ops::out(loss), ops::view(difference),
                                 static_cast<int32_t>(difference.dim()));
    if (factor != 1) loss.mul_(factor, site);
  }
  if (!needs_grad(input, target)) return loss;
  return record("MseLossBackward0", loss, {input, target}, site,
                [input = autograd::saved(input), target = autograd::saved(target), difference = autograd::saved(difference), factor, site](
                    const Tensor& g, autograd::Wanted wanted) {
                  const Tensor in = input.get(), to = target.get();
                  const Tensor slope =
                      mul(autograd::detail::grad_enabled ? sub(in, to, site) : difference.get(), mul(g, 2 * factor, site), site);
                  std::array<Tensor, 2> gradients;
                  if (wanted[0]) gradients[0] = sum_to_size(slope, in.sizes(), site);
                  if (wanted[1]) gradients[1] = sum_to_size(neg(slope, site), to.sizes(), site);
                  return gradients;
                });
}

Tensor l1_loss(const Tensor& input, const Tensor& target, LossOptions options, Site site) {
  return reduced(abs(sub(input, target, site), site), options.reduction, site);
}

}  // namespace tandem
