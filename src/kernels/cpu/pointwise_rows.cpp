// Pointwise calls over rows: operands that are broadcast along or across the rows of the others.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/align.h"
#include "base/parallel.h"
#include "kernels/cpu/pointwise_tiles.h"

namespace tandem::kernels::cpu {
namespace {

// Elements of a row, at least, for it to be read where it lies: of a dense one, and of one that repeats an element which the tile function
// takes as a number or which fills a buffer. Shorter ones are faster laid out or packed.
constexpr int64_t kLeastRow = 512, kLeastOfNumber = 192, kLeastRepeated = 768;

/// Rows of a piece, at most `most`, such that each thread has as many pieces: it then works on what its own cache has.
int64_t whole_rows(int64_t rows, int64_t most, int threads) {
  const int64_t pieces = ((rows + most - 1) / most + threads - 1) / threads * threads;
  return (rows + pieces - 1) / pieces;
}

/// What is the same for all rows, in bytes: a row should cost few instructions besides its elements.
template <int inputs>
struct RowSteps {
  int64_t out, in[inputs];                                  // from an element of a row to the next
  int64_t outer_out[kMaxDims], outer_in[kMaxDims][inputs];  // from a row to the next along a dimension
  bool fills[inputs];                                       // copies of a row's one element stand in a buffer
  bool copies = false;                                      // some operand stands in a buffer, for a tile
};

template <int inputs>
void run_rows_of(const Queue& queue, const TilePlan& plan) {
  const Pointwise& call = plan.call;
  const int last = call.ndim - 1;
  const auto [threads, piece] = shares_of(call.numel, queue.threads);
  const int64_t columns = call.sizes[last],
                grain = columns < piece ? whole_rows(call.numel / columns, 2 * piece / columns, threads) * columns : piece;
  const int64_t width = static_cast<int64_t>(size_of(dtype_for(plan.compute)));
  RowSteps<inputs> steps;
  steps.out = static_cast<int64_t>(size_of(call.out_dtype));
  for (int i = 0; i < inputs; ++i) {
    steps.in[i] = call.in[i].strides[last] * width;
    const bool same = steps.in[i] == 0 && plan.copies(i, columns) > 1;
    steps.fills[i] = same && call.in[i].data;
    steps.copies |= same;
  }
  for (int d = 0; d < last; ++d) {
    steps.outer_out[d] = call.out_strides[d] * steps.out;
    for (int i = 0; i < inputs; ++i) steps.outer_in[d][i] = call.in[i].strides[d] * width;
  }
  parallel_for(call.numel, grain, threads, [&](int64_t begin, int64_t end) {
    Buffer buffers[inputs];  // NOLINT: filled as far as they are read
    char* out_row = static_cast<char*>(call.out);
    const char* rows[inputs];
    for (int i = 0; i < inputs; ++i) {
      rows[i] = call.in[i].data ? static_cast<const char*>(call.in[i].data) : buffers[i].bytes;
      if (!call.in[i].data) fill_number(buffers[i].bytes, call.in[i].value, plan.compute, plan.copies(i, columns), plan.set);
    }
    int64_t index[kMaxDims], column = begin % columns;
    for_indices(begin / columns, last, call.sizes, [&](int d, int64_t i) {
      index[d] = i;
      out_row += i * steps.outer_out[d];
      for (int k = 0; k < inputs; ++k) rows[k] += i * steps.outer_in[d][k];
    });
    // Copies that calls through pointers cannot change: they need not be read again for each row. Each begins at a cache line, as far as
    // can be: registers that are stored across two lines cost twice as much.
    const Tile tile = plan.tile;
    const int64_t out_step = steps.out, row_length = columns, aligned = out_step == width ? kCacheLine - 1 : 0;
    const int digits = std::countr_zero(static_cast<uint64_t>(width)), outer = last - 1;
    int64_t in_steps[inputs];
    std::copy_n(steps.in, inputs, in_steps);
    const bool copies = steps.copies;
    for (int64_t at = begin; at < end;) {
      int64_t n = std::min(row_length - column, end - at);
      char* out = out_row + column * out_step;
      const void* in[inputs];
      for (int i = 0; i < inputs; ++i) in[i] = rows[i] + column * in_steps[i];
      if (copies) {
        for (int i = 0; i < inputs; ++i) {
          if (!steps.fills[i]) continue;
          plan.set.conversions.pack_to(plan.compute, call.compute)(buffers[i].bytes, in[i], 0, plan.copies(i, n));
          in[i] = buffers[i].bytes;
        }
      }
      at += n;
      column = 0;
      if (const int64_t lead = std::min(n, (-static_cast<int64_t>(reinterpret_cast<uintptr_t>(out)) & aligned) >> digits); lead > 0) {
        tile(out, in, lead);
        n -= lead;
        out += lead * out_step;
        for (int i = 0; i < inputs; ++i) in[i] = static_cast<const char*>(in[i]) + lead * in_steps[i];
      }
      if (copies && n > kTile) {
        Stream operands[inputs];
        for (int i = 0; i < inputs; ++i) operands[i] = {static_cast<const char*>(in[i]), in_steps[i] * kTile};
        run_tile_by_tile(plan, out, operands, n);
      } else {
        tile(out, in, n);
      }
      for (int d = outer; d >= 0; --d) {
        const int64_t by = ++index[d] < call.sizes[d] ? 1 : 1 - call.sizes[d];
        out_row += by * steps.outer_out[d];
        for (int i = 0; i < inputs; ++i) rows[i] += by * steps.outer_in[d][i];
        if (by == 1) break;
        index[d] = 0;
      }
    }
  });
}

/// After how many elements a dense row that an operand repeats begins anew; 0 if it does not.
int64_t period_of(const Pointwise& call, const int64_t* strides) {
  int64_t period = 1;
  int d = call.ndim - 1;
  for (; d >= 0 && (call.sizes[d] == 1 || strides[d] == period); --d) period *= call.sizes[d];
  for (; d >= 0; --d)
    if (call.sizes[d] != 1 && strides[d] != 0) return 0;
  return period;
}

struct alignas(64) Repeats {
  char bytes[2 * kTile * 8];
};

/// `from`, of `period` bytes, over and over.
void lay_out(char* to, const char* from, int64_t period, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(std::min(period, bytes)));
  for (int64_t filled = period; filled < bytes; filled *= 2)
    std::memcpy(to + filled, to, static_cast<size_t>(std::min(filled, bytes - filled)));
}

}  // namespace

