// Normalization within a sample: over a layer, groups of channels, or neighbouring channels.
#pragma once

#include <optional>
#include <string>

#include "nn/module.h"

namespace tandem::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// Mean 0 and variance 1 over the last dimensions, whose sizes are `normalized_shape`, then times weight plus bias. As torch.nn.LayerNorm.
struct LayerNorm : Module {
  Shape normalized_shape;
  Tensor weight, bias;  // (normalized_shape), or undefined
  double eps;

  explicit LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options = {}, Site site = Site::here());
  explicit LayerNorm(int64_t size, const LayerNormOptions& options = {}, Site site = Site::here())
      : LayerNorm(Shape{size}, options, site) {}
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  /// weight 1, bias 0.
  void reset_parameters(Site site = Site::here());
  [[nodiscard]] std::string extra_repr() const override;
};

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
  bool bias = true;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// Mean 0 and variance 1 over each of `num_groups` groups of channels of (n, c, …), then times weight plus bias of each channel. Error
/// where num_groups does not divide num_channels. As torch.nn.GroupNorm.
struct GroupNorm : Module {
  Tensor weight, bias;  // (num_channels), or undefined
  int64_t num_groups, num_channels;
  double eps;

  GroupNorm(int64_t num_groups, int64_t num_channels, const GroupNormOptions& options = {}, Site site = Site::here());
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  /// weight 1, bias 0.
  void reset_parameters(Site site = Site::here());
  [[nodiscard]] std::string extra_repr() const override;
};

struct RMSNormOptions {
  std::optional<double> eps = {};  // the dtype's own where not given
  bool elementwise_affine = true;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// The last dimensions, whose sizes are `normalized_shape`, divided by the root of the mean of their squares, then times weight. As
/// torch.nn.RMSNorm.
struct RMSNorm : Module {
  Shape normalized_shape;
  Tensor weight;  // (normalized_shape), or undefined
  std::optional<double> eps;

  explicit RMSNorm(const Shape& normalized_shape, const RMSNormOptions& options = {}, Site site = Site::here());
  explicit RMSNorm(int64_t size, const RMSNormOptions& options = {}, Site site = Site::here()) : RMSNorm(Shape{size}, options, site) {}
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  /// weight 1.
  void reset_parameters(Site site = Site::here());
  [[nodiscard]] std::string extra_repr() const override;
};

/// x / (k + alpha * the mean of squares over `size` neighbouring channels) ^ beta. As torch.nn.LocalResponseNorm.
struct LocalResponseNorm : Module {
  int64_t size;
  double alpha, beta, k;

  explicit LocalResponseNorm(int64_t size_, double alpha_ = 1e-4, double beta_ = 0.75, double k_ = 1)
      : size(size_), alpha(alpha_), beta(beta_), k(k_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

}  // namespace tandem::nn
