// The keys (kernels/keys.h) of elements of any dtype.
#pragma once

#include "kernels/cuda/elements.cuh"
#include "kernels/keys.h"

namespace tandem::kernels::cuda {

/// The key of element `at`, 32 bits for elements of at most four bytes.
TD_DEVICE uint32_t narrow_key(const void* data, DType dtype, int64_t at) {
  if (is_floating(dtype)) return key_of<uint32_t>(load<float>(data, dtype, at));
  return key_of<uint32_t>(load<int32_t>(data, dtype, at));
}
TD_DEVICE uint64_t wide_key(const void* data, DType dtype, int64_t at) {
  if (dtype == DType::Float64) return key_of<uint64_t>(static_cast<const double*>(data)[at]);
  return key_of<uint64_t>(static_cast<const int64_t*>(data)[at]);
}

}  // namespace tandem::kernels::cuda
