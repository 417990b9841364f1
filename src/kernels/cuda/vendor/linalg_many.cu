// Eigenvalues and singular values of many matrices of up to 32 rows and columns: cuSOLVER's Jacobi routines take all of them in one call,
// column by column, one behind the other in the workspace.
#include <algorithm>

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/vendor/converged.cuh"
#include "kernels/cuda/vendor/cusolver.h"

namespace tandem::kernels::cuda::vendor {
namespace {

/// What a batch is worked on with: offsets into the workspace. Vectors are whole, (m, m) and (n, n).
struct Layout {
  int count, m, n, k;
  cusolverEigMode_t mode;
  int work = 0;  // elements
  size_t matrix, values, left = 0, right = 0, info, buffer, bytes = 0;

  Layout(CusolverState& state, Decomposition kind, bool vectors, const View& in)
      : count(1),
        m(static_cast<int>(in.sizes[in.ndim - 2])),
        n(static_cast<int>(in.sizes[in.ndim - 1])),
        k(std::min(m, n)),
        mode(vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR) {
    for (int d = 0; d + 2 < in.ndim; ++d) count *= static_cast<int>(in.sizes[d]);
    const size_t element = size_of(in.dtype);
    const auto take = [&](size_t elements, size_t size) {
      const size_t at = bytes;
      bytes += align_up(static_cast<size_t>(count) * elements * size);
      return at;
    };
    const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(n);
    matrix = take(rows * columns, element);
    values = take(static_cast<size_t>(k), element);
    if (kind == Decomposition::Svd) {
      left = take(rows * rows, element);
      right = take(columns * columns, element);
    }
    info = take(1, sizeof(int));
    buffer = bytes;
    if (state.why_not()) return;
    Cusolver& f = solver();
    const bool wide = in.dtype == DType::Float64;
    if (kind == Decomposition::Eigh && wide)
      f.cusolverDnDsyevjBatched_bufferSize(state.handle, mode, CUBLAS_FILL_MODE_LOWER, n, nullptr, n, nullptr, &work, state.eigen, count);
    else if (kind == Decomposition::Eigh)
      f.cusolverDnSsyevjBatched_bufferSize(state.handle, mode, CUBLAS_FILL_MODE_LOWER, n, nullptr, n, nullptr, &work, state.eigen, count);
    else if (wide)
      f.cusolverDnDgesvdjBatched_bufferSize(state.handle, mode, m, n, nullptr, m, nullptr, nullptr, m, nullptr, n, &work, state.singular,
                                            count);
    else
      f.cusolverDnSgesvdjBatched_bufferSize(state.handle, mode, m, n, nullptr, m, nullptr, nullptr, m, nullptr, n, &work, state.singular,
                                            count);
    bytes += align_up(static_cast<size_t>(work) * element);
  }
};

/// In the workspace, what stands for a view of a batch: of each matrix of `size` elements the first rows and columns that the view has, by
/// these strides.
template <class V>
V part_of_each(const V& like, void* data, int64_t size, std::initializer_list<int64_t> strides) {
  V part = like;
  part.data = data;
  int64_t step = size;
  const int batch = like.ndim - static_cast<int>(strides.size());
  for (int d = batch - 1; d >= 0; --d) {
    part.strides[d] = step;
    step *= like.sizes[d];
  }
  std::copy(strides.begin(), strides.end(), part.strides + batch);
  return part;
}

template <class T>
void decompose_as(const Queue& queue, CusolverState& state, Decomposition kind, const Out& a, const Out& b, const Out& c, const View& in,
                  void* workspace) {
  const bool svd = kind == Decomposition::Svd;
  const Layout l(state, kind, svd ? a.data != nullptr : b.data != nullptr, in);
  const auto at = [&]<class P>(size_t offset, P*) { return reinterpret_cast<P*>(static_cast<char*>(workspace) + offset); };
  T* const matrix = at(l.matrix, static_cast<T*>(nullptr));
  T* const values = at(l.values, static_cast<T*>(nullptr));
  T* const left = at(l.left, static_cast<T*>(nullptr));
  T* const right = at(l.right, static_cast<T*>(nullptr));
  T* const buffer = at(l.buffer, static_cast<T*>(nullptr));
  int* const info = at(l.info, static_cast<int*>(nullptr));
  cuda::copy(queue, part_of_each(Out{in}, matrix, int64_t{l.m} * l.n, {1, l.m}), in);
  Cusolver& f = solver();
  const auto done = [&](const char* name, cusolverStatus_t status) {
    if (status != CUSOLVER_STATUS_SUCCESS) report(queue, f.library.failed(name, text_of(status)));
    return status == CUSOLVER_STATUS_SUCCESS;
  };
  const bool good = [&] {
    if constexpr (sizeof(T) == 8) {
      if (svd)
        return done("cusolverDnDgesvdjBatched", f.cusolverDnDgesvdjBatched(state.handle, l.mode, l.m, l.n, matrix, l.m, values, left, l.m,
                                                                           right, l.n, buffer, l.work, info, state.singular, l.count));
      return done("cusolverDnDsyevjBatched", f.cusolverDnDsyevjBatched(state.handle, l.mode, CUBLAS_FILL_MODE_LOWER, l.n, matrix, l.n,
                                                                       values, buffer, l.work, info, state.eigen, l.count));
    } else {
      if (svd)
        return done("cusolverDnSgesvdjBatched", f.cusolverDnSgesvdjBatched(state.handle, l.mode, l.m, l.n, matrix, l.m, values, left, l.m,
                                                                           right, l.n, buffer, l.work, info, state.singular, l.count));
      return done("cusolverDnSsyevjBatched", f.cusolverDnSsyevjBatched(state.handle, l.mode, CUBLAS_FILL_MODE_LOWER, l.n, matrix, l.n,
                                                                       values, buffer, l.work, info, state.eigen, l.count));
    }
  }();
  if (!good) return;
  for_each(queue, l.count, Converged<T>{info, values, l.k, 0, Reporter(queue)});
  const Out &to_values = svd ? b : a, &vectors = svd ? a : b;
  cuda::copy(queue, to_values, part_of_each<View>(to_values, values, l.k, {1}));
  if (!vectors.data) return;
  if (!svd) return cuda::copy(queue, vectors, part_of_each<View>(vectors, matrix, int64_t{l.n} * l.n, {1, l.n}));
  cuda::copy(queue, a, part_of_each<View>(a, left, int64_t{l.m} * l.m, {1, l.m}));
  cuda::copy(queue, c, part_of_each<View>(c, right, int64_t{l.n} * l.n, {l.n, 1}));  // cuSOLVER gives V, whose columns are rows of Vᵀ
}

}  // namespace

bool is_one_call(Decomposition kind, const View& in) {
  if ((kind != Decomposition::Eigh && kind != Decomposition::Svd) || in.ndim < 3) return false;
  int64_t count = 1;
  for (int d = 0; d + 2 < in.ndim; ++d) count *= in.sizes[d];
  const auto [smaller, larger] = std::minmax(in.sizes[in.ndim - 2], in.sizes[in.ndim - 1]);
  return smaller > 0 && larger <= 32 && count > 1 && count < (1 << 20);
}

void decompose_in_one_call(const Queue& queue, CusolverState& state, Decomposition kind, const Out& a, const Out& b, const Out& c,
                           const View& in, void* workspace) {
  if (in.dtype == DType::Float64) decompose_as<double>(queue, state, kind, a, b, c, in, workspace);
  else decompose_as<float>(queue, state, kind, a, b, c, in, workspace);
}

size_t one_call_workspace(CusolverState& state, Decomposition kind, const View& in) {
  return std::max(Layout(state, kind, true, in).bytes, Layout(state, kind, false, in).bytes);
}

}  // namespace tandem::kernels::cuda::vendor
