// Decompositions through cuSOLVER, a matrix at a time; many small ones are left to our own kernels (decompose.cu) and to linalg_many.cu.
// Each is copied into the workspace column by column, as cuSOLVER wants it, worked on there, and what is asked for is copied out by the
// kernels of copy.cu. What cuSOLVER finds wrong stands in a number on the GPU, which a kernel of one thread reports.
#include "kernels/cuda/decompose.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/vendor/converged.cuh"
#include "kernels/cuda/vendor/cusolver.h"

namespace tandem::kernels::cuda::vendor {
namespace {

/// What one matrix is worked on with: offsets into the workspace.
struct Layout {
  int64_t m, n, k;  // the matrix as it is worked on: an svd of a wide one works on its transpose
  int64_t u, v;     // columns of the left vectors and rows of the right ones that are wanted, of the matrix worked on
  bool transposed = false;
  size_t matrix, vector, left, right, pivots, info, buffer, device_bytes = 0, host_bytes = 0, bytes = 0;
};

cudaDataType type_of(DType dtype) { return dtype == DType::Float64 ? CUDA_R_64F : CUDA_R_32F; }

int64_t last_size(const View& v, int from_end) { return v.data ? v.sizes[v.ndim - from_end] : 0; }

Layout layout_of(CusolverState& state, Decomposition kind, const View& a, const View& c, const View& in) {
  Layout l{};
  l.m = in.sizes[in.ndim - 2];
  l.n = in.sizes[in.ndim - 1];
  const bool svd = kind == Decomposition::Svd;
  l.transposed = svd && l.m < l.n;
  l.u = svd || kind == Decomposition::Qr ? last_size(a, 1) : 0;
  l.v = svd ? last_size(c, 2) : 0;
  if (l.transposed) {
    std::swap(l.m, l.n);
    std::swap(l.u, l.v);
  }
  l.k = l.m < l.n ? l.m : l.n;
  const size_t element = size_of(in.dtype);
  const auto take = [&](int64_t count, size_t size) {
    const size_t at = l.bytes;
    l.bytes += (static_cast<size_t>(count > 0 ? count : 1) * size + 255) / 256 * 256;
    return at;
  };
  const int64_t columns = kind == Decomposition::Qr && l.u > l.n ? l.u : l.n;
  l.matrix = take(l.m * columns, element);
  l.vector = take(l.k, element);
  if (svd) {
    l.left = take(l.m * l.u, element);
    l.right = take(l.n * l.n, element);
  }
  l.pivots = take(l.k, sizeof(int64_t));
  l.info = take(1, sizeof(int));
  if (l.k > 0 && !state.why_not()) {
    const cudaDataType type = type_of(in.dtype);
    const auto job = static_cast<signed char>(l.u == 0 ? 'N' : l.u > l.k ? 'A' : 'S');
    int work = 0;
    switch (kind) {
      case Decomposition::Cholesky:
        solver().cusolverDnXpotrf_bufferSize(state.handle, state.params, CUBLAS_FILL_MODE_LOWER, l.n, type, nullptr, l.n, type,
                                             &l.device_bytes, &l.host_bytes);
        break;
      case Decomposition::Lu:
        solver().cusolverDnXgetrf_bufferSize(state.handle, state.params, l.m, l.n, type, nullptr, l.m, type, &l.device_bytes,
                                             &l.host_bytes);
        break;
      case Decomposition::Qr:
        solver().cusolverDnXgeqrf_bufferSize(state.handle, state.params, l.m, l.n, type, nullptr, l.m, type, nullptr, type, &l.device_bytes,
                                             &l.host_bytes);
        if (in.dtype == DType::Float64)
          solver().cusolverDnDorgqr_bufferSize(state.handle, static_cast<int>(l.m), static_cast<int>(l.u), static_cast<int>(l.k), nullptr,
                                               static_cast<int>(l.m), nullptr, &work);
        else
          solver().cusolverDnSorgqr_bufferSize(state.handle, static_cast<int>(l.m), static_cast<int>(l.u), static_cast<int>(l.k), nullptr,
                                               static_cast<int>(l.m), nullptr, &work);
        if (static_cast<size_t>(work) * element > l.device_bytes) l.device_bytes = static_cast<size_t>(work) * element;
        break;
      case Decomposition::Eigh:
        solver().cusolverDnXsyevd_bufferSize(state.handle, state.params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, l.n, type,
                                             nullptr, l.n, type, nullptr, type, &l.device_bytes, &l.host_bytes);
        break;
      case Decomposition::Svd:
        solver().cusolverDnXgesvd_bufferSize(state.handle, state.params, job, job, l.m, l.n, type, nullptr, l.m, type, nullptr, type,
                                             nullptr, l.m, type, nullptr, l.n, type, &l.device_bytes, &l.host_bytes);
        break;
    }
  }
  l.buffer = take(static_cast<int64_t>(l.device_bytes), 1);
  return l;
}

/// Reports what cuSOLVER says of a matrix.
struct Judge {
  const int* info;
  int64_t name;
  Trouble trouble;
  Reporter report;
  TD_DEVICE void operator()(int64_t) const {
    if (*info != 0) report(trouble, name, *info);
  }
};

/// A triangle of a column-major matrix, zeros beside it.
template <class T>
struct Triangle {
  T* out;
  const T* in;
  int64_t columns, row, column, leading, rows_there;
  bool lower;
  TD_DEVICE void operator()(int64_t at) const {
    const int64_t i = at / columns, j = at % columns;
    const bool there = lower ? j <= i : i <= j && i < rows_there;
    out[i * row + j * column] = there ? in[j * leading + i] : T(0);
  }
};

/// Pivots as 32-bit numbers, and 1 or -1 for how many rows they swap.
template <class T>
struct Pivots {
  int32_t* out;
  int64_t stride;
  T* sign;
  const int64_t* pivots;
  int64_t count;
  TD_DEVICE void operator()(int64_t) const {
    T parity = 1;
    for (int64_t i = 0; i < count; ++i) {
      out[i * stride] = static_cast<int32_t>(pivots[i]);
      if (pivots[i] != i + 1) parity = -parity;
    }
    *sign = parity;
  }
};

/// 1 on the diagonal of a matrix, 0 elsewhere.
template <class T>
struct Identity {
  T* out;
  int64_t columns, row, column;
  TD_DEVICE void operator()(int64_t at) const {
    const int64_t i = at / columns, j = at % columns;
    out[i * row + j * column] = i == j ? T(1) : T(0);
  }
};

/// Matrix number `index` of a view with `batch` dimensions before those of the matrix.
template <class V>
V matrix_at(V view, int batch, int64_t index) {
  if (!view.data) return view;
  const int64_t offset = offset_of(index, batch, view.sizes, view.strides);
  view.data = static_cast<char*>(view.data) + offset * static_cast<int64_t>(size_of(view.dtype));
  view.ndim -= batch;
  for (int d = 0; d < view.ndim; ++d) {
    view.sizes[d] = view.sizes[d + batch];
    view.strides[d] = view.strides[d + batch];
  }
  return view;
}

/// The column-major matrix (rows, columns) in the workspace, or its transpose as a row-major reader sees it.
template <class V>
V columns_of(void* data, DType dtype, int64_t rows, int64_t columns, int64_t leading, bool transposed = false) {
  V v;
  v.data = data;
  v.dtype = dtype;
  v.ndim = 2;
  v.sizes[0] = transposed ? columns : rows;
  v.sizes[1] = transposed ? rows : columns;
  v.strides[0] = transposed ? leading : 1;
  v.strides[1] = transposed ? 1 : leading;
  return v;
}

template <class T>
class Run {
 public:
  Run(const Queue& queue, CusolverState& state, const Layout& l, DType dtype, void* workspace)
      : queue_(queue), state_(state), l_(l), dtype_(dtype), type_(type_of(dtype)), memory_(static_cast<char*>(workspace)) {
    if (state.host.size() < l.host_bytes) state.host.resize(l.host_bytes);
  }

