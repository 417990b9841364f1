// cuSOLVER's decompositions by LAPACK on the host. All of cuSOLVER wants a handle, and that a GPU: nothing of its own is called, but that
// it has the functions of these names and signatures.
#include <cusolverDn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <vector>

#include "kernels/cpu/lapack.h"
#include "kernels/cuda/walked/emulated/library.h"

namespace tandem::kernels::cuda::emulated {
namespace {

using cpu::Lapack;
using cpu::LapackInt;

/// What each routine says that it wants, and looks for when it is called.
constexpr size_t kDeviceBytes = 768, kHostBytes = 96;

LapackInt number(int64_t x) { return static_cast<LapackInt>(x); }

/// Calls f(routines, zero) for float or double.
template <class F>
cusolverStatus_t with_lapack(cudaDataType type, F f) {
  if (type != CUDA_R_32F && type != CUDA_R_64F) return CUSOLVER_STATUS_NOT_SUPPORTED;
  const std::lock_guard lock(cpu::lapack_mutex());
  const auto run = [&](auto zero) {
    const auto* const routines = cpu::lapack<decltype(zero)>();
    if (!routines) return CUSOLVER_STATUS_INTERNAL_ERROR;
    ++calls().decompositions;
    f(*routines, zero);
    return CUSOLVER_STATUS_SUCCESS;
  };
  return type == CUDA_R_64F ? run(0.0) : run(0.0F);
}

/// Whether there is as much workspace as was asked for; all of it is written to.
bool spoil(void* device, size_t device_bytes, void* host, size_t host_bytes) {
  if (device_bytes < kDeviceBytes || host_bytes < kHostBytes || !device || !host) return false;
  std::memset(device, kRubbish, device_bytes);
  std::memset(host, kRubbish, host_bytes);
  return true;
}

/// Eigenvalues and singular values are not found where a number is not finite: cuSOLVER says so, LAPACK needn't.
template <class T>
bool is_finite(const T* matrix, int64_t rows, int64_t columns, int64_t ld) {
  for (int64_t j = 0; j < columns; ++j)
    if (!std::all_of(matrix + j * ld, matrix + j * ld + rows, [](T x) { return std::isfinite(x); })) return false;
  return true;
}

cusolverStatus_t create(cusolverDnHandle_t* handle) {
  static int any = 0;
  *handle = reinterpret_cast<cusolverDnHandle_t>(&any);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t create_params(cusolverDnParams_t* params) {
  static int any = 0;
  *params = reinterpret_cast<cusolverDnParams_t>(&any);
  return CUSOLVER_STATUS_SUCCESS;
}
template <class Info>
cusolverStatus_t create_info(Info* info) {
  static int any = 0;
  *info = reinterpret_cast<Info>(&any);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t set_stream(cusolverDnHandle_t, cudaStream_t) {
  return fails("cusolverDnSetStream") ? CUSOLVER_STATUS_INTERNAL_ERROR : CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t want(size_t* device, size_t* host) {
  *device = kDeviceBytes;
  *host = kHostBytes;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t potrf_size(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, int64_t, cudaDataType, const void*, int64_t,
                            cudaDataType, size_t* device, size_t* host) {
  return want(device, host);
}
cusolverStatus_t getrf_size(cusolverDnHandle_t, cusolverDnParams_t, int64_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType,
                            size_t* device, size_t* host) {
  return want(device, host);
}
cusolverStatus_t geqrf_size(cusolverDnHandle_t, cusolverDnParams_t, int64_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType,
                            const void*, cudaDataType, size_t* device, size_t* host) {
  return want(device, host);
}
cusolverStatus_t syevd_size(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cublasFillMode_t, int64_t, cudaDataType, const void*,
                            int64_t, cudaDataType, const void*, cudaDataType, size_t* device, size_t* host) {
  return want(device, host);
}
cusolverStatus_t gesvd_size(cusolverDnHandle_t, cusolverDnParams_t, signed char, signed char, int64_t, int64_t, cudaDataType, const void*,
                            int64_t, cudaDataType, const void*, cudaDataType, const void*, int64_t, cudaDataType, const void*, int64_t,
                            cudaDataType, size_t* device, size_t* host) {
  return want(device, host);
}
template <class T>
cusolverStatus_t orgqr_size(cusolverDnHandle_t, int, int n, int, const T*, int, const T*, int* work) {
  *work = 64 * n;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t potrf(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t triangle, int64_t n, cudaDataType type, void* a, int64_t ld,
                       cudaDataType, void* device, size_t device_bytes, void* host, size_t host_bytes, int* info) {
  if (!spoil(device, device_bytes, host, host_bytes)) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_lapack(type, [&]<class T>(const Lapack<T>& f, T) {
    const LapackInt size = number(n), leading = number(ld);
    f.potrf(triangle == CUBLAS_FILL_MODE_LOWER ? "L" : "U", &size, static_cast<T*>(a), &leading, info, 1);
  });
}

cusolverStatus_t getrf(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, void* a, int64_t ld,
                       int64_t* pivots, cudaDataType, void* device, size_t device_bytes, void* host, size_t host_bytes, int* info) {
  if (!spoil(device, device_bytes, host, host_bytes)) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_lapack(type, [&]<class T>(const Lapack<T>& f, T) {
    const LapackInt rows = number(m), columns = number(n), leading = number(ld);
    std::vector<LapackInt> swapped(static_cast<size_t>(std::min(m, n)));
    f.getrf(&rows, &columns, static_cast<T*>(a), &leading, swapped.data(), info);
    std::copy(swapped.begin(), swapped.end(), pivots);
  });
}

cusolverStatus_t geqrf(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, void* a, int64_t ld, cudaDataType,
                       void* tau, cudaDataType, void* device, size_t device_bytes, void* host, size_t host_bytes, int* info) {
  if (!spoil(device, device_bytes, host, host_bytes)) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_lapack(type, [&]<class T>(const Lapack<T>& f, T) {
    const LapackInt rows = number(m), columns = number(n), leading = number(ld), length = 64 * std::max<LapackInt>(1, columns);
    std::vector<T> work(static_cast<size_t>(length));
    f.geqrf(&rows, &columns, static_cast<T*>(a), &leading, static_cast<T*>(tau), work.data(), &length, info);
  });
}

template <class T>
cusolverStatus_t orgqr(cusolverDnHandle_t, int m, int n, int k, T* a, int ld, const T* tau, T* work, int length, int* info) {
  if (length < 64 * n || m < n || n < k) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_lapack(sizeof(T) == sizeof(double) ? CUDA_R_64F : CUDA_R_32F, [&]<class As>(const Lapack<As>& f, As) {
    if constexpr (std::is_same_v<As, T>) f.orgqr(&m, &n, &k, a, &ld, tau, work, &length, info);
  });
}

cusolverStatus_t syevd(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t mode, cublasFillMode_t triangle, int64_t n,
                       cudaDataType type, void* a, int64_t ld, cudaDataType, void* values, cudaDataType, void* device, size_t device_bytes,
                       void* host, size_t host_bytes, int* info) {
  if (!spoil(device, device_bytes, host, host_bytes)) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_lapack(type, [&]<class T>(const Lapack<T>& f, T) {
    *info = 1;
    if (!is_finite(static_cast<T*>(a), n, n, ld)) return;
    const LapackInt size = number(n), leading = number(ld), length = 1 + 6 * size + 2 * size * size, integers = 3 + 5 * size;
    std::vector<T> work(static_cast<size_t>(length));
    std::vector<LapackInt> more(static_cast<size_t>(integers));
    f.syevd(mode == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N", triangle == CUBLAS_FILL_MODE_LOWER ? "L" : "U", &size, static_cast<T*>(a),
            &leading, static_cast<T*>(values), work.data(), &length, more.data(), &integers, info, 1, 1);
  });
}

/// As cuSOLVER's: not for matrices that are wider than high.
cusolverStatus_t gesvd(cusolverDnHandle_t, cusolverDnParams_t, signed char u_job, signed char v_job, int64_t m, int64_t n,
                       cudaDataType type, void* a, int64_t ld, cudaDataType, void* values, cudaDataType, void* u, int64_t ld_u,
                       cudaDataType, void* v, int64_t ld_v, cudaDataType, void* device, size_t device_bytes, void* host, size_t host_bytes,
                       int* info) {
  if (m < n || u_job != v_job || !spoil(device, device_bytes, host, host_bytes)) return CUSOLVER_STATUS_INVALID_VALUE;
  return with_lapack(type, [&]<class T>(const Lapack<T>& f, T) {
    *info = 1;
    if (!is_finite(static_cast<T*>(a), m, n, ld)) return;
    const char job = static_cast<char>(u_job);
    const LapackInt rows = number(m), columns = number(n), leading = number(ld), leading_u = number(ld_u), leading_v = number(ld_v);
    const LapackInt length = 4 * columns * columns + 8 * columns + 64 * (rows + columns);
    std::vector<T> work(static_cast<size_t>(length));
    std::vector<LapackInt> integers(static_cast<size_t>(8 * columns));
    f.gesdd(&job, &rows, &columns, static_cast<T*>(a), &leading, static_cast<T*>(values), static_cast<T*>(u), &leading_u,
            static_cast<T*>(v), &leading_v, work.data(), &length, integers.data(), info, 1);
  });
}

/// Of a batch, by Jacobi's method: of up to 32 rows and columns. The workspace in elements for each matrix.
constexpr int kJacobiWork = 80, kJacobiMost = 32;

template <class T>
cusolverStatus_t syevj_size(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int, const T*, int, const T*, int* work, syevjInfo_t,
                            int batch) {
  *work = kJacobiWork * batch;
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
cusolverStatus_t gesvdj_size(cusolverDnHandle_t, cusolverEigMode_t, int, int, const T*, int, const T*, const T*, int, const T*, int,
                             int* work, gesvdjInfo_t, int batch) {
  *work = kJacobiWork * batch;
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t syevj(cusolverDnHandle_t, cusolverEigMode_t mode, cublasFillMode_t triangle, int n, T* a, int ld, T* values, T* work,
                       int length, int* info, syevjInfo_t, int batch) {
  if (n < 1 || n > kJacobiMost || length < kJacobiWork * batch) return CUSOLVER_STATUS_INVALID_VALUE;
  std::memset(work, kRubbish, static_cast<size_t>(length) * sizeof(T));
  return with_lapack(sizeof(T) == sizeof(double) ? CUDA_R_64F : CUDA_R_32F, [&]<class As>(const Lapack<As>& f, As) {
    if constexpr (std::is_same_v<As, T>) {
      const LapackInt size = n, leading = ld, longest = 1 + 6 * size + 2 * size * size, integers = 3 + 5 * size;
      std::vector<T> own(static_cast<size_t>(longest));
      std::vector<LapackInt> more(static_cast<size_t>(integers));
      for (int i = 0; i < batch; ++i, a += int64_t{ld} * n, values += n) {
        info[i] = n + 1;
        if (!is_finite(a, n, n, ld)) continue;
        f.syevd(mode == CUSOLVER_EIG_MODE_VECTOR ? "V" : "N", triangle == CUBLAS_FILL_MODE_LOWER ? "L" : "U", &size, a, &leading, values,
                own.data(), &longest, more.data(), &integers, info + i, 1, 1);
      }
    }
  });
}

/// V, not its transpose.
template <class T>
cusolverStatus_t gesvdj(cusolverDnHandle_t, cusolverEigMode_t mode, int m, int n, T* a, int ld, T* values, T* u, int ld_u, T* v, int ld_v,
                        T* work, int length, int* info, gesvdjInfo_t, int batch) {
  if (std::min(m, n) < 1 || std::max(m, n) > kJacobiMost || length < kJacobiWork * batch) return CUSOLVER_STATUS_INVALID_VALUE;
  std::memset(work, kRubbish, static_cast<size_t>(length) * sizeof(T));
  return with_lapack(sizeof(T) == sizeof(double) ? CUDA_R_64F : CUDA_R_32F, [&]<class As>(const Lapack<As>& f, As) {
    if constexpr (std::is_same_v<As, T>) {
      const char job = mode == CUSOLVER_EIG_MODE_VECTOR ? 'A' : 'N';
      const LapackInt rows = m, columns = n, leading = ld, leading_u = ld_u, k = std::min(m, n);
      const LapackInt longest = 4 * k * k + 8 * k + 64 * (rows + columns);
      std::vector<T> own(static_cast<size_t>(longest)), transposed(static_cast<size_t>(n) * static_cast<size_t>(n));
      std::vector<LapackInt> integers(static_cast<size_t>(8 * k));
      for (int i = 0; i < batch; ++i, a += int64_t{ld} * n, values += k, u += int64_t{ld_u} * m, v += int64_t{ld_v} * n) {
        info[i] = k + 1;
        if (!is_finite(a, m, n, ld)) continue;
        f.gesdd(&job, &rows, &columns, a, &leading, values, u, &leading_u, transposed.data(), &columns, own.data(), &longest,
                integers.data(), info + i, 1);
        for (int row = 0; row < n && job == 'A'; ++row)
          for (int column = 0; column < n; ++column) v[row + column * ld_v] = transposed[static_cast<size_t>(column + row * n)];
      }
    }
  });
}

}  // namespace

void* cusolver_stand_in(std::string_view name) {
  static const std::vector<StandIn> all{
      in_place_of<decltype(::cusolverDnCreate)>("cusolverDnCreate", create),
      in_place_of<decltype(::cusolverDnCreateParams)>("cusolverDnCreateParams", create_params),
      in_place_of<decltype(::cusolverDnSetStream)>("cusolverDnSetStream", set_stream),
      in_place_of<decltype(::cusolverDnXpotrf_bufferSize)>("cusolverDnXpotrf_bufferSize", potrf_size),
      in_place_of<decltype(::cusolverDnXpotrf)>("cusolverDnXpotrf", potrf),
      in_place_of<decltype(::cusolverDnXgetrf_bufferSize)>("cusolverDnXgetrf_bufferSize", getrf_size),
      in_place_of<decltype(::cusolverDnXgetrf)>("cusolverDnXgetrf", getrf),
      in_place_of<decltype(::cusolverDnXgeqrf_bufferSize)>("cusolverDnXgeqrf_bufferSize", geqrf_size),
      in_place_of<decltype(::cusolverDnXgeqrf)>("cusolverDnXgeqrf", geqrf),
      in_place_of<decltype(::cusolverDnSorgqr_bufferSize)>("cusolverDnSorgqr_bufferSize", orgqr_size<float>),
      in_place_of<decltype(::cusolverDnDorgqr_bufferSize)>("cusolverDnDorgqr_bufferSize", orgqr_size<double>),
      in_place_of<decltype(::cusolverDnSorgqr)>("cusolverDnSorgqr", orgqr<float>),
      in_place_of<decltype(::cusolverDnDorgqr)>("cusolverDnDorgqr", orgqr<double>),
      in_place_of<decltype(::cusolverDnXsyevd_bufferSize)>("cusolverDnXsyevd_bufferSize", syevd_size),
      in_place_of<decltype(::cusolverDnXsyevd)>("cusolverDnXsyevd", syevd),
      in_place_of<decltype(::cusolverDnXgesvd_bufferSize)>("cusolverDnXgesvd_bufferSize", gesvd_size),
      in_place_of<decltype(::cusolverDnXgesvd)>("cusolverDnXgesvd", gesvd),
      in_place_of<decltype(::cusolverDnCreateSyevjInfo)>("cusolverDnCreateSyevjInfo", create_info<syevjInfo_t>),
      in_place_of<decltype(::cusolverDnSsyevjBatched_bufferSize)>("cusolverDnSsyevjBatched_bufferSize", syevj_size<float>),
      in_place_of<decltype(::cusolverDnDsyevjBatched_bufferSize)>("cusolverDnDsyevjBatched_bufferSize", syevj_size<double>),
      in_place_of<decltype(::cusolverDnSsyevjBatched)>("cusolverDnSsyevjBatched", syevj<float>),
      in_place_of<decltype(::cusolverDnDsyevjBatched)>("cusolverDnDsyevjBatched", syevj<double>),
      in_place_of<decltype(::cusolverDnCreateGesvdjInfo)>("cusolverDnCreateGesvdjInfo", create_info<gesvdjInfo_t>),
      in_place_of<decltype(::cusolverDnSgesvdjBatched_bufferSize)>("cusolverDnSgesvdjBatched_bufferSize", gesvdj_size<float>),
      in_place_of<decltype(::cusolverDnDgesvdjBatched_bufferSize)>("cusolverDnDgesvdjBatched_bufferSize", gesvdj_size<double>),
      in_place_of<decltype(::cusolverDnSgesvdjBatched)>("cusolverDnSgesvdjBatched", gesvdj<float>),
      in_place_of<decltype(::cusolverDnDgesvdjBatched)>("cusolverDnDgesvdjBatched", gesvdj<double>),
  };
  return stand_in(all, name);
}

}  // namespace tandem::kernels::cuda::emulated
