// Splits numbers into three bfloat16 and lays them out as tiles of AMX.
#include "kernels/cpu/split_product.h"

#if defined(__AMX_BF16__) && defined(__AVX512F__)
#include "kernels/cpu/amx/parts.h"
#endif

namespace tandem::kernels::cpu {

// Compiled for this processor kind alone: nothing here may be an inline function of a header that others could be given.
#if defined(__AMX_BF16__) && defined(__AVX512F__)

namespace {

/// Up to 16 rows of up to 16 numbers; beyond these it has zeros.
struct Square {
  const float* data;
  int64_t row, rows;
  __mmask16 columns;
  int64_t ahead;  // to the numbers that are wanted next

  [[nodiscard]] bool is_whole() const { return rows >= 16 && columns == 0xffff; }
  template <bool kWhole>
  [[gnu::always_inline]] __m512 load(int64_t i, MagnitudeLanes& lanes) const {
    const float* const from = data + i * row;
    _mm_prefetch(reinterpret_cast<const char*>(from + ahead), _MM_HINT_T0);
    const __m512 x = kWhole ? _mm512_loadu_ps(from) : i < rows ? _mm512_maskz_loadu_ps(columns, from) : _mm512_setzero_ps();
    lanes.add(x);
    return x;
  }
};

/// A row of each part's tile: x in the lower halves, y in the upper ones.
[[gnu::always_inline]] inline void store_parts(uint16_t* to, __m512 x, __m512 y) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
  const Split s = split(x), t = split(y);
  for (int64_t part = 0; part < kParts; ++part)  // upper ? t : s >> 16
    _mm512_store_si512(to + part * kHalves * kTile,
                       _mm512_ternarylogic_epi32(_mm512_srli_epi32(s.part[part], 16), t.part[part], upper, 0xD8));
}

[[gnu::always_inline]] inline void transpose(__m512 (&x)[16]) {
  __m512 y[16];
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
  const auto low = [](__m512 a, __m512 b) { return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b))); };
  const auto high = [](__m512 a, __m512 b) { return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b))); };
  for (int i = 0; i < 16; i += 4) {
    x[i] = low(y[i], y[i + 2]);
    x[i + 1] = high(y[i], y[i + 2]);
    x[i + 2] = low(y[i + 1], y[i + 3]);
    x[i + 3] = high(y[i + 1], y[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    y[i] = _mm512_shuffle_f32x4(x[i], x[i + 4], 0x88);
    y[i + 4] = _mm512_shuffle_f32x4(x[i], x[i + 4], 0xdd);
    y[i + 8] = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0x88);
    y[i + 12] = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0xdd);
  }
  for (int i = 0; i < 8; ++i) {
    x[i] = _mm512_shuffle_f32x4(y[i], y[i + 8], 0x88);
    x[i + 8] = _mm512_shuffle_f32x4(y[i], y[i + 8], 0xdd);
  }
}

/// A tile of each part.
template <bool kTransposed, bool kWhole>
void pack_tile(uint16_t* to, const Square& x, const Square& y, MagnitudeLanes& all) {
  MagnitudeLanes lanes = all;
  if constexpr (kTransposed) {
    alignas(64) float low[16 * 16];
    __m512 v[16];
    for (int64_t i = 0; i < 16; ++i) v[i] = x.load<kWhole>(i, lanes);
    transpose(v);
    for (int64_t i = 0; i < 16; ++i) _mm512_store_ps(low + i * 16, v[i]);
    for (int64_t i = 0; i < 16; ++i) v[i] = y.load<kWhole>(i, lanes);
    transpose(v);
    for (int64_t i = 0; i < 16; ++i) store_parts(to + i * 32, _mm512_load_ps(low + i * 16), v[i]);
  } else {
    for (int64_t i = 0; i < 16; ++i) {
      const __m512 low = x.load<kWhole>(i, lanes);
      store_parts(to + i * 32, low, y.load<kWhole>(i, lanes));
    }
  }
  all = lanes;
}
template <bool kTransposed>
void pack_tile(uint16_t* to, const Square& x, const Square& y, MagnitudeLanes& lanes) {
  if (x.is_whole() && y.is_whole()) pack_tile<kTransposed, true>(to, x, y, lanes);
  else pack_tile<kTransposed, false>(to, x, y, lanes);
}

/// Up to 32 lines of up to 32 numbers. Each part is two tiles. A row of a's tile is a line, a row of b's has two numbers of all its lines;
/// those that AMX multiplies and adds as a pair are 16 apart.
void pack_panel(uint16_t* to, const SplitLines& x, int64_t at, int64_t lines, int64_t depth, MagnitudeLanes& lanes) {
  const int64_t high = x.of_a ? (lines + 1) / 2 : 16;  // lines of the first tile
  for (int64_t half = 0; half < kHalves; ++half, to += kTile) {
    const int64_t count = half ? lines - high : least_of(lines, high);
    const float* const data = x.data + at * x.element + half * high * x.line;
    const bool transposed = x.of_a != (x.element == 1);
    const int64_t ahead = kSplitPanel * x.element;
    Square first{data, x.line, count, mask_of(depth), ahead}, second{data + 16, x.line, count, mask_of(depth - 16), ahead};
    if (x.element != 1) {
      first = {data, x.element, depth, mask_of(count), ahead};
      second = {data + 16 * x.element, x.element, depth - 16, mask_of(count), ahead};
    }
    if (transposed) pack_tile<true>(to, first, second, lanes);
    else pack_tile<false>(to, first, second, lanes);
  }
}

}  // namespace

Magnitudes split_pack(uint16_t* to, const SplitLines& x, int64_t lines, int64_t begin, int64_t end, int64_t k) {
  const int64_t steps = whole_of(k, kSplitPanel) / kSplitPanel;
  MagnitudeLanes lanes;
  for (int64_t i = 0; i < lines; i += kSplitPanel) {
    const SplitLines panel{x.data + i * x.line, x.line, x.element, x.of_a};
    for (int64_t at = begin; at < end; at += kSplitPanel)
      pack_panel(to + (i / kSplitPanel * steps + at / kSplitPanel) * kSplitPanelElements, panel, at, least_of(kSplitPanel, lines - i),
                 least_of(kSplitPanel, end - at), lanes);
  }
  return lanes.all();
}

size_t split_bytes(int64_t lines, int64_t k) {
  return static_cast<size_t>(whole_of(lines, kSplitPanel) * whole_of(k, kSplitPanel) * kParts) * sizeof(uint16_t);
}

#else

Magnitudes split_pack(uint16_t*, const SplitLines&, int64_t, int64_t, int64_t, int64_t) { return {}; }
size_t split_bytes(int64_t, int64_t) { return 0; }

#endif

}  // namespace tandem::kernels::cpu