  void cholesky(const Out& a, const View& in, int64_t name) {
    if (l_.n == 0) return;
    take(in);
    call("cusolverDnXpotrf", solver().cusolverDnXpotrf(state_.handle, state_.params, CUBLAS_FILL_MODE_LOWER, l_.n, type_, matrix(), l_.n,
                                                       type_, buffer(), l_.device_bytes, state_.host.data(), l_.host_bytes, info()));
    judge(Trouble::NotPositive, name);
    for_each(queue_, l_.n * l_.n, Triangle<T>{a.as<T>(), matrix(), l_.n, a.strides[0], a.strides[1], l_.n, l_.n, true});
  }

  void lu(const Out& a, const Out& pivots, const Out& sign, const View& in, bool strict, int64_t name) {
    if (l_.k > 0) {
      take(in);
      call("cusolverDnXgetrf",
           solver().cusolverDnXgetrf(state_.handle, state_.params, l_.m, l_.n, type_, matrix(), l_.m, part<int64_t>(l_.pivots), type_,
                                     buffer(), l_.device_bytes, state_.host.data(), l_.host_bytes, info()));
      if (strict) judge(Trouble::Singular, name);
      cuda::copy(queue_, a, columns_of<View>(matrix(), dtype_, l_.m, l_.n, l_.m));
    }
    for_each(queue_, 1,
             Pivots<T>{pivots.as<int32_t>(), pivots.ndim > 0 ? pivots.strides[0] : 1, sign.as<T>(), part<int64_t>(l_.pivots), l_.k});
  }

