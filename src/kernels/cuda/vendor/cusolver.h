// cuSOLVER: its functions, and what is kept of it for each GPU.
#pragma once

#include <cusolverDn.h>

#include <mutex>
#include <string>
#include <vector>

#include "kernels/cuda/vendor/library.h"
#include "kernels/cuda/vendor/vendor.h"

namespace tandem::kernels::cuda::vendor {

struct Cusolver {
  Library library{"cuSOLVER", "libcusolver.so." TD_TEXT(CUSOLVER_VER_MAJOR)};
  TD_FUNCTION(cusolverGetVersion);
  TD_FUNCTION(cusolverDnCreate);
  TD_FUNCTION(cusolverDnCreateParams);
  TD_FUNCTION(cusolverDnSetStream);
  TD_FUNCTION(cusolverDnXpotrf_bufferSize);
  TD_FUNCTION(cusolverDnXpotrf);
  TD_FUNCTION(cusolverDnXgetrf_bufferSize);
  TD_FUNCTION(cusolverDnXgetrf);
  TD_FUNCTION(cusolverDnXgeqrf_bufferSize);
  TD_FUNCTION(cusolverDnXgeqrf);
  TD_FUNCTION(cusolverDnSorgqr_bufferSize);
  TD_FUNCTION(cusolverDnDorgqr_bufferSize);
  TD_FUNCTION(cusolverDnSorgqr);
  TD_FUNCTION(cusolverDnDorgqr);
  TD_FUNCTION(cusolverDnXsyevd_bufferSize);
  TD_FUNCTION(cusolverDnXsyevd);
  TD_FUNCTION(cusolverDnXgesvd_bufferSize);
  TD_FUNCTION(cusolverDnXgesvd);
  TD_FUNCTION(cusolverDnCreateSyevjInfo);
  TD_FUNCTION(cusolverDnSsyevjBatched_bufferSize);
  TD_FUNCTION(cusolverDnDsyevjBatched_bufferSize);
  TD_FUNCTION(cusolverDnSsyevjBatched);
  TD_FUNCTION(cusolverDnDsyevjBatched);
  TD_FUNCTION(cusolverDnCreateGesvdjInfo);
  TD_FUNCTION(cusolverDnSgesvdjBatched_bufferSize);
  TD_FUNCTION(cusolverDnDgesvdjBatched_bufferSize);
  TD_FUNCTION(cusolverDnSgesvdjBatched);
  TD_FUNCTION(cusolverDnDgesvdjBatched);
};

inline Cusolver& solver() {
  static auto* const library = new Cusolver;
  return *library;
}

/// cuSOLVER has no texts of its own.
inline std::string text_of(cusolverStatus_t status) {
  switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED: return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_ALLOC_FAILED: return "CUSOLVER_STATUS_ALLOC_FAILED";
    case CUSOLVER_STATUS_INVALID_VALUE: return "CUSOLVER_STATUS_INVALID_VALUE";
    case CUSOLVER_STATUS_ARCH_MISMATCH: return "CUSOLVER_STATUS_ARCH_MISMATCH";
    case CUSOLVER_STATUS_EXECUTION_FAILED: return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case CUSOLVER_STATUS_INTERNAL_ERROR: return "CUSOLVER_STATUS_INTERNAL_ERROR";
    case CUSOLVER_STATUS_NOT_SUPPORTED: return "CUSOLVER_STATUS_NOT_SUPPORTED";
    default: return "status " + std::to_string(static_cast<int>(status));
  }
}

/// A GPU's handle, and the host memory that some algorithms want; one call at a time.
struct CusolverState {
  std::mutex mutex;
  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t params = nullptr;
  syevjInfo_t eigen = nullptr;
  gesvdjInfo_t singular = nullptr;
  std::vector<char> host;

  /// Makes it ready to be used, at first use; the text of why it is not, nullptr where it is.
  const char* why_not() {
    if (handle) return nullptr;
    if (!solver().library.complete()) return solver().library.missing();
    const char* failed = nullptr;
    const auto make = [&]<class Made>(const char* name, cusolverStatus_t (*create)(Made*), Made& made) {
      if (failed || made) return;
      if (const cusolverStatus_t status = create(&made); status != CUSOLVER_STATUS_SUCCESS) {
        made = nullptr;
        failed = solver().library.failed(name, text_of(status));
      }
    };
    make("cusolverDnCreateParams", solver().cusolverDnCreateParams, params);
    make("cusolverDnCreateSyevjInfo", solver().cusolverDnCreateSyevjInfo, eigen);
    make("cusolverDnCreateGesvdjInfo", solver().cusolverDnCreateGesvdjInfo, singular);
    make("cusolverDnCreate", solver().cusolverDnCreate, handle);
    return failed;
  }
};

/// Whether cuSOLVER takes all matrices of a batch in one call, linalg_many.cu.
[[nodiscard]] bool is_one_call(Decomposition kind, const View& in);

/// The entry `decompose` for these, on a stream that is the handle's, and the bytes of workspace that it wants. The mutex is held.
void decompose_in_one_call(const Queue& queue, CusolverState& state, Decomposition kind, const Out& a, const Out& b, const Out& c,
                           const View& in, void* workspace);
[[nodiscard]] size_t one_call_workspace(CusolverState& state, Decomposition kind, const View& in);

}  // namespace tandem::kernels::cuda::vendor
