#include "ops/view.h"

#include <algorithm>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/reduce.h"
#include "tensor/dims.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;

/// A view of x with another layout, and without history yet.
Tensor view_of(const Tensor& x, Shape sizes, Shape strides, int64_t offset) {
  const TensorImpl& from = x.impl();
  Tensor y(TensorImpl::view(from.storage, std::move(sizes), std::move(strides), offset, from.dtype));
  if (autograd::detail::grad_enabled) {
    TensorImpl& impl = y.impl();
    impl.base = from.base ? from.base : x.ref();
    impl.seen_epoch = impl.base->history_epoch;
  }
  return y;
}

/// The strides with which x can be seen under `sizes`; false where it must be copied.
bool strides_for(const Tensor& x, const Shape& sizes, Shape& strides) {
  strides = contiguous_strides(sizes);
  if (x.is_contiguous() || x.numel() == 0) return true;
  // Walk both from the end: a group of old dimensions that lie densely behind each other can be split anew.
  const Shape &old = x.sizes(), &old_strides = x.strides();
  int64_t to = static_cast<int64_t>(sizes.size()) - 1, chunk = 1, viewed = 1, base = old.empty() ? 1 : old_strides.back();
  for (int64_t d = static_cast<int64_t>(old.size()) - 1; d >= 0; --d) {
    chunk *= old[static_cast<size_t>(d)];
    const auto i = static_cast<size_t>(d);
    if (d == 0 || (old[i - 1] != 1 && old_strides[i - 1] != chunk * base)) {
      while (to >= 0 && (viewed < chunk || sizes[static_cast<size_t>(to)] == 1)) {
        strides[static_cast<size_t>(to)] = viewed * base;
        viewed *= sizes[static_cast<size_t>(to)];
        --to;
      }
      if (viewed != chunk) return false;
      if (d > 0) {
        base = old_strides[i - 1];
        chunk = viewed = 1;
      }
    }
  }
  return to == -1;
}

/// `sizes` with its -1 worked out.
Shape inferred(const char* op, const Tensor& x, const Shape& sizes) {
  Shape result = sizes;
  int64_t known = 1, unknown = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      if (unknown >= 0) fail("[", op, "] only one dimension can be inferred");
      unknown = static_cast<int64_t>(i);
    } else if (sizes[i] < 0) {
      fail("[", op, "] invalid shape dimension ", sizes[i]);
    } else if (__builtin_mul_overflow(known, sizes[i], &known)) {
      fail("[", op, "] shape '", sizes, "' is invalid for input of size ", x.numel());
    }
  }
  const int64_t numel = x.numel();
  if (unknown >= 0 && known == 0)
    fail("[", op, "] cannot reshape tensor of ", numel, " elements into shape ", sizes,
         " because the unspecified dimension size -1 can be any value and is ambiguous");
  if (unknown < 0 ? known != numel : numel % known != 0) fail("[", op, "] shape '", sizes, "' is invalid for input of size ", numel);
  if (unknown >= 0) result[static_cast<size_t>(unknown)] = numel / known;
  return result;
}

Tensor viewed(const Tensor& x, Shape sizes, Shape strides, const char* grad_fn, Site site) {
  Tensor y = view_of(x, std::move(sizes), std::move(strides), x.storage_offset());
  if (!needs_grad(x)) return y;
  return record(grad_fn, y, {x}, site, [sizes = x.sizes()](const Tensor& g) { return g.reshape(sizes); });
}

}  // namespace

// --- Sizes
Tensor Tensor::view(const Shape& sizes, Site site) const {
  Shape wanted = inferred("view", *this, sizes), strides;
  if (!strides_for(*this, wanted, strides))
    fail(
        "[view] view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
        "subspaces). Use .reshape(...) instead. "
        "Sizes ",
        this->sizes(), ", strides ", this->strides(), ", wanted ", wanted);
  return viewed(*this, std::move(wanted), std::move(strides), "ViewBackward0", site);
}

