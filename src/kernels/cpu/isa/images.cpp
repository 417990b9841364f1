// Convolutions of many images, a vector of images at a time: each lane is an image, so any number of channels and places fills the vectors.
// Tiles of a few channels and places stay in registers while what their windows see is added up.
#include <algorithm>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/vec.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

using V = Vec<float>;
constexpr int64_t kLanes = V::kLanes;
constexpr int kRows = kVectorBytes == 64 ? 6 : 4;  // channels of a tile, and its places or terms: AVX-512 has twice the registers
constexpr int kWide = kVectorBytes == 64 ? 4 : 3;

/// Calls `f` with a number from 1 to `most` as a constant.
template <int most, class F>
TD_INLINE void with_constant(int64_t n, F f) {
  if constexpr (most > 1) {
    if (n < most) return with_constant<most - 1>(n, f);
  }
  f(std::integral_constant<int, most>{});
}

/// Calls `f(rows, wide, first)` for tiles over `count` places or terms, the sizes as constants.
template <class F>
void each_tile(int64_t rows, int64_t count, F f) {
  with_constant<kRows>(rows, [&](auto known_rows) {
    int64_t first = 0;
    for (; first + kWide <= count; first += kWide) f(known_rows, std::integral_constant<int, kWide>{}, first);
    if (first < count) with_constant<kWide - 1>(count - first, [&](auto wide) { f(known_rows, wide, first); });
  });
}

/// Exchanges lanes and vectors whose numbers differ in bit `bit` alone, then in the bits above.
template <int bit>
TD_INLINE void exchange(V (&rows)[kLanes]) {
  if constexpr (bit < kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      if (i & bit) continue;
      const V low = rows[i], high = rows[i | bit];
      rows[i] = V(shuffle(low.v, high.v, [](int lane) { return lane & bit ? static_cast<int>(kLanes) + (lane ^ bit) : lane; }));
      rows[i | bit] = V(shuffle(low.v, high.v, [](int lane) { return lane & bit ? static_cast<int>(kLanes) + lane : lane | bit; }));
    }
    exchange<2 * bit>(rows);
  }
}
/// to[j][i] = from[i][j] for i < rows and j < columns, both up to kLanes; to[j] is a whole vector, 0 from `rows` on, where `whole`.
template <bool whole>
TD_INLINE void transpose(float* to, int64_t to_row, const float* from, int64_t from_row, int64_t rows, int64_t columns) {
  V lines[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i)
    lines[i] = i >= rows ? V(0) : columns < kLanes ? V::load(from + i * from_row, columns) : V::load(from + i * from_row);
  exchange<1>(lines);
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

/// Sums that stay in registers.
template <int rows, int wide>
struct Tile {
  V sums[rows][wide];

  template <class F>
  TD_INLINE void each(F f) {
#pragma GCC unroll 6
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int p = 0; p < wide; ++p) f(sums[r][p], r, p);
  }
  TD_INLINE void add(const float* weight, const float* const (&from)[wide], int64_t step) {
    V seen[wide];
    for (int p = 0; p < wide; ++p) seen[p] = V::load(from[p] + step);
    for (int r = 0; r < rows; ++r) {
      const V by(weight[r]);
      for (int p = 0; p < wide; ++p) sums[r][p] = fma(by, seen[p], sums[r][p]);
    }
  }
};

template <int rows, int wide>
void sum_tile(const ImageSums& s, int64_t first) {
  Tile<rows, wide> tile;
  float* const out = s.out + first * kLanes;
  if (s.start) tile.each([&](V & sum, int r, int) __attribute__((always_inline)) { sum = V(s.bias ? s.bias[r] : 0.0F); });
  else tile.each([&](V & sum, int r, int p) __attribute__((always_inline)) { sum = V::load(out + r * s.out_row + p * kLanes); });
  const float* in[wide];
  for (int p = 0; p < wide; ++p) in[p] = s.in + s.places[first + p];
  for (int64_t k = 0; k < s.terms; ++k) tile.add(s.weight + k * rows, in, s.taps[k]);
  tile.each([&](V & sum, int r, int p) __attribute__((always_inline)) { sum.store(out + r * s.out_row + p * kLanes); });
}
void sums(const ImageSums& s) {
  each_tile(s.rows, s.count, [&](auto rows, auto wide, int64_t first) { sum_tile<rows, wide>(s, first); });
}

template <int rows, int wide>
void spread_tile(const ImageSpread& s, int64_t first) {
  Tile<rows, wide> tile;
  tile.each([&](V & sum, int, int) __attribute__((always_inline)) { sum = V(0); });
  const float* out[wide];
  for (int p = 0; p < wide; ++p) out[p] = s.out + (first + p) * kLanes;
  for (int64_t k = 0; k < s.terms; ++k) tile.add(s.weight + k * rows, out, k * s.out_row);
  tile.each([&](V & sum, int r, int p) __attribute__((always_inline)) {  // one after another: two of them may be the same element
    float* const to = s.in + s.places[first + p] + s.taps[r];
    (V::load(to) + sum).store(to);
  });
}
void spread(const ImageSpread& s) {
  each_tile(s.rows, s.count, [&](auto rows, auto wide, int64_t first) { spread_tile<rows, wide>(s, first); });
}

template <int rows, int wide>
void product_tile(const ImageProducts& s, int64_t first) {
  Tile<rows, wide> tile;
  tile.each([&](V & sum, int, int) __attribute__((always_inline)) { sum = V(0); });
  const float* in[wide];
  for (int k = 0; k < wide; ++k) in[k] = s.in + s.taps[first + k];
  const float* out = s.out;
  for (int64_t p = 0; p < s.count; ++p, out += kLanes) {
    V seen[wide];
    for (int k = 0; k < wide; ++k) seen[k] = V::load(in[k] + s.places[p]);
    for (int r = 0; r < rows; ++r) {
      const V by = V::load(out + r * s.out_row);
      for (int k = 0; k < wide; ++k) tile.sums[r][k] = fma(by, seen[k], tile.sums[r][k]);
    }
  }
  tile.each([&](V & sum, int r, int k) __attribute__((always_inline)) { s.sums[r * s.sums_row + first + k] += reduce_add(sum); });
}
void products(const ImageProducts& s) {
  each_tile(s.rows, s.terms, [&](auto rows, auto wide, int64_t first) { product_tile<rows, wide>(s, first); });
}

}  // namespace

void fill_images(ImageFunctions& images) {
  images = {[]() -> int64_t { return kLanes; }, []() -> int64_t { return kRows; }, interleave, deinterleave, sums, spread, products};
}

}  // namespace tandem::kernels::cpu::TD_ISA
