#include "ops/padding.h"

#include <string_view>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/accumulate.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/launch.h"

namespace tandem {
namespace {

using autograd::record;
using kernels::Padding;

/// How many elements stand before each dimension, and the padded sizes.
struct PaddedLayout {
  Shape before, sizes;
};

PaddedLayout layout_of(const char* op, const Tensor& x, const Shape& pad) {
  if (pad.size() % 2 != 0) fail("[", op, "] Padding length must be divisible by 2, but got ", pad.size(), " numbers");
  if (static_cast<int64_t>(pad.size() / 2) > x.dim())
    fail("[", op, "] Padding length should be less than or equal to two times the input dimension but got padding length ", pad.size(),
         " and input of dimension ", x.dim());
  PaddedLayout layout{x.sizes(), x.sizes()};
  const auto ndim = static_cast<size_t>(x.dim());
  for (size_t d = 0; d < ndim; ++d) {
    const size_t i = 2 * (ndim - 1 - d);
    const int64_t before = i < pad.size() ? pad[i] : 0, behind = i < pad.size() ? pad[i + 1] : 0, size = x.sizes()[d];
    int64_t padded;
    if (__builtin_add_overflow(size, before, &padded) || __builtin_add_overflow(padded, behind, &padded) || padded < 0)
      fail("[", op, "] The input size ", size, ", plus negative padding ", before, " and ", behind,
           " resulted in a negative output size, which is invalid. Check dimension ", d, " of your input.");
    layout.before[d] = before;
    layout.sizes[d] = padded;
  }
  return layout;
}

Tensor padded(const char* op, const Tensor& x, const PaddedLayout& layout, Padding mode, const Scalar& value, const char* grad_fn,
              Site site);

/// The gradient: what went to more than one place is added up.
Tensor gathered(const char* op, const Tensor& g, const Shape& sizes, const PaddedLayout& layout, Padding mode, const char* grad_fn,
                Site site) {
  Tensor y = ops::summed(sizes, g, site, [&](const Tensor& sums) {
    const kernels::Span<int64_t> before{layout.before.data(), static_cast<int64_t>(layout.before.size())};
    if (sums.numel()) ops::launch(g, op, site, &kernels::Table::pad_backward, sums, g, before, mode);
  });
  return record("PadBackwardBackward0", y, {g}, site,
                [op, layout, mode, grad_fn, site](const Tensor& gg) { return padded(op, gg, layout, mode, 0, grad_fn, site); });
}

Tensor padded(const char* op, const Tensor& x, const PaddedLayout& layout, Padding mode, const Scalar& value, const char* grad_fn,
              Site site) {
  if (x.dim() == 0) return x.clone(site);
  Tensor y = empty(layout.sizes, {.dtype = x.dtype(), .device = x.device()}, site);
  if (y.numel())
    ops::launch(y, op, site, &kernels::Table::pad, y, x, {layout.before.data(), static_cast<int64_t>(layout.before.size())}, mode,
                ops::value_of(value));
  return record(grad_fn, y, {x}, site, [op, layout, mode, sizes = x.sizes(), grad_fn, site](const Tensor& g) {
    if (mode != Padding::Constant) return gathered(op, g, sizes, layout, mode, grad_fn, site);
    PaddedLayout back{layout.before, sizes};
    for (int64_t& before : back.before) before = -before;
    return padded(op, g, back, mode, 0, grad_fn, site);
  });
}

/// What the modes that take elements of the input ask of it.
void check_source(const char* op, const Tensor& x, const Shape& pad, Padding mode) {
  const auto count = static_cast<int64_t>(pad.size() / 2);
  if (pad.size() % 2 != 0 || count < 1 || count > 3 || (x.dim() != count + 1 && x.dim() != count + 2))
    fail("[", op, "] Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now: got a padding of ", pad.size(),
         " numbers for an input of sizes ", x.sizes());
  for (int64_t d = x.dim() - count - (x.dim() == count + 1 ? 1 : 0); d < x.dim(); ++d)
    if (x.size(d) == 0 && (d >= x.dim() - count || x.dim() == count + 1))
      fail("[", op, "] Expected ", count + 1, "D or ", count + 2,
           "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ", x.sizes());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = x.size(-1 - i), before = pad[static_cast<size_t>(2 * i)], behind = pad[static_cast<size_t>(2 * i + 1)];
    if (mode == Padding::Reflect && (before >= size || behind >= size))
      fail("[", op, "] Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (", before, ", ",
           behind, ") at dimension ", x.dim() - 1 - i, " of input ", x.sizes());
    const int64_t left = size + std::min<int64_t>(0, before) + std::min<int64_t>(0, behind);
    if (mode == Padding::Circular && (before > left || behind > left))
      fail("[", op, "] Padding value causes wrapping around more than once: (", before, ", ", behind, ") at dimension ", x.dim() - 1 - i,
           " of input ", x.sizes());
    if (size + before + behind < 1)
      fail("[", op, "] input (size ", size, " at dimension ", x.dim() - 1 - i, ") is too small for the padding (", before, ", ", behind,
           ")");
  }
}

}  // namespace

Tensor constant_pad_nd(const Tensor& input, const Shape& pad, const Scalar& value, Site site) {
  return padded("constant_pad_nd", input, layout_of("constant_pad_nd", input, pad), Padding::Constant, value, "ConstantPadNdBackward0",
                site);
}

Tensor pad(const Tensor& input, const Shape& pad, const char* mode, std::optional<Scalar> value, Site site) {
  const std::string_view word = mode;
  if (word == "constant")
    return padded("pad", input, layout_of("pad", input, pad), Padding::Constant, value.value_or(0), "ConstantPadNdBackward0", site);
  Padding how;
  const char* names[3];
  if (word == "reflect") {
    how = Padding::Reflect;
    names[0] = "ReflectionPad1DBackward0", names[1] = "ReflectionPad2DBackward0", names[2] = "ReflectionPad3DBackward0";
  } else if (word == "replicate") {
    how = Padding::Replicate;
    names[0] = "ReplicationPad1DBackward0", names[1] = "ReplicationPad2DBackward0", names[2] = "ReplicationPad3DBackward0";
  } else if (word == "circular") {
    how = Padding::Circular;
    names[0] = names[1] = names[2] = "CopySlices";
  } else {
    fail("[pad] Unrecognised padding mode ", mode, "; use 'constant', 'reflect', 'replicate' or 'circular'");
  }
  const bool listed = how == Padding::Replicate || (how == Padding::Reflect && pad.size() < 6);
  if (const ops::Cast cast("pad", site, input); cast && listed) return tandem::pad(cast(input), pad, mode, value, site);
  if (value && value->to<double>() != 0) fail("[pad] Padding mode \"", mode, "\" doesn't take in value argument");
  check_source("pad", input, pad, how);
  return padded("pad", input, layout_of("pad", input, pad), how, 0, names[pad.size() / 2 - 1], site);
}

}  // namespace tandem
