// Operators on elements, one by one.
#include "ops/pointwise.h"

#include <cmath>
#include <limits>

#include "onnx/call.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/operators.h"

namespace tandem::onnx {
namespace {

Tensor divide(const Operand& a, const Operand& b, Site site) {
  return is_floating(a.tensor().dtype()) ? div(a, b, site) : div(a, b, "trunc", site);
}

/// The result has the base's type, whatever the exponent's.
Tensor power(const Operand& a, const Operand& b, Site site) {
  const DType dtype = a.tensor().dtype();
  if (dtype == b.tensor().dtype() || is_floating(dtype)) return pow(a, b, site).to(dtype, {}, site);
  // A whole number to a power that is none: computed between, and cut off.
  return is_floating(b.tensor().dtype()) ? pow(a.tensor().to(kFloat64, {}, site), b, site).to(dtype, {}, site)
                                         : pow(a, b, site).to(dtype, {}, site);
}

void mod(Call& call) {
  const Tensor a = call.in(0), b = call.in(1);
  call.give(call.integer("fmod", 0) != 0 ? fmod(a, b, call.site()) : remainder(a, b, call.site()));
}

/// Max, Min, Sum, Mean: of any number of inputs.
template <Binary Two>
void of_all(Call& call) {
  Tensor result = call.in(0);
  for (size_t i = 1; i < call.inputs(); ++i) result = Two(result, call.in(i), call.site());
  call.give(result);
}
void mean_of_all(Call& call) {
  Tensor result = call.in(0);
  for (size_t i = 1; i < call.inputs(); ++i) result = add(result, call.in(i), call.site());
  call.give(div(result, static_cast<double>(call.inputs()), call.site()));
}

void bit_shift(Call& call) {
  const Tensor a = call.in(0), b = call.in(1);
  const std::string direction = call.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") fail("its direction is '", direction, "', neither LEFT nor RIGHT");
  call.give(direction == "LEFT" ? bitwise_left_shift(a, b, call.site()) : bitwise_right_shift(a, b, call.site()));
}

void choose(Call& call) {
  const Tensor condition = call.in(0), a = call.in(1), b = call.in(2);
  call.give(where(condition, a, b, call.site()));
}

void clip_by_attributes(Call& call) {
  const Tensor x = call.in(0);
  std::optional<Scalar> low, high;
  if (call.find("min")) low = call.real("min", 0);
  if (call.find("max")) high = call.real("max", 0);
  call.give(low || high ? clamp(x, low, high, call.site()) : x);
}
void clip(Call& call) {
  Tensor x = call.in(0);
  std::optional<Scalar> low, high;
  if (call.has(1)) low = call.number(1);
  if (call.has(2)) high = call.number(2);
  if (low && high && high->to<double>() < low->to<double>()) low = high;
  call.give(low || high ? clamp(x, low, high, call.site()) : x);
}

void is_infinite(Call& call) {
  const Tensor x = call.in(0);
  const bool negative = call.integer("detect_negative", 1) != 0, positive = call.integer("detect_positive", 1) != 0;
  const Site site = call.site();
  if (negative && positive) call.give(isinf(x, site));
  else if (negative) call.give(isneginf(x, site));
  else if (positive) call.give(isposinf(x, site));
  else call.give(zeros_like(x, {.dtype = kBool}, site));
}

void cast(Call& call) {
  const Tensor x = call.in(0);
  const DType to = call.dtype("to", kFloat32);
  // A number that is none counts as true, as in C++.
  call.give(to == kBool ? ne(x, 0, call.site()) : x.to(to, {}, call.site()));
}
void cast_like(Call& call) {
  const Tensor x = call.in(0);
  const DType to = call.value(1).tensor.defined() ? call.value(1).tensor.dtype() : call.value(1).host.dtype();
  call.give(to == kBool ? ne(x, 0, call.site()) : x.to(to, {}, call.site()));
}

void bit_cast(Call& call) {
  const Tensor x = call.in(0).contiguous(call.site());
  const DType to = call.dtype("to", kFloat32);
  if (size_of(to) != x.element_size()) fail("elements of ", x.dtype(), " have other bytes than those of ", to);
  call.give(x.view(to, call.site()).clone(call.site()));
}

void identity(Call& call) {
  if (const Value& value = call.value(0); value.sequence) return call.give(value);
  call.give(call.in(0));
}

Tensor floor_of(const Input& x, Site site) { return floor(x, site); }

constexpr OperatorRow kRows[] = {
    {"Abs", 1, nullptr, abs},
    {"Acos", 7, nullptr, acos},
    {"Acosh", 9, nullptr, acosh},
    {"Asin", 7, nullptr, asin},
    {"Asinh", 9, nullptr, asinh},
    {"Atan", 7, nullptr, atan},
    {"Atanh", 9, nullptr, atanh},
    {"BitwiseNot", 18, nullptr, bitwise_not},
    {"Ceil", 1, nullptr, ceil},
    {"Cos", 7, nullptr, cos},
    {"Cosh", 9, nullptr, cosh},
    {"Erf", 9, nullptr, erf},
    {"Exp", 1, nullptr, exp},
    {"Floor", 1, nullptr, floor_of},
    {"IsNaN", 9, nullptr, isnan},
    {"Log", 1, nullptr, log},
    {"Neg", 1, nullptr, neg},
    {"Not", 1, nullptr, logical_not},
    {"Reciprocal", 1, nullptr, reciprocal},
    {"Round", 11, nullptr, [](const Input& x, Site site) { return round(x, site); }},
    {"Sigmoid", 1, nullptr, sigmoid},
    {"Sign", 9, nullptr, sign},
    {"Sin", 7, nullptr, sin},
    {"Sinh", 9, nullptr, sinh},
    {"Sqrt", 1, nullptr, sqrt},
    {"Tan", 7, nullptr, tan},
    {"Tanh", 1, nullptr, tanh},
    {"Add", 1, nullptr, nullptr, add},
    {"Sub", 1, nullptr, nullptr, sub},
    {"Mul", 1, nullptr, nullptr, mul},
    {"Div", 1, nullptr, nullptr, divide},
    {"Pow", 1, nullptr, nullptr, power},
    {"And", 1, nullptr, nullptr, logical_and},
    {"Or", 1, nullptr, nullptr, logical_or},
    {"Xor", 1, nullptr, nullptr, logical_xor},
    {"Equal", 1, nullptr, nullptr, eq},
    {"Greater", 1, nullptr, nullptr, gt},
    {"GreaterOrEqual", 12, nullptr, nullptr, ge},
    {"Less", 1, nullptr, nullptr, lt},
    {"LessOrEqual", 12, nullptr, nullptr, le},
    {"BitwiseAnd", 18, nullptr, nullptr, bitwise_and},
    {"BitwiseOr", 18, nullptr, nullptr, bitwise_or},
    {"BitwiseXor", 18, nullptr, nullptr, bitwise_xor},
    {"BitCast", 1, bit_cast},
    {"BitShift", 11, bit_shift},
    {"Cast", 6, cast},
    {"CastLike", 15, cast_like},
    {"Clip", 1, clip_by_attributes},
    {"Clip", 11, clip, nullptr, nullptr, 1},
    {"Identity", 1, identity},
    {"IsInf", 10, is_infinite},
    {"Max", 1, of_all<maximum>},
    {"Mean", 1, mean_of_all},
    {"Min", 1, of_all<minimum>},
    {"Mod", 10, mod},
    {"Sum", 1, of_all<add>},
    {"Where", 9, choose},
};

}  // namespace

std::span<const OperatorRow> pointwise_operators() { return kRows; }

}  // namespace tandem::onnx
