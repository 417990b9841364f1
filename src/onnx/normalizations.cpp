// Normalization.
#include "onnx/call.h"
#include "ops/arithmetic.h"
#include "ops/linalg/norms.h"
#include "ops/moving.h"
#include "ops/normalization.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace tandem::onnx {
namespace {

/// (C) as (C, 1, …), to meet the channels of x.
Tensor by_channel(const Tensor& one, const Tensor& x, Site site) {
  Shape sizes{one.numel()};
  for (int64_t i = 2; i < x.dim(); ++i) sizes.push_back(1);
  return one.reshape(sizes, site);
}

void batch_normalization(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), scale = call.in(1), bias = call.in(2), mean = call.in(3), var = call.in(4);
  const double eps = call.real("epsilon", 1e-5), momentum = call.real("momentum", 0.9);
  if (call.version() < 14 || call.integer("training_mode", 0) == 0) {
    if (mean.dtype() == x.dtype()) return call.give(batch_norm(x, mean, var, {.weight = scale, .bias = bias, .eps = eps}, site));
    const DType wide = mean.dtype();
    return call.give(
        batch_norm(x.to(wide, {}, site), mean, var, {.weight = scale.to(wide, {}, site), .bias = bias.to(wide, {}, site), .eps = eps}, site)
            .to(x.dtype(), {}, site));
  }
  Shape dims{0};
  for (int64_t i = 2; i < x.dim(); ++i) dims.push_back(i);
  const VarMean of_batch = var_mean(x, dims, 0, false, site);
  const Tensor factor = mul(scale, rsqrt(add(of_batch.var, eps, site), site), site);
  const Tensor centered = sub(x, by_channel(of_batch.mean, x, site), site);
  call.give(add(mul(centered, by_channel(factor, x, site), site), by_channel(bias, x, site), site));
  call.give(add(mul(mean, momentum, site), mul(of_batch.mean, 1 - momentum, site), site));
  call.give(add(mul(var, momentum, site), mul(of_batch.var, 1 - momentum, site), site));
}

/// The dimensions from `axis` on.
Shape dims_from(const Tensor& x, int64_t axis) {
  Shape dims;
  for (int64_t i = axis_of(axis, x.dim()); i < x.dim(); ++i) dims.push_back(i);
  return dims;
}
Shape sizes_of(const Tensor& x, const Shape& dims) {
  Shape sizes;
  for (const int64_t dim : dims) sizes.push_back(x.size(dim));
  return sizes;
}

void layer_normalization(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), scale = call.in_or_none(1), bias = call.in_or_none(2);
  const double eps = call.real("epsilon", 1e-5);
  const Shape dims = dims_from(x, call.integer("axis", -1)), sizes = sizes_of(x, dims);
  const auto fits = [&](const Tensor& one) { return !one.defined() || one.sizes() == sizes; };
  if (!call.wants(1) && !call.wants(2) && fits(scale) && fits(bias)) return call.give(layer_norm(x, sizes, scale, bias, eps, site));
  const Tensor wide = is_half(x.dtype()) ? x.to(kFloat32, {}, site) : x;
  const VarMean figures = var_mean(wide, dims, 0, true, site);
  const Tensor inverse = rsqrt(add(figures.var, eps, site), site);
  Tensor y = mul(sub(wide, figures.mean, site), inverse, site).to(x.dtype(), {}, site);
  if (scale.defined()) y = mul(y, scale, site);
  if (bias.defined()) y = add(y, bias, site);
  call.give(y);
  call.give(figures.mean);
  call.give(inverse);
}

void rms_normalization(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), scale = call.in(1);
  const Shape dims = dims_from(x, call.integer("axis", -1)), sizes = sizes_of(x, dims);
  const double eps = call.real("epsilon", 1e-5);
  if (scale.sizes() == sizes && scale.dtype() == x.dtype()) return call.give(rms_norm(x, sizes, scale, eps, site));
  call.give(mul(rms_norm(x, sizes, {}, eps, site), scale, site).to(scale.dtype(), {}, site));
}

void group_normalization(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  Tensor scale = call.in(1), bias = call.in(2);
  const int64_t groups = call.integer("num_groups", 1);
  if (x.dim() < 2 || groups < 1 || x.size(1) % groups != 0) fail("it has ", groups, " groups for the sizes ", x.sizes());
  // Before version 21 there is one factor a group.
  if (call.version() < 21 && scale.numel() == groups && groups != x.size(1)) {
    const auto each = [&](const Tensor& one) {
      return one.unsqueeze(1, site).expand({groups, x.size(1) / groups}, site).reshape({-1}, site);
    };
    scale = each(scale);
    bias = each(bias);
  }
  call.give(group_norm(x, groups, scale, bias, call.real("epsilon", 1e-5), site));
}

void instance_normalization(Call& call) {
  const Tensor x = call.in(0), scale = call.in(1), bias = call.in(2);
  call.give(instance_norm(x, {.weight = scale, .bias = bias, .eps = call.real("epsilon", 1e-5)}, call.site()));
}

void lrn(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const int64_t size = call.integer("size", 1);
  const double alpha = call.real("alpha", 1e-4), beta = call.real("beta", 0.75), k = call.real("bias", 1);
  // An even window leans to the other side than the library's: the same of the channels from the back.
  if (size % 2 == 1) return call.give(local_response_norm(x, size, alpha, beta, k, site));
  call.give(flip(local_response_norm(flip(x, {1}, site), size, alpha, beta, k, site), {1}, site));
}

void lp_normalization(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const int64_t axis = call.integer("axis", -1), p = call.integer("p", 2);
  const Tensor size =
      p == 1 ? sum(abs(x, site), Shape{axis}, true, {}, site) : sqrt(sum(mul(x, x, site), Shape{axis}, true, {}, site), site);
  // Where all is zero, it stays so.
  call.give(where(eq(size, 0, site), size, div(x, size, site), site));
}

void mean_variance(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  const VarMean figures = var_mean(x, call.list("axes", {0, 2, 3}), 0, true, site);
  call.give(div(sub(x, figures.mean, site), add(sqrt(figures.var, site), 1e-9, site), site));
}

constexpr OperatorRow kRows[] = {
    {"BatchNormalization", 1, batch_normalization},       {"GroupNormalization", 18, group_normalization},
    {"InstanceNormalization", 1, instance_normalization}, {"LRN", 1, lrn},
    {"LayerNormalization", 17, layer_normalization},      {"LpNormalization", 1, lp_normalization},
    {"MeanVarianceNormalization", 9, mean_variance},      {"RMSNormalization", 23, rms_normalization},
};

}  // namespace

std::span<const OperatorRow> normalization_operators() { return kRows; }

}  // namespace tandem::onnx
