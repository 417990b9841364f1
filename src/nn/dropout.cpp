#include "nn/dropout.h"

#include "base/error.h"
#include "nn/repr.h"

namespace tandem::nn {

DropoutBase::DropoutBase(double p, Flag inplace) : p(p), inplace(inplace) {
  if (!(p >= 0 && p <= 1))
    fail("[Dropout] dropout probability has to be between 0 and 1, but got ", p, ": it is the share of elements to drop, such as 0.5");
}

Tensor DropoutBase::forward(const Tensor& x) {
  const Site site = detail::call_site();
  return inplace && training() ? drop_in_place(x, site) : drop(x, site);
}

std::string DropoutBase::extra_repr() const { return str("p=", detail::repr(p), ", inplace=", detail::repr(inplace)); }

}  // namespace tandem::nn
