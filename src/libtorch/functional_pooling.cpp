#include "libtorch/functional_pooling.h"

#include "libtorch/functional_arguments.h"
#include "ops/creation.h"
#include "ops/grid_sample.h"
#include "ops/interpolate.h"
#include "ops/operators.h"
#include "ops/padding.h"
#include "ops/pooling.h"
#include "ops/random.h"
#include "ops/scatter.h"
#include "ops/view.h"

namespace torch::nn::functional {
namespace {

template <size_t D>
tandem::AvgPoolOptions avg_pool_options(const AvgPoolOptions<D>& options) {
  return {.stride = nn::detail::shape_of(options.stride()),
          .padding = nn::detail::shape_of(options.padding()),
          .ceil_mode = options.ceil_mode(),
          .count_include_pad = options.count_include_pad(),
          .divisor_override = options.divisor_override()};
}
template <size_t D>
tandem::MaxPoolOptions max_pool_options(const MaxPoolOptions<D>& options) {
  return {.stride = nn::detail::shape_of(options.stride()),
          .padding = nn::detail::shape_of(options.padding()),
          .dilation = nn::detail::shape_of(options.dilation()),
          .ceil_mode = options.ceil_mode()};
}
template <size_t D>
tandem::MaxUnpoolOptions max_unpool_options(const MaxUnpoolFuncOptions<D>& options) {
  return {.stride = nn::detail::shape_of(options.stride()),
          .padding = nn::detail::shape_of(options.padding()),
          .output_size = options.output_size() ? tandem::Shape(*options.output_size()) : tandem::Shape()};
}

// Where the windows of a fractional pooling begin along one dimension, for each sample and channel: as evenly as whole numbers allow,
// shifted by random numbers in [0, 1); the last window ends where the input does.
Tensor fractional_starts(const Tensor& random, int64_t size, int64_t kernel, int64_t windows, Site site) {
  const double step = windows > 1 ? static_cast<double>(size - kernel) / static_cast<double>(windows - 1) : 0;
  const Tensor u = random.to(tandem::kFloat64, {}, site).unsqueeze(-1, site);
  const Tensor k = tandem::arange(0, windows, 1, {.dtype = tandem::kFloat64, .device = random.device()}, site);
  const Tensor moved = tandem::add({u, site}, {k, site}, site);
  const Tensor starts = tandem::sub({tandem::floor({tandem::mul({moved, site}, {step, site}, site), site}, site), site},
                                    {tandem::floor({tandem::mul({u, site}, {step, site}, site), site}, site), site}, site)
                            .to(tandem::kInt64, {}, site);
  starts.select(-1, windows - 1, site).fill_(size - kernel, site);
  return starts;
}

// The largest elements of windows whose places are random: of all windows, those that begin there.
template <size_t D, class Pool>
std::tuple<Tensor, Tensor> fractional_max_pool(const char* op, const Tensor& input, const FractionalMaxPoolOptions<D>& options, Pool pool,
                                               Site site) {
  if (!options.output_size() && !options.output_ratio())
    tandem::fail("[", op, "] requires specifying either an output_size or an output_ratio");
  const int64_t dims = input.dim(site), n = D;
  if (dims != n + 1 && dims != n + 2) tandem::fail("[", op, "] expected an input of ", n + 1, " or ", n + 2, " dimensions, got ", dims);
  const Tensor x = dims == n + 2 ? input : input.unsqueeze(0, site);
  Tensor random = options._random_samples();
  if (!random.defined()) random = tandem::rand({x.size(0, site), x.size(1, site), n}, {.dtype = x.dtype(), .device = x.device()}, site);
  tandem::ValuesIndices all = pool(x, nn::detail::shape_of(options.kernel_size()), tandem::MaxPoolOptions{.stride = 1}, site);
  for (int64_t d = 0; d < n; ++d) {
    const size_t at = static_cast<size_t>(d);
    const int64_t size = x.size(2 + d, site), kernel = (*options.kernel_size())[at];
    const int64_t windows = options.output_size() ? (**options.output_size())[at]
                                                  : static_cast<int64_t>(static_cast<double>(size) * (**options.output_ratio())[at]);
    if (windows < 1 || windows + kernel - 1 > size)
      tandem::fail("[", op, "] an output of size ", windows, " and a kernel of size ", kernel, " do not fit an input of size ", size);
    // Random numbers come for width before height, but for depth, height, width in this order.
    Tensor starts = fractional_starts(random.select(-1, D == 2 ? 1 - d : d, site), size, kernel, windows, site);
    for (int64_t other = 0; other < n; ++other)
      if (other != d) starts = starts.unsqueeze(2 + other, site);
    tandem::Shape sizes = all.values.sizes();
    sizes[2 + at] = windows;
    starts = starts.expand(sizes, site);
    all = {tandem::gather(all.values, 2 + d, starts, site), tandem::gather(all.indices, 2 + d, starts, site)};
  }
  if (dims == n + 1) all = {all.values.squeeze(0, site), all.indices.squeeze(0, site)};
  return nn::detail::pair_of(std::move(all));
}

}  // namespace

#define TANDEM_POOLINGS(D)                                                                                                              \
  Tensor avg_pool##D##d(const Tensor& input, const AvgPool##D##dFuncOptions& options, Site site) {                                      \
    return tandem::avg_pool##D##d(input, nn::detail::shape_of(options.kernel_size()), avg_pool_options(options), site);                 \
  }                                                                                                                                     \
  Tensor max_pool##D##d(const Tensor& input, const MaxPool##D##dFuncOptions& options, Site site) {                                      \
    return tandem::max_pool##D##d(input, nn::detail::shape_of(options.kernel_size()), max_pool_options(options), site);                 \
  }                                                                                                                                     \
  std::tuple<Tensor, Tensor> max_pool##D##d_with_indices(const Tensor& input, const MaxPool##D##dFuncOptions& options, Site site) {     \
    return nn::detail::pair_of(                                                                                                         \
        tandem::max_pool##D##d_with_indices(input, nn::detail::shape_of(options.kernel_size()), max_pool_options(options), site));      \
  }                                                                                                                                     \
  Tensor max_unpool##D##d(const Tensor& input, const Tensor& indices, const MaxUnpool##D##dFuncOptions& options, Site site) {           \
    return tandem::max_unpool##D##d(input, indices, nn::detail::shape_of(options.kernel_size()), max_unpool_options(options), site);    \
  }                                                                                                                                     \
  Tensor adaptive_avg_pool##D##d(const Tensor& input, const AdaptiveAvgPool##D##dFuncOptions& options, Site site) {                     \
    return tandem::adaptive_avg_pool##D##d(input, nn::detail::output_size_of(options.output_size()), site);                             \
  }                                                                                                                                     \
  Tensor adaptive_max_pool##D##d(const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options, Site site) {                     \
    return tandem::adaptive_max_pool##D##d(input, nn::detail::output_size_of(options.output_size()), site);                             \
  }                                                                                                                                     \
  std::tuple<Tensor, Tensor> adaptive_max_pool##D##d_with_indices(const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options, \
                                                                  Site site) {                                                          \
    return nn::detail::pair_of(                                                                                                         \
        tandem::adaptive_max_pool##D##d_with_indices(input, nn::detail::output_size_of(options.output_size()), site));                  \
  }

TANDEM_POOLINGS(1)
TANDEM_POOLINGS(2)
TANDEM_POOLINGS(3)
#undef TANDEM_POOLINGS

Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options, Site site) {
  using nn::detail::shape_of;
  return tandem::lp_pool1d(input, options.norm_type(), shape_of(options.kernel_size()),
                           {.stride = shape_of(options.stride()), .ceil_mode = options.ceil_mode()}, site);
}

Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options, Site site) {
  using nn::detail::shape_of;
  return tandem::lp_pool2d(input, options.norm_type(), shape_of(options.kernel_size()),
                           {.stride = shape_of(options.stride()), .ceil_mode = options.ceil_mode()}, site);
}

