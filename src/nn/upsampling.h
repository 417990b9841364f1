// Images and signals at other sizes, as modules.
#pragma once

#include <string>

#include "nn/module.h"
#include "ops/interpolate.h"

namespace tandem::nn {

/// (n, c, spatial…) at another size, or so many times its own: `nn::Upsample({.scale_factor = {{2}}, .mode = "bilinear"})`. The options are
/// those of `interpolate`. As torch.nn.Upsample.
struct Upsample : Module {
  InterpolateOptions options;

  explicit Upsample(InterpolateOptions options_ = {}) : options(std::move(options_)) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// Upsample of images by the nearest element; the mode in the options does not count. As torch.nn.UpsamplingNearest2d.
struct UpsamplingNearest2d : Upsample {
  explicit UpsamplingNearest2d(const InterpolateOptions& options = {});
};

/// Upsample of images by "bilinear" with aligned corners. As torch.nn.UpsamplingBilinear2d.
struct UpsamplingBilinear2d : Upsample {
  explicit UpsamplingBilinear2d(const InterpolateOptions& options = {});
};

}  // namespace tandem::nn
