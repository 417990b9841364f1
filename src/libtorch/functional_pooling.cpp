#include "libtorch/functional_pooling.h"

#include "ops/operators.h"

namespace torch::nn::functional::detail {

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

}  // namespace torch::nn::functional::detail

namespace torch::nn::functional {

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
  return detail::fractional_max_pool("fractional_max_pool2d", input, options, tandem::max_pool2d_with_indices, site);
}

Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options, Site site) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, options, site));
}

std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& input, const FractionalMaxPool3dFuncOptions& options,
                                                              Site site) {
  return detail::fractional_max_pool("fractional_max_pool3d", input, options, tandem::max_pool3d_with_indices, site);
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
