// Cholesky, LU and QR decompositions of many small matrices: a group of threads takes each, in the memory of its result, column by column.
// Each column is finished, and the rest of the matrix is changed by it, as LAPACK's unblocked routines do it (potf2, getf2, geqr2, org2r).
#include <algorithm>

#include "kernels/cuda/decompose.h"
#include "kernels/cuda/elements.cuh"

namespace tandem::kernels::cuda {
namespace {

/// The matrices of a view (batch…, rows, columns); where there is none, nobody asks for one.
template <class T>
struct Matrices {
  T* data = nullptr;
  int rows = 0, columns = 0;
  int64_t row = 0, column = 0;

  explicit Matrices(const View& v) {
    if (!v.data) return;
    data = v.as<T>();
    rows = static_cast<int>(v.sizes[v.ndim - 2]);
    columns = static_cast<int>(v.sizes[v.ndim - 1]);
    row = v.strides[v.ndim - 2];
    column = v.strides[v.ndim - 1];
  }
  /// One of them.
  struct One {
    T* data;
    int64_t row, column;
    TD_DEVICE T& operator()(int i, int j) const { return data[i * row + j * column]; }
  };
  TD_DEVICE One at(int64_t offset) const { return {data + offset, row, column}; }
};

/// f(i, j) for rows i from `top` and columns j from `left` on, shared by the threads of a group; and a barrier.
template <class G, class F>
TD_DEVICE void for_elements(G& group, int top, int rows, int left, int columns, F f) {
  group.each([&](int t) {
    const int width = columns - left, count = (rows - top) * width;
    for (int e = t; e < count; e += G::kSize) f(top + e / width, left + e % width);
  });
}

/// a = L of L Lᵀ, from in's lower triangle.
template <class T, int threads>
struct Cholesky {
  using Shared = NothingShared;
  Matrices<T> a, in;
  Places<2> places;
  Reporter report;

  TD_DEVICE void operator()(Group<threads>& group, int64_t number, Shared&) const {
    int64_t at[2];
    places(number, at);
    const auto x = a.at(at[0]), from = in.at(at[1]);
    const int n = a.rows;
    for_elements(group, 0, n, 0, n, [&](int i, int j) { x(i, j) = j <= i ? from(i, j) : T(0); });
    for (int j = 0; j < n; ++j) {
      const T square = x(j, j), pivot = math::sqrt(square);
      if (!(square > 0)) {
        group.once([&] { report(Trouble::NotPositive, number, j + 1); });
        return;
      }
      group.each([&](int) {});  // all have read it
      for_elements(group, j, n, j, j + 1, [&](int i, int) { x(i, j) = i == j ? pivot : x(i, j) / pivot; });
      for_elements(group, j + 1, n, j + 1, n, [&](int i, int k) {
        if (k <= i) x(i, k) -= x(i, j) * x(k, j);
      });
    }
  }
};

/// a = L and U in one matrix, pivots = the rows swapped, from 1, sign = the determinant of the swaps.
template <class T, int threads>
struct Lu {
  using Shared = NothingShared;
  /// The row with the largest number of a column: the first of them.
  struct Largest {
    T value;
    int row;
  };
  Matrices<T> a, in;
  int32_t* pivots;
  int64_t pivot;
  T* sign;
  Places<4> places;  // of a, in, pivots, sign
  bool strict;
  Reporter report;

