#include "ops/activation.h"

#include <array>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/elementwise.h"
#include "ops/operand_gradient.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

using autograd::record;
using kernels::PointwiseOp;
using ops::in_place;
using ops::Rule;
using ops::wants_grad;

/// The gradient of an activation made of straight lines: g where a kernel's question about x says so. It is its own gradient by g.
Tensor piecewise_backward(PointwiseOp op, const char* name, const char* grad_fn, const Operand& g, const Operand& in, double low,
                          double high, Site site) {
  const Operand x = ops::lasting(in, wants_grad(g)), from(low), to(high);
  Tensor y = op == PointwiseOp::hardtanh_backward ? ops::call(op, name, Rule::NoBool, {&g, &x, &from, &to}, site)
                                                  : ops::call(op, name, Rule::NoBool, {&g, &x, &from}, site);
  if (!wants_grad(g)) return y;
  return record(grad_fn, y, {g.tensor()}, site, [=, x = autograd::saved(x.tensor())](const Tensor& gg) {
    return piecewise_backward(op, name, grad_fn, gg, x.get(), low, high, site);
  });
}

Tensor leaky_relu_backward(const Operand& g, const Operand& x, double slope, Site site) {
  return piecewise_backward(PointwiseOp::leaky_relu_backward, "leaky_relu_backward", "LeakyReluBackwardBackward0", g, x, slope, 0, site);
}
Tensor shrink_backward(const Operand& g, const Operand& x, double lambd, Site site) {
  return piecewise_backward(PointwiseOp::shrink_backward, "shrink_backward", "HardshrinkBackwardBackward0", g, x, lambd, 0, site);
}

Tensor softplus_backward(const Operand& gradient, const Operand& input, double beta, double threshold, Site site) {
  const bool recording = wants_grad(gradient) || wants_grad(input);
  const Operand g = ops::lasting(gradient, recording), x = ops::lasting(input, recording), scale(beta), limit(threshold);
  Tensor y = ops::call(PointwiseOp::softplus_backward, "softplus_backward", Rule::Floating, {&g, &x, &scale, &limit}, site);
  if (!recording) return y;
  return record("SoftplusBackwardBackward0", y, {g.tensor(), x.tensor()}, site,
                [=, g = autograd::saved(g.tensor()), x = autograd::saved(x.tensor())](const Tensor& gg, autograd::Wanted wanted) {
                  const Tensor in = x.get();
                  std::array<Tensor, 2> gradients;
                  if (wanted[0]) gradients[0] = softplus_backward(gg, in, beta, threshold, site);
                  if (wanted[1]) {
                    const Tensor s = sigmoid(in * beta);
                    gradients[1] = where(in * beta > threshold, 0, gg * g.get() * (s * (1 - s) * beta));
                  }
                  return gradients;
                });
}

}  // namespace

Tensor threshold_backward(const Operand& g, const Operand& y, double threshold, Site site) {
  return piecewise_backward(PointwiseOp::threshold_backward, "threshold_backward", "ThresholdBackwardBackward0", g, y, threshold, 0, site);
}
Tensor hardtanh_backward(const Operand& g, const Operand& x, double min, double max, Site site) {
  return piecewise_backward(PointwiseOp::hardtanh_backward, "hardtanh_backward", "HardtanhBackwardBackward0", g, x, min, max, site);
}
Tensor elu_backward(const Operand& gradient, const Operand& input, double slope, double rate, Site site) {
  const bool recording = wants_grad(gradient) || wants_grad(input);
  const Operand g = ops::lasting(gradient, recording), x = ops::lasting(input, recording), height(slope), speed(rate);
  Tensor y = ops::call(PointwiseOp::elu_backward, "elu_backward", Rule::Floating, {&g, &x, &height, &speed}, site);
  if (!recording) return y;
  return record("EluBackwardBackward0", y, {g.tensor(), x.tensor()}, site,
                [=, g = autograd::saved(g.tensor()), x = autograd::saved(x.tensor())](const Tensor& gg, autograd::Wanted wanted) {
                  const Tensor in = x.get();
                  std::array<Tensor, 2> gradients;
                  if (wanted[0]) gradients[0] = elu_backward(gg, in, slope, rate, site);
                  if (wanted[1]) gradients[1] = where(in > 0, 0, gg * g.get() * exp(clamp_max(in, 0) * rate) * (slope * rate));
                  return gradients;
                });
}

Tensor threshold(const Input& x, double threshold, double value, Site site) {
  if (x.tensor().dtype() == kBool) fail<NotImplementedError>("[threshold] is not implemented for 'Bool'; convert with to(kFloat32)");
  const bool whole = !is_floating(x.tensor().dtype());  // integers take the whole parts of both
  const Operand limit(whole ? Scalar(static_cast<int64_t>(threshold)) : Scalar(threshold)),
      other(whole ? Scalar(static_cast<int64_t>(value)) : Scalar(value));
  Tensor y = ops::call(PointwiseOp::threshold, "threshold", Rule::NoBool, {&x, &limit, &other}, site);
  if (!wants_grad(x)) return y;
  return record("ThresholdBackward0", y, {x.tensor()}, site, [x = autograd::saved(x.tensor()), threshold, site](const Tensor& g) {
    return threshold_backward(g, x.get(), threshold, site);
  });
}
const Tensor& threshold_(const Tensor& x, double limit, double value, Site site) {
  return in_place("threshold_", x, site, [&](const Tensor& in) { return threshold(in, limit, value, site); });
}

