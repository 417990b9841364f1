// Products of matrices. matmul_plan.cpp decides how one is done; here it is done: operands that no route can read are packed, blocks of out
// (or shares of a batch) are computed side by side, and each block goes through the epilogue - scaling, bias, activation - while it is in
// the cache.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/matmul_loops.h"
#include "kernels/cpu/matmul_plan.h"
#include "kernels/cpu/split_product.h"

namespace tandem::kernels::cpu {
namespace {

using Route = MatmulPlan::Route;

char* moved(const Matrix& x, DType dtype, int64_t offset) {
  return x.data ? x.data + offset * static_cast<int64_t>(size_of(dtype)) : nullptr;
}
char* element(const Matrix& x, DType dtype, int64_t row, int64_t column) { return moved(x, dtype, row * x.row + column * x.column); }

/// One product of the batch, with its operands as the route reads them.
struct Task {
  Matrix out, a, b, bias;
  Matrix product;  // out, or the memory apart
};

/// Transposes stretches of a matrix with contiguous columns into one with contiguous rows.
template <class T>
void transpose(const Queue& queue, char* to, const Matrix& x, int64_t rows, int64_t columns) {
  const int64_t stretch = std::max<int64_t>(16, 16384 / std::max<int64_t>(1, rows) / 16 * 16);
  parallel_for(columns, stretch, queue.threads, [&](int64_t begin, int64_t end) {
    product_functions<T>().transpose(reinterpret_cast<T*>(to) + begin, columns, reinterpret_cast<const T*>(x.data) + begin * x.column,
                                     x.column, rows, end - begin);
  });
}

/// Copies a matrix to dense memory of the type `to`, by rows where `laid` has dense rows, else by columns.
void pack(const Queue& queue, char* to_data, DType to, const Matrix& x, DType from, const Matrix& laid, int64_t rows, int64_t columns) {
  const bool by_rows = laid.column == 1;
  if (by_rows && x.row == 1 && x.column != 1 && from == to) {
    if (to == kFloat32) return transpose<float>(queue, to_data, x, rows, columns);
    if (to == kFloat64) return transpose<double>(queue, to_data, x, rows, columns);
  }
  const int64_t lines = by_rows ? rows : columns, length = by_rows ? columns : rows, step = by_rows ? x.row : x.column,
                stride = by_rows ? x.column : x.row, whole = std::max(length, by_rows ? laid.row : laid.column);  // zeros behind `length`
  const auto copy_line = isa().conversions.pack_to(compute_of(to), from);
  const bool narrow = to == kBFloat16;  // not a type to compute in: its elements are moved as they are
  parallel_for(lines, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, length)), queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t l = begin; l < end; ++l) {
      char* const target = to_data + l * whole * static_cast<int64_t>(size_of(to));
      std::memset(target + length * static_cast<int64_t>(size_of(to)), 0, static_cast<size_t>(whole - length) * size_of(to));
      const char* source = moved(x, from, l * step);
      if (!narrow) {
        copy_line(target, source, stride, length);
      } else {
        for (int64_t i = 0; i < length; ++i) reinterpret_cast<uint16_t*>(target)[i] = reinterpret_cast<const uint16_t*>(source)[i * stride];
      }
    }
  });
}

template <class T>
void run_dense(const MatmulPlan& plan, const Task& task, int64_t i, int64_t j, int64_t rows, int64_t columns) {
  const DenseProduct<T> p{.out = reinterpret_cast<T*>(element(task.product, plan.packed, i, j)),
                          .a = reinterpret_cast<const T*>(element(task.a, plan.packed, i, 0)),
                          .b = reinterpret_cast<const T*>(element(task.b, plan.packed, 0, j)),
                          .m = rows,
                          .n = columns,
                          .k = plan.k,
                          .out_row = task.product.row,
                          .a_row = task.a.row,
                          .a_column = task.a.column,
                          .b_row = task.b.row,
                          .b_column = task.b.column};
  const ProductFunctionsOf<T>& functions = product_functions<T>();
  (plan.route == Route::Rows ? functions.rows : functions.columns)(p);
}

