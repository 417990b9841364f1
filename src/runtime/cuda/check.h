// CUDA's return codes as errors that say which call failed and what CUDA calls it.
#pragma once

#include <cuda_runtime.h>

#include "base/error.h"

namespace tandem::runtime::cuda_cards {

/// Throws where `code` is an error: the call, CUDA's name for it and its text.
inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) fail("CUDA error: ", cudaGetErrorString(code), " (", cudaGetErrorName(code), " from ", call, ")");
}

/// Makes a card current for CUDA on this thread, until the end of the scope.
class CardGuard {
 public:
  explicit CardGuard(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ == device) before_ = -1;
    else check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~CardGuard() {
    if (before_ >= 0) (void)cudaSetDevice(before_);
  }
  CardGuard(const CardGuard&) = delete;
  CardGuard& operator=(const CardGuard&) = delete;

 private:
  int before_ = -1;
};

}  // namespace tandem::runtime::cuda_cards
