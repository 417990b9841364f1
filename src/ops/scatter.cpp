#include "ops/scatter.h"

#include <array>
#include <limits>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/accumulate.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/overlap.h"
#include "ops/reduce.h"
#include "ops/scan.h"
#include "ops/sort.h"
#include "ops/view.h"
#include "tensor/dims.h"
#include "tensor/host_values.h"

namespace tandem {
namespace {

using autograd::needs_grad;
using autograd::record;
using autograd::Wanted;
using kernels::Scatter;

/// The index as int64. Error for other than int32 and int64.
Tensor checked_index(const char* op, const Tensor& x, const Tensor& index, Site site) {
  if (index.dtype() != kInt64 && index.dtype() != kInt32 && index.numel() > 0)
    fail("[", op, "] ", op, "(): Expected dtype int32/int64 for index but got: ", scalar_name(index.dtype()));
  ops::check_same_device(op, x, "self", index, "index");
  return index.to(kInt64, {}, site);
}

void check_index_dims(const char* op, const Tensor& index, const Tensor& other, const char* name) {
  if (std::max<int64_t>(1, index.dim()) != std::max<int64_t>(1, other.dim()))
    fail("[", op, "] Index tensor must have the same number of dimensions as ", name, " tensor: ", index.dim(), " and ", other.dim());
}

/// Every dimension of index but `dim` within x's.
void check_within(const char* op, const Tensor& x, const Tensor& index, int64_t dim) {
  for (int64_t d = 0; d < std::min(x.dim(), index.dim()); ++d)
    if (d != dim && index.size(d) > x.size(d))
      fail("[", op, "] Size does not match at dimension ", d, " expected index ", index.sizes(), " to be no larger than self ", x.sizes(),
           " apart from dimension ", dim);
}

/// The part of a source that an index of smaller sizes uses.
Tensor used_part(const Tensor& source, const Tensor& index, Site site) {
  Tensor part = source;
  for (int64_t d = 0; d < std::min(index.dim(), source.dim()); ++d)
    if (part.size(d) != index.size(d)) part = part.slice(d, 0, index.size(d), 1, site);
  return part;
}

/// A scatter with its arguments checked: x, int64 index, the used part of the source.
struct Checked {
  int64_t at;
  Tensor index, source;
};
Checked check(const char* op, const Tensor& x, int64_t dim, const Tensor& index, const Operand& source, Site site) {
  Checked c{wrap_dim(dim, x.dim()), checked_index(op, x, index, site), Tensor()};
  if (!source.is_tensor() || (source.tensor().dim() == 0 && index.dim() > 0)) {
    c.source = source.is_tensor() ? source.tensor().to(x.device(), x.dtype(), {}, site)
                                  : full({}, source.number(), {.dtype = x.dtype(), .device = x.device()}, site);
    c.source = c.source.expand(index.sizes(), site);
  } else {
    c.source = source.tensor();
  }
  if (c.source.dtype() != x.dtype())
    fail("[", op, "] scatter(): Expected self.dtype to be equal to src.dtype, but got ", x.dtype(), " and ", c.source.dtype());
  ops::check_same_device(op, x, "self", c.source, "src");
  if (index.numel() == 0) {
    c.source = used_part(c.source, index, site);
    return c;
  }
  check_index_dims(op, index, x, "self");
  check_index_dims(op, index, c.source, "src");
  check_within(op, x, index, c.at);
  for (int64_t d = 0; d < index.dim(); ++d)
    if (index.size(d) > c.source.size(d))
      fail("[", op, "] Expected index ", index.sizes(), " to be no larger than src ", c.source.sizes(), " in dimension ", d);
  c.source = used_part(c.source, index, site);
  return c;
}

void scatter_into(const char* op, Scatter mode, const Tensor& target, const Checked& c, Site site) {
  ops::scatter_into(op, mode, target, c.at, c.index, c.source, site);
}

/// x, or a copy of it, after `change` has changed it without history; `backward` gives the gradients of x and of `source`.
template <class Change, class Backward>
Tensor changed(const char* op, const char* grad_fn, const Tensor& x, const Tensor& source, bool in_place, Site site, Change change,
               Backward backward) {
  if (in_place) autograd::check_in_place(op, x, needs_grad(source));
  const Tensor y = in_place ? x : x.detach().clone(site);
  {
    const NoGradGuard no_grad;
    change(y);
  }
  if (in_place) x.impl().bump_version();
  if (!needs_grad(x, source)) return y;
  if (!in_place) return record(grad_fn, y, {x, source}, site, std::move(backward));
  autograd::record_in_place(grad_fn, x, {x, source}, site, std::move(backward));
  return x;
}

Tensor scatter_set(const Tensor& x, int64_t dim, const Tensor& index, const Operand& source, bool in_place, Site site) {
  const Checked c = check("scatter", x, dim, index, source, site);
  return changed(
      "scatter_", "ScatterBackward0", x, c.source, in_place, site,
      [&](const Tensor& y) { scatter_into("scatter", Scatter::Set, y, c, site); },
      [at = c.at, index = autograd::saved(c.index)](const Tensor& g, Wanted wanted) {
        std::array<Tensor, 2> gradients;
        if (wanted[0]) gradients[0] = scatter(g, at, index.get(), 0);
        if (wanted[1]) gradients[1] = g.gather(at, index.get());
        return gradients;
      });
}

Tensor scatter_sum(const Tensor& x, int64_t dim, const Tensor& index, const Operand& source, bool in_place, Site site) {
  const Checked c = check("scatter_add", x, dim, index, source, site);
  return changed(
      "scatter_add_", "ScatterAddBackward0", x, c.source, in_place, site,
      [&](const Tensor& y) { scatter_into("scatter_add", Scatter::Add, y, c, site); },
      [at = c.at, index = autograd::saved(c.index)](const Tensor& g, Wanted wanted) {
        std::array<Tensor, 2> gradients;
        if (wanted[0]) gradients[0] = g;
        if (wanted[1]) gradients[1] = g.gather(at, index.get());
        return gradients;
      });
}

/// The gradient of an amax or amin: in equal parts to all that have reached it.
std::array<Tensor, 2> extreme_backward(const Tensor& g, const Tensor& x, const Checked& c, const Tensor& y, bool include_self) {
  Tensor own = (x == y).to(ops::sum_type(g.dtype()));
  if (!include_self) own = scatter(own, c.at, c.index, 0);
  const Tensor hit = (c.source == y.gather(c.at, c.index)).to(own.dtype());
  const Tensor share = g / maximum(scatter_add(own, c.at, c.index, hit), 1);
  return {(own * share).to(g.dtype()), (hit * share.gather(c.at, c.index)).to(g.dtype())};
}

/// The gradient of a product: g times all other factors of the place. Zeros are counted apart, so that nothing is divided by one.
std::array<Tensor, 2> product_backward(const Tensor& g, const Tensor& x, const Checked& c, bool include_self) {
  const auto without_zeros = [](const Tensor& t) { return where(t == 0, 1.0, t); };
  const DType wide = ops::sum_type(g.dtype());
  const auto zeros_in = [&](const Tensor& t) { return (t == 0).to(wide); };
  const Tensor own = without_zeros(x.to(wide)), from = without_zeros(c.source.to(wide));
  const Tensor product = scatter_reduce(own, c.at, c.index, from, "prod", include_self);
  Tensor own_zeros = zeros_in(x);
  if (!include_self) own_zeros = scatter(own_zeros, c.at, c.index, 0);
  const Tensor from_zeros = zeros_in(c.source), count = scatter_add(own_zeros, c.at, c.index, from_zeros);
  Tensor to_own = where(count == own_zeros, g * product / own, 0.0);
  if (!include_self) to_own = scatter(to_own, c.at, c.index, 0);
  const Tensor others = count.gather(c.at, c.index) - from_zeros;
  return {to_own.to(g.dtype()), where(others == 0, (g * product).gather(c.at, c.index) / from, 0.0).to(g.dtype())};
}

}  // namespace

Tensor ops::gather(const char* op, const Tensor& x, int64_t dim, const Tensor& given, Site site) {
  const Tensor index = checked_index(op, x, given, site);
  const int64_t at = wrap_dim(dim, x.dim());
  if (index.numel()) {
    check_index_dims(op, index, x, "input");
    check_within(op, x, index, at);
  }
  Tensor y = empty(index.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
  ops::launch(x, op, site, &kernels::Table::gather, y, x, index, static_cast<int32_t>(at));
  if (!needs_grad(x)) return y;
  return record("GatherBackward0", y, {x}, site, [sizes = x.sizes(), at, index = autograd::saved(index)](const Tensor& g) {
    return zeros(sizes, {.dtype = g.dtype(), .device = g.device()}).scatter_add_(at, index.get(), g);
  });
}

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, Site site) { return ops::gather("gather", x, dim, index, site); }

Tensor take_along_dim(const Tensor& x, const Tensor& indices, std::optional<int64_t> dim, Site site) {
  if (indices.dtype() != kInt64)
    fail("[take_along_dim] torch.take_along_dim(): dtype of indices should be Long but got ", scalar_name(indices.dtype()));
  if (!dim) return take_along_dim(x.reshape({-1}, site), indices.reshape({-1}, site), 0, site);
  if (x.dim() != indices.dim())
    fail("[take_along_dim] torch.take_along_dim(): input and indices should have the same number of dimensions, but got ", x.dim(),
         " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t at = wrap_dim(*dim, x.dim()), size = x.dim() ? x.size(at) : 1;
  Shape of_x = x.sizes(), of_index = indices.sizes();
  if (x.dim()) of_x[static_cast<size_t>(at)] = of_index[static_cast<size_t>(at)] = 1;
  Shape common = broadcast_shapes(of_x, of_index);
  const auto over = [&](const Tensor& t) {
    if (t.dim()) common[static_cast<size_t>(at)] = t.size(at);
    return t.expand(common, site);
  };
  const Tensor wrapped = where(lt(indices, 0, site), add(indices, size, site), indices, site);
  return gather(over(x), at, over(wrapped), site);
}

Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Operand& source, Site site) {
  return scatter_set(x, dim, index, source, false, site);
}

Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Operand& source, std::string_view reduce, Site site) {
  if (reduce == "add") return scatter_sum(x, dim, index, source, false, site);
  if (reduce != "multiply") fail("[scatter] reduce argument must be either add or multiply, got ", reduce);
  return scatter_reduce(x, dim, index, check("scatter", x, dim, index, source, site).source, "prod", true, site);
}

Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, Site site) {
  if (const ops::Cast cast("scatter_add", site, x, source); cast) return scatter_add(cast(x), dim, index, cast(source), site);
  return scatter_sum(x, dim, index, source, false, site);
}

