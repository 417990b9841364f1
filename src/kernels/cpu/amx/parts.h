// What the code by AMX shares. Included there alone, and all of it is this processor kind's: nothing here may have a name that the linker
// could join with another file's.
#pragma once

#if defined(__AMX_BF16__) && defined(__AVX512F__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // gcc 12 warns of its own "undefined" registers
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <cstdint>

#include "kernels/cpu/split_product.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kParts = 3, kHalves = 2, kTile = 16 * 32;               // of a number; tiles of a part; bfloat16 of a tile
constexpr uint32_t kLeast = (127 - 100) << 23, kMost = (127 + 63) << 23;  // 2^-100: the third part is 2^-18 of it at the least

[[maybe_unused]] int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
[[maybe_unused]] int64_t whole_of(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

[[maybe_unused]] __mmask16 mask_of(int64_t n) { return n >= 16 ? 0xffff : n <= 0 ? 0 : static_cast<__mmask16>((1U << n) - 1); }

/// The three parts of 16 numbers; each is a float whose lower half is 0.
struct Split {
  __m512i part[kParts];
};
[[maybe_unused]] __m512i upper_half(__m512i x) { return _mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xffff0000U))); }
[[maybe_unused]] __m512i rounded(__m512 x) { return upper_half(_mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000))); }
[[maybe_unused]] Split split(__m512 x) {
  Split s;
  s.part[0] = rounded(x);
  const __m512 rest = _mm512_sub_ps(x, _mm512_castsi512_ps(s.part[0]));
  s.part[1] = rounded(rest);
  s.part[2] = _mm512_castps_si512(_mm512_sub_ps(rest, _mm512_castsi512_ps(s.part[1])));
  return s;
}

/// Of the eight tiles: rows, and bytes of a row.
struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, unused[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// The least and the largest magnitude in a register of numbers, but for zeros.
struct MagnitudeLanes {
  __m512i least = _mm512_set1_epi32(-1), most = _mm512_setzero_si512();

  void add(__m512 x) {
    const __m512i bits = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
    most = _mm512_max_epu32(most, bits);
    least = _mm512_mask_min_epu32(least, _mm512_test_epi32_mask(bits, bits), least, bits);
  }
  [[nodiscard]] Magnitudes all() const { return {_mm512_reduce_min_epu32(least), _mm512_reduce_max_epu32(most)}; }
};

}  // namespace
}  // namespace tandem::kernels::cpu
#endif
