// Reductions. Three ways: rows (the reduced elements of a result lie together, or are packed together), columns (the results lie together:
// whole rows are added to each other), and, where there are few results, both in a fixed number of pieces whose totals are combined in
// order. Which way and which pieces depends on shapes alone, so a result never depends on the number of threads.
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/reduction_plan.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kGrain = 32 << 10;  // elements a thread should have at least
constexpr int64_t kPiece = 16 << 10;  // elements of a piece of a large reduction, at least
constexpr int64_t kPieceStep = 1024;  // pieces are multiples of so many elements: none begins within a cache line
constexpr int64_t kMaxPieces = 256;
constexpr int64_t kColumns = 1024;  // columns taken together, at most: whole rows of memory where there are many of them,
constexpr int64_t kManyRows = 256;  // narrower pieces, whose totals need not be combined, where there are fewer
constexpr int64_t kNarrow = 256;
constexpr int64_t kMaxColumnPieces = 16;
constexpr int64_t kShortRow = 32;   // rows up to this length are gathered into columns
constexpr int64_t kBlockRows = 64;  // rows added up in the compute type before they join the totals

union Total {
  double floating;
  int64_t integer;
};

struct Call {
  Reduce op;
  Out out;
  View in;
  CollapsedDims kept, reduced;
  int64_t results, count;  // how many results, and elements of each
  Compute compute;
  const Isa& set;
  const Reducer& reducer;
};

double neutral(Reduce op) {
  switch (op) {
    case Reduce::Prod:
    case Reduce::All: return 1;
    case Reduce::Max: return -std::numeric_limits<double>::infinity();
    case Reduce::Min: return std::numeric_limits<double>::infinity();
    case Reduce::Mean:
    case Reduce::MeanOfSquares: return std::numeric_limits<double>::quiet_NaN();
    default: return 0;
  }
}

/// Writes n totals to the output from `offset` on, `stride` apart.
void store(const Call& call, Total* totals, int64_t n, int64_t offset, int64_t stride) {
  const bool integer = call.compute == kComputeInt;
  if (is_mean(call.op) || call.op == Reduce::Norm2) {
    for (int64_t i = 0; i < n; ++i) {
      double& x = totals[i].floating;
      if (integer) x = static_cast<double>(totals[i].integer);
      x = is_mean(call.op) ? x / static_cast<double>(call.count) : std::sqrt(x);
    }
    call.set.conversions.unpack_from(kComputeDouble, call.out.dtype)(
        call.out.as<char>() + offset * static_cast<int64_t>(size_of(call.out.dtype)), stride, totals, n);
    return;
  }
  call.set.conversions.unpack_from(integer ? kComputeInt : kComputeDouble, call.out.dtype)(
      call.out.as<char>() + offset * static_cast<int64_t>(size_of(call.out.dtype)), stride, totals, n);
}

/// The total of reduced elements [begin, end) at an offset of the input.
Total total_of(const Call& call, int64_t offset, int64_t begin, int64_t end) {
  Total total{};
  bool first = true;
  for_elements(call.in, call.reduced, offset, begin, end, call.compute, call.set, [&](const void* elements, int64_t n) {
    Total part;
    call.reducer.row(&part, elements, n);
    if (first) total = part;
    else call.reducer.combine(&total, &part, 1);
    first = false;
  });
  return total;
}

void by_rows(const Queue& queue, const Call& call) {
  parallel_for(call.results, std::max<int64_t>(1, kGrain / call.count), queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto [in_offset, out_offset] = call.kept.locate(i);
      Total total = total_of(call, in_offset, 0, call.count);
      store(call, &total, 1, out_offset, 1);
    }
  });
}

/// Few results of many elements each.
void by_pieces(const Queue& queue, const Call& call, int64_t pieces) {
  const int64_t length = ((call.count + pieces - 1) / pieces + kPieceStep - 1) / kPieceStep * kPieceStep;
  for (int64_t i = 0; i < call.results; ++i) {
    const int64_t in_offset = call.kept.locate(i)[kIn], out_offset = call.kept.locate(i)[kOut];
    Total totals[kMaxPieces];
    const int64_t used = (call.count + length - 1) / length;
    parallel_for(used, std::max<int64_t>(1, kGrain / length), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) totals[p] = total_of(call, in_offset, p * length, std::min((p + 1) * length, call.count));
    });
    for (int64_t p = 1; p < used; ++p) call.reducer.combine(totals, totals + p, 1);
    store(call, totals, 1, out_offset, 1);
  }
}

/// The totals of `width` neighbouring columns over reduced elements [begin, end).
void column_totals(const Call& call, Total* totals, int64_t offset, int64_t width, int64_t begin, int64_t end) {
  alignas(64) char block[kColumns * 8], packed[kColumns * 8];
  const int64_t size = static_cast<int64_t>(size_of(call.in.dtype)), row_stride = call.reduced.strides[kIn][call.reduced.ndim - 1];
  const int64_t column_stride = call.kept.strides[kIn][call.kept.ndim - 1];
  const bool straight = column_stride == 1 && call.in.dtype == dtype_for(call.compute);
  const Pack pack = call.set.conversions.pack_to(call.compute, call.in.dtype);
  const char* const base = call.in.as<const char>() + offset * size;
  int64_t taken = 0;  // rows in block
  bool first = true;
  const auto absorb = [&] {
    if (taken == 0) return;
    call.reducer.absorb(totals, block, width, first);
    first = false;
    taken = 0;
  };
  for_runs<1>(call.reduced.ndim, call.reduced.sizes, {call.reduced.strides[kIn]}, begin, end, [&](const int64_t* at, int64_t, int64_t n) {
    const char* from = base + at[0] * size;
    for (int64_t r = 0; r < n;) {
      const int64_t rows = straight ? std::min<int64_t>({n - r, kBlockRows - taken, 8}) : 1;
      const char* row = from + r * row_stride * size;
      if (!straight) {
        pack(packed, row, column_stride, width);
        row = packed;
      }
      call.reducer.columns(block, row, row_stride, rows, width, taken == 0);
      taken += rows;
      r += rows;
      if (taken == kBlockRows) absorb();
    }
  });
  absorb();
}

