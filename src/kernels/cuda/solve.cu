// Linear equations with a triangle, or with what an LU decomposition gave. A group takes one column of the right side: the unknowns come
// one after another, each as the product of a row of the triangle with those that are known, summed by the whole group.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

template <class T, int threads>
struct Solve {
  T* out;
  const T *a, *b;
  const int32_t* pivots;  // rows swapped, from 1; nullptr for none
  int64_t n, columns;
  Places<4> batches;  // of out, a, b, pivots
  int64_t out_row, out_column, a_row, a_column, b_row, b_column, pivot;
  bool lower_first, then_upper, unit;  // which triangles, in which order; whether the (first) diagonal is 1

  using Shared = NothingShared;

  /// x solved in place, from the first unknown to the last of a lower triangle, or the other way of an upper one.
  TD_DEVICE void substitute(Group<threads>& group, T* x, const T* matrix, bool lower, bool ones) const {
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = lower ? step : n - 1 - step;
      typename Group<threads>::template Local<T> part;
      group.each([&](int t) {
        T sum = 0;
        for (int64_t k = t; k < step; k += threads) {
          const int64_t j = lower ? k : n - 1 - k;
          sum += matrix[i * a_row + j * a_column] * x[j * out_row];
        }
        part[t] = sum;
      });
      const T known = group.reduce(part, [](T p, T q) { return p + q; });
      group.once([&] {
        const T rest = x[i * out_row] - known;
        x[i * out_row] = ones ? rest : rest / matrix[i * a_row + i * a_column];
      });
    }
  }

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared&) const {
    int64_t at[4];
    batches(i / columns, at);
    const int64_t column = i % columns;
    T* const x = out + at[0] + column * out_column;
    const T* const right = b + at[2] + column * b_column;
    group.each([&](int t) {
      for (int64_t k = t; k < n; k += threads) x[k * out_row] = right[k * b_row];
    });
    if (pivots) {
      group.once([&] {
        for (int64_t k = 0; k < n; ++k) {
          const int64_t other = pivots[at[3] + k * pivot] - 1;
          const T kept = x[k * out_row];
          x[k * out_row] = x[other * out_row];
          x[other * out_row] = kept;
        }
      });
    }
    if (lower_first) substitute(group, x, a + at[1], true, unit);
    if (then_upper) substitute(group, x, a + at[1], false, unit && !lower_first);
  }
};

template <class T, int threads>
void solve_in(const Queue& queue, Solver kind, const Out& out, const View& a, const View& pivots, const View& b) {
  const int batch = a.ndim - 2;
  const bool lu = kind == Solver::Lu;
  const Places<4> batches(batch, a.sizes, {out.strides, a.strides, b.strides, lu ? pivots.strides : kNoStrides});
  const int64_t columns = b.sizes[batch + 1];
  const bool lower = lu || kind == Solver::LowerTriangle || kind == Solver::LowerUnitTriangle;
  const bool unit = lu || kind == Solver::LowerUnitTriangle || kind == Solver::UpperUnitTriangle;
  for_groups<threads>(queue, batches.count * columns,
                      Solve<T, threads>{out.as<T>(), a.as<T>(), b.as<T>(), lu ? pivots.as<int32_t>() : nullptr, a.sizes[batch], columns,
                                        batches, out.strides[batch], out.strides[batch + 1], a.strides[batch], a.strides[batch + 1],
                                        b.strides[batch], b.strides[batch + 1], lu ? pivots.strides[batch] : 0, lower, lu || !lower, unit});
}

template <class T>
void solve_with(const Queue& queue, Solver kind, const Out& out, const View& a, const View& pivots, const View& b) {
  if (a.sizes[a.ndim - 1] <= 256) solve_in<T, kWarp>(queue, kind, out, a, pivots, b);
  else solve_in<T, kThreads>(queue, kind, out, a, pivots, b);
}

}  // namespace

size_t solve_workspace(const View&, const View&) { return 0; }

void solve(const Queue& queue, Solver kind, Out out, View a, View pivots, View b, void*) {
  if (out.numel() == 0) return;
  if (out.dtype == DType::Float32) solve_with<float>(queue, kind, out, a, pivots, b);
  else if (out.dtype == DType::Float64) solve_with<double>(queue, kind, out, a, pivots, b);
  else queue.status->report(Trouble::Unsupported, static_cast<int64_t>(out.dtype));
}

}  // namespace tandem::kernels::cuda
