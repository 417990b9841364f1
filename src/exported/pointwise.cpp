// Operations on elements, one by one.
#include "ops/pointwise.h"

#include "exported/call.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/operators.h"

namespace tandem::exported {
namespace {

bool is_one(const Scalar& number) { return number.to<double>() == 1; }

void plus(Call& call) {
  const Scalar alpha = call.number("alpha", 1);
  const Operand a = call.operand("self"), b = call.operand("other");
  call.give(is_one(alpha) ? add(a, b, call.site()) : add(a, b, alpha, call.site()));
}
void minus(Call& call) {
  const Scalar alpha = call.number("alpha", 1);
  const Operand a = call.operand("self"), b = call.operand("other");
  call.give(is_one(alpha) ? sub(a, b, call.site()) : sub(a, b, alpha, call.site()));
}
void minus_from(Call& call) {
  const Scalar alpha = call.number("alpha", 1);
  const Operand a = call.operand("self"), b = call.operand("other");
  call.give(is_one(alpha) ? rsub(a, b, call.site()) : rsub(a, b, alpha, call.site()));
}
void divide(Call& call) {
  const std::string rounding = call.text("rounding_mode", "");
  const Operand a = call.operand("self"), b = call.operand("other");
  call.give(rounding.empty() ? div(a, b, call.site()) : div(a, b, rounding, call.site()));
}
void power(Call& call) {
  const Operand a = call.operand("self"), b = call.operand("exponent");
  call.give(pow(a, b, call.site()));
}
void round_to(Call& call) {
  const auto decimals = call.integer("decimals", 0);
  const Input x = call.operand("self");
  call.give(decimals == 0 ? round(x, call.site()) : round(x, decimals, call.site()));
}
void choose(Call& call) {
  const Tensor condition = call.tensor("condition");
  const Operand a = call.operand("self"), b = call.operand("other");
  call.give(where(condition, a, b, call.site()));
}

/// clamp, clamp_min, clamp_max: the bounds are numbers or tensors.
void bound(Call& call) {
  if (call.is_tensor("min") || call.is_tensor("max")) {
    const Tensor low = call.tensor_or_none("min"), high = call.tensor_or_none("max");
    const Input x = call.operand("self");
    return call.give(low.defined() ? clamp(x, low, high, call.site()) : clamp_max(x, high, call.site()));
  }
  const auto low = call.number_or_none("min"), high = call.number_or_none("max");
  call.give(clamp(call.operand("self"), low, high, call.site()));
}
void bound_softly(Call& call) {
  const double low = call.real("min_val", -1), high = call.real("max_val", 1);
  call.give(hardtanh(call.operand("self"), low, high, call.site()));
}

void interpolate_between(Call& call) {
  const Operand a = call.operand("self"), b = call.operand("end"), weight = call.operand("weight");
  call.give(lerp(a, b, weight, call.site()));
}
template <Tensor (*Add)(const Operand&, const Operand&, const Operand&, const Scalar&, Site)>
void add_of_two(Call& call) {
  const Scalar value = call.number("value", 1);
  const Operand x = call.operand("self"), a = call.operand("tensor1"), b = call.operand("tensor2");
  call.give(Add(x, a, b, value, call.site()));
}

void bend(Call& call) {
  const std::string approximate = call.text("approximate", "none");
  call.give(gelu(call.operand("self"), approximate, call.site()));
}
void leak(Call& call) {
  const double slope = call.real("negative_slope", 0.01);
  call.give(leaky_relu(call.operand("self"), slope, call.site()));
}
/// elu: PyTorch's general form has two more factors, which nn.ELU leaves at 1.
void exponential_unit(Call& call) {
  const double alpha = call.real("alpha", 1), scale = call.real("scale", 1), rate = call.real("input_scale", 1);
  const Site site = call.site();
  const Input x = call.operand("self");
  if (scale == 1 && rate == 1) return call.give(elu(x, alpha, site));
  const Tensor& given = x.tensor();
  call.give(mul(where(gt(given, 0, site), given, mul(expm1(mul(given, rate, site), site), alpha, site), site), scale, site));
}
void soft_step(Call& call) {
  const double beta = call.real("beta", 1), threshold = call.real("threshold", 20);
  call.give(softplus(call.operand("self"), beta, threshold, call.site()));
}
void cut(Call& call) {
  const double at = call.real("threshold", 0), value = call.real("value", 0);
  call.give(threshold(call.operand("self"), at, value, call.site()));
}
template <Tensor (*Shrink)(const Input&, double, Site)>
void shrink(Call& call) {
  const double by = call.real("lambd", 0.5);
  call.give(Shrink(call.operand("self"), by, call.site()));
}
void smooth_unit(Call& call) {
  const double alpha = call.real("alpha", 1);
  call.give(celu(call.operand("self"), alpha, call.site()));
}
void gated(Call& call) { call.give(glu(call.tensor("self"), call.integer("dim", -1), call.site())); }
void learned_leak(Call& call) { call.give(prelu(call.tensor("self"), call.tensor("weight"), call.site())); }
void inverse_sigmoid(Call& call) {
  const auto eps = call.real_or_none("eps");
  call.give(logit(call.operand("self"), eps, call.site()));
}
void replace_nan(Call& call) {
  const double nan = call.real("nan", 0);
  const auto high = call.real_or_none("posinf"), low = call.real_or_none("neginf");
  call.give(nan_to_num(call.operand("self"), nan, high, low, call.site()));
}
void mask(Call& call) {
  const Tensor x = call.tensor("self"), where = call.tensor("mask");
  call.give(masked_fill(x, where, call.operand("value"), call.site()));
}

Tensor floor_of(const Input& x, Site site) { return floor(x, site); }

constexpr OperatorRow kRows[] = {
    {"abs", nullptr, false, abs},
    {"acos", nullptr, false, acos},
    {"acosh", nullptr, false, acosh},
    {"asin", nullptr, false, asin},
    {"asinh", nullptr, false, asinh},
    {"atan", nullptr, false, atan},
    {"atanh", nullptr, false, atanh},
    {"bitwise_not", nullptr, false, bitwise_not},
    {"ceil", nullptr, false, ceil},
    {"cos", nullptr, false, cos},
    {"cosh", nullptr, false, cosh},
    {"digamma", nullptr, false, digamma},
    {"erf", nullptr, false, erf},
    {"erfc", nullptr, false, erfc},
    {"erfinv", nullptr, false, erfinv},
    {"exp", nullptr, false, exp},
    {"exp2", nullptr, false, exp2},
    {"expm1", nullptr, false, expm1},
    {"floor", nullptr, false, floor_of},
    {"frac", nullptr, false, frac},
    {"hardsigmoid", nullptr, false, hardsigmoid},
    {"hardswish", nullptr, false, hardswish},
    {"isfinite", nullptr, false, isfinite},
    {"isinf", nullptr, false, isinf},
    {"isnan", nullptr, false, isnan},
    {"lgamma", nullptr, false, lgamma},
    {"log", nullptr, false, log},
    {"log10", nullptr, false, log10},
    {"log1p", nullptr, false, log1p},
    {"log2", nullptr, false, log2},
    {"log_sigmoid", nullptr, false, logsigmoid},
    {"logical_not", nullptr, false, logical_not},
    {"mish", nullptr, false, mish},
    {"neg", nullptr, false, neg},
    {"reciprocal", nullptr, false, reciprocal},
    {"relu", nullptr, false, relu},
    {"relu6", nullptr, false, relu6},
    {"rsqrt", nullptr, false, rsqrt},
    {"selu", nullptr, false, selu},
    {"sgn", nullptr, false, sgn},
    {"sigmoid", nullptr, false, sigmoid},
    {"sign", nullptr, false, sign},
    {"signbit", nullptr, false, signbit},
    {"silu", nullptr, false, silu},
    {"sin", nullptr, false, sin},
    {"sinc", nullptr, false, sinc},
    {"sinh", nullptr, false, sinh},
    {"sqrt", nullptr, false, sqrt},
    {"square", nullptr, false, square},
    {"tan", nullptr, false, tan},
    {"tanh", nullptr, false, tanh},
    {"trunc", nullptr, false, trunc},
    {"__and__", nullptr, false, nullptr, bitwise_and},
    {"__or__", nullptr, false, nullptr, bitwise_or},
    {"__xor__", nullptr, false, nullptr, bitwise_xor},
    {"atan2", nullptr, false, nullptr, atan2},
    {"bitwise_and", nullptr, false, nullptr, bitwise_and},
    {"bitwise_left_shift", nullptr, false, nullptr, bitwise_left_shift},
    {"bitwise_or", nullptr, false, nullptr, bitwise_or},
    {"bitwise_right_shift", nullptr, false, nullptr, bitwise_right_shift},
    {"bitwise_xor", nullptr, false, nullptr, bitwise_xor},
    {"copysign", nullptr, false, nullptr, copysign},
    {"eq", nullptr, false, nullptr, eq},
    {"floor_divide", nullptr, false, nullptr, floor_divide},
    {"fmax", nullptr, false, nullptr, fmax},
    {"fmin", nullptr, false, nullptr, fmin},
    {"fmod", nullptr, false, nullptr, fmod},
    {"ge", nullptr, false, nullptr, ge},
    {"gt", nullptr, false, nullptr, gt},
    {"hypot", nullptr, false, nullptr, hypot},
    {"le", nullptr, false, nullptr, le},
    {"logaddexp", nullptr, false, nullptr, logaddexp},
    {"logaddexp2", nullptr, false, nullptr, logaddexp2},
    {"logical_and", nullptr, false, nullptr, logical_and},
    {"logical_or", nullptr, false, nullptr, logical_or},
    {"logical_xor", nullptr, false, nullptr, logical_xor},
    {"lt", nullptr, false, nullptr, lt},
    {"maximum", nullptr, false, nullptr, maximum},
    {"minimum", nullptr, false, nullptr, minimum},
    {"mul", nullptr, false, nullptr, mul},
    {"multiply", nullptr, false, nullptr, mul},
    {"ne", nullptr, false, nullptr, ne},
    {"remainder", nullptr, false, nullptr, remainder},
    {"true_divide", nullptr, false, nullptr, div},
    {"xlogy", nullptr, false, nullptr, xlogy},
    {"add", plus},
    {"addcdiv", add_of_two<addcdiv>},
    {"addcmul", add_of_two<addcmul>},
    {"celu", smooth_unit},
    {"clamp", bound},
    {"clamp_max", bound},
    {"clamp_min", bound},
    {"clip", bound},
    {"div", divide},
    {"divide", divide},
    {"elu", exponential_unit},
    {"gelu", bend},
    {"glu", gated},
    {"hardshrink", shrink<hardshrink>},
    {"hardtanh", bound_softly},
    {"leaky_relu", leak},
    {"lerp", interpolate_between},
    {"logit", inverse_sigmoid},
    {"masked_fill", mask},
    {"nan_to_num", replace_nan},
    {"pow", power},
    {"prelu", learned_leak},
    {"round", round_to},
    {"rsub", minus_from},
    {"softplus", soft_step},
    {"softshrink", shrink<softshrink>},
    {"sub", minus},
    {"subtract", minus},
    {"threshold", cut},
    {"where", choose},
};

}  // namespace

std::span<const OperatorRow> pointwise_operators() { return kRows; }

}  // namespace tandem::exported
