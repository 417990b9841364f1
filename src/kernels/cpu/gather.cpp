// Gather and scatter along one dimension. The positions across that dimension are independent: they are shared out among the threads, and
// the dimension is gone through in order, so that a place named twice gets its values in order.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kPiece = 8192;         // elements
constexpr int64_t kShortRow = 16 << 10;  // bytes

/// Calls `good(first, end)` for runs of n indices that all lie in [0, size), else `f(i, index)` for those that do, and reports the others.
/// They are looked over some at a time, so that good ones cost no branch.
template <class Good, class F>
void each_run_within(const Queue& queue, const int64_t* index, int64_t step, int64_t n, int64_t size, Good good, F f) {
  constexpr int64_t some = 256;
  for (int64_t first = 0; first < n; first += some) {
    const int64_t end = std::min(n, first + some);
    if (step == 1 && isa().conversions.all_within(index + first, end - first, size)) {
      good(first, end);
    } else {
      for (int64_t i = first; i < end; ++i)
        if (const int64_t k = index[i * step]; within(queue, k, size)) f(i, k);
    }
  }
}

/// Calls `f(i, index)` for n indices that lie in [0, size), and reports the others.
template <class F>
void each_within(const Queue& queue, const int64_t* index, int64_t step, int64_t n, int64_t size, F f) {
  const auto good = [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) f(i, index[i]);
  };
  each_run_within(queue, index, step, n, size, good, f);
}

/// part[i] = whole[index[i]]. Four are read before one of them is written: a quarter faster.
template <class T>
void gather_row(const T* whole, T* part, const int64_t* index, int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const T a = whole[index[i]], b = whole[index[i + 1]], c = whole[index[i + 2]], d = whole[index[i + 3]];
    part[i] = a;
    part[i + 1] = b;
    part[i + 2] = c;
    part[i + 3] = d;
  }
  for (; i < n; ++i) part[i] = whole[index[i]];
}

/// Calls `f(element of whole, element of part)` for every element of `index`, or `row_of(whole, part, index, n)` for n of them that lie in
/// dense rows along `dim`. The innermost loop runs along the last dimension, where elements are closest; along `dim` all threads keep the
/// order.
template <class Whole, class Part, class F, class Row>
void each(const Queue& queue, const View& whole, const View& part, const View& index, int dim, F f, Row row_of) {
  const int inner = index.ndim - 1;
  const int64_t length = index.sizes[dim], size = whole.sizes[dim], width = inner == dim ? 1 : index.sizes[inner];
  Walk<3> rows;  // the other dimensions: offsets of whole, part, index
  for (int d = 0; d < inner; ++d)
    if (d != dim) rows.push(index.sizes[d], {whole.strides[d], part.strides[d], index.strides[d]});
  if (length == 0 || width == 0 || rows.numel == 0) return;
  const int64_t whole_step = whole.strides[dim], part_step = part.strides[dim], index_step = index.strides[dim];
  const int64_t whole_inner = whole.strides[inner], part_inner = part.strides[inner], index_inner = index.strides[inner];
  // A unit is a stretch of the last dimension of one row, so that few long rows can be shared out too.
  const int64_t stretch = rows.numel >= queue.threads ? width : std::max<int64_t>(64, (width + queue.threads - 1) / queue.threads);
  const int64_t stretches = (width + stretch - 1) / stretch;
  parallel_for(rows.numel * stretches, std::max<int64_t>(1, kPiece / (length * stretch)), queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit / stretches, from = unit % stretches * stretch, to = std::min(width, from + stretch);
      rows.each(row, row + 1, [&](int64_t, const int64_t* at) {
        Whole* const whole_row = whole.as<Whole>() + at[0];
        Part* part_row = part.as<Part>() + at[1];
        const int64_t* index_row = index.as<const int64_t>() + at[2];
        if (inner == dim && whole_step == 1 && part_step == 1 && index_step == 1) {
          // Most of a short row will be read, in any order: it is prefetched in its own order, which is faster.
          if (const int64_t bytes = size * static_cast<int64_t>(sizeof(Whole)); bytes <= kShortRow && size <= 2 * length)
            for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(reinterpret_cast<const char*>(whole_row) + b);
          return each_run_within(
              queue, index_row, 1, length, size,
              [&](int64_t first, int64_t end) { row_of(whole_row, part_row + first, index_row + first, end - first); },
              [&](int64_t i, int64_t k) { f(whole_row[k], part_row[i]); });
        }
        if (inner == dim)
          return each_within(queue, index_row, index_step, length, size,
                             [&](int64_t i, int64_t k) { f(whole_row[k * whole_step], part_row[i * part_step]); });
        for (int64_t i = 0; i < length; ++i, part_row += part_step, index_row += index_step)
          each_within(queue, index_row + from * index_inner, index_inner, to - from, size, [&](int64_t j, int64_t k) {
            f(whole_row[k * whole_step + (from + j) * whole_inner], part_row[(from + j) * part_inner]);
          });
      });
    }
  });
}

