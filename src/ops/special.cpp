#include "ops/special.h"

#include <limits>

#include "base/error.h"
#include "ops/creation.h"

namespace tandem::special {
namespace {

constexpr double kSqrt2 = 1.41421356237309505, kLogOfPi = 1.1447298858494002;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Tensor expit(const Input& x, Site site) { return sigmoid(x, site); }

Tensor gammaln(const Input& x, Site site) { return lgamma(x, site); }

Tensor psi(const Input& x, Site site) { return digamma(x, site); }

Tensor ndtr(const Tensor& x, Site site) { return x.mul(-1 / kSqrt2, site).erfc(site).mul(0.5, site); }

Tensor ndtri(const Tensor& x, Site site) { return x.mul(2, site).sub(1, site).erfinv(site).mul(kSqrt2, site); }

Tensor entr(const Tensor& x, Site site) {
  const Tensor inside = xlogy(x, x, site).neg(site);
  return where(x.lt(0, site), -kInfinity, inside, site);
}

Tensor xlog1py(const Operand& x, const Operand& y, Site site) {
  // Where x is 0 and the logarithm is none, that of 1 is taken: 0 comes out, and gradients that are numbers.
  const Tensor usual = logical_and(gt(y, -1, site), lt(y, kInfinity, site), site);
  const Tensor replaced = logical_and(eq(x, 0, site), logical_not(logical_or(usual, ne(y, y, site), site), site), site);
  return mul(x, log1p(where(replaced, 0, y, site), site), site);
}

Tensor multigammaln(const Tensor& x, int64_t p, Site site) {
  if (p < 1) fail("[multigammaln] p must be greater than or equal to 1, got ", p);
  Tensor sum = lgamma(x, site);
  for (int64_t i = 1; i < p; ++i) sum = sum.add(lgamma(x.sub(static_cast<double>(i) / 2, site), site), site);
  return sum.add(static_cast<double>(p * (p - 1)) / 4 * kLogOfPi, site);
}

}  // namespace tandem::special
