// Pooling, padding, and images of other sizes as layers.
#pragma once

#include "libtorch/functional_pooling.h"
#include "libtorch/layers_base.h"
#include "libtorch/options_pooling.h"

namespace torch::nn {

// --- Pooling: a layer and its holder for each number of dimensions. Those that have indices give the values' places too.

#define TANDEM_AVG_POOL(D)                                                                                                         \
  class AvgPool##D##dImpl : public detail::OptionsOnly<AvgPool##D##dImpl, AvgPool##D##dOptions> {                                  \
   public:                                                                                                                         \
    AvgPool##D##dImpl(ExpandingArray<D> kernel_size, Site site = Site::here())                                                     \
        : AvgPool##D##dImpl(AvgPool##D##dOptions(kernel_size), site) {}                                                            \
    explicit AvgPool##D##dImpl(const AvgPool##D##dOptions& options_, Site = Site::here()) : OptionsOnly(options_) {}               \
    Tensor forward(const Tensor& input, Site site = Site::here()) { return functional::avg_pool##D##d(input, options, site); }     \
    void pretty_print(std::ostream& stream) const override {                                                                       \
      detail::Text(stream, "AvgPool" #D "d")("kernel_size", options.kernel_size())("stride", options.stride())("padding",          \
                                                                                                               options.padding()); \
    }                                                                                                                              \
  };                                                                                                                               \
  TORCH_MODULE(AvgPool##D##d)

#define TANDEM_MAX_POOL(D)                                                                                                     \
  class MaxPool##D##dImpl : public detail::OptionsOnly<MaxPool##D##dImpl, MaxPool##D##dOptions> {                              \
   public:                                                                                                                     \
    MaxPool##D##dImpl(ExpandingArray<D> kernel_size, Site site = Site::here())                                                 \
        : MaxPool##D##dImpl(MaxPool##D##dOptions(kernel_size), site) {}                                                        \
    explicit MaxPool##D##dImpl(const MaxPool##D##dOptions& options_, Site = Site::here()) : OptionsOnly(options_) {}           \
    Tensor forward(const Tensor& input, Site site = Site::here()) { return functional::max_pool##D##d(input, options, site); } \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::here()) {                           \
      return functional::max_pool##D##d_with_indices(input, options, site);                                                    \
    }                                                                                                                          \
    void pretty_print(std::ostream& stream) const override {                                                                   \
      detail::Text(stream, "MaxPool" #D "d")("kernel_size", options.kernel_size())("stride", options.stride())(                \
          "padding", options.padding())("dilation", options.dilation())("ceil_mode", options.ceil_mode());                     \
    }                                                                                                                          \
  };                                                                                                                           \
  TORCH_MODULE(MaxPool##D##d)

#define TANDEM_MAX_UNPOOL(D)                                                                                                          \
  class MaxUnpool##D##dImpl : public detail::OptionsOnly<MaxUnpool##D##dImpl, MaxUnpool##D##dOptions> {                               \
   public:                                                                                                                            \
    MaxUnpool##D##dImpl(ExpandingArray<D> kernel_size, Site site = Site::here())                                                      \
        : MaxUnpool##D##dImpl(MaxUnpool##D##dOptions(kernel_size), site) {}                                                           \
    explicit MaxUnpool##D##dImpl(const MaxUnpool##D##dOptions& options_, Site = Site::here()) : OptionsOnly(options_) {}              \
    Tensor forward(const Tensor& input, const Tensor& indices, const std::optional<std::vector<int64_t>>& output_size = std::nullopt, \
                   Site site = Site::here()) {                                                                                        \
      return functional::max_unpool##D##d(input, indices,                                                                             \
                                          functional::MaxUnpool##D##dFuncOptions(options.kernel_size())                               \
                                              .stride(options.stride())                                                               \
                                              .padding(options.padding())                                                             \
                                              .output_size(output_size),                                                              \
                                          site);                                                                                      \
    }                                                                                                                                 \
    void pretty_print(std::ostream& stream) const override {                                                                          \
      detail::Text(stream, "MaxUnpool" #D "d")("kernel_size", options.kernel_size())("stride", options.stride())("padding",           \
                                                                                                                 options.padding());  \
    }                                                                                                                                 \
                                                                                                                                      \
   protected:                                                                                                                         \
    FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(std::optional<std::vector<int64_t>>())})                                                    \
  };                                                                                                                                  \
  TORCH_MODULE(MaxUnpool##D##d)

#define TANDEM_ADAPTIVE_POOL(Kind, function, D, ...)                                                                               \
  class Adaptive##Kind##D##dImpl : public detail::OptionsOnly<Adaptive##Kind##D##dImpl, Adaptive##Kind##D##dOptions> {             \
   public:                                                                                                                         \
    using Size = std::decay_t<decltype(std::declval<Adaptive##Kind##D##dOptions>().output_size())>;                                \
    Adaptive##Kind##D##dImpl(Size output_size, Site site = Site::here())                                                           \
        : Adaptive##Kind##D##dImpl(Adaptive##Kind##D##dOptions(output_size), site) {}                                              \
    explicit Adaptive##Kind##D##dImpl(const Adaptive##Kind##D##dOptions& options_, Site = Site::here()) : OptionsOnly(options_) {} \
    Tensor forward(const Tensor& input, Site site = Site::here()) { return functional::function##D##d(input, options, site); }     \
    __VA_ARGS__                                                                                                                    \
    void pretty_print(std::ostream& stream) const override {                                                                       \
      detail::Text(stream, "Adaptive" #Kind #D "d")("output_size", options.output_size());                                         \
    }                                                                                                                              \
  };                                                                                                                               \
  TORCH_MODULE(Adaptive##Kind##D##d)
#define TANDEM_ADAPTIVE_INDICES(D)                                                                 \
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::here()) { \
    return functional::adaptive_max_pool##D##d_with_indices(input, options, site);                 \
  }

TANDEM_AVG_POOL(1);
TANDEM_AVG_POOL(2);
TANDEM_AVG_POOL(3);
TANDEM_MAX_POOL(1);
TANDEM_MAX_POOL(2);
TANDEM_MAX_POOL(3);
TANDEM_MAX_UNPOOL(1);
TANDEM_MAX_UNPOOL(2);
TANDEM_MAX_UNPOOL(3);
TANDEM_ADAPTIVE_POOL(AvgPool, adaptive_avg_pool, 1, );
TANDEM_ADAPTIVE_POOL(AvgPool, adaptive_avg_pool, 2, );
TANDEM_ADAPTIVE_POOL(AvgPool, adaptive_avg_pool, 3, );
TANDEM_ADAPTIVE_POOL(MaxPool, adaptive_max_pool, 1, TANDEM_ADAPTIVE_INDICES(1));
TANDEM_ADAPTIVE_POOL(MaxPool, adaptive_max_pool, 2, TANDEM_ADAPTIVE_INDICES(2));
TANDEM_ADAPTIVE_POOL(MaxPool, adaptive_max_pool, 3, TANDEM_ADAPTIVE_INDICES(3));

#undef TANDEM_AVG_POOL
#undef TANDEM_MAX_POOL
#undef TANDEM_MAX_UNPOOL
#undef TANDEM_ADAPTIVE_POOL
#undef TANDEM_ADAPTIVE_INDICES

/// Windows whose places are drawn anew at each call, unless `_random_samples` has them. Exactly one of output_size and output_ratio is
/// given; a ratio lies between 0 and 1.
#define TANDEM_FRACTIONAL_POOL(D)                                                                                                         \
  class FractionalMaxPool##D##dImpl : public detail::OptionsOnly<FractionalMaxPool##D##dImpl, FractionalMaxPool##D##dOptions> {           \
   public:                                                                                                                                \
    FractionalMaxPool##D##dImpl(ExpandingArray<D> kernel_size, Site site = Site::here())                                                  \
        : FractionalMaxPool##D##dImpl(FractionalMaxPool##D##dOptions(kernel_size), site) {}                                               \
    explicit FractionalMaxPool##D##dImpl(FractionalMaxPool##D##dOptions options_, Site = Site::here())                                    \
        : OptionsOnly(std::move(options_)) {                                                                                              \
      detail::check_fractional("FractionalMaxPool" #D "d", options);                                                                      \
    }                                                                                                                                     \
    Tensor forward(const Tensor& input, Site site = Site::here()) { return functional::fractional_max_pool##D##d(input, options, site); } \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::here()) {                                      \
      return functional::fractional_max_pool##D##d_with_indices(input, options, site);                                                    \
    }                                                                                                                                     \
    void pretty_print(std::ostream& stream) const override { detail::Text(stream, "FractionalMaxPool" #D "d"); }                          \
  };                                                                                                                                      \
  TORCH_MODULE(FractionalMaxPool##D##d)

namespace detail {
template <size_t D>
void check_fractional(const char* name, const FractionalMaxPoolOptions<D>& options) {
  if (!options.output_size() == !options.output_ratio())
    tandem::fail("[", name, "] requires exactly one of output_size and output_ratio, got ", options.output_size() ? "both" : "neither");
  if (!options.output_ratio()) return;
  for (const double ratio : **options.output_ratio())
    if (!(ratio > 0 && ratio < 1)) tandem::fail("[", name, "] output_ratio must be between 0 and 1 (got ", ratio, ")");
}
}  // namespace detail

TANDEM_FRACTIONAL_POOL(2);
TANDEM_FRACTIONAL_POOL(3);
#undef TANDEM_FRACTIONAL_POOL

#define TANDEM_LP_POOL(D)                                                                                                     \
  class LPPool##D##dImpl : public detail::OptionsOnly<LPPool##D##dImpl, LPPool##D##dOptions> {                                \
   public:                                                                                                                    \
    LPPool##D##dImpl(double norm_type, ExpandingArray<D> kernel_size, Site site = Site::here())                               \
        : LPPool##D##dImpl(LPPool##D##dOptions(norm_type, kernel_size), site) {}                                              \
    explicit LPPool##D##dImpl(const LPPool##D##dOptions& options_, Site = Site::here()) : OptionsOnly(options_) {}            \
    Tensor forward(const Tensor& input, Site site = Site::here()) { return functional::lp_pool##D##d(input, options, site); } \
    void pretty_print(std::ostream& stream) const override {                                                                  \
      detail::Text(stream, "LPPool" #D "d")("norm_type", options.norm_type())("kernel_size", options.kernel_size())(          \
          "stride", options.stride())("ceil_mode", options.ceil_mode());                                                      \
    }                                                                                                                         \
  };                                                                                                                          \
  TORCH_MODULE(LPPool##D##d)

TANDEM_LP_POOL(1);
TANDEM_LP_POOL(2);
#undef TANDEM_LP_POOL

// --- Padding

#define TANDEM_PAD(Kind, word, D)                                                                                                      \
  class Kind##Pad##D##dImpl : public detail::OptionsOnly<Kind##Pad##D##dImpl, Kind##Pad##D##dOptions> {                                \
   public:                                                                                                                             \
    Kind##Pad##D##dImpl(ExpandingArray<D * 2> padding, Site site = Site::here())                                                       \
        : Kind##Pad##D##dImpl(Kind##Pad##D##dOptions(padding), site) {}                                                                \
    explicit Kind##Pad##D##dImpl(const Kind##Pad##D##dOptions& options_, Site = Site::here()) : OptionsOnly(options_) {}               \
    Tensor forward(const Tensor& input, Site site = Site::here()) {                                                                    \
      return tandem::pad(input, detail::shape_of(options.padding()), word, {}, site);                                                  \
    }                                                                                                                                  \
    void pretty_print(std::ostream& stream) const override { detail::Text(stream, #Kind "Pad" #D "d")("padding", options.padding()); } \
  };                                                                                                                                   \
  TORCH_MODULE(Kind##Pad##D##d)

TANDEM_PAD(Reflection, "reflect", 1);
TANDEM_PAD(Reflection, "reflect", 2);
TANDEM_PAD(Reflection, "reflect", 3);
TANDEM_PAD(Replication, "replicate", 1);
TANDEM_PAD(Replication, "replicate", 2);
TANDEM_PAD(Replication, "replicate", 3);
TANDEM_PAD(Zero, "constant", 2);
#undef TANDEM_PAD

#define TANDEM_CONSTANT_PAD(D)                                                                                               \
  class ConstantPad##D##dImpl : public detail::OptionsOnly<ConstantPad##D##dImpl, ConstantPad##D##dOptions> {                \
   public:                                                                                                                   \
    ConstantPad##D##dImpl(ExpandingArray<D * 2> padding, double value, Site site = Site::here())                             \
        : ConstantPad##D##dImpl(ConstantPad##D##dOptions(padding, value), site) {}                                           \
    explicit ConstantPad##D##dImpl(const ConstantPad##D##dOptions& options_, Site = Site::here()) : OptionsOnly(options_) {} \
    Tensor forward(const Tensor& input, Site site = Site::here()) {                                                          \
      return tandem::pad(input, detail::shape_of(options.padding()), "constant", options.value(), site);                     \
    }                                                                                                                        \
    void pretty_print(std::ostream& stream) const override {                                                                 \
      detail::Text(stream, "ConstantPad" #D "d")("padding", options.padding())("value", options.value());                    \
    }                                                                                                                        \
  };                                                                                                                         \
  TORCH_MODULE(ConstantPad##D##d)

TANDEM_CONSTANT_PAD(1);
TANDEM_CONSTANT_PAD(2);
TANDEM_CONSTANT_PAD(3);
#undef TANDEM_CONSTANT_PAD

// --- Images of other sizes

/// (…, C r², H, W) to (…, C, H r, W r).
class PixelShuffleImpl : public detail::OptionsOnly<PixelShuffleImpl, PixelShuffleOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& input, Site site = Site::here()) { return functional::pixel_shuffle(input, options, site); }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "PixelShuffle")("upscale_factor", options.upscale_factor());
  }
};
TORCH_MODULE(PixelShuffle);

/// (…, C, H r, W r) to (…, C r², H, W).
class PixelUnshuffleImpl : public detail::OptionsOnly<PixelUnshuffleImpl, PixelUnshuffleOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& input, Site site = Site::here()) { return functional::pixel_unshuffle(input, options, site); }
  void pretty_print(std::ostream& stream) const override {
    detail::Text(stream, "PixelUnshuffle")("downscale_factor", options.downscale_factor());
  }
};
TORCH_MODULE(PixelUnshuffle);

/// Images and signals at other sizes.
class UpsampleImpl : public detail::OptionsOnly<UpsampleImpl, UpsampleOptions> {
 public:
  using OptionsOnly::OptionsOnly;
  Tensor forward(const Tensor& input, Site site = Site::here()) {
    functional::InterpolateFuncOptions how;
    how.size(options.size()).scale_factor(options.scale_factor()).align_corners(options.align_corners());
    std::visit([&](const auto& word) { how.mode(word); }, options.mode());
    return functional::interpolate(input, how, site);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text text(stream, "Upsample");
    if (options.scale_factor()) text("scale_factor", options.scale_factor());
    else text("size", options.size());
    text("mode", options.mode());
  }
};
TORCH_MODULE(Upsample);

}  // namespace torch::nn
