#include "ops/loss/loss.h"

#include <array>
#include <cmath>
#include <numbers>

#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"
#include "ops/accumulate.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/elementwise.h"
#include "ops/launch.h"
#include "ops/loss/loss_reduction.h"
#include "ops/operand_gradient.h"
#include "ops/operators.h"
#include "ops/promotion.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/view.h"

namespace tandem {

Tensor ops::reduced(const char* op, const Tensor& losses, Reduction reduction, Site site) {
  switch (reduction) {
    case Reduction::None: return losses;
    case Reduction::Sum: return losses.sum(site);
    case Reduction::Mean: return losses.mean(site);
    default: fail("[", op, "] batchmean is not a valid value for reduction; only kl_div has it");
  }
}

Tensor ops::mean_by_weight(const Tensor& losses, const Tensor& weights, Site site) {
  const DType wide = sum_type(losses.dtype());
  const Tensor total = is_floating(weights.dtype()) ? tandem::sum(weights, wide, site) : tandem::sum(weights, site);
  return div(tandem::sum(losses, wide, site), total, site).to(losses.dtype(), {}, site);
}

namespace {

using autograd::needs_grad;
using autograd::record;
using kernels::PointwiseOp;
using ops::GradientFit;
using ops::KeptOperand;
using ops::reduced;
using ops::Rule;

Tensor weighted(const char* op, const Tensor& losses, const Tensor& weight, Reduction reduction, Site site) {
  if (!weight.defined()) return reduced(op, losses, reduction, site);
  if (!(weight.sizes() == losses.sizes()))
    fail("[", op, "] Weights and input must have the same size, not ", weight.sizes(), " and ", losses.sizes());
  const Tensor all = mul(losses, weight, site);
  return reduction == Reduction::Mean ? ops::mean_by_weight(all, weight, site) : reduced(op, all, reduction, site);
}

/// The losses of elements by one kernel. `slope(g, input, target)` is the gradient of the input, `target_slope` that of the target.
template <class Slope, class TargetSlope>
Tensor by_kernel(PointwiseOp op, const char* name, const char* grad_fn, const Tensor& input, const Tensor& target,
                 std::optional<double> parameter, Site site, Slope slope, TargetSlope target_slope) {
  const Operand in(input), to(target), number(parameter.value_or(0));
  Tensor y =
      parameter ? ops::call(op, name, Rule::Floating, {&in, &to, &number}, site) : ops::call(op, name, Rule::Floating, {&in, &to}, site);
  if (!needs_grad(input, target)) return y;
  return record(grad_fn, y, {input, target}, site,
                [input = autograd::saved(input), target = autograd::saved(target), fit_input = GradientFit(in),
                 fit_target = GradientFit(to), slope, target_slope](const Tensor& g, autograd::Wanted wanted) {
                  const Tensor x = input.get(), y = target.get();
                  std::array<Tensor, 2> gradients;
                  if (wanted[0]) gradients[0] = fit_input(slope(g, x, y));
                  if (wanted[1]) gradients[1] = fit_target(target_slope(g, x, y));
                  return gradients;
                });
}

/// The gradient of binary_cross_entropy_with_logits by x: one kernel, or operations where it is to be differentiated again.
Tensor logits_backward(const Tensor& g, const Tensor& x, const Tensor& y, const Operand& positive, Site site) {
  if (is_half(x.dtype())) {  // rounded as PyTorch's
    return g * (positive.is_tensor() ? (positive * y + 1 - y) * sigmoid(x) - positive * y : sigmoid(x) - y);
  }
  if (needs_grad(g, x, y) || ops::wants_grad(positive)) return g * ((1 - y) * sigmoid(x) - positive * y * sigmoid(-x));
  const Operand gradient(g), in(x), to(y);
  return ops::call(PointwiseOp::binary_cross_entropy_logits_backward, "binary_cross_entropy_with_logits_backward", Rule::Floating,
                   {&gradient, &in, &to, &positive}, site);
}

/// The losses of binary_cross_entropy_with_logits: one kernel, or operations of half types, which round as PyTorch's do.
Tensor logits_losses(const Operand& x, const Operand& y, const Operand& positive, Site site) {
  const Operand* const all[] = {&x, &y, &positive};
  if (!is_half(ops::result_type(all)))
    return ops::call(PointwiseOp::binary_cross_entropy_logits, "binary_cross_entropy_with_logits", Rule::Floating, {&x, &y, &positive},
                     site);
  const NoGradGuard no_grad;
  const Tensor log_likelihood = logsigmoid(x.tensor(), site);
  return (1 - y) * x - (positive.is_tensor() ? ((positive - 1) * y + 1) * log_likelihood : log_likelihood);
}

/// g * factor * difference, by one kernel.
Tensor mse_slope(const Tensor& g, const Tensor& difference, double factor, Site site) {
  const Operand none(0.0), by(difference), gradient(g), number(factor);
  return ops::call(PointwiseOp::addcmul, "mse_loss_backward", Rule::Floating, {&none, &by, &gradient, &number}, site);
}

void check_sizes(const char* op, const Tensor& input, const Tensor& target) {
  if (!(input.sizes() == target.sizes()))
    fail("[", op, "] Target size (", target.sizes(), ") must be the same as input size (", input.sizes(), "); reshape one");
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, const WeightedLossOptions& options, Site site) {
  if (const ops::Cast cast("mse_loss", site, input, target); cast) return mse_loss(cast(input), cast(target), cast(options), site);
  if (!is_floating(input.dtype()) && !is_floating(target.dtype()))
    fail<NotImplementedError>("[mse_loss] is not implemented for '", scalar_name(input.dtype()), "'; convert with to(kFloat32)");
  if ((options.reduction != Reduction::Mean && options.reduction != Reduction::Sum) || options.weight.defined() ||
      input.dtype() != target.dtype())
    return autograd::called(weighted("mse_loss", square(sub(input, target, site), site), options.weight, options.reduction, site),
                            "MseLossBackward0");
  Tensor difference, loss;
  double factor = 1;
  {
    const NoGradGuard no_grad;
    difference = sub(input, target, site);
    const bool mean = options.reduction == Reduction::Mean;
    if (mean) factor = 1.0 / static_cast<double>(difference.numel());
    loss = empty({}, {.dtype = input.dtype(), .device = difference.device()}, site);
    const auto reduced = static_cast<int32_t>(difference.dim());
    const kernels::View in = ops::view(difference);
    ops::launch(loss, "mse_loss", site, &kernels::Table::reduce, mean ? kernels::Reduce::MeanOfSquares : kernels::Reduce::SumOfSquares,
                loss, in, reduced, ops::kernels_of(loss).reduce_workspace(in, reduced));
  }
  if (!needs_grad(input, target)) return loss;
  return record("MseLossBackward0", loss, {input, target}, site,
                [input = autograd::saved(input), target = autograd::saved(target), difference = autograd::saved(difference), factor, site](
                    const Tensor& g, autograd::Wanted wanted) {
                  const Tensor in = input.get(), to = target.get();
                  const Tensor slope = autograd::detail::grad_enabled ? mul(sub(in, to, site), mul(g, 2 * factor, site), site)
                                                                      : mse_slope(g, difference.get(), 2 * factor, site);
                  std::array<Tensor, 2> gradients;
                  if (wanted[0]) gradients[0] = sum_to_size(slope, in.sizes(), site);
                  if (wanted[1]) gradients[1] = sum_to_size(neg(slope, site), to.sizes(), site);
                  return gradients;
                });
}

Tensor l1_loss(const Tensor& input, const Tensor& target, const WeightedLossOptions& options, Site site) {
  if (const ops::Cast cast("l1_loss", site, input, target); cast) return l1_loss(cast(input), cast(target), cast(options), site);
  return weighted("l1_loss", abs(sub(input, target, site), site), options.weight, options.reduction, site);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossOptions& options, Site site) {
  if (const ops::Cast cast("smooth_l1_loss", site, input, target); cast) return smooth_l1_loss(cast(input), cast(target), options, site);
  const double beta = options.beta;
  if (!(beta >= 0)) fail("[smooth_l1_loss] does not support negative values for beta, got ", beta);
  if (beta == 0) return l1_loss(input, target, {.reduction = options.reduction}, site);
  const auto slope = [beta](const Tensor& g, const Tensor& x, const Tensor& y) { return g * clamp((x - y) / beta, -1, 1); };
  const Tensor losses = by_kernel(PointwiseOp::smooth_l1, "smooth_l1_loss", "SmoothL1LossBackward0", input, target, beta, site, slope,
                                  [slope](const Tensor& g, const Tensor& x, const Tensor& y) { return slope(g, y, x); });
  return autograd::called(reduced("smooth_l1_loss", losses, options.reduction, site), "SmoothL1LossBackward0");
}

Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossOptions& options, Site site) {
  if (const ops::Cast cast("huber_loss", site, input, target); cast) return huber_loss(cast(input), cast(target), cast(options), site);
  const double delta = options.delta;
  if (!(delta > 0)) fail("[huber_loss] does not support non-positive values for delta, got ", delta);
  const auto slope = [delta](const Tensor& g, const Tensor& x, const Tensor& y) { return g * clamp(x - y, -delta, delta); };
  const Tensor losses = by_kernel(PointwiseOp::huber, "huber_loss", "HuberLossBackward0", input, target, delta, site, slope,
                                  [slope](const Tensor& g, const Tensor& x, const Tensor& y) { return slope(g, y, x); });
  return autograd::called(weighted("huber_loss", losses, options.weight, options.reduction, site), "HuberLossBackward0");
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyOptions& options, Site site) {
  if (const ops::Cast cast("binary_cross_entropy", site, input, target); cast)
    return binary_cross_entropy(cast(input), cast(target), cast(options), site);
  check_sizes("binary_cross_entropy", input, target);
  const Tensor losses = by_kernel(
      PointwiseOp::binary_cross_entropy, "binary_cross_entropy", "BinaryCrossEntropyBackward0", input, target, {}, site,
      // PyTorch's bound, a float; half types have nothing like it.
      [](const Tensor& g, const Tensor& x, const Tensor& y) {
        const Tensor in = is_half(x.dtype()) ? x.to(kFloat32) : x;
        return g * (in - y) / clamp_min((1 - in) * in, static_cast<double>(1e-12F));
      },
      [](const Tensor& g, const Tensor& x, const Tensor&) { return g * (log1p(-x) - log(x)); });
  return autograd::called(
      reduced("binary_cross_entropy", options.weight.defined() ? mul(losses, options.weight, site) : losses, options.reduction, site),
      "BinaryCrossEntropyBackward0");
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const BinaryCrossEntropyWithLogitsOptions& options,
                                        Site site) {
  if (const ops::Cast cast("binary_cross_entropy_with_logits", site, input, target); cast)
    return binary_cross_entropy_with_logits(cast(input), cast(target), cast(options), site);
  check_sizes("binary_cross_entropy_with_logits", input, target);
  const Tensor& factor = options.pos_weight;
  const Operand x(input), y(target), positive = factor.defined() ? Operand(factor) : Operand(1.0);
  const Tensor values = logits_losses(x, y, positive, site);
  const Tensor losses =
      record("BinaryCrossEntropyWithLogitsBackward0", values, {input, target, factor}, site,
             [x = KeptOperand(x), y = KeptOperand(y), positive = KeptOperand(positive), fit_x = GradientFit(x), fit_y = GradientFit(y),
              fit_positive = GradientFit(positive), site](const Tensor& g, autograd::Wanted wanted) {
               const Tensor held[] = {x.get(), y.get(), positive.get()};
               const Tensor &in = held[0], &to = held[1];
               const Operand factor = positive.operand(held[2]);
               std::array<Tensor, 3> gradients;
               if (wanted[0]) gradients[0] = fit_x(logits_backward(g, in, to, factor, site));
               if (wanted[1]) gradients[1] = fit_y(g * (factor.is_tensor() ? (1 - factor) * logsigmoid(in) - in : -in));
               if (wanted[2]) gradients[2] = fit_positive(-g * to * logsigmoid(in));
               return gradients;
             });
  return autograd::called(reduced("binary_cross_entropy_with_logits", options.weight.defined() ? mul(losses, options.weight, site) : losses,
                                  options.reduction, site),
                          "BinaryCrossEntropyWithLogitsBackward0");
}

Tensor kl_div(const Tensor& input, const Tensor& target, const KlDivOptions& options, Site site) {
  if (const ops::Cast cast("kl_div", site, input, target); cast) return kl_div(cast(input), cast(target), options, site);
  ops::check_floating("kl_div", input);
  const Tensor losses = options.log_target ? mul(exp(target, site), sub(target, input, site), site)
                                           : sub(xlogy(target, target, site), mul(target, input, site), site);
  if (options.reduction != Reduction::BatchMean) return reduced("kl_div", losses, options.reduction, site);
  return input.dim() == 0 ? losses.sum(site) : div(losses.sum(site), input.size(0), site);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNllLossOptions& options, Site site) {
  if (const ops::Cast cast("poisson_nll_loss", site, input, target); cast)
    return poisson_nll_loss(cast(input), cast(target), options, site);
  Tensor losses = options.log_input ? sub(exp(input, site), mul(target, input, site), site)
                                    : sub(input, mul(target, log(add(input, options.eps, site), site), site), site);
  if (options.full) {
    const Tensor stirling = target * log(target, site) - target + 0.5 * log(target * (2 * std::numbers::pi), site);
    losses = add(losses, where(target <= 1, 0, stirling, site), site);
  }
  return reduced("poisson_nll_loss", losses, options.reduction, site);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Operand& var, const GaussianNllLossOptions& options, Site site) {
  const detail::ComposedAt line(site);
  if (!(options.eps > 0)) fail("[gaussian_nll_loss] eps must be positive, got ", options.eps);
  Tensor variance;
  if (var.is_tensor()) {
    variance = var.tensor();
    if (!(variance.sizes() == input.sizes())) {  // one for each row, or the same along one dimension
      if (variance.dim() + 1 == input.dim()) variance = variance.unsqueeze(-1, site);
      int shared = 0;
      bool fits = variance.dim() == input.dim();
      for (int64_t d = 0; fits && d < input.dim(); ++d) {
        if (variance.size(d) == input.size(d)) continue;
        fits = variance.size(d) == 1 && ++shared == 1;
      }
      if (!fits)
        fail<ValueError>("[gaussian_nll_loss] var is of incorrect size ", var.tensor().sizes(), " for an input of ", input.sizes());
    }
  } else {
    variance = full_like(input, var.number(), {}, site);
  }
  const Tensor raised = variance.clone(site);
  {
    const NoGradGuard no_grad;  // the gradient passes the bound
    if (raised.numel() > 0 && lt(raised, 0, site).any(site)) fail<ValueError>("[gaussian_nll_loss] var has negative entry/entries");
    raised.clamp_min_(options.eps, site);
  }
  Tensor losses = 0.5 * (log(raised, site) + square(sub(input, target, site), site) / raised);
  if (options.full) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return reduced("gaussian_nll_loss", losses, options.reduction, site);
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, LossOptions options, Site site) {
  if (const ops::Cast cast("soft_margin_loss", site, input, target); cast)
    return soft_margin_loss(cast(input), cast(target), options, site);
  return reduced("soft_margin_loss", neg(logsigmoid(mul(target, input, site), site), site), options.reduction, site);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, HingeEmbeddingLossOptions options, Site site) {
  if (const ops::Cast cast("hinge_embedding_loss", site, input, target); cast)
    return hinge_embedding_loss(cast(input), cast(target), options, site);
  const detail::ComposedAt line(site);
  const Tensor margin = full({}, options.margin, {.dtype = is_floating(input.dtype()) ? input.dtype() : get_default_dtype()}, site);
  const Tensor below = clamp_min(sub(margin, input, site), 0, site);
  return reduced("hinge_embedding_loss", where(target != 1, below, 0, site) + where(target != -1, input, 0, site), options.reduction, site);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, MarginLossOptions options, Site site) {
  if (const ops::Cast cast("margin_ranking_loss", site, input1, input2, target); cast)
    return margin_ranking_loss(cast(input1), cast(input2), cast(target), options, site);
  if (input1.dim() != input2.dim() || input1.dim() != target.dim())
    fail("[margin_ranking_loss] All input tensors should have same dimension but got sizes: input1: ", input1.sizes(),
         ", input2: ", input2.sizes(), ", target: ", target.sizes());
  const Tensor losses = clamp_min(add(mul(neg(target, site), sub(input1, input2, site), site), options.margin, site), 0, site);
  return reduced("margin_ranking_loss", losses, options.reduction, site);
}

}  // namespace tandem
