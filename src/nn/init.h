// First values of parameters. Each fills its tensor in place, without a trace for gradients, and returns it. As torch.nn.init.
#pragma once

#include <optional>
#include <string_view>

#include "tensor/tensor.h"

namespace tandem::nn::init {

/// How much an activation changes the deviation of what runs through it: 1 for "linear", "conv1d" … and "sigmoid", 5/3 for "tanh", sqrt(2)
/// for "relu", sqrt(2 / (1 + param²)) for "leaky_relu" (param 0.01 where not given), 3/4 for "selu". Error for another name.
[[nodiscard]] double calculate_gain(std::string_view nonlinearity, std::optional<double> param = {}, Site = Site::here());

/// Uniform in [a, b).
const Tensor& uniform_(const Tensor& tensor, double a = 0, double b = 1, Site site = Site::here());
/// Normal.
const Tensor& normal_(const Tensor& tensor, double mean = 0, double std = 1, Site site = Site::here());
/// Normal, numbers outside [a, b] drawn again.
const Tensor& trunc_normal_(const Tensor& tensor, double mean = 0, double std = 1, double a = -2, double b = 2, Site site = Site::here());
/// All elements `val`.
const Tensor& constant_(const Tensor& tensor, double val, Site site = Site::here());
/// All elements 1.
const Tensor& ones_(const Tensor& tensor, Site site = Site::here());
/// All elements 0.
const Tensor& zeros_(const Tensor& tensor, Site site = Site::here());
/// The identity matrix. Error unless there are 2 dimensions.
const Tensor& eye_(const Tensor& tensor, Site site = Site::here());
/// The convolution that hands its channels through, in each of `groups` groups of results. Error unless there are 3 to 5 dimensions, the
/// first divisible by groups.
const Tensor& dirac_(const Tensor& tensor, int64_t groups = 1, Site site = Site::here());

/// Uniform within ± gain * sqrt(6 / (fan_in + fan_out)) (Glorot & Bengio). Error for fewer than 2 dimensions, as for all that follow.
const Tensor& xavier_uniform_(const Tensor& tensor, double gain = 1, Site site = Site::here());
/// Normal with deviation gain * sqrt(2 / (fan_in + fan_out)).
const Tensor& xavier_normal_(const Tensor& tensor, double gain = 1, Site site = Site::here());

/// Options of kaiming_uniform_() and kaiming_normal_(), in this order.
struct KaimingOptions {
  double a = 0;                                  // the negative slope, for leaky_relu
  std::string_view mode = "fan_in";              // or fan_out: which pass keeps its variance
  std::string_view nonlinearity = "leaky_relu";  // as for calculate_gain
};
/// Uniform within ± gain * sqrt(3 / fan) (He et al.).
const Tensor& kaiming_uniform_(const Tensor& tensor, const KaimingOptions& options = {}, Site site = Site::here());
/// Normal with deviation gain / sqrt(fan).
const Tensor& kaiming_normal_(const Tensor& tensor, const KaimingOptions& options = {}, Site site = Site::here());

/// A random matrix with orthonormal rows or columns, times gain; dimensions behind the first count as one (Saxe et al.).
const Tensor& orthogonal_(const Tensor& tensor, double gain = 1, Site site = Site::here());
/// Normal, with a share `sparsity` of each column set to zero (Martens). Error unless there are 2 dimensions.
const Tensor& sparse_(const Tensor& tensor, double sparsity, double std = 0.01, Site site = Site::here());

}  // namespace tandem::nn::init