std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& input, const FractionalMaxPool2dFuncOptions& options,
                                                              Site site) {
  return fractional_max_pool("fractional_max_pool2d", input, options, tandem::max_pool2d_with_indices, site);
}

Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options, Site site) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, options, site));
}

std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& input, const FractionalMaxPool3dFuncOptions& options,
                                                              Site site) {
  return fractional_max_pool("fractional_max_pool3d", input, options, tandem::max_pool3d_with_indices, site);
}

Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options, Site site) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, options, site));
}

Tensor pad(const Tensor& input, const PadFuncOptions& options, Site site) {
  const bool constant = std::holds_alternative<enumtype::kConstant>(options.mode());
  return tandem::pad(input, options.pad(), nn::detail::word_of(options.mode()).c_str(),
                     constant ? std::optional<tandem::Scalar>(options.value()) : std::nullopt, site);
}

Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options, Site site) {
  return tandem::pixel_shuffle(input, options.upscale_factor(), site);
}

Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options, Site site) {
  return tandem::pixel_unshuffle(input, options.downscale_factor(), site);
}

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options, Site site) {
  return tandem::interpolate(input,
                             {.size = options.size() ? std::optional<tandem::Shape>(*options.size()) : std::nullopt,
                              .scale_factor = options.scale_factor(),
                              .mode = nn::detail::word_of(options.mode()),
                              .align_corners = options.align_corners(),
                              .recompute_scale_factor = options.recompute_scale_factor().value_or(false),
                              .antialias = options.antialias()},
                             site);
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options, Site site) {
  return tandem::grid_sample(input, grid,
                             {.mode = nn::detail::word_of(options.mode()),
                              .padding_mode = nn::detail::word_of(options.padding_mode()),
                              .align_corners = options.align_corners().value_or(false)},
                             site);
}

Tensor affine_grid(const Tensor& theta, const tandem::Shape& size, bool align_corners, Site site) {
  return tandem::affine_grid(theta, size, align_corners, site);
}

}  // namespace torch::nn::functional
