#include "golden.h"

namespace golden {
namespace {

template <class F>
void unary(Table& table, const std::string& name, F f) {
  table.add((name + "(input)").c_str(), [f](Call& c) { return Results(f(Input(c.input()))); });
}

/// Either side may be a number.
template <class F>
void binary(Table& table, const std::string& name, F f) {
  table.add((name + "(input, other)").c_str(), [f](Call& c) {
    return c.with("input", [&](const Operand& a) { return c.with("other", [&](const Operand& b) { return Results(f(a, b)); }); });
  });
}

template <class F>
void three(Table& table, const std::string& signature, const char* first, const char* second, F f) {
  table.add(signature.c_str(), [f, first, second](Call& c) {
    return c.with("input", [&](const Operand& x) {
      return c.with(first, [&](const Operand& a) { return c.with(second, [&](const Operand& b) { return Results(f(c, x, a, b)); }); });
    });
  });
}

double real_or(const Call& c, const char* name, double other) { return c.has(name) ? c.real(name) : other; }

void add_unary(Table& table) {
#define UNARY(name) unary(table, #name, [](const Input& x) { return name(x); });
  UNARY(abs)
  UNARY(acos)
  UNARY(acosh)
  UNARY(asin)
  UNARY(asinh)
  UNARY(atan)
  UNARY(atanh)
  UNARY(bitwise_not)
  UNARY(ceil)
  UNARY(cos)
  UNARY(cosh)
  UNARY(deg2rad)
  UNARY(digamma)
  UNARY(erf)
  UNARY(erfc)
  UNARY(erfinv)
  UNARY(exp)
  UNARY(exp2)
  UNARY(expm1)
  UNARY(floor)
  UNARY(frac)
  UNARY(isfinite)
  UNARY(isinf)
  UNARY(isnan)
  UNARY(isneginf)
  UNARY(isposinf)
  UNARY(lgamma)
  UNARY(log)
  UNARY(log10)
  UNARY(log1p)
  UNARY(log2)
  UNARY(logical_not)
  UNARY(neg)
  UNARY(rad2deg)
  UNARY(reciprocal)
  UNARY(rsqrt)
  UNARY(sgn)
  UNARY(sigmoid)
  UNARY(sign)
  UNARY(signbit)
  UNARY(sin)
  UNARY(sinc)
  UNARY(sinh)
  UNARY(sqrt)
  UNARY(square)
  UNARY(tan)
  UNARY(tanh)
  UNARY(trunc)
#undef UNARY
  unary(table, "positive", [](const Input& x) { return positive(x.tensor()); });
  table.add("round(input, *, decimals=None)",
            [](Call& c) { return c.has("decimals") ? round(c.input(), c.integer("decimals")) : round(c.input()); });
  table.add("logit(input, eps=None)", [](Call& c) { return logit(c.input(), real_or_none(c, "eps")); });
  table.add("nan_to_num(input, nan=None, posinf=None, neginf=None)",
            [](Call& c) { return nan_to_num(c.input(), real_or(c, "nan", 0), real_or_none(c, "posinf"), real_or_none(c, "neginf")); });
  table.add("polygamma(n: int, input)", [](Call& c) { return polygamma(c.integer("n"), c.input()); });
}

void add_binary(Table& table) {
#define BINARY(name) binary(table, #name, [](const Operand& a, const Operand& b) { return name(a, b); });
  BINARY(atan2)
  BINARY(bitwise_and)
  BINARY(bitwise_left_shift)
  BINARY(bitwise_or)
  BINARY(bitwise_right_shift)
  BINARY(bitwise_xor)
  BINARY(copysign)
  BINARY(eq)
  BINARY(float_power)
  BINARY(floor_divide)
  BINARY(fmax)
  BINARY(fmin)
  BINARY(fmod)
  BINARY(ge)
  BINARY(gt)
  BINARY(heaviside)
  BINARY(hypot)
  BINARY(ldexp)
  BINARY(le)
  BINARY(logaddexp)
  BINARY(logaddexp2)
  BINARY(logical_and)
  BINARY(logical_or)
  BINARY(logical_xor)
  BINARY(lt)
  BINARY(maximum)
  BINARY(minimum)
  BINARY(mul)
  BINARY(ne)
  BINARY(pow)
  BINARY(remainder)
  BINARY(true_divide)
  BINARY(xlogy)
#undef BINARY
  binary(table, "__rdiv__", [](const Operand& a, const Operand& b) {
    if (!a.is_tensor()) fail("[reciprocal] of a number");
    return reciprocal(a) * b;
  });
  binary(table, "__rpow__", [](const Operand& a, const Operand& b) { return pow(b, a); });
  binary(table, "__rsub__", [](const Operand& a, const Operand& b) { return b - a; });
#define SCALED(name)                                                                                                                  \
  table.add(#name "(input, other, *, alpha=None)", [](Call& c) {                                                                      \
    return c.with("input", [&](const Operand& a) {                                                                                    \
      return c.with("other", [&](const Operand& b) { return Results(c.has("alpha") ? name(a, b, c.number("alpha")) : name(a, b)); }); \
    });                                                                                                                               \
  });
  SCALED(add)
  SCALED(sub)
  SCALED(rsub)
#undef SCALED
  table.add("div(input, other, *, rounding_mode=None)", [](Call& c) {
    return c.with("input", [&](const Operand& a) {
      return c.with("other",
                    [&](const Operand& b) { return Results(c.has("rounding_mode") ? div(a, b, c.text("rounding_mode")) : div(a, b)); });
    });
  });
  table.add("isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False)",
            [](Call& c) { return isclose(c.input(), c.tensor("other"), c.real("rtol"), c.real("atol"), c.flag("equal_nan")); });
}

void add_more(Table& table) {
  three(table, "addcmul(input, tensor1, tensor2, *, value=1)", "tensor1", "tensor2",
        [](Call& c, const Operand& x, const Operand& a, const Operand& b) { return addcmul(x, a, b, c.number("value")); });
  three(table, "addcdiv(input, tensor1, tensor2, *, value=1)", "tensor1", "tensor2",
        [](Call& c, const Operand& x, const Operand& a, const Operand& b) { return addcdiv(x, a, b, c.number("value")); });
  three(table, "lerp(input, end, weight)", "end", "weight",
        [](Call&, const Operand& x, const Operand& a, const Operand& b) { return lerp(x, a, b); });
  table.add("where(input, condition, other)", [](Call& c) {
    return c.with("input", [&](const Operand& a) {
      return c.with("other", [&](const Operand& b) { return Results(where(c.tensor("condition"), a, b)); });
    });
  });
  table.add("clamp(input, min: Tensor=None, max: Tensor=None)", [](Call& c) {
    if (!c.has("min") && !c.has("max")) return clamp(c.input(), std::optional<Scalar>(), std::optional<Scalar>());
    return clamp(c.input(), c.tensor_or_none("min"), c.tensor_or_none("max"));
  });
  table.add("clamp(input, min: number=None, max: number=None)",
            [](Call& c) { return clamp(c.input(), c.number_or_none("min"), c.number_or_none("max")); });
  table.add("clamp_min(input, min)",
            [](Call& c) { return c.with("min", [&](const Operand& min) { return Results(clamp_min(c.input(), min)); }); });
  table.add("clamp_max(input, max)",
            [](Call& c) { return c.with("max", [&](const Operand& max) { return Results(clamp_max(c.input(), max)); }); });
}

void add_activations(Table& table) {
  const auto name = [](const char* of) { return std::string("nn.functional.") + of; };
#define ACTIVATION(f) unary(table, name(#f), [](const Input& x) { return f(x); });
  ACTIVATION(hardsigmoid)
  ACTIVATION(hardswish)
  ACTIVATION(logsigmoid)
  ACTIVATION(mish)
  ACTIVATION(relu)
  ACTIVATION(relu6)
  ACTIVATION(selu)
  ACTIVATION(silu)
  ACTIVATION(softsign)
  ACTIVATION(tanhshrink)
#undef ACTIVATION
  table.add("nn.functional.celu(input, alpha=1.0)", [](Call& c) { return celu(c.input(), c.real("alpha")); });
  table.add("nn.functional.elu(input, alpha=1.0)", [](Call& c) { return elu(c.input(), c.real("alpha")); });
  table.add("nn.functional.gelu(input, *, approximate='none')", [](Call& c) { return gelu(c.input(), c.text("approximate")); });
  table.add("nn.functional.glu(input, dim=-1)", [](Call& c) { return glu(c.input(), c.integer("dim")); });
  table.add("nn.functional.hardshrink(input, lambd=0.5)", [](Call& c) { return hardshrink(c.input(), c.real("lambd")); });
  table.add("nn.functional.hardtanh(input, min_val=-1.0, max_val=1.0)",
            [](Call& c) { return hardtanh(c.input(), c.real("min_val"), c.real("max_val")); });
  table.add("nn.functional.leaky_relu(input, negative_slope=0.01)",
            [](Call& c) { return leaky_relu(c.input(), c.real("negative_slope")); });
  table.add("nn.functional.prelu(input, weight)", [](Call& c) { return prelu(c.input(), c.tensor("weight")); });
  table.add("nn.functional.softplus(input, beta=1.0, threshold=20.0)",
            [](Call& c) { return softplus(c.input(), c.real("beta"), c.real("threshold")); });
  table.add("nn.functional.softshrink(input, lambd=0.5)", [](Call& c) { return softshrink(c.input(), c.real("lambd")); });
  table.add("nn.functional.threshold(input, threshold, value)",
            [](Call& c) { return threshold(c.input(), c.real("threshold"), c.real("value")); });
#define SOFTMAX(signature, f)                             \
  table.add(signature "(input, dim: int, *, dtype=None)", \
            [](Call& c) { return c.dtype() ? f(c.input(), c.integer("dim"), *c.dtype()) : f(c.input(), c.integer("dim")); });
  SOFTMAX("softmax", softmax)
  SOFTMAX("log_softmax", log_softmax)
  SOFTMAX("nn.functional.softmin", softmin)
#undef SOFTMAX
}

}  // namespace

void add_pointwise(Table& table) {
  add_unary(table);
  add_binary(table);
  add_more(table);
  add_activations(table);
}

}  // namespace golden
