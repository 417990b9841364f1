// Convolutions of many images, a vector of images at a time: each lane is an image, so any number of channels and places fills the vectors.
// Tiles of a few channels and places stay in registers while what their windows see is added up.
#include <algorithm>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/vec.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

using V = Vec<float>;
constexpr int64_t kLanes = V::kLanes;
// A tile of sums: kRows channels by kColumns places or terms. AVX-512 has twice the registers.
constexpr int kRows = kVectorBytes == 64 ? 6 : 4;
constexpr int kColumns = kVectorBytes == 64 ? 4 : 3;

/// Calls `f` with `n`, which is 1 to `most`, as a constant of the compiler.
template <int most, class F>
TD_INLINE void with_constant(int64_t n, F f) {
  if constexpr (most > 1) {
    if (n < most) return with_constant<most - 1>(n, f);
  }
  f(std::integral_constant<int, most>{});
}

/// Calls `f(rows, columns, first)` for tiles over `count` places or terms, the sizes as constants. `rows` is at most kRows.
template <class F>
void each_tile(int64_t rows, int64_t count, F f) {
  with_constant<kRows>(rows, [&](auto known_rows) {
    int64_t first = 0;
    for (; first + kColumns <= count; first += kColumns) f(known_rows, std::integral_constant<int, kColumns>{}, first);
    if (first < count) with_constant<kColumns - 1>(count - first, [&](auto columns) { f(known_rows, columns, first); });
  });
}

/// Transposes kLanes vectors in place. Each step swaps one bit of the vectors' numbers with the same bit of the lanes' numbers, from `bit`
/// up.
template <int bit>
TD_INLINE void transpose_vectors(V (&rows)[kLanes]) {
  if constexpr (bit < kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      if (i & bit) continue;
      const V low = rows[i], high = rows[i | bit];
      rows[i] = V(shuffle(low.v, high.v, [](int lane) { return lane & bit ? static_cast<int>(kLanes) + (lane ^ bit) : lane; }));
      rows[i | bit] = V(shuffle(low.v, high.v, [](int lane) { return lane & bit ? static_cast<int>(kLanes) + lane : lane | bit; }));
    }
    transpose_vectors<2 * bit>(rows);
  }
}
/// to[j][i] = from[i][j] for i < rows and j < columns, both up to kLanes. `to_row`, `from_row`: floats from a row to the next. With `whole`
/// all lanes of to[j] are written, with 0 from lane `rows` on.
template <bool whole>
TD_INLINE void transpose(float* to, int64_t to_row, const float* from, int64_t from_row, int64_t rows, int64_t columns) {
  V lines[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i)
    lines[i] = i >= rows ? V(0) : columns < kLanes ? V::load(from + i * from_row, columns) : V::load(from + i * from_row);
  transpose_vectors<1>(lines);
#pragma GCC unroll 16
  for (int j = 0; j < kLanes; ++j) {
    if (j >= columns) continue;
    if (whole || rows == kLanes) lines[j].store(to + j * to_row);
    else lines[j].store(to + j * to_row, rows);
  }
}
void interleave(float* to, const float* from, int64_t image, int64_t images, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) transpose<true>(to + i * kLanes, kLanes, from + i, image, images, std::min(kLanes, n - i));
}
void deinterleave(float* to, int64_t image, const float* from, int64_t images, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) transpose<false>(to + i, image, from + i * kLanes, kLanes, std::min(kLanes, n - i), images);
}

/// Sums that stay in registers: sums[r][p] is of row r and column p.
template <int rows, int columns>
struct Tile {
  V sums[rows][columns];

  template <class F>
  TD_INLINE void each(F f) {
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int p = 0; p < columns; ++p) f(sums[r][p], r, p);
  }
  /// sums[r][p] += weight[r] * from[p][step], a vector of each.
  TD_INLINE void add(const float* weight, const float* const (&from)[columns], int64_t step) {
    V seen[columns];
    for (int p = 0; p < columns; ++p) seen[p] = V::load(from[p] + step);
    for (int r = 0; r < rows; ++r) {
      const V by(weight[r]);
      for (int p = 0; p < columns; ++p) sums[r][p] = fma(by, seen[p], sums[r][p]);
    }
  }
};

template <int rows, int columns>
void sum_tile(const ImageSums& s, int64_t first) {
  Tile<rows, columns> tile;
  float* const out = s.out + first * kLanes;
  if (s.start) tile.each([&](V & sum, int r, int) __attribute__((always_inline)) { sum = V(s.bias ? s.bias[r] : 0.0F); });
  else tile.each([&](V & sum, int r, int p) __attribute__((always_inline)) { sum = V::load(out + r * s.out_row + p * kLanes); });
  const float* in[columns];
  for (int p = 0; p < columns; ++p) in[p] = s.in + s.places[first + p];
  for (int64_t k = 0; k < s.terms; ++k) tile.add(s.weight + k * rows, in, s.taps[k]);
  tile.each([&](V & sum, int r, int p) __attribute__((always_inline)) { sum.store(out + r * s.out_row + p * kLanes); });
}
void sums(const ImageSums& s) {
  each_tile(s.rows, s.count, [&](auto rows, auto columns, int64_t first) { sum_tile<rows, columns>(s, first); });
}

template <int rows, int columns>
void spread_tile(const ImageSpread& s, int64_t first) {
  Tile<rows, columns> tile;
  tile.each([&](V & sum, int, int) __attribute__((always_inline)) { sum = V(0); });
  const float* out[columns];
  for (int p = 0; p < columns; ++p) out[p] = s.out + (first + p) * kLanes;
  for (int64_t k = 0; k < s.terms; ++k) tile.add(s.weight + k * rows, out, k * s.out_row);
  tile.each([&](V & sum, int r, int p) __attribute__((always_inline)) {  // one after another: several sums may go to the same element
    float* const to = s.in + s.places[first + p] + s.taps[r];
    (V::load(to) + sum).store(to);
  });
}
void spread(const ImageSpread& s) {
  each_tile(s.rows, s.count, [&](auto rows, auto columns, int64_t first) { spread_tile<rows, columns>(s, first); });
}

template <int rows, int columns>
void product_tile(const ImageProducts& s, int64_t first) {
  Tile<rows, columns> tile;
  tile.each([&](V & sum, int, int) __attribute__((always_inline)) { sum = V(0); });
  const float* in[columns];
  for (int k = 0; k < columns; ++k) in[k] = s.in + s.taps[first + k];
  const float* out = s.out;
  for (int64_t p = 0; p < s.count; ++p, out += kLanes) {
    V seen[columns];
    for (int k = 0; k < columns; ++k) seen[k] = V::load(in[k] + s.places[p]);
    for (int r = 0; r < rows; ++r) {
      const V by = V::load(out + r * s.out_row);
      for (int k = 0; k < columns; ++k) tile.sums[r][k] = fma(by, seen[k], tile.sums[r][k]);
    }
  }
  tile.each([&](V & sum, int r, int k) __attribute__((always_inline)) { s.sums[r * s.sums_row + first + k] += reduce_add(sum); });
}
void products(const ImageProducts& s) {
  each_tile(s.rows, s.terms, [&](auto rows, auto columns, int64_t first) { product_tile<rows, columns>(s, first); });
}

}  // namespace

void fill_images(ImageFunctions& images) {
  images = {[]() -> int64_t { return kLanes; }, []() -> int64_t { return kRows; }, interleave, deinterleave, sums, spread, products};
}

}  // namespace tandem::kernels::cpu::TD_ISA
