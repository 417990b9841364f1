#include "nn/batch_norm.h"

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/repr.h"
#include "nn/sync_batch_norm.h"
#include "ops/creation.h"
#include "ops/normalization.h"

namespace tandem::nn {

using detail::call_site;
using detail::repr;

NormBase::NormBase(bool lazy, int64_t num_features, const BatchNormOptions& options, Site site)
    : eps(options.eps),
      momentum(options.momentum),
      num_features_(num_features),
      lazy_(lazy),
      affine_(options.affine),
      track_(options.track_running_stats),
      has_bias_(options.affine && options.bias),
      placement_{.dtype = options.dtype, .device = options.device} {
  if (num_features < 0) fail("[BatchNorm] num_features must not be negative, got ", num_features);
  if (track_) num_batches_tracked = zeros({}, {.dtype = kInt64, .device = options.device}, site);
  if (!lazy) make(site);
}

void NormBase::make(Site site) {
  Options made = placement_;
  if (track_) {
    running_mean = zeros({num_features_}, made, site);
    running_var = ones({num_features_}, made, site);
  }
  made.requires_grad = true;
  if (affine_) weight = ones({num_features_}, made, site);
  if (has_bias_) bias = zeros({num_features_}, made, site);
}

void NormBase::prepare(int64_t features) {
  if (!lazy_ || num_features_) return;
  num_features_ = features;
  const InferenceMode outside(false);  // parameters are to be trained, whoever calls the module first
  // Those that were loaded before the first forward are there.
  if ((affine_ && !weight.defined()) || (track_ && !running_mean.defined())) make(call_site());
}

void NormBase::fields(Fields& f) {
  const bool lazy = lazy_;
  const auto parameter = [&](const char* part, Tensor& tensor, bool wanted) {
    if (!lazy) f(part, tensor);
    else if (wanted) f.lazy(part, tensor, placement_);
  };
  const auto statistic = [&](const char* part, Tensor& tensor) {
    if (!lazy) f.buffer(part, tensor);
    else if (track_) f.lazy_buffer(part, tensor, placement_);
  };
  parameter("weight", weight, affine_);
  parameter("bias", bias, has_bias_);
  statistic("running_mean", running_mean);
  statistic("running_var", running_var);
  f.buffer("num_batches_tracked", num_batches_tracked);
}

void NormBase::reset_running_stats(Site site) {
  const NoGradGuard no_grad;
  if (running_mean.defined()) running_mean.zero_(site);
  if (running_var.defined()) running_var.fill_(1, site);
  if (num_batches_tracked.defined()) num_batches_tracked.zero_(site);
}

void NormBase::reset_parameters(Site site) {
  const NoGradGuard no_grad;
  reset_running_stats(site);
  if (weight.defined()) weight.fill_(1, site);
  if (bias.defined()) bias.zero_(site);
}

std::string NormBase::name() const {
  if (sync_group) return "SyncBatchNorm";
  const std::string own = Module::name();
  return lazy_ && num_features_ && own.starts_with("Lazy") ? own.substr(4) : own;
}

std::string NormBase::extra_repr() const {
  return str(num_features_, ", eps=", repr(eps), ", momentum=", repr(momentum), ", affine=", repr(affine_), ", bias=", repr(has_bias_),
             ", track_running_stats=", repr(track_));
}

Tensor NormBase::normalize(const Tensor& x) {
  prepare(x.size(1));
  const Site site = call_site();
  double factor = momentum.value_or(0);
  if (training() && num_batches_tracked.defined()) {
    const NoGradGuard no_grad;
    num_batches_tracked.add_(1, 1, site);
    // The mean of all batches needs their number on the host.
    if (!momentum) factor = 1 / static_cast<double>(num_batches_tracked.item<int64_t>(site));
  }
  const bool by_batch = training() || (!running_mean.defined() && !running_var.defined());
  const tandem::BatchNormOptions options{.weight = weight, .bias = bias, .training = by_batch, .momentum = factor, .eps = eps};
  if (sync_group && training()) return sync_batch_norm(x, running_mean, running_var, options, *sync_group, site);
  return batch_norm(x, running_mean, running_var, options, site);
}

template <int Spatial>
Tensor BatchNormOf<Spatial>::forward(const Tensor& x) {
  if (Spatial == 1 ? x.dim() != 2 && x.dim() != 3 : x.dim() != Spatial + 2)
    fail("[", name(), "] expected ", Spatial == 1 ? "2D or 3D" : Spatial == 2 ? "4D" : "5D", " input (got ", x.dim(), "D input)");
  return normalize(x);
}

template <int Spatial>
InstanceNormOf<Spatial>::InstanceNormOf(bool lazy, int64_t num_features, const InstanceNormOptions& options, Site site)
    : NormBase(lazy, num_features,
               {.eps = options.eps,
                .momentum = options.momentum,
                .affine = options.affine,
                .track_running_stats = options.track_running_stats,
                .bias = options.bias,
                .device = options.device,
                .dtype = options.dtype},
               site) {}

template <int Spatial>
Tensor InstanceNormOf<Spatial>::forward(const Tensor& x) {
  if (x.dim() != Spatial + 1 && x.dim() != Spatial + 2)
    fail("[", name(), "] expected ", Spatial + 1, "D or ", Spatial + 2, "D input (got ", x.dim(), "D input)");
  const bool batched = x.dim() == Spatial + 2;
  const int64_t channel_dim = batched ? 1 : 0;
  prepare(x.size(channel_dim));
  if (affine() && x.size(channel_dim) != num_features())
    fail("[", name(), "] expected input's size at dim=", channel_dim, " to match num_features (", num_features(),
         "), but got: ", x.size(channel_dim));
  const Site site = call_site();
  const Tensor y = instance_norm(batched ? x : x.unsqueeze(0, site),
                                 {.running_mean = running_mean,
                                  .running_var = running_var,
                                  .weight = weight,
                                  .bias = bias,
                                  .use_input_stats = training() || !running_mean.defined(),
                                  .momentum = momentum.value_or(0),
                                  .eps = eps},
                                 site);
  return batched ? y : y.squeeze(0, site);
}

template struct BatchNormOf<1>;
template struct BatchNormOf<2>;
template struct BatchNormOf<3>;
template struct InstanceNormOf<1>;
template struct InstanceNormOf<2>;
template struct InstanceNormOf<3>;

}  // namespace tandem::nn
