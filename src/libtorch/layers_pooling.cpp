#include "libtorch/layers_pooling.h"

#include "libtorch/functional_arguments.h"
#include "libtorch/functional_pooling.h"
#include "ops/padding.h"

namespace torch::nn {
namespace {

template <size_t D>
void check_fractional(const char* name, const FractionalMaxPoolOptions<D>& options) {
  if (!options.output_size() == !options.output_ratio())
    tandem::fail("[", name, "] requires exactly one of output_size and output_ratio, got ", options.output_size() ? "both" : "neither");
  if (!options.output_ratio()) return;
  for (const double ratio : **options.output_ratio())
    if (!(ratio > 0 && ratio < 1)) tandem::fail("[", name, "] output_ratio must be between 0 and 1 (got ", ratio, ")");
}

}  // namespace

// --- Pooling

#define TANDEM_AVG_POOL(D)                                                                                                       \
  AvgPool##D##dImpl::AvgPool##D##dImpl(ExpandingArray<D> kernel_size, Site site)                                                 \
      : AvgPool##D##dImpl(AvgPool##D##dOptions(kernel_size), site) {}                                                            \
  AvgPool##D##dImpl::AvgPool##D##dImpl(const AvgPool##D##dOptions& options_, Site) : OptionsOnly(options_) {}                    \
  Tensor AvgPool##D##dImpl::forward(const Tensor& input, Site site) { return functional::avg_pool##D##d(input, options, site); } \
  void AvgPool##D##dImpl::pretty_print(std::ostream& stream) const {                                                             \
    detail::Text(stream, "AvgPool" #D "d")("kernel_size", options.kernel_size())("stride", options.stride())("padding",          \
                                                                                                             options.padding()); \
  }

TANDEM_AVG_POOL(1)
TANDEM_AVG_POOL(2)
TANDEM_AVG_POOL(3)
#undef TANDEM_AVG_POOL

#define TANDEM_MAX_POOL(D)                                                                                                       \
  MaxPool##D##dImpl::MaxPool##D##dImpl(ExpandingArray<D> kernel_size, Site site)                                                 \
      : MaxPool##D##dImpl(MaxPool##D##dOptions(kernel_size), site) {}                                                            \
  MaxPool##D##dImpl::MaxPool##D##dImpl(const MaxPool##D##dOptions& options_, Site) : OptionsOnly(options_) {}                    \
  Tensor MaxPool##D##dImpl::forward(const Tensor& input, Site site) { return functional::max_pool##D##d(input, options, site); } \
  std::tuple<Tensor, Tensor> MaxPool##D##dImpl::forward_with_indices(const Tensor& input, Site site) {                           \
    return functional::max_pool##D##d_with_indices(input, options, site);                                                        \
  }                                                                                                                              \
  void MaxPool##D##dImpl::pretty_print(std::ostream& stream) const {                                                             \
    detail::Text(stream, "MaxPool" #D "d")("kernel_size", options.kernel_size())("stride", options.stride())(                    \
        "padding", options.padding())("dilation", options.dilation())("ceil_mode", options.ceil_mode());                         \
  }

TANDEM_MAX_POOL(1)
TANDEM_MAX_POOL(2)
TANDEM_MAX_POOL(3)
#undef TANDEM_MAX_POOL

#define TANDEM_MAX_UNPOOL(D)                                                                                                              \
  MaxUnpool##D##dImpl::MaxUnpool##D##dImpl(ExpandingArray<D> kernel_size, Site site)                                                      \
      : MaxUnpool##D##dImpl(MaxUnpool##D##dOptions(kernel_size), site) {}                                                                 \
  MaxUnpool##D##dImpl::MaxUnpool##D##dImpl(const MaxUnpool##D##dOptions& options_, Site) : OptionsOnly(options_) {}                       \
  Tensor MaxUnpool##D##dImpl::forward(const Tensor& input, const Tensor& indices, const std::optional<std::vector<int64_t>>& output_size, \
                                      Site site) {                                                                                        \
    return functional::max_unpool##D##d(input, indices,                                                                                   \
                                        functional::MaxUnpool##D##dFuncOptions(options.kernel_size())                                     \
                                            .stride(options.stride())                                                                     \
                                            .padding(options.padding())                                                                   \
                                            .output_size(output_size),                                                                    \
                                        site);                                                                                            \
  }                                                                                                                                       \
  void MaxUnpool##D##dImpl::pretty_print(std::ostream& stream) const {                                                                    \
    detail::Text(stream, "MaxUnpool" #D "d")("kernel_size", options.kernel_size())("stride", options.stride())("padding",                 \
                                                                                                               options.padding());        \
  }

