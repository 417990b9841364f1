// Pooling over one, two and three spatial dimensions, as modules. Each struct's options are those of the operation of its name.
#pragma once

#include <optional>
#include <string>

#include "nn/blank.h"
#include "nn/module.h"
#include "ops/fractional_pooling.h"
#include "ops/pooling.h"

namespace tandem::nn {

/// The largest element of each window of (n, c, spatial…) or (c, spatial…). As torch.nn.MaxPool1d, MaxPool2d and MaxPool3d.
template <int Spatial>
struct MaxPoolOf : Module {
  PerDim kernel_size;
  MaxPoolOptions options;

  explicit MaxPoolOf(const PerDim& kernel_size, MaxPoolOptions options = {});
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  /// The elements and where they were, for `MaxUnpool`: what return_indices=True is in PyTorch.
  ValuesIndices forward_with_indices(const Tensor& x, Site site = Site::here());
  [[nodiscard]] std::string extra_repr() const override;
};

/// The mean of each window. As torch.nn.AvgPool1d, AvgPool2d and AvgPool3d.
template <int Spatial>
struct AvgPoolOf : Module {
  PerDim kernel_size;
  AvgPoolOptions options;

  explicit AvgPoolOf(const PerDim& kernel_size, AvgPoolOptions options = {});
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// The means of windows that divide the input into `output_size` parts. As torch.nn.AdaptiveAvgPool1d, …2d and …3d.
template <int Spatial>
struct AdaptiveAvgPoolOf : Module {
  OutputSize output_size;

