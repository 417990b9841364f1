// Numbers that formulas of distributions have in common. For the library.
#pragma once

#include <cmath>
#include <numbers>

#include "tensor/tensor.h"

namespace tandem::distributions::detail {

inline constexpr double kPi = std::numbers::pi;
inline constexpr double kEuler = std::numbers::egamma;
inline constexpr double kLogSqrt2Pi = 0.91893853320467274178;  // log(sqrt(2 pi))
inline constexpr double kHalfLogPi = 0.57236494292470008707;   // log(pi) / 2

/// The distance from 1 to the next larger number of a floating dtype. Error for others.
[[nodiscard]] double epsilon(DType dtype);
/// The smallest normal number of a floating dtype. Error for others.
[[nodiscard]] double tiny(DType dtype);
/// The sum over the last `count` dimensions.
[[nodiscard]] Tensor sum_rightmost(const Tensor& x, int64_t count);
/// The sizes `a`, followed by the sizes `b`.
[[nodiscard]] Shape joined(const Shape& a, const Shape& b);
/// The values along the first dimension of x, followed by a size 1 for each of the batch, and by the other sizes of x.
[[nodiscard]] Tensor along_first(const Tensor& x, const Shape& batch);
/// The last size of x, as the sizes of a vector; none where x has no dimensions.
[[nodiscard]] Shape last_size(const Tensor& x);
/// x, and infinity where `wrong`.
[[nodiscard]] Tensor infinite_where(const Tensor& wrong, const Tensor& x);

}  // namespace tandem::distributions::detail
