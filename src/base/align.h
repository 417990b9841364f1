// Sizes rounded up, so that what lies behind them begins on a boundary.
#pragma once

#include <cstddef>

namespace tandem {

inline constexpr size_t kCacheLine = 64;  // bytes

/// The least multiple of `alignment` that is not below `bytes`.
constexpr size_t align_up(size_t bytes, size_t alignment = kCacheLine) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace tandem
