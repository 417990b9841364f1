// Normalization as layers.
#pragma once

#include "autograd/autograd.h"
#include "libtorch/functional_linear.h"
#include "libtorch/layers_base.h"
#include "libtorch/options_activation.h"
#include "ops/operators.h"

namespace torch::nn {
namespace detail {

/// Fills a weight with ones and a bias with zeros; either may be undefined.
inline void reset_affine(const Tensor& weight, const Tensor& bias, Site site) {
  const tandem::NoGradGuard no_grad;
  if (weight.defined()) weight.fill_(1, site);
  if (bias.defined()) bias.zero_(site);
}

}  // namespace detail

/// What normalizations by running statistics share: weight, bias and statistics of each channel, those that there are.
template <size_t D, class Derived, class DerivedOptions>
class NormImplBase : public Cloneable<Derived> {
 public:
  NormImplBase(const DerivedOptions& options_, Site = Site::here()) : options(options_) { reset(); }

  void reset() override {
    const Site site = detail::making_site();
    const tandem::Shape sizes{options.num_features()};
    const auto parameter = [&](const char* name) {
      return this->register_parameter(name, options.affine() ? tandem::empty(sizes, {}, site) : Tensor(), options.affine(), site);
    };
    weight = parameter("weight");
    bias = parameter("bias");
    const bool track = options.track_running_stats();
    running_mean = this->register_buffer("running_mean", track ? tandem::zeros(sizes, {}, site) : Tensor(), site);
    running_var = this->register_buffer("running_var", track ? tandem::ones(sizes, {}, site) : Tensor(), site);
    num_batches_tracked =
        this->register_buffer("num_batches_tracked", track ? tandem::zeros({}, {.dtype = tandem::kInt64}, site) : Tensor(), site);
    reset_parameters(site);
  }
  /// Mean 0, variance 1, no batches.
  void reset_running_stats(Site site = Site::here()) {
    if (!options.track_running_stats()) return;
    running_mean.zero_(site);
    running_var.fill_(1, site);
    num_batches_tracked.zero_(site);
  }
  /// The same, and weight 1, bias 0.
  void reset_parameters(Site site = Site::here()) {
    reset_running_stats(site);
    detail::reset_affine(weight, bias, site);
  }

  DerivedOptions options;
  Tensor weight, bias;
  Tensor running_mean, running_var;
  Tensor num_batches_tracked;
};

/// Each channel with mean 0 and variance 1: in training by the batch, whose statistics the running ones follow; else by those.
template <size_t D, class Derived>
class BatchNormImplBase : public NormImplBase<D, Derived, BatchNormOptions> {
 public:
  using NormImplBase<D, Derived, BatchNormOptions>::NormImplBase;

  Tensor forward(const Tensor& input, Site site = Site::here()) {
    const int64_t dims = input.dim(site), usual = D + 2;
    if (dims != usual && !(D == 1 && dims == 2))
      tandem::fail("[BatchNorm", D, "d] expected ", D == 1 ? "2D or " : "", usual, "D input (got ", dims, "D input)");
    const auto& o = this->options;
    double momentum = o.momentum().value_or(0);
    if (this->is_training() && o.track_running_stats() && this->num_batches_tracked.defined()) {
      const tandem::NoGradGuard no_grad;
      this->num_batches_tracked.add_(1, 1, site);
      // The mean of all batches needs their number on the host.
      if (!o.momentum()) momentum = 1 / this->num_batches_tracked.template item<double>(site);
    }
    return tandem::batch_norm(input, this->running_mean, this->running_var,
                              {.weight = this->weight,
                               .bias = this->bias,
                               .training = this->is_training() || !o.track_running_stats(),
                               .momentum = momentum,
                               .eps = o.eps()},
                              site);
  }
  void pretty_print(std::ostream& stream) const override {
    const auto& o = this->options;
    detail::Text(stream, Derived::kName)("", o.num_features())("eps", o.eps())("momentum", o.momentum())("affine", o.affine())(
        "track_running_stats", o.track_running_stats());
  }
};

/// The same by the statistics of each sample, in evaluation too unless running ones are tracked.
template <size_t D, class Derived>
class InstanceNormImpl : public NormImplBase<D, Derived, InstanceNormOptions> {
 public:
  using NormImplBase<D, Derived, InstanceNormOptions>::NormImplBase;

