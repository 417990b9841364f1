// Largest and smallest elements with their first index: the value of each piece by the fast reduction, then the place in the first piece
// that has the best one, by a comparison that stops there. Pieces of a single long reduction are shared out. Results that lie side by side
// are searched together, row by row.
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/reduction_plan.h"
#include "kernels/visit.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kGrain = 16 << 10;
constexpr int64_t kPiece = 8 << 10;
constexpr int64_t kPieceStep = 1024;  // pieces are multiples of so many elements: none begins within a cache line
constexpr int64_t kMaxPieces = 256;
constexpr int64_t kColumns = 128;      // results side by side that are searched together
constexpr int64_t kLeastColumns = 16;  // fewer are searched one by one
constexpr int64_t kBlockRows = 8;      // elements of each of them whose best is compared with the best so far

/// A value, as a total of a reduction, and the elements among which it was first seen.
template <class T>
struct Found {
  T value;
  int64_t begin, end;
};

template <class T>
bool better(bool largest, T a, T b) {  // whether a comes before b
  if (a != a) return b == b;
  return largest ? a > b : a < b;
}

template <class E, class T>  // compute type, type of totals
Found<T> find(bool largest, const View& in, const CollapsedDims& reduced, int64_t offset, int64_t begin, int64_t end, Compute compute,
              const Isa& set) {
  const Reducer& reducer = set.reductions.reduce[static_cast<int>(largest ? Reduce::Max : Reduce::Min)][compute];
  Found<T> best{T(0), begin, begin};
  int64_t at = begin;
  for_elements(in, reduced, offset, begin, end, compute, set, [&](const void* elements, int64_t n) {
    for (int64_t i = 0; i < n; i += kPiece) {
      const int64_t count = std::min(kPiece, n - i);
      T value;
      reducer.row(&value, static_cast<const E*>(elements) + i, count);
      if (best.begin == best.end || better(largest, value, best.value)) best = {value, at + i, at + i + count};
    }
    at += n;
  });
  return best;
}
/// The place of the value that was found.
template <class E, class T>
int64_t place(const Found<T>& found, const View& in, const CollapsedDims& reduced, int64_t offset, Compute compute, const Isa& set) {
  const E value = static_cast<E>(found.value);
  int64_t at = found.begin, index = -1;
  for_elements(in, reduced, offset, found.begin, found.end, compute, set, [&](const void* elements, int64_t n) {
    if (index < 0)
      if (const int64_t i = set.scans.find[compute](elements, n, &value); i < n) index = at + i;
    at += n;
  });
  return index;
}

/// `width` results whose elements lie side by side in `count` rows: the best of each in blocks of rows, then its place in the first block
/// that has it. Calls put(i, value, index) for each.
template <class E, class Put>
void search_columns(bool largest, const E* x, int64_t stride, int64_t count, int64_t width, const Reducer& reducer, Put put) {
  using Block = std::conditional_t<sizeof(E) == 4, int32_t, int64_t>;
  E best[kColumns] = {}, other[kColumns] = {};
  Block where[kColumns] = {};
  for (int64_t row = 0; row < count; row += kBlockRows) {
    reducer.columns(row ? other : best, x + row * stride, stride, std::min(kBlockRows, count - row), width, true);
    if (row == 0) continue;
    const auto block = static_cast<Block>(row / kBlockRows);
    for (int64_t c = 0; c < kColumns; ++c) {
      const E a = other[c], b = best[c];
      const bool better = (largest ? a > b : a < b) | ((a != a) & (b == b));
      best[c] = better ? a : b;
      where[c] = better ? block : where[c];
    }
  }
  for (int64_t c = 0; c < width; ++c) {
    int64_t row = where[c] * kBlockRows;
    while (best[c] == best[c] ? x[row * stride + c] != best[c] : x[row * stride + c] == x[row * stride + c]) ++row;
    put(c, best[c], row);
  }
}

