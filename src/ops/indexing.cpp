#include "ops/indexing.h"

#include <algorithm>
#include <array>
#include <utility>

#include "autograd/history.h"
#include "base/error.h"
#include "ops/accumulate.h"
#include "ops/activation.h"
#include "ops/autocasting.h"
#include "ops/broadcast.h"
#include "ops/counting.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/linalg/norms.h"
#include "ops/operators.h"
#include "ops/view.h"
#include "ops/view_of.h"
#include "tensor/dims.h"
#include "tensor/host_values.h"

namespace tandem {

Index::Index(const char* dots) : kind(Kind::Dots) {
  if (std::string_view(dots) != "...") fail("[index] Expected \"...\" to represent an ellipsis index, but got \"", dots, "\"");
}
Tensor Index::mask_of(bool value) { return full({}, value, {.dtype = kBool}); }
namespace {

using autograd::needs_grad;
using autograd::record;

/// An index taken apart: the view that slices and integers give, with the dimensions that index tensors choose moved to the front.
struct Indexing {
  Tensor view;                  // basic part only; indexed dimensions first where there are index tensors
  std::vector<Tensor> indices;  // int64, on the view's device, one for each leading dimension of `view`
  Shape index_sizes;            // what the index tensors broadcast to
  int64_t put_back = 0;         // where the dimensions of the index tensors belong in the result
};

void check_index_dtype(const char* op, const Tensor& index) {
  if (!is_integral(index.dtype()) && index.dtype() != kBool)
    fail<IndexError>("[", op, "] tensors used as indices must be long, int, byte or bool tensors, not ", index.dtype());
}

Indexing take_apart(const char* op, const Tensor& x, const std::vector<Index>& given, Site site) {
  int64_t consumed = 0;
  for (const Index& index : given) {
    if (index.kind == Index::Kind::NewAxis || index.kind == Index::Kind::Dots) continue;
    consumed +=
        index.kind == Index::Kind::Tensor && (index.tensor.dtype() == kBool || index.tensor.dtype() == kUInt8) ? index.tensor.dim() : 1;
  }
  if (consumed > x.dim())
    fail<IndexError>("[", op, "] too many indices for tensor of dimension ", x.dim(), ": ", consumed, "; give one a dimension");

  Tensor view = x;
  int64_t at = 0, skipped = x.dim() - consumed;    // by the first ellipsis; further ones stand for nothing
  std::vector<std::pair<int64_t, Tensor>> chosen;  // dimension of the view, index tensor
  const auto at_integer = [&](int64_t i) {
    const int64_t size = view.size(at);
    if (i < -size || i >= size)
      fail<IndexError>("[", op, "] index ", i, " is out of bounds for dimension ", x.dim() - view.dim() + at, " with size ", size,
                       " (out of range): use -", size, " to ", size - 1);
    view = view.select(at, i, site);
  };
  for (const Index& index : given) {
    switch (index.kind) {
      case Index::Kind::NewAxis: view = view.unsqueeze(at++, site); break;
      case Index::Kind::Dots: at += std::exchange(skipped, 0); break;
      case Index::Kind::Slice: view = view.slice(at++, index.slice.start, index.slice.stop, index.slice.step, site); break;
      case Index::Kind::Integer: at_integer(index.integer); break;
      case Index::Kind::Tensor: {
        check_index_dtype(op, index.tensor);
        if (index.tensor.dim() == 0 && is_integral(index.tensor.dtype()) && index.tensor.dtype() != kUInt8) {
          at_integer(read_value(index.tensor, op, site).to<int64_t>());
          break;
        }
        const Tensor index_tensor = index.tensor.to(x.device(), {}, site);
        if (index_tensor.dtype() != kBool && index_tensor.dtype() != kUInt8) {
          chosen.emplace_back(at++, index_tensor.to(kInt64, {}, site));
          break;
        }
        for (int64_t d = 0; d < index_tensor.dim(); ++d)
          if (index_tensor.size(d) != view.size(at + d))
            fail<IndexError>("[", op, "] The shape of the mask ", index_tensor.sizes(), " at index ", d,
                             " does not match the shape of the indexed tensor ", x.sizes(), " at index ", at + d,
                             "; give a mask of its sizes");
        const Tensor positions = index_tensor.nonzero(site);
        if (index_tensor.dim() == 0) {  // a single truth: a new dimension of size 0 or 1
          view = view.unsqueeze(at, site);
          chosen.emplace_back(at++, zeros({positions.size(0)}, {.dtype = kInt64, .device = x.device()}, site));
          break;
        }
        for (int64_t d = 0; d < index_tensor.dim(); ++d) chosen.emplace_back(at++, positions.select(1, d, site));
        break;
      }
    }
  }
  Indexing result;
  if (chosen.empty()) {
    result.view = view;
    return result;
  }
  Shape order;
  bool adjacent = true;
  for (size_t i = 0; i < chosen.size(); ++i) {
    order.push_back(chosen[i].first);
    adjacent &= i == 0 || chosen[i].first == chosen[i - 1].first + 1;
    const ops::Broadcast both = ops::broadcast(result.index_sizes, chosen[i].second.sizes());
    if (both.differ) {
      std::string shapes;
      for (const auto& [dim, index] : chosen) shapes += str(shapes.empty() ? "" : ", ", index.sizes());
      fail<IndexError>("[index] shape mismatch: indexing tensors could not be broadcast together with shapes ", shapes,
                       ": give index tensors of sizes that agree or are 1");
    }
    result.index_sizes = both.sizes;
    result.indices.push_back(chosen[i].second);
  }
  for (int64_t d = 0; d < view.dim(); ++d)
    if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
  result.view = view.permute(order, site);
  if (adjacent) result.put_back = chosen[0].first;
  return result;
}

/// The order that moves the index tensors' dimensions from the front to `put_back`, or back again.
Shape moved_order(const Indexing& in, bool back) {
  const auto count = static_cast<int64_t>(in.index_sizes.size());
  const int64_t total = count + in.view.dim() - static_cast<int64_t>(in.indices.size());
  Shape order;
  for (int64_t i = 0; i < in.put_back; ++i) order.push_back(count + i);
  for (int64_t i = 0; i < count; ++i) order.push_back(i);
  for (int64_t i = count + in.put_back; i < total; ++i) order.push_back(i);
  if (!back) return order;
  Shape inverse = order;
  for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return inverse;
}

std::vector<kernels::View> views_of(const std::vector<Tensor>& indices) {
  std::vector<kernels::View> views;
  for (const Tensor& index : indices) views.push_back(ops::view(index));
  return views;
}

Shape result_sizes(const Tensor& view, const std::vector<Tensor>& indices, const Shape& index_sizes) {
  Shape sizes = index_sizes;
  for (size_t d = indices.size(); d < view.sizes().size(); ++d) sizes.push_back(view.sizes()[d]);
  return sizes;
}

Tensor index_backward(const Tensor& g, const Shape& sizes, const std::vector<Tensor>& indices, const Shape& index_sizes, Site site);

/// A view of all of x.
Tensor alias(const Tensor& x, Site site) {
  Tensor y = ops::view_of(x, x.sizes(), x.strides(), x.storage_offset());
  if (!needs_grad(x)) return y;
  return record("AliasBackward0", y, {x}, site, [](const Tensor& g) { return g; });
}

/// x at index tensors over its leading dimensions, for the operation `op`.
Tensor index_front(const char* op, const Tensor& x, const std::vector<Tensor>& indices, const Shape& index_sizes, const char* grad_fn,
                   Site site, bool negative = true) {
  Tensor y = empty(result_sizes(x, indices, index_sizes), {.dtype = x.dtype(), .device = x.device()}, site);
  const auto views = views_of(indices);
  ops::launch(x, op, site, &kernels::Table::index, y, x, views, negative);
  if (!needs_grad(x)) return y;
  return record(grad_fn, y, {x}, site, [sizes = x.sizes(), indices, index_sizes, site](const Tensor& g) {
    return index_backward(g, sizes, indices, index_sizes, site);
  });
}

Tensor index_backward(const Tensor& g, const Shape& sizes, const std::vector<Tensor>& indices, const Shape& index_sizes, Site site) {
  Tensor whole = zeros(sizes, {.dtype = g.dtype(), .device = g.device()}, site);
  ops::add_at("index_backward", whole, g, indices, true, site);
  if (!needs_grad(g)) return whole;
  return record("IndexBackward0Backward0", whole, {g}, site, [indices, index_sizes, site](const Tensor& gg) {
    return index_front("index", gg, indices, index_sizes, "IndexBackward0", site);
  });
}

}  // namespace

Tensor Tensor::index(const std::vector<Index>& indices, Site site) const {
  const Indexing in = take_apart("index", *this, indices, site);
  if (in.indices.empty()) return in.view.is_same(*this) ? alias(*this, site) : in.view;
  Tensor y = index_front("index", in.view, in.indices, in.index_sizes, "IndexBackward0", site);
  return in.put_back > 0 ? y.permute(moved_order(in, false), site) : y;
}

namespace {

/// g with zeros at the positions that the indices name: what index_put_ leaves of a gradient. Its own gradient is the same again.
Tensor zeroed_at(const Tensor& g, const std::vector<Tensor>& indices, const Shape& index_sizes, Site site) {
  const Tensor kept = g.detach().clone(site);
  const auto views = views_of(indices);
  const Tensor zero = zeros({1}, {.dtype = g.dtype(), .device = g.device()}, site).expand(result_sizes(g, indices, index_sizes), site);
  if (zero.numel()) ops::launch(g, "index_put_", site, &kernels::Table::index_put, kept, zero, views, false, true);
  return autograd::record("IndexPutBackward0", kept, {g}, site,
                          [indices, index_sizes, site](const Tensor& gradient) { return zeroed_at(gradient, indices, index_sizes, site); });
}

/// Dimensions of size 1 in front of `dims` others say nothing: x[0] = ones({1, 4}) is x[0] = ones({4}).
Tensor without_leading_ones(Tensor values, size_t dims, Site site) {
  while (values.sizes().size() > dims && values.sizes()[0] == 1) values = values.squeeze(0, site);
  return values;
}

}  // namespace

const Tensor& Tensor::index_put_(const std::vector<Index>& indices, const Operand& value, Flag accumulate, Site site) const {
  autograd::check_in_place("index_put_", *this, value.is_tensor() && needs_grad(value.tensor()));
  const Indexing in = take_apart("index_put_", *this, indices, site);
  Tensor values = value.is_tensor() ? value.tensor() : full({}, value.number(), {.dtype = dtype(), .device = device()}, site);
  if (values.device() != device() && values.dim() == 0) values = values.to(device(), {}, site);
  ops::check_same_device("index_put_", *this, "self", values, "values");
  if (values.dtype() != dtype()) {
    // Where a mask chooses, one number fits any type, as in masked_fill.
    const bool masked = values.numel() == 1 && std::any_of(indices.begin(), indices.end(), [](const Index& index) {
                          return index.kind == Index::Kind::Tensor && index.tensor.dtype() == kBool;
                        });
    if (!in.indices.empty() && !masked)
      fail("[index_put_] Index put requires the source and destination dtypes match, got ", scalar_name(dtype()),
           " for the destination and ", scalar_name(values.dtype()), " for the source: convert it with to()");
    values = values.to(dtype(), {}, site);
  }
  if (in.indices.empty()) {
    values = without_leading_ones(std::move(values), in.view.sizes().size(), site);
    if (accumulate) in.view.add_(values, site);
    else in.view.copy_(values, false, site);
    return *this;
  }
  const Shape sizes = result_sizes(in.view, in.indices, in.index_sizes);
  Shape shown = sizes;
  const Shape order = moved_order(in, false), inverse = moved_order(in, true);
  for (size_t i = 0; i < order.size(); ++i) shown[i] = sizes[static_cast<size_t>(order[i])];
  values = without_leading_ones(std::move(values), shown.size(), site);
  if (!can_expand(values.sizes(), shown))
    fail("[index_put_] shape mismatch: value tensor of shape ", values.sizes(), " cannot be broadcast to indexing result of shape ", shown);
  const Tensor spread = values.expand(shown, site).permute(inverse, site);
  const Tensor& target = in.view;
  if (accumulate) {
    ops::add_at("index_put_", target, spread, in.indices, true, site);
  } else if (spread.numel()) {
    const auto views = views_of(in.indices);
    ops::launch(target, "index_put_", site, &kernels::Table::index_put, target, spread.detach(), views, false, true);
  }
  impl().bump_version();
  if (needs_grad(target, spread)) {
    autograd::record_in_place(
        "IndexPutBackward0", target, {target, spread}, site,
        [indices = in.indices, index_sizes = in.index_sizes, accumulate, site](const Tensor& g, autograd::Wanted wanted) {
          std::array<Tensor, 2> gradients;
          if (wanted[0]) gradients[0] = accumulate ? g : zeroed_at(g, indices, index_sizes, site);
          if (wanted[1]) gradients[1] = index_front("index", g, indices, index_sizes, "IndexBackward0", site);
          return gradients;
        });
  }
  return *this;
}

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index, Site site) {
  const int64_t at = wrap_dim(dim, x.dim());
  if (index.dim() > 1) fail<IndexError>("[index_select] Index is supposed to be a vector, but got ", index.sizes());
  if (index.dtype() != kInt64 && index.dtype() != kInt32)
    fail("[index_select] Expected dtype int32 or int64 for index, but got ", index.dtype(), "; convert with to(kInt64)");
  ops::check_same_device("index_select", x, "self", index, "index");
  const Tensor list = (index.dim() == 0 ? index.unsqueeze(0) : index).to(kInt64, {}, site);
  if (x.dim() == 0)
    return index_front("index_select", x.unsqueeze(0, site), {list}, list.sizes(), "IndexSelectBackward0", site, false).squeeze(0, site);
  if (at == 0) return index_front("index_select", x, {list}, list.sizes(), "IndexSelectBackward0", site, false);
  return movedim(index_front("index_select", movedim(x, at, 0, site), {list}, list.sizes(), "IndexSelectBackward0", site, false), 0, at,
                 site);
}

