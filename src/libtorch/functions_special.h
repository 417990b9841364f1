// torch::special.
#pragma once

#include "ops/special.h"

namespace torch {
namespace special = tandem::special;
/// The logarithm of the p-dimensional gamma function.
[[nodiscard]] inline tandem::Tensor mvlgamma(const tandem::Tensor& x, int64_t p, tandem::Site site = tandem::Site::here()) {
  return special::multigammaln(x, p, site);
}
}  // namespace torch
