// Convolutions, pools, normalizations and the like with libtorch's parameters, one after another. The short calls are tandem's.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <tuple>

#include "libtorch/types.h"
#include "ops/convolution.h"
#include "ops/dropout.h"
#include "ops/embedding.h"
#include "ops/interpolate.h"
#include "ops/normalization.h"
#include "ops/padding.h"
#include "ops/pooling.h"
#include "ops/recurrent/recurrent.h"

namespace torch {

using tandem::Site;

namespace detail {
/// Sizes for each spatial dimension; those given as {} are left out.
[[nodiscard]] tandem::PerDim per_dim(const IntArrayRef& given, int64_t otherwise);
[[nodiscard]] tandem::PerDim per_dim(const IntArrayRef& given);
[[nodiscard]] tandem::Shape shape_or_zero(const IntArrayRef& given);
}  // namespace detail

// The forms with one parameter more than tandem's shortest call take braces by their own overload: {2, 2} would also make an option struct.
#define TANDEM_CONV(name)                                                                                                                \
  [[nodiscard]] inline Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, const IntArrayRef& stride,             \
                                   const IntArrayRef& padding, const IntArrayRef& dilation = 1, int64_t groups = 1,                      \
                                   Site site = Site::here()) {                                                                           \
    return tandem::name(input, weight, bias,                                                                                             \
                        {.stride = detail::per_dim(stride, 1),                                                                           \
                         .padding = tandem::ConvPadding(detail::shape_or_zero(padding)),                                                 \
                         .dilation = detail::per_dim(dilation, 1),                                                                       \
                         .groups = groups},                                                                                              \
                        site);                                                                                                           \
  }                                                                                                                                      \
  [[nodiscard]] inline Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, const IntArrayRef& stride,             \
                                   Site site = Site::here()) {                                                                           \
    return torch::name(input, weight, bias, stride, IntArrayRef(0), IntArrayRef(1), 1, site);                                            \
  }                                                                                                                                      \
  [[nodiscard]] inline Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, std::initializer_list<int64_t> stride, \
                                   Site site = Site::here()) {                                                                           \
    return torch::name(input, weight, bias, IntArrayRef(stride), IntArrayRef(0), IntArrayRef(1), 1, site);                               \
  }                                                                                                                                      \
  /** Padding by name: "same" or "valid". */                                                                                             \
  [[nodiscard]] inline Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, const IntArrayRef& stride,             \
                                   std::convertible_to<const char*> auto padding, const IntArrayRef& dilation = 1, int64_t groups = 1,   \
                                   Site site = Site::here()) {                                                                           \
    return tandem::name(input, weight, bias,                                                                                             \
                        {.stride = detail::per_dim(stride, 1),                                                                           \
                         .padding = static_cast<const char*>(padding),                                                                   \
                         .dilation = detail::per_dim(dilation, 1),                                                                       \
                         .groups = groups},                                                                                              \
                        site);                                                                                                           \
  }
TANDEM_CONV(conv1d)
TANDEM_CONV(conv2d)
TANDEM_CONV(conv3d)
#undef TANDEM_CONV

#define TANDEM_CONV(name)                                                                                                                \
  [[nodiscard]] inline Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, const IntArrayRef& stride,             \
                                   const IntArrayRef& padding, const IntArrayRef& output_padding = 0, int64_t groups = 1,                \
                                   const IntArrayRef& dilation = 1, Site site = Site::here()) {                                          \
    return tandem::name(input, weight, bias,                                                                                             \
                        {.stride = detail::per_dim(stride, 1),                                                                           \
                         .padding = detail::per_dim(padding, 0),                                                                         \
                         .output_padding = detail::per_dim(output_padding, 0),                                                           \
                         .groups = groups,                                                                                               \
                         .dilation = detail::per_dim(dilation, 1)},                                                                      \
                        site);                                                                                                           \
  }                                                                                                                                      \
  [[nodiscard]] inline Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, const IntArrayRef& stride,             \
                                   Site site = Site::here()) {                                                                           \
    return torch::name(input, weight, bias, stride, IntArrayRef(0), IntArrayRef(0), 1, IntArrayRef(1), site);                            \
  }                                                                                                                                      \
  [[nodiscard]] inline Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, std::initializer_list<int64_t> stride, \
                                   Site site = Site::here()) {                                                                           \
    return torch::name(input, weight, bias, IntArrayRef(stride), IntArrayRef(0), IntArrayRef(0), 1, IntArrayRef(1), site);               \
  }
TANDEM_CONV(conv_transpose1d)
TANDEM_CONV(conv_transpose2d)
TANDEM_CONV(conv_transpose3d)
#undef TANDEM_CONV

// One function of each name, so that the name alone can be handed on: Functional(torch::max_pool2d, 3, 2, 0, 1, false). A stride of {} is
// the kernel's size.
#define TANDEM_POOL(name, Result)                                                                                    \
  [[nodiscard]] Result name(const Tensor& input, const IntArrayRef& kernel_size, const IntArrayRef& stride = {},     \
                            const IntArrayRef& padding = 0, const IntArrayRef& dilation = 1, bool ceil_mode = false, \
                            Site site = Site::here());