Tensor index_put(const Tensor& x, const std::vector<Index>& indices, const Operand& value, Flag accumulate, Site site) {
  if (const ops::Cast cast("index_put", site, x, value); cast) {
    Tensor held;
    return cast(x).clone(site).index_put_(indices, cast(value, held), accumulate, site);
  }
  return x.clone(site).index_put_(indices, value, accumulate, site);
}

Tensor take(const Tensor& x, const Tensor& index, Site site) {
  if (index.dtype() != kInt64) fail("[take] take(): Expected a long tensor for index, but got ", scalar_name(index.dtype()));
  ops::check_same_device("take", x, "self", index, "index");
  if (x.numel() == 0 && index.numel() > 0) fail<IndexError>("[take] take(): tried to take from an empty tensor");
  return index_front("take", x.reshape({-1}, site), {index}, index.sizes(), "TakeBackward0", site);
}

Tensor put(const Tensor& x, const Tensor& index, const Tensor& source, Flag accumulate, Site site) {
  if (index.dtype() != kInt64) fail("[put] put_(): Expected a long tensor for index, but got ", scalar_name(index.dtype()));
  if (source.dtype() != x.dtype())
    fail("[put] put_(): self and source expected to have the same dtype, but got self.dtype = ", scalar_name(x.dtype()),
         " and source.dtype = ", scalar_name(source.dtype()));
  if (index.numel() != source.numel())
    fail("[put] put_(): Expected source and index to have the same number of elements, but got source.numel() = ", source.numel(),
         ", index.numel() = ", index.numel());
  if (x.numel() == 0 && index.numel() > 0) fail<IndexError>("[put] put_(): tried to put elements into an empty tensor");
  const Tensor line = x.clone(site).view({-1}, site);
  return line.index_put_({index.reshape({-1}, site)}, source.reshape({-1}, site), accumulate, site).view(x.sizes(), site);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value, Site site) {
  if (mask.dtype() != kBool) fail("[masked_fill] expects the mask to be bool, but got ", mask.dtype());
  if (value.is_tensor() && value.tensor().dim() > 0)
    fail("[masked_fill] masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.tensor().dim(),
         " dimension(s).");
  return autograd::called(where(mask, value.is_tensor() ? Operand(value.tensor()) : value, x, site).to(x.dtype(), {}, site),
                          "MaskedFillBackward0");
}

