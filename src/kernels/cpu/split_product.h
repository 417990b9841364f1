// Products of float32 matrices by AMX, the matrix unit of Intel processors since 2023, which multiplies bfloat16 and adds up in float32.
// Each number is split into three of bfloat16, a = a1 + a2 + a3, exactly; of the nine products the six largest are summed, so the error is
// that of plain sums in float32, or less. As the three-part splits of Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial
// Intelligence Datatype For Higher-Precision Computations" (2019).
//
// One operand is split and packed once, for all threads. The other is read where it lies: each thread splits some of its lines into the
// second cache and multiplies them by all of the first. Sums are made in the order of k, whatever the cut.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu {

/// Whether the processor has AMX, the operating system lets this process use it, and the instruction set in use is avx512.
bool has_split_product();

/// The least and the largest magnitude of some numbers but for zeros, as bits of floats.
struct Magnitudes {
  uint32_t least = UINT32_MAX, most = 0;

  void join(const Magnitudes& other) {
    least = other.least < least ? other.least : least;
    most = other.most > most ? other.most : most;
  }
};
/// Whether a product of k terms can be done: its factors and sums must be finite, and its smallest parts normal numbers.
bool can_split(const Magnitudes& a, const Magnitudes& b, int64_t k);
/// Whether such numbers are in the way of any product but one with zeros alone.
bool never_splits(const Magnitudes& x);

/// Lines of an operand, a's rows or b's columns, with k numbers each. One of the strides is 1.
struct SplitLines {
  const float* data;
  int64_t line, element;  // strides
  bool of_a;
};
/// Lines are packed in panels of 32, and 32 numbers of each at a time.
inline constexpr int64_t kSplitPanel = 32;
inline constexpr int64_t kSplitPanelElements = 3 * kSplitPanel * kSplitPanel;

/// The bytes of packed lines: panel after panel, each of all k.
size_t split_bytes(int64_t lines, int64_t k);
/// Packs `lines` lines with numbers [begin, end) of their k, begin a multiple of 32; `to` has the first of these lines.
Magnitudes split_pack(uint16_t* to, const SplitLines& x, int64_t lines, int64_t begin, int64_t end, int64_t k);

/// A block of out (m, n): `lines` of one operand times lines of the other, which are packed.
struct SplitProduct {
  SplitLines lines;
  const uint16_t* packed;
  int64_t m, n, k;
  float* out;
  int64_t out_row;
  const Epilogue* epilogue = nullptr;  // or none; then with the bias, or nullptr, and its strides
  const float* bias = nullptr;
  int64_t bias_row = 0, bias_column = 0;
};
/// Does it on the calling thread and says what `lines` has. Stops where that is in the way: out is not complete then. `scratch` is aligned
/// to cache lines.
Magnitudes split_product(const SplitProduct& p, void* scratch);
/// For this many lines of each operand, or fewer.
size_t split_product_scratch(int64_t lines, int64_t packed_lines, int64_t k);

}  // namespace tandem::kernels::cpu
