#include "nn/padding.h"

#include "base/error.h"
#include "nn/repr.h"
#include "nn/settings.h"
#include "ops/padding.h"
#include "ops/spatial.h"

namespace tandem::nn {

using detail::repr;

PadNd::PadNd(int spatial, const char* mode, const PerDim& padding)
    : padding(ops::per_dim("pad", "padding", padding, 2 * static_cast<int64_t>(spatial))), mode_(mode), spatial_(spatial) {}

Tensor PadNd::forward(const Tensor& x) {
  // The constant ones take any number of dimensions.
  if (*mode_ != 'c' || mode_[1] == 'i') {
    if (x.dim() != spatial_ + 1 && x.dim() != spatial_ + 2)
      fail("[", name(), "] expected ", spatial_ + 1, "D or ", spatial_ + 2, "D input (got ", x.dim(), "D input)");
  }
  return pad(x, padding, mode_, {}, detail::call_site());
}
std::string PadNd::extra_repr() const { return repr(padding); }

template <int Spatial>
Tensor ConstantPadOf<Spatial>::forward(const Tensor& x) {
  return pad(x, padding, "constant", value, detail::call_site());
}
template <int Spatial>
std::string ConstantPadOf<Spatial>::extra_repr() const {
  return str("padding=", repr(padding), ", value=", repr(value));
}

template <int Spatial>
void ConstantPadOf<Spatial>::settings(Settings& s) {
  s(padding, value);
}

template struct ConstantPadOf<1>;
template struct ConstantPadOf<2>;
template struct ConstantPadOf<3>;

}  // namespace tandem::nn
