#include "distributions/normal.h"

#include <cmath>
#include <limits>

#include "distributions/numeric.h"
#include "distributions/sampling.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"

namespace tandem::distributions {
namespace {

constexpr double kSqrt2 = std::numbers::sqrt2;
constexpr double kMeanMagnitude = 0.79788456080286535588;  // sqrt(2 / pi)

// Of the number z = (x - loc) / scale.
Tensor log_density(const Tensor& z, const Tensor& scale) { return -0.5 * z * z - scale.log() - detail::kLogSqrt2Pi; }
Tensor share_below(const Tensor& z) { return 0.5 * (1 + (z / kSqrt2).erf()); }
Tensor quantile(const Tensor& share) { return kSqrt2 * (2 * share - 1).erfinv(); }
Tensor entropy_of(const Tensor& scale) { return scale.log() + (0.5 + detail::kLogSqrt2Pi); }

}  // namespace

Normal::Normal(const Operand& loc, const Operand& scale, const DistributionOptions& options, Site site)
    : DistributionOf("Normal",
                     detail::broadcast_all("Normal", {{"loc", loc, constraints::real()}, {"scale", scale, constraints::positive()}}, site),
                     {}, options.validate_args, site) {}

Tensor Normal::do_variance() const { return scale().square(); }
Tensor Normal::do_rsample(const Shape& shape) const { return loc() + detail::standard_normal(shape, loc()) * scale(); }
Tensor Normal::do_log_prob(const Tensor& value) const { return log_density((value - loc()) / scale(), scale()); }
Tensor Normal::do_cdf(const Tensor& value) const { return share_below((value - loc()) / scale()); }
Tensor Normal::do_icdf(const Tensor& value) const { return loc() + scale() * quantile(value); }
Tensor Normal::do_entropy() const { return entropy_of(scale()); }

LogNormal::LogNormal(const Operand& loc, const Operand& scale, const DistributionOptions& options, Site site)
    : DistributionOf(
          "LogNormal",
          detail::broadcast_all("LogNormal", {{"loc", loc, constraints::real()}, {"scale", scale, constraints::positive()}}, site), {},
          options.validate_args, site) {}

Tensor LogNormal::do_mean() const { return (loc() + scale().square() / 2).exp(); }
Tensor LogNormal::do_mode() const { return (loc() - scale().square()).exp(); }
Tensor LogNormal::do_variance() const { return scale().square().expm1() * (2 * loc() + scale().square()).exp(); }
Tensor LogNormal::do_rsample(const Shape& shape) const { return (loc() + detail::standard_normal(shape, loc()) * scale()).exp(); }
Tensor LogNormal::do_log_prob(const Tensor& value) const {
  const Tensor log = value.log();
  return log_density((log - loc()) / scale(), scale()) - log;
}
Tensor LogNormal::do_cdf(const Tensor& value) const { return share_below((value.log() - loc()) / scale()); }
Tensor LogNormal::do_icdf(const Tensor& value) const { return (loc() + scale() * quantile(value)).exp(); }
Tensor LogNormal::do_entropy() const { return entropy_of(scale()) + loc(); }

HalfNormal::HalfNormal(const Operand& scale, const DistributionOptions& options, Site site)
    : DistributionOf("HalfNormal", detail::broadcast_all("HalfNormal", {{"scale", scale, constraints::positive()}}, site), {},
                     options.validate_args, site) {}

Tensor HalfNormal::do_mean() const { return scale() * kMeanMagnitude; }
Tensor HalfNormal::do_mode() const { return zeros_like(scale()); }
Tensor HalfNormal::do_variance() const { return scale().square() * (1 - kMeanMagnitude * kMeanMagnitude); }
Tensor HalfNormal::do_rsample(const Shape& shape) const { return (detail::standard_normal(shape, scale()) * scale()).abs(); }
Tensor HalfNormal::do_log_prob(const Tensor& value) const {
  const Tensor density = log_density(value / scale(), scale()) + std::numbers::ln2;
  return where(value >= 0, density, -std::numeric_limits<double>::infinity());
}
Tensor HalfNormal::do_cdf(const Tensor& value) const { return (value / (scale() * kSqrt2)).erf(); }
Tensor HalfNormal::do_icdf(const Tensor& value) const { return scale() * kSqrt2 * value.erfinv(); }
Tensor HalfNormal::do_entropy() const { return entropy_of(scale()) - std::numbers::ln2; }

}  // namespace tandem::distributions
