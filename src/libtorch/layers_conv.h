// Convolutions, transposed ones, Fold and Unfold as layers.
#pragma once

#include "libtorch/layers_base.h"
#include "libtorch/options_conv.h"

namespace torch::nn {
/// What convolutions of both kinds share: weight (out, in / groups, kernel…), or (in, out / groups, kernel…) of transposed ones, and bias
/// (out). Both start uniform within ±1/sqrt(fan_in).
template <size_t D, class Derived>
class ConvNdImpl : public Cloneable<Derived> {
 public:
  explicit ConvNdImpl(detail::ConvNdOptions<D> options_, Site = Site::here());

  void reset() override;
  void reset_parameters(Site site = Site::here());

  void pretty_print(std::ostream& stream) const override;

  detail::ConvNdOptions<D> options;
  Tensor weight, bias;
};

namespace detail {

/// A convolution over D dimensions. Padding of another kind than zeros is put around the input first.
template <size_t D, class Derived>
class ConvOf : public ConvNdImpl<D, Derived> {
 public:
  ConvOf(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size, Site site = Site::here());
  explicit ConvOf(const ConvOptions<D>& o, Site site = Site::here());

  Tensor forward(const Tensor& input, Site site = Site::here());

 private:
  /// The argument of `pad`: the last dimension first, both sides of each.
  tandem::Shape around() const;
};

/// A transposed convolution over D dimensions.
template <size_t D, class Derived>
class ConvTransposeOf : public ConvNdImpl<D, Derived> {
 public:
  ConvTransposeOf(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size, Site site = Site::here());
  explicit ConvTransposeOf(const ConvTransposeOptions<D>& o, Site site = Site::here());

  /// With an `output_size` the output padding is what leads to it; error where none does.
  Tensor forward(const Tensor& input, const std::optional<IntArrayRef>& output_size = std::nullopt, Site site = Site::here());

 private:
  /// The output padding that gives a result of this size, with or without the leading dimensions.
  tandem::Shape leading_to(const IntArrayRef& size, const Tensor& input, const ExpandingArray<D>& padding) const;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<IntArrayRef>())})
};

}  // namespace detail

#define TANDEM_CONVOLUTION(Name, Base, D)                 \
  class Name##Impl : public detail::Base<D, Name##Impl> { \
   public:                                                \
    static constexpr const char* kName = #Name;           \
    using Base::Base;                                     \
  };                                                      \
  extern template class ConvNdImpl<D, Name##Impl>;        \
  extern template class detail::Base<D, Name##Impl>;      \
  TANDEM_TORCH_LAYER(Name)

TANDEM_CONVOLUTION(Conv1d, ConvOf, 1);
TANDEM_CONVOLUTION(Conv2d, ConvOf, 2);
TANDEM_CONVOLUTION(Conv3d, ConvOf, 3);
TANDEM_CONVOLUTION(ConvTranspose1d, ConvTransposeOf, 1);
TANDEM_CONVOLUTION(ConvTranspose2d, ConvTransposeOf, 2);
TANDEM_CONVOLUTION(ConvTranspose3d, ConvTransposeOf, 3);

#undef TANDEM_CONVOLUTION

/// What sliding windows see, side by side.
TANDEM_OPTIONS_LAYER(Unfold, const Tensor& input);

/// The way back: what windows have at a place is added up.
class FoldImpl : public detail::OptionsOnly<FoldImpl, FoldOptions> {
 public:
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size, Site site = Site::here());
  explicit FoldImpl(const FoldOptions& options_, Site = Site::here());
  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;
};
TANDEM_TORCH_LAYER(Fold);

}  // namespace torch::nn
