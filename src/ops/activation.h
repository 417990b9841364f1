// Activations with parameters; those without are rows of kernels/pointwise.def. Each takes floating dtypes, unless it says otherwise.
#pragma once

#include <string_view>

#include "ops/arithmetic.h"
#include "ops/softmax.h"
#include "tensor/tensor.h"

namespace tandem {

/// g where y > threshold, else 0: the gradient of relu and threshold.
[[nodiscard]] Tensor threshold_backward(const Operand& g, const Operand& y, double threshold, Site site = Site::here());
/// g where x lies between the two, else 0: the gradient of hardtanh and its kin.
[[nodiscard]] Tensor hardtanh_backward(const Operand& g, const Operand& x, double min, double max, Site site = Site::here());
/// g where x > 0, else g * slope * exp(rate * x): the gradient of elu and its kin.
[[nodiscard]] Tensor elu_backward(const Operand& g, const Operand& x, double slope, double rate, Site site = Site::here());

/// x where x > threshold, else value. Integers too.
[[nodiscard]] Tensor threshold(const Input& x, double threshold, double value, Site site = Site::here());
const Tensor& threshold_(const Tensor& x, double threshold, double value, Site site = Site::here());
/// max(0, x) + negative_slope * min(0, x).
[[nodiscard]] Tensor leaky_relu(const Input& x, double negative_slope = 0.01, Site site = Site::here());
const Tensor& leaky_relu_(const Tensor& x, double negative_slope = 0.01, Site site = Site::here());
/// leaky_relu with a slope of its own for each channel (dimension 1), or one for all.
[[nodiscard]] Tensor prelu(const Tensor& x, const Tensor& weight, Site site = Site::here());
/// leaky_relu with slopes drawn from [lower, upper) for each element in training, with their mean else.
[[nodiscard]] Tensor rrelu(const Tensor& x, double lower = 1.0 / 8, double upper = 1.0 / 3, Flag training = false,
                           Site site = Site::here());
const Tensor& rrelu_(const Tensor& x, double lower = 1.0 / 8, double upper = 1.0 / 3, Flag training = false, Site site = Site::here());
/// Within [min_val, max_val]. Integers too.
[[nodiscard]] Tensor hardtanh(const Input& x, double min_val = -1, double max_val = 1, Site site = Site::here());
const Tensor& hardtanh_(const Tensor& x, double min_val = -1, double max_val = 1, Site site = Site::here());
/// x where x > 0, else alpha * (exp(x) - 1).
[[nodiscard]] Tensor elu(const Input& x, double alpha = 1, Site site = Site::here());
const Tensor& elu_(const Tensor& x, double alpha = 1, Site site = Site::here());
/// x where x > 0, else alpha * (exp(x / alpha) - 1). Error for an alpha of 0.
[[nodiscard]] Tensor celu(const Input& x, double alpha = 1, Site site = Site::here());
const Tensor& celu_(const Tensor& x, double alpha = 1, Site site = Site::here());
/// log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.
[[nodiscard]] Tensor softplus(const Input& x, double beta = 1, double threshold = 20, Site site = Site::here());
/// The Gaussian error linear unit: exact ("none"), or by "tanh".
[[nodiscard]] Tensor gelu(const Input& x, std::string_view approximate = "none", Site site = Site::here());
/// x where |x| > lambd, else 0.
[[nodiscard]] Tensor hardshrink(const Input& x, double lambd = 0.5, Site site = Site::here());
/// x moved towards 0 by lambd, 0 where |x| <= lambd. Error for a negative lambd.
[[nodiscard]] Tensor softshrink(const Input& x, double lambd = 0.5, Site site = Site::here());
/// a * sigmoid(b), a and b the halves of x along `dim`. Error where its size is odd.
[[nodiscard]] Tensor glu(const Tensor& x, int64_t dim = -1, Site site = Site::here());

}  // namespace tandem
