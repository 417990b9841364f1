#include "nn/activation.h"

#include "base/error.h"
#include "nn/repr.h"
#include "ops/activation.h"
#include "ops/creation.h"
#include "ops/pointwise.h"

namespace tandem::nn {
namespace {

using detail::call_site;
using detail::repr;

const char* inplace_text(bool inplace) { return inplace ? ", inplace=True" : ""; }

}  // namespace

std::string InplaceActivation::extra_repr() const { return inplace ? "inplace=True" : ""; }

Tensor ReLU::forward(const Tensor& x) { return inplace ? relu_(x, call_site()) : relu(x, call_site()); }
Tensor ReLU6::forward(const Tensor& x) { return inplace ? relu6_(x, call_site()) : relu6(x, call_site()); }
Tensor SELU::forward(const Tensor& x) { return inplace ? selu_(x, call_site()) : selu(x, call_site()); }
Tensor SiLU::forward(const Tensor& x) { return inplace ? silu_(x, call_site()) : silu(x, call_site()); }
Tensor Mish::forward(const Tensor& x) { return inplace ? mish_(x, call_site()) : mish(x, call_site()); }
Tensor Hardsigmoid::forward(const Tensor& x) { return inplace ? hardsigmoid_(x, call_site()) : hardsigmoid(x, call_site()); }
Tensor Hardswish::forward(const Tensor& x) { return inplace ? hardswish_(x, call_site()) : hardswish(x, call_site()); }
Tensor Tanh::forward(const Tensor& x) { return tanh(x, call_site()); }
Tensor Tanhshrink::forward(const Tensor& x) { return tanhshrink(x, call_site()); }
Tensor Sigmoid::forward(const Tensor& x) { return sigmoid(x, call_site()); }
Tensor LogSigmoid::forward(const Tensor& x) { return logsigmoid(x, call_site()); }
Tensor Softsign::forward(const Tensor& x) { return softsign(x, call_site()); }

Tensor ELU::forward(const Tensor& x) { return inplace ? elu_(x, alpha, call_site()) : elu(x, alpha, call_site()); }
std::string ELU::extra_repr() const { return str("alpha=", repr(alpha), inplace_text(inplace)); }

Tensor CELU::forward(const Tensor& x) { return inplace ? celu_(x, alpha, call_site()) : celu(x, alpha, call_site()); }
std::string CELU::extra_repr() const { return str("alpha=", repr(alpha), inplace_text(inplace)); }

Tensor GELU::forward(const Tensor& x) { return gelu(x, approximate, call_site()); }
std::string GELU::extra_repr() const { return str("approximate='", approximate, "'"); }

Tensor GLU::forward(const Tensor& x) { return glu(x, dim, call_site()); }
std::string GLU::extra_repr() const { return str("dim=", dim); }

Tensor Hardshrink::forward(const Tensor& x) { return hardshrink(x, lambd, call_site()); }
std::string Hardshrink::extra_repr() const { return repr(lambd); }

Tensor Softshrink::forward(const Tensor& x) { return softshrink(x, lambd, call_site()); }
std::string Softshrink::extra_repr() const { return repr(lambd); }

Hardtanh::Hardtanh(double min_val, double max_val, Flag inplace, Site /*site*/) : min_val(min_val), max_val(max_val), inplace(inplace) {
  if (!(min_val < max_val)) fail("[Hardtanh] max_val (", max_val, ") must be greater than min_val (", min_val, ")");
}
Tensor Hardtanh::forward(const Tensor& x) {
  return inplace ? hardtanh_(x, min_val, max_val, call_site()) : hardtanh(x, min_val, max_val, call_site());
}
std::string Hardtanh::extra_repr() const { return str("min_val=", repr(min_val), ", max_val=", repr(max_val), inplace_text(inplace)); }

Tensor LeakyReLU::forward(const Tensor& x) {
  return inplace ? leaky_relu_(x, negative_slope, call_site()) : leaky_relu(x, negative_slope, call_site());
}
std::string LeakyReLU::extra_repr() const { return str("negative_slope=", repr(negative_slope), inplace_text(inplace)); }

PReLU::PReLU(int64_t num_parameters, double init, const Options& options, Site site) {
  weight = full({num_parameters}, init, {.dtype = options.dtype.value_or(get_default_dtype()), .device = options.device}, site);
  weight.requires_grad_();
}
void PReLU::fields(Fields& f) { f("weight", weight); }
Tensor PReLU::forward(const Tensor& x) { return prelu(x, weight, call_site()); }
std::string PReLU::extra_repr() const { return str("num_parameters=", weight.numel()); }

Tensor RReLU::forward(const Tensor& x) {
  return inplace ? rrelu_(x, lower, upper, training(), call_site()) : rrelu(x, lower, upper, training(), call_site());
}
std::string RReLU::extra_repr() const { return str("lower=", repr(lower), ", upper=", repr(upper), inplace_text(inplace)); }

Tensor Softplus::forward(const Tensor& x) { return softplus(x, beta, threshold, call_site()); }
std::string Softplus::extra_repr() const { return str("beta=", repr(beta), ", threshold=", repr(threshold)); }

Tensor Threshold::forward(const Tensor& x) {
  const auto t = threshold.to<double>(), v = value.to<double>();
  return inplace ? threshold_(x, t, v, call_site()) : tandem::threshold(x, t, v, call_site());
}
std::string Threshold::extra_repr() const { return str("threshold=", repr(threshold), ", value=", repr(value), inplace_text(inplace)); }

std::string detail::AlongDim::extra_repr() const { return dim ? str("dim=", *dim) : "dim=None"; }
int64_t detail::AlongDim::dim_of(const Tensor& x) const { return dim.value_or(x.dim() == 0 || x.dim() == 1 || x.dim() == 3 ? 0 : 1); }

Tensor Softmax::forward(const Tensor& x) { return softmax(x, dim_of(x), call_site()); }
Tensor Softmin::forward(const Tensor& x) { return softmin(x, dim_of(x), call_site()); }
Tensor Softmax2d::forward(const Tensor& x) {
  if (x.dim() != 3 && x.dim() != 4) fail("[Softmax2d] expected input to be 3D or 4D, got ", x.dim(), "D instead");
  return softmax(x, -3, call_site());
}

Tensor LogSoftmax::forward(const Tensor& x) { return log_softmax(x, dim_of(x), call_site()); }

}  // namespace tandem::nn