TANDEM_MAX_UNPOOL(1)
TANDEM_MAX_UNPOOL(2)
TANDEM_MAX_UNPOOL(3)
#undef TANDEM_MAX_UNPOOL

#define TANDEM_ADAPTIVE_POOL(Kind, function, D)                                                                                         \
  Adaptive##Kind##D##dImpl::Adaptive##Kind##D##dImpl(Size output_size, Site site)                                                       \
      : Adaptive##Kind##D##dImpl(Adaptive##Kind##D##dOptions(output_size), site) {}                                                     \
  Adaptive##Kind##D##dImpl::Adaptive##Kind##D##dImpl(const Adaptive##Kind##D##dOptions& options_, Site) : OptionsOnly(options_) {}      \
  Tensor Adaptive##Kind##D##dImpl::forward(const Tensor& input, Site site) { return functional::function##D##d(input, options, site); } \
  void Adaptive##Kind##D##dImpl::pretty_print(std::ostream& stream) const {                                                             \
    detail::Text(stream, "Adaptive" #Kind #D "d")("output_size", options.output_size());                                                \
  }

TANDEM_ADAPTIVE_POOL(AvgPool, adaptive_avg_pool, 1)
TANDEM_ADAPTIVE_POOL(AvgPool, adaptive_avg_pool, 2)
TANDEM_ADAPTIVE_POOL(AvgPool, adaptive_avg_pool, 3)
TANDEM_ADAPTIVE_POOL(MaxPool, adaptive_max_pool, 1)
TANDEM_ADAPTIVE_POOL(MaxPool, adaptive_max_pool, 2)
TANDEM_ADAPTIVE_POOL(MaxPool, adaptive_max_pool, 3)
#undef TANDEM_ADAPTIVE_POOL

#define TANDEM_ADAPTIVE_INDICES(D)                                                                             \
  std::tuple<Tensor, Tensor> AdaptiveMaxPool##D##dImpl::forward_with_indices(const Tensor& input, Site site) { \
    return functional::adaptive_max_pool##D##d_with_indices(input, options, site);                             \
  }

TANDEM_ADAPTIVE_INDICES(1)
TANDEM_ADAPTIVE_INDICES(2)
TANDEM_ADAPTIVE_INDICES(3)
#undef TANDEM_ADAPTIVE_INDICES

#define TANDEM_FRACTIONAL_POOL(D)                                                                                \
  FractionalMaxPool##D##dImpl::FractionalMaxPool##D##dImpl(ExpandingArray<D> kernel_size, Site site)             \
      : FractionalMaxPool##D##dImpl(FractionalMaxPool##D##dOptions(kernel_size), site) {}                        \
  FractionalMaxPool##D##dImpl::FractionalMaxPool##D##dImpl(FractionalMaxPool##D##dOptions options_, Site)        \
      : OptionsOnly(std::move(options_)) {                                                                       \
    check_fractional("FractionalMaxPool" #D "d", options);                                                       \
  }                                                                                                              \
  Tensor FractionalMaxPool##D##dImpl::forward(const Tensor& input, Site site) {                                  \
    return functional::fractional_max_pool##D##d(input, options, site);                                          \
  }                                                                                                              \
  std::tuple<Tensor, Tensor> FractionalMaxPool##D##dImpl::forward_with_indices(const Tensor& input, Site site) { \
    return functional::fractional_max_pool##D##d_with_indices(input, options, site);                             \
  }                                                                                                              \
  void FractionalMaxPool##D##dImpl::pretty_print(std::ostream& stream) const { detail::Text(stream, "FractionalMaxPool" #D "d"); }

TANDEM_FRACTIONAL_POOL(2)
TANDEM_FRACTIONAL_POOL(3)
#undef TANDEM_FRACTIONAL_POOL

