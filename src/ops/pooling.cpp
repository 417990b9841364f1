#include "ops/pooling.h"

#include <algorithm>
#include <cmath>

#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"
#include "ops/accumulate.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/scatter.h"
#include "ops/spatial.h"
#include "ops/view.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;
using autograd::saved;
using kernels::Pooling;

/// An operation of a family, in 1 to 3 dimensions.
struct Name {
  const char* op;
  int64_t spatial;
  const char* grad_fn;
};

void check_dims(const Name& name, const Tensor& x) {
  if (x.dim() != name.spatial + 1 && x.dim() != name.spatial + 2)
    fail("[", name.op, "] Expected ", name.spatial + 1, "D or ", name.spatial + 2, "D (batch mode) tensor for input, but got: ", x.sizes());
  for (int64_t d = x.dim() - name.spatial - 1; d < x.dim(); ++d)
    if (x.size(d) == 0)
      fail("[", name.op, "] Expected ", name.spatial + 1, "D or ", name.spatial + 2,
           "D (batch mode) tensor with optional 0 dim batch size for input, but got: ", x.sizes());
}

void check_floating(const Name& name, const Tensor& x) {
  if (!is_floating(x.dtype()))
    fail<NotImplementedError>("[", name.op, "] is not implemented for '", scalar_name(x.dtype()), "'; convert with to(kFloat32)");
}

/// The result's sizes and the kernel's view of the windows.
struct Plan {
  Pooling pooling;
  Shape sizes;
};

Plan windows_over(const Name& name, const Tensor& x, const PerDim& kernel_size, const PerDim& stride, const PerDim& padding,
                  const PerDim& dilation, bool ceil_mode) {
  const Shape kernel = ops::per_dim(name.op, "kernel_size", kernel_size, name.spatial),
              step = stride.empty() ? kernel : ops::per_dim(name.op, "stride", stride, name.spatial),
              pad = ops::per_dim(name.op, "padding", padding, name.spatial),
              spread = ops::per_dim(name.op, "dilation", dilation, name.spatial);
  Plan plan;
  Shape sizes;
  for (size_t d = 0; d < kernel.size(); ++d) {
    if (kernel[d] <= 0) fail("[", name.op, "] kernel size should be greater than zero, but got ", kernel);
    if (step[d] <= 0) fail("[", name.op, "] stride should be greater than zero, but got ", step);
    if (spread[d] <= 0) fail("[", name.op, "] dilation should be greater than zero, but got ", spread);
    if (pad[d] < 0) fail("[", name.op, "] pad must be non-negative, but got pad: ", pad[d]);
    if (pad[d] > ((kernel[d] - 1) * spread[d] + 1) / 2)
      fail("[", name.op, "] pad should be at most half of effective kernel size, but got pad=", pad[d], ", kernel_size=", kernel[d],
           " and dilation=", spread[d]);
  }
  check_dims(name, x);
  for (size_t d = 0; d < kernel.size(); ++d) {
    const int64_t size = x.size(static_cast<int64_t>(d) - name.spatial);
    const int64_t room = size + 2 * pad[d] - spread[d] * (kernel[d] - 1) - 1 + (ceil_mode ? step[d] - 1 : 0);
    int64_t out = (room < 0 ? -((-room + step[d] - 1) / step[d]) : room / step[d]) + 1;
    if (ceil_mode && (out - 1) * step[d] >= size + pad[d]) --out;  // the last window begins within the input or its front padding
    sizes.push_back(out);
  }
  if (std::ranges::any_of(sizes, [](int64_t size) { return size <= 0; })) {
    Shape given = ops::spatial_sizes(x, name.spatial + 1), made = sizes;
    made.insert(0, given[0]);
    fail("[", name.op, "] Given input size: ", ops::crossed(given, "x"), ". Calculated output size: ", ops::crossed(made, "x"),
         ". Output size is too small with kernel_size ", kernel, ", stride ", step, " and padding ", pad,
         ": take a larger input or a smaller window");
  }
  ops::set_last(plan.pooling.windows.kernel, kernel);
  ops::set_last(plan.pooling.windows.stride, step);
  ops::set_last(plan.pooling.windows.padding, pad);
  ops::set_last(plan.pooling.windows.dilation, spread);
  plan.sizes = ops::with_spatial(x, sizes);
  return plan;
}

