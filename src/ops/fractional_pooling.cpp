#include "ops/fractional_pooling.h"

#include "base/error.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/pointwise.h"
#include "ops/pooling.h"
#include "ops/random.h"
#include "ops/scatter.h"
#include "ops/spatial.h"

namespace tandem {
namespace {

// Where the windows of each sample and channel begin along one dimension; the last one ends where the input does. Computed in the samples'
// own type, as PyTorch does, and in float32 where that has no whole numbers beyond 256.
Tensor window_starts(const Tensor& samples, int64_t size, int64_t kernel, int64_t windows, Site site) {
  const DType dtype = size_of(samples.dtype()) < size_of(kFloat32) ? kFloat32 : samples.dtype();
  const Tensor shift = samples.to(dtype, {}, site).unsqueeze(-1, site);
  const double step = windows > 1 ? static_cast<double>(size - kernel) / static_cast<double>(windows - 1) : 0;
  const Tensor numbers = arange(0, windows, 1, {.dtype = dtype, .device = samples.device()}, site);
  const Tensor ends = mul({add({numbers, site}, {shift, site}, site), site}, {step, site}, site).to(kInt64, {}, site);
  const Tensor starts = sub({ends, site}, {mul({shift, site}, {step, site}, site).to(kInt64, {}, site), site}, site);
  starts.select(-1, windows - 1, site).fill_(size - kernel, site);
  return starts;
}

// Of all windows, one beginning at each element, those whose places were drawn.
ValuesIndices fractional_max_pool(const char* op, const Tensor& input, const PerDim& kernel_size, const FractionalMaxPoolOptions& options,
                                  int64_t spatial, Site site) {
  if (options.output_size.empty() && !options.output_ratio) fail("[", op, "] requires specifying either an output_size or an output_ratio");
  if (!options.output_size.empty() && options.output_ratio) fail("[", op, "] only one of output_size and output_ratio may be specified");
  const int64_t dims = input.dim(site);
  if (dims != spatial + 1 && dims != spatial + 2)
    fail("[", op, "] Expected ", spatial + 1, "D or ", spatial + 2, "D tensor, but got: ", input.sizes());
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("[", op, "] is not implemented for '", scalar_name(input.dtype()), "'; convert with to(kFloat32)");
  const Tensor x = dims == spatial + 2 ? input : input.unsqueeze(0, site);
  const Shape kernel = ops::per_dim(op, "kernel_size", kernel_size, spatial), sizes = ops::spatial_sizes(x, spatial);
  const auto count = static_cast<size_t>(spatial);
  Shape windows = sizes;
  if (options.output_ratio) {
    const std::vector<double>& ratios = *options.output_ratio;
    if (ratios.size() != 1 && ratios.size() != count)
      fail("[", op, "] output_ratio must be one number or ", spatial, ", but ", ratios.size(), " were given");
    for (size_t d = 0; d < count; ++d) {
      const double ratio = ratios[ratios.size() == 1 ? 0 : d];
      if (!(ratio > 0 && ratio <= 1)) fail("[", op, "] output_ratio must be above 0 and up to 1, but is ", ratio);
      windows[d] = static_cast<int64_t>(static_cast<double>(sizes[d]) * ratio);
    }
  } else {
    windows = ops::per_dim(op, "output_size", options.output_size, spatial);
  }
  static constexpr const char* kSides[] = {"time", "height", "width"};
  for (size_t d = 0; d < count; ++d)
    if (windows[d] < 1 || kernel[d] < 1 || kernel[d] > sizes[d] || windows[d] > sizes[d] - kernel[d] + 1)
      fail("[", op, "] pool ", kSides[3 - count + d], " ", kernel[d], " too large relative to input ", kSides[3 - count + d], " ", sizes[d],
           ": there is no room for ", windows[d], " windows");
  const Shape planes = {x.size(0, site), x.size(1, site), spatial};
  Tensor samples = options.random_samples;
  if (!samples.defined()) {
    samples = rand(planes, {.dtype = x.dtype(), .device = x.device()}, site);
  } else if (samples.sizes() != planes) {
    fail("[", op, "] random_samples must be of the sizes (batch, channels, spatial dimensions), ", planes, ", but they are ",
         samples.sizes());
  }
  const auto pool = spatial == 2 ? max_pool2d_with_indices : max_pool3d_with_indices;
  ValuesIndices all = pool(x, kernel_size, {.stride = 1}, site);
  for (int64_t d = 0; d < spatial; ++d) {
    const auto at = static_cast<size_t>(d);
    // In two dimensions the width's numbers come first; in three they come as depth, height, width.
    Tensor starts = window_starts(samples.select(-1, spatial == 2 ? 1 - d : d, site), sizes[at], kernel[at], windows[at], site);
    for (int64_t other = 0; other < spatial; ++other)
      if (other != d) starts = starts.unsqueeze(2 + other, site);
    Shape chosen = all.values.sizes();
    chosen[2 + at] = windows[at];
    starts = starts.expand(chosen, site);
    all = {gather(all.values, 2 + d, starts, site), gather(all.indices, 2 + d, starts, site)};
  }
  if (dims == spatial + 1) all = {all.values.squeeze(0, site), all.indices.squeeze(0, site)};
  return all;
}

}  // namespace

ValuesIndices fractional_max_pool2d_with_indices(const Tensor& input, const PerDim& kernel_size, const FractionalMaxPoolOptions& options,
                                                 Site site) {
  return fractional_max_pool("fractional_max_pool2d", input, kernel_size, options, 2, site);
}

ValuesIndices fractional_max_pool3d_with_indices(const Tensor& input, const PerDim& kernel_size, const FractionalMaxPoolOptions& options,
                                                 Site site) {
  return fractional_max_pool("fractional_max_pool3d", input, kernel_size, options, 3, site);
}

Tensor fractional_max_pool2d(const Tensor& input, const PerDim& kernel_size, const FractionalMaxPoolOptions& options, Site site) {
  return fractional_max_pool2d_with_indices(input, kernel_size, options, site).values;
}

Tensor fractional_max_pool3d(const Tensor& input, const PerDim& kernel_size, const FractionalMaxPoolOptions& options, Site site) {
  return fractional_max_pool3d_with_indices(input, kernel_size, options, site).values;
}

}  // namespace tandem
