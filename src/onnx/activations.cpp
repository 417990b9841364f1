// Activations, and softmax and its kin.
#include "onnx/call.h"
#include "ops/activation.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/softmax.h"
#include "ops/view.h"

namespace tandem::onnx {
namespace {

void elu_(Call& call) { call.give(elu(call.in(0), call.real("alpha", 1), call.site())); }
void celu_(Call& call) { call.give(celu(call.in(0), call.real("alpha", 1), call.site())); }
void leaky_relu_(Call& call) { call.give(leaky_relu(call.in(0), call.real("alpha", 0.01), call.site())); }
void gelu_(Call& call) { call.give(gelu(call.in(0), call.text("approximate", "none"), call.site())); }
void thresholded_relu(Call& call) { call.give(threshold(call.in(0), call.real("alpha", 1), 0, call.site())); }

void selu_(Call& call) {
  const double alpha = call.real("alpha", 1.67326319217681884765625), gamma = call.real("gamma", 1.05070102214813232421875);
  call.give(mul(elu(call.in(0), alpha, call.site()), gamma, call.site()));
}

void hard_sigmoid(Call& call) {
  const Tensor x = call.in(0);
  call.give(clamp(add(mul(x, call.real("alpha", 0.2), call.site()), call.real("beta", 0.5), call.site()), 0, 1, call.site()));
}

void swish(Call& call) {
  const Tensor x = call.in(0);
  const double alpha = call.real("alpha", 1);
  call.give(alpha == 1 ? silu(x, call.site()) : mul(x, sigmoid(mul(x, alpha, call.site()), call.site()), call.site()));
}

void swiglu(Call& call) {
  const Site site = call.site();
  const Tensor gate = call.in(0), x = call.in(1);
  const double alpha = call.real("alpha", 1);
  call.give(mul(alpha == 1 ? silu(gate, site) : mul(gate, sigmoid(mul(gate, alpha, site), site), site), x, site));
}

void shrink(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const double bias = call.real("bias", 0), lambd = call.real("lambd", 0.5);
  const Tensor above = where(gt(x, lambd, site), sub(x, bias, site), zeros_like(x, {}, site), site);
  call.give(where(lt(x, -lambd, site), add(x, bias, site), above, site));
}

void prelu_(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  Tensor slope = call.in(1);
  // Before version 7, and in files that go on that way, one factor a channel.
  if (slope.dim() == 1 && x.dim() > 1 && slope.numel() == x.size(1) && (call.version() < 7 || slope.numel() != x.size(-1))) {
    Shape sizes{slope.numel()};
    for (int64_t i = 2; i < x.dim(); ++i) sizes.push_back(1);
    slope = slope.reshape(sizes, site);
  }
  call.give(where(ge(x, 0, site), x, mul(x, slope, site), site));
}

/// Before version 13 the dimensions from `axis` on are one.
template <Tensor (*Along)(const Tensor&, int64_t, Site)>
void along_flat(Call& call) {
  const Tensor x = call.in(0);
  const int64_t axis = call.integer("axis", 1);
  const int64_t from = axis == x.dim() ? axis : axis_of(axis, x.dim());
  const Shape& sizes = x.sizes();
  int64_t rows = 1;
  for (int64_t i = 0; i < from; ++i) rows *= sizes[static_cast<size_t>(i)];
  const Tensor flat = x.reshape({rows, rows == 0 ? 1 : x.numel() / rows}, call.site());
  call.give(Along(flat, 1, call.site()).reshape(sizes, call.site()));
}
template <Tensor (*Along)(const Tensor&, int64_t, Site)>
void along(Call& call) {
  call.give(Along(call.in(0), call.integer("axis", -1), call.site()));
}

Tensor hardmax(const Tensor& x, int64_t dim, Site site) {
  const Tensor index = argmax(x, dim, true, site);
  return scatter(zeros_like(x, {}, site), dim, index, Scalar(1), site);
}

void dropout_(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  bool training = false;
  double ratio = 0.5;
  if (call.version() >= 12) {
    training = call.has(2) && call.number(2).to<bool>();
    if (call.has(1)) ratio = call.number(1).to<double>();
  }
  if (!training || ratio == 0) {
    call.give(x);
    if (call.wants(1)) call.give(ones_like(x, {.dtype = call.version() < 10 ? x.dtype() : kBool}, site));
    return;
  }
  const Tensor kept = dropout(ones_like(x, {.dtype = kFloat32}, site), ratio, true, site);
  call.give(mul(x, kept.to(x.dtype(), {}, site), site));
  call.give(ne(kept, 0, site));
}

constexpr OperatorRow kRows[] = {
    {"Celu", 12, celu_},
    {"Dropout", 1, dropout_},
    {"Dropout", 12, dropout_, nullptr, nullptr, 1},
    {"Elu", 1, elu_},
    {"Gelu", 20, gelu_},
    {"HardSigmoid", 1, hard_sigmoid},
    {"HardSwish", 14, nullptr, hardswish},
    {"Hardmax", 1, along_flat<hardmax>},
    {"Hardmax", 13, along<hardmax>},
    {"LeakyRelu", 1, leaky_relu_},
    {"LogSoftmax", 1, along_flat<log_softmax>},
    {"LogSoftmax", 13, along<log_softmax>},
    {"Mish", 18, nullptr, mish},
    {"PRelu", 1, prelu_},
    {"Relu", 1, nullptr, relu},
    {"Selu", 1, selu_},
    {"Shrink", 9, shrink},
    {"Softmax", 1, along_flat<softmax>},
    {"Softmax", 13, along<softmax>},
    {"Softplus", 1, nullptr, [](const Input& x, Site site) { return softplus(x, 1, 20, site); }},
    {"Softsign", 1, nullptr, softsign},
    {"SwiGLU", 1, swiglu},
    {"Swish", 1, swish},
    {"ThresholdedRelu", 10, thresholded_relu},
};

}  // namespace

std::span<const OperatorRow> activation_operators() { return kRows; }

}  // namespace tandem::onnx