Tensor Tensor::reshape(const Shape& sizes, Site site) const {
  Shape wanted = inferred("reshape", *this, sizes), strides;
  if (strides_for(*this, wanted, strides)) return viewed(*this, std::move(wanted), std::move(strides), "ViewBackward0", site);
  const Tensor dense = clone(site);
  return viewed(dense, wanted, contiguous_strides(wanted), "UnsafeViewBackward0", site);
}

Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim, Site site) const {
  const auto start = static_cast<size_t>(wrap_dim(start_dim, dim())), end = static_cast<size_t>(wrap_dim(end_dim, dim()));
  if (start > end) fail("[flatten] flatten() has invalid args: start_dim cannot come after end_dim (", start_dim, " and ", end_dim, ")");
  if (dim() == 0) return reshape({1}, site);
  if (start == end) return *this;
  Shape wanted;
  int64_t merged = 1;
  for (size_t i = 0; i < sizes().size(); ++i) {
    if (i < start || i > end) wanted.push_back(sizes()[i]);
    else merged *= sizes()[i];
    if (i == end) wanted.push_back(merged);
  }
  return reshape(wanted, site);
}

Tensor Tensor::squeeze(Site site) const {
  Shape wanted, strides;
  for (size_t i = 0; i < sizes().size(); ++i) {
    if (sizes()[i] == 1) continue;
    wanted.push_back(sizes()[i]);
    strides.push_back(this->strides()[i]);
  }
  return viewed(*this, std::move(wanted), std::move(strides), "SqueezeBackward0", site);
}

Tensor Tensor::squeeze(int64_t dim, Site site) const {
  const auto at = static_cast<size_t>(wrap_dim(dim, this->dim()));
  Shape wanted = sizes(), strides = this->strides();
  if (!wanted.empty() && wanted[at] == 1) {
    wanted.erase(at);
    strides.erase(at);
  }
  return viewed(*this, std::move(wanted), std::move(strides), "SqueezeBackward1", site);
}

Tensor Tensor::unsqueeze(int64_t dim, Site site) const {
  const auto at = static_cast<size_t>(wrap_dim(dim, this->dim() + 1));
  Shape wanted = sizes(), strides = this->strides();
  const int64_t stride = at < wanted.size() ? wanted[at] * strides[at] : 1;
  wanted.insert(at, 1);
  strides.insert(at, stride);
  return viewed(*this, std::move(wanted), std::move(strides), "UnsqueezeBackward0", site);
}

// --- Order of dimensions
Tensor Tensor::transpose(int64_t dim0, int64_t dim1, Site site) const {
  const auto a = static_cast<size_t>(wrap_dim(dim0, dim())), b = static_cast<size_t>(wrap_dim(dim1, dim()));
  Shape wanted = sizes(), strides = this->strides();
  if (dim() > 0) {
    std::swap(wanted[a], wanted[b]);
    std::swap(strides[a], strides[b]);
  }
  Tensor y = view_of(*this, std::move(wanted), std::move(strides), storage_offset());
  if (!needs_grad(*this)) return y;
  return record("TransposeBackward0", y, {*this}, site, [dim0, dim1](const Tensor& g) { return g.transpose(dim0, dim1); });
}

Tensor Tensor::t(Site site) const {
  if (dim() > 2) fail("[t] t() expects a tensor with <= 2 dimensions, but self is ", dim(), "D");
  if (dim() < 2) return viewed(*this, sizes(), strides(), "TBackward0", site);
  Tensor y = view_of(*this, {sizes()[1], sizes()[0]}, {strides()[1], strides()[0]}, storage_offset());
  if (!needs_grad(*this)) return y;
  return record("TBackward0", y, {*this}, site, [](const Tensor& g) { return g.t(); });
}

Tensor Tensor::permute(const Shape& dims, Site site) const {
  if (static_cast<int64_t>(dims.size()) != dim())
    fail(
        "[permute] number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. "
        "input.dim() = ",
        dim(), " is not equal to len(dims) = ", dims.size());
  Shape wanted = sizes(), strides = this->strides(), inverse;
  inverse.resize(dims.size());
  uint64_t seen = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto from = static_cast<size_t>(wrap_dim(dims[i], dim()));
    if (seen >> from & 1) fail("[permute] duplicate dims are not allowed: ", dims);
    seen |= uint64_t{1} << from;
    wanted[i] = sizes()[from];
    strides[i] = this->strides()[from];
    inverse[from] = static_cast<int64_t>(i);
  }
  Tensor y = view_of(*this, std::move(wanted), std::move(strides), storage_offset());
  if (!needs_grad(*this)) return y;
  return record("PermuteBackward0", y, {*this}, site, [inverse](const Tensor& g) { return g.permute(inverse); });
}

