// Rows of strided arrays, and how the threads of a group share them: where elements lie and which thread takes which. A group takes some
// rows side by side, and as many threads go through the elements of each, so that neighbouring threads touch neighbouring addresses
// whether rows lie dense or apart. Values of a row's threads are combined in shared memory, in an order that depends on shapes alone.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/fours.cuh"
#include "kernels/strides.h"

namespace tandem::kernels::cuda {

/// Places in dimensions [begin, end) of views, all of which have the sizes of `in` there; its largest strides first where `sorted`.
template <class... Views>
Places<sizeof...(Views)> places_in(const View& in, int begin, int end, bool sorted, const Views&... views) {
  const int count = end - begin;
  int dims[kMaxDims];
  for (int i = 0; i < count; ++i) dims[i] = begin + i;
  if (sorted) order_by_stride(begin, end, in.strides, dims);
  int64_t sizes[kMaxDims];
  for (int d = 0; d < count; ++d) sizes[d] = in.sizes[dims[d]];
  struct Strides {
    int64_t of[kMaxDims];
  };
  const auto strides = [&](const View& view) {
    Strides s;
    for (int d = 0; d < count; ++d) s.of[d] = view.strides[dims[d]];
    return s;
  };
  return Places<sizeof...(Views)>(count, sizes, {strides(views).of...});
}

/// The smallest step that dimensions [begin, end) of `in` make.
inline int64_t smallest_stride(const View& in, int begin, int end) {
  int64_t smallest = INT64_MAX;
  for (int d = begin; d < end; ++d)
    if (in.sizes[d] > 1 && in.strides[d] != 0) smallest = std::min(smallest, std::abs(in.strides[d]));
  return smallest;
}
/// Whether neighbouring threads had better go along the last `reduced` dimensions of `in` than along those before.
inline bool dense_rows(const View& in, int reduced) {
  const int outer = in.ndim - reduced;
  const int64_t along = smallest_stride(in, outer, in.ndim);
  return along != INT64_MAX && along <= smallest_stride(in, 0, outer);
}

/// Rows of N arrays, shared by groups of threads: `columns` rows side by side, `lanes` threads for each. Both are powers of two; together
/// they are the threads of a group.
template <int N>
struct Rows {
  Places<N> starts, elements;  // of the rows; of a row's elements from its start, or of each four of them
  int64_t length;              // elements of a row
  bool dense;                  // neighbouring threads go to neighbouring elements of a row, not to neighbouring rows
  bool fours = false;          // a thread's four elements are neighbours, and lie side by side in every array or are one and the same
  bool same[N] = {};           // they are one
  int lanes = 1, columns = 1, shift = 0;

  Rows(const Places<N>& rows, const Places<N>& of_row, bool dense_rows)
      : starts(rows), elements(of_row), length(of_row.count), dense(dense_rows) {}

  /// The same, in fours where the arrays, whose views these are, allow it. Those without data do not count.
  template <class... Views>
  [[nodiscard]] Rows in_fours(const Views&... views) const {
    static_assert(sizeof...(Views) == N);
    const View* const all[N] = {&views...};
    Rows in_fours = *this;
    const int inner = elements.ndim - 1;
    if (!dense || inner < 0 || starts.count == 0 || length == 0 || elements.size(inner) % kFour != 0) return *this;
    for (int a = 0; a < N; ++a) {
      in_fours.same[a] = elements.strides[a][inner] == 0;
      in_fours.elements.strides[a][inner] *= kFour;
      if (!all[a]->data || in_fours.same[a]) continue;
      bool fits = elements.strides[a][inner] == 1 && aligned_to_four(all[a]->data, all[a]->dtype);
      for (int d = 0; d < inner; ++d) fits &= elements.strides[a][d] % kFour == 0;
      for (int d = 0; d < starts.ndim; ++d) fits &= starts.strides[a][d] % kFour == 0;
      if (!fits) return *this;
    }
    in_fours.fours = true;
    in_fours.elements.count /= kFour;
    in_fours.elements.by[inner] = Divide(elements.size(inner) / kFour);
    return in_fours;
  }

  /// The same, for groups of `threads` of which each row has so many.
  [[nodiscard]] Rows shared_by(int threads, int lanes_of_row) const {
    Rows shared = *this;
    shared.lanes = lanes_of_row;
    shared.columns = threads / lanes_of_row;
    shared.shift = 0;
    while (1 << shared.shift < (dense ? shared.lanes : shared.columns)) ++shared.shift;
    return shared;
  }
  /// How many groups there are for `count` rows.
  [[nodiscard]] int64_t groups(int64_t count) const { return (count + columns - 1) / columns; }
  [[nodiscard]] int64_t groups() const { return groups(starts.count); }

