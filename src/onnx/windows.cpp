#include "onnx/windows.h"

#include <algorithm>

#include "ops/padding.h"

namespace tandem::onnx {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;

Shape of(const std::optional<Shape>& given, size_t dims, int64_t otherwise, const char* what) {
  Shape all;
  for (size_t i = 0; i < dims; ++i) all.push_back(otherwise);
  if (!given || given->empty()) return all;
  if (given->size() != dims) fail("it has ", given->size(), " ", what, " for ", dims, " spatial dimensions");
  for (const int64_t number : *given)
    if (number < (otherwise == 0 ? -kMost : 1) || number > kMost) fail("its ", what, " are ", *given);
  return *given;
}

}  // namespace

Windows windows_of(Call& call, const Tensor& x, const Shape& kernel) {
  const size_t dims = kernel.size();
  if (x.dim() < 3 || dims != static_cast<size_t>(x.dim()) - 2)
    fail("its input has the sizes ", x.sizes(), ", for windows of ", dims, " dimensions");
  Windows windows{.kernel = of(kernel, dims, 1, "sizes of the window"),
                  .stride = of(call.list("strides"), dims, 1, "strides"),
                  .dilation = of(call.list("dilations"), dims, 1, "dilations"),
                  .front = {},
                  .back = {}};
  const Shape pads = of(call.list("pads"), 2 * dims, 0, "pads");
  windows.front = Shape(pads.data(), dims);
  windows.back = Shape(pads.data() + dims, dims);
  const std::string name = call.text("auto_pad", "NOTSET");
  if (name == "NOTSET" || name.empty()) return windows;
  windows.by_name = true;
  for (size_t i = 0; i < dims; ++i) {
    windows.front[i] = windows.back[i] = 0;
    if (name == "VALID") continue;
    if (name != "SAME_UPPER" && name != "SAME_LOWER") fail("its auto_pad '", name, "' is none of NOTSET, VALID, SAME_UPPER and SAME_LOWER");
    const int64_t size = x.size(static_cast<int64_t>(i) + 2), count = (size + windows.stride[i] - 1) / windows.stride[i];
    const int64_t reach = (windows.kernel[i] - 1) * windows.dilation[i] + 1;
    const int64_t all = std::max<int64_t>(0, (count - 1) * windows.stride[i] + reach - size);
    windows.front[i] = name == "SAME_UPPER" ? all / 2 : all - all / 2;
    windows.back[i] = all - windows.front[i];
  }
  return windows;
}

int64_t window_count(int64_t size, const Windows& windows, size_t dim, bool ceil) {
  const int64_t whole = size + windows.front[dim] + windows.back[dim], reach = (windows.kernel[dim] - 1) * windows.dilation[dim] + 1;
  if (whole < reach) return 0;
  const int64_t stride = windows.stride[dim];
  if (!ceil) return (whole - reach) / stride + 1;
  const int64_t count = (whole - reach + stride - 1) / stride + 1;
  // The last one has to begin in the input, or in the pads before it.
  return (count - 1) * stride >= size + windows.front[dim] ? count - 1 : count;
}

Tensor padded_with(Call& call, const Tensor& x, const Shape& front, const Shape& back, const Scalar& value) {
  Shape pads, sizes = x.sizes();
  bool any = false;
  for (size_t i = front.size(); i-- > 0;) {
    pads.push_back(front[i]);
    pads.push_back(back[i]);
    any = any || front[i] != 0 || back[i] != 0;
    sizes[i + 2] += front[i] + back[i];
  }
  if (!any) return x;
  (void)call.place(sizes, x.dtype());
  return constant_pad_nd(x, pads, value, call.site());
}

}  // namespace tandem::onnx