// --- Repeating without copies
Tensor Tensor::expand(const Shape& wanted, Site site) const {
  if (wanted.size() < sizes().size())
    fail("[expand] the number of sizes provided (", wanted.size(), ") must be greater or equal to the number of dimensions in the tensor (",
         dim(), ")");
  Shape result = wanted, strides = wanted;
  const size_t lead = wanted.size() - sizes().size();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i < lead) {
      if (wanted[i] < 0)
        fail("[expand] the expanded size of the tensor (", wanted[i], ") isn't allowed in a leading, non-existing dimension ", i);
      strides[i] = 0;
      continue;
    }
    const int64_t size = sizes()[i - lead];
    if (wanted[i] == -1 || wanted[i] == size) {
      result[i] = size;
      strides[i] = this->strides()[i - lead];
    } else if (size == 1 && wanted[i] >= 0) {
      strides[i] = 0;
    } else {
      fail("[expand] The expanded size of the tensor (", wanted[i], ") must match the existing size (", size,
           ") at non-singleton dimension ", i, ". Target sizes: ", wanted, ". Tensor sizes: ", sizes());
    }
  }
  Tensor y = view_of(*this, std::move(result), std::move(strides), storage_offset());
  if (!needs_grad(*this)) return y;
  return record("ExpandBackward0", y, {*this}, site, [from = sizes()](const Tensor& g) { return sum_to_size(g, from); });
}

Tensor sum_to_size(const Tensor& x, const Shape& sizes, Site site) {
  if (x.sizes() == sizes) return x;
  Shape dims;
  const size_t lead = x.sizes().size() - sizes.size();
  for (size_t i = 0; i < x.sizes().size(); ++i)
    if (i < lead || (sizes[i - lead] == 1 && x.sizes()[i] != 1)) dims.push_back(static_cast<int64_t>(i));
  const Tensor summed = dims.empty() ? x : x.sum(dims, true, {}, site);
  return lead > 0 ? summed.reshape(sizes, site) : summed;
}

// --- Parts
Tensor Tensor::slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step, Site site) const {
  if (this->dim() == 0) fail("[slice] slice() cannot be applied to a 0-dim tensor.");
  if (step <= 0) fail("[slice] slice step must be positive, not ", step);
  const auto at = static_cast<size_t>(wrap_dim(dim, this->dim()));
  const int64_t size = sizes()[at];
  const auto clipped = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t from = clipped(start.value_or(0)), to = std::max(from, clipped(end.value_or(size)));
  Shape wanted = sizes(), strides = this->strides();
  wanted[at] = (to - from + step - 1) / step;
  const int64_t offset = storage_offset() + from * strides[at];
  strides[at] *= step;
  Tensor y = view_of(*this, std::move(wanted), std::move(strides), offset);
  if (!needs_grad(*this)) return y;
  return record("SliceBackward0", y, {*this}, site,
                [from = sizes(), dim, start, end, step](const Tensor& g) { return slice_backward(g, from, dim, start, end, step); });
}

Tensor slice_backward(const Tensor& g, const Shape& sizes, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                      int64_t step, Site site) {
  Tensor whole = zeros(sizes, {.dtype = g.dtype(), .device = g.device()}, site);
  {
    const autograd::detail::NoRecord quiet;
    whole.slice(dim, start, end, step).copy_(g.detach());
  }
  if (!needs_grad(g)) return whole;
  return record("SliceBackward0Backward0", whole, {g}, site,
                [dim, start, end, step](const Tensor& gg) { return gg.slice(dim, start, end, step); });
}

Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length, Site site) const {
  const int64_t size = this->size(dim);
  const int64_t from = start < 0 ? start + size : start;
  if (length < 0) fail("[narrow] narrow(): length must be non-negative, not ", length);
  if (from < 0 || from > size || length > size - from)
    fail<IndexError>("[narrow] start (", start, ") + length (", length, ") exceeds dimension size (", size, ")");
  return slice(dim, from, from + length, 1, site);
}

