#include "nn/loss.h"

namespace tandem::nn {

void TripletMarginWithDistanceLoss::fields(Fields& f) {
  if (const AnyModule& distance = options.distance_function.module()) f("distance_function", distance.base());
}

Tensor TripletMarginWithDistanceLoss::forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative, Site site) {
  return triplet_margin_with_distance_loss(
      anchor, positive, negative,
      {.distance_function = [&](const Tensor& a, const Tensor& b) { return options.distance_function(a, b, site); },
       .margin = options.margin,
       .swap = options.swap,
       .reduction = options.reduction},
      site);
}

Tensor TripletMarginWithDistanceLoss::operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative, Site site) {
  return hooked_forward(*this, site, anchor, positive, negative);
}

}  // namespace tandem::nn
