#include "nn/normalization.h"

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/repr.h"
#include "ops/creation.h"
#include "ops/normalization.h"

namespace tandem::nn {
namespace {

using detail::call_site;
using detail::repr;

// Factors and summands that start at 1 and 0; either may be left out.
void make_affine(Tensor& weight, Tensor* bias, const Shape& sizes, const Options& options, Site site) {
  Options made = options;
  made.requires_grad = true;
  weight = ones(sizes, made, site);
  if (bias) *bias = zeros(sizes, made, site);
}

void reset_affine(const Tensor& weight, const Tensor& bias, Site site) {
  const NoGradGuard no_grad;
  if (weight.defined()) weight.fill_(1, site);
  if (bias.defined()) bias.zero_(site);
}

}  // namespace

LayerNorm::LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options, Site site)
    : normalized_shape(normalized_shape), eps(options.eps) {
  if (options.elementwise_affine)
    make_affine(weight, options.bias ? &bias : nullptr, normalized_shape, {.dtype = options.dtype, .device = options.device}, site);
}
void LayerNorm::fields(Fields& f) {
  f("weight", weight);
  f("bias", bias);
}
Tensor LayerNorm::forward(const Tensor& x) { return layer_norm(x, normalized_shape, weight, bias, eps, call_site()); }
void LayerNorm::reset_parameters(Site site) { reset_affine(weight, bias, site); }
std::string LayerNorm::extra_repr() const {
  return str(repr(normalized_shape), ", eps=", repr(eps), ", elementwise_affine=", repr(weight.defined()), ", bias=", repr(bias.defined()));
}

GroupNorm::GroupNorm(int64_t num_groups, int64_t num_channels, const GroupNormOptions& options, Site site)
    : num_groups(num_groups), num_channels(num_channels), eps(options.eps) {
  if (num_groups <= 0 || num_channels % num_groups)
    fail("[GroupNorm] num_channels (", num_channels, ") must be divisible by num_groups (", num_groups, ")");
  if (options.affine)
    make_affine(weight, options.bias ? &bias : nullptr, {num_channels}, {.dtype = options.dtype, .device = options.device}, site);
}
void GroupNorm::fields(Fields& f) {
  f("weight", weight);
  f("bias", bias);
}
Tensor GroupNorm::forward(const Tensor& x) { return group_norm(x, num_groups, weight, bias, eps, call_site()); }
void GroupNorm::reset_parameters(Site site) { reset_affine(weight, bias, site); }
std::string GroupNorm::extra_repr() const {
  return str(num_groups, ", ", num_channels, ", eps=", repr(eps), ", affine=", repr(weight.defined()), ", bias=", repr(bias.defined()));
}

RMSNorm::RMSNorm(const Shape& normalized_shape, const RMSNormOptions& options, Site site)
    : normalized_shape(normalized_shape), eps(options.eps) {
  if (options.elementwise_affine) make_affine(weight, nullptr, normalized_shape, {.dtype = options.dtype, .device = options.device}, site);
}
void RMSNorm::fields(Fields& f) { f("weight", weight); }
Tensor RMSNorm::forward(const Tensor& x) { return rms_norm(x, normalized_shape, weight, eps, call_site()); }
void RMSNorm::reset_parameters(Site site) { reset_affine(weight, {}, site); }
std::string RMSNorm::extra_repr() const {
  return str(repr(normalized_shape), ", eps=", repr(eps), ", elementwise_affine=", repr(weight.defined()));
}

Tensor LocalResponseNorm::forward(const Tensor& x) { return local_response_norm(x, size, alpha, beta, k, call_site()); }
std::string LocalResponseNorm::extra_repr() const { return str(size, ", alpha=", repr(alpha), ", beta=", repr(beta), ", k=", repr(k)); }

}  // namespace tandem::nn
