#include "nn/convolution.h"

#include <cstring>

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/repr.h"
#include "nn/reset.h"
#include "nn/settings.h"
#include "ops/creation.h"
#include "ops/padding.h"
#include "ops/spatial.h"

namespace tandem::nn {
namespace {

using detail::repr;

const char* conv_name(int spatial, bool transposed) {
  static constexpr const char* names[2][3] = {{"Conv1d", "Conv2d", "Conv3d"}, {"ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"}};
  return names[transposed][spatial - 1];
}

bool all_are(const Shape& values, int64_t value) {
  for (const int64_t v : values)
    if (v != value) return false;
  return true;
}

// The argument of `pad`: the last dimension first, both sides of each.
Shape both_sides(const Shape& before, const Shape& behind) {
  Shape around;
  for (size_t i = before.size(); i-- > 0;) {
    around.push_back(before[i]);
    around.push_back(behind[i]);
  }
  return around;
}

}  // namespace

ConvNd::ConvNd(int64_t in_channels, int64_t out_channels, Form form, Site site)
    : kernel_size(std::move(form.kernel_size)),
      stride(std::move(form.stride)),
      padding(std::move(form.padding)),
      dilation(std::move(form.dilation)),
      output_padding(std::move(form.output_padding)),
      groups(form.groups),
      out_channels_(out_channels),
      transposed_(form.transposed),
      lazy_(form.lazy),
      has_bias_(form.bias),
      placement_(form.placement) {
  const char* op = form.op;
  if (groups <= 0) fail("[", op, "] groups must be a positive integer, but is ", groups);
  if (in_channels < 0 || out_channels < 0)
    fail("[", op, "] in_channels and out_channels must not be negative, got ", in_channels, " and ", out_channels);
  if (in_channels % groups) fail("[", op, "] in_channels must be divisible by groups: ", in_channels, " is not by ", groups);
  if (out_channels % groups) fail("[", op, "] out_channels must be divisible by groups: ", out_channels, " is not by ", groups);
  if (!lazy_) make_parameters(in_channels, site);
}

void ConvNd::make_parameters(int64_t in_channels, Site site) {
  Options made = placement_;
  made.requires_grad = true;
  Shape sizes = transposed_ ? Shape{in_channels, out_channels_ / groups} : Shape{out_channels_, in_channels / groups};
  for (const int64_t k : kernel_size) sizes.push_back(k);
  weight = empty(sizes, made, site);
  if (has_bias_) bias = empty({out_channels_}, made, site);
  reset_parameters(site);
}

void ConvNd::reset_parameters(Site site) { detail::reset_uniform(weight, bias, site); }

void ConvNd::fields(Fields& f) {
  if (lazy_) {
    f.lazy("weight", weight, placement_);
    if (has_bias_) f.lazy("bias", bias, placement_);
  } else {
    f("weight", weight);
    f("bias", bias);
  }
}

int64_t ConvNd::in_channels() const { return !weight.defined() ? 0 : transposed_ ? weight.size(0) : weight.size(1) * groups; }

void ConvNd::prepare(const Tensor& x) {
  if (weight.defined()) return;
  const int64_t channel_dim = x.dim() - spatial() - 1;
  if (channel_dim != 0 && channel_dim != 1)
    fail("[", name(), "] Expected ", spatial() + 1, "D (unbatched) or ", spatial() + 2,
         "D (batched) input, but got input of size: ", x.sizes());
  const int64_t channels = x.size(channel_dim);
  if (channels % groups) fail("[", name(), "] in_channels must be divisible by groups: ", channels, " is not by ", groups);
  const InferenceMode outside(false);  // parameters are to be trained, whoever calls the module first
  make_parameters(channels, detail::call_site());
}

Tensor ConvNd::forward(const Tensor& x) {
  prepare(x);
  return convolve(x);
}

int64_t ConvNd::multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const {
  // A place of the result, or of a transposed convolution's input, meets one window of each of its channels' weights.
  const Tensor& places = transposed_ ? inputs[0] : outputs[0];
  return weight.size(0) ? places.numel() * (weight.numel() / weight.size(0)) : 0;
}

std::string ConvNd::name() const {
  const std::string own = Module::name();
  return lazy_ && weight.defined() && own.starts_with("Lazy") ? own.substr(4) : own;
}

std::string ConvNd::padding_text() const { return all_are(padding, 0) ? "" : ", padding=" + repr(padding); }

std::string ConvNd::extra_repr() const {
  std::string text =
      str(in_channels(), ", ", out_channels_, ", kernel_size=", repr(kernel_size), ", stride=", repr(stride), padding_text());
  if (!all_are(dilation, 1)) text += ", dilation=" + repr(dilation);
  if (!all_are(output_padding, 0)) text += ", output_padding=" + repr(output_padding);
  if (groups != 1) text += str(", groups=", groups);
  if (!has_bias_) text += ", bias=False";
  return text;
}

template <int Spatial>
ConvOf<Spatial>::ConvOf(bool lazy, int64_t in_channels, int64_t out_channels, const PerDim& kernel_size, const ConvOptions& options,
                        Site site)
    : ConvNd(in_channels, out_channels,
             {.op = conv_name(Spatial, false),
              .transposed = false,
              .lazy = lazy,
              .bias = options.bias,
              .kernel_size = ops::per_dim(conv_name(Spatial, false), "kernel_size", kernel_size, Spatial),
              .stride = ops::per_dim(conv_name(Spatial, false), "stride", options.stride, Spatial),
              .padding = ops::per_dim(conv_name(Spatial, false), "padding", options.padding, Spatial),
              .dilation = ops::per_dim(conv_name(Spatial, false), "dilation", options.dilation, Spatial),
              .output_padding = {},
              .groups = options.groups,
              .placement = {.dtype = options.dtype, .device = options.device}},
             site),
      padding_name_(nullptr),
      padding_mode_(options.padding_mode) {
  const char* op = conv_name(Spatial, false);
  if (const char* word = options.padding.name()) {
    if (!std::strcmp(word, "same")) padding_name_ = "same";
    else if (!std::strcmp(word, "valid")) padding_name_ = "valid";
    else fail("[", op, "] Invalid padding string '", word, "', should be one of 'same', 'valid'");
    if (*padding_name_ == 's' && !all_are(stride, 1)) fail("[", op, "] padding='same' is not supported for strided convolutions");
  }
  if (padding_mode_ == "zeros") return;
  if (padding_mode_ != "reflect" && padding_mode_ != "replicate" && padding_mode_ != "circular")
    fail("[", op, "] padding_mode must be one of 'zeros', 'reflect', 'replicate', 'circular', but got padding_mode='", padding_mode_, "'");
  Shape before = padding, behind = padding;
  if (padding_name_ && *padding_name_ == 's') {
    for (size_t i = 0; i < Spatial; ++i) {
      const int64_t total = dilation[i] * (this->kernel_size[i] - 1);
      before[i] = total / 2;
      behind[i] = total - before[i];
    }
  }
  around_ = both_sides(before, behind);
}

template <int Spatial>
void ConvOf<Spatial>::settings(Settings& s) {
  ConvNd::settings(s);
  std::string padding_name = padding_name_ ? padding_name_ : "";
  s(padding_name, padding_mode_, around_);
  if (s.taking()) padding_name_ = padding_name == "same" ? "same" : padding_name == "valid" ? "valid" : nullptr;
}

template <int Spatial>
Tensor ConvOf<Spatial>::convolve(const Tensor& x) {
  constexpr auto function = Spatial == 1 ? conv1d : Spatial == 2 ? conv2d : conv3d;
  const Site site = detail::call_site();
  tandem::ConvOptions options{.stride = stride, .dilation = dilation, .groups = groups};
  if (around_.empty()) {
    options.padding = padding_name_ ? ConvPadding(padding_name_) : ConvPadding(padding);
    return function(x, weight, bias, options, site);
  }
  return function(pad(x, around_, padding_mode_.c_str(), {}, site), weight, bias, options, site);
}

template <int Spatial>
std::string ConvOf<Spatial>::padding_text() const {
  return padding_name_ ? str(", padding=", padding_name_) : ConvNd::padding_text();
}

template <int Spatial>
std::string ConvOf<Spatial>::extra_repr() const {
  return ConvNd::extra_repr() + (padding_mode_ == "zeros" ? "" : ", padding_mode=" + padding_mode_);
}

template <int Spatial>
ConvTransposeOf<Spatial>::ConvTransposeOf(bool lazy, int64_t in_channels, int64_t out_channels, const PerDim& kernel_size,
                                          const ConvTransposeOptions& options, Site site)
    : ConvNd(in_channels, out_channels,
             {.op = conv_name(Spatial, true),
              .transposed = true,
              .lazy = lazy,
              .bias = options.bias,
              .kernel_size = ops::per_dim(conv_name(Spatial, true), "kernel_size", kernel_size, Spatial),
              .stride = ops::per_dim(conv_name(Spatial, true), "stride", options.stride, Spatial),
              .padding = ops::per_dim(conv_name(Spatial, true), "padding", options.padding, Spatial),
              .dilation = ops::per_dim(conv_name(Spatial, true), "dilation", options.dilation, Spatial),
              .output_padding = ops::per_dim(conv_name(Spatial, true), "output_padding", options.output_padding, Spatial),
              .groups = options.groups,
              .placement = {.dtype = options.dtype, .device = options.device}},
             site) {}

template <int Spatial>
Tensor ConvTransposeOf<Spatial>::convolve(const Tensor& x, const Shape& more, Site site) {
  constexpr auto function = Spatial == 1 ? conv_transpose1d : Spatial == 2 ? conv_transpose2d : conv_transpose3d;
  return function(x, weight, bias, {.stride = stride, .padding = padding, .output_padding = more, .groups = groups, .dilation = dilation},
                  site);
}

template <int Spatial>
Tensor ConvTransposeOf<Spatial>::convolve(const Tensor& x) {
  return convolve(x, output_padding, detail::call_site());
}

template <int Spatial>
Tensor ConvTransposeOf<Spatial>::operator()(const Tensor& x, const Shape& output_size, Site site) {
  return hooked_forward(*this, site, x, output_size);
}

template <int Spatial>
Tensor ConvTransposeOf<Spatial>::forward(const Tensor& x, const Shape& output_size, Site site) {
  const int64_t leading = x.dim() - Spatial;
  const auto given = static_cast<int64_t>(output_size.size());
  if (given != Spatial && given != Spatial + leading)
    fail("[", name(), "] for ", x.dim(), "D input, output_size must have ", Spatial, " or ", Spatial + leading, " elements, but it is ",
         output_size);
  Shape more = output_padding;
  for (size_t i = 0; i < Spatial; ++i) {
    const auto dim = static_cast<int64_t>(i);
    const int64_t least = (x.size(leading + dim) - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel_size[i] - 1) + 1;
    const int64_t wanted = output_size[static_cast<size_t>(given - Spatial + dim)];
    if (wanted < least || wanted >= least + stride[i])
      fail("[", name(), "] requested an output size of ", output_size, ", but valid sizes of spatial dimension ", dim, " range from ",
           least, " to ", least + stride[i] - 1, " (for an input of ", x.sizes(), ")");
    more[i] = wanted - least;
  }
  prepare(x);
  return convolve(x, more, site);
}

template struct ConvOf<1>;
template struct ConvOf<2>;
template struct ConvOf<3>;
template struct ConvTransposeOf<1>;
template struct ConvTransposeOf<2>;
template struct ConvTransposeOf<3>;

}  // namespace tandem::nn
