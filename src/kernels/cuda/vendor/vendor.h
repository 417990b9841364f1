// Kernels of NVIDIA's libraries. Where a library is missing, or refuses a call, our own kernel of that entry does it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/table.h"
#include "runtime/cuda/check.h"

namespace tandem::kernels::cuda::vendor {

#include "kernels/entries.inc"

/// Puts the libraries' kernels into `table`, over our own.
void fill_vendor(Table& table);

/// The most GPUs a process uses (runtime/stream_record.h).
inline constexpr int kMaxDevices = 64;

/// Workspace queries come before a queue has made the GPU current: a library's handle belongs to the GPU that is.
using runtime::cuda_gpu::CudaDeviceGuard;

/// What a library keeps for a GPU: a GPU for each, made at the first use of any, and not destroyed, as CUDA may be gone before static
/// objects are.
template <class State>
State& state_of(int device) {
  static auto* const states = new State[kMaxDevices];
  return states[device];
}

/// Whether a call is kept for a graph: then nothing can be waited for.
inline bool is_captured(const Queue& queue) { return queue.replay != nullptr; }

/// Reports what Library::failed or missing says.
inline void report(const Queue& queue, const char* text) {
  queue.status->report(Trouble::Library, static_cast<int64_t>(reinterpret_cast<intptr_t>(text)), 2);
}

inline cudaStream_t stream_of(const Queue& queue) { return static_cast<cudaStream_t>(queue.stream); }

/// The GPU that an address belongs to; the current one where it belongs to none.
inline int device_of(const void* address) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) == cudaSuccess && attributes.type == cudaMemoryTypeDevice) return attributes.device;
  (void)cudaGetLastError();
  int current = 0;
  (void)cudaGetDevice(&current);
  return current;
}

/// `bytes` rounded up to a multiple of kAlignment: parts of a workspace begin at multiples of it.
inline constexpr size_t kAlignment = 256;
template <class Bytes>
Bytes align_up(Bytes bytes) {
  constexpr auto alignment = static_cast<Bytes>(kAlignment);
  return (bytes + alignment - 1) / alignment * alignment;
}

/// How many bytes, at most 256, an address is aligned to.
inline uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<uintptr_t>(address);
  return bits == 0 ? 256 : static_cast<uint32_t>((bits & (~bits + 1)) > 256 ? 256 : bits & (~bits + 1));
}

}  // namespace tandem::kernels::cuda::vendor
