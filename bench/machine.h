// What this machine can do at most, as far as plain loops tell: the measure that the figures of operations are held against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tandem::bench {

/// Nanoseconds of a plain vectorised loop that reads `in` bytes and writes `out` bytes, on `threads` threads: out = a + b where as much is
/// read as both, a copy, a fill, a sum.
[[nodiscard]] double plain_loop_ns(size_t in, size_t out, int threads);
/// Nanoseconds of a plain loop that computes the operation `name` of n floats (two operands: of n each) as the compiler makes it, on
/// `threads` threads. None where there is no such loop for that many operands.
[[nodiscard]] std::optional<double> function_loop_ns(std::string_view name, std::span<const float* const> operands, int64_t n, int threads);
/// float32 operations a nanosecond (two a multiply-add) on `threads` threads.
[[nodiscard]] double multiply_add_peak(int threads);

}  // namespace tandem::bench
