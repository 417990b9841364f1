// Products of matrices. matmul_plan.cpp decides how one is done; here it is done: operands that no route can read are packed, blocks of out
// (or shares of a batch) are computed side by side, and each block goes through the epilogue - scaling, bias, activation - while it is in
// the cache.
#include <algorithm>
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
  bool split = false;
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

/// Of a matrix of floats with contiguous rows or columns.
Magnitudes magnitudes_of(const Queue& queue, const Matrix& x, int64_t rows, int64_t columns) {
  const bool by_rows = x.column == 1;
  const int64_t lines = by_rows ? rows : columns, length = by_rows ? columns : rows, step = by_rows ? x.row : x.column;
  Magnitudes all;
  std::mutex mutex;
  parallel_for(lines, std::max<int64_t>(1, 16384 / length), queue.threads, [&](int64_t begin, int64_t end) {
    const Magnitudes some = magnitudes(reinterpret_cast<const float*>(x.data) + begin * step, step, end - begin, length);
    const std::lock_guard lock(mutex);
    all.join(some);
  });
  return all;
}

template <class T>
void run_dense(const MatmulPlan& plan, const Task& task, int64_t i, int64_t j, int64_t rows, int64_t columns, void* scratch) {
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
  if constexpr (sizeof(T) == sizeof(float)) {
    if (task.split) return split_product(p, scratch);
  }
  if (plan.route == Route::Rows) functions.rows(p);
  else if (plan.route == Route::Columns) functions.columns(p);
  else functions.blocked(p, static_cast<T*>(scratch));
}

/// A block of out, from the product to its end.
void run_block(const Queue& queue, const MatmulPlan& plan, const Task& task, int64_t i, int64_t j, int64_t rows, int64_t columns,
               void* scratch) {
  if (plan.route == Route::Dnnl && !task.split) {
    const DType to = plan.apart ? plan.result() : plan.dtype;
    const int status = dnnl_run(plan.dnnl_block(rows, columns), element(task.product, to, i, j), element(task.a, plan.packed, i, 0),
                                element(task.b, plan.packed, 0, j), scratch);
    if (status) return queue.status->report(Trouble::Library, status);
  } else if (plan.packed == kFloat64) {
    run_dense<double>(plan, task, i, j, rows, columns, scratch);
  } else {
    run_dense<float>(plan, task, i, j, rows, columns, scratch);
  }
  if (plan.has_epilogue || plan.apart) finish_product(plan, task.out, task.product, task.bias, i, j, rows, columns);
}

/// The products of batch elements begin … end - 1, one after another.
void run_batch(const Queue& queue, const MatmulPlan& plan, int64_t begin, int64_t end, char* set, char* scratch) {
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
    task.split =
        plan.split && can_split(magnitudes_of(queue, task.a, plan.m, plan.k), magnitudes_of(queue, task.b, plan.k, plan.n), plan.k);
    const int64_t across = plan.blocks_across();
    parallel_for(plan.blocks_down() * across, 1, queue.threads, [&](int64_t first, int64_t last) {
      for (int64_t block = first; block < last; ++block) {
        const int64_t i = block / across * plan.block_m, j = block % across * plan.block_n;
        run_block(queue, plan, task, i, j, std::min(plan.block_m, plan.m - i), std::min(plan.block_n, plan.n - j),
                  scratch + block * static_cast<int64_t>(plan.scratch_bytes));
      }
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
  if (!plan.batch_parts) return run_batch(queue, plan, 0, plan.batch.numel, memory, memory + plan.set_bytes());
  char* const scratch = memory + plan.set_bytes() * static_cast<size_t>(plan.parts);
  parallel_for(plan.parts, 1, queue.threads, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part)
      run_batch(queue, plan, plan.batch.numel * part / plan.parts, plan.batch.numel * (part + 1) / plan.parts,
                memory + part * static_cast<int64_t>(plan.set_bytes()), scratch + part * static_cast<int64_t>(plan.scratch_bytes));
  });
}

}  // namespace tandem::kernels::cpu
