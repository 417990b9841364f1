// Convolutions.
#include "onnx/windows.h"
#include "ops/convolution.h"
#include "ops/creation.h"
#include "ops/fold.h"
#include "ops/operators.h"
#include "ops/padding.h"
#include "ops/view.h"

namespace tandem::onnx {
namespace {

Shape spatial(const Tensor& weight) {
  Shape sizes;
  for (int64_t i = 2; i < weight.dim(); ++i) sizes.push_back(weight.size(i));
  return sizes;
}

Tensor convolve(Call& call, Tensor x, const Tensor& weight, const Tensor& bias) {
  const Windows windows = windows_of(call, x, spatial(weight));
  if (call.list("kernel_shape") && *call.list("kernel_shape") != windows.kernel)
    fail("its kernel_shape is ", *call.list("kernel_shape"), ", but its weight has the sizes ", weight.sizes());
  const int64_t groups = call.integer("group", 1);
  bool plain = windows.is_symmetric();
  for (const int64_t pad : windows.front) plain = plain && pad >= 0;
  if (!plain) x = padded_with(call, x, windows.front, windows.back, 0);
  Shape none;
  for (size_t i = 0; i < windows.dims(); ++i) none.push_back(0);
  ConvOptions options{.stride = windows.stride, .dilation = windows.dilation, .groups = groups};
  options.padding = ConvPadding(plain ? windows.front : none);
  switch (windows.dims()) {
    case 1: return conv1d(x, weight, bias, options, call.site());
    case 2: return conv2d(x, weight, bias, options, call.site());
    case 3: return conv3d(x, weight, bias, options, call.site());
    default: fail("it has ", windows.dims(), " spatial dimensions: tandem has 1, 2 and 3");
  }
}

void conv(Call& call) {
  const Tensor x = call.in(0), weight = call.in(1);
  call.give(convolve(call, x, weight, call.in_or_none(2)));
}

/// Of whole numbers, which float64 holds exactly.
void integer_conv(Call& call) {
  const Site site = call.site();
  Tensor x = call.in(0).to(kFloat64, {}, site), weight = call.in(1).to(kFloat64, {}, site);
  if (call.has(2)) x = sub(x, call.in(2).to(kFloat64, {}, site), site);
  if (call.has(3)) {
    Tensor zero = call.in(3).to(kFloat64, {}, site);
    if (zero.dim() == 1 && zero.numel() > 1) {
      Shape sizes{zero.numel()};
      for (int64_t i = 1; i < weight.dim(); ++i) sizes.push_back(1);
      zero = zero.reshape(sizes, site);
    }
    weight = sub(weight, zero, site);
  }
  call.give(convolve(call, x, weight, {}).to(kInt32, {}, site));
}

void conv_transpose(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), weight = call.in(1), bias = call.in_or_none(2);
  Windows windows = windows_of(call, x, spatial(weight));
  const size_t dims = windows.dims();
  Shape more = call.list("output_padding", {});
  while (more.size() < dims) more.push_back(0);
  const auto wanted = call.list("output_shape");
  const std::string name = call.text("auto_pad", "NOTSET");
  // Pads here take away from the result.
  for (size_t i = 0; i < dims; ++i) {
    const int64_t reach = (windows.kernel[i] - 1) * windows.dilation[i] + 1, size = x.size(static_cast<int64_t>(i) + 2);
    if (more[i] < 0) fail("its output_padding is ", more);
    const int64_t whole = windows.stride[i] * (size - 1) + more[i] + reach;
    if (!wanted && !name.starts_with("SAME")) continue;
    if (wanted && wanted->size() < dims) fail("its output_shape ", *wanted, " has too few numbers");
    const int64_t target = wanted ? (*wanted)[wanted->size() - dims + i] : size * windows.stride[i];
    const int64_t all = whole - target, half = all >= 0 ? all / 2 : (all - 1) / 2;
    windows.front[i] = name == "SAME_UPPER" ? half : all - half;
    windows.back[i] = all - windows.front[i];
  }
  bool plain = windows.is_symmetric();
  for (size_t i = 0; i < dims; ++i) plain = plain && windows.front[i] >= 0 && more[i] < std::max(windows.stride[i], windows.dilation[i]);
  Shape none;
  for (size_t i = 0; i < dims; ++i) none.push_back(0);
  const ConvTransposeOptions options{.stride = windows.stride,
                                     .padding = plain ? windows.front : none,
                                     .output_padding = plain ? more : none,
                                     .groups = call.integer("group", 1),
                                     .dilation = windows.dilation};
  const auto transposed = [&](const Tensor& b) {
    switch (dims) {
      case 1: return conv_transpose1d(x, weight, b, options, site);
      case 2: return conv_transpose2d(x, weight, b, options, site);
      case 3: return conv_transpose3d(x, weight, b, options, site);
      default: fail("it has ", dims, " spatial dimensions: tandem has 1, 2 and 3");
    }
  };
  if (plain) return call.give(transposed(bias));
  // All of it, then cut or padded to what is asked for; the bias is added to what the pads are, too.
  Tensor y = transposed({});
  Shape front, back;
  for (size_t i = 0; i < dims; ++i) {
    front.push_back(-windows.front[i]);
    back.push_back(more[i] - windows.back[i]);
  }
  y = padded_with(call, y, front, back, 0);
  if (bias.defined()) {
    Shape sizes{bias.numel()};
    for (size_t i = 0; i < dims; ++i) sizes.push_back(1);
    y = add(y, bias.reshape(sizes, site), site);
  }
  call.give(y);
}

/// Columns put back to an image: fold, which the library has for two dimensions; one is a second of size 1.
void col2im(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0);
  Shape image = call.ints(1), block = call.ints(2);
  const size_t dims = image.size();
  if (dims < 1 || dims > 2 || block.size() != dims)
    fail("it has ", dims, " dimensions and blocks of ", block.size(), ": tandem has 1 and 2");
  const auto numbers = [&](const char* name, int64_t otherwise) {
    Shape all = call.list(name, {});
    while (all.size() < dims) all.push_back(otherwise);
    return all;
  };
  Shape stride = numbers("strides", 1), dilation = numbers("dilations", 1), pads = call.list("pads", {});
  while (pads.size() < 2 * dims) pads.push_back(0);
  const Shape front(pads.data(), dims), back(pads.data() + dims, dims);
  const bool symmetric = front == back;
  Shape whole = image, none;
  for (size_t i = 0; i < dims; ++i) {
    none.push_back(0);
    if (!symmetric) whole[i] += front[i] + back[i];
  }
  Shape padding = symmetric ? front : none;
  if (dims == 1)
    for (auto* list : {&whole, &block, &stride, &dilation, &padding}) list->insert(0, list == &padding ? 0 : 1);
  Tensor y = fold(x, whole, block, {.dilation = dilation, .padding = padding, .stride = stride}, site);
  if (dims == 1) y = y.squeeze(2, site);
  if (!symmetric)
    for (size_t i = 0; i < dims; ++i) y = y.narrow(static_cast<int64_t>(i) + 2, front[i], image[i], site);
  call.give(y);
}

constexpr OperatorRow kRows[] = {
    {"Col2Im", 18, col2im},
    {"Conv", 1, conv},
    {"ConvInteger", 10, integer_conv},
    {"ConvTranspose", 1, conv_transpose},
};

}  // namespace

std::span<const OperatorRow> convolution_operators() { return kRows; }

}  // namespace tandem::onnx
