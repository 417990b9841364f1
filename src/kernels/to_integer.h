// Floating numbers as integers, by one rule on every device: towards zero; nan and what does not fit become the least int64, or for
// narrower types the least int32, of which they take the low bits. It is what x86 does, and so PyTorch on the CPU. C++ leaves it open, and
// CUDA's own conversions give the nearest number that fits.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/math.h"

namespace tandem::kernels {

template <class To, class From>
TD_HOST_DEVICE inline To to_integer(From x) {
  using Wide = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
  constexpr From limit = sizeof(To) == 8 ? From(0x1p63) : From(0x1p31);
  return static_cast<To>(x >= -limit && x < limit ? static_cast<Wide>(x) : std::numeric_limits<Wide>::min());
}

}  // namespace tandem::kernels
