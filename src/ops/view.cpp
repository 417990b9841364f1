#include "ops/view.h"

#include <algorithm>

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/reduce.h"
#include "ops/view_of.h"
#include "tensor/dims.h"
#include "tensor/host_values.h"
#include "tensor/tensor_impl.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;

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
      if (unknown >= 0) fail("[", op, "] only one dimension can be inferred, but the shape is ", sizes, ": give all sizes but one");
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
  if (unknown < 0 ? known != numel : numel % known != 0)
    fail("[", op, "] shape '", sizes, "' is invalid for input of size ", numel, ": give sizes whose product is that, or one -1");
  if (unknown >= 0) result[static_cast<size_t>(unknown)] = numel / known;
  return result;
}

Tensor viewed(const Tensor& x, Shape sizes, Shape strides, const char* grad_fn, Site site) {
  Tensor y = ops::view_of(x, std::move(sizes), std::move(strides), x.storage_offset());
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

Tensor Tensor::view_bytes(DType dtype, Site /*site*/) const {
  const TensorImpl& self = impl();
  const auto from = static_cast<int64_t>(size_of(self.dtype)), to = static_cast<int64_t>(size_of(dtype));
  if (from == to) return Tensor(self.alias(self.sizes, self.strides, self.offset, dtype));
  const std::string why = str(" to view ", scalar_name(self.dtype), " as ", scalar_name(dtype), " (different element sizes)");
  if (dim() == 0) fail("[view] self.dim() cannot be 0", why, ": give it a dimension with unsqueeze(0)");
  if (self.strides.back() != 1)
    fail("[view] self.stride(-1) must be 1", why, ", but got ", self.strides.back(), ": call contiguous() first");
  Shape sizes = self.sizes, strides = self.strides;
  if (from > to) {
    for (int64_t& stride : strides) stride *= from / to;
    sizes[sizes.size() - 1] *= from / to;
    strides[strides.size() - 1] = 1;
    return Tensor(self.alias(sizes, strides, self.offset * (from / to), dtype));
  }
  const auto divided = [&](int64_t count, const std::string& what) {
    if (count % (to / from) != 0) fail("[view] self.", what, " must be divisible by ", to / from, why, ", but got ", count);
    return count / (to / from);
  };
  sizes[sizes.size() - 1] = divided(sizes.back(), "size(-1)");
  const int64_t offset = divided(self.offset, "storage_offset()");
  for (size_t i = 0; i + 1 < strides.size(); ++i) strides[i] = divided(strides[i], str("stride(", i, ")"));
  return Tensor(self.alias(sizes, strides, offset, dtype));
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

Tensor Tensor::squeeze_one(int64_t dim, Site site) const {
  const auto at = static_cast<size_t>(wrap_dim(dim, this->dim()));
  Shape wanted = sizes(), strides = this->strides();
  if (!wanted.empty() && wanted[at] == 1) {
    wanted.erase(at);
    strides.erase(at);
  }
  return viewed(*this, std::move(wanted), std::move(strides), "SqueezeBackward1", site);
}

Tensor Tensor::squeeze(const Shape& dims, Site site) const {
  uint64_t chosen = 0;
  for (const int64_t dim : dims) {
    const auto at = wrap_dim(dim, this->dim());
    if (chosen >> at & 1) fail("[squeeze] dim ", at, " appears multiple times in the list of dims");
    chosen |= uint64_t{1} << at;
  }
  Shape wanted, strides;
  for (size_t i = 0; i < sizes().size(); ++i) {
    if (sizes()[i] == 1 && (chosen >> i & 1)) continue;
    wanted.push_back(sizes()[i]);
    strides.push_back(this->strides()[i]);
  }
  return viewed(*this, std::move(wanted), std::move(strides), "SqueezeBackward2", site);
}

Tensor Tensor::unflatten(int64_t dim, const Shape& sizes, Site site) const {
  const auto at = static_cast<size_t>(wrap_dim(dim, this->dim()));
  if (this->dim() == 0) fail<IndexError>("[unflatten] Dimension specified as ", dim, " but tensor has no dimensions");
  if (sizes.empty()) fail("[unflatten] unflatten: sizes must be non-empty");
  const int64_t whole = this->sizes()[at];
  int64_t known = 1, unknown = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && unknown >= 0) fail("[unflatten] only one dimension can be inferred: ", sizes);
    if (sizes[i] == -1) unknown = static_cast<int64_t>(i);
    else if (sizes[i] < 0 || __builtin_mul_overflow(known, sizes[i], &known)) fail("[unflatten] invalid sizes ", sizes);
  }
  if (unknown < 0 ? known != whole : known == 0 || whole % known != 0)
    fail("[unflatten] unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", at, " (", whole,
         ") in the input tensor");
  Shape wanted = this->sizes();
  wanted.erase(at);
  for (size_t i = 0; i < sizes.size(); ++i) wanted.insert(at + i, static_cast<int64_t>(i) == unknown ? whole / known : sizes[i]);
  return view(wanted, site);
}

