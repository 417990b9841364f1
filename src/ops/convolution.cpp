// A convolution is linear in its input and in its weight, and so are its gradients: `convolve`, `gradient_of_input` and
// `gradient_of_weight` are the three ways to contract one form, and the gradient of each is made of the other two. The transposed
// convolution is the second.
#include "ops/convolution.h"

#include <array>
#include <cstring>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/padding.h"
#include "ops/reduce.h"
#include "ops/spatial.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;
using autograd::saved;
using kernels::ConvolutionPart;
using kernels::Windows;

/// How windows go over the input. The kernel's sizes are the weight's.
struct Form {
  int64_t spatial;
  Windows windows;
  int64_t groups;
};

/// The kernel's view of a tensor of (batch, channels, spatial…) or a weight; `x` is contiguous.
kernels::View seen(const Tensor& x, const Form& form) { return ops::spatial_view(x, form.spatial); }

Tensor gradient_of_input(const Tensor& grad, const Tensor& weight, const Tensor& bias, const Form& form, const Shape& sizes,
                         const char* grad_fn, Site site);
Tensor gradient_of_weight(const Tensor& grad, const Tensor& x, const Form& form, const Shape& sizes, Site site);

/// Sums over everything but the channels.
Tensor sum_of_channels(const Tensor& g, int64_t spatial, Site site) {
  Shape dims;
  for (int64_t d = 0; d < g.dim(); ++d)
    if (d != g.dim() - spatial - 1) dims.push_back(d);
  return g.sum(dims, false, {}, site);
}

void add_bias(const Tensor& y, const Tensor& bias, const Form& form, Site site) {
  if (!bias.defined()) return;
  Shape column{bias.numel()};
  for (int64_t d = 0; d < form.spatial; ++d) column.push_back(1);
  y.add_(bias.reshape(column, site), site);
}

Shape out_sizes(const Tensor& x, const Tensor& weight, const Form& form) {
  Shape sizes = x.sizes();
  const size_t channels = sizes.size() - static_cast<size_t>(form.spatial) - 1;
  sizes[channels] = weight.size(0);
  for (size_t i = 0; i < static_cast<size_t>(form.spatial); ++i) {
    const size_t d = 3 - static_cast<size_t>(form.spatial) + i;
    const Windows& w = form.windows;
    sizes[channels + 1 + i] = (x.sizes()[channels + 1 + i] + 2 * w.padding[d] - w.dilation[d] * (w.kernel[d] - 1) - 1) / w.stride[d] + 1;
  }
  return sizes;
}

/// `sizes`: of the result; a transposed convolution may have cut them short.
Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const Form& form, const Shape& sizes, const char* grad_fn,
                Site site) {
  Tensor y = empty(sizes, {.dtype = x.dtype(), .device = x.device()}, site);
  if (x.numel() == 0 || weight.numel() == 0) {
    const NoGradGuard no_grad;
    y.zero_(site);
    add_bias(y, bias, form, site);
  } else if (y.numel()) {
    const Tensor in = x.detach().contiguous(site), kernel = weight.detach().contiguous(site),
                 added = bias.defined() ? bias.detach().contiguous(site) : Tensor();
    const kernels::Out to{seen(y, form)};
    const kernels::View from = seen(in, form), by = seen(kernel, form);
    ops::launch(
        y, "convolution", site, &kernels::Table::convolution, to, from, by, added, form.windows, form.groups,
        ops::kernels_of(y).convolution_workspace(ConvolutionPart::Forward, to, from, by, form.windows, form.groups, added.defined()));
  }
  if (!needs_grad(x, weight, bias)) return y;
  return record(grad_fn, y, {x, weight, bias}, site,
                [x = saved(x), weight = saved(weight), form, site](const Tensor& g, autograd::Wanted wanted) {
                  std::array<Tensor, 3> gradients;
                  const Tensor in = x.get(), by = weight.get();
                  if (wanted[0]) gradients[0] = gradient_of_input(g, by, Tensor(), form, in.sizes(), "ConvolutionBackwardBackward0", site);
                  if (wanted[1]) gradients[1] = gradient_of_weight(g, in, form, by.sizes(), site);
                  if (wanted[2]) gradients[2] = sum_of_channels(g, form.spatial, site);
                  return gradients;
                });
}