template <class E, class T>
void run(const Queue& queue, bool largest, const Out& values, const Out& indices, const View& in, int32_t reduced_dims, Compute compute) {
  const Isa& set = isa();
  const int kept_dims = in.ndim - reduced_dims;
  const CollapsedDims kept = collapsed_dims(in, &indices, 0, kept_dims, true),
                      reduced = collapsed_dims(in, nullptr, kept_dims, in.ndim, true);
  const CollapsedDims value_places = values.data ? collapsed_dims(in, &values, 0, kept_dims, true) : kept;
  const int64_t results = kept.numel, count = reduced.numel;
  const auto put_value = [&](int64_t i, T value) {
    if (!values.data) return;
    const int64_t value_offset = value_places.locate(i)[kOut];
    const Compute total = compute == kComputeInt ? kComputeInt : kComputeDouble;
    set.conversions.unpack_from(total, values.dtype)(values.as<char>() + value_offset * static_cast<int64_t>(size_of(values.dtype)), 1,
                                                     &value, 1);
  };
  const auto put = [&](int64_t i, const Found<T>& found) {
    const auto [in_offset, index_offset] = kept.locate(i);
    indices.as<int64_t>()[index_offset] = place<E>(found, in, reduced, in_offset, compute, set);
    put_value(i, found.value);
  };
  const int64_t columns = kept.sizes[kept.ndim - 1];
  if (in.dtype == dtype_for(compute) && reduced.ndim == 1 && reduced.strides[kIn][0] != 1 && kept.strides[kIn][kept.ndim - 1] == 1 &&
      columns >= kLeastColumns) {
    const Reducer& reducer = set.reductions.reduce[static_cast<int>(largest ? Reduce::Max : Reduce::Min)][compute];
    const int64_t tiles = (columns + kColumns - 1) / kColumns;
    parallel_for(results / columns * tiles, std::max<int64_t>(1, kGrain / (count * std::min(columns, kColumns))), queue.threads,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t task = begin; task < end; ++task) {
                     const int64_t column = task % tiles * kColumns, first = task / tiles * columns + column;
                     search_columns(largest, in.as<const E>() + kept.locate(first)[kIn], reduced.strides[kIn][0], count,
                                    std::min(kColumns, columns - column), reducer, [&](int64_t c, E value, int64_t row) {
                                      indices.as<int64_t>()[kept.locate(first + c)[kOut]] = row;
                                      put_value(first + c, static_cast<T>(value));
                                    });
                   }
                 });
    return;
  }
  const int64_t pieces = results >= 16 ? 1 : std::min(count / kPiece, kMaxPieces);
  if (pieces <= 1) {
    parallel_for(results, std::max<int64_t>(1, kGrain / count), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t offset = kept.locate(i)[kIn];
        put(i, find<E, T>(largest, in, reduced, offset, 0, count, compute, set));
      }
    });
    return;
  }
  const int64_t length = ((count + pieces - 1) / pieces + kPieceStep - 1) / kPieceStep * kPieceStep, used = (count + length - 1) / length;
  for (int64_t i = 0; i < results; ++i) {
    const int64_t offset = kept.locate(i)[kIn];
    Found<T> found[kMaxPieces];
    parallel_for(used, std::max<int64_t>(1, kGrain / length), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        found[p] = find<E, T>(largest, in, reduced, offset, p * length, std::min((p + 1) * length, count), compute, set);
    });
    for (int64_t p = 1; p < used; ++p)
      if (better(largest, found[p].value, found[0].value)) found[0] = found[p];
    put(i, found[0]);
  }
}

}  // namespace

void arg_reduce(const Queue& queue, bool largest, Out values, Out indices, View in, int32_t reduced, void* /*workspace*/) {
  if (in.numel() == 0) return;
  visit_compute(in.dtype, [&]<class T>(T) {
    using Total = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    run<T, Total>(queue, largest, values, indices, in, reduced, compute_of(in.dtype));
  });
}

}  // namespace tandem::kernels::cpu
