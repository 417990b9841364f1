// Elements as unsigned keys of the same order: nan on top, -0 equal to 0. The same in every backend.
#pragma once

#include <bit>
#include <type_traits>

#include "base/half.h"
#include "kernels/math.h"

namespace tandem::kernels {

/// The key of an element, of the width of U, which holds it.
template <class U, class T>
TD_HOST_DEVICE inline U key_of(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return key_of<U>(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    using Own = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    if (x != x) return ~U{0};
    constexpr Own top = Own{1} << (sizeof(Own) * 8 - 1);
    const auto bits = std::bit_cast<Own>(x == 0 ? T(0) : x);
    return bits & top ? static_cast<Own>(~bits) : bits | top;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<U>(static_cast<std::make_signed_t<U>>(x)) ^ (U{1} << (sizeof(U) * 8 - 1));
  } else {
    return static_cast<U>(x);
  }
}

}  // namespace tandem::kernels
