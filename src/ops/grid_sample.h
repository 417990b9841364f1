// Reading images at points, and grids of such points.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace tandem {

struct GridSampleOptions {
  std::string mode = "bilinear";       // bilinear, nearest, bicubic
  std::string padding_mode = "zeros";  // zeros, border, reflection
  bool align_corners = false;          // whether -1 and 1 are the outermost elements' centers, or their edges
};
/// (N, C, H, W) read at grid (N, h, w, 2), or (N, C, D, H, W) at (N, d, h, w, 3): points (x, y) in [-1, 1]. As
/// torch.nn.functional.grid_sample.
[[nodiscard]] Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleOptions& options = {}, Site site = Site::here());
/// The same with modes as numbers, in the order above. As torch.grid_sampler_2d, torch.grid_sampler_3d.
[[nodiscard]] Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                                     Flag align_corners, Site site = Site::here());
[[nodiscard]] Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                                     Flag align_corners, Site site = Site::here());
/// The grid that moves an image of sizes (N, C, H, W) by theta (N, 2, 3), or a volume by (N, 3, 4). As
/// torch.nn.functional.affine_grid.
[[nodiscard]] Tensor affine_grid(const Tensor& theta, const Shape& size, Flag align_corners = false, Site site = Site::here());

}  // namespace tandem
