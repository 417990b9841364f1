// Connectionist temporal classification: checks, lengths on the host, kernels.
#include <algorithm>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/arithmetic.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/loss/loss.h"
#include "ops/loss/loss_reduction.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/upload.h"
#include "ops/view.h"
#include "tensor/host_values.h"

namespace tandem {
namespace {

using autograd::record;

Shape lengths_of(const char* name, const Tensor& lengths, Site site) {
  if (is_floating(lengths.dtype()) || lengths.dtype() == kBool) fail("[ctc_loss] ", name, " must be integral, not ", lengths.dtype());
  return Shape(read_values(lengths, -1, "ctc_loss", site).integers);
}

/// What the kernels need of a batch beside the probabilities.
struct Batch {
  Tensor targets;  // all labels one after another, int64
  Tensor rows;     // (n, 3) int64: steps, labels, where the labels begin
  int64_t places;  // the most places of a target with its blanks
};
Batch batch_of(const Tensor& log_probs, const Tensor& targets, const Shape& input_lengths, const Shape& target_lengths, Site site) {
  const int64_t steps = log_probs.size(0), count = log_probs.size(1);
  if (static_cast<int64_t>(input_lengths.size()) != count)
    fail("[ctc_loss] input_lengths must be of size batch_size, ", count, ", not ", input_lengths.size());
  if (static_cast<int64_t>(target_lengths.size()) != count)
    fail("[ctc_loss] target_lengths must be of size batch_size, ", count, ", not ", target_lengths.size());
  if (targets.dtype() != kInt64 && targets.dtype() != kInt32) fail("[ctc_loss] targets must be int64 or int32, not ", targets.dtype());
  if (targets.dim() != 1 && targets.dim() != 2) fail("[ctc_loss] targets must have 1 or 2 dimensions, not ", targets.dim());
  std::vector<int64_t> rows;
  int64_t total = 0, longest = 0;
  for (size_t i = 0; i < input_lengths.size(); ++i) {
    const int64_t length = target_lengths[i];
    if (input_lengths[i] < 0 || input_lengths[i] > steps)
      fail("[ctc_loss] Expected input_lengths to have value at most ", steps, ", but got value ", input_lengths[i]);
    if (length < 0) fail("[ctc_loss] Expected target_lengths to have value at least 0, but got value ", length);
    if (targets.dim() == 2 && length > targets.size(1))
      fail("[ctc_loss] Expected tensor to have size at least ", length, " at dimension 1, but got size ", targets.size(1));
    rows.insert(rows.end(), {input_lengths[i], length, targets.dim() == 2 ? static_cast<int64_t>(i) * targets.size(1) : total});
    total += length;
    longest = std::max(longest, length);
  }
  if (targets.dim() == 1 && total != targets.numel())
    fail("[ctc_loss] Expected targets of ", total, " elements, the sum of target_lengths, but got ", targets.numel());
  if (targets.dim() == 2 && targets.size(0) != count) fail("[ctc_loss] Expected targets of ", count, " rows, but got ", targets.size(0));
  const Device device = log_probs.device();
  return {targets.to(device, kInt64, {}, site).contiguous(site), ops::uploaded(rows, device, site).view({count, 3}), 2 * longest + 1};
}

Tensor losses_of(const Tensor& log_probs, const Batch& batch, int64_t blank, bool zero_infinity, Site site) {
  const int64_t steps = log_probs.size(0), count = log_probs.size(1);
  const Options like{.dtype = log_probs.dtype(), .device = log_probs.device()};
  Tensor losses = empty({count}, like, site);
  const Tensor alpha = empty({count, steps, batch.places}, like, site);
  ops::launch(losses, "ctc_loss", site, &kernels::Table::ctc_loss, losses, alpha, log_probs, batch.targets, batch.rows, blank);
  return record(
      "CtcLossBackward0", losses, {log_probs}, site,
      [=, log_probs = autograd::saved(log_probs), alpha = autograd::saved(alpha)](const Tensor& g) {
        const Tensor in = log_probs.get(), states = alpha.get();
        Tensor gradient = empty_like(in, {}, site);
        const Tensor beta = empty({states.size(0), 2 * states.size(2) + in.size(2)}, {.dtype = in.dtype(), .device = in.device()}, site);
        if (gradient.numel() > 0)
          ops::launch(gradient, "ctc_loss_backward", site, &kernels::Table::ctc_loss_backward, gradient, beta, g, in, batch.targets,
                      batch.rows, states, blank, zero_infinity);
        return record("CtcLossBackwardBackward0", gradient, {g, in}, site,
                      [](const Tensor&) -> std::array<Tensor, 2> { fail("[ctc_loss] the derivative of its gradient is not implemented"); });
      });
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Shape& input_lengths, const Shape& target_lengths,
                const CtcLossOptions& options, Site site) {
  if (const ops::Cast cast("ctc_loss", site, log_probs); cast)
    return ctc_loss(cast(log_probs), targets, input_lengths, target_lengths, options, site);
  if (log_probs.dim() != 2 && log_probs.dim() != 3) fail("[ctc_loss] log_probs must have 2 or 3 dimensions, not ", log_probs.dim());
  if (log_probs.dtype() != kFloat32 && log_probs.dtype() != kFloat64)
    fail<NotImplementedError>("[ctc_loss] is not implemented for '", scalar_name(log_probs.dtype()), "'; convert with to(kFloat32)");
  const int64_t classes = log_probs.size(-1);
  if (options.blank < 0 || options.blank >= classes)
    fail("[ctc_loss] blank must be in label range [0, ", classes, "), got ", options.blank);
  const bool single = log_probs.dim() == 2;
  const Tensor in = single ? log_probs.unsqueeze(1, site) : log_probs;
  const Batch batch =
      batch_of(in, single && targets.dim() == 1 ? targets.unsqueeze(0, site) : targets, input_lengths, target_lengths, site);
  Tensor losses = losses_of(in, batch, options.blank, options.zero_infinity, site);
  if (options.zero_infinity) losses = where(isinf(losses, site), 0, losses, site);
  if (options.reduction == Reduction::Mean) {
    const Tensor lengths = batch.rows.select(1, 1, site).clamp(1, {}, site).to(losses.dtype(), {}, site);
    return (losses / lengths).mean(site);
  }
  return ops::reduced("ctc_loss", single ? losses.squeeze(0, site) : losses, options.reduction, site);
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                const CtcLossOptions& options, Site site) {
  return ctc_loss(log_probs, targets, lengths_of("input_lengths", input_lengths, site), lengths_of("target_lengths", target_lengths, site),
                  options, site);
}

}  // namespace tandem
