#include "kernels/cpu/split_product.h"

#include <bit>
#include <cstring>
#include <string_view>

#include "base/align.h"

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

constexpr int64_t kPanel = 32;  // rows of a, columns of b, and depth that are packed together
constexpr int64_t kHalves = 2;
constexpr int64_t kPanelElements = kParts * kHalves * kTile;   // of 32x32 numbers
constexpr int64_t kDepth = 512, kRows = 128, kColumns = 1024;  // what is packed at a time: a's stays in the second cache

int64_t whole_panels(int64_t n) { return whole_of(n, kPanel); }

/// Up to 32 rows of a, of up to 32 numbers: for each part two tiles of 16 rows.
void pack_a(uint16_t* to, const float* a, int64_t row, int64_t rows, int64_t depth) {
  for (int64_t r = 0; r < kPanel; ++r) {
    uint16_t* const into = to + r / 16 * kTile + r % 16 * kPanel;
    for (int64_t i = 0; i < 2; ++i) {
      const Split s = split(r < rows ? _mm512_maskz_loadu_ps(mask_of(depth - i * 16), a + r * row + i * 16) : _mm512_setzero_ps());
      for (int64_t part = 0; part < kParts; ++part)
        _mm256_store_si256(reinterpret_cast<__m256i*>(into + part * kHalves * kTile + i * 16),
                           _mm512_cvtepi32_epi16(_mm512_srli_epi32(s.part[part], 16)));
    }
  }
}

/// Up to 32 rows of b, of up to 32 numbers: for each part two tiles of 16 columns, whose rows are pairs of b's.
void pack_b(uint16_t* to, const float* b, int64_t row, int64_t depth, int64_t columns) {
  for (int64_t pair = 0; pair < kPanel / 2; ++pair)
    for (int64_t half = 0; half < kHalves; ++half) {
      Split s[2];
      for (int64_t i = 0; i < 2; ++i) {
        const int64_t r = 2 * pair + i;
        s[i] = split(r < depth ? _mm512_maskz_loadu_ps(mask_of(columns - half * 16), b + r * row + half * 16) : _mm512_setzero_ps());
      }
      for (int64_t part = 0; part < kParts; ++part)
        _mm512_store_si512(to + (part * kHalves + half) * kTile + pair * 32,
                           _mm512_or_si512(_mm512_srli_epi32(s[0].part[part], 16), upper_half(s[1].part[part])));
    }
}

template <int at>
void load_a(const uint16_t* a) {
  _tile_loadd(4, a + at * kHalves * kTile, 64);
  _tile_loadd(5, a + (at * kHalves + 1) * kTile, 64);
}
template <int at>
void load_b(const uint16_t* b) {
  _tile_loadd(6, b + at * kHalves * kTile, 64);
  _tile_loadd(7, b + (at * kHalves + 1) * kTile, 64);
}
void add_products() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

/// 32x32 of out: the product of a panel of a and one of b, added to what is there unless `first`.
void panel_product(float* out, int64_t row, const uint16_t* a, const uint16_t* b, int64_t steps, bool first) {
  const int64_t bytes = row * static_cast<int64_t>(sizeof(float));
  if (first) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, out, bytes);
    _tile_loadd(1, out + 16, bytes);
    _tile_loadd(2, out + 16 * row, bytes);
    _tile_loadd(3, out + 16 * row + 16, bytes);
  }
  for (int64_t i = 0; i < steps; ++i, a += kPanelElements, b += kPanelElements) {
    load_a<2>(a);
    load_b<0>(b);
    add_products();
    load_a<1>(a);
    add_products();
    load_b<1>(b);
    add_products();
    load_a<0>(a);
    add_products();
    load_b<2>(b);
    add_products();
    load_b<0>(b);
    add_products();
  }
  _tile_stored(0, out, bytes);
  _tile_stored(1, out + 16, bytes);
  _tile_stored(2, out + 16 * row, bytes);
  _tile_stored(3, out + 16 * row + 16, bytes);
}

void copy_block(float* to, int64_t to_row, const float* from, int64_t from_row, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) std::memcpy(to + r * to_row, from + r * from_row, static_cast<size_t>(columns) * sizeof(float));
}

/// What a product goes through: b's block of kDepth x kColumns and a's of kRows x kDepth, packed.
class Work {
 public:
  Work(const DenseProduct<float>& p, void* scratch)
      : p_(p),
        a_(static_cast<uint16_t*>(scratch)),
        b_(a_ + least_of(kRows, whole_panels(p.m)) * least_of(kDepth, whole_panels(p.k)) * kParts),
        transpose_(isa().products.of_float.transpose) {}

  void run() {
    for (int64_t j = 0; j < p_.n; j += kColumns)
      for (int64_t k = 0; k < p_.k; k += kDepth) {
        depth_ = least_of(kDepth, p_.k - k);
        steps_ = whole_panels(depth_) / kPanel;
        for (int64_t i = 0; i < p_.m; i += kRows) block(i, j, k);
      }
  }