Plan adaptive_windows(const Name& name, const Tensor& x, const OutputSize& output_size) {
  check_dims(name, x);
  check_floating(name, x);
  Shape sizes = output_size.values();
  if (sizes.size() == 1 && name.spatial > 1) {
    const int64_t all = sizes[0];
    for (int64_t d = 1; d < name.spatial; ++d) sizes.push_back(all);
  }
  if (static_cast<int64_t>(sizes.size()) != name.spatial)
    fail("[", name.op, "] output_size must have ", name.spatial, " elements, but got ", sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == OutputSize::kSame) sizes[d] = x.size(static_cast<int64_t>(d) - name.spatial);
    if (sizes[d] < 0) fail("[", name.op, "] elements of output_size must be greater than or equal to 0, but got ", sizes);
  }
  Plan plan;
  plan.pooling.adaptive = true;
  plan.sizes = ops::with_spatial(x, sizes);
  return plan;
}

// --- The largest
/// The elements of x at `indices`, which count within the last `spatial` dimensions.
Tensor elements_at(const Tensor& x, const Tensor& indices, int64_t spatial) {
  const auto flat = [spatial](const Tensor& t) { return t.flatten(-spatial, -1); };
  const Tensor where = flat(indices);
  return gather(flat(x), where.dim() - 1, where).reshape(indices.sizes());
}

/// `source` put at `indices` of tensors of `sizes` that are zero elsewhere; both count within the last `spatial` dimensions.
Tensor placed(const char* grad_fn, const Tensor& source, const Tensor& indices, const Shape& sizes, int64_t spatial, Site site) {
  const auto flat = [spatial](const Tensor& x) { return x.flatten(-spatial, -1); };
  Tensor y = zeros(sizes, {.dtype = source.dtype(), .device = source.device()}, site);
  if (source.numel()) {
    const NoGradGuard no_grad;
    const Tensor to = flat(y);
    ops::launch(y, "max_unpool", site, &kernels::Table::scatter, kernels::Scatter::Set, to, flat(indices), flat(source),
                static_cast<int32_t>(to.dim() - 1));
  }
  if (!needs_grad(source)) return y;
  return record(grad_fn, y, {source}, site,
                [indices = saved(indices), spatial](const Tensor& g) { return elements_at(g, indices.get(), spatial); });
}

/// The gradient of what windows were the largest of.
Tensor largest_backward(const Name& name, const Tensor& grad, const Tensor& indices, const Pooling& pooling, const Shape& sizes,
                        Site site) {
  Tensor y = ops::summed(sizes, grad, site, [&](const Tensor& sums) {
    ops::launch(grad, name.op, site, &kernels::Table::max_pool_backward, ops::spatial_view(sums, name.spatial),
                ops::spatial_view(grad.contiguous(site), name.spatial), ops::spatial_view(indices, name.spatial), pooling);
  });
  return record("MaxPoolBackwardBackward0", y, {grad}, site,
                [indices = saved(indices), spatial = name.spatial](const Tensor& g) { return elements_at(g, indices.get(), spatial); });
}

ValuesIndices largest(const Name& name, const Tensor& x, const Plan& plan, bool indices, Site site) {
  if (x.dtype() == kBool) fail<NotImplementedError>("[", name.op, "] is not implemented for 'Bool'");
  const bool recording = needs_grad(x);
  ValuesIndices y{empty(plan.sizes, {.dtype = x.dtype(), .device = x.device()}, site), Tensor()};
  if (indices || recording) y.indices = empty(plan.sizes, {.dtype = kInt64, .device = x.device()}, site);
  if (y.values.numel()) {
    kernels::Out places;
    if (y.indices.defined()) places = {ops::spatial_view(y.indices, name.spatial)};
    ops::launch(x, name.op, site, &kernels::Table::max_pool, ops::spatial_view(y.values, name.spatial), places,
                ops::spatial_view(x, name.spatial), plan.pooling);
  }
  if (!recording) return y;
  y.values = record(name.grad_fn, y.values, {x}, site,
                    [indices = saved(y.indices), sizes = x.sizes(), pooling = plan.pooling, name, site](const Tensor& g) {
                      return largest_backward(name, g, indices.get(), pooling, sizes, site);
                    });
  return y;
}