  Tensor forward(const Tensor& input, Site site = Site::here()) {
    const int64_t dims = input.dim(site), usual = D + 2;
    if (dims != usual && dims != usual - 1)
      tandem::fail("[InstanceNorm", D, "d] expected ", usual - 1, "D or ", usual, "D input (got ", dims, "D input)");
    const auto& o = this->options;
    const Tensor result = tandem::instance_norm(dims == usual ? input : input.unsqueeze(0, site),
                                                {.running_mean = this->running_mean,
                                                 .running_var = this->running_var,
                                                 .weight = this->weight,
                                                 .bias = this->bias,
                                                 .use_input_stats = this->is_training() || !o.track_running_stats(),
                                                 .momentum = o.momentum(),
                                                 .eps = o.eps()},
                                                site);
    return dims == usual ? result : result.squeeze(0, site);
  }
  void pretty_print(std::ostream& stream) const override {
    const auto& o = this->options;
    detail::Text(stream, Derived::kName)("", o.num_features())("eps", o.eps())("momentum", o.momentum())("affine", o.affine())(
        "track_running_stats", o.track_running_stats());
  }
};

#define TANDEM_NORM(Name, Base, D)                \
  class Name##Impl : public Base<D, Name##Impl> { \
   public:                                        \
    static constexpr const char* kName = #Name;   \
    using Base<D, Name##Impl>::Base;              \
  };                                              \
  TORCH_MODULE(Name)

TANDEM_NORM(BatchNorm1d, BatchNormImplBase, 1);
TANDEM_NORM(BatchNorm2d, BatchNormImplBase, 2);
TANDEM_NORM(BatchNorm3d, BatchNormImplBase, 3);
TANDEM_NORM(InstanceNorm1d, InstanceNormImpl, 1);
TANDEM_NORM(InstanceNorm2d, InstanceNormImpl, 2);
TANDEM_NORM(InstanceNorm3d, InstanceNormImpl, 3);

#undef TANDEM_NORM

/// Mean 0 and variance 1 over the last dimensions.
class LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape, Site site = Site::here())
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape)), site) {}
  explicit LayerNormImpl(LayerNormOptions options_, Site = Site::here()) : options(std::move(options_)) { LayerNormImpl::reset(); }
  void reset() override {
    const Site site = detail::making_site();
    const bool affine = options.elementwise_affine();
    const auto parameter = [&](const char* name) {
      return register_parameter(name, affine ? tandem::empty(options.normalized_shape(), {}, site) : Tensor(), affine, site);
    };
    weight = parameter("weight");
    bias = parameter("bias");
    reset_parameters(site);
  }
  void reset_parameters(Site site = Site::here()) { detail::reset_affine(weight, bias, site); }
  Tensor forward(const Tensor& input, Site site = Site::here()) {
    return tandem::layer_norm(input, options.normalized_shape(), weight, bias, options.eps(), site);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "LayerNorm")("", options.normalized_shape())("eps", options.eps())("elementwise_affine",
                                                                                            options.elementwise_affine());
  }

  LayerNormOptions options;
  Tensor weight, bias;
};
TORCH_MODULE(LayerNorm);

/// Mean 0 and variance 1 over groups of channels.
class GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels, Site site = Site::here())
      : GroupNormImpl(GroupNormOptions(num_groups, num_channels), site) {}
  explicit GroupNormImpl(const GroupNormOptions& options_, Site = Site::here()) : options(options_) { GroupNormImpl::reset(); }
  void reset() override {
    const Site site = detail::making_site();
    const auto parameter = [&](const char* name) {
      return register_parameter(name, options.affine() ? tandem::empty({options.num_channels()}, {}, site) : Tensor(), options.affine(),
                                site);
    };
    weight = parameter("weight");
    bias = parameter("bias");
    reset_parameters(site);
  }
  void reset_parameters(Site site = Site::here()) { detail::reset_affine(weight, bias, site); }
  Tensor forward(const Tensor& input, Site site = Site::here()) {
    return tandem::group_norm(input, options.num_groups(), weight, bias, options.eps(), site);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "GroupNorm")("", options.num_groups())("", options.num_channels())("eps", options.eps())("affine",
                                                                                                                  options.affine());
  }

  GroupNormOptions options;
  Tensor weight, bias;
};
TORCH_MODULE(GroupNorm);

/// Each element divided by a power of what neighbouring channels have at its place.
class LocalResponseNormImpl : public detail::OptionsOnly<LocalResponseNormImpl, LocalResponseNormOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& input, Site site = Site::here()) { return functional::local_response_norm(input, options, site); }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "LocalResponseNorm")("", options.size())("alpha", options.alpha())("beta", options.beta())("k", options.k());
  }
};
TORCH_MODULE(LocalResponseNorm);

/// The same with windows of an odd number of channels: an even size has one less, but the sum counts as of all.
class CrossMapLRN2dImpl : public detail::OptionsOnly<CrossMapLRN2dImpl, CrossMapLRN2dOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& input, Site site = Site::here()) {
    const int64_t window = (options.size() - 1) / 2 * 2 + 1;
    const double alpha = options.alpha() * static_cast<double>(window) / static_cast<double>(options.size());
    return tandem::local_response_norm(input, window, alpha, options.beta(), static_cast<double>(options.k()), site);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "CrossMapLRN2d")("", options.size())("alpha", options.alpha())("beta", options.beta())("k", options.k());
  }
};
TORCH_MODULE(CrossMapLRN2d);

}  // namespace torch::nn
