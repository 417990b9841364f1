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

/// Whole channels of (N, C, …), or, where not batched, of (C, …).
Tensor channels(const char* op, const Tensor& x, bool batched, double p, bool training, Site site) {
  check(op, x, p);
  if (!training || p == 0 || x.numel() == 0) return x;
  if (p == 1) return mul(x, 0.0, site);
  const Tensor in = batched ? x : x.unsqueeze(0, site);
  const Tensor y = mul(in, div(kept(op, in, p, true, site), 1 - p, site), site);
  return batched ? y : y.squeeze(0, site);
}

}  // namespace

Tensor alpha_dropout(const Tensor& x, double p, Flag training, Site site) { return alpha("alpha_dropout", x, p, training, false, site); }
Tensor feature_alpha_dropout(const Tensor& x, double p, Flag training, Site site) {
  return alpha("feature_alpha_dropout", x, p, training, true, site);
}

Tensor feature_dropout(const Tensor& x, double p, Flag training, Site site) {
  return channels("feature_dropout", x, true, p, training, site);
}
Tensor dropout1d(const Tensor& x, double p, Flag training, Site site) {
  if (x.dim() != 2 && x.dim() != 3) fail("[dropout1d] Expected 2D or 3D input, but received a ", x.dim(), "D input");
  return channels("dropout1d", x, x.dim() == 3, p, training, site);
}
Tensor dropout2d(const Tensor& x, double p, Flag training, Site site) { return channels("dropout2d", x, true, p, training, site); }
Tensor dropout3d(const Tensor& x, double p, Flag training, Site site) { return channels("dropout3d", x, x.dim() == 5, p, training, site); }

}  // namespace tandem
