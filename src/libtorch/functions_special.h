// torch::special.
#pragma once

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
[[nodiscard]] Tensor expit(const tandem::Input& x, tandem::Site site = tandem::Site::here());
/// The logarithm of |gamma(x)|.
[[nodiscard]] Tensor gammaln(const tandem::Input& x, tandem::Site site = tandem::Site::here());
/// As digamma.
[[nodiscard]] Tensor psi(const tandem::Input& x, tandem::Site site = tandem::Site::here());
/// The area of the normal distribution below x.
[[nodiscard]] Tensor ndtr(const Tensor& x, tandem::Site site = tandem::Site::here());
/// The number below which this area of the normal distribution lies.
[[nodiscard]] Tensor ndtri(const Tensor& x, tandem::Site site = tandem::Site::here());
/// -x log(x); 0 at 0 and -inf below.
[[nodiscard]] Tensor entr(const Tensor& x, tandem::Site site = tandem::Site::here());
/// x log(1 + y); 0 where x is 0.
[[nodiscard]] Tensor xlog1py(const tandem::Operand& x, const tandem::Operand& y, tandem::Site site = tandem::Site::here());
/// The logarithm of the p-dimensional gamma function.
[[nodiscard]] Tensor multigammaln(const Tensor& x, int64_t p, tandem::Site site = tandem::Site::here());

}  // namespace torch::special

namespace torch {
[[nodiscard]] Tensor mvlgamma(const Tensor& x, int64_t p, tandem::Site site = tandem::Site::here());
}  // namespace torch
