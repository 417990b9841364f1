// What is compiled once per instruction set, as tables of functions over contiguous memory. The files of this folder are compiled with
// TD_ISA set to the name of the set (baseline, avx2, avx512), which is also their namespace; kernels/cpu/dispatch.cpp chooses one for the
// process.
#pragma once

#include "kernels/pointwise_call.h"
#include "kernels/table.h"

namespace tandem::kernels::cpu {

/// The types that pointwise kernels compute in.
enum Compute : int { kComputeFloat, kComputeDouble, kComputeInt, kComputes };
constexpr Compute compute_of(DType dtype) { return dtype == kFloat64 ? kComputeDouble : is_floating(dtype) ? kComputeFloat : kComputeInt; }
constexpr DType dtype_for(Compute compute) { return compute == kComputeFloat ? kFloat32 : compute == kComputeDouble ? kFloat64 : kInt64; }

/// out[i] = f(in0[i], in1[i], …) for n elements of the compute type; comparisons write bool.
using Tile = void (*)(void* out, const void* const* in, int64_t n);
/// to[i] = from[i * stride], converted to a compute type.
using Pack = void (*)(void* to, const void* from, int64_t stride, int64_t n);
/// to[i * stride] = from[i], converted from a compute type.
using Unpack = void (*)(void* to, int64_t stride, const void* from, int64_t n);

/// One reduction over one compute type. Totals are double for float and double, int64 for int64: a total is exact in both, or has digits to
/// spare.
struct Reducer {
  /// *total = the reduction of n contiguous elements, n >= 1.
  void (*row)(void* total, const void* in, int64_t n);
  /// block[i] = the reduction over `rows` rows, `stride` elements apart, of n columns; together with what block has, unless `first`. Of the
  /// compute type, so take few rows at a time and absorb them.
  void (*columns)(void* block, const void* in, int64_t stride, int64_t rows, int64_t n, bool first);
  /// totals[i] = totals[i] combined with block[i], or block[i] where `first`.
  void (*absorb)(void* totals, const void* block, int64_t n, bool first);
  /// totals[i] = totals[i] combined with others[i].
  void (*combine)(void* totals, const void* others, int64_t n);
};
inline constexpr int kReductions = static_cast<int>(Reduce::CountNonzero) + 1;

/// to[r * to_stride + c] = from[c * from_stride + r], for `rows` r and `columns` c.
using Transpose = void (*)(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t rows, int64_t columns);

/// to[i] = from[n - 1 - i]; the two don't overlap.
using Reverse = void (*)(void* to, const void* from, int64_t n);

struct Isa {
  const char* name;
  Tile tiles[kPointwiseOps][kComputes];
  Tile tiles_of_numbers[kPointwiseOps][kComputes];  // all operands but the first are numbers; of operations with three
  Pack pack[kDTypes][kComputes];
  Unpack unpack[kComputes][kDTypes];
  Transpose transpose[2];  // of 4 and of 8 bytes
  Reverse reverse[4];      // of 1, 2, 4 and 8 bytes
  Reducer reduce[kReductions][kComputes];
  /// Whether n indices all lie in [0, size).
  bool (*all_within)(const int64_t* index, int64_t n, int64_t size);
  /// The sums of x - center and of its square over n contiguous floats or doubles, added to sums[0] and sums[1].
  void (*deviations[2])(double* sums, const void* in, double center, int64_t n);
};

/// The chosen set: the best that the processor has, or TANDEM_ISA (baseline, avx2, avx512).
const Isa& isa();
/// Chooses another set for the process, for tests; false where the processor or the build does not have it. No kernel may be running.
bool use_isa(const char* name);

}  // namespace tandem::kernels::cpu