 private:
  void block(int64_t i0, int64_t j0, int64_t k0) {
    const int64_t rows = least_of(kRows, p_.m - i0), columns = least_of(kColumns, p_.n - j0);
    for (int64_t i = 0; i < rows; i += kPanel)
      for (int64_t t = 0; t < steps_; ++t) pack_rows(i0 + i, k0 + t * kPanel, panel(a_, i, t), least_of(kPanel, rows - i), left(t));
    for (int64_t j = 0; j < columns; j += kPanel) {
      const int64_t wide = least_of(kPanel, columns - j);
      for (int64_t t = 0; i0 == 0 && t < steps_; ++t) pack_columns(k0 + t * kPanel, j0 + j, panel(b_, j, t), left(t), wide);
      for (int64_t i = 0; i < rows; i += kPanel) {
        float* const out = p_.out + (i0 + i) * p_.out_row + j0 + j;
        const int64_t high = least_of(kPanel, rows - i);
        if (high == kPanel && wide == kPanel) {
          panel_product(out, p_.out_row, panel(a_, i, 0), panel(b_, j, 0), steps_, k0 == 0);
          continue;
        }
        if (k0 > 0) copy_block(edge_, kPanel, out, p_.out_row, high, wide);
        panel_product(edge_, kPanel, panel(a_, i, 0), panel(b_, j, 0), steps_, k0 == 0);
        copy_block(out, p_.out_row, edge_, kPanel, high, wide);
      }
    }
  }
  [[nodiscard]] int64_t left(int64_t step) const { return least_of(kPanel, depth_ - step * kPanel); }
  [[nodiscard]] uint16_t* panel(uint16_t* packed, int64_t at, int64_t step) const {
    return packed + (at / kPanel * steps_ + step) * kPanelElements;
  }
  void pack_rows(int64_t i, int64_t k, uint16_t* to, int64_t rows, int64_t depth) {
    const float* const from = p_.a + i * p_.a_row + k * p_.a_column;
    if (p_.a_column == 1) return pack_a(to, from, p_.a_row, rows, depth);
    transpose_(turned_, kPanel, from, p_.a_column, rows, depth);
    pack_a(to, turned_, kPanel, rows, depth);
  }
  void pack_columns(int64_t k, int64_t j, uint16_t* to, int64_t depth, int64_t columns) {
    const float* const from = p_.b + k * p_.b_row + j * p_.b_column;
    if (p_.b_column == 1) return pack_b(to, from, p_.b_row, depth, columns);
    transpose_(turned_, kPanel, from, p_.b_column, depth, columns);
    pack_b(to, turned_, kPanel, depth, columns);
  }

  const DenseProduct<float>& p_;
  uint16_t *const a_, *const b_;
  void (*const transpose_)(float*, int64_t, const float*, int64_t, int64_t, int64_t);
  int64_t depth_ = 0, steps_ = 0;
  alignas(64) float edge_[kPanel * kPanel] = {}, turned_[kPanel * kPanel];
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

Magnitudes magnitudes(const float* x, int64_t row, int64_t rows, int64_t n) {
  MagnitudeLanes lanes;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; i += 16) lanes.add(_mm512_maskz_loadu_ps(mask_of(n - i), x + r * row + i));
  return lanes.all();
}

bool can_split(const Magnitudes& a, const Magnitudes& b, int64_t k) {
  if (a.most == 0 || b.most == 0) return a.most < kMost && b.most < kMost;
  if (a.least < kLeast || b.least < kLeast || a.most >= kMost || b.most >= kMost) return false;
  // Neither may a sum overflow, nor may all products be so small that their smallest parts are lost.
  const float most = std::bit_cast<float>(a.most) * std::bit_cast<float>(b.most);
  return most * static_cast<float>(k) < 0x1p126F && most > 0x1p-80F;
}

void split_product(const DenseProduct<float>& p, void* scratch) {
  const TileShapes shapes;
  _tile_loadconfig(&shapes);
  Work(p, scratch).run();
  _tile_release();
}

size_t split_product_scratch(int64_t m, int64_t n, int64_t k) {
  const int64_t depth = least_of(kDepth, whole_panels(k));
  return static_cast<size_t>((least_of(kRows, whole_panels(m)) + least_of(kColumns, whole_panels(n))) * depth * kParts) * sizeof(uint16_t);
}

#else

bool has_split_product() { return false; }
Magnitudes magnitudes(const float*, int64_t, int64_t, int64_t) { return {}; }
bool can_split(const Magnitudes&, const Magnitudes&, int64_t) { return false; }
void split_product(const DenseProduct<float>&, void*) {}
size_t split_product_scratch(int64_t, int64_t, int64_t) { return 0; }

#endif

}  // namespace tandem::kernels::cpu
