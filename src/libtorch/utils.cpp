#include "libtorch/utils.h"

#include <cmath>

#include "autograd/autograd.h"
#include "nn/utils.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/linalg/norms.h"

namespace torch::nn::utils {

tandem::Tensor detail::total_norm(const std::vector<tandem::Tensor>& parameters, double norm_type, tandem::Site site) {
  std::vector<tandem::Tensor> norms;
  for (const tandem::Tensor& parameter : parameters) {
    const tandem::Tensor& grad = parameter.grad(site);
    if (!grad.defined()) continue;
    const tandem::Tensor own = norm_type == 0 ? tandem::ones({}, {.dtype = grad.dtype(site), .device = grad.device(site)}, site)
                                              : tandem::norm(grad.detach(), norm_type, site);
    norms.push_back(norms.empty() ? own : own.to(norms[0].device(site), norms[0].dtype(site), {}, site));
  }
  if (norms.empty()) return {};
  const tandem::Tensor all = tandem::stack(norms, 0, site);
  return norm_type == 0 ? all.sum(site) : tandem::norm(all, norm_type, site);
}

double clip_grad_norm_(const std::vector<tandem::Tensor>& parameters, double max_norm, double norm_type, bool error_if_nonfinite,
                       tandem::Site site) {
  if (!error_if_nonfinite && norm_type > 0)
    return tandem::nn::utils::clip_grad_norm_(parameters, max_norm, norm_type, site).item<double>(site);
  const tandem::NoGradGuard no_grad;
  const tandem::Tensor total = detail::total_norm(parameters, norm_type, site);
  if (!total.defined()) return 0;
  const double norm = total.item<double>(site);
  if (error_if_nonfinite && !std::isfinite(norm))
    tandem::fail<tandem::ValueError>("[clip_grad_norm_] The total norm of order ", norm_type,
                                     " for gradients from `parameters` is non-finite (", norm,
                                     "), so it cannot be clipped. To scale the gradients with it anyway, set error_if_nonfinite=false");
  const double scale = max_norm / (norm + 1e-6);
  if (scale < 1 || std::isnan(scale))
    for (const tandem::Tensor& parameter : parameters)
      if (const tandem::Tensor& grad = parameter.grad(site); grad.defined()) grad.detach().mul_(scale, site);
  return norm;
}

double clip_grad_norm_(std::initializer_list<tandem::Tensor> parameters, double max_norm, double norm_type, bool error_if_nonfinite,
                       tandem::Site site) {
  return clip_grad_norm_(std::vector<tandem::Tensor>(parameters), max_norm, norm_type, error_if_nonfinite, site);
}

double clip_grad_norm_(const tandem::Tensor& parameter, double max_norm, double norm_type, bool error_if_nonfinite, tandem::Site site) {
  return clip_grad_norm_(std::vector<tandem::Tensor>{parameter}, max_norm, norm_type, error_if_nonfinite, site);
}

void clip_grad_value_(const std::vector<tandem::Tensor>& parameters, double clip_value, tandem::Site site) {
  const tandem::NoGradGuard no_grad;
  for (const tandem::Tensor& parameter : parameters)
    if (const tandem::Tensor& grad = parameter.grad(site); grad.defined()) grad.detach().clamp_(-clip_value, clip_value, site);
}

void clip_grad_value_(std::initializer_list<tandem::Tensor> parameters, double clip_value, tandem::Site site) {
  clip_grad_value_(std::vector<tandem::Tensor>(parameters), clip_value, site);
}

void clip_grad_value_(const tandem::Tensor& parameter, double clip_value, tandem::Site site) {
  clip_grad_value_(std::vector<tandem::Tensor>{parameter}, clip_value, site);
}

void detail::check_one_device(const char* op, const std::vector<tandem::Tensor>& parameters, tandem::Site site) {
  for (const tandem::Tensor& parameter : parameters)
    if (parameter.device(site) != parameters[0].device(site))
      tandem::fail<tandem::ValueError>("[", op, "] Found two parameters on different devices, ", parameters[0].device(site), " and ",
                                       parameter.device(site), ", this is currently not supported: move them to one");
}

tandem::Tensor parameters_to_vector(const std::vector<tandem::Tensor>& parameters, tandem::Site site) {
  detail::check_one_device("parameters_to_vector", parameters, site);
  std::vector<tandem::Tensor> parts;
  parts.reserve(parameters.size());
  for (const tandem::Tensor& parameter : parameters) parts.push_back(parameter.reshape({-1}, site));
  return tandem::cat(parts, 0, site);
}

void vector_to_parameters(const tandem::Tensor& vec, const std::vector<tandem::Tensor>& parameters, tandem::Site site) {
  detail::check_one_device("vector_to_parameters", parameters, site);
  int64_t begin = 0;
  for (const tandem::Tensor& parameter : parameters) {
    const int64_t size = parameter.numel(site);
    if (begin + size > vec.numel(site))
      tandem::fail<tandem::ValueError>("[vector_to_parameters] a vector of ", vec.numel(site),
                                       " numbers has not enough for the parameters, which need at least ", begin + size);
    parameter.set_data(vec.detach().slice(0, begin, begin + size, 1, site).view_as(parameter, site), site);
    begin += size;
  }
}

}  // namespace torch::nn::utils