/// Calls f(i, j, rows, columns, scratch) for the blocks of out.
template <class F>
void for_blocks(const Queue& queue, const MatmulPlan& plan, char* scratch, F f) {
  const int64_t across = plan.blocks_across();
  parallel_for(plan.blocks_down() * across, 1, queue.threads, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      const int64_t i = block / across * plan.block_m, j = block % across * plan.block_n;
      f(i, j, std::min(plan.block_m, plan.m - i), std::min(plan.block_n, plan.n - j),
        scratch + block * static_cast<int64_t>(plan.scratch_bytes));
    }
  });
}

/// A block of out, from the product to its end.
void run_block(const Queue& queue, const MatmulPlan& plan, const Task& task, int64_t i, int64_t j, int64_t rows, int64_t columns,
               void* scratch) {
  if (plan.route == Route::Dnnl) {
    const DType to = plan.apart ? plan.result() : plan.dtype;
    const int status = dnnl_run(plan.dnnl_block(rows, columns), element(task.product, to, i, j), element(task.a, plan.packed, i, 0),
                                element(task.b, plan.packed, 0, j), scratch);
    if (status) return queue.status->report(Trouble::Library, status);
  } else if (plan.packed == kFloat64) {
    run_dense<double>(plan, task, i, j, rows, columns);
  } else {
    run_dense<float>(plan, task, i, j, rows, columns);
  }
  if (plan.has_epilogue || plan.apart) finish_product(plan, task.out, task.product, task.bias, i, j, rows, columns);
}

/// Packs `columns` columns of b, from the one at `at`, in pieces of a panel.
template <class T>
void pack_panels(const Queue& queue, const MatmulPlan& plan, T* to, const Matrix& b, int64_t at, int64_t columns) {
  const ProductFunctionsOf<T>& functions = product_functions<T>();
  const int64_t panel = functions.panel(), length = std::min(plan.k, 4 * kPackedDepth), runs = (plan.k + length - 1) / length;
  parallel_for((columns + panel - 1) / panel * runs, std::max<int64_t>(1, 16384 / (panel * length)), queue.threads,
               [&](int64_t first, int64_t last) {
                 for (int64_t piece = first; piece < last; ++piece) {
                   const int64_t j = piece / runs * panel, q = piece % runs * length;
                   functions.pack(to + j * plan.k + q * panel,
                                  {reinterpret_cast<const T*>(element(b, plan.packed, q, at + j)), b.column, b.row},
                                  std::min(panel, columns - j), std::min(length, plan.k - q));
                 }
               });
}

/// A whole product by panels. `packed` is the memory for b's, which are there already where `has_packed`.
template <class T>
void run_packed(const Queue& queue, const MatmulPlan& plan, const Task& task, T* packed, bool has_packed, char* scratch) {
  const ProductFunctionsOf<T>& functions = product_functions<T>();
  for (int64_t at = 0; at < plan.n; at += plan.packed_lines) {
    const int64_t count = std::min(plan.packed_lines, plan.n - at);
    if (!has_packed) pack_panels(queue, plan, packed, task.b, at, count);
    for_blocks(queue, plan, scratch, [&](int64_t i, int64_t j, int64_t rows, int64_t columns, void* memory) {
      columns = std::min(columns, count);  // a block has all that are packed, or they are all there are
      const int64_t height = stretch_of(rows, kPackedRows, kPackedPanel);
      for (int64_t row = i; row < i + rows; row += height) {
        const int64_t some = std::min(height, i + rows - row);
        functions.packed({.out = reinterpret_cast<T*>(element(task.product, plan.packed, row, at + j)),
                          .a = {reinterpret_cast<const T*>(element(task.a, plan.packed, row, 0)), task.a.row, task.a.column},
                          .b = packed + j * plan.k,
                          .m = some,
                          .n = columns,
                          .k = plan.k,
                          .out_row = task.product.row},
                         static_cast<T*>(memory));
        if (plan.has_epilogue || plan.apart) finish_product(plan, task.out, task.product, task.bias, row, at + j, some, columns);
      }
    });
  }
}

/// Lines of a, its rows, or of b, its columns, from the one at `at`.
SplitLines lines_of(const Matrix& x, bool of_a, int64_t at) {
  const auto* const data = reinterpret_cast<const float*>(x.data);
  return of_a ? SplitLines{data + at * x.row, x.row, x.column, true} : SplitLines{data + at * x.column, x.column, x.row, false};
}

