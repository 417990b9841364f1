#include "libtorch/layers_conv.h"

#include "libtorch/functional_arguments.h"
#include "libtorch/functional_linear.h"
#include "nn/reset.h"
#include "ops/convolution.h"
#include "ops/creation.h"
#include "ops/padding.h"

namespace torch::nn {
namespace {

// The convolutions of one to three dimensions, chosen by D.
template <size_t D>
Tensor convolve(const Tensor& input, const Tensor& weight, const Tensor& bias, const tandem::ConvOptions& options, Site site) {
  if constexpr (D == 1) return tandem::conv1d(input, weight, bias, options, site);
  else if constexpr (D == 2) return tandem::conv2d(input, weight, bias, options, site);
  else return tandem::conv3d(input, weight, bias, options, site);
}
template <size_t D>
Tensor convolve_transposed(const Tensor& input, const Tensor& weight, const Tensor& bias, const tandem::ConvTransposeOptions& options,
                           Site site) {
  if constexpr (D == 1) return tandem::conv_transpose1d(input, weight, bias, options, site);
  else if constexpr (D == 2) return tandem::conv_transpose2d(input, weight, bias, options, site);
  else return tandem::conv_transpose3d(input, weight, bias, options, site);
}

}  // namespace

template <size_t D, class Derived>
ConvNdImpl<D, Derived>::ConvNdImpl(detail::ConvNdOptions<D> options_, Site) : options(std::move(options_)) {
  reset();
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset() {
  const Site site = detail::making_site();
  const int64_t in = options.in_channels(), out = options.out_channels(), groups = options.groups();
  if (in <= 0 || groups <= 0 || out <= 0)
    tandem::fail("[", Derived::kName, "] in_channels, groups and out_channels must be positive, got ", in, ", ", groups, ", ", out);
  if (in % groups) tandem::fail("[", Derived::kName, "] in_channels must be divisible by groups: ", in, " is not by ", groups);
  if (out % groups) tandem::fail("[", Derived::kName, "] out_channels must be divisible by groups: ", out, " is not by ", groups);
  if (std::holds_alternative<enumtype::kSame>(options.padding()) && *options.stride() != *ExpandingArray<D>(1))
    tandem::fail("[", Derived::kName, "] padding='same' is not supported for strided convolutions");
  tandem::Shape sizes = options.transposed() ? tandem::Shape{in, out / groups} : tandem::Shape{out, in / groups};
  for (const int64_t size : *options.kernel_size()) sizes.push_back(size);
  weight = this->register_parameter("weight", tandem::empty(sizes, {}, site), true, site);
  bias = this->register_parameter("bias", options.bias() ? tandem::empty({out}, {}, site) : Tensor(), options.bias(), site);
  reset_parameters(site);
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset_parameters(Site site) {
  tandem::nn::detail::reset_uniform(weight, bias, site);
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  detail::Text text(stream, Derived::kName);
  text("", options.in_channels())("", options.out_channels())("kernel_size", options.kernel_size())("stride", options.stride());
  if (const auto* numbers = std::get_if<ExpandingArray<D>>(&options.padding()))
    text.when(**numbers != *ExpandingArray<D>(0), "padding", *numbers);
  else text("padding", std::holds_alternative<enumtype::kSame>(options.padding()) ? "'same'" : "'valid'");
  text.when(*options.dilation() != *ExpandingArray<D>(1), "dilation", options.dilation());
  text.when(*options.output_padding() != *ExpandingArray<D>(0), "output_padding", options.output_padding());
  text.when(options.groups() != 1, "groups", options.groups()).when(!options.bias(), "bias", false);
  text.when(!std::holds_alternative<enumtype::kZeros>(options.padding_mode()), "padding_mode", options.padding_mode());
}

namespace detail {

template <size_t D, class Derived>
ConvOf<D, Derived>::ConvOf(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size, Site site)
    : ConvOf(ConvOptions<D>(in_channels, out_channels, kernel_size), site) {}

template <size_t D, class Derived>
ConvOf<D, Derived>::ConvOf(const ConvOptions<D>& o, Site site)
    : ConvNdImpl<D, Derived>(ConvNdOptions<D>(o.in_channels(), o.out_channels(), o.kernel_size())
                                 .stride(o.stride())
                                 .padding(o.padding())
                                 .dilation(o.dilation())
                                 .groups(o.groups())
                                 .bias(o.bias())
                                 .padding_mode(o.padding_mode()),
                             site) {}

template <size_t D, class Derived>
Tensor ConvOf<D, Derived>::forward(const Tensor& input, Site site) {
  const auto& o = this->options;
  tandem::ConvOptions how{
      .stride = shape_of(o.stride()), .padding = conv_padding_of<D>(o.padding()), .dilation = shape_of(o.dilation()), .groups = o.groups()};
  if (std::holds_alternative<enumtype::kZeros>(o.padding_mode())) return convolve<D>(input, this->weight, this->bias, how, site);
  how.padding = 0;
  const Tensor padded = tandem::pad(input, around(), word_of(o.padding_mode()).c_str(), {}, site);
  return convolve<D>(padded, this->weight, this->bias, how, site);
}

template <size_t D, class Derived>
tandem::Shape ConvOf<D, Derived>::around() const {
  const auto& o = this->options;
  tandem::Shape result;
  for (size_t d = D; d-- > 0;) {
    int64_t both = 0;
    if (const auto* numbers = std::get_if<ExpandingArray<D>>(&o.padding())) both = 2 * (**numbers)[d];
    else if (std::holds_alternative<enumtype::kSame>(o.padding())) both = (*o.dilation())[d] * ((*o.kernel_size())[d] - 1);
    result.push_back(both / 2);
    result.push_back(both - both / 2);
  }
  return result;
}

template <size_t D, class Derived>
ConvTransposeOf<D, Derived>::ConvTransposeOf(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size, Site site)
    : ConvTransposeOf(ConvTransposeOptions<D>(in_channels, out_channels, kernel_size), site) {}

template <size_t D, class Derived>
ConvTransposeOf<D, Derived>::ConvTransposeOf(const ConvTransposeOptions<D>& o, Site site)
    : ConvNdImpl<D, Derived>(ConvNdOptions<D>(o.in_channels(), o.out_channels(), o.kernel_size())
                                 .stride(o.stride())
                                 .padding(o.padding())
                                 .dilation(o.dilation())
                                 .transposed(true)
                                 .output_padding(o.output_padding())
                                 .groups(o.groups())
                                 .bias(o.bias())
                                 .padding_mode(o.padding_mode()),
                             site) {}

template <size_t D, class Derived>
Tensor ConvTransposeOf<D, Derived>::forward(const Tensor& input, const std::optional<IntArrayRef>& output_size, Site site) {
  const auto& o = this->options;
  if (!std::holds_alternative<enumtype::kZeros>(o.padding_mode()))
    tandem::fail("[", Derived::kName, "] Only `zeros` padding mode is supported");
  const auto* padding = std::get_if<ExpandingArray<D>>(&o.padding());
  return convolve_transposed<D>(input, this->weight, this->bias,
                                {.stride = shape_of(o.stride()),
                                 .padding = padding ? shape_of(*padding) : tandem::Shape(0),
                                 .output_padding = output_size ? leading_to(*output_size, input, *padding) : shape_of(o.output_padding()),
                                 .groups = o.groups(),
                                 .dilation = shape_of(o.dilation())},
                                site);
}

template <size_t D, class Derived>
tandem::Shape ConvTransposeOf<D, Derived>::leading_to(const IntArrayRef& size, const Tensor& input,
                                                      const ExpandingArray<D>& padding) const {
  const auto& o = this->options;
  if (size.size() != D && size.size() != D + 2)
    tandem::fail("[", Derived::kName, "] output_size must have ", D, " or ", D + 2, " elements (got ", size.size(), ")");
  tandem::Shape result;
  for (size_t d = 0; d < D; ++d) {
    const int64_t stride = (*o.stride())[d], in = input.size(static_cast<int64_t>(d) - static_cast<int64_t>(D));
    const int64_t least = (in - 1) * stride - 2 * (*padding)[d] + (*o.dilation())[d] * ((*o.kernel_size())[d] - 1) + 1;
    const int64_t wanted = size[size.size() - D + d];
    if (wanted < least || wanted >= least + stride)
      tandem::fail("[", Derived::kName, "] requested an output of size ", wanted, " in dimension ", d, ", but valid sizes range from ",
                   least, " to ", least + stride - 1);
    result.push_back(wanted - least);
  }
  return result;
}

}  // namespace detail

template class ConvNdImpl<1, Conv1dImpl>;
template class detail::ConvOf<1, Conv1dImpl>;
template class ConvNdImpl<2, Conv2dImpl>;
template class detail::ConvOf<2, Conv2dImpl>;
template class ConvNdImpl<3, Conv3dImpl>;
template class detail::ConvOf<3, Conv3dImpl>;
template class ConvNdImpl<1, ConvTranspose1dImpl>;
template class detail::ConvTransposeOf<1, ConvTranspose1dImpl>;
template class ConvNdImpl<2, ConvTranspose2dImpl>;
template class detail::ConvTransposeOf<2, ConvTranspose2dImpl>;
template class ConvNdImpl<3, ConvTranspose3dImpl>;
template class detail::ConvTransposeOf<3, ConvTranspose3dImpl>;

Tensor UnfoldImpl::forward(const Tensor& input, Site site) { return functional::unfold(input, options, site); }

void UnfoldImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "Unfold")("kernel_size", options.kernel_size())("dilation", options.dilation())("padding", options.padding())(
      "stride", options.stride());
}

FoldImpl::FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size, Site site)
    : FoldImpl(FoldOptions(output_size, kernel_size), site) {}

FoldImpl::FoldImpl(const FoldOptions& options_, Site) : OptionsOnly(options_) {}

Tensor FoldImpl::forward(const Tensor& input, Site site) { return functional::fold(input, options, site); }

void FoldImpl::pretty_print(std::ostream& stream) const {
  detail::Text(stream, "Fold")("output_size", options.output_size())("kernel_size", options.kernel_size())("dilation", options.dilation())(
      "padding", options.padding())("stride", options.stride());
}

}  // namespace torch::nn
