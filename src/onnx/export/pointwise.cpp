// Rows of pointwise operations: of each what it is in ONNX's operators, as a function of the operands.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/pointwise_simplified.h"
#include "onnx/export/writer.h"
#include "ops/pointwise_row.h"

namespace tandem::onnx::exporting {
namespace {

using kernels::PointwiseOp;
using kernels::Table;

/// Makes the nodes of one call; operands and numbers are of the type that is computed in.
class Maker {
 public:
  Maker(Graph& graph, DType type) : graph(graph), type(type) {}

  const Value* operator()(const char* op, const Values& in, std::optional<DType> result = {}, const Attributes& attributes = {}) {
    Sizes sizes;
    for (const Value* const x : in) sizes = broadcast(sizes, x->sizes);
    return graph.node(op, in, {result.value_or(in.back()->dtype), sizes}, attributes);
  }
  const Value* number(double x) { return is_floating(type) ? graph.number(x, type) : graph.number(static_cast<int64_t>(x), type); }
  const Value* add(const Value* a, const Value* b) { return (*this)("Add", {a, b}); }
  const Value* sub(const Value* a, const Value* b) { return (*this)("Sub", {a, b}); }
  const Value* mul(const Value* a, const Value* b) { return (*this)("Mul", {a, b}); }
  const Value* div(const Value* a, const Value* b) { return (*this)("Div", {a, b}); }
  const Value* less(const Value* a, const Value* b) { return (*this)("Less", {a, b}, kBool); }
  const Value* greater(const Value* a, const Value* b) { return (*this)("Greater", {a, b}, kBool); }
  const Value* where(const Value* condition, const Value* a, const Value* b) { return (*this)("Where", {condition, a, b}); }
  const Value* not_zero(const Value* x) { return graph.cast(x, kBool); }
  const Value* no(const Value* x) { return (*this)("Not", {x}, kBool); }
  const Value* is_nan(const Value* x) { return is_floating(type) ? (*this)("IsNaN", {x}, kBool) : less(x, x); }
  /// Larger and smaller of two; nan wins, as it does in ONNX's.
  const Value* maximum(const Value* a, const Value* b) { return (*this)("Max", {a, b}); }
  const Value* minimum(const Value* a, const Value* b) { return (*this)("Min", {a, b}); }

