// Pointwise operations with more than two operands, or with parameters: scaled sums, roundings, bounds, choices.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "ops/pointwise.h"
#include "tensor/tensor.h"

namespace tandem {

/// a + alpha * b. Error for a floating alpha where the result is not.
[[nodiscard]] Tensor add(const Operand& a, const Operand& b, const Scalar& alpha, Site site = Site::here());
/// a - alpha * b.
[[nodiscard]] Tensor sub(const Operand& a, const Operand& b, const Scalar& alpha, Site site = Site::here());
/// b - alpha * a.
[[nodiscard]] Tensor rsub(const Operand& a, const Operand& b, const Scalar& alpha, Site site = Site::here());
/// a / b rounded: "trunc" towards zero, "floor" down. Integers stay integers. As torch.div.
[[nodiscard]] Tensor div(const Operand& a, const Operand& b, std::string_view rounding_mode, Site site = Site::here());
/// As div. As torch.true_divide.
[[nodiscard]] Tensor true_divide(const Operand& a, const Operand& b, Site site = Site::here());
/// a raised to b, both in float64. As torch.float_power.
[[nodiscard]] Tensor float_power(const Operand& a, const Operand& b, Site site = Site::here());
/// To `decimals` places after the point; before it where negative. As torch.round.
[[nodiscard]] Tensor round(const Input& x, int64_t decimals, Site site = Site::here());
/// x itself. Error for bool.
[[nodiscard]] Tensor positive(const Tensor& x, Site site = Site::here());

/// a where condition is true, else b.
[[nodiscard]] Tensor where(const Tensor& condition, const Operand& a, const Operand& b, Site site = Site::here());
/// Within [min, max]; either may be left out, not both. nan stays.
[[nodiscard]] Tensor clamp(const Input& x, std::optional<Scalar> min, std::optional<Scalar> max = {}, Site site = Site::here());
/// Bounds an element; an undefined tensor is no bound.
[[nodiscard]] Tensor clamp(const Input& x, const Tensor& min, const Tensor& max = Tensor(), Site site = Site::here());
/// x, where it is below `min` that. As torch.clamp_min.
[[nodiscard]] Tensor clamp_min(const Input& x, const Operand& min, Site site = Site::here());
/// x, where it is above `max` that. As torch.clamp_max.
[[nodiscard]] Tensor clamp_max(const Input& x, const Operand& max, Site site = Site::here());
/// start + weight * (end - start).
[[nodiscard]] Tensor lerp(const Operand& start, const Operand& end, const Operand& weight, Site site = Site::here());
/// x + value * a * b.
[[nodiscard]] Tensor addcmul(const Operand& x, const Operand& a, const Operand& b, const Scalar& value = 1, Site site = Site::here());
/// x + value * a / b.
[[nodiscard]] Tensor addcdiv(const Operand& x, const Operand& a, const Operand& b, const Scalar& value = 1, Site site = Site::here());
/// nan and the infinities replaced: by default 0 and the dtype's largest and lowest numbers. Integers as they are.
[[nodiscard]] Tensor nan_to_num(const Input& x, double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {},
                                Site site = Site::here());
/// Whether |a - b| <= atol + rtol * |b|, or both are the same. Error for different dtypes and negative tolerances.
[[nodiscard]] Tensor isclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8, Flag equal_nan = false,
                             Site site = Site::here());
/// log(x / (1 - x)), x first brought within [eps, 1 - eps] where an eps is given.
[[nodiscard]] Tensor logit(const Input& x, std::optional<double> eps = {}, Site site = Site::here());
/// The n-th slope of digamma. Error for a negative n.
[[nodiscard]] Tensor polygamma(int64_t n, const Input& x, Site site = Site::here());

}  // namespace tandem
