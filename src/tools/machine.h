// What this machine can do at most, as far as plain loops tell: the measure that the figures of operations are held against.
#pragma once

#include <cstddef>

namespace tandem::tools {

/// Nanoseconds of a plain vectorised loop that reads `in` bytes and writes `out` bytes, on `threads` threads: out = a + b where as much is
/// read as both, a copy, a fill, a sum.
[[nodiscard]] double plain_loop_ns(size_t in, size_t out, int threads);
/// float32 operations a nanosecond (two a multiply-add) on `threads` threads.
[[nodiscard]] double multiply_add_peak(int threads);

}  // namespace tandem::tools
