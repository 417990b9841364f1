// torch::nn::init: first values of parameters. Each fills its tensor in place, without a trace for gradients, and gives it back.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <variant>

#include "autograd/autograd.h"
#include "base/error.h"
#include "libtorch/enums.h"
#include "nn/init.h"
#include "tensor/tensor.h"

namespace torch::nn::init {

using NonlinearityType = std::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D,
                                      enumtype::kConvTranspose1D, enumtype::kConvTranspose2D, enumtype::kConvTranspose3D,
                                      enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU, enumtype::kLeakyReLU>;
using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;

namespace detail {
/// The names that tandem has for the two.
inline std::string_view name_of(const NonlinearityType& nonlinearity) {
  constexpr std::string_view kNames[] = {"linear",           "conv1d",  "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
                                         "conv_transpose3d", "sigmoid", "tanh",   "relu",   "leaky_relu"};
  return kNames[nonlinearity.index()];
}
inline tandem::nn::init::KaimingOptions kaiming(double a, const FanModeType& mode, const NonlinearityType& nonlinearity) {
  return {.a = a, .mode = mode.index() == 0 ? "fan_in" : "fan_out", .nonlinearity = name_of(nonlinearity)};
}
}  // namespace detail

/// How much an activation changes the deviation of what runs through it; `param` is the slope of kLeakyReLU.
[[nodiscard]] inline double calculate_gain(NonlinearityType nonlinearity, double param = 0.01, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::calculate_gain(detail::name_of(nonlinearity), param, site);
}

/// All elements `value`.
inline tandem::Tensor constant_(tandem::Tensor tensor, tandem::Scalar value, tandem::Site site = tandem::Site::here()) {
  const tandem::NoGradGuard no_grad;
  return tensor.fill_(value, site);
}
inline tandem::Tensor ones_(tandem::Tensor tensor, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::ones_(tensor, site);
}
inline tandem::Tensor zeros_(tandem::Tensor tensor, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::zeros_(tensor, site);
}
/// The identity matrix. Error unless there are 2 dimensions.
inline tandem::Tensor eye_(tandem::Tensor matrix, tandem::Site site = tandem::Site::here()) { return tandem::nn::init::eye_(matrix, site); }
/// The convolution that hands its channels through. Error unless there are 3 to 5 dimensions.
inline tandem::Tensor dirac_(tandem::Tensor tensor, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::dirac_(tensor, 1, site);
}
inline tandem::Tensor normal_(tandem::Tensor tensor, double mean = 0, double std = 1, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::normal_(tensor, mean, std, site);
}
/// Uniform in [low, high).
inline tandem::Tensor uniform_(tandem::Tensor tensor, double low = 0, double high = 1, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::uniform_(tensor, low, high, site);
}
/// A random matrix with orthonormal rows or columns, times gain.
inline tandem::Tensor orthogonal_(tandem::Tensor tensor, double gain = 1, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::orthogonal_(tensor, gain, site);
}
/// Normal, with a share `sparsity` of each column set to zero. Error unless there are 2 dimensions.
inline tandem::Tensor sparse_(tandem::Tensor tensor, double sparsity, double std = 0.01, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::sparse_(tensor, sparsity, std, site);
}
inline tandem::Tensor kaiming_normal_(tandem::Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                      NonlinearityType nonlinearity = kLeakyReLU, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::kaiming_normal_(tensor, detail::kaiming(a, mode, nonlinearity), site);
}
inline tandem::Tensor kaiming_uniform_(tandem::Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                       NonlinearityType nonlinearity = kLeakyReLU, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::kaiming_uniform_(tensor, detail::kaiming(a, mode, nonlinearity), site);
}
inline tandem::Tensor xavier_normal_(tandem::Tensor tensor, double gain = 1, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::xavier_normal_(tensor, gain, site);
}
inline tandem::Tensor xavier_uniform_(tandem::Tensor tensor, double gain = 1, tandem::Site site = tandem::Site::here()) {
  return tandem::nn::init::xavier_uniform_(tensor, gain, site);
}

/// How many numbers go into one element of the result, and how many results one goes into. Error for fewer than 2 dimensions.
[[nodiscard]] inline std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const tandem::Tensor& tensor,
                                                                                tandem::Site site = tandem::Site::here()) {
  if (tensor.dim(site) < 2)
    tandem::fail<tandem::ValueError>(
        "[init] Fan in and fan out can not be computed for tensor with fewer than 2 dimensions: this one has the size ",
        tensor.sizes(site));
  int64_t field = 1;
  for (int64_t i = 2; i < tensor.dim(site); ++i) field *= tensor.size(i, site);
  return {tensor.size(1, site) * field, tensor.size(0, site) * field};
}

}  // namespace torch::nn::init
