// Images and signals in other sizes; elements moved between channels and places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace tandem {

struct InterpolateOptions {
  std::optional<Shape> size = {};                        // of the result's places; or
  std::optional<std::vector<double>> scale_factor = {};  // how many times the input's; one number stands for all
  std::string mode = "nearest";                          // nearest, nearest-exact, linear, bilinear, bicubic, trilinear, area
  std::optional<bool> align_corners = {};                // whether the outermost elements' centers stay where they are
  bool recompute_scale_factor = false;                   // take the factor from the sizes, which rounding has changed
  bool antialias = false;                                // bilinear and bicubic: weigh all elements that a result's element covers
};
/// (N, C, places…) with one, two or three dimensions of places, at other sizes. As torch.nn.functional.interpolate. Where rounding down
/// makes the size that a factor gives the input's own, the result is the input, but for "nearest-exact" and for "bicubic" without
/// antialias; where it makes twice that, "nearest" takes each element twice.
[[nodiscard]] Tensor interpolate(const Tensor& input, const InterpolateOptions& options, Site site = Site::here());

/// (…, C r^2, H, W) to (…, C, H r, W r).
[[nodiscard]] Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor, Site site = Site::here());
/// (…, C, H r, W r) to (…, C r^2, H, W).
[[nodiscard]] Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor, Site site = Site::here());
/// (N, C, …) with the channels of `groups` groups interleaved.
[[nodiscard]] Tensor channel_shuffle(const Tensor& input, int64_t groups, Site site = Site::here());

}  // namespace tandem