Tensor Tensor::unsqueeze(int64_t dim, Site site) const {
  const auto at = static_cast<size_t>(wrap_dim(dim, this->dim() + 1));
  Shape wanted = sizes(), strides = this->strides();
  const int64_t stride = at < wanted.size() ? wanted[at] * strides[at] : 1;
  wanted.insert(at, 1);
  strides.insert(at, stride);
  return viewed(*this, std::move(wanted), std::move(strides), "UnsqueezeBackward0", site);
}

// --- In place
namespace {

/// x takes over the layout and the history of `view`, a view of all of it.
const Tensor& seen_as(const char* op, const Tensor& x, const Tensor& view) {
  autograd::check_in_place(op, x);
  TensorImpl& impl = x.impl();
  impl.sizes = view.sizes();
  impl.strides = view.strides();
  impl.refresh();
  impl.bump_version();
  // Other views keep their histories: no value has changed.
  if (needs_grad(view)) autograd::set_history(x, view.grad_fn());
  return x;
}

}  // namespace

const Tensor& Tensor::squeeze_(Site site) const { return seen_as("squeeze_", *this, squeeze(site)); }
const Tensor& Tensor::squeeze_one_(int64_t dim, Site site) const { return seen_as("squeeze_", *this, squeeze(dim, site)); }
const Tensor& Tensor::squeeze_(const Shape& dims, Site site) const { return seen_as("squeeze_", *this, squeeze(dims, site)); }
const Tensor& Tensor::unsqueeze_(int64_t dim, Site site) const { return seen_as("unsqueeze_", *this, unsqueeze(dim, site)); }
const Tensor& Tensor::transpose_(int64_t dim0, int64_t dim1, Site site) const {
  return seen_as("transpose_", *this, transpose(dim0, dim1, site));
}
const Tensor& Tensor::t_(Site site) const { return seen_as("t_", *this, t(site)); }

// --- Order of dimensions
Tensor Tensor::transpose(int64_t dim0, int64_t dim1, Site site) const {
  const auto a = static_cast<size_t>(wrap_dim(dim0, dim())), b = static_cast<size_t>(wrap_dim(dim1, dim()));
  Shape wanted = sizes(), strides = this->strides();
  if (dim() > 0) {
    std::swap(wanted[a], wanted[b]);
    std::swap(strides[a], strides[b]);
  }
  Tensor y = ops::view_of(*this, std::move(wanted), std::move(strides), storage_offset());
  if (!needs_grad(*this)) return y;
  return record("TransposeBackward0", y, {*this}, site, [dim0, dim1](const Tensor& g) { return g.transpose(dim0, dim1); });
}

Tensor Tensor::t(Site site) const {
  if (dim() > 2) fail("[t] t() expects a tensor with <= 2 dimensions, but self is ", dim(), "D");
  if (dim() < 2) return viewed(*this, sizes(), strides(), "TBackward0", site);
  Tensor y = ops::view_of(*this, {sizes()[1], sizes()[0]}, {strides()[1], strides()[0]}, storage_offset());
  if (!needs_grad(*this)) return y;
  return record("TBackward0", y, {*this}, site, [](const Tensor& g) { return g.t(); });
}

Tensor Tensor::permute(const Shape& dims, Site site) const {
  if (static_cast<int64_t>(dims.size()) != dim())
    fail(
        "[permute] number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. "
        "input.dim() = ",
        dim(), " is not equal to len(dims) = ", dims.size(), "; name each dimension once");
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
  Tensor y = ops::view_of(*this, std::move(wanted), std::move(strides), storage_offset());
  if (!needs_grad(*this)) return y;
  return record("PermuteBackward0", y, {*this}, site, [inverse](const Tensor& g) { return g.permute(inverse); });
}

