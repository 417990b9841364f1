// Work over rows in two steps: a total of each row, then its results, which take the row's total. The work says what these are:
//   using Total = …                                  plain numbers, of at most kLargestTotal bytes
//   rows                                             the rows of its arrays
//   Total none() const                               the total of no elements
//   Total total(row, thread, begin, end) const       that of a thread's elements in [begin, end)
//   Total combine(Total, Total) const
//   void results(row, thread, begin, end, total, leads) const; `leads` for one thread of each row
// A group takes whole rows. Where these are few and long, it takes pieces, and there are two launches: the first leaves the pieces' totals
// in memory, in the second each group combines those of its row, all of them in the same order.
#pragma once

#include "kernels/cuda/reduction.cuh"

namespace tandem::kernels::cuda {

template <class Work, int threads>
struct WholeRows {
  using Total = typename Work::Total;
  struct Shared {
    Total totals[threads];
  };
  static constexpr int kBlocks = threads == kWarp ? 3 : 1;  // at a time: short rows wait for memory, not for arithmetic
  Work work;

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    const auto& rows = work.rows;
    group.each([&](int t) {
      const int64_t row = rows.row(i, t);
      shared.totals[t] = row < rows.starts.count ? work.total(row, t, 0, rows.length) : work.none();
    });
    rows.reduce(group, shared.totals, [&](const Total& a, const Total& b) { return work.combine(a, b); });
    group.each([&](int t) {
      const int64_t row = rows.row(i, t);
      if (row < rows.starts.count) work.results(row, t, 0, rows.length, shared.totals[rows.first(t)], rows.leads(t, row));
    });
  }
};

/// Pieces of `length` elements: piece p of row r is number p * rows + r.
struct Pieces {
  Divide by_rows;
  int64_t of_row, length;

  [[nodiscard]] TD_HOST_DEVICE int64_t count() const { return by_rows.divisor * of_row; }
  /// f(row, begin, end) of a piece that there is.
  template <class F>
  TD_DEVICE void operator()(int64_t number, int64_t row_length, F&& f) const {
    if (number >= count()) return;
    const Division piece = divide(number, by_rows);
    const int64_t begin = piece.quotient * length, end = begin + length;
    f(piece.remainder, begin, end < row_length ? end : row_length);
  }
};

template <class Work, int threads>
struct TotalsOfPieces {
  using Total = typename Work::Total;
  using Shared = typename WholeRows<Work, threads>::Shared;
  Work work;
  Pieces pieces;
  Total* totals;

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    const auto& rows = work.rows;
    group.each([&](int t) {
      Total total = work.none();
      pieces(rows.row(i, t), rows.length, [&](int64_t row, int64_t begin, int64_t end) { total = work.total(row, t, begin, end); });
      shared.totals[t] = total;
    });
    rows.reduce(group, shared.totals, [&](const Total& a, const Total& b) { return work.combine(a, b); });
    group.each([&](int t) {
      if (const int64_t number = rows.row(i, t); rows.lane(t) == 0 && number < pieces.count()) totals[number] = shared.totals[t];
    });
  }
};

template <class Work, int threads>
struct ResultsOfPieces {
  using Total = typename Work::Total;
  using Shared = typename WholeRows<Work, threads>::Shared;
  Work work;
  Pieces pieces;
  const Total* totals;

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    const auto& rows = work.rows;
    group.each([&](int t) {
      Total total = work.none();
      pieces(rows.row(i, t), rows.length, [&](int64_t row, int64_t, int64_t) {
        for (int64_t p = rows.lane(t); p < pieces.of_row; p += rows.lanes)
          total = work.combine(total, totals[p * pieces.by_rows.divisor + row]);
      });
      shared.totals[t] = total;
    });
    rows.reduce(group, shared.totals, [&](const Total& a, const Total& b) { return work.combine(a, b); });
    group.each([&](int t) {
      pieces(rows.row(i, t), rows.length, [&](int64_t row, int64_t begin, int64_t end) {
        work.results(row, t, begin, end, shared.totals[rows.first(t)], begin == 0 && rows.lane(t) == 0);
      });
    });
  }
};

/// Does the work, whose rows may be cut; workspace: cut.workspace() bytes.
template <class Work>
void work_on_rows(const Queue& queue, const Cut& cut, Work work, void* workspace) {
  if (cut.pieces == 1)
    return split_rows<512>(work.rows, [&](auto threads, const auto& rows) {
      work.rows = rows;
      for_groups<threads>(queue, rows.groups(), WholeRows<Work, threads>{work});
    });
  using Total = typename Work::Total;
  static_assert(sizeof(Total) <= kLargestTotal);
  constexpr int threads = 256;
  auto* const totals = static_cast<Total*>(workspace);
  const int64_t length = ((work.rows.length + cut.pieces - 1) / cut.pieces + kWarp - 1) / kWarp * kWarp;
  work.rows = work.rows.shared_by(threads, threads / cut.side_by_side);
  const Pieces pieces{Divide(cut.rows), cut.pieces, length};
  const int64_t groups = work.rows.groups(pieces.count());
  for_groups<threads>(queue, groups, TotalsOfPieces<Work, threads>{work, pieces, totals});
  for_groups<threads>(queue, groups, ResultsOfPieces<Work, threads>{work, pieces, totals});
}

}  // namespace tandem::kernels::cuda