Tensor Tensor::select(int64_t dim, int64_t index, Site site) const {
  if (this->dim() == 0) fail<IndexError>("[select] select() cannot be applied to a 0-dim tensor.");
  const auto at = static_cast<size_t>(wrap_dim(dim, this->dim()));
  const int64_t size = sizes()[at];
  if (index < -size || index >= size)
    fail<IndexError>("[select] select(): index ", index, " out of range for tensor of size ", sizes(), " at dimension ", at);
  const int64_t from = index < 0 ? index + size : index;
  Shape wanted = sizes(), strides = this->strides();
  const int64_t offset = storage_offset() + from * strides[at];
  wanted.erase(at);
  strides.erase(at);
  Tensor y = view_of(*this, std::move(wanted), std::move(strides), offset);
  if (!needs_grad(*this)) return y;
  return record("SelectBackward0", y, {*this}, site, [sizes = sizes(), at = static_cast<int64_t>(at), from](const Tensor& g) {
    return slice_backward(g.unsqueeze(at), sizes, at, from, from + 1, 1);
  });
}

Tensor Tensor::operator[](At at) const { return select(0, at.index, at.site); }

Tensor Tensor::diagonal(int64_t offset, int64_t dim1, int64_t dim2, Site site) const {
  const auto a = static_cast<size_t>(wrap_dim(dim1, dim())), b = static_cast<size_t>(wrap_dim(dim2, dim()));
  if (a == b) fail("[diagonal] diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t length =
      std::max<int64_t>(0, offset >= 0 ? std::min(sizes()[a], sizes()[b] - offset) : std::min(sizes()[a] + offset, sizes()[b]));
  const int64_t stride = strides()[a] + strides()[b];
  const int64_t start = length == 0 ? 0 : offset >= 0 ? offset * strides()[b] : -offset * strides()[a];
  Shape wanted = sizes(), strides = this->strides();
  for (const size_t at : {std::max(a, b), std::min(a, b)}) {
    wanted.erase(at);
    strides.erase(at);
  }
  wanted.push_back(length);
  strides.push_back(stride);
  Tensor y = view_of(*this, std::move(wanted), std::move(strides), storage_offset() + start);
  if (!needs_grad(*this)) return y;
  return record("DiagonalBackward0", y, {*this}, site, [sizes = sizes(), offset, dim1, dim2](const Tensor& g) {
    return scatter_view(g, sizes, [=](const Tensor& whole) { return whole.diagonal(offset, dim1, dim2); });
  });
}

Tensor Tensor::as_strided(const Shape& sizes, const Shape& strides, std::optional<int64_t> offset, Site site) const {
  if (sizes.size() != strides.size()) fail("[as_strided] mismatch in length of strides and shape: ", sizes, ", ", strides);
  const int64_t from = offset.value_or(storage_offset());
  int64_t last = from;
  bool none = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || strides[i] < 0) fail("[as_strided] negative sizes or strides are not supported: ", sizes, ", ", strides);
    none |= sizes[i] == 0;
    last += (sizes[i] - 1) * strides[i];
  }
  const int64_t available = static_cast<int64_t>(impl().storage->bytes() / element_size());
  if (from < 0 || (!none && last >= available))
    fail("[as_strided] setStorage: sizes ", sizes, ", strides ", strides, ", storage offset ", from, " require ", last + 1,
         " elements, but the storage has ", available);
  Tensor y = view_of(*this, sizes, strides, from);
  if (!needs_grad(*this)) return y;
  if (!is_contiguous() || storage_offset() != 0)
    fail("[as_strided] only views of whole, dense tensors can be differentiated; call contiguous() first");
  return record("AsStridedBackward0", y, {*this}, site, [whole = this->sizes(), sizes, strides, from](const Tensor& g) {
    return scatter_view(g, whole, [&](const Tensor& all) { return all.as_strided(sizes, strides, from); });
  });
}

