// Operators that gather and scatter by indices.
#include "ops/indexing.h"

#include <algorithm>
#include <limits>

#include "onnx/call.h"
#include "ops/arithmetic.h"
#include "ops/counting.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/operators.h"
#include "ops/scatter.h"
#include "ops/sort.h"
#include "ops/view.h"
#include "tensor/index.h"

namespace tandem::onnx {
namespace {

/// Indices as int64, counted from the front.
Tensor from_front(const Tensor& index, int64_t size, Site site) {
  const Tensor wide = index.to(kInt64, {}, site);
  return where(lt(wide, 0, site), add(wide, size, site), wide, site);
}

void gather_along(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), index = call.in(1);
  const int64_t axis = axis_of(call.integer("axis", 0), x.dim());
  Shape sizes = x.sizes();
  sizes.erase(static_cast<size_t>(axis));
  for (int64_t i = 0; i < index.dim(); ++i) sizes.insert(static_cast<size_t>(axis + i), index.size(i));
  (void)call.place(sizes, x.dtype());
  // One index that is known: a view.
  if (index.dim() == 0 && call.value(1).host.defined()) {
    const int64_t at = call.number(1).to<int64_t>();
    return call.give(x.select(axis, at, site));
  }
  const Tensor flat = from_front(index, x.size(axis), site).reshape({-1}, site);
  call.give(index_select(x, axis, flat, site).reshape(sizes, site));
}

void gather_elements(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), index = call.in(1);
  const int64_t axis = axis_of(call.integer("axis", 0), x.dim());
  call.give(gather(x, axis, from_front(index, x.size(axis), site), site));
}

/// The parts of a last dimension as indices of as many dimensions, from dimension `first` on.
std::vector<Index> indices_of(const Tensor& x, const Tensor& index, int64_t first, Site site) {
  if (index.dim() < 1) fail("its indices have no dimension");
  const int64_t count = index.size(-1);
  if (first + count > x.dim()) fail("its indices name ", count, " dimensions of a tensor's of ", x.dim());
  std::vector<Index> indices;
  for (int64_t i = 0; i < count; ++i) indices.emplace_back(from_front(index.select(-1, i, site), x.size(first + i), site));
  return indices;
}

void gather_nd(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), index = call.in(1);
  const int64_t batch = call.integer("batch_dims", 0);
  if (batch < 0 || batch >= index.dim() || batch >= x.dim()) fail("it has ", batch, " batch_dims");
  std::vector<Index> indices = indices_of(x, index, batch, site);
  // Batch dimensions are indexed by their own places.
  for (int64_t i = batch; i-- > 0;) {
    Shape sizes;
    for (int64_t k = 0; k + 1 < index.dim(); ++k) sizes.push_back(k == i ? index.size(k) : 1);
    indices.insert(indices.begin(), Index(arange(index.size(i), {.dtype = kInt64, .device = x.device()}, site).reshape(sizes, site)));
  }
  call.give(indices.empty() ? x : x.index(indices, site));
}

const char* reduce_name(const std::string& reduction) {
  if (reduction == "add") return "sum";
  if (reduction == "mul") return "prod";
  if (reduction == "max") return "amax";
  if (reduction == "min") return "amin";
  fail("its reduction '", reduction, "' is none of none, add, mul, max and min");
}

void scatter_elements(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), index = call.in(1), updates = call.in(2);
  const int64_t axis = axis_of(call.integer("axis", 0), x.dim());
  const std::string reduction = call.text("reduction", "none");
  const Tensor places = from_front(index, x.size(axis), site);
  call.give(reduction == "none" ? scatter(x, axis, places, updates, site)
                                : scatter_reduce(x, axis, places, updates, reduce_name(reduction), true, site));
}

