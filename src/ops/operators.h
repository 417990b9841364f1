// + - * / and the comparisons between tensors and numbers.
#pragma once

#include "ops/pointwise.h"

namespace tandem {

/// As add, sub, mul, div, remainder, neg, the bitwise and comparing functions and those in place: sizes broadcast, result types are
/// PyTorch's.
[[nodiscard]] inline Tensor operator+(const Operand& a, const Operand& b) { return add(a, b, a.site()); }
[[nodiscard]] inline Tensor operator-(const Operand& a, const Operand& b) { return sub(a, b, a.site()); }
[[nodiscard]] inline Tensor operator*(const Operand& a, const Operand& b) { return mul(a, b, a.site()); }
[[nodiscard]] inline Tensor operator/(const Operand& a, const Operand& b) { return div(a, b, a.site()); }
[[nodiscard]] inline Tensor operator%(const Operand& a, const Operand& b) { return remainder(a, b, a.site()); }
[[nodiscard]] inline Tensor operator-(const Input& x) { return neg(x, x.site()); }
[[nodiscard]] inline Tensor operator~(const Input& x) { return bitwise_not(x, x.site()); }
[[nodiscard]] inline Tensor operator&(const Operand& a, const Operand& b) { return bitwise_and(a, b, a.site()); }
[[nodiscard]] inline Tensor operator|(const Operand& a, const Operand& b) { return bitwise_or(a, b, a.site()); }
[[nodiscard]] inline Tensor operator^(const Operand& a, const Operand& b) { return bitwise_xor(a, b, a.site()); }
[[nodiscard]] inline Tensor operator==(const Operand& a, const Operand& b) { return eq(a, b, a.site()); }
[[nodiscard]] inline Tensor operator!=(const Operand& a, const Operand& b) { return ne(a, b, a.site()); }
[[nodiscard]] inline Tensor operator<(const Operand& a, const Operand& b) { return lt(a, b, a.site()); }
[[nodiscard]] inline Tensor operator<=(const Operand& a, const Operand& b) { return le(a, b, a.site()); }
[[nodiscard]] inline Tensor operator>(const Operand& a, const Operand& b) { return gt(a, b, a.site()); }
[[nodiscard]] inline Tensor operator>=(const Operand& a, const Operand& b) { return ge(a, b, a.site()); }
inline const Tensor& operator+=(const Tensor& a, const Operand& b) { return a.add_(b, b.site()); }
inline const Tensor& operator-=(const Tensor& a, const Operand& b) { return a.sub_(b, b.site()); }
inline const Tensor& operator*=(const Tensor& a, const Operand& b) { return a.mul_(b, b.site()); }
inline const Tensor& operator/=(const Tensor& a, const Operand& b) { return a.div_(b, b.site()); }

}  // namespace tandem