Tensor scatter_view(const Tensor& g, const Shape& sizes, const std::function<Tensor(const Tensor&)>& part) {
  Tensor whole = zeros(sizes, {.dtype = g.dtype(), .device = g.device()});
  part(whole).add_(g);  // recorded as an in-place change of the whole, so that it can be differentiated again
  return whole;
}

std::vector<Tensor> Tensor::split(const Shape& lengths, int64_t dim, Site site) const {
  int64_t start = 0;
  std::vector<Tensor> parts;
  for (const int64_t length : lengths) {
    if (length < 0) fail("[split] split_with_sizes expects split_sizes have only non-negative entries, but got ", lengths);
    start += length;
  }
  if (start != size(dim))
    fail("[split] split_with_sizes expects split_sizes to sum exactly to ", size(dim), " (input tensor's size at dimension ", dim,
         "), but got ", lengths);
  start = 0;
  for (const int64_t length : lengths) {
    parts.push_back(slice(dim, start, start + length, 1, site));
    start += length;
  }
  return parts;
}

std::vector<Tensor> Tensor::split(int64_t length, int64_t dim, Site site) const {
  const int64_t whole = size(dim);
  if (length < 0 || (length == 0 && whole > 0)) fail("[split] split expects split_size be positive, but got ", length);
  std::vector<Tensor> parts;
  if (whole == 0) parts.push_back(slice(dim, 0, 0, 1, site));
  for (int64_t start = 0; start < whole; start += length) parts.push_back(slice(dim, start, std::min(start + length, whole), 1, site));
  return parts;
}

std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim, Site site) const {
  if (chunks <= 0) fail("[chunk] chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t whole = size(dim);
  if (whole == 0) return std::vector<Tensor>(static_cast<size_t>(chunks), slice(dim, 0, 0, 1, site));
  return split((whole + chunks - 1) / chunks, dim, site);
}

std::vector<Tensor> Tensor::unbind(int64_t dim, Site site) const {
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < size(dim); ++i) parts.push_back(select(dim, i, site));
  return parts;
}

// --- The same as functions
Tensor reshape(const Tensor& x, const Shape& sizes, Site site) { return x.reshape(sizes, site); }
Tensor flatten(const Tensor& x, int64_t start_dim, int64_t end_dim, Site site) { return x.flatten(start_dim, end_dim, site); }
Tensor squeeze(const Tensor& x, Site site) { return x.squeeze(site); }
Tensor squeeze(const Tensor& x, int64_t dim, Site site) { return x.squeeze(dim, site); }
Tensor unsqueeze(const Tensor& x, int64_t dim, Site site) { return x.unsqueeze(dim, site); }
Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1, Site site) { return x.transpose(dim0, dim1, site); }
Tensor t(const Tensor& x, Site site) { return x.t(site); }
Tensor permute(const Tensor& x, const Shape& dims, Site site) { return x.permute(dims, site); }
Tensor movedim(const Tensor& x, int64_t source, int64_t destination, Site site) {
  const int64_t from = wrap_dim(source, x.dim()), to = wrap_dim(destination, x.dim());
  Shape dims;
  for (int64_t i = 0; i < x.dim(); ++i)
    if (i != from) dims.push_back(i);
  dims.insert(static_cast<size_t>(to), from);
  return x.permute(dims, site);
}
Tensor broadcast_to(const Tensor& x, const Shape& sizes, Site site) { return x.expand(sizes, site); }
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length, Site site) { return x.narrow(dim, start, length, site); }
Tensor select(const Tensor& x, int64_t dim, int64_t index, Site site) { return x.select(dim, index, site); }
Tensor diagonal(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2, Site site) { return x.diagonal(offset, dim1, dim2, site); }
Tensor as_strided(const Tensor& x, const Shape& sizes, const Shape& strides, std::optional<int64_t> offset, Site site) {
  return x.as_strided(sizes, strides, offset, site);
}
std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim, Site site) { return x.chunk(chunks, dim, site); }
std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t dim, Site site) { return x.split(size, dim, site); }
std::vector<Tensor> split(const Tensor& x, const Shape& sizes, int64_t dim, Site site) { return x.split(sizes, dim, site); }
std::vector<Tensor> unbind(const Tensor& x, int64_t dim, Site site) { return x.unbind(dim, site); }

}  // namespace tandem
