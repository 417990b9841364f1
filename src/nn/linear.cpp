#include "nn/linear.h"

#include <cmath>
#include <typeinfo>

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/repr.h"
#include "nn/reset.h"
#include "ops/creation.h"
#include "ops/linalg/products.h"
#include "ops/matmul.h"

namespace tandem::nn {
namespace {

std::string repr(int64_t in, int64_t out, bool bias) {
  return str("in_features=", in, ", out_features=", out, ", bias=", detail::repr(bias));
}

}  // namespace

Linear::Linear(int64_t in_features, int64_t out_features, const LinearOptions& options, Site site) {
  if (in_features < 0 || out_features < 0)
    fail("[Linear] in_features and out_features must not be negative, got ", in_features, " and ", out_features);
  const Options made{.dtype = options.dtype, .device = options.device, .requires_grad = true};
  weight = empty({out_features, in_features}, made, site);
  if (options.bias) bias = empty({out_features}, made, site);
  reset_parameters(site);
}

void Linear::reset_parameters(Site site) { detail::reset_uniform(weight, bias, site); }

void Linear::fields(Fields& f) {
  f("weight", weight);
  f("bias", bias);
}

Tensor Linear::forward(const Tensor& x) { return linear(x, weight, bias, detail::call_site()); }
Tensor Linear::forward_then(Then then, const Tensor& x) {
  return hooked([&](const Tensor& in) { return (then == Then::Relu ? linear_relu : linear_gelu)(in, weight, bias, detail::call_site()); },
                x);
}
int64_t Linear::multiply_adds(std::span<const Tensor>, std::span<const Tensor> outputs) const { return outputs[0].numel() * in_features(); }
std::string Linear::extra_repr() const { return repr(in_features(), out_features(), bias.defined()); }

LazyLinear::LazyLinear(int64_t out_features, const LinearOptions& options, Site /*site*/)
    : out_features_(out_features), has_bias_(options.bias), placement_{.dtype = options.dtype, .device = options.device} {
  if (out_features < 0) fail("[LazyLinear] out_features must not be negative, got ", out_features);
}

void LazyLinear::fields(Fields& f) {
  f.lazy("weight", weight, placement_);
  if (has_bias_) f.lazy("bias", bias, placement_);
}

void LazyLinear::initialize(const Tensor& x) {
  if (x.dim() == 0) fail("[LazyLinear] the first input has no dimension to take in_features from: its size is ", x.sizes());
  const Site site = detail::call_site();
  const InferenceMode outside(false);  // parameters are to be trained, whoever calls the module first
  Options made = placement_;
  made.requires_grad = true;
  weight = empty({out_features_, x.size(-1)}, made, site);
  if (has_bias_) bias = empty({out_features_}, made, site);
  reset_parameters(site);
}

Tensor LazyLinear::forward(const Tensor& x) {
  if (!weight.defined()) initialize(x);
  return Linear::forward(x);
}

Tensor LazyLinear::forward_then(Then then, const Tensor& x) {
  if (!weight.defined()) initialize(x);
  return Linear::forward_then(then, x);
}

// Once it knows its sizes it is a Linear, in print too.
std::string LazyLinear::name() const {
  if (typeid(*this) != typeid(LazyLinear)) return Module::name();
  return weight.defined() ? "Linear" : "LazyLinear";
}
std::string LazyLinear::extra_repr() const { return repr(in_features(), out_features_, has_bias_); }

Bilinear::Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features, const LinearOptions& options, Site site) {
  if (in1_features <= 0) fail("[Bilinear] in1_features must be > 0, but got (in1_features=", in1_features, ")");
  if (in2_features < 0 || out_features < 0)
    fail("[Bilinear] in2_features and out_features must not be negative, got ", in2_features, " and ", out_features);
  const Options made{.dtype = options.dtype, .device = options.device, .requires_grad = true};
  weight = empty({out_features, in1_features, in2_features}, made, site);
  if (options.bias) bias = empty({out_features}, made, site);
  reset_parameters(site);
}

void Bilinear::reset_parameters(Site site) {
  const NoGradGuard no_grad;
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  weight.uniform_(-bound, bound, site);
  if (bias.defined()) bias.uniform_(-bound, bound, site);
}

void Bilinear::fields(Fields& f) {
  f("weight", weight);
  f("bias", bias);
}

Tensor Bilinear::forward(const Tensor& input1, const Tensor& input2, Site site) { return bilinear(input1, input2, weight, bias, site); }
Tensor Bilinear::operator()(const Tensor& input1, const Tensor& input2, Site site) { return hooked_forward(*this, site, input1, input2); }
int64_t Bilinear::multiply_adds(std::span<const Tensor>, std::span<const Tensor> outputs) const {
  return outputs[0].numel() * weight.size(1) * (weight.size(2) + 1);
}

std::string Bilinear::extra_repr() const {
  return str("in1_features=", weight.size(1), ", in2_features=", weight.size(2), ", out_features=", weight.size(0),
             ", bias=", detail::repr(bias.defined()));
}

}  // namespace tandem::nn
