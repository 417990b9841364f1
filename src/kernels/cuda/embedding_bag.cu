// Sums, means and maxima over bags of rows of a table. A bag belongs to a group of threads: these go over its indices together once, then
// each takes some columns and goes over the rows in order, so that neighbours read neighbouring elements.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

constexpr int64_t kWide = 256;  // columns from which on a bag is worth a block

template <class T, int threads>
struct Bag {
  using Shared = NothingShared;
  using C = Compute<T>;
  Out out, bag_of, counts, chosen;
  View table, indices, offsets, weights;
  BagMode mode;
  int64_t padding;
  Reporter report;

  TD_DEVICE int64_t index_at(int64_t i) const { return static_cast<const int64_t*>(indices.data)[i * indices.strides[0]]; }
  TD_DEVICE int64_t offset_at(int64_t b) const {
    return b < offsets.sizes[0] ? static_cast<const int64_t*>(offsets.data)[b * offsets.strides[0]] : indices.sizes[0];
  }

  TD_DEVICE void operator()(Group<threads>& group, int64_t b, Shared&) const {
    const int64_t bags = out.sizes[0], total = indices.sizes[0], rows = table.sizes[0];
    const int64_t first = offset_at(b), last = offset_at(b + 1);
    const bool ends = b + 1 < bags || last == total, late = b == 0 && first != 0;
    if (late || first < 0 || last < first || last > total || !ends) {
      group.once([&] { report(Trouble::IndexOutOfRange, late ? first : last, late ? 1 : total + 1); });
      return;
    }
    typename Group<threads>::template Local<int64_t> used;
    group.each([&](int t) {
      used[t] = 0;
      for (int64_t i = first + t; i < last; i += threads) {
        static_cast<int64_t*>(bag_of.data)[i] = b;
        const int64_t index = index_at(i);
        if (index < 0 || index >= rows) report(Trouble::IndexOutOfRange, index, rows);
        else used[t] += index != padding;
      }
    });
    const int64_t count = group.reduce(used, [](int64_t x, int64_t y) { return x + y; });
    group.once([&] { static_cast<int64_t*>(counts.data)[b] = count; });
    group.each([&](int t) {
      for (int64_t column = t; column < out.sizes[1]; column += threads) sum_up(b, first, last, count, column);
    });
  }

  /// One column of a bag.
  TD_DEVICE void sum_up(int64_t b, int64_t first, int64_t last, int64_t count, int64_t column) const {
    C sum = 0;
    int64_t from = -1;
    for (int64_t i = first; i < last; ++i) {
      const int64_t index = index_at(i);
      if (index < 0 || index >= table.sizes[0] || index == padding) continue;
      const C x = to_compute(static_cast<const T*>(table.data)[index * table.strides[0] + column * table.strides[1]]);
      if (mode == BagMode::Max) {
        if (from >= 0 && !(x > sum)) continue;
        sum = x;
        from = index;
      } else {
        sum += weights.data ? load<C>(weights.data, weights.dtype, i * weights.strides[0]) * x : x;
      }
    }
    if (mode == BagMode::Mean && count > 0) sum /= static_cast<C>(count);
    const int64_t at = b * out.sizes[1] + column;
    static_cast<T*>(out.data)[at] = to_element<T>(sum);
    if (mode == BagMode::Max) static_cast<int64_t*>(chosen.data)[at] = from;
  }
};

}  // namespace

void embedding_bag(const Queue& queue, Out out, Out bag_of, Out counts, Out chosen, View table, View indices, View offsets, View weights,
                   BagMode mode, int64_t padding) {
  visit_floating(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Reporter report(queue);
    if (out.sizes[1] >= kWide)
      for_groups<kThreads>(queue, out.sizes[0],
                           Bag<T, kThreads>{out, bag_of, counts, chosen, table, indices, offsets, weights, mode, padding, report});
    else
      for_groups<kWarp>(queue, out.sizes[0],
                        Bag<T, kWarp>{out, bag_of, counts, chosen, table, indices, offsets, weights, mode, padding, report});
  });
}

}  // namespace tandem::kernels::cuda