  /// Which of its row's threads a thread is.
  TD_DEVICE int lane(int thread) const { return dense ? thread & (lanes - 1) : thread >> shift; }
  /// The thread of the same row that is lane 0.
  TD_DEVICE int first(int thread) const { return thread - lane(thread) * (dense ? 1 : columns); }
  /// The row of a thread of a group; it may be past the last one.
  TD_DEVICE int64_t row(int64_t group, int thread) const { return group * columns + (dense ? thread >> shift : thread & (columns - 1)); }
  /// Whether there is such a row, and the thread is its lane 0.
  TD_DEVICE bool leads(int thread, int64_t row) const { return lane(thread) == 0 && row < starts.count; }

  /// Whether the four elements of a thread lie side by side in an array.
  TD_DEVICE bool together(int array) const { return fours && !same[array]; }
  /// How far the elements of a thread are apart that it takes together.
  TD_DEVICE int step() const { return fours ? 1 : lanes; }

  /// f(at, number) for a thread's elements of a row, four at a time while there are so many: at[array][k] is the place of element
  /// number + k * step(). Nothing for rows past the last one.
  template <class F>
  TD_DEVICE void for_elements(int64_t row, int thread, F&& f) const {
    if (row < starts.count) for_elements(row, thread, 0, length, f);
  }
  /// The same for elements [begin, end) of a row that there is; multiples of four.
  template <class F>
  TD_DEVICE void for_elements(int64_t row, int thread, int64_t begin, int64_t end, F&& f) const {
    constexpr int together = kFour;
    int64_t start[N];
    starts(row, start);
    if (fours) {
#if defined(__CUDACC__)
#pragma unroll 2
#endif
      for (int64_t i = begin / kFour + lane(thread); i < end / kFour; i += lanes) {
        int64_t one[N], at[N][together];
        elements(i, one);
        for (int a = 0; a < N; ++a)
          for (int k = 0; k < together; ++k) at[a][k] = start[a] + one[a] + (same[a] ? 0 : k);
        f(at, i * kFour);
      }
      return;
    }
    int64_t i = begin + lane(thread);
    const int64_t step = lanes;
    for (; i + (together - 1) * step < end; i += together * step) {
      int64_t at[N][together];
      for (int k = 0; k < together; ++k) {
        int64_t one[N];
        elements(i + k * step, one);
        for (int a = 0; a < N; ++a) at[a][k] = start[a] + one[a];
      }
      f(at, i);
    }
    for (; i < end; i += step) {
      int64_t one[N], at[N][1];
      elements(i, one);
      for (int a = 0; a < N; ++a) at[a][0] = start[a] + one[a];
      f(at, i);
    }
  }

  /// Combines the values of each row's threads: values[first(thread)] becomes the row's.
  template <int threads, class T, class Combine>
  TD_DEVICE void reduce(Group<threads>& group, T (&values)[threads], Combine combine) const {
    const int step = dense ? 1 : columns;
    for (int k = lanes / 2; k > 0; k /= 2)
      group.each([&](int t) {
        if (lane(t) < k) values[t] = combine(values[t], values[t + k * step]);
      });
  }
};

/// Calls f(threads, rows) with a group size, `max_threads` at most, and the rows shared by such groups as suits their shape; threads is a
/// constant.
template <int max_threads, int N, class F>
void split_rows(const Rows<N>& rows, F&& f) {
  constexpr int64_t busy = int64_t{1} << 17;  // threads that keep a GPU busy
  constexpr std::integral_constant<int, kWarp> warp;
  constexpr std::integral_constant<int, 256> block;
  constexpr std::integral_constant<int, max_threads> largest;
  const int64_t count = rows.starts.count, length = rows.length;
  int lanes = 1;
  if (rows.dense) {
    while (lanes < kWarp && lanes < rows.elements.count) lanes *= 2;
    if (length <= 1024) return f(warp, rows.shared_by(warp, lanes));
    if (length <= 8192 || count * block >= busy) return f(block, rows.shared_by(block, block));
    return f(largest, rows.shared_by(largest, largest));
  }
  int side_by_side = 1;  // rows, at least: a few make a whole memory transaction
  while (side_by_side < 8 && side_by_side < count) side_by_side *= 2;
  while (count * lanes < busy && int64_t{4} * lanes <= length && lanes < largest / side_by_side) lanes *= 2;
  if (lanes <= block / side_by_side) return f(block, rows.shared_by(block, lanes));
  return f(largest, rows.shared_by(largest, lanes));
}

}  // namespace tandem::kernels::cuda
