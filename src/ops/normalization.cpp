// All of them are one kernel over rows, which are views of the input: (samples and groups, channels, places) for groups, (channels,
// samples, places) for a batch, (…, elements, 1) for a layer. The gradient is a kernel too, unless it is to be differentiated again.
#include "ops/normalization.h"

#include <array>
#include <limits>

#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/linalg/norms.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;

/// Sizes as the kernel sees them.
kernels::View arranged(const Tensor& x, const Shape& sizes, const Shape& strides) {
  kernels::View v = ops::view(x);
  if (!x.defined()) return v;
  v.ndim = static_cast<int32_t>(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    v.sizes[d] = sizes[d];
    v.strides[d] = strides[d];
  }
  return v;
}

/// Which elements of a contiguous tensor are normalized together, and which weight belongs to them.
struct NormLayout {
  Shape sizes, strides;  // of the data: (rows, runs, length)
  Shape weight_sizes;    // (groups, runs)
  Shape weight_strides;  // over contiguous weights; a stride of 0 is shared by the runs of a row
  bool centered = true;

  [[nodiscard]] kernels::View data(const Tensor& x) const { return arranged(x, sizes, strides); }
  [[nodiscard]] kernels::View weight(const Tensor& w) const { return arranged(w, weight_sizes, weight_strides); }
  /// Whether each row has a weight of its own, which its runs share.
  [[nodiscard]] bool one_weight() const { return weight_strides[1] == 0 && weight_sizes[0] == sizes[0]; }
  /// Sums for (groups, runs) as the gradient of a weight of these sizes.
  [[nodiscard]] Tensor fit(const Tensor& sums, const Tensor& weight) const {
    const Tensor own = weight_strides[1] == 0 ? sums.sum(1) : sums;
    return own.reshape(weight.sizes()).to(weight.dtype());
  }
};

struct Normalized {
  Tensor y, mean, variance;  // the latter (rows); mean is undefined where rows are not centered
};

DType statistics_dtype(DType dtype) { return dtype == kFloat64 ? kFloat64 : kFloat32; }

Normalized normalize_rows(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias, const NormLayout& layout, double eps,
                          Site site) {
  const Options options{.dtype = statistics_dtype(x.dtype()), .device = x.device()};
  Normalized result{empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site),
                    layout.centered ? empty({layout.sizes[0]}, options, site) : Tensor(), empty({layout.sizes[0]}, options, site)};
  if (x.numel())
    ops::launch(x, op, site, &kernels::Table::normalize, layout.data(result.y), result.mean, result.variance, layout.data(x),
                layout.weight(weight), layout.weight(bias), eps, ops::kernels_of(x).normalize_workspace(layout.data(x)));
  return result;
}

/// The same gradient in operations, from x itself: for gradients of gradients.
std::array<Tensor, 3> differentiable_gradient(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                                              const NormLayout& layout, double eps) {
  const int64_t rows = layout.sizes[0], runs = layout.sizes[1], length = layout.sizes[2];
  const int64_t groups = layout.weight_sizes[0];
  const bool batch = layout.strides[0] < layout.strides[1] && layout.weight_strides[1] == 0;
  const DType dtype = statistics_dtype(x.dtype());
  const auto split = [&](const Tensor& t) {  // (rows / groups, groups, runs, length)
    const Tensor wide = t.to(dtype);
    return batch ? wide.reshape({runs, rows, length}).transpose(0, 1).unsqueeze(0) : wide.reshape({rows / groups, groups, runs, length});
  };
  const auto joined = [&](const Tensor& t) { return (batch ? t.squeeze(0).transpose(0, 1) : t).reshape(x.sizes()).to(x.dtype()); };
  const bool shared = layout.weight_strides[1] == 0;
  const auto parameter = [&](const Tensor& w) { return w.to(dtype).reshape({1, groups, shared ? 1 : runs, 1}); };
  const Tensor in = split(x), grad = split(g);
  const Tensor centered = layout.centered ? in - in.mean({2, 3}, true) : in;
  const Tensor factor = rsqrt((centered * centered).mean({2, 3}, true) + eps);
  const Tensor normal = centered * factor, scaled = weight.defined() ? grad * parameter(weight) : grad;
  Tensor inner = scaled - normal * (scaled * normal).mean({2, 3}, true);
  if (layout.centered) inner = inner - scaled.mean({2, 3}, true);
  std::array<Tensor, 3> gradients{joined(inner * factor)};
  const auto summed = [&](const Tensor& t, const Tensor& like) {
    return t.sum(shared ? Shape{0, 2, 3} : Shape{0, 3}).reshape(like.sizes()).to(like.dtype());
  };
  if (weight.defined()) gradients[1] = summed(grad * normal, weight);
  if (bias.defined()) gradients[2] = summed(grad, bias);
  return gradients;
}

