#include "ops/fold.h"

#include "autograd/history.h"
#include "base/error.h"
#include "ops/accumulate.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/spatial.h"

namespace tandem {
namespace {

using autograd::record;
using kernels::Windows;

void check_dtype(const char* op, const Tensor& x) {
  if (is_integral(x.dtype()))
    fail<NotImplementedError>("[", op, "] is not implemented for '", scalar_name(x.dtype()), "'; convert with to(kFloat32)");
}

/// Windows over an image of given size.
struct Form {
  Windows windows;
  Shape image;         // (h, w)
  Shape places;        // windows down and across
  int64_t kernel = 1;  // elements of a window

  Form(const char* op, const Shape& image, const PerDim& kernel_size, const FoldOptions& options) : image(image) {
    const Shape size = ops::per_dim(op, "kernel_size", kernel_size, 2), dilation = ops::per_dim(op, "dilation", options.dilation, 2),
                padding = ops::per_dim(op, "padding", options.padding, 2), stride = ops::per_dim(op, "stride", options.stride, 2);
    for (size_t d = 0; d < 2; ++d) {
      if (size[d] <= 0) fail("[", op, "] kernel size should be greater than zero, but got ", size);
      if (dilation[d] <= 0) fail("[", op, "] dilation should be greater than zero, but got ", dilation);
      if (padding[d] < 0) fail("[", op, "] padding should be non-negative, but got ", padding);
      if (stride[d] <= 0) fail("[", op, "] stride should be greater than zero, but got ", stride);
      const int64_t room = image[d] + 2 * padding[d] - dilation[d] * (size[d] - 1) - 1;
      places.push_back(room < 0 ? 0 : room / stride[d] + 1);
      kernel *= size[d];
    }
    if (places[0] == 0 || places[1] == 0)
      fail("[", op, "] Given an image of spatial size ", image, ", kernel_size=", size, ", dilation=", dilation, ", padding=", padding,
           ", stride=", stride, ", the calculated shape of the array of sliding blocks is ", places,
           ", but its components must be at least one.");
    ops::set_last(windows.kernel, size);
    ops::set_last(windows.dilation, dilation);
    ops::set_last(windows.padding, padding);
    ops::set_last(windows.stride, stride);
  }
  [[nodiscard]] int64_t count() const { return places[0] * places[1]; }
};

/// (n, c * kernel, windows), or without n, as (n, c, kd, kh, kw, od, oh, ow).
kernels::View columns_view(const Tensor& x, const Form& form) {
  const kernels::View from = ops::view(x);
  kernels::View to = from;
  const Windows& w = form.windows;
  const int64_t row = from.strides[from.ndim - 2], place = from.strides[from.ndim - 1], kernel = w.kernel[1] * w.kernel[2];
  to.ndim = 8;
  const int64_t sizes[8] = {from.ndim == 3 ? from.sizes[0] : 1,
                            from.sizes[from.ndim - 2] / kernel,
                            1,
                            w.kernel[1],
                            w.kernel[2],
                            1,
                            form.places[0],
                            form.places[1]},
                strides[8] = {
                    from.ndim == 3 ? from.strides[0] : 0, row * kernel, 0, row * w.kernel[2], row, 0, place * form.places[1], place};
  for (int d = 0; d < 8; ++d) {
    to.sizes[d] = sizes[d];
    to.strides[d] = strides[d];
  }
  return to;
}

Tensor folded(const Tensor& x, const Form& form, Site site);

Tensor unfolded(const Tensor& x, const Form& form, Site site) {
  Shape sizes;
  if (x.dim() == 4) sizes.push_back(x.size(0));
  sizes.push_back(x.size(-3) * form.kernel);
  sizes.push_back(form.count());
  Tensor y = empty(sizes, {.dtype = x.dtype(), .device = x.device()}, site);
  ops::launch(x, "unfold", site, &kernels::Table::unfold, columns_view(y, form), ops::spatial_view(x, 2), form.windows);
  return record("Im2ColBackward0", y, {x}, site, [form, site](const Tensor& g) { return folded(g, form, site); });
}

Tensor folded(const Tensor& x, const Form& form, Site site) {
  Shape sizes;
  if (x.dim() == 3) sizes.push_back(x.size(0));
  sizes.push_back(x.size(-2) / form.kernel);
  for (const int64_t size : form.image) sizes.push_back(size);
  Tensor y = ops::summed(sizes, x, site, [&](const Tensor& sums) {
    ops::launch(x, "fold", site, &kernels::Table::fold, ops::spatial_view(sums, 2), columns_view(x, form), form.windows);
  });
  return record("Col2ImBackward0", y, {x}, site, [form, site](const Tensor& g) { return unfolded(g, form, site); });
}

}  // namespace

Tensor unfold(const Tensor& input, const PerDim& kernel_size, const FoldOptions& options, Site site) {
  if ((input.dim() != 3 && input.dim() != 4) || input.size(-1) == 0 || input.size(-2) == 0 || input.size(-3) == 0)
    fail("[unfold] Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
         input.sizes());
  check_dtype("unfold", input);
  return unfolded(input, Form("unfold", ops::spatial_sizes(input, 2), kernel_size, options), site);
}

Tensor fold(const Tensor& input, const PerDim& output_size, const PerDim& kernel_size, const FoldOptions& options, Site site) {
  const Shape image = ops::per_dim("fold", "output_size", output_size, 2);
  if (image[0] < 1 || image[1] < 1) fail("[fold] Expected output spatial size to be positive, but got: output_size=", image);
  if ((input.dim() != 2 && input.dim() != 3) || input.size(-1) == 0 || input.size(-2) == 0)
    fail("[fold] Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: ",
         input.sizes());
  check_dtype("fold", input);
  const Form form("fold", image, kernel_size, options);
  if (input.size(-2) % form.kernel != 0)
    fail("[fold] Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=",
         input.size(-2), " and kernel_size=", kernel_size.values());
  if (input.size(-1) != form.count())
    fail("[fold] Given output_size=", image, ", kernel_size=", kernel_size.values(), ", dilation=", options.dilation.values(),
         ", padding=", options.padding.values(), ", stride=", options.stride.values(),
         ", expected size of input's dimension 2 to match the calculated number of sliding blocks ", form.places[0], " * ", form.places[1],
         " = ", form.count(), ", but got input.size(2)=", input.size(-1));
  return folded(input, form, site);
}

}  // namespace tandem
