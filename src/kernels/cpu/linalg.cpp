// Decompositions and solutions of linear equations, by LAPACK. Each matrix is copied into the workspace in LAPACK's column-major order,
// worked on there, and copied out: the copies are small beside the work. A call holds LAPACK's mutex for its whole batch.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/entries.h"
#include "kernels/cpu/lapack.h"
#include "kernels/cpu/workspace.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kBlock = 64;  // columns that LAPACK's blocked algorithms take at a time, at most

/// The last two dimensions of a view, or the last one as a column.
template <class T>
struct Matrix {
  T* data = nullptr;
  int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

  T& at(int64_t i, int64_t j) const { return data[i * row_stride + j * column_stride]; }
};

int64_t matrices(const View& in) {
  int64_t n = 1;
  for (int d = 0; d < in.ndim - 2; ++d) n *= in.sizes[d];
  return n;
}

/// Matrix number `index` of a view with `batch` dimensions before those of the matrix.
template <class T>
Matrix<T> matrix_at(const View& view, int batch, int64_t index) {
  Matrix<T> m;
  if (!view.data) return m;
  m.data = view.as<T>() + offset_of(index, batch, view.sizes, view.strides);
  const int own = view.ndim - batch;
  m.rows = own > 0 ? view.sizes[batch] : 1;
  m.row_stride = own > 0 ? view.strides[batch] : 1;
  m.columns = own > 1 ? view.sizes[batch + 1] : 1;
  m.column_stride = own > 1 ? view.strides[batch + 1] : 1;
  return m;
}

/// Into column-major order; false where a value is not finite.
template <class T>
bool pack(T* to, const Matrix<T>& from) {
  bool finite = true;
  for (int64_t j = 0; j < from.columns; ++j)
    for (int64_t i = 0; i < from.rows; ++i) {
      const T value = from.at(i, j);
      finite &= std::isfinite(value);
      to[j * from.rows + i] = value;
    }
  return finite;
}

template <class T>
void unpack(const Matrix<T>& to, const T* from, int64_t leading) {
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t j = 0; j < to.columns; ++j) to.at(i, j) = from[j * leading + i];
}

template <class T>
void set_identity(const Matrix<T>& to) {
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t j = 0; j < to.columns; ++j) to.at(i, j) = i == j ? T(1) : T(0);
}

/// As LAPACK takes it. Sizes have been checked to fit; more scratch than fits would not be used.
LapackInt number(int64_t n) { return static_cast<LapackInt>(std::min<int64_t>(n, INT32_MAX)); }
LapackInt leading(int64_t rows) { return static_cast<LapackInt>(std::max<int64_t>(rows, 1)); }

/// What a decomposition works on.
template <class T>
struct Scratch {
  T *matrix = nullptr, *vector = nullptr, *left = nullptr, *right = nullptr, *work = nullptr;
  LapackInt* integers = nullptr;
  int64_t work_size = 1, integers_size = 1;

  Scratch(WorkspaceParts& parts, Decomposition kind, int64_t m, int64_t n, int64_t left_columns, int64_t right_rows) {
    const int64_t k = std::min(m, n), longer = std::max(m, n);
    matrix = parts.take<T>(m * std::max(n, kind == Decomposition::Qr ? left_columns : 0));
    switch (kind) {
      case Decomposition::Cholesky: return;
      case Decomposition::Lu: integers_size = k; break;
      case Decomposition::Qr: work_size = longer * kBlock; break;
      case Decomposition::Eigh:
        work_size = std::max(1 + 6 * n + 2 * n * n, n * (kBlock + 2));
        integers_size = 3 + 5 * n;
        break;
      case Decomposition::Svd:
        work_size = 4 * k * k + 10 * k + longer + (longer + k) * kBlock;
        integers_size = 8 * k;
        left = parts.take<T>(m * left_columns);
        right = parts.take<T>(right_rows * n);
        break;
    }
    vector = parts.take<T>(k);
    work = parts.take<T>(work_size);
    integers = parts.take<LapackInt>(integers_size);
  }
};

int64_t last_size(const View& v, int from_end) { return v.data ? v.sizes[v.ndim - from_end] : 0; }

template <class T>
Scratch<T> scratch_for(WorkspaceParts& parts, Decomposition kind, const View& a, const View& c, const View& in) {
  const bool svd = kind == Decomposition::Svd, sides = svd || kind == Decomposition::Qr;
  return Scratch<T>(parts, kind, in.sizes[in.ndim - 2], in.sizes[in.ndim - 1], sides ? last_size(a, 1) : 0, svd ? last_size(c, 2) : 0);
}

