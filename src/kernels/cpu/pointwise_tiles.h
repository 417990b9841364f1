// A pointwise call made ready, and its execution tile by tile.
#pragma once

#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu {

inline constexpr int64_t kTile = 1024;         // elements handed to a tile function at a time, at most
inline constexpr int64_t kGrain = 32 * kTile;  // elements a thread should have at least
// Elements of a row that is not packed, at least, where it is dense and where it repeats an element: packing is faster for shorter ones.
inline constexpr int64_t kLeastRow = 512, kLeastRepeated = 768;

struct alignas(64) Buffer {
  char bytes[kTile * 8];
};

/// A call made ready: which operands and whether the result go straight to memory.
struct TilePlan {
  const Pointwise& call;
  const Isa& set;
  Tile tile;
  Compute compute;
  int inputs;
  bool checks_divisor;
  DType natural;              // what the tile function writes
  bool out_dense;             // the output is contiguous
  bool out_direct;            // and of the natural type
  bool stream;                // and so large that it is written past the caches
  bool dense[kMaxOperands];   // this operand is contiguous in the order of the call
  bool direct[kMaxOperands];  // and of the compute type
};

/// n copies of a number in the compute type.
void fill_number(void* to, Value value, Compute compute, int64_t n, const Isa& set);

/// Elements in their order, a tile at a time.
void run_tiles(const Queue& queue, const TilePlan& plan);

/// Whether every operand is a number, or has rows that can be read where they lie or that repeat one element.
bool wants_rows(const TilePlan& plan);
/// Row by row: nothing is packed.
void run_rows(const Queue& queue, const TilePlan& plan);

/// Whether an operand is transposed against the output, so that panels are faster.
bool wants_panels(const TilePlan& plan);
/// Blocks of rows: transposed operands are is_transposed round block by block, so that every cache line is read once.
void run_panels(const Queue& queue, const TilePlan& plan);

}  // namespace tandem::kernels::cpu