  Graph& graph;
  DType type;
};

using In = const Values&;
struct PointwiseRow {
  PointwiseOp op;
  const Value* (*make)(Maker& m, In in);
};

const char* const kNames[] = {
#define TD_UNARY(name, ...) #name,
#define TD_BINARY(name, ...) #name,
#define TD_KERNEL(name, ...) #name,
#include "kernels/pointwise.def"
#undef TD_UNARY
#undef TD_BINARY
#undef TD_KERNEL
};
constexpr kernels::Rule kRules[] = {
#define TD_UNARY(name, functor, rule, ...) kernels::Rule::rule,
#define TD_BINARY(name, functor, rule, ...) kernels::Rule::rule,
#define TD_KERNEL(name, functor, rule, ...) kernels::Rule::rule,
#include "kernels/pointwise.def"
#undef TD_UNARY
#undef TD_BINARY
#undef TD_KERNEL
};

const Value* gelu(Maker& m, In in, bool tanh) {
  const Value* const x = in[0];
  if (m.graph.opset() >= 20) return m("Gelu", {x}, {}, {{"approximate", std::string(tanh ? "tanh" : "none")}});
  const Value* inside = nullptr;
  if (tanh) {
    const Value* const cube = m.mul(m.mul(x, x), x);
    inside = m("Tanh", {m.mul(m.number(0.79788456080286535588), m.add(x, m.mul(m.number(0.044715), cube)))});
  } else {
    inside = m("Erf", {m.mul(x, m.number(0.70710678118654752440))});
  }
  return m.mul(m.mul(m.number(0.5), x), m.add(inside, m.number(1)));
}

const Value* truncated(Maker& m, const Value* x) {
  const Value* const zero = m.number(0);
  return m.where(m.less(x, zero), m("Ceil", {x}), m("Floor", {x}));
}

const Value* floor_divided(Maker& m, const Value* a, const Value* b) {
  if (is_floating(m.type)) return m("Floor", {m.div(a, b)});
  const Value* const rest = m("Mod", {a, b});  // with the sign of b
  return m.div(m.sub(a, rest), b);
}

/// log(1 + exp(x)), which cannot overflow.
const Value* softplus(Maker& m, const Value* x) {
  const Value* const magnitude = m("Abs", {x});
  const Value* const rest = m("Log", {m.add(m("Exp", {m("Neg", {magnitude})}), m.number(1))});
  return m.add(m.maximum(x, m.number(0)), rest);
}

bool is_number(const Value* x, double number) {
  return x->kind == Value::Kind::Constant && x->tensor.numel() == 1 && x->tensor.item<double>() == number;
}
const Value* scaled(Maker& m, const Value* factor, const Value* x) { return is_number(factor, 1) ? x : m.mul(factor, x); }

/// Batch normalization by running figures is shift + x * factor, both made of the figures: found again in what made them. nullptr where
/// it is something else.
const Value* batch_normalization(Maker& m, const Value* shift, const Value* x, const Value* factor) {
  struct Node {
    const GraphNode* node;
    [[nodiscard]] bool is(const char* op) const { return node && node->op == op; }
    [[nodiscard]] const Value* in(size_t i) const { return node->inputs[i]; }
  };
  const auto made = [&](const Value* value) { return Node{m.graph.maker(value)}; };
  const auto column = [&](const Value* value) -> const Value* {  // (1, C, 1, …) of (C)
    const Node reshape = made(value);
    const Value* const flat = reshape.is("Reshape") ? reshape.in(0) : value;
    if (flat->sizes.size() != 1 || x->sizes.size() < 2 || !(flat->sizes[0] == x->sizes[1])) return nullptr;
    Sizes wide(x->sizes.size(), 1);
    wide[1] = flat->sizes[0];
    return broadcast(value->sizes, wide) == wide && broadcast(wide, x->sizes) == x->sizes ? flat : nullptr;
  };
  const Value *const b = column(shift), *const a = column(factor);
  if (!a || !b) return nullptr;
  const Value *weight = nullptr, *bias = nullptr, *root = a;
  if (const Node mul = made(root); mul.is("Mul")) {
    root = mul.in(0);
    weight = mul.in(1);
  }
  const Node reciprocal = made(root);
  if (!reciprocal.is("Reciprocal")) return nullptr;
  const Node sqrt = made(reciprocal.in(0));
  if (!sqrt.is("Sqrt")) return nullptr;
  const Node sum = made(sqrt.in(0));
  if (!sum.is("Add") || sum.in(1)->kind != Value::Kind::Constant || sum.in(1)->tensor.numel() != 1) return nullptr;
  Node product = made(b);
  if (product.is("Add")) {
    bias = product.in(1);
    product = made(product.in(0));
  }
  if (!product.is("Mul") || product.in(1) != a) return nullptr;
  const Node negative = made(product.in(0));
  if (!negative.is("Neg")) return nullptr;
  const auto of_channels = [&](const Value* value) { return value->sizes == a->sizes; };
  const Value *const mean = negative.in(0), *const variance = sum.in(0);
  if (!of_channels(mean) || !of_channels(variance) || (weight && !of_channels(weight)) || (bias && !of_channels(bias))) return nullptr;
  const auto or_number = [&](const Value* value, double number) {
    return value ? value : m.graph.expand(m.graph.number(number, m.type), a->sizes);
  };
  return m.graph.node("BatchNormalization", {x, or_number(weight, 1), or_number(bias, 0), mean, variance}, {x->dtype, x->sizes},
                      {{"epsilon", sum.in(1)->tensor.item<double>()}});
}

const Value* addcmul(Maker& m, In in) {
  if (is_number(in[3], 1))
    if (const Value* const y = batch_normalization(m, in[0], in[1], in[2])) return y;
  return m.add(in[0], m.mul(scaled(m, in[3], in[1]), in[2]));
}

/// -(y log p + (1 - y) log(1 - p)), logarithms not below -100.
const Value* binary_cross_entropy(Maker& m, In in) {
  const auto log = [&](const Value* x) { return m.maximum(m("Log", {x}), m.number(-100)); };
  const Value* const one = m.number(1);
  return m.sub(m.mul(m.sub(in[1], one), log(m.sub(one, in[0]))), m.mul(in[1], log(in[0])));
}

/// The same of sigmoid(x), the targets that are 1 taken as often as the last operand says.
const Value* binary_cross_entropy_logits(Maker& m, In in) {
  const Value *const one = m.number(1), *rest = softplus(m, m("Neg", {in[0]}));
  if (!is_number(in[2], 1)) rest = m.mul(m.add(one, m.mul(m.sub(in[2], one), in[1])), rest);
  return m.add(m.mul(m.sub(one, in[1]), in[0]), rest);
}

const Value* smooth_l1(Maker& m, In in) {
  const Value *const distance = m("Abs", {m.sub(in[0], in[1])}), *const half = m.number(0.5);
  return m.where(m.less(distance, in[2]), m.div(m.mul(m.mul(half, distance), distance), in[2]), m.sub(distance, m.mul(half, in[2])));
}

const Value* huber(Maker& m, In in) {
  const Value *const distance = m("Abs", {m.sub(in[0], in[1])}), *const half = m.number(0.5);
  return m.where(m("LessOrEqual", {distance, in[2]}, kBool), m.mul(m.mul(half, distance), distance),
                 m.mul(in[2], m.sub(distance, m.mul(half, in[2]))));
}

/// a log(b), 0 where a is 0, nan where b is.
const Value* xlogy(Maker& m, In in) {
  const Value *const zero = m.number(0), *const product = m.mul(in[0], m("Log", {in[1]}));
  return m.where(m.is_nan(in[1]), in[1], m.where(m("Equal", {in[0], zero}, kBool), zero, product));
}

/// An operation on bits, which of bools is a logical one.
const Value* bits(Maker& m, In in, const char* of_bools, const char* of_integers) {
  if (m.type != kBool) m.graph.require(18, "operations on bits");
  return m(m.type == kBool ? of_bools : of_integers, in);
}

#define ONE(name, ...)                                                             \
  {                                                                                \
    PointwiseOp::name, [](Maker& m, In in) -> const Value* { return __VA_ARGS__; } \
  }
const PointwiseRow kRows[] = {
    // Operators of the same meaning
    ONE(neg, m("Neg", {in[0]})),
    ONE(abs, m("Abs", {in[0]})),
    ONE(sign, m("Sign", {in[0]})),
    ONE(sgn, m("Sign", {in[0]})),
    ONE(floor, is_floating(m.type) ? m("Floor", {in[0]}) : in[0]),
    ONE(ceil, is_floating(m.type) ? m("Ceil", {in[0]}) : in[0]),
    ONE(round, is_floating(m.type) ? m("Round", {in[0]}) : in[0]),
    ONE(exp, m("Exp", {in[0]})),
    ONE(log, m("Log", {in[0]})),
    ONE(sqrt, m("Sqrt", {in[0]})),
    ONE(reciprocal, m("Reciprocal", {in[0]})),
    ONE(sin, m("Sin", {in[0]})),
    ONE(cos, m("Cos", {in[0]})),
    ONE(tan, m("Tan", {in[0]})),
    ONE(asin, m("Asin", {in[0]})),
    ONE(acos, m("Acos", {in[0]})),
    ONE(atan, m("Atan", {in[0]})),
    ONE(sinh, m("Sinh", {in[0]})),
    ONE(cosh, m("Cosh", {in[0]})),
    ONE(tanh, m("Tanh", {in[0]})),
    ONE(asinh, m("Asinh", {in[0]})),
    ONE(acosh, m("Acosh", {in[0]})),
    ONE(atanh, m("Atanh", {in[0]})),
    ONE(erf, m("Erf", {in[0]})),
    ONE(sigmoid, m("Sigmoid", {in[0]})),
    ONE(relu, m("Relu", {in[0]})),
    ONE(softsign, m("Softsign", {in[0]})),
    ONE(isnan, m.is_nan(in[0])),
    ONE(logical_not, m.no(m.not_zero(in[0]))),
    ONE(add, m.add(in[0], in[1])),
    ONE(sub, m.sub(in[0], in[1])),
    ONE(rsub, m.sub(in[1], in[0])),
    ONE(mul, m.mul(in[0], in[1])),
    ONE(div, m.div(in[0], in[1])),
    ONE(pow, m("Pow", {in[0], in[1]}, m.type)),
    ONE(maximum, m.maximum(in[0], in[1])),
    ONE(minimum, m.minimum(in[0], in[1])),
    ONE(eq, m("Equal", {in[0], in[1]}, kBool)),
    ONE(ne, m.no(m("Equal", {in[0], in[1]}, kBool))),
    ONE(lt, m.less(in[0], in[1])),
    ONE(le, m("LessOrEqual", {in[0], in[1]}, kBool)),
    ONE(gt, m.greater(in[0], in[1])),
    ONE(ge, m("GreaterOrEqual", {in[0], in[1]}, kBool)),
    ONE(logical_and, m("And", {m.not_zero(in[0]), m.not_zero(in[1])}, kBool)),
    ONE(logical_or, m("Or", {m.not_zero(in[0]), m.not_zero(in[1])}, kBool)),
    ONE(logical_xor, m("Xor", {m.not_zero(in[0]), m.not_zero(in[1])}, kBool)),
    ONE(bitwise_and, bits(m, in, "And", "BitwiseAnd")),
    ONE(bitwise_or, bits(m, in, "Or", "BitwiseOr")),
    ONE(bitwise_xor, bits(m, in, "Xor", "BitwiseXor")),
    ONE(bitwise_not, bits(m, in, "Not", "BitwiseNot")),
    ONE(where, m.where(m.not_zero(in[0]), in[1], in[2])),
    ONE(gelu, gelu(m, in, false)),
    ONE(gelu_tanh, gelu(m, in, true)),
    // Made of several
    ONE(square, m.mul(in[0], in[0])),
    ONE(cube, m.mul(m.mul(in[0], in[0]), in[0])),
    ONE(trunc, is_floating(m.type) ? truncated(m, in[0]) : in[0]),
    ONE(frac, m.sub(in[0], truncated(m, in[0]))),
    ONE(exp2, m("Exp", {m.mul(in[0], m.number(0.69314718055994530942))})),
    ONE(expm1, m.sub(m("Exp", {in[0]}), m.number(1))),
    ONE(log2, m.mul(m("Log", {in[0]}), m.number(1.44269504088896340736))),
    ONE(log10, m.mul(m("Log", {in[0]}), m.number(0.43429448190325182765))),
    ONE(log1p, m("Log", {m.add(in[0], m.number(1))})),
    ONE(rsqrt, m("Reciprocal", {m("Sqrt", {in[0]})})),
    ONE(erfc, m.sub(m.number(1), m("Erf", {in[0]}))),
    ONE(logsigmoid, m("Neg", {softplus(m, m("Neg", {in[0]}))})),
    ONE(silu, m.mul(in[0], m("Sigmoid", {in[0]}))),
    ONE(mish, m.mul(in[0], m("Tanh", {softplus(m, in[0])}))),
    ONE(relu6, m.minimum(m.maximum(in[0], m.number(0)), m.number(6))),
    ONE(hardsigmoid, m.div(m.minimum(m.maximum(m.add(in[0], m.number(3)), m.number(0)), m.number(6)), m.number(6))),
    ONE(hardswish, m.div(m.mul(in[0], m.minimum(m.maximum(m.add(in[0], m.number(3)), m.number(0)), m.number(6))), m.number(6))),
    ONE(selu, m("Selu", {in[0]})),
    ONE(tanhshrink, m.sub(in[0], m("Tanh", {in[0]}))),
    ONE(deg2rad, m.mul(in[0], m.number(0.01745329251994329577))),
    ONE(rad2deg, m.mul(in[0], m.number(57.2957795130823208768))),
    ONE(isinf, m("Equal", {m("Abs", {in[0]}), m.number(std::numeric_limits<double>::infinity())}, kBool)),
    ONE(isfinite, m.less(m("Abs", {in[0]}), m.number(std::numeric_limits<double>::infinity()))),
    ONE(isposinf, m("Equal", {in[0], m.number(std::numeric_limits<double>::infinity())}, kBool)),
    ONE(isneginf, m("Equal", {in[0], m.number(-std::numeric_limits<double>::infinity())}, kBool)),
    ONE(floor_divide, floor_divided(m, in[0], in[1])),
    ONE(remainder, is_floating(m.type) ? m.sub(in[0], m.mul(m("Floor", {m.div(in[0], in[1])}), in[1])) : m("Mod", {in[0], in[1]})),
    ONE(fmod, m("Mod", {in[0], in[1]}, {}, {{"fmod", int64_t{1}}})),
    ONE(div_trunc, is_floating(m.type) ? truncated(m, m.div(in[0], in[1])) : m.div(in[0], in[1])),
    ONE(hypot, m("Sqrt", {m.add(m.mul(in[0], in[0]), m.mul(in[1], in[1]))})),
    ONE(clamp, m.minimum(m.maximum(in[0], in[1]), in[2])),
    ONE(threshold, m.where(m("LessOrEqual", {in[0], in[1]}, kBool), in[2], in[0])),
    ONE(add_scaled, m.add(in[0], scaled(m, in[2], in[1]))),
    ONE(lerp, m.add(in[0], m.mul(in[2], m.sub(in[1], in[0])))),
    ONE(addcmul, addcmul(m, in)),
    ONE(addcdiv, m.add(in[0], scaled(m, in[3], m.div(in[1], in[2])))),
    ONE(leaky_relu, m.where(m.greater(in[0], m.number(0)), in[0], m.mul(in[0], in[1]))),
    ONE(elu, m.where(m.greater(in[0], m.number(0)), in[0], m.mul(in[1], m.sub(m("Exp", {m.minimum(in[0], m.number(0))}), m.number(1))))),
    ONE(celu, m.where(m.greater(in[0], m.number(0)), in[0],
                      m.mul(in[1], m.sub(m("Exp", {m.minimum(m.div(in[0], in[1]), m.number(0))}), m.number(1))))),
    ONE(softplus, m.where(m.greater(m.mul(in[0], in[1]), in[2]), in[0], m.div(softplus(m, m.mul(in[0], in[1])), in[1]))),
    ONE(hardshrink, m.where(m("LessOrEqual", {m("Abs", {in[0]}), in[1]}, kBool), m.number(0), in[0])),
    ONE(softshrink, m.mul(m("Sign", {in[0]}), m.maximum(m.sub(m("Abs", {in[0]}), in[1]), m.number(0)))),
    ONE(xlogy, xlogy(m, in)),
    ONE(smooth_l1, smooth_l1(m, in)),
    ONE(huber, huber(m, in)),
    ONE(binary_cross_entropy, binary_cross_entropy(m, in)),
    ONE(binary_cross_entropy_logits, binary_cross_entropy_logits(m, in)),
};
#undef ONE

const PointwiseRow* row_of(PointwiseOp op) {
  const auto* const at = std::find_if(std::begin(kRows), std::end(kRows), [&](const PointwiseRow& row) { return row.op == op; });
  return at == std::end(kRows) ? nullptr : at;
}

/// The operands' sizes, without what was merged, and what each reads.
struct Call {
  Sizes sizes;
  Elements out;
  std::vector<std::optional<Elements>> in;
};

Call unmerged(Writer& w) {
  std::array<const kernels::Pointwise*, kTraces> calls;
  for (size_t k = 0; k < kTraces; ++k) {
    calls[k] = &w.argument<&Table::pointwise, 0>(k);
    if (calls[k]->op != calls[0]->op || calls[k]->ndim != calls[0]->ndim || calls[k]->inputs != calls[0]->inputs ||
        calls[k]->compute != calls[0]->compute)
      w.graph.refuse("the module goes another way for other sizes of the inputs; leave those dimensions fixed");
  }
  const auto dims = static_cast<size_t>(calls[0]->ndim);
  Call call;
  call.sizes.resize(dims);
  const auto strides_of = [&](auto&& get) {
    Sizes strides(dims);
    for (size_t d = 0; d < dims; ++d)
      for (size_t k = 0; k < kTraces; ++k) strides[d].at[k] = get(*calls[k])[d];
    return strides;
  };
  for (size_t d = 0; d < dims; ++d)
    for (size_t k = 0; k < kTraces; ++k) call.sizes[d].at[k] = calls[k]->sizes[d];
  const auto elements = [&](auto&& address, DType dtype, Sizes strides) {
    std::array<const void*, kTraces> addresses{};
    for (size_t k = 0; k < kTraces; ++k) addresses[k] = address(*calls[k]);
    return w.at(addresses, dtype, call.sizes, std::move(strides));
  };
  call.out = elements([](const auto& c) { return c.out; }, calls[0]->out_dtype, strides_of([](const auto& c) { return c.out_strides; }));
  for (size_t i = 0; i < static_cast<size_t>(calls[0]->inputs); ++i) {
    if (!calls[0]->in[i].data) {
      call.in.emplace_back();
      continue;
    }
    call.in.push_back(elements([i](const auto& c) { return c.in[i].data; }, calls[0]->in[i].dtype,
                               strides_of([i](const auto& c) { return c.in[i].strides; })));
  }
  // The kernel's dimensions are merged ones: they are told apart as those of the operands are.
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (!call.in[i]) continue;
    const Elements* const source = w.source(*call.in[i]);
    if (!source) continue;
    const Elements inner = *source;
    std::vector<Sizes*> lists = {&call.out.strides};
    for (auto& other : call.in)
      if (other) lists.push_back(&other->strides);
    const Sizes own = call.in[i]->strides;
    split_like(inner, own, call.sizes, lists);
    call.out.sizes = call.sizes;
    for (auto& other : call.in)
      if (other) other->sizes = call.sizes;
  }
  return call;
}

bool is_narrow(DType dtype) { return dtype == kUInt8 || dtype == kInt8 || dtype == kInt16; }

void pointwise(Writer& w) {
  const kernels::Pointwise& first = w.argument<&Table::pointwise, 0>(0);
  const PointwiseOp op = kernels::simplified(first);
  const PointwiseRow* const row = row_of(op);
  if (!row)
    w.graph.refuse("the operation '", kNames[static_cast<size_t>(op)],
                   "' cannot be written to ONNX yet; compute it outside of the module that is exported, or by other operations");
  const Call call = unmerged(w);
  const kernels::Rule rule = kRules[static_cast<size_t>(op)];
  // The type to compute in: that of the operands where they have one, else the kernel's.
  std::optional<DType> common;
  bool mixed = false;
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (!call.in[i] || (op == PointwiseOp::where && i == 0)) continue;
    mixed |= common && *common != call.in[i]->dtype;
    common = call.in[i]->dtype;
  }
  const bool of_results = !kernels::gives_bool(rule);
  DType type = common && !mixed ? *common : first.compute;
  if (mixed && of_results && is_floating(call.out.dtype)) type = call.out.dtype;
  if (is_narrow(type) || (of_results && is_floating(first.compute) && !is_floating(type)) ||
      (is_floating(first.compute) != is_floating(type)))
    type = first.compute;
  const bool takes_bool = op == PointwiseOp::where || op == PointwiseOp::eq || op == PointwiseOp::ne || rule == kernels::Rule::Logical ||
                          rule == kernels::Rule::Integer;
  if (type == kBool && !takes_bool) type = kInt64;
  Maker m(w.graph, type);
  Values in;
  size_t used = call.in.size();
  if (op != first.op) used = 1;  // a power that is another operation
  for (size_t i = 0; i < used; ++i) {
    if (call.in[i]) {
      const Value* const x = w.read(*call.in[i], true);
      in.push_back(op == PointwiseOp::where && i == 0 ? x : w.graph.cast(x, type));
      continue;
    }
    Size number;
    bool same = true, whole = true;
    for (size_t k = 0; k < kTraces; ++k) {
      const kernels::Value& value = w.argument<&Table::pointwise, 0>(k).in[i].value;
      same &= value.floating == first.in[i].value.floating || (std::isnan(value.floating) && std::isnan(first.in[i].value.floating));
      same &= value.is_floating || value.integer == first.in[i].value.integer;
      whole &= !value.is_floating || (std::abs(value.floating) < 9e15 && value.floating == std::floor(value.floating));
      if (whole) number.at[k] = value.is_floating ? static_cast<int64_t>(value.floating) : value.integer;
    }
    if (!same && whole) in.push_back(w.graph.cast(w.graph.size(number), type));
    else if (!same) w.refuse_setting();
    else if (first.in[i].value.is_floating || is_floating(type)) in.push_back(w.graph.number(first.in[i].value.to<double>(), type));
    else in.push_back(w.graph.number(first.in[i].value.integer, type));
  }
  const Value* y = row->make(m, in);
  w.give(call.out, w.graph.expand(w.graph.cast(y, call.out.dtype), call.sizes));
}

}  // namespace

std::vector<std::string> pointwise_names() {
  std::vector<std::string> names;
  for (const PointwiseRow& row : kRows) names.emplace_back(kNames[static_cast<size_t>(row.op)]);
  return names;
}

std::span<const Row> pointwise_rows() {
  static const Row rows[] = {row<&Table::pointwise>("pointwise", pointwise)};
  return rows;
}

}  // namespace tandem::onnx::exporting
