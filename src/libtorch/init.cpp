#include "libtorch/init.h"

namespace torch::nn::init {

std::string_view detail::name_of(const NonlinearityType& nonlinearity) {
  constexpr std::string_view kNames[] = {"linear",           "conv1d",  "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
                                         "conv_transpose3d", "sigmoid", "tanh",   "relu",   "leaky_relu"};
  return kNames[nonlinearity.index()];
}

tandem::nn::init::KaimingOptions detail::kaiming(double a, const FanModeType& mode, const NonlinearityType& nonlinearity) {
  return {.a = a, .mode = mode.index() == 0 ? "fan_in" : "fan_out", .nonlinearity = name_of(nonlinearity)};
}

double calculate_gain(NonlinearityType nonlinearity, double param, tandem::Site site) {
  return tandem::nn::init::calculate_gain(detail::name_of(nonlinearity), param, site);
}

tandem::Tensor constant_(tandem::Tensor tensor, tandem::Scalar value, tandem::Site site) {
  const tandem::NoGradGuard no_grad;
  return tensor.fill_(value, site);
}

tandem::Tensor ones_(tandem::Tensor tensor, tandem::Site site) { return tandem::nn::init::ones_(tensor, site); }

tandem::Tensor zeros_(tandem::Tensor tensor, tandem::Site site) { return tandem::nn::init::zeros_(tensor, site); }

tandem::Tensor eye_(tandem::Tensor matrix, tandem::Site site) { return tandem::nn::init::eye_(matrix, site); }

tandem::Tensor dirac_(tandem::Tensor tensor, tandem::Site site) { return tandem::nn::init::dirac_(tensor, 1, site); }

tandem::Tensor normal_(tandem::Tensor tensor, double mean, double std, tandem::Site site) {
  return tandem::nn::init::normal_(tensor, mean, std, site);
}

tandem::Tensor uniform_(tandem::Tensor tensor, double low, double high, tandem::Site site) {
  return tandem::nn::init::uniform_(tensor, low, high, site);
}

tandem::Tensor orthogonal_(tandem::Tensor tensor, double gain, tandem::Site site) {
  return tandem::nn::init::orthogonal_(tensor, gain, site);
}

tandem::Tensor sparse_(tandem::Tensor tensor, double sparsity, double std, tandem::Site site) {
  return tandem::nn::init::sparse_(tensor, sparsity, std, site);
}

tandem::Tensor kaiming_normal_(tandem::Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity, tandem::Site site) {
  return tandem::nn::init::kaiming_normal_(tensor, detail::kaiming(a, mode, nonlinearity), site);
}

tandem::Tensor kaiming_uniform_(tandem::Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity, tandem::Site site) {
  return tandem::nn::init::kaiming_uniform_(tensor, detail::kaiming(a, mode, nonlinearity), site);
}

tandem::Tensor xavier_normal_(tandem::Tensor tensor, double gain, tandem::Site site) {
  return tandem::nn::init::xavier_normal_(tensor, gain, site);
}

tandem::Tensor xavier_uniform_(tandem::Tensor tensor, double gain, tandem::Site site) {
  return tandem::nn::init::xavier_uniform_(tensor, gain, site);
}

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const tandem::Tensor& tensor, tandem::Site site) {
  if (tensor.dim(site) < 2)
    tandem::fail<tandem::ValueError>(
        "[init] Fan in and fan out can not be computed for tensor with fewer than 2 dimensions: this one has the size ",
        tensor.sizes(site));
  int64_t field = 1;
  for (int64_t i = 2; i < tensor.dim(site); ++i) field *= tensor.size(i, site);
  return {tensor.size(1, site) * field, tensor.size(0, site) * field};
}

}  // namespace torch::nn::init