/// The same, one element after another.
template <class Whole, class Part, class F>
void each(const Queue& queue, const View& whole, const View& part, const View& index, int dim, F f) {
  each<Whole, Part>(queue, whole, part, index, dim, f, [&](Whole* to, Part* from, const int64_t* at, int64_t n) {
    for (int64_t i = 0; i < n; ++i) f(to[at[i]], from[i]);
  });
}

/// A view without dimensions as one of a single element.
template <class V>
V at_least_1d(V view) {
  if (view.ndim == 0) {
    view.ndim = 1;
    view.sizes[0] = 1;
    view.strides[0] = 0;
  }
  return view;
}

/// to *= from, as add_to adds.
template <class T>
void multiply_by(Sum<T>& to, T from) {
  if constexpr (std::is_same_v<T, bool>) to = to && from;
  else if constexpr (std::is_integral_v<T>) to = static_cast<T>(static_cast<uint64_t>(to) * static_cast<uint64_t>(from));
  else to *= number(from);
}

/// Whether `x` takes the place of `best`: it is larger (or smaller), or nan.
template <class T>
bool wins(T x, T best, bool largest) {
  const auto a = number(x), b = number(best);
  return is_nan(a) || (largest ? a > b : a < b);
}

}  // namespace

void gather(const Queue& queue, Out out, View in, View index, int32_t dim) {
  visit_width(out.dtype, [&]<class T>(T) {
    each<T, T>(
        queue, at_least_1d(in), at_least_1d<View>(out), at_least_1d(index), dim, [](const T& whole, T& part) { part = whole; },
        gather_row<T>);
  });
}

void scatter(const Queue& queue, Scatter mode, Change out, View index, View source, int32_t dim) {
  const View whole = at_least_1d<View>(out), part = at_least_1d(source), where = at_least_1d(index);
  if (mode == Scatter::Set)
    return visit_width(out.dtype, [&]<class T>(T) { each<T, T>(queue, whole, part, where, dim, [](T& to, T from) { to = from; }); });
  visit(source.dtype, [&]<class T>(T) {
    switch (mode) {
      case Scatter::Add: return each<Sum<T>, T>(queue, whole, part, where, dim, [](Sum<T>& to, T from) { add_to(to, from); });
      case Scatter::Multiply: return each<Sum<T>, T>(queue, whole, part, where, dim, [](Sum<T>& to, T from) { multiply_by(to, from); });
      case Scatter::Max:
        return each<T, T>(queue, whole, part, where, dim, [](T& to, T from) {
          if (wins(from, to, true)) to = from;
        });
      default:
        return each<T, T>(queue, whole, part, where, dim, [](T& to, T from) {
          if (wins(from, to, false)) to = from;
        });
    }
  });
}

}  // namespace tandem::kernels::cpu