/// `relu`: g is the gradient of max(0, y).
std::array<Tensor, 3> gradient(const Tensor& g, const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& weight,
                               const Tensor& bias, const NormLayout& layout, double eps, bool relu, autograd::Wanted wanted, Site site) {
  std::array<Tensor, 3> gradients;
  const Tensor grad = g.contiguous(site);
  const bool parameters = (wanted[1] && weight.defined()) || (wanted[2] && bias.defined());
  if (wanted[0]) {
    gradients[0] = empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
    Tensor weights, biases;
    if ((parameters || relu) && layout.one_weight() && x.numel()) {
      weights = empty_like(variance, {}, site);
      biases = empty_like(variance, {}, site);
    }
    ops::launch(x, "normalize_backward", site, &kernels::Table::normalize_backward, layout.data(gradients[0]), weights, biases,
                layout.data(grad), layout.data(x), mean, variance, layout.weight(weight), layout.weight(bias), eps, relu,
                ops::kernels_of(x).normalize_workspace(layout.data(x)));
    if (weights.defined()) {
      if (wanted[1] && weight.defined()) gradients[1] = weights.to(weight.dtype());
      if (wanted[2] && bias.defined()) gradients[2] = biases.to(bias.dtype());
      return gradients;
    }
  }
  if (parameters) {
    const Options options{.dtype = variance.dtype(), .device = x.device()};
    const Tensor weights = x.numel() ? empty(layout.weight_sizes, options, site) : zeros(layout.weight_sizes, options, site);
    const Tensor biases = x.numel() ? empty(layout.weight_sizes, options, site) : zeros(layout.weight_sizes, options, site);
    if (x.numel())
      ops::launch(x, "normalize_backward", site, &kernels::Table::normalize_parameters, weights, biases, layout.data(grad), layout.data(x),
                  mean, variance, eps);
    if (wanted[1] && weight.defined()) gradients[1] = layout.fit(weights, weight);
    if (wanted[2] && bias.defined()) gradients[2] = layout.fit(biases, bias);
  }
  return gradients;
}

/// The backward function: what is kept for it.
struct Gradient {
  autograd::SavedTensor x, mean, variance, weight, bias;
  DType dtype;  // of x
  NormLayout layout;
  double eps;
  Site site;
  bool relu = false;  // follows: the gradient that comes is that of max(0, y)

  bool relu_follows() {
    return relu = layout.one_weight() && (dtype == kFloat32 || dtype == kFloat64);  // another one's y may be rounded to 0
  }
  std::array<Tensor, 3> operator()(const Tensor& g, autograd::Wanted wanted) const {
    const auto get = [](const autograd::SavedTensor& t) { return t.defined() ? t.get() : Tensor(); };
    const Tensor in = x.get(), w = get(weight), b = get(bias);
    const bool differentiable = needs_grad(g, in, w);
    if (!differentiable && (!relu || wanted[0])) return gradient(g, in, get(mean), get(variance), w, b, layout, eps, relu, wanted, site);
    const Tensor grad = relu ? threshold_backward(g, result(in, w, b), 0, site) : g;
    if (differentiable) return differentiable_gradient(grad, in, w, b, layout, eps);
    return gradient(grad, in, get(mean), get(variance), w, b, layout, eps, false, wanted, site);
  }

 private:
  /// y again.
  [[nodiscard]] Tensor result(const Tensor& in, const Tensor& w, const Tensor& b) const {
    const NoGradGuard no_grad;
    return normalize_rows("normalize_backward", in, w, b, layout, eps, site).y;
  }
};

