#include "ops/activation.h"

#include <array>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/elementwise.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/view.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;
using kernels::PointwiseOp;
using ops::Rule;

bool wants_grad(const Operand& operand) { return operand.is_tensor() && needs_grad(operand.tensor()); }
Tensor tensor_of(const Operand& operand) { return operand.is_tensor() ? operand.tensor() : Tensor(); }

/// A gradient in the sizes and type of the operand it belongs to.
struct Fit {
  Shape sizes;
  DType dtype = kFloat32;
  explicit Fit(const Operand& operand) {
    if (!operand.is_tensor()) return;
    sizes = operand.tensor().sizes();
    dtype = operand.tensor().dtype();
  }
  [[nodiscard]] Tensor operator()(const Tensor& g) const {
    const Tensor summed = sum_to_size(g, sizes);
    return summed.dtype() == dtype ? summed : summed.to(dtype);
  }
};

void check_floating(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype())) fail("[", op, "] is not implemented for '", scalar_name(x.dtype()), "'; convert with to(kFloat32)");
}

}  // namespace

Tensor add(const Operand& a, const Operand& b, const Scalar& alpha, Site site) {
  return alpha == Scalar(1) ? add(a, b, site) : add(a, mul(b, alpha, site), site);
}
Tensor sub(const Operand& a, const Operand& b, const Scalar& alpha, Site site) {
  return alpha == Scalar(1) ? sub(a, b, site) : sub(a, mul(b, alpha, site), site);
}
Tensor Tensor::add(const Operand& other, const Scalar& alpha, Site site) const { return tandem::add(*this, other, alpha, site); }
const Tensor& Tensor::add_(const Operand& other, const Scalar& alpha, Site site) const {
  return add_(tandem::mul(other, alpha, site), site);
}

Tensor where(const Tensor& condition, const Operand& a, const Operand& b, Site site) {
  if (condition.dtype() != kBool && condition.dtype() != kUInt8)
    fail("[where] expected condition to be a boolean tensor, but got a tensor with dtype ", condition.dtype());
  const Operand mask(condition, site);
  Tensor y = ops::call(PointwiseOp::where, "where", Rule::Same, {&mask, &a, &b}, site, 1);
  if (!wants_grad(a) && !wants_grad(b)) return y;
  const Tensor from_a = tensor_of(a), from_b = tensor_of(b);
  return record("WhereBackward0", y, {from_a, from_b}, site,
                [condition = autograd::saved(condition), fit_a = Fit(a), fit_b = Fit(b)](const Tensor& g, autograd::Wanted wanted) {
                  std::array<Tensor, 2> gradients;
                  if (wanted[0]) gradients[0] = fit_a(where(condition.get(), g, 0.0));
                  if (wanted[1]) gradients[1] = fit_b(where(condition.get(), 0.0, g));
                  return gradients;
                });
}

Tensor clamp(const Input& x, std::optional<Scalar> min, std::optional<Scalar> max, Site site) {
  if (!min && !max) fail("[clamp] At least one of 'min' or 'max' must not be None");
  const Operand low = min.value_or(Scalar(0)), high = max.value_or(Scalar(0));
  Tensor y = !max   ? ops::call(PointwiseOp::maximum, "clamp", Rule::Same, {&x, &low}, site)
             : !min ? ops::call(PointwiseOp::minimum, "clamp", Rule::Same, {&x, &high}, site)
                    : ops::call(PointwiseOp::clamp, "clamp", Rule::Same, {&x, &low, &high}, site);
  if (!wants_grad(x)) return y;
  return record("ClampBackward1", y, {x.tensor()}, site, [x = autograd::saved(x.tensor()), min, max](const Tensor& g) {
    const Tensor in = x.get();
    Tensor inside = min ? in >= *min : in <= *max;
    if (min && max) inside = logical_and(inside, in <= *max);
    return g * inside;
  });
}

Tensor Tensor::clamp(std::optional<Scalar> min, std::optional<Scalar> max, Site site) const { return tandem::clamp(*this, min, max, site); }
const Tensor& Tensor::clamp_(std::optional<Scalar> min, std::optional<Scalar> max, Site site) const {
  return copy_(tandem::clamp(*this, min, max, site), false, site);
}

Tensor lerp(const Operand& start, const Operand& end, const Operand& weight, Site site) {
  if (wants_grad(start) || wants_grad(end) || wants_grad(weight)) return add(start, mul(weight, sub(end, start, site), site), site);
  return ops::call(PointwiseOp::lerp, "lerp", Rule::Same, {&start, &end, &weight}, site);
}

Tensor addcmul(const Operand& x, const Operand& a, const Operand& b, const Scalar& value, Site site) {
  if (wants_grad(x) || wants_grad(a) || wants_grad(b)) return add(x, mul(mul(a, b, site), value, site), site);
  const Operand factor(value);
  return ops::call(PointwiseOp::addcmul, "addcmul", Rule::Same, {&x, &a, &b, &factor}, site);
}

Tensor addcdiv(const Operand& x, const Operand& a, const Operand& b, const Scalar& value, Site site) {
  if (wants_grad(x) || wants_grad(a) || wants_grad(b)) return add(x, mul(div(a, b, site), value, site), site);
  const Operand factor(value);
  return ops::call(PointwiseOp::addcdiv, "addcdiv", Rule::Float, {&x, &a, &b, &factor}, site);
}

