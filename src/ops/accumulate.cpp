#include "ops/accumulate.h"

#include "autograd/history.h"
#include "ops/arithmetic.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/launch.h"
#include "ops/operators.h"
#include "ops/scan.h"
#include "ops/sort.h"
#include "ops/view.h"

namespace tandem::ops {
namespace {

using kernels::Scatter;

/// With more places than so many for each element that is added, a copy of them all in float32 would cost more than to sort the elements.
constexpr int64_t kSparse = 4;

std::vector<kernels::View> views_of(const std::vector<Tensor>& indices) {
  std::vector<kernels::View> views;
  for (const Tensor& index : indices) views.push_back(view(index));
  return views;
}

/// Runs `add` on a copy of `target` in float32, and rounds that.
template <class F>
void in_float(const char* op, const Tensor& target, Site site, F add) {
  const Tensor sums = empty(target.sizes(), {.dtype = kFloat32, .device = target.device()}, site);
  launch(target, op, site, &kernels::Table::copy, sums, target);
  add(sums);
  launch(target, op, site, &kernels::Table::copy, target, sums);
}

/// For each of `values` (n, …), with the number of the place that it goes to, the sum of all that go there: float32, in their order.
Tensor totals(const char* op, const Tensor& places, const Tensor& values, Site site) {
  const int64_t n = places.numel();
  const Options like{.dtype = kInt64, .device = values.device()};
  const ValuesIndices sorted = sort(places, 0, false, site);
  const Tensor other = ne(sorted.values.slice(0, 1, n, 1, site), sorted.values.slice(0, 0, n - 1, 1, site), site).to(kInt64, {}, site);
  const Tensor numbers = cumsum(cat({zeros({1}, like, site), other}, 0, site), 0, {}, site);
  const Tensor number = empty({n}, like, site);  // of the place of each, counting those in use
  launch(values, op, site, &kernels::Table::scatter, Scatter::Set, number, sorted.indices, numbers, 0);
  const Tensor sums = zeros(values.sizes(), {.dtype = kFloat32, .device = values.device()}, site);
  const kernels::View list = view(number);
  launch(values, op, site, &kernels::Table::index_put, sums, values, {&list, 1}, true, false);
  return sums.index_select(0, number, site);
}

/// `before`, of a half type, and what is added to it, rounded once.
Tensor rounded_sum(const Tensor& before, const Tensor& added, Site site) {
  return add(before.to(kFloat32, {}, site), added, site).to(before.dtype(), {}, site);
}

/// The numbers of the places of `target` that an index along `dim` names.
Tensor place_numbers(const Tensor& target, int64_t dim, const Tensor& index, Site site) {
  const Shape steps = contiguous_strides(target.sizes());
  Tensor numbers = mul(index, steps[static_cast<size_t>(dim)], site);
  for (int64_t d = 0; d < index.dim(); ++d) {
    if (d == dim) continue;
    Shape own = index.sizes();
    for (int64_t other = 0; other < index.dim(); ++other)
      if (other != d) own[static_cast<size_t>(other)] = 1;
    const Tensor line = arange(index.size(d), {.dtype = kInt64, .device = index.device()}, site);
    numbers = add(numbers, mul(line, steps[static_cast<size_t>(d)], site).view(own, site), site);
  }
  return numbers;
}

}  // namespace

void add_at(const char* op, const Tensor& target, const Tensor& given, const std::vector<Tensor>& indices, bool negative, Site site) {
  if (given.numel() == 0) return;
  const NoGradGuard no_grad;
  const Tensor values = given.detach();
  const auto put = [&](const Tensor& to) {
    const auto views = views_of(indices);
    launch(to, op, site, &kernels::Table::index_put, to, values, views, true, negative);
  };
  if (!is_half(target.dtype())) return put(target);
  const size_t indexed = indices.size();
  int64_t places = 1;
  for (size_t d = 0; d < indexed; ++d) places *= target.sizes()[d];
  const size_t rest = target.sizes().size() - indexed;
  const Shape index_sizes(values.sizes().data(), values.sizes().size() - rest);
  const int64_t positions = index_sizes.numel();
  if (places <= kSparse * positions) return in_float(op, target, site, put);

  // The index tensors as lists of one element for each position, and the number of the place that each position names.
  std::vector<Tensor> lists;
  Tensor numbers;
  for (size_t d = 0; d < indexed; ++d) {
    const int64_t size = target.sizes()[d];
    const Tensor list = indices[d].expand(index_sizes, site).reshape({-1}, site);
    const Tensor place = negative ? where(lt(list, 0, site), add(list, size, site), list, site) : list;
    numbers = d == 0 ? place : add(mul(numbers, size, site), place, site);
    lists.push_back(list);
  }
  Shape rows{positions};
  for (size_t d = indexed; d < target.sizes().size(); ++d) rows.push_back(target.sizes()[d]);
  const auto views = views_of(lists);
  const Tensor before = zeros(rows, {.dtype = target.dtype(), .device = target.device()}, site);
  launch(target, op, site, &kernels::Table::index, before, target, views, negative);  // an index that is wrong is told here
  const Tensor after = rounded_sum(before, totals(op, numbers, values.reshape(rows, site), site), site);
  launch(target, op, site, &kernels::Table::index_put, target, after, views, false, negative);
}

void scatter_into(const char* op, Scatter mode, const Tensor& target, int64_t dim, const Tensor& index, const Tensor& given, Site site) {
  if (index.numel() == 0 || target.numel() == 0) return;
  const NoGradGuard no_grad;
  const Tensor source = given.detach();
  const auto along = static_cast<int32_t>(dim);
  const auto put = [&](const Tensor& to) { launch(to, op, site, &kernels::Table::scatter, mode, to, index, source, along); };
  const bool sums = mode == Scatter::Add || mode == Scatter::Multiply;
  if (!sums || !is_half(target.dtype())) return put(target);
  if (mode == Scatter::Multiply || target.numel() <= kSparse * index.numel()) return in_float(op, target, site, put);

  const Tensor before = zeros(index.sizes(), {.dtype = target.dtype(), .device = target.device()}, site);
  launch(target, op, site, &kernels::Table::gather, before, target, index, along);  // an index that is wrong is told here
  Tensor added = source;
  if (index.size(dim) > 1) {  // else no two elements meet
    const Tensor numbers = place_numbers(target, dim, index, site);
    added = totals(op, numbers.reshape({-1}, site), source.reshape({-1}, site), site).view(index.sizes(), site);
  }
  launch(target, op, site, &kernels::Table::scatter, Scatter::Set, target, index, rounded_sum(before, added, site), along);
}

}  // namespace tandem::ops