Tensor Tensor::movedim(const Shape& source, const Shape& destination, Site site) const {
  if (source.size() != destination.size())
    fail("[movedim] movedim: Invalid source or destination dims: source (", source,
         " dims) should contain the same number of dims as destination (", destination, " dims)");
  Shape order;
  order.resize(sizes().size());
  uint64_t taken = 0, placed = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = wrap_dim(source[i], dim()), to = wrap_dim(destination[i], dim());
    if (taken >> from & 1) fail("[movedim] movedim: repeated dim in `source` (", source, ")");
    if (placed >> to & 1) fail("[movedim] movedim: repeated dim in `destination` (", destination, ")");
    taken |= uint64_t{1} << from;
    placed |= uint64_t{1} << to;
    if (dim() > 0) order[static_cast<size_t>(to)] = from;
  }
  int64_t from = 0;
  for (size_t to = 0; to < order.size(); ++to) {
    if (placed >> to & 1) continue;
    while (taken >> from & 1) ++from;
    order[to] = from++;
  }
  return permute(order, site);
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
           ") at non-singleton dimension ", i, ". Target sizes: ", wanted, ". Tensor sizes: ", sizes(), "; repeat() copies elements");
    }
  }
  Tensor y = ops::view_of(*this, std::move(result), std::move(strides), storage_offset());
  if (!needs_grad(*this)) return y;
  return record("ExpandBackward0", y, {*this}, site, [from = sizes()](const Tensor& g) { return sum_to_size(g, from); });
}

bool can_expand(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1 && from[i] != to[i + to.size() - from.size()]) return false;
  return true;
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
  wanted[at] = to == from ? 0 : (to - from - 1) / step + 1;
  const int64_t offset = storage_offset() + from * strides[at];
  strides[at] = wrapping_product(strides[at], step);
  Tensor y = ops::view_of(*this, std::move(wanted), std::move(strides), offset);
  if (!needs_grad(*this)) return y;
  return record("SliceBackward0", y, {*this}, site,
                [from = sizes(), dim, start, end, step](const Tensor& g) { return slice_backward(g, from, dim, start, end, step); });
}

Tensor slice_backward(const Tensor& g, const Shape& sizes, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                      int64_t step, Site site) {
  Tensor whole = zeros(sizes, {.dtype = g.dtype(), .device = g.device()}, site);
  {
    const NoGradGuard no_grad;
    whole.slice(dim, start, end, step).copy_(g.detach());
  }
  if (!needs_grad(g)) return whole;
  return record("SliceBackward0Backward0", whole, {g}, site,
                [dim, start, end, step](const Tensor& gg) { return gg.slice(dim, start, end, step); });
}

Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length, Site site) const {
  if (this->dim() == 0) fail("[narrow] narrow() cannot be applied to a 0-dim tensor.");
  const int64_t size = this->size(dim);
  if (start < -size || start > size)
    fail<IndexError>("[narrow] start out of range (expected to be in range of [", -size, ", ", size, "], but got ", start, ")");
  const int64_t from = start < 0 ? start + size : start;
  if (length < 0) fail("[narrow] narrow(): length must be non-negative, not ", length);
  if (length > size - from) fail("[narrow] start (", from, ") + length (", length, ") exceeds dimension size (", size, ").");
  return slice(dim, from, from + length, 1, site);
}

Tensor Tensor::select(int64_t dim, int64_t index, Site site) const {
  if (this->dim() == 0) fail<IndexError>("[select] select() cannot be applied to a 0-dim tensor.");
  const auto at = static_cast<size_t>(wrap_dim(dim, this->dim()));
  const int64_t size = sizes()[at];
  if (index < -size || index >= size)
    fail<IndexError>("[select] select(): index ", index, " out of range for tensor of size ", sizes(), " at dimension ", at, ": use ",
                     -size, " to ", size - 1);
  const int64_t from = index < 0 ? index + size : index;
  Shape wanted = sizes(), strides = this->strides();
  const int64_t offset = storage_offset() + from * strides[at];
  wanted.erase(at);
  strides.erase(at);
  Tensor y = ops::view_of(*this, std::move(wanted), std::move(strides), offset);
  if (!needs_grad(*this)) return y;
  return record("SelectBackward0", y, {*this}, site, [sizes = sizes(), at = static_cast<int64_t>(at), from](const Tensor& g) {
    return slice_backward(g.unsqueeze(at), sizes, at, from, from + 1, 1);
  });
}

Tensor Tensor::operator[](At at) const { return select(0, at.index, at.site); }

Tensor scatter_view(const Tensor& g, const Shape& sizes, const std::function<Tensor(const Tensor&)>& part) {
  Tensor whole = zeros(sizes, {.dtype = g.dtype(), .device = g.device()});
  part(whole).add_(g);  // recorded as an in-place change of the whole, so that it can be differentiated again
  return whole;
}

