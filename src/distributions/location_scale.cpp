#include "distributions/location_scale.h"

#include <cmath>
#include <limits>

#include "distributions/numeric.h"
#include "distributions/sampling.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"

namespace tandem::distributions {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<Parameter> loc_and_scale(const char* name, const Operand& loc, const Operand& scale, Site site) {
  return detail::broadcast_all(name, {{"loc", loc, constraints::real()}, {"scale", scale, constraints::positive()}}, site);
}

}  // namespace

Laplace::Laplace(const Operand& loc, const Operand& scale, const DistributionOptions& options, Site site)
    : DistributionOf("Laplace", loc_and_scale("Laplace", loc, scale, site), {}, options.validate_args, site) {}

Tensor Laplace::do_variance() const { return 2 * scale().square(); }
Tensor Laplace::do_rsample(const Shape& shape) const {
  const Tensor u = detail::wide_uniform(shape, loc()) * 2 - 1;
  const double inside = 1 - detail::epsilon(u.dtype());
  const Tensor noise = u.sign() * (-u.abs().clamp(0, inside)).log1p();
  return loc() - scale() * noise.to(loc().dtype());
}
Tensor Laplace::do_log_prob(const Tensor& value) const { return -(2 * scale()).log() - (value - loc()).abs() / scale(); }
Tensor Laplace::do_cdf(const Tensor& value) const {
  const Tensor apart = value - loc();
  return 0.5 - 0.5 * apart.sign() * (-apart.abs() / scale()).expm1();
}
Tensor Laplace::do_icdf(const Tensor& value) const {
  const Tensor term = value - 0.5;
  return loc() - scale() * term.sign() * (-2 * term.abs()).log1p();
}
Tensor Laplace::do_entropy() const { return 1 + (2 * scale()).log(); }

Cauchy::Cauchy(const Operand& loc, const Operand& scale, const DistributionOptions& options, Site site)
    : DistributionOf("Cauchy", loc_and_scale("Cauchy", loc, scale, site), {}, options.validate_args, site) {}

Tensor Cauchy::do_mean() const { return full_like(loc(), kNan); }
Tensor Cauchy::do_variance() const { return full_like(loc(), kInfinity); }
Tensor Cauchy::do_rsample(const Shape& shape) const { return loc() + loc().new_empty(shape).cauchy_() * scale(); }
Tensor Cauchy::do_log_prob(const Tensor& value) const {
  return -std::log(detail::kPi) - scale().log() - ((value - loc()) / scale()).square().log1p();
}
Tensor Cauchy::do_cdf(const Tensor& value) const { return ((value - loc()) / scale()).atan() / detail::kPi + 0.5; }
Tensor Cauchy::do_icdf(const Tensor& value) const { return (detail::kPi * (value - 0.5)).tan() * scale() + loc(); }
Tensor Cauchy::do_entropy() const { return std::log(4 * detail::kPi) + scale().log(); }

Gumbel::Gumbel(const Operand& loc, const Operand& scale, const DistributionOptions& options, Site site)
    : DistributionOf("Gumbel", loc_and_scale("Gumbel", loc, scale, site), {}, options.validate_args, site) {}

Tensor Gumbel::do_mean() const { return loc() + scale() * detail::kEuler; }
Tensor Gumbel::do_variance() const { return scale().square() * (detail::kPi * detail::kPi / 6); }
Tensor Gumbel::do_rsample(const Shape& shape) const {
  const Tensor noise = -(-detail::wide_uniform(shape, loc()).log()).log();
  return loc() + scale() * noise.to(loc().dtype());
}
Tensor Gumbel::do_log_prob(const Tensor& value) const {
  const Tensor y = (loc() - value) / scale();
  return y - y.exp() - scale().log();
}
Tensor Gumbel::do_cdf(const Tensor& value) const { return (-((loc() - value) / scale()).exp()).exp(); }
Tensor Gumbel::do_icdf(const Tensor& value) const { return loc() - scale() * (-value.log()).log(); }
Tensor Gumbel::do_entropy() const { return scale().log() + (1 + detail::kEuler); }

StudentT::StudentT(const Operand& df, const Operand& loc, const Operand& scale, const DistributionOptions& options, Site site)
    : DistributionOf(
          "StudentT",
          detail::broadcast_all(
              "StudentT",
              {{"df", df, constraints::positive()}, {"loc", loc, constraints::real()}, {"scale", scale, constraints::positive()}}, site),
          {}, options.validate_args, site) {}

Tensor StudentT::do_mean() const { return where(df() > 1, loc(), kNan); }
Tensor StudentT::do_variance() const {
  const Tensor more = where(df() > 2, df(), 3.0);
  return where(df() > 2, scale().square() * more / (more - 2), where(df() > 1, full_like(more, kInfinity), kNan));
}
Tensor StudentT::do_rsample(const Shape& shape) const {
  const Tensor squares = detail::standard_gamma((df() / 2).expand(shape)) * 2;  // of the chi-squared distribution
  return loc() + scale() * detail::standard_normal(shape, df()) * (squares / df()).rsqrt();
}
Tensor StudentT::do_log_prob(const Tensor& value) const {
  const Tensor half = df() / 2, y = (value - loc()) / scale();
  const Tensor norm = scale().log() + 0.5 * df().log() + detail::kHalfLogPi + half.lgamma() - (half + 0.5).lgamma();
  return -(half + 0.5) * (y.square() / df()).log1p() - norm;
}
Tensor StudentT::do_entropy() const {
  const Tensor half = df() / 2;
  const Tensor log_beta = half.lgamma() + detail::kHalfLogPi - (half + 0.5).lgamma();
  return scale().log() + (half + 0.5) * ((half + 0.5).digamma() - half.digamma()) + 0.5 * df().log() + log_beta;
}

}  // namespace tandem::distributions