  TD_DEVICE void operator()(Group<threads>& group, int64_t number, Shared&) const {
    int64_t at[4];
    places(number, at);
    const auto x = a.at(at[0]), from = in.at(at[1]);
    const int m = a.rows, n = a.columns, columns = m < n ? m : n;
    for_elements(group, 0, m, 0, n, [&](int i, int j) { x(i, j) = from(i, j); });
    T parity = 1;
    int first_zero = 0;
    for (int j = 0; j < columns; ++j) {
      typename Group<threads>::template Local<Largest> found;
      group.each([&](int t) {
        Largest mine{T(-1), j};
        for (int i = j + t; i < m; i += threads)
          if (const T size = math::abs(x(i, j)); size > mine.value) mine = {size, i};
        found[t] = mine;
      });
      const Largest largest = group.reduce(
          found, [](const Largest& p, const Largest& q) { return q.value > p.value || (q.value == p.value && q.row < p.row) ? q : p; });
      if (largest.row != j) {
        parity = -parity;
        group.each([&](int t) {
          for (int k = t; k < n; k += threads) {
            const T kept = x(j, k);
            x(j, k) = x(largest.row, k);
            x(largest.row, k) = kept;
          }
        });
      }
      group.once([&] { pivots[at[2] + j * pivot] = largest.row + 1; });
      const T divisor = x(j, j);
      if (divisor == 0) {
        if (first_zero == 0) first_zero = j + 1;
        continue;
      }
      for_elements(group, j + 1, m, j, j + 1, [&](int i, int) { x(i, j) /= divisor; });
      for_elements(group, j + 1, m, j + 1, n, [&](int i, int k) { x(i, k) -= x(i, j) * x(j, k); });
    }
    group.once([&] {
      sign[at[3]] = parity;
      if (strict && first_zero) report(Trouble::Singular, number, first_zero);
    });
  }
};

/// q and r of q r = in, by Householder's reflections H = 1 - tau v vᵀ. Their v, beneath the diagonal, and R lie in r where q is square,
/// else in q, in whose place it is made then.
template <class T, int threads>
struct Qr {
  using Shared = NothingShared;
  using One = typename Matrices<T>::One;
  Matrices<T> q, r, in;
  T* factors;        // tau, as many as columns of v, for each matrix
  Places<3> places;  // of q, r, in

  TD_DEVICE void operator()(Group<threads>& group, int64_t number, Shared&) const {
    int64_t at[3];
    places(number, at);
    const One to_q = q.at(at[0]), to_r = r.at(at[1]), from = in.at(at[2]);
    const int m = in.rows, n = in.columns, count = m < n ? m : n;
    const bool in_r = q.columns == m;
    const One x = in_r ? to_r : to_q;
    T* const tau = factors + number * count;
    for_elements(group, 0, m, 0, n, [&](int i, int j) { x(i, j) = from(i, j); });
    for (int j = 0; j < count; ++j) {
      const T factor = find_reflection(group, x, j, m);
      group.once([&] { tau[j] = factor; });
      reflect(group, x, j, factor, x, m, j + 1, n);
    }
    if (in_r) {
      for_elements(group, 0, m, 0, m, [&](int i, int j) { to_q(i, j) = i == j ? T(1) : T(0); });
      for (int j = count - 1; j >= 0; --j) reflect(group, x, j, tau[j], to_q, m, j, m);
      for_elements(group, 0, m, 0, n, [&](int i, int j) {
        if (i > j) to_r(i, j) = 0;
      });
      return;
    }
    for_elements(group, 0, n, 0, n, [&](int i, int j) { to_r(i, j) = i <= j ? x(i, j) : T(0); });
    for (int j = count - 1; j >= 0; --j) {
      const T factor = tau[j];
      reflect(group, x, j, factor, x, m, j + 1, n);
      // Column j is what the reflection makes of a column of the identity.
      for_elements(group, 0, m, j, j + 1, [&](int i, int) { x(i, j) = i < j ? T(0) : i == j ? 1 - factor : -factor * x(i, j); });
    }
  }

 private:
  /// Puts v beneath the diagonal of column j, where v is 1, and what is left of the column on it. The reflection's tau.
  TD_DEVICE static T find_reflection(Group<threads>& group, const One& x, int j, int m) {
    typename Group<threads>::template Local<T> local;
    group.each([&](int t) {
      T most = 0;
      for (int i = j + 1 + t; i < m; i += threads) {
        const T size = math::abs(x(i, j));
        most = size > most || size != size ? size : most;
      }
      local[t] = most;
    });
    const T scale = group.reduce(local, [](T p, T q) { return q > p || q != q ? q : p; });
    if (scale == 0) return 0;
    const T head = x(j, j), larger = math::abs(head) > scale ? math::abs(head) : scale;
    group.each([&](int t) {
      T sum = 0;
      for (int i = j + 1 + t; i < m; i += threads) {
        const T scaled = x(i, j) / larger;
        sum += scaled * scaled;
      }
      local[t] = sum;
    });
    const T rest = group.reduce(local, [](T p, T q) { return p + q; }), own = head / larger;
    const T length = larger * math::sqrt(own * own + rest), left = head < 0 ? length : -length;
    for_elements(group, j, m, j, j + 1, [&](int i, int) { x(i, j) = i == j ? left : x(i, j) / (head - left); });
    return (left - head) / left;
  }

