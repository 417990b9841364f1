#include "distributions/independent.h"

#include "base/error.h"
#include "distributions/numeric.h"

namespace tandem::distributions {
namespace {

/// How many dimensions of the base's batch stay the batch's.
size_t split(const Distribution& base, int64_t count) {
  const auto dims = static_cast<int64_t>(base.batch_shape().size());
  if (count < 0 || count > dims)
    fail<ValueError>("[Independent] Expected reinterpreted_batch_ndims from 0 to len(base_distribution.batch_shape), actual ", count,
                     " vs ", dims);
  return static_cast<size_t>(dims - count);
}

}  // namespace

Independent::Independent(const Distribution& base_distribution, int64_t reinterpreted_batch_ndims, Site site)
    : DistributionOf("Independent", {}, base_distribution.batch_shape().slice(0, split(base_distribution, reinterpreted_batch_ndims)),
                     detail::joined(base_distribution.batch_shape().slice(split(base_distribution, reinterpreted_batch_ndims),
                                                                          static_cast<size_t>(reinterpreted_batch_ndims)),
                                    base_distribution.event_shape()),
                     false, site),
      base_(base_distribution.clone()),
      count_(reinterpreted_batch_ndims) {}

std::string Independent::repr() const { return str("Independent(", base_->repr(), ", ", count_, ")"); }

Shape Independent::sample_part(const Shape& shape) const {
  return shape.slice(0, shape.size() - batch_shape().size() - event_shape().size());
}
Tensor Independent::do_sample(const Shape& shape) const { return base_->sample(sample_part(shape)); }
Tensor Independent::do_rsample(const Shape& shape) const { return base_->rsample(sample_part(shape)); }
Tensor Independent::do_log_prob(const Tensor& value) const { return detail::sum_rightmost(base_->log_prob(value), count_); }
Tensor Independent::do_entropy() const { return detail::sum_rightmost(base_->entropy(), count_); }
Tensor Independent::do_enumerate_support() const {
  if (count_ > 0) fail<NotImplementedError>("[Independent] Enumeration over cartesian product is not implemented");
  return base_->enumerate_support(false);
}
void Independent::do_expand(const Shape& batch_shape) {
  base_ = base_->expand(detail::joined(batch_shape, event_shape().slice(0, static_cast<size_t>(count_))));
}

}  // namespace tandem::distributions
