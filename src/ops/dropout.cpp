#include "ops/dropout.h"

#include <cmath>

#include "base/error.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/view.h"

namespace tandem {
namespace {

void check(const char* op, const Tensor& x, double p) {
  if (!(p >= 0 && p <= 1)) fail("[", op, "] dropout probability has to be between 0 and 1, but got ", p);
  if (!is_floating(x.dtype())) fail("[", op, "] is defined for floating dtypes, not ", x.dtype());
}

/// 1 where kept, 0 elsewhere, for the elements of x or for its channels.
Tensor kept(const char* op, const Tensor& x, double p, bool channels, Site site) {
  Shape sizes = x.sizes();
  if (channels) {
    if (x.dim() < 2) fail("[", op, "] Feature dropout requires at least 2 dimensions in the input");
    for (size_t d = 2; d < sizes.size(); ++d) sizes[d] = 1;
  }
  return empty(sizes, {.dtype = x.dtype(), .device = x.device()}, site).bernoulli_(1 - p, site);
}

Tensor alpha(const char* op, const Tensor& x, double p, bool training, bool channels, Site site) {
  check(op, x, p);
  if (!training || p == 0 || x.numel() == 0) return x;
  if (p == 1) return mul(x, 0.0, site);
  constexpr double kAlpha = 1.7580993408473766;  // what selu tends to for large negative numbers
  const double scale = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const Tensor mask = kept(op, x, p, channels, site);
  const Tensor shift = add(mul(sub(mask, 1, site), kAlpha * scale, site), kAlpha * scale * p, site);
  return add(mul(x, mul(mask, scale, site), site), shift, site);
}

Tensor channels_of(const char* op, const Tensor& x, int64_t unbatched, int64_t least, int64_t most, double p, bool training, Site site) {
  check(op, x, p);
  if (x.dim() < least || x.dim() > most)
    fail("[", op, "] Expected an input of ", least, " to ", most, " dimensions, but received a ", x.dim(), "D input");
  if (x.dim() != unbatched) return feature_dropout(x, p, training, site);
  return feature_dropout(x.unsqueeze(0, site), p, training, site).squeeze(0, site);
}

}  // namespace

Tensor alpha_dropout(const Tensor& x, double p, Flag training, Site site) { return alpha("alpha_dropout", x, p, training, false, site); }
Tensor feature_alpha_dropout(const Tensor& x, double p, Flag training, Site site) {
  return alpha("feature_alpha_dropout", x, p, training, true, site);
}

Tensor feature_dropout(const Tensor& x, double p, Flag training, Site site) {
  check("feature_dropout", x, p);
  if (!training || p == 0 || x.numel() == 0) return x;
  if (p == 1) return mul(x, 0.0, site);
  return mul(x, div(kept("feature_dropout", x, p, true, site), 1 - p, site), site);
}

Tensor dropout1d(const Tensor& x, double p, Flag training, Site site) { return channels_of("dropout1d", x, 2, 2, 3, p, training, site); }
Tensor dropout2d(const Tensor& x, double p, Flag training, Site site) { return channels_of("dropout2d", x, -1, 3, 4, p, training, site); }
Tensor dropout3d(const Tensor& x, double p, Flag training, Site site) { return channels_of("dropout3d", x, 4, 4, 5, p, training, site); }

}  // namespace tandem