  void qr(const Out& q, const Out& r, const View& in) {
    if (l_.k == 0) return identity(q);
    take(in);
    call("cusolverDnXgeqrf",
         solver().cusolverDnXgeqrf(state_.handle, state_.params, l_.m, l_.n, type_, matrix(), l_.m, type_, part<T>(l_.vector), type_,
                                   buffer(), l_.device_bytes, state_.host.data(), l_.host_bytes, info()));
    for_each(queue_, r.sizes[0] * l_.n, Triangle<T>{r.as<T>(), matrix(), l_.n, r.strides[0], r.strides[1], l_.m, l_.k, false});
    const int m = static_cast<int>(l_.m), columns = static_cast<int>(l_.u), k = static_cast<int>(l_.k);
    const int work = static_cast<int>(l_.device_bytes / sizeof(T));
    if constexpr (sizeof(T) == 8)
      call("cusolverDnDorgqr", solver().cusolverDnDorgqr(state_.handle, m, columns, k, matrix(), m, part<T>(l_.vector),
                                                         static_cast<T*>(buffer()), work, info()));
    else
      call("cusolverDnSorgqr", solver().cusolverDnSorgqr(state_.handle, m, columns, k, matrix(), m, part<T>(l_.vector),
                                                         static_cast<T*>(buffer()), work, info()));
    cuda::copy(queue_, q, columns_of<View>(matrix(), dtype_, l_.m, l_.u, l_.m));
  }

  void eigh(const Out& values, const Out& vectors, const View& in, int64_t name) {
    if (l_.n == 0) return;
    take(in);
    call("cusolverDnXsyevd",
         solver().cusolverDnXsyevd(state_.handle, state_.params, vectors.data ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR,
                                   CUBLAS_FILL_MODE_LOWER, l_.n, type_, matrix(), l_.n, type_, part<T>(l_.vector), type_, buffer(),
                                   l_.device_bytes, state_.host.data(), l_.host_bytes, info()));
    judge_values(l_.n, name);
    row(values);
    if (vectors.data) cuda::copy(queue_, vectors, columns_of<View>(matrix(), dtype_, l_.n, l_.n, l_.n));
  }

  /// U and Vᵀ of the matrix worked on are Vᵀ and U, transposed, where it is the transpose.
  void svd(const Out& u, const Out& values, const Out& vh, const View& in, int64_t name) {
    if (l_.k == 0) {
      if (u.data) identity(u);
      if (vh.data) identity(vh);
      return;
    }
    take(in);
    const auto job = static_cast<signed char>(!u.data ? 'N' : l_.u > l_.k ? 'A' : 'S');
    call("cusolverDnXgesvd", solver().cusolverDnXgesvd(state_.handle, state_.params, job, job, l_.m, l_.n, type_, matrix(), l_.m, type_,
                                                       part<T>(l_.vector), type_, part<T>(l_.left), l_.m, type_, part<T>(l_.right), l_.n,
                                                       type_, buffer(), l_.device_bytes, state_.host.data(), l_.host_bytes, info()));
    judge_values(l_.k, name);
    row(values);
    if (!u.data) return;
    const Out& left = l_.transposed ? vh : u;
    const Out& right = l_.transposed ? u : vh;
    cuda::copy(queue_, left, columns_of<View>(part<T>(l_.left), dtype_, l_.m, l_.u, l_.m, l_.transposed));
    cuda::copy(queue_, right, columns_of<View>(part<T>(l_.right), dtype_, l_.v, l_.n, l_.n, l_.transposed));
  }

 private:
  template <class P>
  P* part(size_t offset) {
    return reinterpret_cast<P*>(memory_ + offset);
  }
  T* matrix() { return part<T>(l_.matrix); }
  int* info() { return part<int>(l_.info); }
  void* buffer() { return memory_ + l_.buffer; }

