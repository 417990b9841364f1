#include "nn/upsampling.h"

#include "base/error.h"
#include "nn/repr.h"

namespace tandem::nn {
namespace {

InterpolateOptions with_mode(InterpolateOptions options, const char* mode, std::optional<bool> align_corners) {
  options.mode = mode;
  options.align_corners = align_corners;
  return options;
}

std::string repr(const std::vector<double>& factors) {
  if (factors.size() == 1) return detail::repr(factors[0]);
  std::string text;
  for (const double factor : factors) text += (text.empty() ? "(" : ", ") + detail::repr(factor);
  return text + ")";
}

}  // namespace

Tensor Upsample::forward(const Tensor& x) { return interpolate(x, options, detail::call_site()); }
std::string Upsample::extra_repr() const {
  const std::string size =
      options.scale_factor ? "scale_factor=" + repr(*options.scale_factor) : "size=" + detail::repr(PerDim(options.size.value_or(Shape())));
  return str(size, ", mode='", options.mode, "'");
}

UpsamplingNearest2d::UpsamplingNearest2d(const InterpolateOptions& options) : Upsample(with_mode(options, "nearest", {})) {}
UpsamplingBilinear2d::UpsamplingBilinear2d(const InterpolateOptions& options) : Upsample(with_mode(options, "bilinear", true)) {}

}  // namespace tandem::nn
