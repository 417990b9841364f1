#include "distributions/dirichlet.h"

#include "base/error.h"
#include "distributions/numeric.h"
#include "distributions/sampling.h"
#include "ops/arithmetic.h"
#include "ops/counting.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/operators.h"
#include "ops/reduce.h"

namespace tandem::distributions {
namespace {

std::vector<Parameter> vectors(const Tensor& concentration) {
  if (concentration.dim() < 1) fail<ValueError>("[Dirichlet] `concentration` parameter must be at least one-dimensional.");
  return {{"concentration", concentration, constraints::independent(constraints::positive(), 1)}};
}

}  // namespace

Dirichlet::Dirichlet(const Tensor& concentration, const DistributionOptions& options, Site site)
    : DistributionOf("Dirichlet", vectors(concentration), detail::last_size(concentration), options.validate_args, site) {}

Tensor Dirichlet::do_mean() const { return concentration() / concentration().sum(-1, true); }
Tensor Dirichlet::do_mode() const {
  const Tensor above = (concentration() - 1).clamp(0);
  const Tensor corner = (concentration() < 1).all(-1, true);
  const Tensor inside = above / where(corner, 1.0, above.sum(-1, true));
  return where(corner, one_hot(above.argmax(-1), above.size(-1)).to(inside.dtype()), inside);
}
Tensor Dirichlet::do_variance() const {
  const Tensor total = concentration().sum(-1, true);
  return concentration() * (total - concentration()) / (total.square() * (total + 1));
}
Tensor Dirichlet::do_rsample(const Shape& shape) const { return detail::standard_dirichlet(concentration().expand(shape)); }
Tensor Dirichlet::do_log_prob(const Tensor& value) const {
  const Tensor a = concentration();
  return (a - 1).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1);
}
Tensor Dirichlet::do_entropy() const {
  const Tensor a = concentration(), total = a.sum(-1);
  return a.lgamma().sum(-1) - total.lgamma() - (a.size(-1) - total) * total.digamma() - ((a - 1) * a.digamma()).sum(-1);
}

Beta::Beta(const Operand& concentration1, const Operand& concentration0, const DistributionOptions& options, Site site)
    : DistributionOf("Beta",
                     detail::broadcast_all("Beta",
                                           {{"concentration1", concentration1, constraints::positive()},
                                            {"concentration0", concentration0, constraints::positive()}},
                                           site),
                     {}, options.validate_args, site) {}

Dirichlet Beta::shares() const { return Dirichlet(stack({concentration1(), concentration0()}, -1), {.validate_args = false}); }

Tensor Beta::do_mean() const { return concentration1() / (concentration1() + concentration0()); }
Tensor Beta::do_mode() const { return shares().mode().select(-1, 0); }
Tensor Beta::do_variance() const {
  const Tensor total = concentration1() + concentration0();
  return concentration1() * concentration0() / (total.square() * (total + 1));
}
Tensor Beta::do_rsample(const Shape& shape) const {
  const Tensor both = stack({concentration1().expand(shape), concentration0().expand(shape)}, -1);
  return detail::standard_dirichlet(both).select(-1, 0);
}
Tensor Beta::do_log_prob(const Tensor& value) const {
  const Tensor a = concentration1(), b = concentration0();
  return (a - 1).xlogy(value) + (b - 1).xlogy(1 - value) + (a + b).lgamma() - a.lgamma() - b.lgamma();
}
Tensor Beta::do_entropy() const { return shares().entropy(); }

}  // namespace tandem::distributions
