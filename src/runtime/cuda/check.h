// CUDA's return codes as errors that say which call failed and what CUDA calls it.
#pragma once

#include <cuda_runtime.h>

#include "base/error.h"

namespace tandem::runtime::cuda_cards {

/// Throws where `code` is an error: the call, CUDA's name for it and its text. CUDA's record of the thread's last error is cleared: else
/// the next launch would take it for its own.
inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  fail("CUDA error: ", cudaGetErrorString(code), " (", cudaGetErrorName(code), " from ", call, ")");
}

/// Whether a card has this process's context already. Making a card current makes one, which takes time and some hundred MB of its memory.
[[nodiscard]] bool has_context(int device) noexcept;

/// How many devices each card is shown as: TANDEM_CUDA_DEVICES_PER_CARD, so that tests which want several cards run on one. 1 otherwise.
[[nodiscard]] int devices_per_card();
/// The card, as CUDA counts, that a device is; a card's own number stays.
[[nodiscard]] int card_behind(int device);

/// Makes a device's card current for CUDA on this thread, until the end of the scope. Then the one before is current again, unless it would
/// get a context by that.
class CardGuard {
 public:
  explicit CardGuard(int device) {
    const int card = card_behind(device);
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ == card) before_ = -1;
    else check(cudaSetDevice(card), "cudaSetDevice");
  }
  ~CardGuard() {
    if (before_ >= 0 && has_context(before_)) (void)cudaSetDevice(before_);
  }
  CardGuard(const CardGuard&) = delete;
  CardGuard& operator=(const CardGuard&) = delete;

 private:
  int before_ = -1;
};

/// Calls `f` with a card current, and nothing where CUDA is gone already: the process is ending. Leaves things as CardGuard does.
template <class F>
void quietly_on(int device, F f) noexcept {
  int before = 0;
  const int card = card_behind(device);
  if (cudaGetDevice(&before) != cudaSuccess || (before != card && cudaSetDevice(card) != cudaSuccess)) return;
  f();
  if (before != card && has_context(before)) (void)cudaSetDevice(before);
}

}  // namespace tandem::runtime::cuda_cards