Tensor gradient_of_input(const Tensor& grad, const Tensor& weight, const Tensor& bias, const Form& form, const Shape& sizes,
                         const char* grad_fn, Site site) {
  Tensor y = empty(sizes, {.dtype = grad.dtype(), .device = grad.device()}, site);
  {
    const NoGradGuard no_grad;
    if (grad.numel() == 0 || weight.numel() == 0) {
      y.zero_(site);
    } else if (y.numel()) {
      const Tensor from = grad.contiguous(site), kernel = weight.contiguous(site);
      const kernels::Out to{seen(y, form)};
      const kernels::View g = seen(from, form), by = seen(kernel, form);
      ops::launch(y, "convolution_input", site, &kernels::Table::convolution_input, to, g, by, form.windows, form.groups,
                  ops::kernels_of(y).convolution_workspace(ConvolutionPart::Input, g, to, by, form.windows, form.groups, false));
    }
    add_bias(y, bias, form, site);
  }
  if (!needs_grad(grad, weight, bias)) return y;
  return record(grad_fn, y, {grad, weight, bias}, site,
                [grad = saved(grad), weight = saved(weight), form, site](const Tensor& gg, autograd::Wanted wanted) {
                  std::array<Tensor, 3> gradients;
                  const Tensor g = grad.get(), by = weight.get();
                  if (wanted[0]) gradients[0] = convolve(gg, by, Tensor(), form, g.sizes(), "ConvolutionBackwardBackward0", site);
                  if (wanted[1]) gradients[1] = gradient_of_weight(g, gg, form, by.sizes(), site);
                  if (wanted[2]) gradients[2] = sum_of_channels(gg, form.spatial, site);
                  return gradients;
                });
}

Tensor gradient_of_weight(const Tensor& grad, const Tensor& x, const Form& form, const Shape& sizes, Site site) {
  Tensor y = empty(sizes, {.dtype = grad.dtype(), .device = grad.device()}, site);
  {
    const NoGradGuard no_grad;
    if (grad.numel() == 0 || x.numel() == 0) {
      y.zero_(site);
    } else if (y.numel()) {
      const Tensor from = grad.contiguous(site), in = x.contiguous(site);
      const kernels::Out to{seen(y, form)};
      const kernels::View g = seen(from, form), by = seen(in, form);
      ops::launch(y, "convolution_weight", site, &kernels::Table::convolution_weight, to, g, by, form.windows, form.groups,
                  ops::kernels_of(y).convolution_workspace(ConvolutionPart::Weight, g, by, to, form.windows, form.groups, false));
    }
  }
  if (!needs_grad(grad, x)) return y;
  return record("ConvolutionBackwardBackward0", y, {grad, x}, site,
                [grad = saved(grad), x = saved(x), form, site](const Tensor& gw, autograd::Wanted wanted) {
                  std::array<Tensor, 2> gradients;
                  const Tensor g = grad.get(), in = x.get();
                  if (wanted[0]) gradients[0] = convolve(in, gw, Tensor(), form, g.sizes(), "ConvolutionBackwardBackward0", site);
                  if (wanted[1]) gradients[1] = gradient_of_input(g, gw, Tensor(), form, in.sizes(), "ConvolutionBackwardBackward0", site);
                  return gradients;
                });
}

// --- Checks
struct Name {
  const char* op;
  int64_t spatial;
  bool transposed;
};

void check_numbers(const Name& name, const Form& form, const Shape& padding) {
  for (int d = 0; d < 3; ++d) {
    if (form.windows.stride[d] <= 0) fail("[", name.op, "] non-positive stride is not supported: ", form.windows.stride[d]);
    if (form.windows.dilation[d] <= 0) fail("[", name.op, "] dilation should be greater than zero, but got ", form.windows.dilation[d]);
  }
  for (const int64_t p : padding)
    if (p < 0) fail("[", name.op, "] negative padding is not supported: ", padding);
  if (form.groups <= 0) fail("[", name.op, "] expected groups to be greater than 0, but got groups=", form.groups);
}

