#include "nn/layers.h"

#include "base/error.h"
#include "nn/repr.h"
#include "ops/interpolate.h"
#include "ops/view.h"

namespace tandem::nn {
namespace {

using detail::call_site;
using detail::repr;

std::string repr(const FoldOptions& options) {
  return str(", dilation=", repr(options.dilation), ", padding=", repr(options.padding), ", stride=", repr(options.stride));
}

}  // namespace

Tensor Identity::forward(const Tensor& x) { return x; }

Tensor Flatten::forward(const Tensor& x) { return flatten(x, start_dim, end_dim, call_site()); }
std::string Flatten::extra_repr() const { return str("start_dim=", start_dim, ", end_dim=", end_dim); }

Tensor Unflatten::forward(const Tensor& x) { return x.unflatten(dim, unflattened_size, call_site()); }
std::string Unflatten::extra_repr() const { return str("dim=", dim, ", unflattened_size=", repr(unflattened_size)); }

Tensor PixelShuffle::forward(const Tensor& x) { return pixel_shuffle(x, upscale_factor, call_site()); }
std::string PixelShuffle::extra_repr() const { return str("upscale_factor=", upscale_factor); }

Tensor PixelUnshuffle::forward(const Tensor& x) { return pixel_unshuffle(x, downscale_factor, call_site()); }
std::string PixelUnshuffle::extra_repr() const { return str("downscale_factor=", downscale_factor); }

Tensor ChannelShuffle::forward(const Tensor& x) { return channel_shuffle(x, groups, call_site()); }
std::string ChannelShuffle::extra_repr() const { return str("groups=", groups); }

Tensor Unfold::forward(const Tensor& x) { return unfold(x, kernel_size, options, call_site()); }
std::string Unfold::extra_repr() const { return str("kernel_size=", repr(kernel_size), repr(options)); }

Tensor Fold::forward(const Tensor& x) { return fold(x, output_size, kernel_size, options, call_site()); }
std::string Fold::extra_repr() const { return str("output_size=", repr(output_size), ", kernel_size=", repr(kernel_size), repr(options)); }

}  // namespace tandem::nn