Tensor masked_select(const Tensor& x, const Tensor& mask, Site site) {
  if (mask.dtype() != kBool) fail("[masked_select] expected BoolTensor for mask, but got ", mask.dtype());
  const Shape sizes = broadcast_shapes(x.sizes(), mask.sizes());
  return x.expand(sizes, site).index({mask.expand(sizes, site)}, site);
}

Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source, Site site) {
  if (mask.dtype() != kBool)
    fail("[masked_scatter] masked_scatter_ only supports boolean masks, but got mask with dtype ", scalar_name(mask.dtype()));
  if (x.dtype() != source.dtype())
    fail("[masked_scatter] expected self and source to have same dtypes but got ", scalar_name(x.dtype()), " and ",
         scalar_name(source.dtype()));
  ops::check_same_device("masked_scatter", x, "self", source, "source");
  const Shape sizes = broadcast_shapes(x.sizes(), mask.sizes());
  const Tensor places = nonzero(mask.expand(sizes, site).reshape({-1}, site), site).view({-1}, site);
  if (source.numel() < places.numel())
    fail("[masked_scatter] Number of elements of source < number of ones in mask: ", source.numel(), " and ", places.numel());
  const Tensor line = x.expand(sizes, site).clone(site).view({-1}, site);
  return line.index_put_({places}, source.reshape({-1}, site).slice(0, 0, places.numel(), 1, site), false, site).view(sizes, site);
}