ValuesIndices max_pool(const Name& name, const Tensor& x, const PerDim& kernel_size, const MaxPoolOptions& options, bool indices,
                       Site site) {
  return largest(name, x, windows_over(name, x, kernel_size, options.stride, options.padding, options.dilation, options.ceil_mode), indices,
                 site);
}

// --- Means
Tensor mean_backward(const Name& name, const Tensor& grad, const Pooling& pooling, const Shape& sizes, Site site);

Tensor means(const Name& name, const Tensor& x, const Plan& plan, Site site) {
  if (!is_floating(x.dtype()) && x.dtype() != kInt64)
    fail<NotImplementedError>("[", name.op, "] is not implemented for '", scalar_name(x.dtype()), "'");
  Tensor y = empty(plan.sizes, {.dtype = x.dtype(), .device = x.device()}, site);
  ops::launch(x, name.op, site, &kernels::Table::avg_pool, ops::spatial_view(y, name.spatial), ops::spatial_view(x, name.spatial),
              plan.pooling);
  return record(name.grad_fn, y, {x}, site, [name, pooling = plan.pooling, sizes = x.sizes(), site](const Tensor& g) {
    return mean_backward(name, g, pooling, sizes, site);
  });
}

Tensor mean_backward(const Name& name, const Tensor& grad, const Pooling& pooling, const Shape& sizes, Site site) {
  Tensor y = ops::summed(sizes, grad, site, [&](const Tensor& sums) {
    ops::launch(grad, name.op, site, &kernels::Table::avg_pool_backward, ops::spatial_view(sums, name.spatial),
                ops::spatial_view(grad, name.spatial), pooling);
  });
  return record("AvgPoolBackwardBackward0", y, {grad}, site,
                [name, plan = Plan{pooling, grad.sizes()}, site](const Tensor& gg) { return means(name, gg, plan, site); });
}

Tensor avg_pool(const Name& name, const Tensor& x, const PerDim& kernel_size, const AvgPoolOptions& options, Site site) {
  Plan plan = windows_over(name, x, kernel_size, options.stride, options.padding, 1, options.ceil_mode);
  if (options.divisor_override && *options.divisor_override == 0) fail("[", name.op, "] divisor must be not zero");
  plan.pooling.count_include_pad = options.count_include_pad;
  plan.pooling.divisor = options.divisor_override.value_or(0);
  return means(name, x, plan, site);
}

Tensor adaptive_means(const Name& name, const Tensor& x, const OutputSize& output_size, Site site) {
  const Plan plan = adaptive_windows(name, x, output_size);
  Shape dims;
  bool one = true;  // window over everything
  for (int64_t d = -name.spatial; d < 0; ++d) {
    dims.push_back(d);
    one &= plan.sizes[plan.sizes.size() - static_cast<size_t>(-d)] == 1;
  }
  return one ? x.mean(dims, true, {}, site) : means(name, x, plan, site);
}

Tensor lp_pool(const Name& name, const Tensor& x, double p, const PerDim& kernel_size, const LpPoolOptions& options, Site site) {
  const detail::ComposedAt line(site);
  double count = 1;
  for (const int64_t size : ops::per_dim(name.op, "kernel_size", kernel_size, name.spatial)) count *= static_cast<double>(size);
  const Tensor powers = avg_pool(name, pow(x, p, site), kernel_size, {.stride = options.stride, .ceil_mode = options.ceil_mode}, site);
  return pow(sign(powers, site) * relu(abs(powers, site), site) * count, 1 / p, site);
}

