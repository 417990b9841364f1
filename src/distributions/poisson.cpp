#include "distributions/poisson.h"

#include "distributions/sampling.h"
#include "ops/operators.h"

namespace tandem::distributions {

Poisson::Poisson(const Operand& rate, const DistributionOptions& options, Site site)
    : DistributionOf("Poisson", detail::broadcast_all("Poisson", {{"rate", rate, constraints::nonnegative()}}, site), {},
                     options.validate_args, site) {}

Tensor Poisson::do_mode() const { return rate().floor(); }
Tensor Poisson::do_sample(const Shape& shape) const { return detail::poisson(rate().expand(shape)); }
Tensor Poisson::do_log_prob(const Tensor& value) const { return value.xlogy(rate()) - rate() - (value + 1).lgamma(); }

}  // namespace tandem::distributions
