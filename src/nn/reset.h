// First values that several layers share. For the library.
#pragma once

#include "tensor/tensor.h"

namespace tandem::nn::detail {

/// Uniform within ±1/sqrt(fan_in), fan_in being the number of `weight`'s elements behind its first dimension: what torch's kaiming_uniform_
/// with a = sqrt(5) comes to. `bias` may be undefined.
void reset_uniform(const Tensor& weight, const Tensor& bias, Site site);

}  // namespace tandem::nn::detail
