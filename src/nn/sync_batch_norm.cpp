// Each rank's mean, variance and count go to all others, which join them as Chan, Golub and LeVeque do ("Updating formulae and a pairwise
// algorithm for computing sample variances", 1979): exact for uneven counts, and no large sums cancel.
#include "nn/sync_batch_norm.h"

#include <array>

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace tandem::nn {
namespace {

using distributed::ProcessGroup;

struct Statistics {
  Tensor mean, variance;  // (c), the variance not corrected
  Tensor count;           // no dimensions
};

/// All dimensions but that of the channels.
Shape reduced_dims(const Tensor& x) {
  Shape dims{0};
  for (int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  return dims;
}
/// (c) as (1, c, 1…), to meet x.
Tensor over_channels(const Tensor& t, const Tensor& x) {
  Shape sizes;
  sizes.resize(x.sizes().size());
  for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = d == 1 ? t.numel() : 1;
  return t.view(sizes);
}

Statistics all_statistics(const Tensor& x, const ProcessGroup& group, Site site) {
  const int64_t channels = x.size(1), count = channels ? x.numel() / channels : 0;
  const Options options{.dtype = x.dtype(), .device = x.device()};
  Tensor mean = zeros({channels}, options, site), variance = mean;
  if (count > 0) {
    const VarMean own = var_mean(x, reduced_dims(x), 0, false, site);
    mean = own.mean;
    variance = own.var;
  }
  const Tensor mine = cat({mean, variance, full({1}, static_cast<double>(count), options, site)}, 0, site);
  const Tensor all = empty({group.size(), 2 * channels + 1}, options, site);
  distributed::all_gather_into_tensor(all, mine, {.group = group}, site);
  const Tensor means = all.narrow(1, 0, channels), variances = all.narrow(1, channels, channels), counts = all.narrow(1, 2 * channels, 1);
  Statistics joined;
  joined.count = counts.sum();
  joined.mean = (means * counts).sum(Shape{0}) / joined.count;
  const Tensor apart = means - joined.mean;
  joined.variance = ((variances + apart * apart) * counts).sum(Shape{0}) / joined.count;
  return joined;
}

void follow(const Tensor& running, const Tensor& value, double momentum) {
  if (running.defined()) running.mul_(1 - momentum).add_(value.to(running.dtype()), momentum);
}

}  // namespace

Tensor sync_batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var, const tandem::BatchNormOptions& options,
                       const ProcessGroup& group, Site site) {
  if (!distributed::is_initialized() || group.size() == 1) return batch_norm(input, running_mean, running_var, options, site);
  if (input.dim() < 2) fail("[sync_batch_norm] expected at least 2D input (got ", input.dim(), "D input)");
  for (const Tensor* channels : {&options.weight, &options.bias, &running_mean, &running_var})
    if (channels->defined() && channels->numel() != input.size(1))
      fail("[sync_batch_norm] the input ", input.sizes(), " has ", input.size(1), " channels, but a parameter or running figure has ",
           channels->numel());
  const DType wide = input.dtype() == kFloat64 ? kFloat64 : kFloat32;
  Tensor y, mean, deviation, count;
  {
    const NoGradGuard no_grad;
    const Tensor x = input.detach().to(wide, {}, site);
    const Statistics all = all_statistics(x, group, site);
    mean = all.mean;
    count = all.count;
    deviation = rsqrt(all.variance + options.eps);  // its inverse
    const Tensor scale = options.weight.defined() ? deviation * options.weight.to(wide) : deviation;
    const Tensor shift = options.bias.defined() ? options.bias.to(wide) - mean * scale : -mean * scale;
    y = (x * over_channels(scale, x) + over_channels(shift, x)).to(input.dtype(), {}, site);
    follow(running_mean, mean, options.momentum);
    follow(running_var, all.variance * (count / maximum(count - 1, 1)), options.momentum);
  }
  using autograd::SavedTensor;
  const Tensor& weight = options.weight;
  return autograd::record(
      "SyncBatchNormBackward0", y, {input, weight, options.bias}, site,
      [in = autograd::saved(input), weight = weight.defined() ? autograd::saved(weight) : SavedTensor(), mean, deviation, count, wide,
       bias_dtype = options.bias.defined() ? options.bias.dtype() : wide, group, site](const Tensor& gradient, autograd::Wanted wanted) {
        if (is_grad_enabled()) fail("[sync_batch_norm] a gradient of its gradient is not supported: use BatchNorm for that");
        const Tensor x = in.get().detach().to(wide), g = gradient.to(wide);
        const Tensor centered = x - over_channels(mean, x);
        const Tensor sum = g.sum(reduced_dims(x)), product = (g * centered).sum(reduced_dims(x));
        std::array<Tensor, 3> gradients;
        const Tensor scales = weight.defined() ? weight.get().detach() : Tensor();
        if (wanted[1]) gradients[1] = (product * deviation).to(scales.dtype());
        if (wanted[2]) gradients[2] = sum.to(bias_dtype);
        if (!wanted[0]) return gradients;
        const Tensor both = cat({sum, product}, 0) / count;
        distributed::all_reduce(both, distributed::ReduceOp::SUM, {.group = group}, site);
        const int64_t channels = sum.numel();
        const Tensor mean_of_g = both.narrow(0, 0, channels), slope = both.narrow(0, channels, channels) * deviation * deviation;
        const Tensor scale = scales.defined() ? deviation * scales.to(wide) : deviation;
        gradients[0] =
            ((g - over_channels(mean_of_g, x) - centered * over_channels(slope, x)) * over_channels(scale, x)).to(gradient.dtype());
        return gradients;
      });
}

SyncBatchNorm::SyncBatchNorm(int64_t num_features, const BatchNormOptions& options, const ProcessGroup& group, Site site)
    : NormBase(false, num_features, options, site) {
  sync_group = std::make_shared<const ProcessGroup>(group);
}

Tensor SyncBatchNorm::forward(const Tensor& x) {
  if (x.dim() < 2) fail("[SyncBatchNorm] expected at least 2D input (got ", x.dim(), "D input)");
  return normalize(x);
}

void convert_sync_batchnorm(ModuleBase& module, const ProcessGroup& group) {
  const auto shared = std::make_shared<const ProcessGroup>(group);
  for (const auto& [name, part] : module.named_modules()) {
    const bool is_batch_norm =
        dynamic_cast<BatchNormOf<1>*>(part) || dynamic_cast<BatchNormOf<2>*>(part) || dynamic_cast<BatchNormOf<3>*>(part);
    if (is_batch_norm) dynamic_cast<NormBase*>(part)->sync_group = shared;
  }
}

}  // namespace tandem::nn
