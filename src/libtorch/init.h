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
std::string_view name_of(const NonlinearityType& nonlinearity);
tandem::nn::init::KaimingOptions kaiming(double a, const FanModeType& mode, const NonlinearityType& nonlinearity);
}  // namespace detail

/// How much an activation changes the deviation of what runs through it; `param` is the slope of kLeakyReLU.
[[nodiscard]] double calculate_gain(NonlinearityType nonlinearity, double param = 0.01, tandem::Site site = tandem::Site::here());

/// All elements `value`.
tandem::Tensor constant_(tandem::Tensor tensor, tandem::Scalar value, tandem::Site site = tandem::Site::here());
tandem::Tensor ones_(tandem::Tensor tensor, tandem::Site site = tandem::Site::here());
tandem::Tensor zeros_(tandem::Tensor tensor, tandem::Site site = tandem::Site::here());
/// The identity matrix. Error unless there are 2 dimensions.
tandem::Tensor eye_(tandem::Tensor matrix, tandem::Site site = tandem::Site::here());
/// The convolution that hands its channels through. Error unless there are 3 to 5 dimensions.
tandem::Tensor dirac_(tandem::Tensor tensor, tandem::Site site = tandem::Site::here());
tandem::Tensor normal_(tandem::Tensor tensor, double mean = 0, double std = 1, tandem::Site site = tandem::Site::here());
/// Uniform in [low, high).
tandem::Tensor uniform_(tandem::Tensor tensor, double low = 0, double high = 1, tandem::Site site = tandem::Site::here());
/// A random matrix with orthonormal rows or columns, times gain.
tandem::Tensor orthogonal_(tandem::Tensor tensor, double gain = 1, tandem::Site site = tandem::Site::here());
/// Normal, with a share `sparsity` of each column set to zero. Error unless there are 2 dimensions.
tandem::Tensor sparse_(tandem::Tensor tensor, double sparsity, double std = 0.01, tandem::Site site = tandem::Site::here());
tandem::Tensor kaiming_normal_(tandem::Tensor tensor, double a = 0, FanModeType mode = kFanIn, NonlinearityType nonlinearity = kLeakyReLU,
                               tandem::Site site = tandem::Site::here());
tandem::Tensor kaiming_uniform_(tandem::Tensor tensor, double a = 0, FanModeType mode = kFanIn, NonlinearityType nonlinearity = kLeakyReLU,
                                tandem::Site site = tandem::Site::here());
tandem::Tensor xavier_normal_(tandem::Tensor tensor, double gain = 1, tandem::Site site = tandem::Site::here());
tandem::Tensor xavier_uniform_(tandem::Tensor tensor, double gain = 1, tandem::Site site = tandem::Site::here());

/// How many numbers go into one element of the result, and how many results one goes into. Error for fewer than 2 dimensions.
[[nodiscard]] std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const tandem::Tensor& tensor,
                                                                         tandem::Site site = tandem::Site::here());

}  // namespace torch::nn::init