/// x, contiguous, normalized and recorded; `statistics`, where given, gets mean and variance.
Tensor normalized(const char* op, const char* grad_fn, const Tensor& x, const Tensor& weight_in, const Tensor& bias_in,
                  const NormLayout& layout, double eps, Site site, Normalized* statistics = nullptr) {
  ops::check_same_device(op, x, "input", weight_in, "weight");
  ops::check_same_device(op, x, "input", bias_in, "bias");
  const Tensor weight = weight_in.defined() ? weight_in.contiguous(site) : weight_in;
  const Tensor bias = bias_in.defined() ? bias_in.contiguous(site) : bias_in;
  Normalized result = normalize_rows(op, x, weight, bias, layout, eps, site);
  if (statistics) *statistics = result;
  if (!needs_grad(x, weight, bias)) return result.y;
  const auto kept = [](const Tensor& t) { return t.defined() ? autograd::saved(t) : autograd::SavedTensor(); };
  return record(
      grad_fn, result.y, {x, weight, bias}, site,
      Gradient{autograd::saved(x), kept(result.mean), kept(result.variance), kept(weight), kept(bias), x.dtype(), layout, eps, site});
}

/// Rows that are the last dimensions of a contiguous tensor.
NormLayout last_dimensions(const char* op, const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                           bool centered) {
  if (normalized_shape.empty())
    fail("[", op, "] Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got ",
         "normalized_shape = ", normalized_shape);
  const auto check = [&](const Tensor& parameter, const char* name) {
    if (parameter.defined() && !(parameter.sizes() == normalized_shape))
      fail("[", op, "] Expected ", name, " to be of same shape as normalized_shape, but got ", name, " of shape ", parameter.sizes(),
           " and normalized_shape = ", normalized_shape);
  };
  check(weight, "weight");
  check(bias, "bias");
  const size_t outer = x.sizes().size() - std::min(x.sizes().size(), normalized_shape.size());
  bool fits = x.sizes().size() >= normalized_shape.size();
  for (size_t d = 0; fits && d < normalized_shape.size(); ++d) fits = x.sizes()[outer + d] == normalized_shape[d];
  if (!fits)
    fail("[", op, "] Given normalized_shape=", normalized_shape, ", expected input with shape [*, ", str(normalized_shape).substr(1),
         ", but got input of size", x.sizes());
  const int64_t n = normalized_shape.numel(), rows = n ? x.numel() / n : 0;
  return {{rows, n, 1}, {n, 1, 1}, {1, n}, {n, 1}, centered};
}

/// A parameter of a channel each.
void check_channels(const char* op, const Tensor& parameter, const char* name, int64_t channels) {
  if (parameter.defined() && (parameter.dim() != 1 || parameter.numel() != channels))
    fail("[", op, "] ", name, " should contain ", channels, " elements, not sizes ", parameter.sizes(),
         ": one for each channel of the input; a module's num_features must be ", channels);
}

void check_more_than_one(const char* op, const Tensor& x, int64_t count) {
  if (count == 1)
    fail("[", op, "] Expected more than 1 value per channel when training, got input size ", x.sizes(),
         ": give larger batches, or call eval() to use the running figures");
}

/// running = (1 - momentum) * running + momentum * now.
void follow(const Tensor& running, const Tensor& now, double momentum, Site site) {
  const NoGradGuard no_grad;
  if (running.defined()) running.copy_(running * (1 - momentum) + now * momentum, false, site);
}

/// The same for both figures of a batch of `count` numbers a channel, in one kernel where all are of one dtype.
void follow(const Tensor& running_mean, const Tensor& running_var, const Normalized& now, int64_t count, double momentum, Site site) {
  const double unbiased = static_cast<double>(count) / static_cast<double>(count - 1);
  const auto alike = [&](const Tensor& running) {
    return !running.defined() || (running.dtype() == now.mean.dtype() && running.device() == now.mean.device() && running.dim() == 1);
  };
  if (!alike(running_mean) || !alike(running_var)) {
    follow(running_mean, now.mean, momentum, site);
    follow(running_var, now.variance * unbiased, momentum, site);
    return;
  }
  if (!running_mean.defined() && !running_var.defined()) return;
  const NoGradGuard no_grad;
  ops::launch(now.mean, "batch_norm", site, &kernels::Table::follow_statistics, running_mean, running_var, now.mean, now.variance, momentum,
              unbiased);
  for (const Tensor& running : {running_mean, running_var})
    if (running.defined()) running.impl().bump_version();
}