#define TANDEM_LP_POOL(D)                                                                                                      \
  LPPool##D##dImpl::LPPool##D##dImpl(double norm_type, ExpandingArray<D> kernel_size, Site site)                               \
      : LPPool##D##dImpl(LPPool##D##dOptions(norm_type, kernel_size), site) {}                                                 \
  LPPool##D##dImpl::LPPool##D##dImpl(const LPPool##D##dOptions& options_, Site) : OptionsOnly(options_) {}                     \
  Tensor LPPool##D##dImpl::forward(const Tensor& input, Site site) { return functional::lp_pool##D##d(input, options, site); } \
  void LPPool##D##dImpl::pretty_print(std::ostream& stream) const {                                                            \
    detail::Text(stream, "LPPool" #D "d")("norm_type", options.norm_type())("kernel_size", options.kernel_size())(             \
        "stride", options.stride())("ceil_mode", options.ceil_mode());                                                         \
  }

TANDEM_LP_POOL(1)
TANDEM_LP_POOL(2)
#undef TANDEM_LP_POOL

// --- Padding

#define TANDEM_PAD(Kind, word, D)                                                                                   \
  Kind##Pad##D##dImpl::Kind##Pad##D##dImpl(ExpandingArray<D * 2> padding, Site site)                                \
      : Kind##Pad##D##dImpl(Kind##Pad##D##dOptions(padding), site) {}                                               \
  Kind##Pad##D##dImpl::Kind##Pad##D##dImpl(const Kind##Pad##D##dOptions& options_, Site) : OptionsOnly(options_) {} \
  Tensor Kind##Pad##D##dImpl::forward(const Tensor& input, Site site) {                                             \
    return tandem::pad(input, detail::shape_of(options.padding()), word, {}, site);                                 \
  }                                                                                                                 \
  void Kind##Pad##D##dImpl::pretty_print(std::ostream& stream) const {                                              \
    detail::Text(stream, #Kind "Pad" #D "d")("padding", options.padding());                                         \
  }

TANDEM_PAD(Reflection, "reflect", 1)
TANDEM_PAD(Reflection, "reflect", 2)
TANDEM_PAD(Reflection, "reflect", 3)
TANDEM_PAD(Replication, "replicate", 1)
TANDEM_PAD(Replication, "replicate", 2)
TANDEM_PAD(Replication, "replicate", 3)
TANDEM_PAD(Zero, "constant", 2)
#undef TANDEM_PAD

#define TANDEM_CONSTANT_PAD(D)                                                                                            \
  ConstantPad##D##dImpl::ConstantPad##D##dImpl(ExpandingArray<D * 2> padding, double value, Site site)                    \
      : ConstantPad##D##dImpl(ConstantPad##D##dOptions(padding, value), site) {}                                          \
  ConstantPad##D##dImpl::ConstantPad##D##dImpl(const ConstantPad##D##dOptions& options_, Site) : OptionsOnly(options_) {} \
  Tensor ConstantPad##D##dImpl::forward(const Tensor& input, Site site) {                                                 \
    return tandem::pad(input, detail::shape_of(options.padding()), "constant", options.value(), site);                    \
  }                                                                                                                       \
  void ConstantPad##D##dImpl::pretty_print(std::ostream& stream) const {                                                  \
    detail::Text(stream, "ConstantPad" #D "d")("padding", options.padding())("value", options.value());                   \
  }

TANDEM_CONSTANT_PAD(1)
TANDEM_CONSTANT_PAD(2)
TANDEM_CONSTANT_PAD(3)
#undef TANDEM_CONSTANT_PAD

// --- Images of other sizes

Tensor PixelShuffleImpl::forward(const Tensor& input, Site site) { return functional::pixel_shuffle(input, options, site); }

void PixelShuffleImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "PixelShuffle")("upscale_factor", options.upscale_factor());
}

Tensor PixelUnshuffleImpl::forward(const Tensor& input, Site site) { return functional::pixel_unshuffle(input, options, site); }

void PixelUnshuffleImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "PixelUnshuffle")("downscale_factor", options.downscale_factor());
}

Tensor UpsampleImpl::forward(const Tensor& input, Site site) {
  functional::InterpolateFuncOptions how;
  how.size(options.size()).scale_factor(options.scale_factor()).align_corners(options.align_corners());
  std::visit([&](const auto& word) { how.mode(word); }, options.mode());
  return functional::interpolate(input, how, site);
}

void UpsampleImpl::pretty_print(std::ostream& stream) const {
  detail::Text text(stream, "Upsample");
  if (options.scale_factor()) text("scale_factor", options.scale_factor());
  else text("size", options.size());
  text("mode", options.mode());
}

}  // namespace torch::nn
