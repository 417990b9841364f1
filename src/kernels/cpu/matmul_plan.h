// How a product of views is done: decided from the views alone, so that the workspace query and the call agree and results don't depend on
// threads.
#pragma once

#include "kernels/cpu/blocks.h"
#include "kernels/cpu/onednn.h"
#include "kernels/table.h"

namespace tandem::kernels::cpu {

/// A matrix of a batch; strides in elements.
struct Matrix {
  char* data = nullptr;
  int64_t row = 0, column = 0;
};

struct MatmulPlan {
  /// What computes a product.
  enum class Route : uint8_t {
    Tiny,     // plain loops over any strides: calls and packing would cost more than the sums
    Integer,  // plain loops
    Rows,     // our SIMD code, outer products
    Columns,  // our SIMD code, inner products
    Packed,   // our SIMD code for large products: b is packed once for all threads
    Dnnl,
  };

  int64_t m = 0, n = 0, k = 0;  // may be those of the transposed problem: out's rows are then out's columns
  DType dtype = kFloat32;       // of the operands
  DType packed = kFloat32;      // what the route reads: float32, float64, bfloat16, or the integer type itself
  Route route = Route::Tiny;
  Matrix out, a, b, bias;
  Epilogue epilogue;
  bool has_epilogue = false;  // anything but a b
  bool split = false;         // of float32, is done by split_product where its numbers allow it:
  bool packs_b = false;       // which operand is packed for all threads, by this and by Packed: b, or a
  int64_t packed_lines = 0;   // how many of its lines at a time
  bool pack_a = false, pack_b = false;
  Matrix laid_a, laid_b;  // a's and b's strides after packing
  bool apart = false;     // the product goes to memory of its own, and from there through the epilogue to out
  Walk<4> batch;          // offsets of out, a, b, bias

  int64_t parts = 1;         // that run side by side
  bool batch_parts = false;  // a part is a share of the batch; otherwise a block of out
  int64_t block_m = 0, block_n = 0;
  size_t a_bytes = 0, b_bytes = 0, apart_bytes = 0, packed_bytes = 0, scratch_bytes = 0;  // of one part, whole cache lines
  size_t once_bytes = 0;  // in place of packed_bytes, where the whole batch has the same packed operand

  MatmulPlan(const View& out, const View& a, const View& b, const View& bias, const Epilogue& epilogue);

  /// What oneDNN is asked for a block of out.
  [[nodiscard]] DnnlProduct dnnl_block(int64_t rows, int64_t columns) const;
  /// The type of a product kept apart.
  [[nodiscard]] DType result() const { return is_floating(dtype) && dtype != kFloat64 ? kFloat32 : dtype == kFloat64 ? kFloat64 : kInt64; }
  [[nodiscard]] size_t set_bytes() const { return a_bytes + b_bytes + apart_bytes + packed_bytes; }
  [[nodiscard]] int64_t sets() const { return batch_parts ? parts : 1; }
  [[nodiscard]] size_t workspace() const {
    return once_bytes + set_bytes() * static_cast<size_t>(sets()) + scratch_bytes * static_cast<size_t>(parts);
  }
  [[nodiscard]] int64_t blocks_down() const { return (m + block_m - 1) / block_m; }
  [[nodiscard]] int64_t blocks_across() const { return (n + block_n - 1) / block_n; }

 private:
  void transpose_problem();
  void choose_route();
  [[nodiscard]] bool packs() const { return split || route == Route::Packed; }
  [[nodiscard]] int64_t packed_panel() const;  // columns of b
  void choose_packed();
  void share_out();
  void measure();
  void pack_instead();
};

}  // namespace tandem::kernels::cpu