// --- The same as functions
namespace {

template <class F>
std::vector<Tensor> each(const std::vector<Tensor>& tensors, F f) {
  std::vector<Tensor> results;
  for (const Tensor& x : tensors) results.push_back(f(x));
  return results;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& sizes, Site site) { return x.reshape(sizes, site); }
Tensor flatten(const Tensor& x, int64_t start_dim, int64_t end_dim, Site site) { return x.flatten(start_dim, end_dim, site); }
Tensor squeeze(const Tensor& x, Site site) { return x.squeeze(site); }
Tensor unsqueeze(const Tensor& x, int64_t dim, Site site) { return x.unsqueeze(dim, site); }
Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1, Site site) { return x.transpose(dim0, dim1, site); }
Tensor swapaxes(const Tensor& x, int64_t axis0, int64_t axis1, Site site) { return x.transpose(axis0, axis1, site); }
Tensor t(const Tensor& x, Site site) { return x.t(site); }
Tensor permute(const Tensor& x, const Shape& dims, Site site) { return x.permute(dims, site); }
Tensor movedim(const Tensor& x, int64_t source, int64_t destination, Site site) { return x.movedim(source, destination, site); }
Tensor movedim(const Tensor& x, const Shape& source, const Shape& destination, Site site) { return x.movedim(source, destination, site); }
Tensor squeeze(const Tensor& x, const Shape& dims, Site site) { return x.squeeze(dims, site); }
Tensor unflatten(const Tensor& x, int64_t dim, const Shape& sizes, Site site) { return x.unflatten(dim, sizes, site); }
Tensor ravel(const Tensor& x, Site site) { return x.reshape({-1}, site); }
Tensor narrow(const Tensor& x, int64_t dim, const Tensor& start, int64_t length, Site site) {
  if (start.dim() != 0 || !is_integral(start.dtype()))
    fail("[narrow] start must be an 0-dim integral Tensor, but has sizes ", start.sizes(), " and dtype ", start.dtype());
  return x.narrow(dim, read_value(start, "narrow", site).to<int64_t>(), length, site);
}
Tensor atleast_1d(const Tensor& x, Site site) { return x.dim() == 0 ? x.reshape({1}, site) : x; }
Tensor atleast_2d(const Tensor& x, Site site) { return x.dim() == 0 ? x.reshape({1, 1}, site) : x.dim() == 1 ? x.unsqueeze(0, site) : x; }
Tensor atleast_3d(const Tensor& x, Site site) {
  if (x.dim() == 0) return x.reshape({1, 1, 1}, site);
  if (x.dim() == 1) return x.unsqueeze(0, site).unsqueeze(-1, site);
  return x.dim() == 2 ? x.unsqueeze(-1, site) : x;
}
std::vector<Tensor> atleast_1d(const std::vector<Tensor>& tensors, Site site) {
  return each(tensors, [&](const Tensor& x) { return atleast_1d(x, site); });
}
std::vector<Tensor> atleast_2d(const std::vector<Tensor>& tensors, Site site) {
  return each(tensors, [&](const Tensor& x) { return atleast_2d(x, site); });
}
std::vector<Tensor> atleast_3d(const std::vector<Tensor>& tensors, Site site) {
  return each(tensors, [&](const Tensor& x) { return atleast_3d(x, site); });
}
std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors, Site site) {
  Shape sizes;
  for (const Tensor& x : tensors) sizes = broadcast_shapes(sizes, x.sizes());
  return each(tensors, [&](const Tensor& x) { return x.sizes() == sizes ? x : x.expand(sizes, site); });
}
Tensor broadcast_to(const Tensor& x, const Shape& sizes, Site site) { return x.expand(sizes, site); }
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length, Site site) { return x.narrow(dim, start, length, site); }
Tensor select(const Tensor& x, int64_t dim, int64_t index, Site site) { return x.select(dim, index, site); }

const Tensor& Tensor::resize_(const Shape& sizes, Site site) const {
  int64_t count = 1;
  for (const int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) fail("[resize_] a tensor cannot have the sizes ", sizes);
  if (requires_grad(site)) fail("[resize_] cannot resize variables that require grad");
  if (sizes == this->sizes()) return *this;
  autograd::check_in_place("resize_", *this);
  const NoGradGuard no_grad;
  TensorImpl& self = impl();
  const Tensor plain = detach();
  const auto room = static_cast<int64_t>(self.storage->bytes() / size_of(self.dtype)) - self.offset;
  if (count <= room) {
    self.replace_storage(plain.as_strided(sizes, contiguous_strides(sizes), self.offset, site).impl());
    return *this;
  }
  const Tensor made = empty({count}, options(), site);
  made.narrow(0, 0, room, site).copy_(plain.as_strided({room}, {1}, self.offset, site), false, site);
  self.replace_storage(made.view(sizes, site).impl());
  return *this;
}

}  // namespace tandem