Tensor nonzero(const Tensor& x, Site site) {
  const Tensor count = empty({}, {.dtype = kInt64, .device = x.device()}, site);
  const kernels::Table& table = ops::kernels_of(x);
  const Tensor scratch = ops::workspace(x.device(), table.nonzero_workspace(ops::view(x)), site);
  int64_t found = 0;
  if (x.numel()) {
    ops::launch(x, "nonzero", site, &kernels::Table::count_nonzero, count, x, scratch);
    found = read_value(count, "nonzero", site).to<int64_t>();
  }
  Tensor y = empty({found, x.dim()}, {.dtype = kInt64, .device = x.device()}, site);
  ops::launch(x, "nonzero", site, &kernels::Table::nonzero, y, x, scratch);
  return y;
}

Tensor argwhere(const Tensor& x, Site site) { return nonzero(x, site); }

std::vector<Tensor> where(const Tensor& condition, Site site) {
  return nonzero(condition.dim() ? condition : condition.view({1}, site), site).unbind(1, site);
}

namespace {

Tensor triangle(const Tensor& x, int64_t diagonal, bool upper, Site site) {
  if (x.dim() < 2) fail("[", upper ? "triu" : "tril", "] input tensor must have at least 2 dimensions, not ", x.dim());
  Tensor y = empty(x.sizes(), {.dtype = x.dtype(), .device = x.device()}, site);
  ops::launch(x, upper ? "triu" : "tril", site, &kernels::Table::triangle, y, x, diagonal, upper);
  if (!needs_grad(x)) return y;
  return record(upper ? "TriuBackward0" : "TrilBackward0", y, {x}, site,
                [diagonal, upper, site](const Tensor& g) { return triangle(g, diagonal, upper, site); });
}

}  // namespace

