#include "libtorch/functions_layers.h"

namespace torch {

tandem::PerDim detail::per_dim(const IntArrayRef& given, int64_t otherwise) {
  return given.empty() ? tandem::PerDim(otherwise) : tandem::PerDim(static_cast<const tandem::Shape&>(given));
}

tandem::PerDim detail::per_dim(const IntArrayRef& given) { return static_cast<const tandem::Shape&>(given); }

tandem::Shape detail::shape_or_zero(const IntArrayRef& given) {
  if (given.empty()) return 0;
  return given;
}

#define TANDEM_POOL(name, Result)                                                                                         \
  Result name(const Tensor& input, const IntArrayRef& kernel_size, const IntArrayRef& stride, const IntArrayRef& padding, \
              const IntArrayRef& dilation, bool ceil_mode, Site site) {                                                   \
    return tandem::name(input, detail::per_dim(kernel_size),                                                              \
                        {.stride = detail::per_dim(stride),                                                               \
                         .padding = detail::per_dim(padding, 0),                                                          \
                         .dilation = detail::per_dim(dilation, 1),                                                        \
                         .ceil_mode = ceil_mode},                                                                         \
                        site);                                                                                            \
  }
TANDEM_POOL(max_pool1d, Tensor)
TANDEM_POOL(max_pool2d, Tensor)
TANDEM_POOL(max_pool3d, Tensor)
TANDEM_POOL(max_pool1d_with_indices, tandem::ValuesIndices)
TANDEM_POOL(max_pool2d_with_indices, tandem::ValuesIndices)
TANDEM_POOL(max_pool3d_with_indices, tandem::ValuesIndices)
#undef TANDEM_POOL

#define TANDEM_POOL(name)                                                                                                                 \
  Tensor name(const Tensor& input, const IntArrayRef& kernel_size, const IntArrayRef& stride, const IntArrayRef& padding, bool ceil_mode, \
              bool count_include_pad, std::optional<int64_t> divisor_override, Site site) {                                               \
    return tandem::name(input, detail::per_dim(kernel_size),                                                                              \
                        {.stride = detail::per_dim(stride),                                                                               \
                         .padding = detail::per_dim(padding, 0),                                                                          \
                         .ceil_mode = ceil_mode,                                                                                          \
                         .count_include_pad = count_include_pad,                                                                          \
                         .divisor_override = divisor_override},                                                                           \
                        site);                                                                                                            \
  }
TANDEM_POOL(avg_pool1d)
TANDEM_POOL(avg_pool2d)
TANDEM_POOL(avg_pool3d)
#undef TANDEM_POOL

Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                  const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training, double momentum,
                  double eps, bool /*cudnn_enabled*/, Site site) {
  return tandem::batch_norm(
      input, running_mean.value_or(Tensor()), running_var.value_or(Tensor()),
      {.weight = weight.value_or(Tensor()), .bias = bias.value_or(Tensor()), .training = training, .momentum = momentum, .eps = eps}, site);
}

Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                     const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool use_input_stats,
                     double momentum, double eps, bool /*cudnn_enabled*/, Site site) {
  return tandem::instance_norm(input,
                               {.running_mean = running_mean.value_or(Tensor()),
                                .running_var = running_var.value_or(Tensor()),
                                .weight = weight.value_or(Tensor()),
                                .bias = bias.value_or(Tensor()),
                                .use_input_stats = use_input_stats,
                                .momentum = momentum,
                                .eps = eps},
                               site);
}

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                  double eps, bool /*cudnn_enable*/, Site site) {
  return tandem::layer_norm(input, normalized_shape, weight.value_or(Tensor()), bias.value_or(Tensor()), eps, site);
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                  double eps, bool /*cudnn_enabled*/, Site site) {
  return tandem::group_norm(input, num_groups, weight.value_or(Tensor()), bias.value_or(Tensor()), eps, site);
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq, bool /*sparse*/, Site site) {
  return tandem::embedding(indices, weight, padding_idx < 0 ? std::nullopt : std::optional<int64_t>(padding_idx), {}, 2, scale_grad_by_freq,
                           site);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                                         bool scale_grad_by_freq, int64_t mode, bool /*sparse*/,
                                                         const std::optional<Tensor>& per_sample_weights, bool include_last_offset,
                                                         std::optional<int64_t> padding_idx, Site site) {
  static const char* const modes[] = {"sum", "mean", "max"};
  if (mode < 0 || mode > 2) tandem::fail<tandem::ValueError>("[embedding_bag] mode must be 0 (sum), 1 (mean) or 2 (max), not ", mode);
  Tensor bags = tandem::embedding_bag(indices, weight,
                                      {.offsets = offsets,
                                       .scale_grad_by_freq = scale_grad_by_freq,
                                       .mode = modes[mode],
                                       .per_sample_weights = per_sample_weights.value_or(Tensor()),
                                       .include_last_offset = include_last_offset,
                                       .padding_idx = padding_idx},
                                      site);
  return {std::move(bags), Tensor(), Tensor(), Tensor()};
}

}  // namespace torch