Tensor scatter_reduce(const Tensor& x, int64_t dim, const Tensor& given, const Tensor& source, std::string_view reduce, Flag include_self,
                      Site site) {
  const bool mean = reduce == "mean", largest = reduce == "amax", least = reduce == "amin", product = reduce == "prod";
  if (!mean && !largest && !least && !product && reduce != "sum")
    fail("[scatter_reduce] reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  Checked c = check("scatter_reduce", x, dim, given, source, site);
  if (mean || reduce == "sum") {
    const Tensor base = include_self ? x : scatter(x, c.at, c.index, 0, site);
    if (!mean) return scatter_add(base, c.at, c.index, c.source, site);
    const DType wide = ops::sum_type(x.dtype());  // a mean of half types is rounded once, and its gradient
    const Tensor total = scatter_add(base.to(wide, {}, site), c.at, c.index, c.source.to(wide, {}, site), site);
    const Options like{.dtype = kInt64, .device = x.device()};
    const Tensor one = ones({}, like, site).expand(c.index.sizes(), site);
    Tensor count = full(x.sizes(), include_self ? 1 : 0, like, site).scatter_add_(c.at, c.index, one, site);
    count = maximum(count, 1, site);
    return (is_floating(x.dtype()) ? div(total, count, site) : floor_divide(total, count, site)).to(x.dtype(), {}, site);
  }
  Tensor y;
  {
    const NoGradGuard no_grad;
    y = x.clone(site);
    // Whatever comes to a place first takes it, or multiplies 1.
    if (!include_self && product) y = scatter(y, c.at, c.index, 1, site);
    else if (!include_self) scatter_into("scatter_reduce", Scatter::Set, y, c, site);
    scatter_into("scatter_reduce", product ? Scatter::Multiply : largest ? Scatter::Max : Scatter::Min, y, c, site);
  }
  if (!needs_grad(x, c.source)) return y;
  return record("ScatterReduceBackward0", y, {x, c.source}, site,
                [x = autograd::saved(x), source = autograd::saved(c.source), index = autograd::saved(c.index),
                 y = autograd::saved_output(y), at = c.at, product, include_self](const Tensor& g, Wanted, const autograd::Node* node) {
                  const Checked c{at, index.get(), source.get()};
                  return product ? product_backward(g, x.get(), c, include_self)
                                 : extreme_backward(g, x.get(), c, y.get(node), include_self);
                });
}

// --- Slices
namespace {

/// A vector of int64.
Tensor index_vector(const char* op, const Tensor& x, const Tensor& index, Site site) {
  if (index.dim() > 1) fail<IndexError>("[", op, "] ", op, "(): Index is supposed to be a vector, but got ", index.sizes());
  const Tensor list = checked_index(op, x, index, site);
  return list.dim() ? list : list.view({1}, site);
}

/// The slices of `target` at `index` = those of `source` (or += them).
void put_slices(const char* op, const Tensor& target, int64_t at, const Tensor& index, const Tensor& source, bool accumulate, Site site) {
  if (source.numel() == 0 || target.numel() == 0) return;
  const auto front = [&](const Tensor& t) { return t.dim() ? movedim(t, at, 0, site) : t.view({1}, site); };
  if (accumulate) return ops::add_at(op, front(target), front(source), {index}, false, site);
  const kernels::View list = ops::view(index);
  ops::launch(target, op, site, &kernels::Table::index_put, front(target), front(source), {&list, 1}, false, false);
}

void check_slices(const char* op, const Tensor& x, int64_t at, const Tensor& index, const Tensor& source) {
  ops::check_same_device(op, x, "self", source, "source");
  if (x.dtype() != source.dtype())
    fail("[", op, "] ", op, "_(): self (", scalar_name(x.dtype()), ") and source (", scalar_name(source.dtype()),
         ") expected to have the same dtype");
  Shape rest = x.sizes(), of_source = source.sizes();
  const int64_t given = source.dim() ? source.size(std::min(at, source.dim() - 1)) : 1;
  if (given != index.numel())
    fail<IndexError>("[", op, "] ", op, "_(): Number of indices (", index.numel(), ") should be equal to source.size(dim) (", given, ")");
  if (x.dim()) rest.erase(static_cast<size_t>(at));
  if (source.dim()) of_source.erase(static_cast<size_t>(std::min(at, source.dim() - 1)));
  if (std::max<int64_t>(1, x.dim()) != std::max<int64_t>(1, source.dim()) || !(rest == of_source))
    fail("[", op, "] source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ", x.sizes(),
         " source.shape = ", source.sizes());
}

Tensor slices_added(const Tensor& x, int64_t dim, const Tensor& given, const Tensor& source, const Scalar& alpha, bool in_place,
                    Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  const Tensor index = index_vector("index_add", x, given, site);
  check_slices("index_add", x, at, index, source);
  const bool scaled = !(alpha == Scalar(1));
  return changed(
      "index_add_", "IndexAddBackward0", x, source, in_place, site,
      [&](const Tensor& y) {
        const Tensor part = scaled ? mul(source, alpha, site).to(x.dtype(), {}, site) : source;
        put_slices("index_add", y, at, index, part, true, site);
      },
      [at, index = autograd::saved(index), alpha, scaled, sizes = source.sizes()](const Tensor& g, Wanted wanted) {
        std::array<Tensor, 2> gradients;
        if (wanted[0]) gradients[0] = g;
        if (wanted[1]) {
          gradients[1] = index_select(g, at, index.get()).reshape(sizes);
          if (scaled) gradients[1] = gradients[1] * alpha;
        }
        return gradients;
      });
}

Tensor slices_copied(const Tensor& x, int64_t dim, const Tensor& given, const Tensor& source, bool in_place, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  const Tensor index = index_vector("index_copy", x, given, site);
  check_slices("index_copy", x, at, index, source);
  return changed(
      "index_copy_", "IndexCopyBackward0", x, source, in_place, site,
      [&](const Tensor& y) { put_slices("index_copy", y, at, index, source, false, site); },
      [at, index = autograd::saved(index), sizes = source.sizes()](const Tensor& g, Wanted wanted) {
        std::array<Tensor, 2> gradients;
        if (wanted[0]) gradients[0] = index_fill(g, at, index.get(), 0);
        if (wanted[1]) gradients[1] = index_select(g, at, index.get()).reshape(sizes);
        return gradients;
      });
}

Tensor slices_filled(const Tensor& x, int64_t dim, const Tensor& given, const Operand& value, bool in_place, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  const Tensor index = index_vector("index_fill", x, given, site);
  if (value.is_tensor() && value.tensor().dim() > 0)
    fail("[index_fill] index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.tensor().dim(),
         " dimension(s).");
  const Tensor filling = value.is_tensor() ? value.tensor().to(x.device(), x.dtype(), {}, site)
                                           : full({}, value.number(), {.dtype = x.dtype(), .device = x.device()}, site);
  return changed(
      "index_fill_", "IndexFillBackward0", x, filling, in_place, site,
      [&](const Tensor& y) {
        Shape sizes = x.sizes();
        if (x.dim()) sizes[static_cast<size_t>(at)] = index.size(0);
        put_slices("index_fill", y, at, index, filling.expand(sizes, site), false, site);
      },
      [at, index = autograd::saved(index)](const Tensor& g, Wanted wanted) {
        std::array<Tensor, 2> gradients;
        if (wanted[0]) gradients[0] = index_fill(g, at, index.get(), 0);
        if (wanted[1]) gradients[1] = (g - index_fill(g, at, index.get(), 0)).sum();  // a place counts once
        return gradients;
      });
}

}  // namespace

Tensor index_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha, Site site) {
  return slices_added(x, dim, index, source, alpha, false, site);
}
Tensor index_copy(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, Site site) {
  if (const ops::Cast cast("index_copy", site, x, source); cast) return index_copy(cast(x), dim, index, cast(source), site);
  return slices_copied(x, dim, index, source, false, site);
}
Tensor index_fill(const Tensor& x, int64_t dim, const Tensor& index, const Operand& value, Site site) {
  return slices_filled(x, dim, index, value, false, site);
}

