#include "libtorch/layers_norm.h"

#include "autograd/autograd.h"
#include "libtorch/functional_linear.h"
#include "ops/creation.h"
#include "ops/normalization.h"
#include "ops/operators.h"

namespace torch::nn {
namespace {

// Registers a weight and a bias of these sizes; without `affine` both are none, under their names.
void register_affine(Module& module, const tandem::Shape& sizes, bool affine, Tensor& weight, Tensor& bias, Site site) {
  const auto registered = [&](const char* name) {
    return module.register_parameter(name, affine ? tandem::empty(sizes, {}, site) : Tensor(), affine, site);
  };
  weight = registered("weight");
  bias = registered("bias");
}

// Fills a weight with ones and a bias with zeros; either may be undefined.
void reset_affine(const Tensor& weight, const Tensor& bias, Site site) {
  const tandem::NoGradGuard no_grad;
  if (weight.defined()) weight.fill_(1, site);
  if (bias.defined()) bias.zero_(site);
}

}  // namespace

template <size_t D, class Derived, class DerivedOptions>
NormImplBase<D, Derived, DerivedOptions>::NormImplBase(const DerivedOptions& options_, Site) : options(options_) {
  reset();
}

template <size_t D, class Derived, class DerivedOptions>
void NormImplBase<D, Derived, DerivedOptions>::reset() {
  const Site site = detail::making_site();
  const tandem::Shape sizes{options.num_features()};
  register_affine(*this, sizes, options.affine(), weight, bias, site);
  const bool track = options.track_running_stats();
  running_mean = this->register_buffer("running_mean", track ? tandem::zeros(sizes, {}, site) : Tensor(), site);
  running_var = this->register_buffer("running_var", track ? tandem::ones(sizes, {}, site) : Tensor(), site);
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", track ? tandem::zeros({}, {.dtype = tandem::kInt64}, site) : Tensor(), site);
  reset_parameters(site);
}

template <size_t D, class Derived, class DerivedOptions>
void NormImplBase<D, Derived, DerivedOptions>::reset_running_stats(Site site) {
  if (!options.track_running_stats()) return;
  running_mean.zero_(site);
  running_var.fill_(1, site);
  num_batches_tracked.zero_(site);
}

template <size_t D, class Derived, class DerivedOptions>
void NormImplBase<D, Derived, DerivedOptions>::reset_parameters(Site site) {
  reset_running_stats(site);
  reset_affine(weight, bias, site);
}

template <size_t D, class Derived>
Tensor BatchNormImplBase<D, Derived>::forward(const Tensor& input, Site site) {
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

template <size_t D, class Derived>
void BatchNormImplBase<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = this->options;
  detail::Text(stream, Derived::kName)("", o.num_features())("eps", o.eps())("momentum", o.momentum())("affine", o.affine())(
      "track_running_stats", o.track_running_stats());
}

template <size_t D, class Derived>
Tensor InstanceNormImpl<D, Derived>::forward(const Tensor& input, Site site) {
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

template <size_t D, class Derived>
void InstanceNormImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = this->options;
  detail::Text(stream, Derived::kName)("", o.num_features())("eps", o.eps())("momentum", o.momentum())("affine", o.affine())(
      "track_running_stats", o.track_running_stats());
}

template class NormImplBase<1, BatchNorm1dImpl, BatchNormOptions>;
template class BatchNormImplBase<1, BatchNorm1dImpl>;
template class NormImplBase<2, BatchNorm2dImpl, BatchNormOptions>;
template class BatchNormImplBase<2, BatchNorm2dImpl>;
template class NormImplBase<3, BatchNorm3dImpl, BatchNormOptions>;
template class BatchNormImplBase<3, BatchNorm3dImpl>;
template class NormImplBase<1, InstanceNorm1dImpl, InstanceNormOptions>;
template class InstanceNormImpl<1, InstanceNorm1dImpl>;
template class NormImplBase<2, InstanceNorm2dImpl, InstanceNormOptions>;
template class InstanceNormImpl<2, InstanceNorm2dImpl>;
template class NormImplBase<3, InstanceNorm3dImpl, InstanceNormOptions>;
template class InstanceNormImpl<3, InstanceNorm3dImpl>;

LayerNormImpl::LayerNormImpl(std::vector<int64_t> normalized_shape, Site site)
    : LayerNormImpl(LayerNormOptions(std::move(normalized_shape)), site) {}

LayerNormImpl::LayerNormImpl(LayerNormOptions options_, Site) : options(std::move(options_)) { LayerNormImpl::reset(); }

void LayerNormImpl::reset() {
  const Site site = detail::making_site();
  register_affine(*this, options.normalized_shape(), options.elementwise_affine(), weight, bias, site);
  reset_parameters(site);
}

void LayerNormImpl::reset_parameters(Site site) { reset_affine(weight, bias, site); }

Tensor LayerNormImpl::forward(const Tensor& input, Site site) {
  return tandem::layer_norm(input, options.normalized_shape(), weight, bias, options.eps(), site);
}

void LayerNormImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "LayerNorm")("", options.normalized_shape())("eps", options.eps())("elementwise_affine",
                                                                                          options.elementwise_affine());
}

GroupNormImpl::GroupNormImpl(int64_t num_groups, int64_t num_channels, Site site)
    : GroupNormImpl(GroupNormOptions(num_groups, num_channels), site) {}

GroupNormImpl::GroupNormImpl(const GroupNormOptions& options_, Site) : options(options_) { GroupNormImpl::reset(); }

void GroupNormImpl::reset() {
  const Site site = detail::making_site();
  register_affine(*this, {options.num_channels()}, options.affine(), weight, bias, site);
  reset_parameters(site);
}

void GroupNormImpl::reset_parameters(Site site) { reset_affine(weight, bias, site); }

Tensor GroupNormImpl::forward(const Tensor& input, Site site) {
  return tandem::group_norm(input, options.num_groups(), weight, bias, options.eps(), site);
}

void GroupNormImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "GroupNorm")("", options.num_groups())("", options.num_channels())("eps", options.eps())("affine", options.affine());
}

Tensor LocalResponseNormImpl::forward(const Tensor& input, Site site) { return functional::local_response_norm(input, options, site); }

void LocalResponseNormImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "LocalResponseNorm")("", options.size())("alpha", options.alpha())("beta", options.beta())("k", options.k());
}

Tensor CrossMapLRN2dImpl::forward(const Tensor& input, Site site) {
  const int64_t window = (options.size() - 1) / 2 * 2 + 1;
  const double alpha = options.alpha() * static_cast<double>(window) / static_cast<double>(options.size());
  return tandem::local_response_norm(input, window, alpha, options.beta(), static_cast<double>(options.k()), site);
}

void CrossMapLRN2dImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "CrossMapLRN2d")("", options.size())("alpha", options.alpha())("beta", options.beta())("k", options.k());
}

}  // namespace torch::nn
