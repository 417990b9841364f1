// Reductions of rows to one total each. A reduction says what a total is:
//   using Total = …                            plain numbers, of at most kLargestTotal bytes
//   Total identity() const                     the total of no elements
//   void add(Total&, at, number, step) const   adds elements number + k * step, which lie at at[k]
//   Total combine(Total, Total) const
//   void store(int64_t row, Total) const
// A few long rows are cut into pieces for many groups, whose totals are combined by a second launch.
#pragma once

#include "kernels/cuda/rows.cuh"

namespace tandem::kernels::cuda {

inline constexpr size_t kLargestTotal = 3 * sizeof(double);

/// A total for each row.
template <class Reduction, int threads>
struct ReduceRows {
  using Total = typename Reduction::Total;
  struct Shared {
    Total totals[threads];
  };
  Reduction reduction;
  Rows<1> rows;

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    group.each([&](int t) {
      Total total = reduction.identity();
      rows.for_elements(rows.row(i, t), t, [&](const auto& at, int64_t number) { reduction.add(total, at[0], number, rows.lanes); });
      shared.totals[t] = total;
    });
    rows.reduce(group, shared.totals, [&](const Total& a, const Total& b) { return reduction.combine(a, b); });
    group.each([&](int t) {
      if (const int64_t row = rows.row(i, t); rows.leads(t, row)) reduction.store(row, shared.totals[t]);
    });
  }
};

/// The totals of pieces of `length` elements: piece p of row r is number p * rows + r.
template <class Reduction, int threads>
struct ReducePieces {
  using Total = typename Reduction::Total;
  using Shared = typename ReduceRows<Reduction, threads>::Shared;
  Reduction reduction;
  Rows<1> rows;
  Divide by_rows;
  int64_t count, length;  // of all pieces, of each
  Total* totals;

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    group.each([&](int t) {
      Total total = reduction.identity();
      if (const int64_t number = rows.row(i, t); number < count) {
        const int64_t piece = by_rows(number), begin = piece * length, end = begin + length;
        rows.for_elements(number - piece * by_rows.divisor, t, begin, end < rows.elements.count ? end : rows.elements.count,
                          [&](const auto& at, int64_t element) { reduction.add(total, at[0], element, rows.lanes); });
      }
      shared.totals[t] = total;
    });
    rows.reduce(group, shared.totals, [&](const Total& a, const Total& b) { return reduction.combine(a, b); });
    group.each([&](int t) {
      if (const int64_t number = rows.row(i, t); rows.lane(t) == 0 && number < count) totals[number] = shared.totals[t];
    });
  }
};

/// The reduction whose elements are the totals of another's pieces.
template <class Reduction>
struct CombinePieces {
  using Total = typename Reduction::Total;
  Reduction reduction;
  const Total* totals;

  TD_DEVICE Total identity() const { return reduction.identity(); }
  template <int n>
  TD_DEVICE void add(Total& total, const int64_t (&at)[n], int64_t, int) const {
    for (int k = 0; k < n; ++k) total = reduction.combine(total, totals[at[k]]);
  }
  TD_DEVICE Total combine(const Total& a, const Total& b) const { return reduction.combine(a, b); }
  TD_DEVICE void store(int64_t row, const Total& total) const { reduction.store(row, total); }
};

/// The pieces that each row is cut into, where rows are too few to keep a GPU busy and long enough for a second launch to pay.
struct Cut {
  int64_t rows = 1, pieces = 1;
  bool dense;
  int side_by_side = 1;  // rows of a group

  /// Rows are cut where they keep fewer than `few` groups busy.
  Cut(const View& in, int reduced, int64_t few = 128) : dense(dense_rows(in, reduced)) {
    constexpr int64_t wanted = 1024, least = 8192;  // groups of pieces, elements of a piece
    int64_t count = 1;
    for (int d = 0; d < in.ndim; ++d) (d < in.ndim - reduced ? rows : count) *= in.sizes[d];
    while (!dense && side_by_side < 8 && side_by_side < rows) side_by_side *= 2;
    const int64_t groups = (rows + side_by_side - 1) / side_by_side;
    if (groups > 0 && groups < few && count * side_by_side >= 8 * least)
      pieces = std::min((wanted + groups - 1) / groups, count * side_by_side / least);
  }
  /// Bytes for the totals of all pieces.
  [[nodiscard]] size_t workspace() const { return pieces > 1 ? static_cast<size_t>(rows * pieces) * kLargestTotal : 0; }
};

/// Reduces rows that may be cut; workspace: cut.workspace() bytes.
template <class Reduction>
void reduce_rows(const Queue& queue, const Cut& cut, const Places<1>& starts, const Places<1>& elements, const Reduction& reduction,
                 void* workspace) {
  const Rows<1> whole(starts, elements, cut.dense);
  if (cut.pieces == 1)
    return split_rows<1024>(whole, [&](auto threads, const Rows<1>& rows) {
      for_groups<threads>(queue, rows.groups(), ReduceRows<Reduction, threads>{reduction, rows});
    });
  using Total = typename Reduction::Total;
  static_assert(sizeof(Total) <= kLargestTotal);
  constexpr int threads = 256;
  auto* const totals = static_cast<Total*>(workspace);
  const int64_t count = cut.rows * cut.pieces, one = 1;
  const int64_t length = ((elements.count + cut.pieces - 1) / cut.pieces + kWarp - 1) / kWarp * kWarp;
  const Rows<1> pieces = whole.shared_by(threads, threads / cut.side_by_side);
  for_groups<threads>(queue, pieces.groups(count),
                      ReducePieces<Reduction, threads>{reduction, pieces, Divide(cut.rows), count, length, totals});
  const Rows<1> rows({1, &cut.rows, {&one}}, {1, &cut.pieces, {&cut.rows}}, true);
  for_groups<threads>(queue, cut.rows,
                      ReduceRows<CombinePieces<Reduction>, threads>{{reduction, totals}, rows.shared_by(threads, threads)});
}

}  // namespace tandem::kernels::cuda