Tensor index_reduce(const Tensor& x, int64_t dim, const Tensor& given, const Tensor& source, std::string_view reduce, Flag include_self,
                    Site site) {
  if (reduce != "prod" && reduce != "mean" && reduce != "amax" && reduce != "amin")
    fail("[index_reduce] reduce argument must be either prod, mean, amax or amin, got ", reduce);
  const int64_t at = wrap_dim(dim, x.dim());
  const Tensor index = index_vector("index_reduce", x, given, site);
  check_slices("index_reduce", x, at, index, source);
  Shape along(source.sizes());
  for (size_t d = 0; d < along.size(); ++d) along[d] = static_cast<int64_t>(d) == at ? index.numel() : 1;
  const Tensor places = source.dim() ? index.reshape(along, site).expand(source.sizes(), site) : index.reshape({}, site);
  return scatter_reduce(x, at, places, source, reduce, include_self, site);
}

Tensor repeat_interleave(const Tensor& x, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size, Site site) {
  if (repeats < 0) fail("[repeat_interleave] Repeats must be non-negative, not ", repeats);
  const Tensor in = dim && x.dim() ? x : x.reshape({-1}, site);
  const int64_t at = dim ? wrap_dim(*dim, in.dim()) : 0, size = in.size(at);
  if (size && repeats > std::numeric_limits<int64_t>::max() / size)
    fail("[repeat_interleave] ", repeats, " repeats of ", size, " elements are more than a tensor can hold");
  if (output_size && *output_size != size * repeats)
    fail("[repeat_interleave] allocated size does not match required size: ", *output_size, " and ", size * repeats);
  Shape sizes = in.sizes();
  sizes.insert(static_cast<size_t>(at) + 1, repeats);
  const Tensor repeated = in.unsqueeze(at + 1, site).expand(sizes, site);
  sizes.erase(static_cast<size_t>(at) + 1);
  sizes[static_cast<size_t>(at)] = size * repeats;
  return repeated.clone(site).view(sizes, site);
}

Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size, Site site) {
  const NoGradGuard no_grad;
  if (repeats.dtype() != kInt64 && repeats.dtype() != kInt32)
    fail<NotImplementedError>("[repeat_interleave] repeats has to be Long or Int tensor, not ", scalar_name(repeats.dtype()));
  if (repeats.dim() != 1) fail("[repeat_interleave] repeat_interleave only accept 1D vector as repeat, not ", repeats.sizes());
  if (repeats.numel() == 0) return zeros({0}, {.dtype = kInt64, .device = repeats.device()}, site);
  const Tensor ends = cumsum(repeats, 0, {}, site);
  if (!output_size) {
    if (const auto least = read_value(min(repeats, site), "repeat_interleave", site).to<int64_t>(); least < 0)
      fail("[repeat_interleave] repeats can not be negative, but one is ", least);
    output_size = read_value(ends.select(0, -1, site), "repeat_interleave", site).to<int64_t>();
  } else if (repeats.is_cpu() && ends.select(0, -1, site).item<int64_t>(site) != *output_size) {
    fail("[repeat_interleave] allocated size does not match required size: ", *output_size, " and ",
         ends.select(0, -1, site).item<int64_t>(site));
  }
  return searchsorted(ends, arange(*output_size, {.dtype = kInt64, .device = repeats.device()}, site), {.right = true}, site)
      .to(repeats.dtype(), {}, site);
}

Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size,
                         Site site) {
  const Tensor in = dim && x.dim() ? x : x.reshape({-1}, site);
  const int64_t at = dim ? wrap_dim(*dim, in.dim()) : 0;
  if (repeats.dim() > 1) fail("[repeat_interleave] repeats must be 0-dim or 1-dim tensor, not ", repeats.sizes());
  Tensor each = repeats;
  if (repeats.numel() == 1) each = repeats.reshape({1}, site).expand({in.size(at)}, site);
  else if (repeats.size(0) != in.size(at))
    fail("[repeat_interleave] repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.size(0),
         " and input.size(", at, ") = ", in.size(at));
  return index_select(in, at, repeat_interleave(each, output_size, site), site);
}

