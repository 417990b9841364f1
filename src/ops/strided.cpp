// Views by explicit strides: as_strided and unfold. Their elements may share memory, so their gradients are sums at positions.
#include <algorithm>

#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"
#include "ops/accumulate.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/scatter.h"
#include "ops/view.h"
#include "ops/view_of.h"
#include "tensor/dims.h"

namespace tandem {

using autograd::needs_grad;
using autograd::record;

Tensor ops::view_of(const Tensor& x, Shape sizes, Shape strides, int64_t offset) {
  const TensorImpl& from = x.impl();
  Tensor y(from.alias(std::move(sizes), std::move(strides), offset, from.dtype));
  TensorImpl& impl = y.impl();
  impl.view_origin = from.view_origin;
  if (from.inference) return y;  // it has no history that a change would have to reach
  if (autograd::detail::inference_mode) {
    if (from.view_origin == ViewOrigin::Recorded)
      impl.view_origin = from.needs_grad() ? ViewOrigin::InferenceOfGraph : ViewOrigin::Inference;
  } else if (autograd::detail::grad_enabled) {
    impl.base = from.base ? from.base : x.ref();
    impl.seen_epoch = impl.base->history_epoch;
  } else if (from.view_origin == ViewOrigin::Recorded && !tandem::detail::work_site) {  // not a gradient's own step
    impl.view_origin = from.needs_grad() ? ViewOrigin::NoGradOfGraph : ViewOrigin::NoGrad;
  }
  return y;
}

namespace {

/// The places 0 … n-1 of a storage, on the device of `like`.
Tensor places(int64_t n, const Tensor& like) { return arange(n, {.dtype = kInt64, .device = like.device()}); }

/// How many elements of memory a layout reaches, counted from the storage's first; 0 for none. Error where that overflows.
int64_t reach(const Shape& sizes, const Shape& strides, int64_t offset) {
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    int64_t step;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) || __builtin_add_overflow(last, step, &last))
      fail("[as_strided] sizes ", sizes, " and strides ", strides, " reach further than memory can");
  }
  return last + 1;
}

bool dense(const Shape& sizes, const Shape& strides) {
  const Shape expected = contiguous_strides(sizes);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 && strides[i] != expected[i]) return false;
  return true;
}

/// The gradient of as_strided: each element's goes to its place in memory, from where the input's elements take theirs, in equal parts
/// where several of them lie at one place.
Tensor as_strided_backward(const Tensor& g, const Shape& in_sizes, const Shape& in_strides, int64_t in_offset, const Shape& sizes,
                           const Shape& strides, int64_t offset) {
  const int64_t whole = std::max(reach(in_sizes, in_strides, in_offset), reach(sizes, strides, offset));
  const DType wide = ops::sum_type(g.dtype());
  const Options like{.dtype = wide, .device = g.device()};
  const Tensor all = places(whole, g), to = all.as_strided(sizes, strides, offset).reshape({-1});
  const Tensor memory = scatter_add(zeros({whole}, like), 0, to, g.reshape({-1}).to(wide));
  if (dense(in_sizes, in_strides)) return memory.slice(0, in_offset, in_offset + in_sizes.numel()).reshape(in_sizes).to(g.dtype());
  const Tensor from = all.as_strided(in_sizes, in_strides, in_offset).reshape({-1});
  const Tensor shared = scatter_add(zeros({whole}, like), 0, from, ones({from.numel()}, like));
  return (memory.index_select(0, from).reshape(in_sizes) / shared.index_select(0, from).reshape(in_sizes)).to(g.dtype());
}

Tensor unfold_backward(const Tensor& g, const Shape& sizes, int64_t dim, int64_t size, int64_t step) {
  const Tensor to = places(sizes.numel(), g).reshape(sizes).unfold(dim, size, step).reshape({-1});
  return scatter_add(zeros({sizes.numel()}, {.dtype = g.dtype(), .device = g.device()}), 0, to, g.reshape({-1})).reshape(sizes);
}

}  // namespace

Tensor Tensor::as_strided(const Shape& sizes, const Shape& strides, std::optional<int64_t> offset, Site site) const {
  if (sizes.size() != strides.size()) fail("[as_strided] mismatch in length of strides and shape: ", sizes, ", ", strides);
  const int64_t from = offset.value_or(storage_offset());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < 0 || strides[i] < 0) fail("[as_strided] negative sizes or strides are not supported: ", sizes, ", ", strides);
  const int64_t needed = from < 0 ? 0 : reach(sizes, strides, from);
  const auto available = static_cast<int64_t>(impl().storage->bytes() / element_size());
  if (from < 0 || needed > available)
    fail("[as_strided] setStorage: sizes ", sizes, ", strides ", strides, ", storage offset ", from, " require ", needed,
         " elements, but the storage has ", available);
  Tensor y = ops::view_of(*this, sizes, strides, from);
  if (!needs_grad(*this)) return y;
  return record(
      "AsStridedBackward0", y, {*this}, site,
      [in_sizes = this->sizes(), in_strides = this->strides(), in_offset = storage_offset(), sizes, strides, from](const Tensor& g) {
        // Memory before both is left out.
        const int64_t first = std::min(in_offset, from);
        return as_strided_backward(g, in_sizes, in_strides, in_offset - first, sizes, strides, from - first);
      });
}

Tensor Tensor::unfold(int64_t dimension, int64_t size, int64_t step, Site site) const {
  const auto at = static_cast<size_t>(wrap_dim(dimension, dim()));
  const int64_t whole = dim() == 0 ? 1 : sizes()[at];
  if (size < 0 || size > whole) fail("[unfold] maximum size for tensor at dimension ", at, " is ", whole, " but size is ", size);
  if (step <= 0) fail("[unfold] step is ", step, " but must be > 0");
  Shape wanted = sizes(), strides = this->strides();
  int64_t stride = 1;
  if (dim() > 0) {
    stride = strides[at];
    wanted[at] = (whole - size) / step + 1;
    strides[at] = wrapping_product(step, stride);
  }
  wanted.push_back(size);
  strides.push_back(stride);
  Tensor y = ops::view_of(*this, std::move(wanted), std::move(strides), storage_offset());
  if (!needs_grad(*this)) return y;
  return record("UnfoldBackward0", y, {*this}, site, [sizes = sizes(), at = static_cast<int64_t>(at), size, step](const Tensor& g) {
    return unfold_backward(g, sizes, at, size, step);
  });
}

Tensor as_strided(const Tensor& x, const Shape& sizes, const Shape& strides, std::optional<int64_t> offset, Site site) {
  return x.as_strided(sizes, strides, offset, site);
}

}  // namespace tandem