template <class T>
void cholesky(const Lapack<T>& f, const Queue& queue, int64_t name, const Matrix<T>& a, const Matrix<T>& in, const Scratch<T>& s) {
  pack(s.matrix, in);
  const LapackInt n = number(in.rows);
  LapackInt info = 0;
  if (n > 0) f.potrf("L", &n, s.matrix, &n, &info, 1);
  if (info > 0) queue.status->report(Trouble::NotPositive, name, info);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) a.at(i, j) = j <= i ? s.matrix[j * in.rows + i] : T(0);
}

template <class T>
void lu(const Lapack<T>& f, const Queue& queue, int64_t name, const Matrix<T>& a, const Matrix<LapackInt>& pivots, const Matrix<T>& sign,
        const Matrix<T>& in, bool strict, const Scratch<T>& s) {
  pack(s.matrix, in);
  const LapackInt m = number(in.rows), n = number(in.columns), ld = leading(m);
  LapackInt info = 0;
  if (m > 0 && n > 0) f.getrf(&m, &n, s.matrix, &ld, s.integers, &info);
  if (info > 0 && strict) queue.status->report(Trouble::Singular, name, info);
  unpack(a, s.matrix, ld);
  T parity = 1;
  for (int64_t i = 0; i < std::min(in.rows, in.columns); ++i) {
    pivots.at(i, 0) = s.integers[i];
    if (s.integers[i] != i + 1) parity = -parity;
  }
  sign.at(0, 0) = parity;
}

template <class T>
void qr(const Lapack<T>& f, const Matrix<T>& q, const Matrix<T>& r, const Matrix<T>& in, const Scratch<T>& s) {
  const LapackInt m = number(in.rows), n = number(in.columns), k = std::min(m, n), columns = number(q.columns), ld = leading(m);
  const LapackInt lwork = number(s.work_size);
  if (k == 0) return set_identity(q);
  LapackInt info = 0;
  pack(s.matrix, in);
  f.geqrf(&m, &n, s.matrix, &ld, s.vector, s.work, &lwork, &info);
  for (int64_t i = 0; i < r.rows; ++i)
    for (int64_t j = 0; j < n; ++j) r.at(i, j) = i <= j && i < k ? s.matrix[j * m + i] : T(0);
  f.orgqr(&m, &columns, &k, s.matrix, &ld, s.vector, s.work, &lwork, &info);
  unpack(q, s.matrix, ld);
}

template <class T>
void eigh(const Lapack<T>& f, const Queue& queue, int64_t name, const Matrix<T>& values, const Matrix<T>& vectors, const Matrix<T>& in,
          const Scratch<T>& s) {
  const LapackInt n = number(in.rows), lwork = number(s.work_size), liwork = number(s.integers_size);
  if (n == 0) return;
  LapackInt info = 1;
  if (pack(s.matrix, in))
    f.syevd(vectors.data ? "V" : "N", "L", &n, s.matrix, &n, s.vector, s.work, &lwork, s.integers, &liwork, &info, 1, 1);
  if (info != 0) return queue.status->report(Trouble::NoConvergence, name);
  unpack(values, s.vector, n);
  if (vectors.data) unpack(vectors, s.matrix, n);
}

template <class T>
void svd(const Lapack<T>& f, const Queue& queue, int64_t name, const Matrix<T>& u, const Matrix<T>& values, const Matrix<T>& vh,
         const Matrix<T>& in, const Scratch<T>& s) {
  const LapackInt m = number(in.rows), n = number(in.columns), k = std::min(m, n), lwork = number(s.work_size), lda = leading(m);
  if (k == 0) {
    if (u.data) set_identity(u);
    if (vh.data) set_identity(vh);
    return;
  }
  const LapackInt ldu = leading(m), ldv = leading(vh.rows);
  const char* job = !u.data ? "N" : u.columns > k || vh.rows > k ? "A" : "S";
  LapackInt info = 1;
  if (pack(s.matrix, in)) f.gesdd(job, &m, &n, s.matrix, &lda, s.vector, s.left, &ldu, s.right, &ldv, s.work, &lwork, s.integers, &info, 1);
  if (info != 0) return queue.status->report(Trouble::NoConvergence, name);
  unpack(values, s.vector, k);
  if (u.data) unpack(u, s.left, ldu);
  if (vh.data) unpack(vh, s.right, ldv);
}

