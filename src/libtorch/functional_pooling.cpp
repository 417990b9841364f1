#include "libtorch/functional_pooling.h"

#include "libtorch/functional_arguments.h"
#include "ops/creation.h"
#include "ops/fractional_pooling.h"
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

using nn::detail::shape_of, nn::detail::output_size_of, nn::detail::pair_of, nn::detail::word_of;

template <size_t D>
tandem::AvgPoolOptions avg_pool_options(const AvgPoolOptions<D>& options) {
  return {.stride = shape_of(options.stride()),
          .padding = shape_of(options.padding()),
          .ceil_mode = options.ceil_mode(),
          .count_include_pad = options.count_include_pad(),
          .divisor_override = options.divisor_override()};
}
template <size_t D>
tandem::MaxPoolOptions max_pool_options(const MaxPoolOptions<D>& options) {
  return {.stride = shape_of(options.stride()),
          .padding = shape_of(options.padding()),
          .dilation = shape_of(options.dilation()),
          .ceil_mode = options.ceil_mode()};
}
template <size_t D>
tandem::MaxUnpoolOptions max_unpool_options(const MaxUnpoolFuncOptions<D>& options) {
  return {.stride = shape_of(options.stride()),
          .padding = shape_of(options.padding()),
          .output_size = options.output_size() ? tandem::Shape(*options.output_size()) : tandem::Shape()};
}

template <size_t D>
tandem::FractionalMaxPoolOptions fractional_options(const FractionalMaxPoolOptions<D>& options) {
  tandem::FractionalMaxPoolOptions out = {.random_samples = options._random_samples()};
  if (options.output_size()) out.output_size = shape_of(*options.output_size());
  if (options.output_ratio()) out.output_ratio = std::vector<double>((*options.output_ratio())->begin(), (*options.output_ratio())->end());
  return out;
}

}  // namespace

#define TANDEM_POOLINGS(D)                                                                                                              \
  Tensor avg_pool##D##d(const Tensor& input, const AvgPool##D##dFuncOptions& options, Site site) {                                      \
    return tandem::avg_pool##D##d(input, shape_of(options.kernel_size()), avg_pool_options(options), site);                             \
  }                                                                                                                                     \
  Tensor max_pool##D##d(const Tensor& input, const MaxPool##D##dFuncOptions& options, Site site) {                                      \
    return tandem::max_pool##D##d(input, shape_of(options.kernel_size()), max_pool_options(options), site);                             \
  }                                                                                                                                     \
  std::tuple<Tensor, Tensor> max_pool##D##d_with_indices(const Tensor& input, const MaxPool##D##dFuncOptions& options, Site site) {     \
    return pair_of(tandem::max_pool##D##d_with_indices(input, shape_of(options.kernel_size()), max_pool_options(options), site));       \
  }                                                                                                                                     \
  Tensor max_unpool##D##d(const Tensor& input, const Tensor& indices, const MaxUnpool##D##dFuncOptions& options, Site site) {           \
    return tandem::max_unpool##D##d(input, indices, shape_of(options.kernel_size()), max_unpool_options(options), site);                \
  }                                                                                                                                     \
  Tensor adaptive_avg_pool##D##d(const Tensor& input, const AdaptiveAvgPool##D##dFuncOptions& options, Site site) {                     \
    return tandem::adaptive_avg_pool##D##d(input, output_size_of(options.output_size()), site);                                         \
  }                                                                                                                                     \
  Tensor adaptive_max_pool##D##d(const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options, Site site) {                     \
    return tandem::adaptive_max_pool##D##d(input, output_size_of(options.output_size()), site);                                         \
  }                                                                                                                                     \
  std::tuple<Tensor, Tensor> adaptive_max_pool##D##d_with_indices(const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options, \
                                                                  Site site) {                                                          \
    return pair_of(tandem::adaptive_max_pool##D##d_with_indices(input, output_size_of(options.output_size()), site));                   \
  }

TANDEM_POOLINGS(1)
TANDEM_POOLINGS(2)
TANDEM_POOLINGS(3)
#undef TANDEM_POOLINGS

#define TANDEM_LP_POOL(D)                                                                                         \
  Tensor lp_pool##D##d(const Tensor& input, const LPPool##D##dFuncOptions& options, Site site) {                  \
    return tandem::lp_pool##D##d(input, options.norm_type(), shape_of(options.kernel_size()),                     \
                                 {.stride = shape_of(options.stride()), .ceil_mode = options.ceil_mode()}, site); \
  }

TANDEM_LP_POOL(1)
TANDEM_LP_POOL(2)
#undef TANDEM_LP_POOL

#define TANDEM_FRACTIONAL_POOL(D)                                                                                                   \
  std::tuple<Tensor, Tensor> fractional_max_pool##D##d_with_indices(const Tensor& input,                                            \
                                                                    const FractionalMaxPool##D##dFuncOptions& options, Site site) { \
    return pair_of(                                                                                                                 \
        tandem::fractional_max_pool##D##d_with_indices(input, shape_of(options.kernel_size()), fractional_options(options), site)); \
  }                                                                                                                                 \
  Tensor fractional_max_pool##D##d(const Tensor& input, const FractionalMaxPool##D##dFuncOptions& options, Site site) {             \
    return std::get<0>(fractional_max_pool##D##d_with_indices(input, options, site));                                               \
  }

TANDEM_FRACTIONAL_POOL(2)
TANDEM_FRACTIONAL_POOL(3)
#undef TANDEM_FRACTIONAL_POOL

Tensor pad(const Tensor& input, const PadFuncOptions& options, Site site) {
  const bool constant = std::holds_alternative<enumtype::kConstant>(options.mode());
  return tandem::pad(input, options.pad(), word_of(options.mode()).c_str(),
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
                              .mode = word_of(options.mode()),
                              .align_corners = options.align_corners(),
                              .recompute_scale_factor = options.recompute_scale_factor().value_or(false),
                              .antialias = options.antialias()},
                             site);
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options, Site site) {
  return tandem::grid_sample(input, grid,
                             {.mode = word_of(options.mode()),
                              .padding_mode = word_of(options.padding_mode()),
                              .align_corners = options.align_corners().value_or(false)},
                             site);
}

Tensor affine_grid(const Tensor& theta, const tandem::Shape& size, bool align_corners, Site site) {
  return tandem::affine_grid(theta, size, align_corners, site);
}

}  // namespace torch::nn::functional