TANDEM_POOL(max_pool1d, Tensor)
TANDEM_POOL(max_pool2d, Tensor)
TANDEM_POOL(max_pool3d, Tensor)
TANDEM_POOL(max_pool1d_with_indices, tandem::ValuesIndices)
TANDEM_POOL(max_pool2d_with_indices, tandem::ValuesIndices)
TANDEM_POOL(max_pool3d_with_indices, tandem::ValuesIndices)
#undef TANDEM_POOL

#define TANDEM_POOL(name)                                                                                          \
  [[nodiscard]] Tensor name(const Tensor& input, const IntArrayRef& kernel_size, const IntArrayRef& stride = {},   \
                            const IntArrayRef& padding = 0, bool ceil_mode = false, bool count_include_pad = true, \
                            std::optional<int64_t> divisor_override = {}, Site site = Site::here());
TANDEM_POOL(avg_pool1d)
TANDEM_POOL(avg_pool2d)
TANDEM_POOL(avg_pool3d)
#undef TANDEM_POOL

// With the places of the largest, always.
#define TANDEM_POOL(name)                                                                                                          \
  [[nodiscard]] inline tandem::ValuesIndices name(const Tensor& input, const IntArrayRef& output_size, Site site = Site::here()) { \
    return tandem::name##_with_indices(input, static_cast<const tandem::Shape&>(output_size), site);                               \
  }
TANDEM_POOL(adaptive_max_pool1d)
TANDEM_POOL(adaptive_max_pool2d)
TANDEM_POOL(adaptive_max_pool3d)
#undef TANDEM_POOL

[[nodiscard]] Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training,
                                double momentum, double eps, bool /*cudnn_enabled*/, Site site = Site::here());
[[nodiscard]] Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                   const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
                                   bool use_input_stats, double momentum, double eps, bool /*cudnn_enabled*/, Site site = Site::here());
[[nodiscard]] Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight,
                                const std::optional<Tensor>& bias, double eps, bool /*cudnn_enable*/, Site site = Site::here());
[[nodiscard]] Tensor group_norm(const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight,
                                const std::optional<Tensor>& bias, double eps, bool /*cudnn_enabled*/, Site site = Site::here());

/// The rows of `weight` that `indices` names: libtorch's order, the table first. Its gradient is dense, whatever `sparse` says.
[[nodiscard]] Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1, bool scale_grad_by_freq = false,
                               bool /*sparse*/ = false, Site site = Site::here());
/// Sums (mode 0), means (1) or maxima (2) of bags of rows. libtorch gives four results; of these only the first one is defined.
[[nodiscard]] std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                                                       bool scale_grad_by_freq = false, int64_t mode = 0,
                                                                       bool sparse = false,
                                                                       const std::optional<Tensor>& per_sample_weights = {},
                                                                       bool include_last_offset = false,
                                                                       std::optional<int64_t> padding_idx = {}, Site site = Site::here());

// Other sizes by interpolation; the factors are those of the sizes.
#define TANDEM_UPSAMPLE(name, named)                                                                                             \
  [[nodiscard]] inline Tensor name(const Tensor& input, IntArrayRef output_size, bool align_corners, Site site = Site::here()) { \
    return tandem::interpolate(input, {.size = output_size, .mode = named, .align_corners = align_corners}, site);               \
  }
TANDEM_UPSAMPLE(upsample_linear1d, "linear")
TANDEM_UPSAMPLE(upsample_bilinear2d, "bilinear")
TANDEM_UPSAMPLE(upsample_bicubic2d, "bicubic")
TANDEM_UPSAMPLE(upsample_trilinear3d, "trilinear")
#undef TANDEM_UPSAMPLE
#define TANDEM_UPSAMPLE(name)                                                                                \
  [[nodiscard]] inline Tensor name(const Tensor& input, IntArrayRef output_size, Site site = Site::here()) { \
    return tandem::interpolate(input, {.size = output_size, .mode = "nearest"}, site);                       \
  }
TANDEM_UPSAMPLE(upsample_nearest1d)
TANDEM_UPSAMPLE(upsample_nearest2d)
TANDEM_UPSAMPLE(upsample_nearest3d)
#undef TANDEM_UPSAMPLE

#define TANDEM_PAD(name, mode)                                                                           \
  [[nodiscard]] inline Tensor name(const Tensor& input, IntArrayRef padding, Site site = Site::here()) { \
    return tandem::pad(input, padding, mode, {}, site);                                                  \
  }
TANDEM_PAD(reflection_pad1d, "reflect")
TANDEM_PAD(reflection_pad2d, "reflect")
TANDEM_PAD(reflection_pad3d, "reflect")
TANDEM_PAD(replication_pad1d, "replicate")
TANDEM_PAD(replication_pad2d, "replicate")
TANDEM_PAD(replication_pad3d, "replicate")
#undef TANDEM_PAD

}  // namespace torch