template <class T>
void decompose_all(const Queue& queue, Decomposition kind, const Out& a, const Out& b, const Out& c, const View& in, bool strict,
                   void* workspace) {
  const std::lock_guard lock(lapack_mutex());
  const Lapack<T>* f = lapack<T>();
  if (!f) return queue.status->report(Trouble::Library, -1);
  WorkspaceParts parts(workspace);
  const Scratch<T> s = scratch_for<T>(parts, kind, a, c, in);
  const int batch = in.ndim - 2;
  for (int64_t i = 0, count = matrices(in); i < count; ++i) {
    const int64_t name = batch > 0 ? i : -1;
    const auto from = matrix_at<T>(in, batch, i);
    const auto first = matrix_at<T>(a, batch, i);
    switch (kind) {
      case Decomposition::Cholesky: cholesky(*f, queue, name, first, from, s); break;
      case Decomposition::Lu:
        lu(*f, queue, name, first, matrix_at<LapackInt>(b, batch, i), matrix_at<T>(c, batch, i), from, strict, s);
        break;
      case Decomposition::Qr: qr(*f, first, matrix_at<T>(b, batch, i), from, s); break;
      case Decomposition::Eigh: eigh(*f, queue, name, first, matrix_at<T>(b, batch, i), from, s); break;
      case Decomposition::Svd: svd(*f, queue, name, first, matrix_at<T>(b, batch, i), matrix_at<T>(c, batch, i), from, s); break;
    }
  }
}

template <class T>
void solve_all(const Queue& queue, Solver kind, const Out& out, const View& a, const View& pivots, const View& b, void* workspace) {
  const std::lock_guard lock(lapack_mutex());
  const Lapack<T>* f = lapack<T>();
  if (!f) return queue.status->report(Trouble::Library, -1);
  const int batch = a.ndim - 2;
  const int64_t rows = a.sizes[batch], columns = b.sizes[batch + 1];
  WorkspaceParts parts(workspace);
  T* left = parts.take<T>(rows * rows);
  T* right = parts.take<T>(rows * columns);
  auto* swaps = parts.take<LapackInt>(rows);
  const LapackInt n = number(rows), k = number(columns);
  const bool upper = kind == Solver::UpperTriangle || kind == Solver::UpperUnitTriangle;
  const bool unit = kind == Solver::UpperUnitTriangle || kind == Solver::LowerUnitTriangle;
  for (int64_t i = 0, count = matrices(a); i < count; ++i) {
    pack(left, matrix_at<T>(a, batch, i));
    pack(right, matrix_at<T>(b, batch, i));
    const T one = 1;
    if (kind == Solver::Lu) {
      const auto from = matrix_at<LapackInt>(pivots, batch, i);
      for (int64_t r = 0; r < rows; ++r) swaps[r] = from.at(r, 0);
      LapackInt info = 0;
      f->getrs("N", &n, &k, left, &n, swaps, right, &n, &info, 1);
    } else {
      f->trsm("L", upper ? "U" : "L", "N", unit ? "U" : "N", &n, &k, &one, left, &n, right, &n, 1, 1, 1, 1);
    }
    unpack(matrix_at<T>(out, batch, i), right, rows);
  }
}

}  // namespace

void decompose(const Queue& queue, Decomposition kind, Out a, Out b, Out c, View in, bool strict, void* workspace) {
  if (in.dtype == DType::Float32) decompose_all<float>(queue, kind, a, b, c, in, strict, workspace);
  else if (in.dtype == DType::Float64) decompose_all<double>(queue, kind, a, b, c, in, strict, workspace);
  else queue.status->report(Trouble::Unsupported, static_cast<int64_t>(in.dtype));
}

size_t decompose_workspace(Decomposition kind, const View& a, const View& c, const View& in) {
  WorkspaceParts parts;
  if (in.dtype == DType::Float32) scratch_for<float>(parts, kind, a, c, in);
  else scratch_for<double>(parts, kind, a, c, in);
  return parts.bytes();
}

void solve(const Queue& queue, Solver kind, Out out, View a, View pivots, View b, void* workspace) {
  if (out.numel() == 0) return;
  if (out.dtype == DType::Float32) solve_all<float>(queue, kind, out, a, pivots, b, workspace);
  else if (out.dtype == DType::Float64) solve_all<double>(queue, kind, out, a, pivots, b, workspace);
  else queue.status->report(Trouble::Unsupported, static_cast<int64_t>(out.dtype));
}

size_t solve_workspace(const View& a, const View& b) {
  WorkspaceParts parts;
  const int64_t rows = a.sizes[a.ndim - 1], columns = b.sizes[b.ndim - 1];
  const auto count = [&]<class T>(T) {
    parts.take<T>(rows * rows);
    parts.take<T>(rows * columns);
    parts.take<LapackInt>(rows);
  };
  if (a.dtype == DType::Float32) count(float{});
  else count(double{});
  return parts.bytes();
}

}  // namespace tandem::kernels::cpu
