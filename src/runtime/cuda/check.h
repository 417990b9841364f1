// CUDA's return codes as errors that say which call failed and what CUDA calls it.
#pragma once

#include <cuda_runtime.h>

#include "base/error.h"

namespace tandem::runtime::cuda_gpu {

/// Throws where `code` is an error: the call, CUDA's name for it and its text. CUDA's record of the thread's last error is cleared: else
/// the next launch would take it for its own.
inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  fail("CUDA error: ", cudaGetErrorString(code), " (", cudaGetErrorName(code), " from ", call, ")");
}

/// Whether a GPU has this process's context already. Making a GPU current makes one, which takes time and some hundred MB of its memory.
[[nodiscard]] bool has_context(int device) noexcept;

/// How many devices each GPU is shown as: TANDEM_CUDA_DEVICES_PER_GPU, so that tests which want several GPUs run on one. 1 otherwise.
[[nodiscard]] int devices_per_gpu();
/// The GPU, as CUDA counts, that a device is; a GPU's own number stays.
[[nodiscard]] int gpu_behind(int device);

/// Makes a device's GPU current for CUDA on this thread, until the end of the scope. Then the one before is current again, unless it would
/// get a context by that.
class CudaDeviceGuard {
 public:
  explicit CudaDeviceGuard(int device) {
    const int gpu = gpu_behind(device);
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ == gpu) before_ = -1;
    else check(cudaSetDevice(gpu), "cudaSetDevice");
  }
  ~CudaDeviceGuard() {
    if (before_ >= 0 && has_context(before_)) (void)cudaSetDevice(before_);
  }
  CudaDeviceGuard(const CudaDeviceGuard&) = delete;
  CudaDeviceGuard& operator=(const CudaDeviceGuard&) = delete;

 private:
  int before_ = -1;
};

/// Calls `f` with a GPU current, and nothing where CUDA is gone already: the process is ending. Leaves things as CudaDeviceGuard does.
template <class F>
void quietly_on(int device, F f) noexcept {
  int before = 0;
  const int gpu = gpu_behind(device);
  if (cudaGetDevice(&before) != cudaSuccess || (before != gpu && cudaSetDevice(gpu) != cudaSuccess)) return;
  f();
  if (before != gpu && has_context(before)) (void)cudaSetDevice(before);
}

}  // namespace tandem::runtime::cuda_gpu
