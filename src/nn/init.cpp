#include "nn/init.h"

#include <algorithm>
#include <cmath>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/linalg/linalg.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/random.h"
#include "ops/sort.h"

namespace tandem::nn::init {
namespace {

struct Fans {
  int64_t in, out;
};

Fans fans_of(const char* op, const Tensor& tensor) {
  if (tensor.dim() < 2)
    fail("[", op, "] Fan in and fan out can not be computed for tensor with fewer than 2 dimensions; its size is ", tensor.sizes());
  int64_t receptive = 1;
  for (int64_t d = 2; d < tensor.dim(); ++d) receptive *= tensor.size(d);
  return {tensor.size(1) * receptive, tensor.size(0) * receptive};
}

double xavier_deviation(const char* op, const Tensor& tensor, double gain) {
  const Fans fans = fans_of(op, tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(fans.in + fans.out));
}

double kaiming_deviation(const char* op, const Tensor& tensor, const KaimingOptions& options) {
  if (options.mode != "fan_in" && options.mode != "fan_out")
    fail("[", op, "] Mode ", options.mode, " not supported, please use one of 'fan_in', 'fan_out'");
  const Fans fans = fans_of(op, tensor);
  return calculate_gain(options.nonlinearity, options.a) / std::sqrt(static_cast<double>(options.mode == "fan_in" ? fans.in : fans.out));
}

// P(X <= x) of a normal X.
double normal_share(double x) { return (1 + std::erf(x / std::sqrt(2.0))) / 2; }

}  // namespace

double calculate_gain(std::string_view nonlinearity, std::optional<double> param, Site /*site*/) {
  for (const std::string_view linear :
       {"linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"})
    if (nonlinearity == linear) return 1;
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") {
    const double slope = param.value_or(0.01);
    return std::sqrt(2 / (1 + slope * slope));
  }
  if (nonlinearity == "selu") return 3.0 / 4;
  fail("[calculate_gain] Unsupported nonlinearity ", nonlinearity,
       "; there are linear, conv1d and its like, sigmoid, tanh, relu, "
       "leaky_relu, selu");
}

const Tensor& uniform_(const Tensor& tensor, double a, double b, Site site) {
  const NoGradGuard no_grad;
  return tensor.uniform_(a, b, site);
}

const Tensor& normal_(const Tensor& tensor, double mean, double std, Site site) {
  const NoGradGuard no_grad;
  return tensor.normal_(mean, std, site);
}

const Tensor& trunc_normal_(const Tensor& tensor, double mean, double std, double a, double b, Site site) {
  if (!(a <= b) || !(std > 0)) fail("[trunc_normal_] needs std > 0 and a <= b, got std = ", std, ", a = ", a, ", b = ", b);
  const NoGradGuard no_grad;
  // Where the window holds much of the distribution, normal numbers are drawn until they lie in it; else uniform ones of the window, kept
  // with the probability of their density beside the largest in there.
  const bool by_normal = normal_share((b - mean) / std) - normal_share((a - mean) / std) > 0.3;
  const double peak = (std::clamp(mean, a, b) - mean) / std;
  Tensor pending = ones(tensor.sizes(), {.dtype = kBool, .device = tensor.device()}, site);
  do {
    const Tensor drawn = empty_like(tensor, {}, site);
    Tensor kept;
    if (by_normal) {
      drawn.normal_(mean, std, site);
      kept = logical_and(ge(drawn, a, site), le(drawn, b, site), site);
    } else {
      drawn.uniform_(a, b, site);
      const Tensor density = exp((square((drawn - mean) / std, site) - peak * peak) * -0.5, site);
      kept = lt(rand_like(tensor, {}, site), density, site);
    }
    tensor.copy_(where(logical_and(pending, kept, site), drawn, tensor, site), false, site);
    pending = logical_and(pending, logical_not(kept, site), site);
  } while (pending.any(site).item<bool>(site));
  return tensor;
}

const Tensor& constant_(const Tensor& tensor, double val, Site site) {
  const NoGradGuard no_grad;
  return tensor.fill_(val, site);
}
const Tensor& ones_(const Tensor& tensor, Site site) { return constant_(tensor, 1, site); }
const Tensor& zeros_(const Tensor& tensor, Site site) { return constant_(tensor, 0, site); }