void scatter_nd(Call& call) {
  const Site site = call.site();
  const Tensor x = call.in(0), index = call.in(1), updates = call.in(2);
  const std::string reduction = call.text("reduction", "none");
  const std::vector<Index> indices = indices_of(x, index, 0, site);
  if (reduction == "none") return call.give(x.index_put(indices, updates, false, site));
  if (reduction == "add") return call.give(x.index_put(indices, updates, true, site));
  // Rows of the dimensions that the indices name, each a row of the others.
  int64_t rows = 1;
  Tensor row;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t size = x.size(static_cast<int64_t>(i));
    rows *= size;
    row = row.defined() ? add(mul(row, size, site), indices[i].tensor, site) : indices[i].tensor;
  }
  const int64_t width = rows == 0 ? 1 : x.numel() / rows;
  const Tensor flat = x.reshape({rows, width}, site), values = updates.reshape({-1, width}, site);
  const Tensor places = row.reshape({-1, 1}, site).expand(values.sizes(), site);
  call.give(scatter_reduce(flat, 0, places, values, reduce_name(reduction), true, site).reshape(x.sizes(), site));
}

/// A cache that new rows are written into, for each sequence from a place of its own on.
void tensor_scatter(Call& call) {
  const Site site = call.site();
  const Tensor past = call.in(0), update = call.in(1);
  const int64_t axis = axis_of(call.integer("axis", -2), past.dim()), length = past.size(axis);
  const bool circular = call.text("mode", "linear") == "circular";
  Tensor place = arange(update.size(axis), {.dtype = kInt64, .device = past.device()}, site);
  Shape steps, starts;
  for (int64_t i = 0; i < past.dim(); ++i) {
    steps.push_back(i == axis ? update.size(axis) : 1);
    starts.push_back(i == 0 ? past.size(0) : 1);
  }
  place = place.reshape(steps, site);
  if (const Tensor from = call.in_or_none(2); from.defined()) place = add(place, from.to(kInt64, {}, site).reshape(starts, site), site);
  if (circular) place = remainder(place, length, site);
  call.give(scatter(past, axis, place.expand(update.sizes(), site), update, site));
}

void one_hot(Call& call) {
  const Site site = call.site();
  const Tensor index = call.in(0), values = call.in(2);
  const auto depth = call.number(1).to<int64_t>();
  const int64_t axis = axis_of(call.integer("axis", -1), index.dim() + 1);
  Shape sizes = index.sizes(), along;
  sizes.insert(static_cast<size_t>(axis), depth);
  for (int64_t i = 0; i <= index.dim(); ++i) along.push_back(i == axis ? depth : 1);
  (void)call.place(sizes, values.dtype());
  const Tensor places = arange(depth, {.dtype = kInt64, .device = index.device()}, site).reshape(along, site);
  const Tensor hot = eq(from_front(index, depth, site).unsqueeze(axis, site), places, site);
  call.give(where(hot, values.select(0, 1, site), values.select(0, 0, site), site));
}

void compress(Call& call) {
  const Site site = call.site();
  Tensor x = call.in(0);
  const Tensor condition = call.in(1).to(kBool, {}, site);
  int64_t axis = 0;
  if (call.find("axis")) axis = axis_of(call.integer("axis", 0), x.dim());
  else x = x.reshape({-1}, site);
  const Tensor places = nonzero(condition.reshape({-1}, site), site).reshape({-1}, site);
  call.give(index_select(x, axis, places, site));
}

void nonzero_of(Call& call) {
  const Tensor x = call.in(0);
  if (x.dim() == 0) return call.give(nonzero(x.reshape({1}, call.site()), call.site()).t(call.site()).narrow(0, 0, 0, call.site()));
  call.give(nonzero(x, call.site()).t(call.site()));
}

