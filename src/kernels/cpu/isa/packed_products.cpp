// Large products in float and double. Both operands are copied into panels, in the order in which tiles read them: a's of kTileRows rows,
// b's of kWide columns. A tile of as many sums stays in registers over a stretch of the inner dimension; meanwhile a's block stays in the
// second cache, and a panel of b in the first. As in Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008).
#include <algorithm>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/math.h"
#include "kernels/cpu/isa/product_tiles.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

template <class T>
struct Packed {
  using V = Vec<T>;
  static constexpr int64_t kLanes = V::kLanes, kWide = kTileVectors * kLanes;

  /// A panel of `width` lines: number `q` of line `l` to to[q * width + l]; zeros for lines that there are not.
  template <int64_t width>
  static void panel(T* to, const ProductLines<T>& x, int64_t lines, int64_t depth) {
    if (lines < width)
      for (int64_t q = 0; q < depth; ++q) std::fill(to + q * width + lines, to + (q + 1) * width, T(0));
    if (x.element == 1) {
      transpose(to, width, x.data, x.line, depth, lines);
    } else if (x.line == 1 && lines == width) {
      for (int64_t q = 0; q < depth; ++q) std::memcpy(to + q * width, x.data + q * x.element, static_cast<size_t>(width) * sizeof(T));
    } else {
      for (int64_t q = 0; q < depth; ++q)
        for (int64_t l = 0; l < lines; ++l) to[q * width + l] = x.data[l * x.line + q * x.element];
    }
  }
  /// `lines` lines, panel after panel, each with `depth` numbers.
  template <int64_t width>
  static void pack(T* to, const ProductLines<T>& x, int64_t lines, int64_t depth) {
    for (int64_t l = 0; l < lines; l += width, to += width * depth)
      panel<width>(to, {x.data + l * x.line, x.line, x.element}, std::min(width, lines - l), depth);
  }

  /// The product of two panels to a tile of out (+= where `adds`), of which there are `rows` rows and `columns` columns.
  template <bool adds>
  static void tile(T* out, int64_t out_row, const T* a, const T* b, int64_t depth, int64_t rows, int64_t columns) {
    V sums[kTileRows][kTileVectors];
    for (auto& row : sums)
      for (V& sum : row) sum = V(0);
    for (int64_t q = 0; q < depth; ++q, a += kTileRows, b += kWide) {
      V right[kTileVectors];
      for (int v = 0; v < kTileVectors; ++v) right[v] = V::load(b + v * kLanes);
      for (int r = 0; r < kTileRows; ++r) {
        const V left(a[r]);
        for (int v = 0; v < kTileVectors; ++v) sums[r][v] = fma(left, right[v], sums[r][v]);
      }
    }
    if (rows == kTileRows && columns == kWide) {
      for (int r = 0; r < kTileRows; ++r)
        for (int v = 0; v < kTileVectors; ++v) {
          T* const to = out + r * out_row + v * kLanes;
          (adds ? V::load(to) + sums[r][v] : sums[r][v]).store(to);
        }
      return;
    }
    T all[kTileRows][kWide];
    for (int r = 0; r < kTileRows; ++r)
      for (int v = 0; v < kTileVectors; ++v) sums[r][v].store(&all[r][v * kLanes]);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) out[r * out_row + c] = adds ? out[r * out_row + c] + all[r][c] : all[r][c];
  }

  /// A block of a's panels times panels of b that lie `b_panel` apart.
  template <bool adds>
  static void block(T* out, int64_t out_row, const T* a, const T* b, int64_t b_panel, int64_t m, int64_t n, int64_t depth) {
    for (int64_t j = 0; j < n; j += kWide, b += b_panel)
      for (int64_t i = 0; i < m; i += kTileRows)
        tile<adds>(out + i * out_row + j, out_row, a + i * depth, b, depth, std::min<int64_t>(kTileRows, m - i), std::min(kWide, n - j));
  }

  static void pack_b(T* to, const ProductLines<T>& b, int64_t columns, int64_t k) { pack<kWide>(to, b, columns, k); }

  static void packed(const PackedProduct<T>& p, T* scratch) {
    const int64_t length = stretch_of(p.k, kPackedDepth, 1);
    for (int64_t q = 0; q < p.k; q += length) {
      const int64_t depth = std::min(length, p.k - q);
      pack<kTileRows>(scratch, {p.a.data + q * p.a.element, p.a.line, p.a.element}, p.m, depth);
      (q == 0 ? block<false> : block<true>)(p.out, p.out_row, scratch, p.b + q * kWide, p.k * kWide, p.m, p.n, depth);
    }
  }

  static void blocked(const DenseProduct<T>& p, T* scratch) {
    T* const panels = scratch + kPackedRows * kProductDepth;
    const int64_t height = stretch_of(p.m, kPackedRows, kTileRows), length = stretch_of(p.k, kProductDepth, 1);
    for (int64_t j = 0; j < p.n; j += kProductColumns)
      for (int64_t q = 0; q < p.k; q += length) {
        const int64_t columns = std::min(kProductColumns, p.n - j), depth = std::min(length, p.k - q);
        pack<kWide>(panels, {p.b + q * p.b_row + j * p.b_column, p.b_column, p.b_row}, columns, depth);
        for (int64_t i = 0; i < p.m; i += height) {
          const int64_t rows = std::min(height, p.m - i);
          pack<kTileRows>(scratch, {p.a + i * p.a_row + q * p.a_column, p.a_row, p.a_column}, rows, depth);
          (q == 0 ? block<false> : block<true>)(p.out + i * p.out_row + j, p.out_row, scratch, panels, depth * kWide, rows, columns, depth);
        }
      }
  }

  static void add_to(ProductFunctionsOf<T>& functions) {
    functions.panel = [] { return kWide; };
    functions.pack = pack_b;
    functions.packed = packed;
    functions.blocked = blocked;
  }
};

}  // namespace

void fill_packed_products(ProductFunctions& products) {
  Packed<float>::add_to(products.of_float);
  Packed<double>::add_to(products.of_double);
  products.are_fastest = [] { return kVectorBytes < 64; };
}

}  // namespace tandem::kernels::cpu::TD_ISA
