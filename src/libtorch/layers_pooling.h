// Pooling, padding, and images of other sizes as layers.
#pragma once

#include "libtorch/layers_base.h"
#include "libtorch/options_pooling.h"

namespace torch::nn {

// --- Pooling: a layer and its holder for each number of dimensions. Those that have indices give the values' places too.

#define TANDEM_AVG_POOL(D)                                                                        \
  class AvgPool##D##dImpl : public detail::OptionsOnly<AvgPool##D##dImpl, AvgPool##D##dOptions> { \
   public:                                                                                        \
    AvgPool##D##dImpl(ExpandingArray<D> kernel_size, Site site = Site::here());                   \
    explicit AvgPool##D##dImpl(const AvgPool##D##dOptions& options_, Site = Site::here());        \
    Tensor forward(const Tensor& input, Site site = Site::here());                                \
    void pretty_print(std::ostream& stream) const override;                                       \
  };                                                                                              \
  TANDEM_TORCH_LAYER(AvgPool##D##d)

#define TANDEM_MAX_POOL(D)                                                                          \
  class MaxPool##D##dImpl : public detail::OptionsOnly<MaxPool##D##dImpl, MaxPool##D##dOptions> {   \
   public:                                                                                          \
    MaxPool##D##dImpl(ExpandingArray<D> kernel_size, Site site = Site::here());                     \
    explicit MaxPool##D##dImpl(const MaxPool##D##dOptions& options_, Site = Site::here());          \
    Tensor forward(const Tensor& input, Site site = Site::here());                                  \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::here()); \
    void pretty_print(std::ostream& stream) const override;                                         \
  };                                                                                                \
  TANDEM_TORCH_LAYER(MaxPool##D##d)

#define TANDEM_MAX_UNPOOL(D)                                                                                                          \
  class MaxUnpool##D##dImpl : public detail::OptionsOnly<MaxUnpool##D##dImpl, MaxUnpool##D##dOptions> {                               \
   public:                                                                                                                            \
    MaxUnpool##D##dImpl(ExpandingArray<D> kernel_size, Site site = Site::here());                                                     \
    explicit MaxUnpool##D##dImpl(const MaxUnpool##D##dOptions& options_, Site = Site::here());                                        \
    Tensor forward(const Tensor& input, const Tensor& indices, const std::optional<std::vector<int64_t>>& output_size = std::nullopt, \
                   Site site = Site::here());                                                                                         \
    void pretty_print(std::ostream& stream) const override;                                                                           \
                                                                                                                                      \
   protected:                                                                                                                         \
    FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(std::optional<std::vector<int64_t>>())})                                                    \
  };                                                                                                                                  \
  TANDEM_TORCH_LAYER(MaxUnpool##D##d)

#define TANDEM_ADAPTIVE_POOL(Kind, D, ...)                                                                             \
  class Adaptive##Kind##D##dImpl : public detail::OptionsOnly<Adaptive##Kind##D##dImpl, Adaptive##Kind##D##dOptions> { \
   public:                                                                                                             \
    using Size = std::decay_t<decltype(std::declval<Adaptive##Kind##D##dOptions>().output_size())>;                    \
    Adaptive##Kind##D##dImpl(Size output_size, Site site = Site::here());                                              \
    explicit Adaptive##Kind##D##dImpl(const Adaptive##Kind##D##dOptions& options_, Site = Site::here());               \
    Tensor forward(const Tensor& input, Site site = Site::here());                                                     \
    __VA_ARGS__                                                                                                        \
    void pretty_print(std::ostream& stream) const override;                                                            \
  };                                                                                                                   \
  TANDEM_TORCH_LAYER(Adaptive##Kind##D##d)
#define TANDEM_ADAPTIVE_INDICES std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::here());

TANDEM_AVG_POOL(1);
TANDEM_AVG_POOL(2);
TANDEM_AVG_POOL(3);
TANDEM_MAX_POOL(1);
TANDEM_MAX_POOL(2);
TANDEM_MAX_POOL(3);
TANDEM_MAX_UNPOOL(1);
TANDEM_MAX_UNPOOL(2);
TANDEM_MAX_UNPOOL(3);
TANDEM_ADAPTIVE_POOL(AvgPool, 1, );
TANDEM_ADAPTIVE_POOL(AvgPool, 2, );
TANDEM_ADAPTIVE_POOL(AvgPool, 3, );
TANDEM_ADAPTIVE_POOL(MaxPool, 1, TANDEM_ADAPTIVE_INDICES);
TANDEM_ADAPTIVE_POOL(MaxPool, 2, TANDEM_ADAPTIVE_INDICES);
TANDEM_ADAPTIVE_POOL(MaxPool, 3, TANDEM_ADAPTIVE_INDICES);

#undef TANDEM_AVG_POOL
#undef TANDEM_MAX_POOL
#undef TANDEM_MAX_UNPOOL
#undef TANDEM_ADAPTIVE_POOL
#undef TANDEM_ADAPTIVE_INDICES

/// Windows whose places are drawn anew at each call, unless `_random_samples` has them. Exactly one of output_size and output_ratio is
/// given; a ratio lies between 0 and 1.
#define TANDEM_FRACTIONAL_POOL(D)                                                                                               \
  class FractionalMaxPool##D##dImpl : public detail::OptionsOnly<FractionalMaxPool##D##dImpl, FractionalMaxPool##D##dOptions> { \
   public:                                                                                                                      \
    FractionalMaxPool##D##dImpl(ExpandingArray<D> kernel_size, Site site = Site::here());                                       \
    explicit FractionalMaxPool##D##dImpl(FractionalMaxPool##D##dOptions options_, Site = Site::here());                         \
    Tensor forward(const Tensor& input, Site site = Site::here());                                                              \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input, Site site = Site::here());                             \
    void pretty_print(std::ostream& stream) const override;                                                                     \
  };                                                                                                                            \
  TANDEM_TORCH_LAYER(FractionalMaxPool##D##d)

TANDEM_FRACTIONAL_POOL(2);
TANDEM_FRACTIONAL_POOL(3);
#undef TANDEM_FRACTIONAL_POOL

#define TANDEM_LP_POOL(D)                                                                        \
  class LPPool##D##dImpl : public detail::OptionsOnly<LPPool##D##dImpl, LPPool##D##dOptions> {   \
   public:                                                                                       \
    LPPool##D##dImpl(double norm_type, ExpandingArray<D> kernel_size, Site site = Site::here()); \
    explicit LPPool##D##dImpl(const LPPool##D##dOptions& options_, Site = Site::here());         \
    Tensor forward(const Tensor& input, Site site = Site::here());                               \
    void pretty_print(std::ostream& stream) const override;                                      \
  };                                                                                             \
  TANDEM_TORCH_LAYER(LPPool##D##d)

TANDEM_LP_POOL(1);
TANDEM_LP_POOL(2);
#undef TANDEM_LP_POOL

// --- Padding

#define TANDEM_PAD(Kind, D)                                                                             \
  class Kind##Pad##D##dImpl : public detail::OptionsOnly<Kind##Pad##D##dImpl, Kind##Pad##D##dOptions> { \
   public:                                                                                              \
    Kind##Pad##D##dImpl(ExpandingArray<D * 2> padding, Site site = Site::here());                       \
    explicit Kind##Pad##D##dImpl(const Kind##Pad##D##dOptions& options_, Site = Site::here());          \
    Tensor forward(const Tensor& input, Site site = Site::here());                                      \
    void pretty_print(std::ostream& stream) const override;                                             \
  };                                                                                                    \
  TANDEM_TORCH_LAYER(Kind##Pad##D##d)

TANDEM_PAD(Reflection, 1);
TANDEM_PAD(Reflection, 2);
TANDEM_PAD(Reflection, 3);
TANDEM_PAD(Replication, 1);
TANDEM_PAD(Replication, 2);
TANDEM_PAD(Replication, 3);
TANDEM_PAD(Zero, 2);
#undef TANDEM_PAD

#define TANDEM_CONSTANT_PAD(D)                                                                                \
  class ConstantPad##D##dImpl : public detail::OptionsOnly<ConstantPad##D##dImpl, ConstantPad##D##dOptions> { \
   public:                                                                                                    \
    ConstantPad##D##dImpl(ExpandingArray<D * 2> padding, double value, Site site = Site::here());             \
    explicit ConstantPad##D##dImpl(const ConstantPad##D##dOptions& options_, Site = Site::here());            \
    Tensor forward(const Tensor& input, Site site = Site::here());                                            \
    void pretty_print(std::ostream& stream) const override;                                                   \
  };                                                                                                          \
  TANDEM_TORCH_LAYER(ConstantPad##D##d)

TANDEM_CONSTANT_PAD(1);
TANDEM_CONSTANT_PAD(2);
TANDEM_CONSTANT_PAD(3);
#undef TANDEM_CONSTANT_PAD

// --- Images of other sizes

/// (…, C r², H, W) to (…, C, H r, W r).
TANDEM_OPTIONS_LAYER(PixelShuffle, const Tensor& input);

/// (…, C, H r, W r) to (…, C r², H, W).
TANDEM_OPTIONS_LAYER(PixelUnshuffle, const Tensor& input);

/// Images and signals at other sizes.
TANDEM_OPTIONS_LAYER(Upsample, const Tensor& input);

}  // namespace torch::nn
