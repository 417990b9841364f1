#include "nn/dropout.h"

#include "base/error.h"
#include "nn/repr.h"
#include "ops/dropout.h"
#include "ops/random.h"

namespace tandem::nn {

DropoutBase::DropoutBase(double p, bool inplace) : p(p), inplace(inplace) {
  if (!(p >= 0 && p <= 1)) fail("[Dropout] dropout probability has to be between 0 and 1, but got ", p);
}

Tensor DropoutBase::forward(const Tensor& x) {
  const Site site = detail::call_site();
  const Tensor y = drop(x, site);
  return inplace && training() ? x.copy_(y, false, site) : y;
}

std::string DropoutBase::extra_repr() const { return str("p=", detail::repr(p), ", inplace=", detail::repr(inplace)); }

Tensor Dropout::drop(const Tensor& x, Site site) { return dropout(x, p, training(), site); }
Tensor Dropout1d::drop(const Tensor& x, Site site) { return dropout1d(x, p, training(), site); }
Tensor Dropout2d::drop(const Tensor& x, Site site) { return dropout2d(x, p, training(), site); }
Tensor Dropout3d::drop(const Tensor& x, Site site) { return dropout3d(x, p, training(), site); }
Tensor AlphaDropout::drop(const Tensor& x, Site site) { return alpha_dropout(x, p, training(), site); }
Tensor FeatureAlphaDropout::drop(const Tensor& x, Site site) { return feature_alpha_dropout(x, p, training(), site); }

}  // namespace tandem::nn
