// Convolutions and transposed convolutions over one, two and three spatial dimensions.
#pragma once

#include <optional>
#include <string>

#include "nn/module.h"
#include "ops/convolution.h"

namespace tandem::nn {

struct ConvOptions {
  PerDim stride = 1;
  ConvPadding padding = 0;  // zeros around the input, "same" or "valid"
  PerDim dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  std::string padding_mode = "zeros";  // or reflect, replicate, circular
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

struct ConvTransposeOptions {
  PerDim stride = 1;
  PerDim padding = 0;
  PerDim output_padding = 0;
  int64_t groups = 1;
  bool bias = true;
  PerDim dilation = 1;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// What all convolutions share. Weight and bias start uniform within ±1/sqrt(fan_in).
struct ConvNd : Module {
  Tensor weight;
  Tensor bias;                                                   // (out); undefined where there is none
  Shape kernel_size, stride, padding, dilation, output_padding;  // one number a spatial dimension
  int64_t groups;

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  /// Draws weight and bias anew.
  void reset_parameters(Site site = Site::here());
  /// 0 before the first forward of a lazy one.
  [[nodiscard]] int64_t in_channels() const;
  /// How many channels it gives.
  [[nodiscard]] int64_t out_channels() const { return out_channels_; }
  [[nodiscard]] int64_t multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const override;
  /// That of a lazy one is its base's as soon as it knows its sizes.
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string extra_repr() const override;

 protected:
  /// Options that both kinds have, already one number a spatial dimension.
  struct Form {
    const char* op;
    bool transposed, lazy, bias;
    Shape kernel_size, stride, padding, dilation, output_padding;
    int64_t groups;
    Options placement;
  };
  ConvNd(int64_t in_channels, int64_t out_channels, Form form, Site site);
  /// Makes the parameters of a lazy one where they are not there yet.
  void prepare(const Tensor& x);
  virtual Tensor convolve(const Tensor& x) = 0;
  [[nodiscard]] int spatial() const { return static_cast<int>(kernel_size.size()); }
  [[nodiscard]] virtual std::string padding_text() const;

 private:
  void make_parameters(int64_t in_channels, Site site);

  int64_t out_channels_;
  bool transposed_, lazy_, has_bias_;
  Options placement_;
};

/// (n, in, spatial…) or (in, spatial…) to (n, out, …) with windows of `kernel_size`; weight is (out, in / groups, kernel…). Errors where
/// groups don't divide the channels, and where "same" meets a stride. As torch.nn.Conv1d, Conv2d and Conv3d.
template <int Spatial>
struct ConvOf : ConvNd {
  ConvOf(int64_t in_channels, int64_t out_channels, const PerDim& kernel_size_, const ConvOptions& options = {}, Site site = Site::here())
      : ConvOf(false, in_channels, out_channels, kernel_size_, options, site) {}
  void settings(Settings& s) override;

 protected:
  ConvOf(bool lazy, int64_t in_channels, int64_t out_channels, const PerDim& kernel_size, const ConvOptions& options, Site site);
  Tensor convolve(const Tensor& x) override;
  [[nodiscard]] std::string padding_text() const override;
  [[nodiscard]] std::string extra_repr() const override;

 private:
  const char* padding_name_;  // "same", "valid", or nullptr for numbers
  std::string padding_mode_;
  Shape around_;  // what `pad` gets where the mode is not zeros
};

/// The gradient of a convolution, as a layer: (n, in, spatial…) or (in, spatial…) to (n, out, …); weight is (in, out / groups, kernel…). As
/// torch.nn.ConvTranspose1d, ConvTranspose2d and ConvTranspose3d.
template <int Spatial>
struct ConvTransposeOf : ConvNd {
  ConvTransposeOf(int64_t in_channels, int64_t out_channels, const PerDim& kernel_size_, const ConvTransposeOptions& options = {},
                  Site site = Site::here())
      : ConvTransposeOf(false, in_channels, out_channels, kernel_size_, options, site) {}

  using ConvNd::forward;
  using Module::operator();
  /// The same with another choice among the sizes that a strided convolution maps to the input's: with or without the leading ones.
  Tensor forward(const Tensor& x, const Shape& output_size, Site site = Site::here());
  Tensor operator()(const Tensor& x, const Shape& output_size, Site site = Site::here());

 protected:
  ConvTransposeOf(bool lazy, int64_t in_channels, int64_t out_channels, const PerDim& kernel_size, const ConvTransposeOptions& options,
                  Site site);
  Tensor convolve(const Tensor& x) override;

 private:
  Tensor convolve(const Tensor& x, const Shape& more, Site site);
};

extern template struct ConvOf<1>;
extern template struct ConvOf<2>;
extern template struct ConvOf<3>;
extern template struct ConvTransposeOf<1>;
extern template struct ConvTransposeOf<2>;
extern template struct ConvTransposeOf<3>;

struct Conv1d : ConvOf<1> {
  using ConvOf::ConvOf;
};
struct Conv2d : ConvOf<2> {
  using ConvOf::ConvOf;
};
struct Conv3d : ConvOf<3> {
  using ConvOf::ConvOf;
};
struct ConvTranspose1d : ConvTransposeOf<1> {
  using ConvTransposeOf::ConvTransposeOf;
};
struct ConvTranspose2d : ConvTransposeOf<2> {
  using ConvTransposeOf::ConvTransposeOf;
};
struct ConvTranspose3d : ConvTransposeOf<3> {
  using ConvTransposeOf::ConvTransposeOf;
};

/// A convolution that learns its number of input channels from the first input; its parameters are undefined until then. As
/// torch.nn.LazyConv2d and its like.
template <class Conv, class ConvOptionsOf>
struct LazyConvOf : Conv {
  LazyConvOf(int64_t out_channels, const PerDim& kernel_size, const ConvOptionsOf& options = {}, Site site = Site::here())
      : Conv(true, 0, out_channels, kernel_size, options, site) {}
};
struct LazyConv1d : LazyConvOf<Conv1d, ConvOptions> {
  using LazyConvOf::LazyConvOf;
};
struct LazyConv2d : LazyConvOf<Conv2d, ConvOptions> {
  using LazyConvOf::LazyConvOf;
};
struct LazyConv3d : LazyConvOf<Conv3d, ConvOptions> {
  using LazyConvOf::LazyConvOf;
};
struct LazyConvTranspose1d : LazyConvOf<ConvTranspose1d, ConvTransposeOptions> {
  using LazyConvOf::LazyConvOf;
};
struct LazyConvTranspose2d : LazyConvOf<ConvTranspose2d, ConvTransposeOptions> {
  using LazyConvOf::LazyConvOf;
};
struct LazyConvTranspose3d : LazyConvOf<ConvTranspose3d, ConvTransposeOptions> {
  using LazyConvOf::LazyConvOf;
};

}  // namespace tandem::nn