Tensor leaky_relu(const Input& x, double negative_slope, Site site) {
  const Operand slope(negative_slope);
  Tensor y = ops::call(PointwiseOp::leaky_relu, "leaky_relu", Rule::Floating, {&x, &slope}, site);
  if (!wants_grad(x)) return y;
  return record("LeakyReluBackward0", y, {x.tensor()}, site, [x = autograd::saved(x.tensor()), negative_slope, site](const Tensor& g) {
    return leaky_relu_backward(g, x.get(), negative_slope, site);
  });
}
const Tensor& leaky_relu_(const Tensor& x, double negative_slope, Site site) {
  return in_place("leaky_relu_", x, site, [&](const Tensor& in) { return leaky_relu(in, negative_slope, site); });
}

Tensor prelu(const Tensor& x, const Tensor& weight, Site site) {
  if (const ops::Cast cast("prelu", site, x, weight); cast) return prelu(cast(x), cast(weight), site);
  if (x.dtype() != weight.dtype())
    fail("[prelu] Type promoting not supported. Got ", scalar_name(x.dtype()), " and ", scalar_name(weight.dtype()));
  if (weight.dim() > 1) fail("[prelu] Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  Tensor slope = weight;
  if (weight.numel() != 1) {
    if (x.dim() == 0) fail("[prelu] Not allow zero-dim input tensor.");
    const int64_t channels = x.dim() > 1 ? x.size(1) : 1;
    if (weight.numel() != channels)
      fail("[prelu] Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
           " and channel size = ", channels, ".");
    Shape sizes(std::vector<int64_t>(static_cast<size_t>(x.dim()), 1));
    sizes[1] = channels;
    slope = weight.reshape(sizes, site);
  } else if (weight.dim() > 0) {
    slope = weight.reshape({}, site);
  }
  const Operand in(x), factor(slope);
  Tensor y = ops::call(PointwiseOp::leaky_relu, "prelu", Rule::Floating, {&in, &factor}, site);
  return record("PreluKernelBackward0", y, {x, slope}, site,
                [x = autograd::saved(x), slope = autograd::saved(slope)](const Tensor& g, autograd::Wanted wanted) {
                  const Tensor in = x.get(), factor = slope.get();
                  std::array<Tensor, 2> gradients;
                  if (wanted[0]) gradients[0] = where(in > 0, g, g * factor);
                  if (wanted[1]) gradients[1] = sum_to_size(where(in > 0, 0, g * in), factor.sizes());
                  return gradients;
                });
}
Tensor Tensor::prelu(const Tensor& weight, Site site) const { return tandem::prelu(*this, weight, site); }

Tensor rrelu(const Tensor& x, double lower, double upper, Flag training, Site site) {
  if (!(lower <= upper)) fail("[rrelu] Lower bound should be less than or equal to the upper bound, but got ", lower, " and ", upper);
  if (!training) return leaky_relu(x, (lower + upper) / 2, site);
  if (!is_floating(x.dtype()))
    fail<NotImplementedError>("[rrelu] is not implemented for '", scalar_name(x.dtype()), "'; convert with to(kFloat32)");
  const Tensor slopes = empty_like(x, {}, site).uniform_(lower, upper, site);
  return mul(x, where(gt(x, 0, site), 1, slopes, site), site);
}
const Tensor& rrelu_(const Tensor& x, double lower, double upper, Flag training, Site site) {
  return in_place("rrelu_", x, site, [&](const Tensor& in) { return rrelu(in, lower, upper, training, site); });
}

Tensor hardtanh(const Input& x, double min_val, double max_val, Site site) {
  if (x.tensor().dtype() == kBool) fail<NotImplementedError>("[hardtanh] is not implemented for 'Bool'; convert with to(kFloat32)");
  if (!(min_val <= max_val)) fail("[hardtanh] min_val cannot be greater than max_val, but got ", min_val, " and ", max_val);
  const bool whole = !is_floating(x.tensor().dtype());
  const Operand low(whole ? Scalar(static_cast<int64_t>(min_val)) : Scalar(min_val)),
      high(whole ? Scalar(static_cast<int64_t>(max_val)) : Scalar(max_val));
  const Operand* const operands[] = {&x, &low, &high};
  Tensor y = ops::pointwise({.op = PointwiseOp::clamp, .name = "hardtanh", .rule = Rule::NoBool, .bounds = true}, operands, site);
  if (!wants_grad(x)) return y;
  return record("HardtanhBackward0", y, {x.tensor()}, site, [x = autograd::saved(x.tensor()), min_val, max_val, site](const Tensor& g) {
    return hardtanh_backward(g, x.get(), min_val, max_val, site);
  });
}
const Tensor& hardtanh_(const Tensor& x, double min_val, double max_val, Site site) {
  return in_place("hardtanh_", x, site, [&](const Tensor& in) { return hardtanh(in, min_val, max_val, site); });
}

Tensor elu(const Input& x, double alpha, Site site) {
  const Operand scale(alpha);
  Tensor y = ops::call(PointwiseOp::elu, "elu", Rule::Floating, {&x, &scale}, site);
  if (!wants_grad(x)) return y;
  return record("EluBackward0", y, {x.tensor()}, site,
                [x = autograd::saved(x.tensor()), alpha, site](const Tensor& g) { return elu_backward(g, x.get(), alpha, 1, site); });
}
const Tensor& elu_(const Tensor& x, double alpha, Site site) {
  return in_place("elu_", x, site, [&](const Tensor& in) { return elu(in, alpha, site); });
}

Tensor celu(const Input& x, double alpha, Site site) {
  if (alpha == 0) fail("[celu] alpha cannot be 0 for CELU");
  const Operand scale(alpha);
  Tensor y = ops::call(PointwiseOp::celu, "celu", Rule::Floating, {&x, &scale}, site);
  if (!wants_grad(x)) return y;
  return record("EluBackward0", y, {x.tensor()}, site,
                [x = autograd::saved(x.tensor()), alpha, site](const Tensor& g) { return elu_backward(g, x.get(), 1, 1 / alpha, site); });
}
const Tensor& celu_(const Tensor& x, double alpha, Site site) {
  return in_place("celu_", x, site, [&](const Tensor& in) { return celu(in, alpha, site); });
}

Tensor softplus(const Input& x, double beta, double threshold, Site site) {
  if (const ops::Cast cast("softplus", site, x); cast) {
    Tensor held;
    return softplus(cast(x, held), beta, threshold, site);
  }
  const Operand scale(beta), limit(threshold);
  Tensor y = ops::call(PointwiseOp::softplus, "softplus", Rule::Floating, {&x, &scale, &limit}, site);
  if (!wants_grad(x)) return y;
  return record("SoftplusBackward0", y, {x.tensor()}, site, [x = autograd::saved(x.tensor()), beta, threshold, site](const Tensor& g) {
    return softplus_backward(g, x.get(), beta, threshold, site);
  });
}

Tensor gelu(const Input& x, std::string_view approximate, Site site) {
  const bool tanh = approximate == "tanh";
  if (!tanh && approximate != "none") fail("[gelu] approximate argument must be either none or tanh, not '", approximate, "'");
  Tensor y = ops::call(tanh ? PointwiseOp::gelu_tanh : PointwiseOp::gelu, "gelu", Rule::Floating, {&x}, site);
  if (!wants_grad(x)) return y;
  return record("GeluBackward0", y, {x.tensor()}, site, [x = autograd::saved(x.tensor()), tanh, site](const Tensor& g) {
    return tanh ? gelu_tanh_backward(g, x.get(), site) : gelu_backward(g, x.get(), site);
  });
}

Tensor hardshrink(const Input& x, double lambd, Site site) {
  const Operand edge(lambd);
  Tensor y = ops::call(PointwiseOp::hardshrink, "hardshrink", Rule::Floating, {&x, &edge}, site);
  if (!wants_grad(x)) return y;
  return record("HardshrinkBackward0", y, {x.tensor()}, site,
                [x = autograd::saved(x.tensor()), lambd, site](const Tensor& g) { return shrink_backward(g, x.get(), lambd, site); });
}
Tensor Tensor::hardshrink(double lambd, Site site) const { return tandem::hardshrink(*this, lambd, site); }

Tensor softshrink(const Input& x, double lambd, Site site) {
  if (!(lambd >= 0)) fail("[softshrink] lambda must be greater or equal to 0, but found to be ", lambd);
  const Operand edge(lambd);
  Tensor y = ops::call(PointwiseOp::softshrink, "softshrink", Rule::Floating, {&x, &edge}, site);
  if (!wants_grad(x)) return y;
  return record("SoftshrinkBackward0", y, {x.tensor()}, site,
                [x = autograd::saved(x.tensor()), lambd, site](const Tensor& g) { return shrink_backward(g, x.get(), lambd, site); });
}

Tensor glu(const Tensor& x, int64_t dim, Site site) {
  if (x.dim() == 0) fail("[glu] does not support 0-dimensional tensors");
  if (!is_floating(x.dtype()))
    fail<NotImplementedError>("[glu] is not implemented for '", scalar_name(x.dtype()), "'; convert with to(kFloat32)");
  const int64_t at = wrap_dim(dim, x.dim()), size = x.size(at);
  if (size % 2 != 0) fail("[glu] Halving dimension must be even, but dimension ", at, " is size ", size);
  return autograd::called(mul(x.narrow(at, 0, size / 2, site), sigmoid(x.narrow(at, size / 2, size / 2, site), site), site),
                          "GluBackward0");
}

}  // namespace tandem
