// Losses of pairs and triples of vectors.
#include "base/error.h"
#include "base/work_site.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/distance.h"
#include "ops/linalg/norms.h"
#include "ops/loss/loss.h"
#include "ops/loss/loss_reduction.h"
#include "ops/operators.h"
#include "ops/reduce.h"

namespace tandem {
namespace {

using ops::reduced;

/// max(0, margin + distance(anchor, positive) - distance(anchor, negative)); `options` are those of either triplet loss.
template <class Options, class Distance>
Tensor triplet_losses(const char* op, const Tensor& anchor, const Tensor& positive, const Tensor& negative, const Options& options,
                      Site site, Distance distance) {
  if (anchor.dim() != positive.dim() || anchor.dim() != negative.dim())
    fail("[", op, "] The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor ",
         anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(), "D inputs");
  if (!(options.margin > 0)) fail("[", op, "] expected margin to be greater than 0, but got ", options.margin);
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap) far = minimum(far, distance(positive, negative), site);
  const detail::ComposedAt line(site);
  return reduced(op, clamp_min(near - far + options.margin, 0, site), options.reduction, site);
}

}  // namespace

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, MarginLossOptions options, Site site) {
  if (const ops::Cast cast("cosine_embedding_loss", site, input1, input2, target); cast)
    return cosine_embedding_loss(cast(input1), cast(input2), cast(target), options, site);
  const detail::ComposedAt line(site);
  constexpr double kEpsilon = 1e-12;
  if (target.dim() > 1 || input1.dim() != target.dim() + 1 || input2.dim() != target.dim() + 1)
    fail(
        "[cosine_embedding_loss] 0D target tensor expects 1D input tensors, 1D target tensors 2D input tensors, but found inputs with "
        "sizes ",
        input1.sizes(), ", ", input2.sizes(), " and a target of ", target.sizes());
  if (is_half(input1.dtype()) || is_half(input2.dtype())) {  // in which two sums of squares would overflow as a product
    const Tensor losses = cosine_embedding_loss(input1.to(kFloat32, {}, site), input2.to(kFloat32, {}, site), target, options, site);
    return losses.to(promote_types(input1.dtype(), input2.dtype()), {}, site);
  }
  const Tensor product = mul(input1, input2, site).sum(-1, false, {}, site);
  const Tensor squares =
      (square(input1, site).sum(-1, false, {}, site) + kEpsilon) * (square(input2, site).sum(-1, false, {}, site) + kEpsilon);
  const Tensor cosine = div(product, sqrt(squares, site), site);
  const Tensor losses = where(target == 1, 1 - cosine, 0, site) + where(target == -1, clamp_min(cosine - options.margin, 0, site), 0, site);
  return reduced("cosine_embedding_loss", losses, options.reduction, site);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, TripletMarginLossOptions options,
                           Site site) {
  if (const ops::Cast cast("triplet_margin_loss", site, anchor, positive, negative); cast)
    return triplet_margin_loss(cast(anchor), cast(positive), cast(negative), options, site);
  return triplet_losses("triplet_margin_loss", anchor, positive, negative, options, site, [&](const Tensor& a, const Tensor& b) {
    return norm(add(sub(a, b, site), options.eps, site), options.p, {-1}, false, {}, site);
  });
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const TripletMarginWithDistanceLossOptions& options, Site site) {
  return triplet_losses(
      "triplet_margin_with_distance_loss", anchor, positive, negative, options, site, [&](const Tensor& a, const Tensor& b) {
        return options.distance_function ? options.distance_function(a, b) : pairwise_distance(a, b, 2, 1e-6, false, site);
      });
}

}  // namespace tandem
