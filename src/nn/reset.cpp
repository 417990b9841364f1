#include "nn/reset.h"

#include <cmath>

#include "autograd/autograd.h"

namespace tandem::nn::detail {

void reset_uniform(const Tensor& weight, const Tensor& bias, Site site) {
  const NoGradGuard no_grad;
  int64_t fan_in = 1;
  for (int64_t d = 1; d < weight.dim(); ++d) fan_in *= weight.size(d);
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  weight.uniform_(-bound, bound, site);
  if (bias.defined()) bias.uniform_(-bound, bound, site);
}

}  // namespace tandem::nn::detail