  explicit AdaptiveAvgPoolOf(const OutputSize& output_size_) : output_size(output_size_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// The largest elements of windows that divide the input into `output_size` parts. As torch.nn.AdaptiveMaxPool1d, …2d and …3d.
template <int Spatial>
struct AdaptiveMaxPoolOf : Module {
  OutputSize output_size;

  explicit AdaptiveMaxPoolOf(const OutputSize& output_size_) : output_size(output_size_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  /// The elements and where they were.
  ValuesIndices forward_with_indices(const Tensor& x, Site site = Site::here());
  [[nodiscard]] std::string extra_repr() const override;
};

/// The norm_type-norm of each window. As torch.nn.LPPool1d, LPPool2d and LPPool3d.
template <int Spatial>
struct LPPoolOf : Module {
  Scalar norm_type;
  PerDim kernel_size;
  LpPoolOptions options;

  LPPoolOf(Scalar norm_type, const PerDim& kernel_size, LpPoolOptions options = {});
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// Options of MaxUnpool1d, MaxUnpool2d, MaxUnpool3d.
struct MaxUnpoolLayerOptions {
  PerDim stride = {};  // the kernel's size where not given
  PerDim padding = 0;
};

/// What MaxPool chose, back at its places in a tensor that is zero elsewhere. As torch.nn.MaxUnpool1d, MaxUnpool2d and MaxUnpool3d.
template <int Spatial>
struct MaxUnpoolOf : Module {
  Shape kernel_size, stride, padding;

  explicit MaxUnpoolOf(const PerDim& kernel_size, const MaxUnpoolLayerOptions& options = {});
  void settings(Settings& s) override;
  using Module::forward;
  /// `output_size`, with or without the leading dimensions, settles what the windows leave open.
  Tensor forward(const Tensor& x, const Tensor& indices, const Shape& output_size = {}, Site site = Site::here());
  Tensor operator()(const Tensor& x, const Tensor& indices, const Shape& output_size = {}, Site site = Site::here());
  [[nodiscard]] std::string extra_repr() const override;
};

/// The largest element of each window; the places of the windows are drawn anew in each call, unless options.random_samples, a buffer, has
/// them. Error unless the options have either a size or a ratio between 0 and 1. As torch.nn.FractionalMaxPool2d and FractionalMaxPool3d.
template <int Spatial>
struct FractionalMaxPoolOf : Module {
  PerDim kernel_size;
  FractionalMaxPoolOptions options;

  FractionalMaxPoolOf(const PerDim& kernel_size, FractionalMaxPoolOptions options);
  explicit FractionalMaxPoolOf(detail::Blank) {}
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  /// The elements and where they were.
  ValuesIndices forward_with_indices(const Tensor& x, Site site = Site::here());
};

extern template struct MaxPoolOf<1>;
extern template struct MaxPoolOf<2>;
extern template struct MaxPoolOf<3>;
extern template struct AvgPoolOf<1>;
extern template struct AvgPoolOf<2>;
extern template struct AvgPoolOf<3>;
extern template struct AdaptiveAvgPoolOf<1>;
extern template struct AdaptiveAvgPoolOf<2>;
extern template struct AdaptiveAvgPoolOf<3>;
extern template struct AdaptiveMaxPoolOf<1>;
extern template struct AdaptiveMaxPoolOf<2>;
extern template struct AdaptiveMaxPoolOf<3>;
extern template struct LPPoolOf<1>;
extern template struct LPPoolOf<2>;
extern template struct LPPoolOf<3>;
extern template struct MaxUnpoolOf<1>;
extern template struct MaxUnpoolOf<2>;
extern template struct MaxUnpoolOf<3>;
extern template struct FractionalMaxPoolOf<2>;
extern template struct FractionalMaxPoolOf<3>;

struct MaxPool1d : MaxPoolOf<1> {
  using MaxPoolOf::MaxPoolOf;
};
struct MaxPool2d : MaxPoolOf<2> {
  using MaxPoolOf::MaxPoolOf;
};
struct MaxPool3d : MaxPoolOf<3> {
  using MaxPoolOf::MaxPoolOf;
};
struct AvgPool1d : AvgPoolOf<1> {
  using AvgPoolOf::AvgPoolOf;
};
struct AvgPool2d : AvgPoolOf<2> {
  using AvgPoolOf::AvgPoolOf;
};
struct AvgPool3d : AvgPoolOf<3> {
  using AvgPoolOf::AvgPoolOf;
};
struct AdaptiveAvgPool1d : AdaptiveAvgPoolOf<1> {
  using AdaptiveAvgPoolOf::AdaptiveAvgPoolOf;
};
struct AdaptiveAvgPool2d : AdaptiveAvgPoolOf<2> {
  using AdaptiveAvgPoolOf::AdaptiveAvgPoolOf;
};
struct AdaptiveAvgPool3d : AdaptiveAvgPoolOf<3> {
  using AdaptiveAvgPoolOf::AdaptiveAvgPoolOf;
};
struct AdaptiveMaxPool1d : AdaptiveMaxPoolOf<1> {
  using AdaptiveMaxPoolOf::AdaptiveMaxPoolOf;
};
struct AdaptiveMaxPool2d : AdaptiveMaxPoolOf<2> {
  using AdaptiveMaxPoolOf::AdaptiveMaxPoolOf;
};
struct AdaptiveMaxPool3d : AdaptiveMaxPoolOf<3> {
  using AdaptiveMaxPoolOf::AdaptiveMaxPoolOf;
};
struct LPPool1d : LPPoolOf<1> {
  using LPPoolOf::LPPoolOf;
};
struct LPPool2d : LPPoolOf<2> {
  using LPPoolOf::LPPoolOf;
};
struct LPPool3d : LPPoolOf<3> {
  using LPPoolOf::LPPoolOf;
};
struct MaxUnpool1d : MaxUnpoolOf<1> {
  using MaxUnpoolOf::MaxUnpoolOf;
};
struct MaxUnpool2d : MaxUnpoolOf<2> {
  using MaxUnpoolOf::MaxUnpoolOf;
};
struct MaxUnpool3d : MaxUnpoolOf<3> {
  using MaxUnpoolOf::MaxUnpoolOf;
};
struct FractionalMaxPool2d : FractionalMaxPoolOf<2> {
  using FractionalMaxPoolOf::FractionalMaxPoolOf;
};
struct FractionalMaxPool3d : FractionalMaxPoolOf<3> {
  using FractionalMaxPoolOf::FractionalMaxPoolOf;
};

}  // namespace tandem::nn