void unique_of(Call& call) {
  const Site site = call.site();
  Tensor x = call.in(0);
  const bool sorted = call.integer("sorted", 1) != 0;
  UniqueOptions options{.sorted = true, .return_inverse = true, .return_counts = true};
  int64_t axis = 0;
  if (call.find("axis")) options.dim = axis = axis_of(call.integer("axis", 0), x.dim());
  const Unique found = unique(x, options, site);
  const Tensor inverse = found.inverse_indices.reshape({-1}, site);
  const int64_t count = found.counts.numel();
  // Where each first occurs.
  const Tensor places = arange(inverse.numel(), {.dtype = kInt64, .device = x.device()}, site);
  const Tensor first =
      scatter_reduce(full({count}, inverse.numel(), {.dtype = kInt64, .device = x.device()}, site), 0, inverse, places, "amin", true, site);
  if (sorted) {
    call.give(found.output);
    call.give(first);
    call.give(inverse);
    return call.give(found.counts);
  }
  const Tensor order = argsort(first, 0, false, site);  // of their first places
  const Tensor rank = scatter(zeros_like(order, {}, site), 0, order, arange(count, {.dtype = kInt64, .device = x.device()}, site), site);
  call.give(index_select(found.output, axis, order, site));
  call.give(index_select(first, 0, order, site));
  call.give(index_select(rank, 0, inverse, site));
  call.give(index_select(found.counts, 0, order, site));
}

/// Boxes that are left when each takes away those that cover it too much, best score first. Done on the host, one box after another.
void non_max_suppression(Call& call) {
  const Site site = call.site();
  const Tensor shown = call.in(0), scored = call.in(1);
  if (shown.dim() != 3 || shown.size(2) != 4 || scored.dim() != 3 || scored.size(2) != shown.size(1) || scored.size(0) != shown.size(0))
    fail("its boxes and scores have the sizes ", shown.sizes(), " and ", scored.sizes());
  const std::vector<double> boxes = call.reals(0), scores = call.reals(1);
  const int64_t most = call.has(2) ? call.number(2).to<int64_t>() : 0;
  const double overlap = call.has(3) ? call.number(3).to<double>() : 0;
  const double threshold = call.has(4) ? call.number(4).to<double>() : -std::numeric_limits<double>::infinity();
  const bool centered = call.integer("center_point_box", 0) != 0;
  const int64_t batches = scored.size(0), classes = scored.size(1), count = scored.size(2);
  struct Box {
    double y1, x1, y2, x2;
  };
  const auto box = [&](int64_t batch, int64_t i) {
    const double* b = &boxes[static_cast<size_t>((batch * count + i) * 4)];
    if (centered) return Box{b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
    return Box{std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
  };
  const auto covers = [&](const Box& a, const Box& b) {
    const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1), width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
    if (height <= 0 || width <= 0) return false;
    const double both = height * width, all = (a.y2 - a.y1) * (a.x2 - a.x1) + (b.y2 - b.y1) * (b.x2 - b.x1) - both;
    return both / all > overlap;
  };
  std::vector<int64_t> kept;
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (int64_t one = 0; one < classes; ++one) {
      const double* score = &scores[static_cast<size_t>((batch * classes + one) * count)];
      std::vector<int64_t> order, chosen;
      for (int64_t i = 0; i < count; ++i)
        if (score[i] > threshold) order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return score[a] > score[b]; });
      for (const int64_t i : order) {
        if (static_cast<int64_t>(chosen.size()) >= most) break;
        const Box now = box(batch, i);
        if (std::any_of(chosen.begin(), chosen.end(), [&](int64_t other) { return covers(now, box(batch, other)); })) continue;
        chosen.push_back(i);
        kept.insert(kept.end(), {batch, one, i});
      }
    }
  }
  const Tensor result = empty({static_cast<int64_t>(kept.size()) / 3, 3}, {.dtype = kInt64}, site);
  std::copy(kept.begin(), kept.end(), result.data_ptr<int64_t>());
  call.give(result.to(call.device(), {}, site));
}

constexpr OperatorRow kRows[] = {
    {"Compress", 9, compress},
    {"Gather", 1, gather_along},
    {"GatherElements", 11, gather_elements},
    {"GatherND", 11, gather_nd},
    {"NonMaxSuppression", 10, non_max_suppression, nullptr, nullptr, 2},
    {"NonZero", 9, nonzero_of},
    {"OneHot", 9, one_hot},
    {"Scatter", 9, scatter_elements},
    {"ScatterElements", 11, scatter_elements},
    {"ScatterND", 11, scatter_nd},
    {"TensorScatter", 24, tensor_scatter},
    {"Unique", 11, unique_of},
};

}  // namespace

std::span<const OperatorRow> indexing_operators() { return kRows; }

}  // namespace tandem::onnx
