// A pointwise call made ready, and its execution tile by tile.
#pragma once

#include <algorithm>

#include "kernels/cpu/isa/isa.h"
#include "kernels/operand_check.h"

namespace tandem::kernels::cpu {

inline constexpr int64_t kTile = 1024;         // elements handed to a tile function at a time, at most
inline constexpr int64_t kGrain = 32 * kTile;  // elements a thread should have at least

struct alignas(64) Buffer {
  char bytes[kTile * 8];
};

/// A call made ready: which operands and whether the result go straight to memory.
struct TilePlan {
  const Pointwise& call;
  const Isa& set;
  Tile tile;
  bool of_numbers;  // the tile function reads one element of every operand but the first
  Compute compute;
  int inputs;
  OperandCheck check;
  DType natural;              // what the tile function writes
  bool out_dense;             // the output is contiguous
  bool out_direct;            // and of the natural type
  bool stream;                // and so large that it is written past the caches
  bool dense[kMaxOperands];   // this operand is contiguous in the order of the call
  bool direct[kMaxOperands];  // and of the compute type

  /// How often operand i, the same for n elements, must stand side by side.
  [[nodiscard]] int64_t copies(int i, int64_t n) const { return of_numbers && i > 0 ? 1 : std::min(kTile, n); }
};

/// How a call is shared out: its pieces are several for each thread, so that threads end together.
struct Shares {
  int threads;
  int64_t piece;  // elements
};
Shares shares_of(int64_t numel, int threads);

/// An operand whose elements follow each other, or the same for each tile.
struct Stream {
  const char* from;
  int64_t step;  // bytes from tile to tile; 0 for the same
};
/// n elements of operands that need no packing.
void run_straight(const TilePlan& plan, char* out, const Stream* operands, int64_t n);
/// The same where some stand in a buffer.
void run_tile_by_tile(const TilePlan& plan, char* out, const Stream* operands, int64_t n);
/// Whether `run_straight` does the whole call.
bool is_straight(const TilePlan& plan);

/// n copies of a number in the compute type.
void fill_number(void* to, Value value, Compute compute, int64_t n, const Isa& set);

/// Elements in their order, a tile at a time.
void run_tiles(const Queue& queue, const TilePlan& plan);

/// Whether every operand is a number, or has rows that can be read where they lie or that repeat one element.
bool wants_rows(const TilePlan& plan);
/// Row by row: nothing is packed.
void run_rows(const Queue& queue, const TilePlan& plan);

/// Whether some operands are one short row, or one element, over and over, and the others need no packing.
bool wants_repeats(const TilePlan& plan);
/// Elements in their order, with such a row laid out once for all tiles of a piece.
void run_repeats(const Queue& queue, const TilePlan& plan);

/// Whether an operand is transposed against the output, so that panels are faster.
bool wants_panels(const TilePlan& plan);
/// Blocks of rows: transposed operands are transposed block by block, so that every cache line is read once.
void run_panels(const Queue& queue, const TilePlan& plan);

}  // namespace tandem::kernels::cpu
