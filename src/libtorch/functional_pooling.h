// torch::nn::functional: pooling, padding, and images of other sizes.
#pragma once

#include <tuple>

#include "libtorch/options_pooling.h"

namespace torch::nn::functional {

using tandem::Site;

// --- Pooling. Those with indices give the values' places in the input too.

#define TANDEM_POOLINGS(D)                                                                                                              \
  Tensor avg_pool##D##d(const Tensor& input, const AvgPool##D##dFuncOptions& options, Site site = Site::here());                        \
  Tensor max_pool##D##d(const Tensor& input, const MaxPool##D##dFuncOptions& options, Site site = Site::here());                        \
  std::tuple<Tensor, Tensor> max_pool##D##d_with_indices(const Tensor& input, const MaxPool##D##dFuncOptions& options,                  \
                                                         Site site = Site::here());                                                     \
  Tensor max_unpool##D##d(const Tensor& input, const Tensor& indices, const MaxUnpool##D##dFuncOptions& options,                        \
                          Site site = Site::here());                                                                                    \
  Tensor adaptive_avg_pool##D##d(const Tensor& input, const AdaptiveAvgPool##D##dFuncOptions& options, Site site = Site::here());       \
  Tensor adaptive_max_pool##D##d(const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options, Site site = Site::here());       \
  std::tuple<Tensor, Tensor> adaptive_max_pool##D##d_with_indices(const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options, \
                                                                  Site site = Site::here())

TANDEM_POOLINGS(1);
TANDEM_POOLINGS(2);
TANDEM_POOLINGS(3);
#undef TANDEM_POOLINGS

Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options, Site site = Site::here());
Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options, Site site = Site::here());
std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& input, const FractionalMaxPool2dFuncOptions& options,
                                                              Site site = Site::here());
Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options, Site site = Site::here());
std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& input, const FractionalMaxPool3dFuncOptions& options,
                                                              Site site = Site::here());
Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options, Site site = Site::here());

// --- Padding, and other sizes

Tensor pad(const Tensor& input, const PadFuncOptions& options, Site site = Site::here());
Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options, Site site = Site::here());
Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options, Site site = Site::here());
Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {}, Site site = Site::here());
Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {}, Site site = Site::here());
Tensor affine_grid(const Tensor& theta, const tandem::Shape& size, bool align_corners = false, Site site = Site::here());

}  // namespace torch::nn::functional
