#include "nn/pooling.h"

#include "base/error.h"
#include "nn/repr.h"
#include "nn/settings.h"
#include "ops/spatial.h"

namespace tandem::nn {
namespace {

using detail::call_site;
using detail::repr;

// The function for the number of dimensions.
template <int Spatial, class F>
constexpr F choose(F one, F two, F three) {
  return Spatial == 1 ? one : Spatial == 2 ? two : three;
}

// A stride that was not given is the kernel's size.
PerDim stride_or(const PerDim& stride, const PerDim& kernel_size) { return stride.empty() ? kernel_size : stride; }

std::string repr(const OutputSize& size) {
  std::string text;
  for (const int64_t v : size.values()) text += (text.empty() ? "" : ", ") + (v == OutputSize::kSame ? "None" : str(v));
  return size.values().size() == 1 ? text : "(" + text + ")";
}

}  // namespace

template <int Spatial>
MaxPoolOf<Spatial>::MaxPoolOf(const PerDim& kernel_size, MaxPoolOptions options) : kernel_size(kernel_size), options(std::move(options)) {
  this->options.stride = stride_or(this->options.stride, kernel_size);
}
template <int Spatial>
Tensor MaxPoolOf<Spatial>::forward(const Tensor& x) {
  return choose<Spatial>(max_pool1d, max_pool2d, max_pool3d)(x, kernel_size, options, call_site());
}
template <int Spatial>
ValuesIndices MaxPoolOf<Spatial>::forward_with_indices(const Tensor& x, Site site) {
  return choose<Spatial>(max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices)(x, kernel_size, options, site);
}
template <int Spatial>
std::string MaxPoolOf<Spatial>::extra_repr() const {
  return str("kernel_size=", repr(kernel_size), ", stride=", repr(options.stride), ", padding=", repr(options.padding),
             ", dilation=", repr(options.dilation), ", ceil_mode=", repr(options.ceil_mode));
}

template <int Spatial>
AvgPoolOf<Spatial>::AvgPoolOf(const PerDim& kernel_size, AvgPoolOptions options) : kernel_size(kernel_size), options(std::move(options)) {
  this->options.stride = stride_or(this->options.stride, kernel_size);
}
template <int Spatial>
Tensor AvgPoolOf<Spatial>::forward(const Tensor& x) {
  return choose<Spatial>(avg_pool1d, avg_pool2d, avg_pool3d)(x, kernel_size, options, call_site());
}
template <int Spatial>
std::string AvgPoolOf<Spatial>::extra_repr() const {
  // In one dimension PyTorch keeps tuples.
  const auto text = [](const PerDim& values) { return Spatial == 1 ? repr(values.values()) : repr(values); };
  return str("kernel_size=", text(kernel_size), ", stride=", text(options.stride), ", padding=", text(options.padding));
}

template <int Spatial>
Tensor AdaptiveAvgPoolOf<Spatial>::forward(const Tensor& x) {
  return choose<Spatial>(adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)(x, output_size, call_site());
}
template <int Spatial>
std::string AdaptiveAvgPoolOf<Spatial>::extra_repr() const {
  return "output_size=" + repr(output_size);
}

template <int Spatial>
Tensor AdaptiveMaxPoolOf<Spatial>::forward(const Tensor& x) {
  return choose<Spatial>(adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d)(x, output_size, call_site());
}
template <int Spatial>
ValuesIndices AdaptiveMaxPoolOf<Spatial>::forward_with_indices(const Tensor& x, Site site) {
  return choose<Spatial>(adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices)(
      x, output_size, site);
}
template <int Spatial>
std::string AdaptiveMaxPoolOf<Spatial>::extra_repr() const {
  return "output_size=" + repr(output_size);
}

template <int Spatial>
LPPoolOf<Spatial>::LPPoolOf(Scalar norm_type, const PerDim& kernel_size, LpPoolOptions options)
    : norm_type(norm_type), kernel_size(kernel_size), options(std::move(options)) {}
template <int Spatial>
Tensor LPPoolOf<Spatial>::forward(const Tensor& x) {
  return choose<Spatial>(lp_pool1d, lp_pool2d, lp_pool3d)(x, norm_type.to<double>(), kernel_size, options, call_site());
}
template <int Spatial>
std::string LPPoolOf<Spatial>::extra_repr() const {
  return str("norm_type=", repr(norm_type), ", kernel_size=", repr(kernel_size), ", stride=", repr(options.stride),
             ", ceil_mode=", repr(options.ceil_mode));
}

template <int Spatial>
MaxUnpoolOf<Spatial>::MaxUnpoolOf(const PerDim& kernel_size, const MaxUnpoolLayerOptions& options)
    : kernel_size(ops::per_dim("MaxUnpool", "kernel_size", kernel_size, Spatial)),
      stride(ops::per_dim("MaxUnpool", "stride", stride_or(options.stride, kernel_size), Spatial)),
      padding(ops::per_dim("MaxUnpool", "padding", options.padding, Spatial)) {}
template <int Spatial>
Tensor MaxUnpoolOf<Spatial>::forward(const Tensor& x, const Tensor& indices, const Shape& output_size, Site site) {
  return choose<Spatial>(max_unpool1d, max_unpool2d, max_unpool3d)(
      x, indices, kernel_size, {.stride = stride, .padding = padding, .output_size = output_size}, site);
}
template <int Spatial>
Tensor MaxUnpoolOf<Spatial>::operator()(const Tensor& x, const Tensor& indices, const Shape& output_size, Site site) {
  return hooked_forward(*this, site, x, indices, output_size);
}
template <int Spatial>
std::string MaxUnpoolOf<Spatial>::extra_repr() const {
  return str("kernel_size=", repr(kernel_size), ", stride=", repr(stride), ", padding=", repr(padding));
}

template <int Spatial>
FractionalMaxPoolOf<Spatial>::FractionalMaxPoolOf(const PerDim& kernel_size, FractionalMaxPoolOptions options)
    : kernel_size(kernel_size), options(std::move(options)) {
  const auto& ratio = this->options.output_ratio;
  if (this->options.output_size.empty() == !ratio)
    fail("[FractionalMaxPool", Spatial, "d] requires exactly one of output_size and output_ratio, got ", ratio ? "both" : "neither");
  if (!ratio) return;
  for (const double r : *ratio)
    if (!(r > 0 && r < 1)) fail("[FractionalMaxPool", Spatial, "d] output_ratio must be between 0 and 1 (got ", r, ")");
}
template <int Spatial>
void FractionalMaxPoolOf<Spatial>::fields(Fields& f) {
  f.buffer("_random_samples", options.random_samples);
}
template <int Spatial>
Tensor FractionalMaxPoolOf<Spatial>::forward(const Tensor& x) {
  return choose<Spatial, decltype(&fractional_max_pool2d)>(nullptr, fractional_max_pool2d, fractional_max_pool3d)(x, kernel_size, options,
                                                                                                                  call_site());
}
template <int Spatial>
ValuesIndices FractionalMaxPoolOf<Spatial>::forward_with_indices(const Tensor& x, Site site) {
  return choose<Spatial, decltype(&fractional_max_pool2d_with_indices)>(nullptr, fractional_max_pool2d_with_indices,
                                                                        fractional_max_pool3d_with_indices)(x, kernel_size, options, site);
}

template <int Spatial>
void MaxPoolOf<Spatial>::settings(Settings& s) {
  s(kernel_size, options.stride, options.padding, options.dilation, options.ceil_mode);
}
template <int Spatial>
void AvgPoolOf<Spatial>::settings(Settings& s) {
  s(kernel_size, options.stride, options.padding, options.ceil_mode, options.count_include_pad, options.divisor_override);
}
template <int Spatial>
void AdaptiveAvgPoolOf<Spatial>::settings(Settings& s) {
  s(output_size);
}
template <int Spatial>
void AdaptiveMaxPoolOf<Spatial>::settings(Settings& s) {
  s(output_size);
}
template <int Spatial>
void LPPoolOf<Spatial>::settings(Settings& s) {
  s(norm_type, kernel_size, options.stride, options.ceil_mode);
}
template <int Spatial>
void MaxUnpoolOf<Spatial>::settings(Settings& s) {
  s(kernel_size, stride, padding);
}
template <int Spatial>
void FractionalMaxPoolOf<Spatial>::settings(Settings& s) {
  s(kernel_size, options.output_size, options.output_ratio);
}

template struct MaxPoolOf<1>;
template struct MaxPoolOf<2>;
template struct MaxPoolOf<3>;
template struct AvgPoolOf<1>;
template struct AvgPoolOf<2>;
template struct AvgPoolOf<3>;
template struct AdaptiveAvgPoolOf<1>;
template struct AdaptiveAvgPoolOf<2>;
template struct AdaptiveAvgPoolOf<3>;
template struct AdaptiveMaxPoolOf<1>;
template struct AdaptiveMaxPoolOf<2>;
template struct AdaptiveMaxPoolOf<3>;
template struct LPPoolOf<1>;
template struct LPPoolOf<2>;
template struct LPPoolOf<3>;
template struct MaxUnpoolOf<1>;
template struct MaxUnpoolOf<2>;
template struct MaxUnpoolOf<3>;
template struct FractionalMaxPoolOf<2>;
template struct FractionalMaxPoolOf<3>;

}  // namespace tandem::nn
