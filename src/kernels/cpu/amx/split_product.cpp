#include "kernels/cpu/split_product.h"

#include <bit>
#include <string_view>

#if defined(__AMX_BF16__) && defined(__AVX512F__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/cpu/amx/parts.h"
#endif

namespace tandem::kernels::cpu {

// Compiled for this processor kind alone: nothing here may be an inline function of a header that others could be given.
#if defined(__AMX_BF16__) && defined(__AVX512F__)

namespace {

constexpr int64_t kPanel = kSplitPanel, kPanelElements = kSplitPanelElements;
constexpr int64_t kGroup = 256;        // lines that are split at a time
constexpr int64_t kDepth = 512;        // of them: they stay in the second cache
constexpr int64_t kPackedLines = 512;  // that a group meets before its next depth: the sums stay there, too

/// Products with the tiles 4 and 5 of a and 6 and 7 of b, of which a's, or b's, are loaded first: each where it is used.
template <int part>
[[gnu::always_inline]] inline void with_next_a(const uint16_t* a) {
  _tile_loadd(4, a + part * kHalves * kTile, 64);
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_loadd(5, a + (part * kHalves + 1) * kTile, 64);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}
template <int part>
[[gnu::always_inline]] inline void with_next_b(const uint16_t* b) {
  _tile_loadd(6, b + part * kHalves * kTile, 64);
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(2, 5, 6);
  _tile_loadd(7, b + (part * kHalves + 1) * kTile, 64);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(3, 5, 7);
}

/// Four tiles: two of `high` rows above each other, two beside these.
struct Tiles {
  float* data;
  int64_t row;

  [[nodiscard]] float* lower(int64_t high) const { return data + high * row; }
  [[nodiscard]] int64_t bytes() const { return row * static_cast<int64_t>(sizeof(float)); }
};

/// What the sums begin with: nothing, without tiles. Then the products of a panel of a and one of b are added.
void panel_product(const Tiles& to, const Tiles& from, int64_t high, const uint16_t* a, const uint16_t* b, int64_t steps) {
  if (!from.data) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, from.data, from.bytes());
    _tile_loadd(1, from.data + 16, from.bytes());
    _tile_loadd(2, from.lower(high), from.bytes());
    _tile_loadd(3, from.lower(high) + 16, from.bytes());
  }
  for (int64_t i = 0; i < steps; ++i, a += kPanelElements, b += kPanelElements) {
    _tile_loadd(6, b, 64);
    _tile_loadd(7, b + kTile, 64);
    with_next_a<2>(a);
    with_next_a<1>(a);
    with_next_b<1>(b);
    with_next_a<0>(a);
    with_next_b<2>(b);
    with_next_b<0>(b);
  }
  _tile_stored(0, to.data, to.bytes());
  _tile_stored(1, to.data + 16, to.bytes());
  _tile_stored(2, to.lower(high), to.bytes());
  _tile_stored(3, to.lower(high) + 16, to.bytes());
}

/// A product's way through groups of lines, runs of k and panels.
class Work {
 public:
  Work(const SplitProduct& p, void* scratch)
      : p_(p),
        lines_(p.lines.of_a ? p.m : p.n),
        packed_lines_(p.lines.of_a ? p.n : p.m),
        steps_(whole_of(p.k, kPanel) / kPanel),
        begins_with_bias_(p.bias && p.bias_row == 0 && p.bias_column == 1 && p.epilogue->activation == Activation::None &&
                          p.epilogue->alpha == 1 && p.epilogue->beta == 1),
        group_(static_cast<uint16_t*>(scratch)),
        sums_(reinterpret_cast<float*>(group_ +
                                       least_of(kGroup, whole_of(lines_, kPanel)) * kPanel * least_of(kDepth / kPanel, steps_) * kParts)) {
    set_rows(16);
  }

  Magnitudes run() {
    const bool whole = p_.k <= kDepth;
    const int64_t groups = (lines_ + kGroup - 1) / kGroup, group = whole_of((lines_ + groups - 1) / groups, kPanel);
    for (int64_t i = 0; i < lines_; i += group)
      for (int64_t j = 0; j < packed_lines_; j += whole ? packed_lines_ : kPackedLines)
        for (int64_t k = 0; k < p_.k; k += kDepth) {
          const int64_t lines = least_of(group, lines_ - i), depth = least_of(kDepth, p_.k - k);
          const SplitLines from{p_.lines.data + i * p_.lines.line + k * p_.lines.element, p_.lines.line, p_.lines.element, p_.lines.of_a};
          found_.join(split_pack(group_, from, lines, 0, depth, depth));
          if (never_splits(found_)) return found_;
          meet(i, lines, j, least_of(whole ? packed_lines_ : kPackedLines, packed_lines_ - j), k, depth);
        }
    return found_;
  }

