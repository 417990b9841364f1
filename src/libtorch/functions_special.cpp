#include "libtorch/functions_special.h"

#include <limits>

namespace torch::special {

Tensor expit(const tandem::Input& x, tandem::Site site) { return tandem::sigmoid(x, site); }

Tensor gammaln(const tandem::Input& x, tandem::Site site) { return tandem::lgamma(x, site); }

Tensor psi(const tandem::Input& x, tandem::Site site) { return tandem::digamma(x, site); }

Tensor ndtr(const Tensor& x, tandem::Site site) { return x.mul(-0.70710678118654752, site).erfc(site).mul(0.5, site); }

Tensor ndtri(const Tensor& x, tandem::Site site) { return x.mul(2, site).sub(1, site).erfinv(site).mul(1.41421356237309505, site); }

Tensor entr(const Tensor& x, tandem::Site site) {
  const Tensor inside = tandem::xlogy(x, x, site).neg(site);
  return tandem::where(x.lt(0, site), -std::numeric_limits<double>::infinity(), inside, site);
}

Tensor xlog1py(const tandem::Operand& x, const tandem::Operand& y, tandem::Site site) {
  return tandem::xlogy(x, tandem::add(y, 1, site), site);
}

Tensor multigammaln(const Tensor& x, int64_t p, tandem::Site site) {
  Tensor sum = tandem::lgamma(x, site);
  for (int64_t i = 1; i < p; ++i) sum = sum.add(tandem::lgamma(x.sub(static_cast<double>(i) / 2, site), site), site);
  return sum.add(static_cast<double>(p * (p - 1)) / 4 * 1.1447298858494002, site);
}

}  // namespace torch::special

namespace torch {

Tensor mvlgamma(const Tensor& x, int64_t p, tandem::Site site) { return special::multigammaln(x, p, site); }

}  // namespace torch