Tensor threshold_backward(const Operand& g, const Operand& y, double threshold, Site site) {
  const Operand limit(threshold);
  Tensor x = ops::call(PointwiseOp::threshold_backward, "threshold_backward", Rule::Same, {&g, &y, &limit}, site);
  if (!wants_grad(g)) return x;
  return record("ThresholdBackwardBackward0", x, {g.tensor()}, site,
                [y = autograd::saved(y.tensor()), threshold](const Tensor& gg) { return threshold_backward(gg, y.get(), threshold); });
}

Tensor leaky_relu(const Input& x, double negative_slope, Site site) {
  const Operand slope(negative_slope);
  Tensor y = ops::call(PointwiseOp::leaky_relu, "leaky_relu", Rule::Float, {&x, &slope}, site);
  if (!wants_grad(x)) return y;
  return record("LeakyReluBackward0", y, {x.tensor()}, site,
                [x = autograd::saved(x.tensor()), negative_slope](const Tensor& g) { return where(x.get() > 0, g, g * negative_slope); });
}

Tensor elu(const Input& x, double alpha, Site site) {
  const Operand scale(alpha);
  Tensor y = ops::call(PointwiseOp::elu, "elu", Rule::Float, {&x, &scale}, site);
  if (!wants_grad(x)) return y;
  return record("EluBackward0", y, {x.tensor()}, site, [x = autograd::saved(x.tensor()), alpha](const Tensor& g) {
    const Tensor in = x.get();
    return where(in > 0, g, g * exp(minimum(in, 0)) * alpha);
  });
}

Tensor softplus(const Input& x, double beta, double threshold, Site site) {
  const Operand scale(beta), limit(threshold);
  Tensor y = ops::call(PointwiseOp::softplus, "softplus", Rule::Float, {&x, &scale, &limit}, site);
  if (!wants_grad(x)) return y;
  return record("SoftplusBackward0", y, {x.tensor()}, site, [x = autograd::saved(x.tensor()), beta, threshold](const Tensor& g) {
    const Tensor in = x.get();
    return where(in * beta > threshold, g, g * sigmoid(in * beta));
  });
}

Tensor gelu(const Input& x, bool tanh, Site site) {
  Tensor y = ops::call(tanh ? PointwiseOp::gelu_tanh : PointwiseOp::gelu, "gelu", Rule::Float, {&x}, site);
  if (!wants_grad(x)) return y;
  return record("GeluBackward0", y, {x.tensor()}, site, [x = autograd::saved(x.tensor()), tanh](const Tensor& g) {
    const Tensor in = x.get();
    if (!tanh) return g * (0.5 * (1 + erf(in * 0.7071067811865476)) + in * exp(in * in * -0.5) * 0.3989422804014327);
    const Tensor inner = tandem::tanh((in + in * in * in * 0.044715) * 0.7978845608028654);
    const Tensor slope = (1 + in * in * (3 * 0.044715)) * 0.7978845608028654;
    return g * (0.5 * (1 + inner) + in * 0.5 * (1 - inner * inner) * slope);
  });
}

// --- Softmax
namespace {

using SoftmaxEntry = void (*kernels::Table::*)(const Queue&, kernels::Out, kernels::View);
using SoftmaxBackwardEntry = void (*kernels::Table::*)(const Queue&, kernels::Out, kernels::View, kernels::View);

Tensor softmax_backward(const char* op, SoftmaxBackwardEntry entry, const Tensor& g, const Tensor& y, int64_t at) {
  Tensor x = empty_like(g);
  if (x.numel())
    (ops::kernels_of(g).*entry)(ops::launch(g, op, Site::here()), kernels::Out{ops::last(ops::view(x), at)}, ops::last(ops::view(g), at),
                                ops::last(ops::view(y), at));
  return x;
}

Tensor softmax_forward(const char* op, SoftmaxEntry entry, const Tensor& x, int64_t at, Site site) {
  Tensor y = empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
  if (y.numel())
    (ops::kernels_of(x).*entry)(ops::launch(x, op, site), kernels::Out{ops::last(ops::view(y), at)}, ops::last(ops::view(x), at));
  return y;
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t dim, Site site) {
  check_floating("softmax", x);
  const int64_t at = wrap_dim(dim, x.dim());
  Tensor y = softmax_forward("softmax", &kernels::Table::softmax, x, at, site);
  if (!needs_grad(x)) return y;
  return record("SoftmaxBackward0", y, {x}, site,
                [y = autograd::saved_output(y), at](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                  const Tensor out = y.get(node);
                  if (!needs_grad(g, out)) return softmax_backward("softmax_backward", &kernels::Table::softmax_backward, g, out, at);
                  return out * (g - (g * out).sum(at, true));  // to be differentiated again
                });
}

Tensor log_softmax(const Tensor& x, int64_t dim, Site site) {
  check_floating("log_softmax", x);
  const int64_t at = wrap_dim(dim, x.dim());
  Tensor y = softmax_forward("log_softmax", &kernels::Table::log_softmax, x, at, site);
  if (!needs_grad(x)) return y;
  return record("LogSoftmaxBackward0", y, {x}, site,
                [y = autograd::saved_output(y), at](const Tensor& g, autograd::Wanted, const autograd::Node* node) {
                  const Tensor out = y.get(node);
                  if (!needs_grad(g, out))
                    return softmax_backward("log_softmax_backward", &kernels::Table::log_softmax_backward, g, out, at);
                  return g - exp(out) * g.sum(at, true);
                });
}

Tensor Tensor::softmax(int64_t dim, Site site) const { return tandem::softmax(*this, dim, site); }
Tensor Tensor::log_softmax(int64_t dim, Site site) const { return tandem::log_softmax(*this, dim, site); }

}  // namespace tandem