 private:
  /// `lines` lines from i, of a run of k, times packed lines from j.
  void meet(int64_t i, int64_t lines, int64_t j, int64_t packed_lines, int64_t k, int64_t depth) {
    const int64_t steps = whole_of(depth, kPanel) / kPanel;
    const bool first = k == 0, last = k + depth == p_.k;
    float* sums = sums_;
    for (int64_t at = 0; at < packed_lines; at += kPanel) {
      const uint16_t* const packed = p_.packed + ((j + at) / kPanel * steps_ + k / kPanel) * kPanelElements;
      for (int64_t l = 0; l < lines; l += kPanel, sums += first && last ? 0 : kPanel * kPanel) {
        const uint16_t* const own = group_ + l / kPanel * steps * kPanelElements;
        const int64_t count = least_of(kPanel, lines - l), packed_count = least_of(kPanel, packed_lines - at);
        const bool of_a = p_.lines.of_a;
        const int64_t row = of_a ? i + l : j + at, column = of_a ? j + at : i + l;
        const int64_t rows = of_a ? count : packed_count, columns = of_a ? packed_count : count, high = (rows + 1) / 2;
        set_rows(high);
        const bool direct = last && (!p_.epilogue || begins_with_bias_) && columns == kPanel && rows % 2 == 0;
        const Tiles to = direct ? Tiles{p_.out + row * p_.out_row + column, p_.out_row} : Tiles{sums, kPanel};
        const Tiles from = !first ? Tiles{sums, kPanel} : begins_with_bias_ ? bias_at(column, columns) : Tiles{};
        panel_product(to, from, high, of_a ? own : packed, of_a ? packed : own, steps);
        if (last && !direct) finish(sums, row, column, rows, columns);
      }
    }
  }
  Tiles bias_at(int64_t column, int64_t columns) {
    const float* const bias = p_.bias + column;
    _mm512_store_ps(bias_, _mm512_maskz_loadu_ps(mask_of(columns), bias));
    _mm512_store_ps(bias_ + 16, _mm512_maskz_loadu_ps(mask_of(columns - 16), bias + 16));
    return {bias_, 0};
  }
  void finish(const float* sums, int64_t i, int64_t j, int64_t rows, int64_t columns) {
    float* const out = p_.out + i * p_.out_row + j;
    if (p_.epilogue && !begins_with_bias_) {
      const float* const bias = p_.bias ? p_.bias + i * p_.bias_row + j * p_.bias_column : nullptr;
      return isa().products.epilogue(out, p_.out_row, sums, kPanel, rows, columns, bias, p_.bias_row, p_.bias_column, *p_.epilogue);
    }
    const __mmask16 left = mask_of(columns), right = mask_of(columns - 16);
    for (int64_t r = 0; r < rows; ++r) {
      _mm512_mask_storeu_ps(out + r * p_.out_row, left, _mm512_load_ps(sums + r * kPanel));
      _mm512_mask_storeu_ps(out + r * p_.out_row + 16, right, _mm512_load_ps(sums + r * kPanel + 16));
    }
  }
  /// The time of a tile's products is that of its rows.
  void set_rows(int64_t rows) {
    if (rows == rows_) return;
    rows_ = rows;
    TileShapes shapes;
    for (int tile = 0; tile < 6; ++tile) shapes.rows[tile] = static_cast<uint8_t>(rows);  // of out and a
    _tile_loadconfig(&shapes);
  }

  const SplitProduct& p_;
  const int64_t lines_, packed_lines_, steps_;
  const bool begins_with_bias_;  // a row of it, and nothing else follows
  uint16_t* const group_;
  float* const sums_;
  int64_t rows_ = 0;
  alignas(64) float bias_[kPanel];
  Magnitudes found_;
};

/// Linux gives a process the unit's registers when it asks.
bool permitted() {
  constexpr uint32_t kTile = 1U << 24, kBFloat16 = 1U << 22, kSavesTiles = 3U << 17;  // CPUID.7.EDX, XCR0
  constexpr int kAskPermission = 0x1023, kTileData = 18;                              // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & (kTile | kBFloat16)) != (kTile | kBFloat16)) return false;
  uint32_t saved = 0;
  asm volatile("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
  return (saved & kSavesTiles) == kSavesTiles && syscall(SYS_arch_prctl, kAskPermission, kTileData) == 0;
}

}  // namespace

bool has_split_product() {
  if (std::string_view(isa().name) != "avx512") return false;
  static const bool has = permitted();
  return has;
}

bool can_split(const Magnitudes& a, const Magnitudes& b, int64_t k) {
  if (a.most == 0 || b.most == 0) return a.most < kMost && b.most < kMost;
  if (a.least < kLeast || b.least < kLeast || a.most >= kMost || b.most >= kMost) return false;
  // Neither may a sum overflow, nor may all products be so small that their smallest parts are lost.
  const float most = std::bit_cast<float>(a.most) * std::bit_cast<float>(b.most);
  return most * static_cast<float>(k) < 0x1p126F && most > 0x1p-80F;
}

bool never_splits(const Magnitudes& x) { return x.least < kLeast || x.most >= kMost; }

Magnitudes split_product(const SplitProduct& p, void* scratch) {
  const Magnitudes found = Work(p, scratch).run();
  _tile_release();
  return found;
}

size_t split_product_scratch(int64_t lines, int64_t packed_lines, int64_t k) {
  const int64_t group = least_of(kGroup, whole_of(lines, kPanel));
  const int64_t sums = k <= kDepth ? kPanel * kPanel : group * least_of(kPackedLines, whole_of(packed_lines, kPanel));
  return split_bytes(group, least_of(kDepth, k)) + static_cast<size_t>(sums) * sizeof(float);
}

#else

bool has_split_product() { return false; }
bool can_split(const Magnitudes&, const Magnitudes&, int64_t) { return false; }
bool never_splits(const Magnitudes&) { return true; }
Magnitudes split_product(const SplitProduct&, void*) { return {}; }
size_t split_product_scratch(int64_t, int64_t, int64_t) { return 0; }

#endif

}  // namespace tandem::kernels::cpu