/// By given statistics of each channel of (N, C, …).
Tensor by_statistics(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& weight, const Tensor& bias, double eps,
                     Site site) {
  Shape sizes{x.size(1)};
  for (int64_t d = 2; d < x.dim(); ++d) sizes.push_back(1);
  const DType dtype = statistics_dtype(x.dtype());
  Tensor factor = rsqrt(variance.to(dtype) + eps, site);
  if (weight.defined()) factor = mul(factor, weight.to(dtype), site);
  Tensor shift = -mean.to(dtype) * factor;
  if (bias.defined()) shift = add(shift, bias.to(dtype), site);
  return addcmul(shift.reshape(sizes), x.to(dtype), factor.reshape(sizes), 1, site).to(x.dtype());
}

}  // namespace

Tensor layer_norm(const Tensor& input, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias, double eps, Site site) {
  if (const ops::Cast cast("layer_norm", site, input, weight, bias); cast)
    return layer_norm(cast(input), normalized_shape, cast(weight), cast(bias), eps, site);
  ops::check_floating("layer_norm", input);
  const NormLayout layout = last_dimensions("layer_norm", input, normalized_shape, weight, bias, true);
  return normalized("layer_norm", "NativeLayerNormBackward0", input.contiguous(site), weight, bias, layout, eps, site);
}

Tensor rms_norm(const Tensor& input, const Shape& normalized_shape, const Tensor& weight, std::optional<double> eps, Site site) {
  if (const ops::Cast cast("rms_norm", site, input, weight); cast) return rms_norm(cast(input), normalized_shape, cast(weight), eps, site);
  ops::check_floating("rms_norm", input);
  const NormLayout layout = last_dimensions("rms_norm", input, normalized_shape, weight, {}, false);
  const double own = input.dtype() == kFloat64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  return normalized("rms_norm", "FusedRmsNormBackward0", input.contiguous(site), weight, {}, layout, eps.value_or(own), site);
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps, Site site) {
  if (const ops::Cast cast("group_norm", site, input, weight, bias); cast)
    return group_norm(cast(input), num_groups, cast(weight), cast(bias), eps, site);
  ops::check_floating("group_norm", input);
  if (input.dim() < 2) fail("[group_norm] Expected at least 2 dimensions for input tensor but received ", input.dim());
  if (num_groups <= 0) fail("[group_norm] Expected num groups to be greater than 0, got ", num_groups);
  const int64_t samples = input.size(0), channels = input.size(1);
  if (channels % num_groups != 0)
    fail("[group_norm] Expected number of channels in input to be divisible by num_groups, but got input of shape ", input.sizes(),
         " and num_groups=", num_groups);
  if (channels == 0) fail("[group_norm] Expected number of channels to be greater than 0, got 0");
  int64_t places = 1;
  for (int64_t d = 2; d < input.dim(); ++d) places *= input.size(d);
  if (places == 0) fail("[group_norm] Expected HxW to be greater than 0, got 0");
  check_channels("group_norm", weight, "weight", channels);
  check_channels("group_norm", bias, "bias", channels);
  const int64_t runs = channels / num_groups;
  const NormLayout layout{{samples * num_groups, runs, places}, {runs * places, places, 1}, {num_groups, runs}, {runs, 1}};
  return normalized("group_norm", "NativeGroupNormBackward0", input.contiguous(site), weight, bias, layout, eps, site);
}

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var, const BatchNormOptions& options, Site site) {
  const detail::ComposedAt line(site);
  const char* op = "batch_norm";
  ops::check_floating(op, input);
  if (input.dim() == 1 && input.numel() == 0) return input.clone(site);
  if (input.dim() < 2) fail("[batch_norm] expected an input (N, C, …) of at least 2 dimensions, not ", input.sizes());
  const int64_t samples = input.size(0), channels = input.size(1);
  check_channels(op, running_mean, "running_mean", channels);
  check_channels(op, running_var, "running_var", channels);
  check_channels(op, options.weight, "weight", channels);
  check_channels(op, options.bias, "bias", channels);
  if (!options.training) {
    if (!running_mean.defined() || !running_var.defined())
      fail("[batch_norm] running_mean and running_var must be defined in evaluation mode");
    return by_statistics(input, running_mean, running_var, options.weight, options.bias, options.eps, site);
  }
  int64_t places = 1;
  for (int64_t d = 2; d < input.dim(); ++d) places *= input.size(d);
  const int64_t count = samples * places;
  check_more_than_one(op, input, count);
  const NormLayout layout{{channels, samples, places}, {places, channels * places, 1}, {channels, samples}, {1, 0}};
  Normalized statistics;
  Tensor y = normalized(op, "NativeBatchNormBackward0", input.contiguous(site), options.weight, options.bias, layout, options.eps, site,
                        &statistics);
  if (count > 1) follow(running_mean, running_var, statistics, count, options.momentum, site);
  return y;
}

