// Convolutions and transposed convolutions over one, two or three spatial dimensions.
#pragma once

#include "ops/window.h"
#include "tensor/tensor.h"

namespace tandem {

/// Zeros around an input: how many on both sides, or "same" (a result of the input's size, for stride 1) or "valid" (none).
class ConvPadding : public PerDim {
 public:
  using PerDim::PerDim;
  ConvPadding() : PerDim(0) {}
  ConvPadding(const char* name) : PerDim(0), name_(name) {}
  /// "same", "valid", or nullptr for numbers.
  [[nodiscard]] const char* name() const { return name_; }

 private:
  const char* name_ = nullptr;
};

struct ConvOptions {
  PerDim stride = 1;
  ConvPadding padding = 0;
  PerDim dilation = 1;
  int64_t groups = 1;
};

struct ConvTransposeOptions {
  PerDim stride = 1;
  PerDim padding = 0;
  PerDim output_padding = 0;
  int64_t groups = 1;
  PerDim dilation = 1;
};

/// input (n, c, spatial…) or (c, spatial…), weight (o, c / groups, kernel…), bias (o) or nothing, to (n, o, …). Of all types but
/// bool. Errors where sizes don't fit. As torch.nn.functional.conv2d.
[[nodiscard]] Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = Tensor(), const ConvOptions& options = {},
                            Site site = Site::here());
[[nodiscard]] Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = Tensor(), const ConvOptions& options = {},
                            Site site = Site::here());
[[nodiscard]] Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias = Tensor(), const ConvOptions& options = {},
                            Site site = Site::here());

/// input (n, c, spatial…) or (c, spatial…), weight (c, o / groups, kernel…), bias (o) or nothing, to (n, o, …): the gradient of a
/// convolution of these sizes. Of floating types and int64. As torch.nn.functional.conv_transpose2d.
[[nodiscard]] Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias = Tensor(),
                                      const ConvTransposeOptions& options = {}, Site site = Site::here());
[[nodiscard]] Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias = Tensor(),
                                      const ConvTransposeOptions& options = {}, Site site = Site::here());
[[nodiscard]] Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias = Tensor(),
                                      const ConvTransposeOptions& options = {}, Site site = Site::here());

}  // namespace tandem