void check_tensors(const Name& name, const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t groups) {
  if (x.dim() != name.spatial + 1 && x.dim() != name.spatial + 2)
    fail("[", name.op, "] Expected ", name.spatial + 1, "D (unbatched) or ", name.spatial + 2, "D (batched) input to ", name.op,
         ", but got input of size: ", x.sizes(), ": channels come first; reshape it, or add a dimension with unsqueeze()");
  if (weight.dim() != name.spatial + 2)
    fail("[", name.op, "] expected ", name.spatial + 2, "-dimensional weight, but got weight of size ", weight.sizes());
  ops::check_same_device(name.op, x, "input", weight, "weight");
  if (x.dtype() != weight.dtype())
    fail("[", name.op, "] Input type (", scalar_name(x.dtype()), ") and weight type (", scalar_name(weight.dtype()),
         ") should be the same");
  if (x.dtype() == kBool || (name.transposed && is_integral(x.dtype()) && x.dtype() != kInt64))
    fail<NotImplementedError>("[", name.op, "] is not implemented for '", scalar_name(x.dtype()), "'");
  if (groups > 0 && weight.size(0) < groups)
    fail("[", name.op, "] Given groups=", groups, ", expected weight to be at least ", groups, " at dimension 0, but got weight of size ",
         weight.sizes(), " instead");
  if (groups > 0 && weight.size(0) % groups != 0)
    fail("[", name.op, "] Given groups=", groups, ", expected weight to be divisible by ", groups,
         " at dimension 0, but got weight of size ", weight.sizes(), " instead");
  for (int64_t d = 2; d < weight.dim(); ++d)
    if (weight.size(d) == 0) fail("[", name.op, "] Kernel size should be greater than zero, but got weight of size ", weight.sizes());
  const int64_t channels = x.size(-name.spatial - 1), wanted = name.transposed ? weight.size(0) : weight.size(1) * groups;
  if (channels != wanted)
    fail("[", name.op, "] Given ", name.transposed ? "transposed=1, " : "", "groups=", groups, ", weight of size ", weight.sizes(),
         ", expected input", x.sizes(), " to have ", wanted, " channels, but got ", channels,
         " channels instead; in_channels of a layer are its input's channels");
  if (!bias.defined()) return;
  ops::check_same_device(name.op, bias, "bias", weight, "weight");
  const int64_t out = name.transposed ? weight.size(1) * groups : weight.size(0);
  if (bias.dim() != 1 || bias.size(0) != out)
    fail("[", name.op, "] Given ", name.transposed ? "transposed=1, " : "", "weight of size ", weight.sizes(),
         ", expected bias to be 1-dimensional with ", out, " elements, but got bias of size ", bias.sizes(), " instead");
  if (bias.dtype() != x.dtype())
    fail("[", name.op, "] Input type (", scalar_name(x.dtype()), ") and bias type (", scalar_name(bias.dtype()), ") should be the same");
}

Form form_of(const Name& name, const Tensor& weight, const PerDim& stride, const PerDim& dilation, int64_t groups) {
  Form form{name.spatial, {}, groups};
  ops::set_last(form.windows.stride, ops::per_dim(name.op, "stride", stride, name.spatial));
  ops::set_last(form.windows.dilation, ops::per_dim(name.op, "dilation", dilation, name.spatial));
  if (weight.dim() == name.spatial + 2) ops::set_last(form.windows.kernel, ops::spatial_sizes(weight, name.spatial));
  return form;
}