const Tensor& eye_(const Tensor& tensor, Site site) {
  if (tensor.dim() != 2) fail("[eye_] Only tensors with 2 dimensions are supported, not one of size ", tensor.sizes());
  const NoGradGuard no_grad;
  tensor.zero_(site);
  tensor.diagonal(0, 0, 1, site).fill_(1, site);
  return tensor;
}

const Tensor& dirac_(const Tensor& tensor, int64_t groups, Site site) {
  if (tensor.dim() < 3 || tensor.dim() > 5)
    fail("[dirac_] Only tensors with 3, 4, or 5 dimensions are supported, not one of size ", tensor.sizes());
  if (groups <= 0 || tensor.size(0) % groups) fail("[dirac_] dim 0, ", tensor.size(0), ", must be divisible by groups, ", groups);
  const NoGradGuard no_grad;
  tensor.zero_(site);
  Tensor middle = tensor;  // (out, in): the window's middle
  for (int64_t d = tensor.dim() - 1; d >= 2; --d) middle = middle.select(d, tensor.size(d) / 2, site);
  const int64_t each = tensor.size(0) / groups;
  for (int64_t g = 0; g < groups; ++g) middle.narrow(0, g * each, each, site).diagonal(0, 0, 1, site).fill_(1, site);
  return tensor;
}

const Tensor& xavier_uniform_(const Tensor& tensor, double gain, Site site) {
  const double bound = std::sqrt(3.0) * xavier_deviation("xavier_uniform_", tensor, gain);
  return uniform_(tensor, -bound, bound, site);
}

const Tensor& xavier_normal_(const Tensor& tensor, double gain, Site site) {
  return normal_(tensor, 0, xavier_deviation("xavier_normal_", tensor, gain), site);
}

const Tensor& kaiming_uniform_(const Tensor& tensor, const KaimingOptions& options, Site site) {
  if (tensor.numel() == 0) return tensor;
  const double bound = std::sqrt(3.0) * kaiming_deviation("kaiming_uniform_", tensor, options);
  return uniform_(tensor, -bound, bound, site);
}

const Tensor& kaiming_normal_(const Tensor& tensor, const KaimingOptions& options, Site site) {
  if (tensor.numel() == 0) return tensor;
  return normal_(tensor, 0, kaiming_deviation("kaiming_normal_", tensor, options), site);
}

const Tensor& orthogonal_(const Tensor& tensor, double gain, Site site) {
  if (tensor.dim() < 2) fail("[orthogonal_] Only tensors with 2 or more dimensions are supported, not one of size ", tensor.sizes());
  if (tensor.numel() == 0) return tensor;
  const NoGradGuard no_grad;
  const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Tensor flat = empty({std::max(rows, columns), std::min(rows, columns)}, {.dtype = tensor.dtype(), .device = tensor.device()}, site);
  flat.normal_(0, 1, site);
  const auto [q, r] = linalg::qr(flat, "reduced", site);
  // The signs of r's diagonal make q uniform among all orthogonal matrices (Mezzadri, arXiv:math-ph/0609050).
  Tensor orthogonal = q * sign(r.diagonal(0, 0, 1, site), site) * gain;
  if (rows < columns) orthogonal = orthogonal.t(site);
  tensor.copy_(orthogonal.reshape(tensor.sizes(), site), false, site);
  return tensor;
}

const Tensor& sparse_(const Tensor& tensor, double sparsity, double std, Site site) {
  if (tensor.dim() != 2) fail("[sparse_] Only tensors with 2 dimensions are supported, not one of size ", tensor.sizes());
  const NoGradGuard no_grad;
  const auto zeroed = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(tensor.size(0))));
  tensor.normal_(0, std, site);
  if (zeroed <= 0 || tensor.numel() == 0) return tensor;
  // The places of each column's smallest of so many random numbers.
  const Tensor order = argsort(rand(tensor.sizes(), tensor.device(), site), 0, false, site);
  tensor.scatter_(0, order.narrow(0, 0, std::min(zeroed, tensor.size(0)), site), 0, site);
  return tensor;
}

}  // namespace tandem::nn::init