  void take(const View& in) { cuda::copy(queue_, columns_of<Out>(matrix(), dtype_, l_.m, l_.n, l_.m, l_.transposed), in); }
  void call(const char* name, cusolverStatus_t status) {
    if (status != CUSOLVER_STATUS_SUCCESS) report(queue_, solver().library.failed(name, text_of(status)));
  }
  void judge(Trouble trouble, int64_t name) { for_each(queue_, 1, Judge{info(), name, trouble, Reporter(queue_)}); }
  void judge_values(int64_t count, int64_t name) {
    for_each(queue_, 1, Converged<T>{info(), part<T>(l_.vector), count, name, Reporter(queue_)});
  }
  void identity(const Out& out) {
    for_each(queue_, out.sizes[0] * out.sizes[1], Identity<T>{out.as<T>(), out.sizes[1], out.strides[0], out.strides[1]});
  }
  void row(const Out& values) {
    View from;
    from.data = part<T>(l_.vector);
    from.dtype = dtype_;
    from.ndim = 1;
    from.sizes[0] = l_.k;
    from.strides[0] = 1;
    cuda::copy(queue_, values, from);
  }

  const Queue& queue_;
  CusolverState& state_;
  const Layout& l_;
  DType dtype_;
  cudaDataType type_;
  char* memory_;
};

template <class T>
void decompose_all(const Queue& queue, CusolverState& state, Decomposition kind, const Out& a, const Out& b, const Out& c, const View& in,
                   bool strict, void* workspace) {
  const Layout layout = layout_of(state, kind, a, c, in);
  Run<T> run(queue, state, layout, in.dtype, workspace);
  const int batch = in.ndim - 2;
  int64_t count = 1;
  for (int d = 0; d < batch; ++d) count *= in.sizes[d];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t name = batch > 0 ? i : -1;
    const View from = matrix_at(in, batch, i);
    const Out first = matrix_at(a, batch, i), second = matrix_at(b, batch, i), third = matrix_at(c, batch, i);
    switch (kind) {
      case Decomposition::Cholesky: run.cholesky(first, from, name); break;
      case Decomposition::Lu: run.lu(first, second, third, from, strict, name); break;
      case Decomposition::Qr: run.qr(first, second, from); break;
      case Decomposition::Eigh: run.eigh(first, second, from, name); break;
      case Decomposition::Svd: run.svd(first, second, third, from, name); break;
    }
  }
}

}  // namespace

tandem::cuda::Library describe_cusolver() {
  int version = 0;
  if (solver().cusolverGetVersion) (void)solver().cusolverGetVersion(&version);
  return solver().library.description(version_text(static_cast<size_t>(version), 1000));
}

size_t decompose_workspace(Decomposition kind, const View& a, const View& c, const View& in) {
  if (is_of_many(kind, in)) return decompose_many_workspace(in);
  const int device = device_of(in.data);
  const CudaDeviceGuard current(device);
  CusolverState& owner = state_of<CusolverState>(device);
  const std::lock_guard lock(owner.mutex);
  if (is_one_call(kind, in)) return one_call_workspace(owner, kind, in);
  return layout_of(owner, kind, a, c, in).bytes;
}

void decompose(const Queue& queue, Decomposition kind, Out a, Out b, Out c, View in, bool strict, void* workspace) {
  if (in.dtype != DType::Float32 && in.dtype != DType::Float64)
    return queue.status->report(Trouble::Unsupported, static_cast<int64_t>(in.dtype));
  if (is_of_many(kind, in)) return decompose_many(queue, kind, a, b, c, in, strict, workspace);
  CusolverState& owner = state_of<CusolverState>(queue.device);
  const std::lock_guard lock(owner.mutex);
  if (const char* const why = owner.why_not()) return report(queue, why);
  if (const cusolverStatus_t status = solver().cusolverDnSetStream(owner.handle, stream_of(queue)); status != CUSOLVER_STATUS_SUCCESS)
    return report(queue, solver().library.failed("cusolverDnSetStream", text_of(status)));
  if (is_one_call(kind, in)) return decompose_in_one_call(queue, owner, kind, a, b, c, in, workspace);
  if (in.dtype == DType::Float64) decompose_all<double>(queue, owner, kind, a, b, c, in, strict, workspace);
  else decompose_all<float>(queue, owner, kind, a, b, c, in, strict, workspace);
}

}  // namespace tandem::kernels::cuda::vendor
