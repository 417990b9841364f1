#include "kernels/cpu/matmul_plan.h"

#include <algorithm>
#include <utility>

#include "base/align.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/shares.h"
#include "kernels/cpu/split_product.h"

namespace tandem::kernels::cpu {
namespace {

// Products in multiplications. Measured on one core with AVX-512 (peak 118 GFLOP/s), where both our code and oneDNN come to 100 to 117: so
// these are not sharp, and ours is taken where they are equal, since oneDNN's first call of a shape costs milliseconds.
constexpr double kTinyProduct = 64;    // up to which plain loops are best
constexpr double kThinProduct = 4096;  // the same where inner products have but kThin terms
constexpr int64_t kThin = 4;
constexpr int64_t kRows = 4;                         // rows that take b through the registers once
constexpr double kSmallProduct = 64 * 64 * 64;       // up to which outer products are best,
constexpr int64_t kRowsOfOuter = 64;                 // or for so few rows,
constexpr int64_t kDepthOfOuter = 1024;              // while a panel of b stays in the second cache,
constexpr size_t kBytesOfOuter = size_t{5} << 19;    // and so does most of b,
constexpr int64_t kRowsBeforePacking = 16;           // or for so few rows where our code would pack b
constexpr double kTransposedProduct = 48 * 48 * 48;  // up to which b is transposed for them,
constexpr int64_t kTransposedDepth = 256;            // where inner products are too short to be good
constexpr int64_t kRowsOfInner = 32;                 // up to which inner products are best
constexpr double kPartProduct = 200e3;               // that are worth another thread
constexpr double kSplitting = 40;                    // multiplications by AMX that splitting a number costs,
constexpr double kPacking = 16;                      // … and those that packing one without it costs
constexpr double kReadingSplit = 4;                  // and reading one that has been split
constexpr size_t kMostPacked = size_t{32} << 20;     // bytes of an operand that are packed at a time,
constexpr int64_t kLeastPackedLines = 1024;          // but so many lines at the least
constexpr double kSplitProduct = 90;                 // of a block, for each of its rows and columns, from which AMX is best

/// The workspace query may not have the address of an operand yet: its strides count all the same.
Matrix matrix_of(const View& v) {
  Matrix x{v.as<char>(), 0, 0};
  if (v.ndim >= 2 && v.sizes[v.ndim - 2] != 1) x.row = v.strides[v.ndim - 2];
  if (v.ndim >= 1 && v.sizes[v.ndim - 1] != 1) x.column = v.strides[v.ndim - 1];
  return x;
}

/// Strides of sizes of 1 set to what makes a layout regular.
void regularise(Matrix& x, int64_t rows, int64_t columns) {
  if (columns == 1 && rows == 1) x.row = x.column = 1;
  else if (columns == 1) x.column = x.row == 1 ? rows : 1;
  else if (rows == 1) x.row = x.column == 1 ? columns : 1;
}
bool rows_dense(const Matrix& x, int64_t columns) { return x.column == 1 && x.row >= columns; }
bool columns_dense(const Matrix& x, int64_t rows) { return x.row == 1 && x.column >= rows; }

bool is_worth_splitting(int64_t rows, int64_t columns) {
  return static_cast<double>(rows) * static_cast<double>(columns) >= kSplitProduct * static_cast<double>(rows + columns);
}

/// The block that cuts `size` into about `count`, a multiple of `unit`. The last one is never a single row or column: a matrix with one row
/// and steps between its elements, and a result with one column, are dense to oneDNN 3.7, whatever their strides.
int64_t block_of(int64_t size, int64_t count, int64_t unit) {
  int64_t block = ((size + count - 1) / count + unit - 1) / unit * unit;
  while (block < size && size % block == 1) block += unit;
  return std::min(size, block);
}

}  // namespace

MatmulPlan::MatmulPlan(const View& out_view, const View& a_view, const View& b_view, const View& bias_view, const Epilogue& what_follows)
    : m(out_view.sizes[out_view.ndim - 2]),
      n(out_view.sizes[out_view.ndim - 1]),
      k(a_view.sizes[a_view.ndim - 1]),
      dtype(out_view.dtype),
      out(matrix_of(out_view)),
      a(matrix_of(a_view)),
      b(matrix_of(b_view)),
      bias(bias_view.data ? matrix_of(bias_view) : Matrix{}),
      epilogue(what_follows) {
  if (!bias.data || epilogue.beta == 0) bias = {};
  has_epilogue = bias.data || epilogue.alpha != 1 || epilogue.activation != Activation::None;
  const int batch_ndim = out_view.ndim - 2;
  const auto stride = [&](const View& v, int d) {
    const int own = d - (out_view.ndim - v.ndim);
    return own < 0 || v.sizes[own] == 1 ? 0 : v.strides[own];
  };
  for (int d = 0; d < batch_ndim; ++d)
    batch.push(out_view.sizes[d], {stride(out_view, d), stride(a_view, d), stride(b_view, d), bias.data ? stride(bias_view, d) : 0});
  // One matrix b for a batch of a's that follow each other is one product with more rows.
  if (batch.ndim == 1 && batch.strides[2][0] == 0 && batch.strides[1][0] == m * a.row && batch.strides[0][0] == m * out.row && m > 1 &&
      (!bias.data || batch.strides[3][0] == m * bias.row)) {
    m *= batch.numel;
    batch = {};
  }
  apart = bias.data && bias.data == out.data;
  transpose_problem();
  choose_route();
  choose_packed();
  share_out();
  if (split && !is_worth_splitting(block_m, block_n)) {
    split = false;
    once_bytes = packed_bytes = 0;
    share_out();
  }
  measure();
}

/// Makes out's rows contiguous, and a product with one column one with a single row, by transposing the whole problem.
void MatmulPlan::transpose_problem() {
  const bool column_out = out.column != 1 && out.row == 1;
  if ((n == 1 && m > 1) || (column_out && n > 1)) {
    std::swap(m, n);
    std::swap(a, b);
    for (Matrix* x : {&out, &a, &b, &bias}) std::swap(x->row, x->column);
    std::swap(batch.strides[1], batch.strides[2]);
  }
  regularise(out, m, n);
  regularise(a, m, k);
  regularise(b, k, n);
}

void MatmulPlan::choose_route() {
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const bool thin = k <= kThin && work <= kThinProduct && b.column != 1;
  packed = dtype == kFloat16 || (dtype == kBFloat16 && (!dnnl_has_bfloat16() || work <= kTransposedProduct)) ? kFloat32 : dtype;
  if (!is_floating(dtype)) {
    route = work <= kTinyProduct || thin ? Route::Tiny : Route::Integer;
    apart = false;  // the sums of a row are kept until its end
    return;
  }
  if (work <= kTinyProduct || thin) {
    route = Route::Tiny;
    return;
  }
  const bool converts = packed != dtype;
  pack_a = converts || !(rows_dense(a, k) || columns_dense(a, m));
  pack_b = converts || !(rows_dense(b, n) || columns_dense(b, k));
  apart = apart || converts || out.column != 1 || (dtype == kBFloat16 && has_epilogue);
  // Packing keeps the order of the dimensions that has the shorter steps.
  const auto lay = [](const Matrix& x, bool packs, int64_t rows, int64_t columns) {
    if (!packs) return x;
    return x.row == 1 && x.column != 1 ? Matrix{nullptr, 1, rows} : Matrix{nullptr, columns, 1};
  };
  laid_a = lay(a, pack_a, m, k);
  laid_b = lay(b, pack_b, k, n);
  const Route large = packed == kFloat64 || isa().products.are_fastest() ? Route::Packed : Route::Dnnl;
  if (packed == kBFloat16) {
    route = Route::Dnnl;
  } else if (laid_b.column == 1) {
    const bool stays = k <= kDepthOfOuter && static_cast<size_t>(n * k) * size_of(packed) <= kBytesOfOuter;
    const int64_t rows = stays ? kRowsOfOuter : large == Route::Packed ? kRowsBeforePacking : kRows;
    route = work <= kSmallProduct || m <= rows ? Route::Rows : large;
  } else if (work <= kTransposedProduct && m >= 8 && k <= kTransposedDepth) {
    route = Route::Rows;
    pack_b = true;
    laid_b = {nullptr, n, 1};
  } else {
    route = m <= kRowsOfInner && laid_a.column == 1 ? Route::Columns : large;
  }
  if (route == Route::Packed && !converts) {  // reads any strides
    pack_a = pack_b = false;
    laid_a = a;
    laid_b = b;
  }
  split = route == Route::Dnnl && packed == kFloat32 && is_worth_splitting(m, n) && has_split_product();
  const int64_t unit = packed == kBFloat16 ? dnnl_row_unit() : 1;
  if (route == Route::Dnnl && ((m == 1 && laid_a.column != 1) || (laid_a.column == 1 && k % unit != 0))) {  // see block_of, dnnl_row_unit
    pack_a = true;
    laid_a = {nullptr, (k + unit - 1) / unit * unit, 1};
  }
}

/// The operand that all threads share: b, or in a product by AMX the one that a whole batch has, or the one with fewer lines.
void MatmulPlan::choose_packed() {
  if (!packs()) return;
  const auto same = [&](int operand) {
    return batch.numel > 1 && std::all_of(batch.strides[operand], batch.strides[operand] + batch.ndim, [](int64_t x) { return x == 0; });
  };
  const bool same_a = same(1), same_b = same(2);
  packs_b = route == Route::Packed || (same_a == same_b ? n <= m : same_b);
  const int64_t lines = packs_b ? n : m, panel = route == Route::Packed ? packed_panel() : kSplitPanel;
  const auto bytes = [&](int64_t some) {
    return route == Route::Packed ? align_up(static_cast<size_t>((some + panel - 1) / panel * panel * k) * size_of(packed))
                                  : split_bytes(some, k);
  };
  const auto fit = static_cast<int64_t>(kMostPacked / bytes(panel)) * panel;
  packed_lines = std::min(lines, std::max(fit, kLeastPackedLines));
  const bool once = (packs_b ? same_b : same_a) && packed_lines == lines && !(packs_b ? pack_b : pack_a);
  (once ? once_bytes : packed_bytes) = bytes(packed_lines);
}

int64_t MatmulPlan::packed_panel() const {
  return packed == kFloat64 ? product_functions<double>().panel() : product_functions<float>().panel();
}

void MatmulPlan::share_out() {
  block_m = m;
  block_n = n;
  const double work =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * (packed == kFloat32 || packed == kBFloat16 ? 1 : 2);
  const int64_t most_parts = shares();
  if (batch.numel > 1) {
    const auto worthwhile = static_cast<int64_t>(std::max(1.0, work * static_cast<double>(batch.numel) / kPartProduct));
    if (batch.numel >= most_parts || work < kPartProduct) {
      batch_parts = true;
      parts = std::min({most_parts, batch.numel, worthwhile});
      return;
    }
  }
  const auto wanted = std::min(most_parts, static_cast<int64_t>(std::max(1.0, work / kPartProduct)));
  if (wanted <= 1) return;
  // The grid of blocks that reads least: each block reads its rows of a and its columns of b, and splits them for AMX.
  double least = 1e300;
  for (int64_t down = 1; down <= wanted; ++down) {
    const int64_t across = wanted / down;
    if (packs() && packed_lines < (packs_b ? n : m) && (packs_b ? across : down) > 1) continue;
    const bool whole_panels = route == Route::Packed;
    const int64_t unit_m = whole_panels ? kPackedPanel : split && !packs_b ? kSplitPanel : m < 64 * down ? 4 : split ? 32 : 16;
    const int64_t unit_n = whole_panels ? packed_panel() : (split && packs_b) || n >= 64 * across ? 32 : 16;
    const int64_t mb = block_of(m, down, unit_m), nb = block_of(n, across, unit_n);
    const int64_t count = ((m + mb - 1) / mb) * ((n + nb - 1) / nb);
    // Time grows with the largest block; what it reads weighs less, more where it must be transposed first.
    const double reading_a = whole_panels ? kPacking : split ? (packs_b ? kSplitting : kReadingSplit) : laid_a.column == 1 ? 2 : 8;
    const double reading_b = whole_panels ? 1 : split ? (packs_b ? kReadingSplit : kSplitting) : laid_b.column == 1 ? 2 : 8;
    const double cost = static_cast<double>(mb * nb) + reading_a * static_cast<double>(mb) + reading_b * static_cast<double>(nb) +
                        1e-3 * static_cast<double>(count);
    if (cost < least) {
      least = cost;
      block_m = mb;
      block_n = nb;
      parts = count;
    }
  }
}

void MatmulPlan::measure() {
  if (route == Route::Dnnl) {
    for (const int64_t rows : {block_m, m - (blocks_down() - 1) * block_m})
      for (const int64_t columns : {block_n, n - (blocks_across() - 1) * block_n}) {
        const DnnlScratch scratch = dnnl_scratch(dnnl_block(rows, columns));
        if (!scratch.supported && packed == kFloat32) return pack_instead();
        scratch_bytes = std::max(scratch_bytes, align_up(scratch.bytes));
        if (split) {
          const int64_t lines = packs_b ? rows : columns, others = std::min(packs_b ? columns : rows, packed_lines);
          scratch_bytes = std::max(scratch_bytes, align_up(split_product_scratch(lines, others, k)));
        }
      }
  }
  const auto bytes = [](int64_t elements, DType type) { return align_up(static_cast<size_t>(elements) * size_of(type)); };
  if (pack_a) a_bytes = bytes(m * (laid_a.column == 1 ? std::max(k, laid_a.row) : k), packed);
  if (pack_b) b_bytes = bytes(k * n, packed);
  if (apart) apart_bytes = bytes(m * n, result());
  if (route == Route::Packed) scratch_bytes = std::max(scratch_bytes, bytes(kPackedScratch, packed));
}

/// What oneDNN refuses.
void MatmulPlan::pack_instead() {
  route = Route::Packed;
  split = false;
  once_bytes = packed_bytes = scratch_bytes = 0;
  choose_packed();
  share_out();
  measure();
}

DnnlProduct MatmulPlan::dnnl_block(int64_t rows, int64_t columns) const {
  return {.m = rows,
          .n = columns,
          .k = k,
          .a_row = laid_a.row,
          .a_column = laid_a.column,
          .b_row = laid_b.row,
          .b_column = laid_b.column,
          .out_row = apart ? n : out.row,
          .in = packed,
          .out = apart ? result() : dtype};
}

}  // namespace tandem::kernels::cpu
