// What every CUDA kernel here needs: reading and writing an element of any dtype, walking strided elements, launching a flat grid and
// checking it.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "base/queue.h"
#include "kernels/view.h"

namespace tandem::kernels::cuda {

/// Element `i` of `data`, converted to T.
template <class T>
__device__ inline T load(const void* data, DType dtype, int64_t i) {
  switch (dtype) {
    case DType::Bool: return static_cast<T>(static_cast<const uint8_t*>(data)[i] != 0);
    case DType::UInt8: return static_cast<T>(static_cast<const uint8_t*>(data)[i]);
    case DType::Int8: return static_cast<T>(static_cast<const int8_t*>(data)[i]);
    case DType::Int16: return static_cast<T>(static_cast<const int16_t*>(data)[i]);
    case DType::Int32: return static_cast<T>(static_cast<const int32_t*>(data)[i]);
    case DType::Int64: return static_cast<T>(static_cast<const int64_t*>(data)[i]);
    case DType::Float16: return static_cast<T>(__half2float(static_cast<const __half*>(data)[i]));
    case DType::BFloat16: return static_cast<T>(__bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]));
    case DType::Float32: return static_cast<T>(static_cast<const float*>(data)[i]);
    default: return static_cast<T>(static_cast<const double*>(data)[i]);
  }
}

/// Writes `value`, converted, to element `i` of `data`.
template <class T>
__device__ inline void store(void* data, DType dtype, int64_t i, T value) {
  switch (dtype) {
    case DType::Bool: static_cast<uint8_t*>(data)[i] = value != T(0); break;
    case DType::UInt8: static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(static_cast<int64_t>(value)); break;
    case DType::Int8: static_cast<int8_t*>(data)[i] = static_cast<int8_t>(static_cast<int64_t>(value)); break;
    case DType::Int16: static_cast<int16_t*>(data)[i] = static_cast<int16_t>(static_cast<int64_t>(value)); break;
    case DType::Int32: static_cast<int32_t*>(data)[i] = static_cast<int32_t>(static_cast<int64_t>(value)); break;
    case DType::Int64: static_cast<int64_t*>(data)[i] = static_cast<int64_t>(value); break;
    case DType::Float16: static_cast<__half*>(data)[i] = __float2half(static_cast<float>(value)); break;
    case DType::BFloat16: static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16(static_cast<float>(value)); break;
    case DType::Float32: static_cast<float*>(data)[i] = static_cast<float>(value); break;
    default: static_cast<double*>(data)[i] = static_cast<double>(value); break;
  }
}

/// Where element number `i` (row-major over `sizes`) lies, for several strides at once.
template <int N>
__device__ inline void offsets_of(int64_t i, int ndim, const int64_t* sizes, const int64_t* const (&strides)[N], int64_t (&offsets)[N]) {
  for (int k = 0; k < N; ++k) offsets[k] = 0;
  for (int d = ndim - 1; d >= 0; --d) {
    const int64_t at = i % sizes[d];
    i /= sizes[d];
    for (int k = 0; k < N; ++k)
      if (strides[k]) offsets[k] += at * strides[k][d];
  }
}

inline constexpr int kThreads = 256;

/// Blocks for `count` elements; kernels stride over the grid, so more than that many is never needed.
inline unsigned blocks_for(int64_t count) {
  const int64_t blocks = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

/// The queue's CUDA stream.
inline cudaStream_t stream_of(const Queue& queue) { return static_cast<cudaStream_t>(queue.stream); }

/// After every launch: what went wrong with launching goes to the queue's status.
inline void check_launch(const Queue& queue) {
  const cudaError_t code = cudaGetLastError();
  if (code != cudaSuccess) queue.status->report(Trouble::Library, static_cast<int64_t>(code));
}

}  // namespace tandem::kernels::cuda
