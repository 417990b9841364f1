// What the files of products share: how large a tile of sums is, and transposes.
#pragma once

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/vec.h"

namespace tandem::kernels::cpu::TD_ISA {

/// Sums that a product keeps in registers: with a row of b and a number of a all are in use, 16 of them, or AVX-512's 32.
inline constexpr int kTileRows = kPackedPanel, kTileVectors = kVectorBytes == 64 ? 4 : 2;

using Four = Raw<float, 16>;

/// to[r * to_row + c] = from[c * from_column + r] for r and c up to 4.
TD_INLINE void transpose_4x4(float* to, int64_t to_row, const float* from, int64_t from_column) {
  Four a[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&a[i], from + i * from_column, sizeof a[i]);
  const Four low01 = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5), high01 = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7),
             low23 = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5), high23 = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
  const Four rows[] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                       __builtin_shufflevector(high01, high23, 0, 1, 4, 5), __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_row, &rows[i], sizeof rows[i]);
}

/// to[r * to_row + c] = from[c * from_column + r]: `columns` contiguous runs become columns.
template <class T>
TD_INLINE void transpose(T* to, int64_t to_row, const T* from, int64_t from_column, int64_t rows, int64_t columns) {
  int64_t c = 0;
  for (; c + 4 <= columns; c += 4) {
    const T* column = from + c * from_column;
    int64_t r = 0;
    if constexpr (sizeof(T) == 4)
      for (; r + 4 <= rows; r += 4) transpose_4x4(to + r * to_row + c, to_row, column + r, from_column);
    for (; r < rows; ++r)
      for (int x = 0; x < 4; ++x) to[r * to_row + c + x] = column[x * from_column + r];
  }
  for (; c + 2 <= columns; c += 2)
    for (int64_t r = 0; r < rows; ++r)
      for (int x = 0; x < 2; ++x) to[r * to_row + c + x] = from[(c + x) * from_column + r];
  for (; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r) to[r * to_row + c] = from[c * from_column + r];
}

}  // namespace tandem::kernels::cpu::TD_ISA