Tensor instance_norm(const Tensor& input, const InstanceNormOptions& options, Site site) {
  const detail::ComposedAt line(site);
  const char* op = "instance_norm";
  ops::check_floating(op, input);
  if (input.dim() < 2) fail("[instance_norm] expected an input (N, C, …) of at least 2 dimensions, not ", input.sizes());
  const int64_t samples = input.size(0), channels = input.size(1);
  check_channels(op, options.running_mean, "running_mean", channels);
  check_channels(op, options.running_var, "running_var", channels);
  check_channels(op, options.weight, "weight", channels);
  check_channels(op, options.bias, "bias", channels);
  if (!options.use_input_stats) {
    if (!options.running_mean.defined() || !options.running_var.defined())
      fail("[instance_norm] Expected running_mean and running_var to be defined when use_input_stats is false");
    return by_statistics(input, options.running_mean, options.running_var, options.weight, options.bias, options.eps, site);
  }
  int64_t places = 1;
  for (int64_t d = 2; d < input.dim(); ++d) places *= input.size(d);
  if (places == 1) fail("[instance_norm] Expected more than 1 spatial element when training, got input size ", input.sizes());
  const NormLayout layout{{samples * channels, 1, places}, {places, places, 1}, {channels, 1}, {1, 1}};
  Normalized statistics;
  Tensor y = normalized(op, "NativeBatchNormBackward0", input.contiguous(site), options.weight, options.bias, layout, options.eps, site,
                        &statistics);
  if (samples > 0 && places > 1) {
    const double unbiased = static_cast<double>(places) / static_cast<double>(places - 1);
    const auto over_samples = [&](const Tensor& t) { return t.reshape({samples, channels}).mean(0); };
    if (options.running_mean.defined()) follow(options.running_mean, over_samples(statistics.mean), options.momentum, site);
    if (options.running_var.defined()) follow(options.running_var, over_samples(statistics.variance) * unbiased, options.momentum, site);
  }
  return y;
}

Tensor local_response_norm(const Tensor& input, int64_t size, double alpha, double beta, double k, Site site) {
  if (input.dim() < 3) fail("[local_response_norm] Expected 3D or higher dimensionality input (got ", input.dim(), " dimensions)");
  if (size < 1) fail("[local_response_norm] size must be at least 1, not ", size);
  if (input.numel() == 0) return input;
  const Tensor squares = mul(input, input, site);
  const int64_t channels = input.size(1);
  Tensor sums = squares;
  for (int64_t away = -(size / 2); away <= (size - 1) / 2; ++away) {  // the channels beyond the first and the last are zero
    const int64_t distance = away < 0 ? -away : away;
    if (away == 0 || distance >= channels) continue;
    Shape gap = input.sizes();
    gap[1] = distance;
    const Tensor zero = zeros(gap, {.dtype = input.dtype(), .device = input.device()}, site);
    const Tensor part = squares.narrow(1, away < 0 ? 0 : distance, channels - distance, site);
    sums = add(sums, away < 0 ? cat({zero, part}, 1, site) : cat({part, zero}, 1, site), site);
  }
  const double count = static_cast<double>(size);
  const Tensor mean = is_floating(sums.dtype()) ? div(sums, count, site) : floor_divide(sums, size, site);
  return div(input, pow(add(mul(mean, alpha, site), k, site), beta, site), site);
}

Tensor normalize(const Tensor& input, double p, const Shape& dim, double eps, Site site) {
  return div(input, norm(input, p, dim, true, {}, site).clamp(eps, {}, site), site);
}

}  // namespace tandem