// --- The way back
Tensor max_unpool(const Name& name, const Tensor& x, const Tensor& indices, const PerDim& kernel_size, const MaxUnpoolOptions& options,
                  Site site) {
  if (const ops::Cast cast("max_unpool", site, x); cast) return max_unpool(name, cast(x), indices, kernel_size, options, site);
  const Shape kernel = ops::per_dim(name.op, "kernel_size", kernel_size, name.spatial),
              step = options.stride.empty() ? kernel : ops::per_dim(name.op, "stride", options.stride, name.spatial),
              pad = ops::per_dim(name.op, "padding", options.padding, name.spatial);
  check_dims(name, x);
  check_floating(name, x);
  if (indices.dtype() != kInt64) fail("[", name.op, "] elements in indices should be type int64 but got: ", indices.dtype());
  if (!(indices.sizes() == x.sizes()))
    fail("[", name.op, "] Expected shape of indices to be same as that of the input tensor (", x.sizes(),
         ") but got indices tensor with shape: ", indices.sizes());
  ops::check_same_device(name.op, x, "input", indices, "indices");
  Shape sizes;
  for (size_t d = 0; d < kernel.size(); ++d) {
    if (step[d] <= 0) fail("[", name.op, "] strides should be greater than zero, but got stride: ", step);
    sizes.push_back((x.size(static_cast<int64_t>(d) - name.spatial) - 1) * step[d] + kernel[d] - 2 * pad[d]);
  }
  if (!options.output_size.empty()) {
    Shape given = options.output_size;
    if (given.size() == kernel.size() + 2 || given.size() == kernel.size() + 1)
      given = Shape(options.output_size.data() + given.size() - kernel.size(), kernel.size());
    if (given.size() != kernel.size())
      fail("[", name.op, "] output_size should be a sequence containing ", kernel.size(), " or ", kernel.size() + 2,
           " elements, but it has a length of '", options.output_size.size(), "'");
    for (size_t d = 0; d < kernel.size(); ++d) {
      const int64_t least = sizes[d] - step[d], most = sizes[d] + step[d];
      if (given[d] <= least || given[d] >= most)
        fail("[", name.op, "] invalid output_size \"", given, "\" (dim ", d, " must be between ", least, " and ", most, ")");
    }
    sizes = given;
  }
  for (const int64_t size : sizes)
    if (size <= 0) fail("[", name.op, "] the result would have the sizes ", sizes, "; give an output_size");
  if (indices.is_cpu() && indices.numel() > 0) {  // a GPU would have to be waited for; it reports them when it is
    const int64_t least = indices.min(site).item<int64_t>(site), most = indices.max(site).item<int64_t>(site);
    if (least < 0 || most >= sizes.numel())
      fail("[", name.op, "] Found an invalid max index: ", least < 0 ? least : most, " (output volumes are of size ", sizes, ")");
  }
  return placed(name.grad_fn, x, indices, ops::with_spatial(x, sizes), name.spatial, site);
}

}  // namespace

Tensor max_pool1d(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options, Site site) {
  return max_pool({"max_pool1d", 1, "SqueezeBackward1"}, input, kernel_size, options, false, site).values;
}
Tensor max_pool2d(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options, Site site) {
  return max_pool({"max_pool2d", 2, "MaxPool2DWithIndicesBackward0"}, input, kernel_size, options, false, site).values;
}
Tensor max_pool3d(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options, Site site) {
  if (const ops::Cast cast("max_pool3d", site, input); cast) return max_pool3d(cast(input), kernel_size, options, site);
  return max_pool({"max_pool3d", 3, "MaxPool3DWithIndicesBackward0"}, input, kernel_size, options, false, site).values;
}
ValuesIndices max_pool1d_with_indices(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options, Site site) {
  return max_pool({"max_pool1d", 1, "SqueezeBackward1"}, input, kernel_size, options, true, site);
}
ValuesIndices max_pool2d_with_indices(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options, Site site) {
  return max_pool({"max_pool2d", 2, "MaxPool2DWithIndicesBackward0"}, input, kernel_size, options, true, site);
}
ValuesIndices max_pool3d_with_indices(const Tensor& input, const PerDim& kernel_size, const MaxPoolOptions& options, Site site) {
  return max_pool({"max_pool3d", 3, "MaxPool3DWithIndicesBackward0"}, input, kernel_size, options, true, site);
}

Tensor avg_pool1d(const Tensor& input, const PerDim& kernel_size, const AvgPoolOptions& options, Site site) {
  if (options.divisor_override) fail("[avg_pool1d] avg_pool1d has no divisor_override");
  return avg_pool({"avg_pool1d", 1, "SqueezeBackward1"}, input, kernel_size, options, site);
}
Tensor avg_pool2d(const Tensor& input, const PerDim& kernel_size, const AvgPoolOptions& options, Site site) {
  return avg_pool({"avg_pool2d", 2, "AvgPool2DBackward0"}, input, kernel_size, options, site);
}
Tensor avg_pool3d(const Tensor& input, const PerDim& kernel_size, const AvgPoolOptions& options, Site site) {
  if (const ops::Cast cast("avg_pool3d", site, input); cast) return avg_pool3d(cast(input), kernel_size, options, site);
  return avg_pool({"avg_pool3d", 3, "AvgPool3DBackward0"}, input, kernel_size, options, site);
}