/// An operand that all threads read, or some of its lines, as split_product wants it.
Magnitudes pack_split(const Queue& queue, const MatmulPlan& plan, uint16_t* to, const SplitLines& x, int64_t lines) {
  constexpr int64_t kDepth = 16 * kSplitPanel;
  const int64_t panels = (lines + kSplitPanel - 1) / kSplitPanel, runs = (plan.k + kDepth - 1) / kDepth;
  const auto panel_bytes = static_cast<int64_t>(split_bytes(kSplitPanel, plan.k));
  Magnitudes all;
  std::mutex mutex;
  parallel_for(panels * runs, std::max<int64_t>(1, 16384 / (kSplitPanel * plan.k)), queue.threads, [&](int64_t first, int64_t last) {
    Magnitudes some;
    for (int64_t piece = first; piece < last; ++piece) {
      const int64_t line = piece / runs * kSplitPanel, begin = piece % runs * kDepth;
      some.join(split_pack(to + piece / runs * panel_bytes / 2, {x.data + line * x.line, x.line, x.element, x.of_a},
                           std::min(kSplitPanel, lines - line), begin, std::min(begin + kDepth, plan.k), plan.k));
    }
    const std::lock_guard lock(mutex);
    all.join(some);
  });
  return all;
}

/// The operand that the whole batch has.
Magnitudes pack_once(const Queue& queue, const MatmulPlan& plan, uint16_t* to) {
  const Matrix& same = plan.packs_b ? plan.b : plan.a;
  if (plan.split) return pack_split(queue, plan, to, lines_of(same, !plan.packs_b, 0), plan.packed_lines);
  if (plan.packed == kFloat64) pack_panels(queue, plan, reinterpret_cast<double*>(to), same, 0, plan.n);
  else pack_panels(queue, plan, reinterpret_cast<float*>(to), same, 0, plan.n);
  return {};
}

/// A whole product by AMX, or false, where its numbers don't allow that; the product has any values then. `packed` is the memory for one
/// operand, or has it already, with what was found in it.
bool run_split(const Queue& queue, const MatmulPlan& plan, const Task& task, uint16_t* packed, const Magnitudes* packed_before,
               char* scratch) {
  const bool of_a = plan.packs_b, inside = !plan.apart && task.bias.row >= 0 && task.bias.column >= 0;
  const Matrix &own = of_a ? task.a : task.b, &common = of_a ? task.b : task.a;
  const int64_t common_lines = of_a ? plan.n : plan.m;
  Magnitudes found, common_found;
  std::mutex mutex;
  std::atomic<bool> fails = false;
  for (int64_t at = 0; at < common_lines; at += plan.packed_lines) {
    const int64_t count = std::min(plan.packed_lines, common_lines - at);
    common_found.join(packed_before ? *packed_before : pack_split(queue, plan, packed, lines_of(common, !of_a, at), count));
    if (never_splits(common_found)) return false;
    for_blocks(queue, plan, scratch, [&](int64_t i, int64_t j, int64_t rows, int64_t columns, void* memory) {
      if (fails.load(std::memory_order_relaxed)) return;
      // A block has all packed lines, or there is one run of them.
      (of_a ? j : i) += at;
      (of_a ? columns : rows) = std::min(of_a ? columns : rows, count);
      SplitProduct p{.lines = lines_of(own, of_a, of_a ? i : j),
                     .packed = packed + ((of_a ? j : i) - at) / kSplitPanel * static_cast<int64_t>(split_bytes(kSplitPanel, plan.k) / 2),
                     .m = rows,
                     .n = columns,
                     .k = plan.k,
                     .out = reinterpret_cast<float*>(element(task.product, kFloat32, i, j)),
                     .out_row = task.product.row};
      if (inside && plan.has_epilogue) {
        p.epilogue = &plan.epilogue;
        p.bias = task.bias.data ? reinterpret_cast<const float*>(element(task.bias, kFloat32, i, j)) : nullptr;
        p.bias_row = task.bias.row;
        p.bias_column = task.bias.column;
      }
      const Magnitudes some = split_product(p, memory);
      const std::lock_guard lock(mutex);
      found.join(some);
      if (never_splits(some)) fails = true;
    });
    if (fails) return false;
  }
  if (!can_split(found, common_found, plan.k)) return false;
  if (!inside && (plan.has_epilogue || plan.apart))
    for_blocks(queue, plan, scratch, [&](int64_t i, int64_t j, int64_t rows, int64_t columns, void*) {
      finish_product(plan, task.out, task.product, task.bias, i, j, rows, columns);
    });
  return true;
}

