// What kernels/cuda/vendor/ asks of the CUDA runtime, where streams are a virtual GPU's: by the time it asks, what was queued before is
// done. Any GPU is as good as another, and none can be timed.
#include <cuda_runtime.h>

#include <cstring>

#include "kernels/cuda/walked/emulated/library.h"
#include "runtime/cuda/check.h"

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "not emulated"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorNotSupported"; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 9;  // asked for: the major compute capability
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void*) {
  *attributes = {};
  attributes->type = cudaMemoryTypeHost;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  ++tandem::kernels::cuda::emulated::calls().copies;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t) {
  std::memset(at, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaEventCreate(cudaEvent_t*) { return cudaErrorNotSupported; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaErrorNotSupported; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaErrorNotSupported; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaErrorNotSupported; }
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t) { return cudaErrorNotSupported; }

}  // extern "C"

namespace tandem::runtime::cuda_gpu {

int gpu_behind(int device) { return device; }
bool has_context(int) noexcept { return true; }

}  // namespace tandem::runtime::cuda_gpu
