// Layers without parameters that move elements about, or do nothing at all.
#pragma once

#include <string>

#include "nn/blank.h"
#include "nn/module.h"
#include "ops/fold.h"

namespace tandem::nn {

/// Its input itself. As torch.nn.Identity.
struct Identity : Module {
  Tensor forward(const Tensor& x) override;
};

/// Merges the dimensions from `start_dim` to `end_dim` into one; the default keeps the batch's. As torch.nn.Flatten.
struct Flatten : Module {
  int64_t start_dim, end_dim;

  explicit Flatten(int64_t start_dim_ = 1, int64_t end_dim_ = -1) : start_dim(start_dim_), end_dim(end_dim_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// Dimension `dim` divided into several of sizes `unflattened_size`, one of which may be -1. As torch.nn.Unflatten.
struct Unflatten : Module {
  int64_t dim;
  Shape unflattened_size;

  explicit Unflatten(detail::Blank) : dim(0) {}
  Unflatten(int64_t dim_, const Shape& unflattened_size_) : dim(dim_), unflattened_size(unflattened_size_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// (…, c r², h, w) to (…, c, h r, w r). As torch.nn.PixelShuffle.
struct PixelShuffle : Module {
  int64_t upscale_factor;

  explicit PixelShuffle(int64_t upscale_factor_) : upscale_factor(upscale_factor_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// (…, c, h r, w r) to (…, c r², h, w). As torch.nn.PixelUnshuffle.
struct PixelUnshuffle : Module {
  int64_t downscale_factor;

  explicit PixelUnshuffle(int64_t downscale_factor_) : downscale_factor(downscale_factor_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// (n, c, …) with the channels of `groups` groups interleaved. As torch.nn.ChannelShuffle.
struct ChannelShuffle : Module {
  int64_t groups;

  explicit ChannelShuffle(int64_t groups_) : groups(groups_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// What sliding windows of (n, c, h, w) see, side by side: to (n, c * kernel, windows). As torch.nn.Unfold.
struct Unfold : Module {
  PerDim kernel_size;
  FoldOptions options;

  explicit Unfold(const PerDim& kernel_size_, const FoldOptions& options_ = {}) : kernel_size(kernel_size_), options(options_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// The way back: (n, c * kernel, windows) to (n, c, output_size…), what windows have at a place added up. As torch.nn.Fold.
struct Fold : Module {
  PerDim output_size, kernel_size;
  FoldOptions options;

  Fold(const PerDim& output_size_, const PerDim& kernel_size_, const FoldOptions& options_ = {})
      : output_size(output_size_), kernel_size(kernel_size_), options(options_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

}  // namespace tandem::nn
