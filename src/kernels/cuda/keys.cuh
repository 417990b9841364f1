// Elements as unsigned keys of the same order: nan on top, -0 equal to 0. As cpu/keys.h.
#pragma once

#include "kernels/cuda/elements.cuh"

namespace tandem::kernels::cuda {

TD_CARD uint64_t key_of(double x) {
  if (x != x) return ~uint64_t{0};
  const double positive_zero = x == 0 ? 0.0 : x;
  uint64_t bits;
  memcpy(&bits, &positive_zero, sizeof bits);
  constexpr uint64_t top = uint64_t{1} << 63;
  return bits & top ? ~bits : bits | top;
}
TD_CARD uint32_t key_of(float x) {
  if (x != x) return ~0U;
  const float positive_zero = x == 0 ? 0.0F : x;
  uint32_t bits;
  memcpy(&bits, &positive_zero, sizeof bits);
  constexpr uint32_t top = 1U << 31;
  return bits & top ? ~bits : bits | top;
}
TD_CARD uint64_t key_of(int64_t x) { return static_cast<uint64_t>(x) ^ (uint64_t{1} << 63); }
TD_CARD uint32_t key_of(int32_t x) { return static_cast<uint32_t>(x) ^ (1U << 31); }

/// The key of element `at`, 32 bits for elements of at most four bytes.
TD_CARD uint32_t narrow_key(const void* data, DType dtype, int64_t at) {
  if (is_floating(dtype)) return key_of(load<float>(data, dtype, at));
  return key_of(load<int32_t>(data, dtype, at));
}
TD_CARD uint64_t wide_key(const void* data, DType dtype, int64_t at) {
  if (dtype == DType::Float64) return key_of(static_cast<const double*>(data)[at]);
  return key_of(static_cast<const int64_t*>(data)[at]);
}

}  // namespace tandem::kernels::cuda