Tensor conv(const Name& name, const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvOptions& options, Site site) {
  if (const ops::Cast cast("convolution", site, input, weight, bias); cast)
    return conv(name, cast(input), cast(weight), cast(bias), options, site);
  Form form = form_of(name, weight, options.stride, options.dilation, options.groups);
  Shape padding;
  const char* word = options.padding.name();
  if (!word) padding = ops::per_dim(name.op, "padding", options.padding, name.spatial);
  check_numbers(name, form, padding);
  check_tensors(name, input, weight, bias, options.groups);
  Tensor x = input;
  if (word) {
    const bool same = std::strcmp(word, "same") == 0;
    if (!same && std::strcmp(word, "valid") != 0) fail("[", name.op, "] Invalid padding string: '", word, "'; use 'same' or 'valid'");
    Shape odd;  // what is needed behind the input alone
    bool any_odd = false;
    for (int64_t d = 0; d < name.spatial; ++d) {
      const int64_t i = 3 - name.spatial + d;
      if (same && form.windows.stride[i] != 1) fail("[", name.op, "] padding='same' is not supported for strided convolutions");
      const int64_t total = same ? form.windows.dilation[i] * (form.windows.kernel[i] - 1) : 0;
      padding.push_back(total / 2);
      odd.insert(0, total % 2);
      odd.insert(0, 0);
      any_odd |= total % 2 != 0;
    }
    if (any_odd) x = constant_pad_nd(x, odd, 0, site);
  }
  ops::set_last(form.windows.padding, padding);
  for (int64_t d = 0; d < name.spatial; ++d) {
    const int64_t i = 3 - name.spatial + d, size = x.size(d - name.spatial);
    if (size + 2 * form.windows.padding[i] < form.windows.dilation[i] * (form.windows.kernel[i] - 1) + 1) {
      Shape padded, kernel;
      for (int64_t k = 0; k < name.spatial; ++k) {
        padded.push_back(x.size(k - name.spatial) + 2 * form.windows.padding[3 - name.spatial + k]);
        kernel.push_back(form.windows.dilation[3 - name.spatial + k] * (form.windows.kernel[3 - name.spatial + k] - 1) + 1);
      }
      fail("[", name.op, "] Calculated padded input size per channel: ", ops::crossed(padded, " x "),
           ". Kernel size: ", ops::crossed(kernel, " x "),
           ". Kernel size can't be greater than actual input size: take a larger input, a smaller kernel or more padding");
    }
  }
  return convolve(x, weight, bias, form, out_sizes(x, weight, form), "ConvolutionBackward0", site);
}

Tensor conv_transpose(const Name& name, const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& options,
                      Site site) {
  if (const ops::Cast cast("convolution", site, input, weight, bias); cast)
    return conv_transpose(name, cast(input), cast(weight), cast(bias), options, site);
  Form form = form_of(name, weight, options.stride, options.dilation, options.groups);
  const Shape padding = ops::per_dim(name.op, "padding", options.padding, name.spatial),
              more = ops::per_dim(name.op, "output_padding", options.output_padding, name.spatial);
  check_numbers(name, form, padding);
  check_tensors(name, input, weight, bias, options.groups);
  ops::set_last(form.windows.padding, padding);
  Shape sizes = input.sizes();
  const size_t channels = sizes.size() - static_cast<size_t>(name.spatial) - 1;
  sizes[channels] = weight.size(1) * options.groups;
  for (size_t d = 0; d < static_cast<size_t>(name.spatial); ++d) {
    const size_t i = 3 - static_cast<size_t>(name.spatial) + d;
    if (more[d] < 0) fail("[", name.op, "] negative output_padding is not supported: ", more);
    if (more[d] >= form.windows.stride[i] && more[d] >= form.windows.dilation[i])
      fail("[", name.op, "] output padding must be smaller than either stride or dilation, but got output_padding ", more, ", stride ",
           form.windows.stride[i], " and dilation ", form.windows.dilation[i]);
    int64_t& size = sizes[channels + 1 + d];
    size = (size - 1) * form.windows.stride[i] - 2 * padding[d] + form.windows.dilation[i] * (form.windows.kernel[i] - 1) + more[d] + 1;
    if (size <= 0)
      fail("[", name.op, "] Given input size per channel: ", ops::spatial_sizes(input, name.spatial),
           ". Calculated output size per channel: ", size, " at dimension ", d, ". Output size is too small");
  }
  return gradient_of_input(input, weight, bias, form, sizes, "ConvolutionBackward0", site);
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvOptions& options, Site site) {
  return conv({"conv1d", 1, false}, input, weight, bias, options, site);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvOptions& options, Site site) {
  return conv({"conv2d", 2, false}, input, weight, bias, options, site);
}
Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvOptions& options, Site site) {
  return conv({"conv3d", 3, false}, input, weight, bias, options, site);
}
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& options, Site site) {
  return conv_transpose({"conv_transpose1d", 1, true}, input, weight, bias, options, site);
}
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& options, Site site) {
  return conv_transpose({"conv_transpose2d", 2, true}, input, weight, bias, options, site);
}
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& options, Site site) {
  return conv_transpose({"conv_transpose3d", 3, true}, input, weight, bias, options, site);
}

}  // namespace tandem