/// The products of batch elements begin … end - 1, one after another. `packed` as in run_split.
void run_batch(const Queue& queue, const MatmulPlan& plan, int64_t begin, int64_t end, char* set, uint16_t* packed,
               const Magnitudes* packed_before, char* scratch) {
  plan.batch.each(begin, end, [&](int64_t, const int64_t* at) {
    Task task{.out = plan.out, .a = plan.a, .b = plan.b, .bias = plan.bias, .product = {}};
    task.out.data = moved(plan.out, plan.dtype, at[0]);
    task.a.data = moved(plan.a, plan.dtype, at[1]);
    task.b.data = moved(plan.b, plan.dtype, at[2]);
    task.bias.data = moved(plan.bias, plan.dtype, at[3]);
    if (plan.route == Route::Tiny || plan.route == Route::Integer) return plain_product(queue, plan, task.out, task.a, task.b, task.bias);
    if (plan.pack_a) {
      pack(queue, set, plan.packed, task.a, plan.dtype, plan.laid_a, plan.m, plan.k);
      task.a = {set, plan.laid_a.row, plan.laid_a.column};
    }
    if (plan.pack_b) {
      pack(queue, set + plan.a_bytes, plan.packed, task.b, plan.dtype, plan.laid_b, plan.k, plan.n);
      task.b = {set + plan.a_bytes, plan.laid_b.row, plan.laid_b.column};
    }
    task.product = plan.apart ? Matrix{set + plan.a_bytes + plan.b_bytes, plan.n, 1} : task.out;
    if (plan.route == Route::Packed) {
      if (plan.packed == kFloat64) run_packed(queue, plan, task, reinterpret_cast<double*>(packed), packed_before != nullptr, scratch);
      else run_packed(queue, plan, task, reinterpret_cast<float*>(packed), packed_before != nullptr, scratch);
      return;
    }
    if (plan.split && run_split(queue, plan, task, packed, packed_before, scratch)) return;
    for_blocks(queue, plan, scratch, [&](int64_t i, int64_t j, int64_t rows, int64_t columns, void* memory) {
      run_block(queue, plan, task, i, j, rows, columns, memory);
    });
  });
}

}  // namespace

size_t matmul_workspace(const View& out, const View& a, const View& b, const View& bias, const Epilogue& epilogue) {
  return MatmulPlan(out, a, b, bias, epilogue).workspace();
}

void matmul(const Queue& queue, Out out, View a, View b, View bias, Epilogue epilogue, void* workspace) {
  const MatmulPlan plan(out, a, b, bias, epilogue);
  if (plan.m == 0 || plan.n == 0 || plan.batch.numel == 0) return;
  auto* const memory = static_cast<char*>(workspace);
  char *const sets = memory + plan.once_bytes, *const scratch = sets + plan.set_bytes() * static_cast<size_t>(plan.sets());
  const auto packed_of = [&](char* set) {
    return reinterpret_cast<uint16_t*>(plan.once_bytes ? memory : set + plan.set_bytes() - plan.packed_bytes);
  };
  Magnitudes once;
  if (plan.once_bytes) once = pack_once(queue, plan, packed_of(nullptr));
  const Magnitudes* const before = plan.once_bytes ? &once : nullptr;
  if (!plan.batch_parts) return run_batch(queue, plan, 0, plan.batch.numel, sets, packed_of(sets), before, scratch);
  parallel_for(plan.parts, 1, queue.threads, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      char* const set = sets + part * static_cast<int64_t>(plan.set_bytes());
      run_batch(queue, plan, plan.batch.numel * part / plan.parts, plan.batch.numel * (part + 1) / plan.parts, set, packed_of(set), before,
                scratch + part * static_cast<int64_t>(plan.scratch_bytes));
    }
  });
}

}  // namespace tandem::kernels::cpu