/// The last kept dimension is contiguous, or there is little to reduce: its columns are reduced side by side.
/// `totals`: where there are several pieces, kColumns for each of them.
void by_columns(const Queue& queue, const Call& call, Total* totals) {
  CollapsedDims outer = call.kept;
  const int last = outer.ndim - 1;
  const int64_t columns = outer.sizes[last], out_stride = outer.strides[kOut][last], in_stride = outer.strides[kIn][last];
  outer.ndim -= 1;
  outer.require_one();
  const int64_t tile = call.count < kManyRows ? kNarrow : kColumns;
  const int64_t tiles = (columns + tile - 1) / tile, work = call.results / columns * tiles;
  const int64_t width_limit = std::min(columns, tile);
  const auto place = [&](int64_t task, int64_t& in_offset, int64_t& out_offset, int64_t& width) {
    const int64_t column = task % tiles * tile;
    const auto [in_at, out_at] = call.kept.ndim > 1 ? outer.locate(task / tiles) : std::array<int64_t, 2>{};
    in_offset = in_at + column * in_stride;
    out_offset = out_at + column * out_stride;
    width = std::min(tile, columns - column);
  };
  const int64_t pieces = work >= kMaxColumnPieces ? 1 : std::clamp<int64_t>(call.count * width_limit / kPiece, 1, kMaxColumnPieces);
  if (pieces == 1) {
    parallel_for(work, std::max<int64_t>(1, kGrain / (call.count * width_limit)), queue.threads, [&](int64_t begin, int64_t end) {
      Total all[kColumns];
      for (int64_t task = begin; task < end; ++task) {
        int64_t in_offset, out_offset, width;
        place(task, in_offset, out_offset, width);
        column_totals(call, all, in_offset, width, 0, call.count);
        store(call, all, width, out_offset, out_stride);
      }
    });
    return;
  }
  const int64_t length = (call.count + pieces - 1) / pieces, used = (call.count + length - 1) / length;
  const auto totals_of = [&](int64_t task, int64_t piece) { return totals + (task * used + piece) * kColumns; };
  parallel_for(work * used, std::max<int64_t>(1, kGrain / (length * width_limit)), queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t task = i / used, p = i % used;
      int64_t in_offset, out_offset, width;
      place(task, in_offset, out_offset, width);
      column_totals(call, totals_of(task, p), in_offset, width, p * length, std::min((p + 1) * length, call.count));
    }
  });
  for (int64_t task = 0; task < work; ++task) {
    int64_t in_offset, out_offset, width;
    place(task, in_offset, out_offset, width);
    for (int64_t p = 1; p < used; ++p) call.reducer.combine(totals_of(task, 0), totals_of(task, p), width);
    store(call, totals_of(task, 0), width, out_offset, out_stride);
  }
}

}  // namespace

/// For the pieces of columns: each has kPiece elements, those of the last columns half as many or fewer, and a total for each column.
size_t reduce_workspace(const View& in, int32_t reduced) {
  if (reduced == in.ndim) return 0;
  const int64_t pieces = std::min(2 * (in.numel() / kPiece), kMaxColumnPieces * kMaxColumnPieces);
  return static_cast<size_t>(pieces * kColumns) * sizeof(Total);
}

void reduce(const Queue& queue, Reduce op, Out out, View in, int32_t reduced, void* workspace) {
  const bool tests = op == Reduce::Any || op == Reduce::All || op == Reduce::CountNonzero || op == Reduce::Max || op == Reduce::Min;
  const Compute compute = compute_of(tests ? in.dtype : out.dtype);
  const Isa& set = isa();
  const int kept = in.ndim - reduced;
  Call call{op,
            out,
            in,
            collapsed_dims(in, &out, 0, kept, false),
            collapsed_dims(in, nullptr, kept, in.ndim, false),
            0,
            0,
            compute,
            set,
            set.reductions.reduce[static_cast<int>(op)][compute]};
  call.results = call.kept.numel;
  call.count = call.reduced.numel;
  if (call.results == 0) return;
  if (call.count == 0) {
    Value value;
    value.floating = neutral(op);
    if (!is_floating(out.dtype)) {
      value.is_floating = false;
      value.integer = op == Reduce::Max   ? std::numeric_limits<int64_t>::min()
                      : op == Reduce::Min ? std::numeric_limits<int64_t>::max()
                                          : static_cast<int64_t>(neutral(op) == 1);
    }
    return fill(queue, out, value);
  }
  const int last = call.kept.ndim - 1;
  const bool rows_are_dense = call.reduced.strides[kIn][call.reduced.ndim - 1] == 1 && call.reduced.sizes[call.reduced.ndim - 1] > 1;
  if (!rows_are_dense && call.count > 1 && call.kept.strides[kIn][last] == 1 && call.kept.sizes[last] >= 8)
    return by_columns(queue, call, static_cast<Total*>(workspace));
  if (call.count <= kShortRow && call.kept.sizes[last] >= 64) return by_columns(queue, call, static_cast<Total*>(workspace));
  const int64_t pieces = call.results >= 16 ? 1 : std::min(call.count / kPiece, kMaxPieces);
  if (pieces > 1) return by_pieces(queue, call, pieces);
  by_rows(queue, call);
}

}  // namespace tandem::kernels::cpu