Tensor tril(const Tensor& x, int64_t diagonal, Site site) { return triangle(x, diagonal, false, site); }
Tensor triu(const Tensor& x, int64_t diagonal, Site site) { return triangle(x, diagonal, true, site); }

Tensor Tensor::index_select(int64_t dim, const Tensor& index, Site site) const { return tandem::index_select(*this, dim, index, site); }
Tensor Tensor::index_put(const std::vector<Index>& indices, const Operand& value, Flag accumulate, Site site) const {
  return tandem::index_put(*this, indices, value, accumulate, site);
}
Tensor Tensor::take(const Tensor& index, Site site) const { return tandem::take(*this, index, site); }
Tensor Tensor::put(const Tensor& index, const Tensor& source, Flag accumulate, Site site) const {
  return tandem::put(*this, index, source, accumulate, site);
}
const Tensor& Tensor::put_(const Tensor& index, const Tensor& source, Flag accumulate, Site site) const {
  return copy_(tandem::put(*this, index, source, accumulate, site), false, site);
}
Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& source, Site site) const {
  return tandem::masked_scatter(*this, mask, source, site);
}
const Tensor& Tensor::masked_scatter_(const Tensor& mask, const Tensor& source, Site site) const {
  return copy_(tandem::masked_scatter(*this, mask, source, site), false, site);
}
Tensor Tensor::masked_fill(const Tensor& mask, const Operand& value, Site site) const {
  return tandem::masked_fill(*this, mask, value, site);
}
Tensor Tensor::masked_select(const Tensor& mask, Site site) const { return tandem::masked_select(*this, mask, site); }
Tensor Tensor::nonzero(Site site) const { return tandem::nonzero(*this, site); }
Tensor Tensor::tril(int64_t diagonal, Site site) const { return tandem::tril(*this, diagonal, site); }
Tensor Tensor::triu(int64_t diagonal, Site site) const { return tandem::triu(*this, diagonal, site); }

const Tensor& Tensor::masked_fill_(const Tensor& mask, const Operand& value, Site site) const {
  return copy_(tandem::masked_fill(*this, mask, value, site), false, site);
}
const Tensor& Tensor::tril_(int64_t diagonal, Site site) const { return copy_(tandem::tril(*this, diagonal, site), false, site); }
const Tensor& Tensor::triu_(int64_t diagonal, Site site) const { return copy_(tandem::triu(*this, diagonal, site), false, site); }
Tensor Tensor::argwhere(Site site) const { return tandem::argwhere(*this, site); }

}  // namespace tandem
