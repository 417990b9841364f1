// torch::special.
#pragma once

#include <limits>

#include "libtorch/types.h"
#include "ops/arithmetic.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "ops/softmax.h"

namespace torch::special {

using tandem::digamma;
using tandem::erf;
using tandem::erfc;
using tandem::erfinv;
using tandem::exp2;
using tandem::expm1;
using tandem::log1p;
using tandem::log_softmax;
using tandem::logit;
using tandem::logsumexp;
using tandem::polygamma;
using tandem::round;
using tandem::sinc;
using tandem::softmax;
using tandem::xlogy;

/// 1 / (1 + exp(-x)).
[[nodiscard]] inline Tensor expit(const tandem::Input& x, tandem::Site site = tandem::Site::here()) { return tandem::sigmoid(x, site); }
/// The logarithm of |gamma(x)|.
[[nodiscard]] inline Tensor gammaln(const tandem::Input& x, tandem::Site site = tandem::Site::here()) { return tandem::lgamma(x, site); }
/// As digamma.
[[nodiscard]] inline Tensor psi(const tandem::Input& x, tandem::Site site = tandem::Site::here()) { return tandem::digamma(x, site); }
/// The area of the normal distribution below x.
[[nodiscard]] inline Tensor ndtr(const Tensor& x, tandem::Site site = tandem::Site::here()) {
  return x.mul(-0.70710678118654752, site).erfc(site).mul(0.5, site);
}
/// The number below which this area of the normal distribution lies.
[[nodiscard]] inline Tensor ndtri(const Tensor& x, tandem::Site site = tandem::Site::here()) {
  return x.mul(2, site).sub(1, site).erfinv(site).mul(1.41421356237309505, site);
}
/// -x log(x); 0 at 0 and -inf below.
[[nodiscard]] inline Tensor entr(const Tensor& x, tandem::Site site = tandem::Site::here()) {
  const Tensor inside = tandem::xlogy(x, x, site).neg(site);
  return tandem::where(x.lt(0, site), -std::numeric_limits<double>::infinity(), inside, site);
}
/// x log(1 + y); 0 where x is 0.
[[nodiscard]] inline Tensor xlog1py(const tandem::Operand& x, const tandem::Operand& y, tandem::Site site = tandem::Site::here()) {
  return tandem::xlogy(x, tandem::add(y, 1, site), site);
}
/// The logarithm of the p-dimensional gamma function.
[[nodiscard]] inline Tensor multigammaln(const Tensor& x, int64_t p, tandem::Site site = tandem::Site::here()) {
  Tensor sum = tandem::lgamma(x, site);
  for (int64_t i = 1; i < p; ++i) sum = sum.add(tandem::lgamma(x.sub(static_cast<double>(i) / 2, site), site), site);
  return sum.add(static_cast<double>(p * (p - 1)) / 4 * 1.1447298858494002, site);
}

}  // namespace torch::special

namespace torch {
[[nodiscard]] inline Tensor mvlgamma(const Tensor& x, int64_t p, tandem::Site site = tandem::Site::here()) {
  return special::multigammaln(x, p, site);
}
}  // namespace torch
