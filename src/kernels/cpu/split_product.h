// Products of float32 matrices by AMX, the matrix unit of Intel processors since 2023, which multiplies bfloat16 and adds up in float32.
// Each number is split into three of bfloat16, a = a1 + a2 + a3, exactly; of the nine products the six largest are summed, so the error is
// that of plain sums in float32, or less. As the three-part splits of Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial
// Intelligence Datatype For Higher-Precision Computations" (2019).
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
/// Those of `rows` rows of n contiguous floats.
Magnitudes magnitudes(const float* x, int64_t row, int64_t rows, int64_t n);
/// Whether a product of k terms can be done: its factors and sums must be finite, and its smallest parts normal numbers.
bool can_split(const Magnitudes& a, const Magnitudes& b, int64_t k);

/// The product on the calling thread: rows or columns of a and b are contiguous. Both must be so that can_split holds. `scratch` is aligned
/// to cache lines.
void split_product(const DenseProduct<float>& p, void* scratch);
size_t split_product_scratch(int64_t m, int64_t n, int64_t k);

}  // namespace tandem::kernels::cpu