Tensor adaptive_avg_pool1d(const Tensor& input, const OutputSize& output_size, Site site) {
  return adaptive_means({"adaptive_avg_pool1d", 1, "SqueezeBackward1"}, input, output_size, site);
}
Tensor adaptive_avg_pool2d(const Tensor& input, const OutputSize& output_size, Site site) {
  return adaptive_means({"adaptive_avg_pool2d", 2, "AdaptiveAvgPool2DBackward0"}, input, output_size, site);
}
Tensor adaptive_avg_pool3d(const Tensor& input, const OutputSize& output_size, Site site) {
  if (const ops::Cast cast("adaptive_avg_pool3d", site, input); cast) return adaptive_avg_pool3d(cast(input), output_size, site);
  return adaptive_means({"adaptive_avg_pool3d", 3, "AdaptiveAvgPool3DBackward0"}, input, output_size, site);
}

ValuesIndices adaptive_max_pool1d_with_indices(const Tensor& input, const OutputSize& output_size, Site site) {
  const Name name{"adaptive_max_pool1d", 1, "SqueezeBackward1"};
  return largest(name, input, adaptive_windows(name, input, output_size), true, site);
}
ValuesIndices adaptive_max_pool2d_with_indices(const Tensor& input, const OutputSize& output_size, Site site) {
  const Name name{"adaptive_max_pool2d", 2, "AdaptiveMaxPool2DBackward0"};
  return largest(name, input, adaptive_windows(name, input, output_size), true, site);
}
ValuesIndices adaptive_max_pool3d_with_indices(const Tensor& input, const OutputSize& output_size, Site site) {
  if (const ops::Cast cast("adaptive_max_pool3d", site, input); cast)
    return adaptive_max_pool3d_with_indices(cast(input), output_size, site);
  const Name name{"adaptive_max_pool3d", 3, "AdaptiveMaxPool3DBackward0"};
  return largest(name, input, adaptive_windows(name, input, output_size), true, site);
}
Tensor adaptive_max_pool1d(const Tensor& input, const OutputSize& output_size, Site site) {
  return adaptive_max_pool1d_with_indices(input, output_size, site).values;
}
Tensor adaptive_max_pool2d(const Tensor& input, const OutputSize& output_size, Site site) {
  return adaptive_max_pool2d_with_indices(input, output_size, site).values;
}
Tensor adaptive_max_pool3d(const Tensor& input, const OutputSize& output_size, Site site) {
  return adaptive_max_pool3d_with_indices(input, output_size, site).values;
}

Tensor lp_pool1d(const Tensor& input, double norm_type, const PerDim& kernel_size, const LpPoolOptions& options, Site site) {
  return lp_pool({"lp_pool1d", 1, "SqueezeBackward1"}, input, norm_type, kernel_size, options, site);
}
Tensor lp_pool2d(const Tensor& input, double norm_type, const PerDim& kernel_size, const LpPoolOptions& options, Site site) {
  return lp_pool({"lp_pool2d", 2, "AvgPool2DBackward0"}, input, norm_type, kernel_size, options, site);
}
Tensor lp_pool3d(const Tensor& input, double norm_type, const PerDim& kernel_size, const LpPoolOptions& options, Site site) {
  return lp_pool({"lp_pool3d", 3, "AvgPool3DBackward0"}, input, norm_type, kernel_size, options, site);
}

Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const PerDim& kernel_size, const MaxUnpoolOptions& options, Site site) {
  return max_unpool({"max_unpool1d", 1, "SqueezeBackward1"}, input, indices, kernel_size, options, site);
}
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const PerDim& kernel_size, const MaxUnpoolOptions& options, Site site) {
  return max_unpool({"max_unpool2d", 2, "MaxUnpool2DBackward0"}, input, indices, kernel_size, options, site);
}
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const PerDim& kernel_size, const MaxUnpoolOptions& options, Site site) {
  return max_unpool({"max_unpool3d", 3, "MaxUnpool3DBackward0"}, input, indices, kernel_size, options, site);
}

}  // namespace tandem
