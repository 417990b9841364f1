// Special functions by the names of torch.special.
#pragma once

#include "ops/arithmetic.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "ops/softmax.h"
#include "tensor/tensor.h"

namespace tandem::special {

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

/// 1 / (1 + exp(-x)). As torch.special.expit.
[[nodiscard]] Tensor expit(const Input& x, Site site = Site::here());
/// The logarithm of |gamma(x)|. As torch.special.gammaln.
[[nodiscard]] Tensor gammaln(const Input& x, Site site = Site::here());
/// As digamma.
[[nodiscard]] Tensor psi(const Input& x, Site site = Site::here());
/// The area of the normal distribution below x. As torch.special.ndtr.
[[nodiscard]] Tensor ndtr(const Tensor& x, Site site = Site::here());
/// The number below which this area of the normal distribution lies. As torch.special.ndtri.
[[nodiscard]] Tensor ndtri(const Tensor& x, Site site = Site::here());
/// -x log(x); 0 at 0 and -inf below. As torch.special.entr.
[[nodiscard]] Tensor entr(const Tensor& x, Site site = Site::here());
/// x log(1 + y), exact for small y too; 0 where x is 0 and y is a number. As torch.special.xlog1py.
[[nodiscard]] Tensor xlog1py(const Operand& x, const Operand& y, Site site = Site::here());
/// The logarithm of the p-dimensional gamma function. As torch.special.multigammaln.
[[nodiscard]] Tensor multigammaln(const Tensor& x, int64_t p, Site site = Site::here());

}  // namespace tandem::special