bool wants_rows(const TilePlan& plan) {
  const Pointwise& call = plan.call;
  const int last = call.ndim - 1;
  if (last < 1 || call.out_strides[last] != 1 || call.out_dtype != plan.natural || plan.stream || plan.check != OperandCheck::None ||
      is_straight(plan))
    return false;
  int64_t least = 0;
  for (int i = 0; i < plan.inputs; ++i) {
    const PointwiseOperand& operand = call.in[i];
    if (!operand.data) continue;
    const int64_t stride = operand.strides[last];
    if (operand.dtype != call.compute || stride < 0 || stride > 1) return false;
    if (stride == 0) least = std::max(least, plan.of_numbers && i > 0 ? kLeastOfNumber : kLeastRepeated);
    else if (!plan.direct[i]) least = std::max(least, kLeastRow);
  }
  return call.sizes[last] >= (plan.out_dense ? least : kLeastRow);
}

void run_rows(const Queue& queue, const TilePlan& plan) {
  switch (plan.inputs) {
    case 1: return run_rows_of<1>(queue, plan);
    case 2: return run_rows_of<2>(queue, plan);
    case 3: return run_rows_of<3>(queue, plan);
    default: return run_rows_of<kMaxOperands>(queue, plan);
  }
}

bool wants_repeats(const TilePlan& plan) {
  const Pointwise& call = plan.call;
  if (!plan.out_direct || plan.stream || plan.check != OperandCheck::None) return false;
  bool some = false;
  for (int i = 0; i < plan.inputs; ++i) {
    const PointwiseOperand& operand = call.in[i];
    if (!operand.data || plan.direct[i]) continue;
    const int64_t period = operand.dtype == call.compute ? period_of(call, operand.strides) : 0;
    if (period == 0 || period > kTile) return false;
    some = true;
  }
  return some;
}

void run_repeats(const Queue& queue, const TilePlan& plan) {
  const Pointwise& call = plan.call;
  const int64_t width = static_cast<int64_t>(size_of(dtype_for(plan.compute))), out_width = static_cast<int64_t>(size_of(call.out_dtype));
  int64_t periods[kMaxOperands];
  for (int i = 0; i < plan.inputs; ++i) {
    const PointwiseOperand& operand = call.in[i];
    periods[i] = operand.data && !plan.direct[i] ? period_of(call, operand.strides) : 0;
  }
  const auto [threads, piece] = shares_of(call.numel, queue.threads);
  parallel_for(call.numel, piece, threads, [&](int64_t begin, int64_t end) {
    Repeats laid_out[kMaxOperands];  // NOLINT: filled as far as they are read
    const void* in[kMaxOperands];
    int64_t places[kMaxOperands] = {};
    for (int i = 0; i < plan.inputs; ++i) {
      const PointwiseOperand& operand = call.in[i];
      in[i] = laid_out[i].bytes;
      if (!operand.data) {
        fill_number(laid_out[i].bytes, operand.value, plan.compute, plan.copies(i, end - begin), plan.set);
      } else if (plan.direct[i]) {
        in[i] = static_cast<const char*>(operand.data) + begin * width;
      } else {
        places[i] = begin % periods[i];
        const int64_t most = std::min(end - begin, kTile);
        const bool turns = kTile % periods[i] != 0 || places[i] != 0;  // tiles begin at different places of the row
        lay_out(laid_out[i].bytes, static_cast<const char*>(operand.data), periods[i] * width, (most + (turns ? periods[i] : 0)) * width);
        in[i] = laid_out[i].bytes + places[i] * width;
      }
    }
    for (int64_t at = begin; at < end; at += kTile) {
      plan.tile(static_cast<char*>(call.out) + at * out_width, in, std::min(kTile, end - at));
      for (int i = 0; i < plan.inputs; ++i) {
        if (plan.direct[i]) in[i] = static_cast<const char*>(in[i]) + kTile * width;
        else if (periods[i]) {
          places[i] = (places[i] + kTile) % periods[i];
          in[i] = laid_out[i].bytes + places[i] * width;
        }
      }
    }
  });
}

}  // namespace tandem::kernels::cpu