  /// Columns `first` to `end` - 1 of y become what the reflection of column j of x makes of them: a thread takes whole columns.
  TD_DEVICE static void reflect(Group<threads>& group, const One& x, int j, T tau, const One& y, int m, int first, int end) {
    group.each([&](int t) {
      if (tau == 0) return;
      for (int k = first + t; k < end; k += threads) {
        T sum = y(j, k);
        for (int i = j + 1; i < m; ++i) sum += x(i, j) * y(i, k);
        sum *= tau;
        y(j, k) -= sum;
        for (int i = j + 1; i < m; ++i) y(i, k) -= sum * x(i, j);
      }
    });
  }
};

int64_t count_of(const View& in) {
  int64_t count = 1;
  for (int d = 0; d + 2 < in.ndim; ++d) count *= in.sizes[d];
  return count;
}
int64_t larger_side(const View& in) { return std::max(in.sizes[in.ndim - 2], in.sizes[in.ndim - 1]); }

template <class T, int threads>
void decompose_in(const Queue& queue, Decomposition kind, const Out& a, const Out& b, const Out& c, const View& in, bool strict,
                  void* workspace) {
  const int batch = in.ndim - 2;
  const int64_t count = count_of(in);
  const Matrices<T> first(a), from(in);
  if (kind == Decomposition::Cholesky) {
    for_groups<threads>(queue, count,
                        Cholesky<T, threads>{first, from, Places<2>(batch, in.sizes, {a.strides, in.strides}), Reporter(queue)});
  } else if (kind == Decomposition::Lu) {
    for_groups<threads>(queue, count,
                        Lu<T, threads>{first, from, b.as<int32_t>(), b.strides[batch], c.as<T>(),
                                       Places<4>(batch, in.sizes, {a.strides, in.strides, b.strides, c.strides}), strict, Reporter(queue)});
  } else {
    for_groups<threads>(queue, count,
                        Qr<T, threads>{first, Matrices<T>(b), from, static_cast<T*>(workspace),
                                       Places<3>(batch, in.sizes, {a.strides, b.strides, in.strides})});
  }
}

template <class T>
void decompose_as(const Queue& queue, Decomposition kind, const Out& a, const Out& b, const Out& c, const View& in, bool strict,
                  void* workspace) {
  if (larger_side(in) <= kWarp) decompose_in<T, kWarp>(queue, kind, a, b, c, in, strict, workspace);
  else decompose_in<T, kThreads>(queue, kind, a, b, c, in, strict, workspace);
}

}  // namespace

bool is_of_many(Decomposition kind, const View& in) {
  const int64_t rows = in.sizes[in.ndim - 2], columns = in.sizes[in.ndim - 1], larger = std::max(rows, columns);
  if (kind != Decomposition::Cholesky && kind != Decomposition::Lu && kind != Decomposition::Qr) return false;
  return std::min(rows, columns) > 0 && larger <= 128 && count_of(in) * 8 >= larger && count_of(in) > 1;
}

void decompose_many(const Queue& queue, Decomposition kind, const Out& a, const Out& b, const Out& c, const View& in, bool strict,
                    void* workspace) {
  if (in.dtype == DType::Float64) decompose_as<double>(queue, kind, a, b, c, in, strict, workspace);
  else decompose_as<float>(queue, kind, a, b, c, in, strict, workspace);
}

size_t decompose_many_workspace(const View& in) {
  const int64_t columns = std::min(in.sizes[in.ndim - 2], in.sizes[in.ndim - 1]);
  return static_cast<size_t>(count_of(in) * columns) * size_of(in.dtype);
}

}  // namespace tandem::kernels::cuda