// --- The same as methods
namespace {

/// What a change of x in place may save for its gradient: x as it was.
Tensor kept(const Tensor& x, Site site) { return needs_grad(x) ? x.clone(site) : x; }

/// Error where elements that are written share memory, with each other or with what is read.
void check_written(const char* op, const Tensor& target, const Tensor& source = {}) {
  ops::refuse_shared_elements(op, target);
  if (source.defined()) ops::refuse_overlap(op, target, source);
}

}  // namespace

Tensor Tensor::gather(int64_t dim, const Tensor& index, Site site) const { return tandem::gather(*this, dim, index, site); }
Tensor Tensor::take_along_dim(const Tensor& indices, std::optional<int64_t> dim, Site site) const {
  return tandem::take_along_dim(*this, indices, dim, site);
}
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Operand& source, Site site) const {
  return tandem::scatter(*this, dim, index, source, site);
}
const Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Operand& source, Site site) const {
  check_written("scatter", *this, source.is_tensor() ? source.tensor() : Tensor());
  (void)scatter_set(*this, dim, index, source, true, site);
  return *this;
}
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Operand& source, std::string_view reduce, Site site) const {
  return tandem::scatter(*this, dim, index, source, reduce, site);
}
const Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Operand& source, std::string_view reduce, Site site) const {
  if (reduce == "add") {
    check_written("scatter", *this, source.is_tensor() ? source.tensor() : Tensor());
    (void)scatter_sum(*this, dim, index, source, true, site);
    return *this;
  }
  return copy_(tandem::scatter(kept(*this, site), dim, index, source, reduce, site), false, site);
}
Tensor Tensor::scatter_add(int64_t dim, const Tensor& index, const Tensor& source, Site site) const {
  return tandem::scatter_add(*this, dim, index, source, site);
}
const Tensor& Tensor::scatter_add_(int64_t dim, const Tensor& index, const Tensor& source, Site site) const {
  check_written("scatter_add", *this, source);
  (void)scatter_sum(*this, dim, index, source, true, site);
  return *this;
}
Tensor Tensor::scatter_reduce(int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, Flag include_self,
                              Site site) const {
  return tandem::scatter_reduce(*this, dim, index, source, reduce, include_self, site);
}
const Tensor& Tensor::scatter_reduce_(int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, Flag include_self,
                                      Site site) const {
  return copy_(tandem::scatter_reduce(kept(*this, site), dim, index, source, reduce, include_self, site), false, site);
}
Tensor Tensor::index_add(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha, Site site) const {
  return tandem::index_add(*this, dim, index, source, alpha, site);
}
const Tensor& Tensor::index_add_(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha, Site site) const {
  check_written("index_add", *this, source);
  (void)slices_added(*this, dim, index, source, alpha, true, site);
  return *this;
}
Tensor Tensor::index_copy(int64_t dim, const Tensor& index, const Tensor& source, Site site) const {
  return tandem::index_copy(*this, dim, index, source, site);
}
const Tensor& Tensor::index_copy_(int64_t dim, const Tensor& index, const Tensor& source, Site site) const {
  check_written("index_copy", *this, source);
  (void)slices_copied(*this, dim, index, source, true, site);
  return *this;
}
Tensor Tensor::index_reduce(int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, Flag include_self,
                            Site site) const {
  return tandem::index_reduce(*this, dim, index, source, reduce, include_self, site);
}
const Tensor& Tensor::index_reduce_(int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce, Flag include_self,
                                    Site site) const {
  return copy_(tandem::index_reduce(kept(*this, site), dim, index, source, reduce, include_self, site), false, site);
}
Tensor Tensor::index_fill(int64_t dim, const Tensor& index, const Operand& value, Site site) const {
  return tandem::index_fill(*this, dim, index, value, site);
}
const Tensor& Tensor::index_fill_(int64_t dim, const Tensor& index, const Operand& value, Site site) const {
  check_written("index_fill", *this);
  (void)slices_filled(*this, dim, index, value, true, site);
  return *this;
}
Tensor Tensor::repeat_interleave(int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size, Site site) const {
  return tandem::repeat_interleave(*this, repeats, dim, output_size, site);
}
Tensor Tensor::repeat_interleave(const Tensor& repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size, Site site) const {
  return tandem::repeat_interleave(*this, repeats, dim, output_size, site);
}

}  // namespace tandem
