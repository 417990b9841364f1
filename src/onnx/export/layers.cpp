// Rows of softmax, normalization and attention.
#include <limits>

#include "onnx/export/ordered.h"
#include "onnx/export/writer.h"

namespace tandem::onnx::exporting {
namespace {

using kernels::Table;

template <auto Entry>
void softmax(Writer& w) {
  const Elements out = *w.elements<Entry, 0>(), in = *w.elements<Entry, 1>();
  const std::vector<size_t> order = order_of(in);
  const Value* const x = w.read(in_order(in, order));
  const char* const op = Entry == &Table::softmax ? "Softmax" : "LogSoftmax";
  w.give(in_order(out, order), w.graph.node(op, {x}, {x->dtype, x->sizes}, {{"axis", place_of(in.sizes.size() - 1, order)}}));
}

/// A mean that keeps its dimensions.
const Value* mean(Graph& graph, const Value* x, const std::vector<int64_t>& axes) {
  Sizes sizes = x->sizes;
  for (const int64_t axis : axes) sizes[static_cast<size_t>(axis)] = 1;
  if (graph.opset() >= 18) return graph.node("ReduceMean", {x, graph.ints(axes)}, {x->dtype, sizes});
  return graph.node("ReduceMean", {x}, {x->dtype, sizes}, {{"axes", axes}});
}

void normalize(Writer& w) {
  constexpr auto kEntry = &Table::normalize;
  Graph& graph = w.graph;
  Elements out = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 3>();
  const auto mean_out = w.elements<kEntry, 1>(), variance_out = w.elements<kEntry, 2>();
  const bool centered = mean_out.has_value();
  const auto weight = w.elements<kEntry, 4>(), bias = w.elements<kEntry, 5>();
  const double eps = w.fixed<kEntry, 6>();
  const auto two = [&](const char* op, const Value* a, const Value* b) {
    return graph.node(op, {a, b}, {a->dtype, broadcast(a->sizes, b->sizes)});
  };
  // Layers: rows that lie one behind the other, with one weight for all.
  const bool layers = in.sizes[2].is(1) && in.strides[1].is(1) && (!weight || weight->sizes[0].is(1)) && (!bias || bias->sizes[0].is(1));
  if (layers) {
    Sizes rows = {in.sizes[0]}, strides = {in.strides[0]}, of_out = {out.strides[0]};
    if (const Elements* const source = w.source(in)) {
      const Elements inner = *source;
      const Sizes own = strides;
      split_like(inner, own, rows, {&strides, &of_out});
    }
    const Size length = in.sizes[1];
    const auto put = [&](Elements& x, const Sizes& at) {
      x.sizes = rows;
      x.strides = at;
      x.sizes.push_back(length);
      x.strides.push_back(1);
    };
    put(in, strides);
    put(out, of_out);
    const auto flat = [&](const Elements& x) { return graph.reshape(w.read(x), {length}); };
    const Value* const x = w.read(in);
    if (centered && graph.opset() >= 17) {
      Values inputs = {x, weight ? flat(*weight) : graph.expand(graph.number(1.0, x->dtype), {length})};
      if (bias) inputs.push_back(flat(*bias));
      return w.give(out, graph.node("LayerNormalization", inputs, {x->dtype, x->sizes}, {{"axis", int64_t{-1}}, {"epsilon", eps}}));
    }
    const std::vector<int64_t> last = {static_cast<int64_t>(x->sizes.size()) - 1};
    const Value* const apart = centered ? two("Sub", x, mean(graph, x, last)) : x;
    const Value* const variance = mean(graph, two("Mul", apart, apart), last);
    const Value* y = two("Add", variance, graph.number(eps, x->dtype));
    y = two("Div", apart, graph.node("Sqrt", {y}, {y->dtype, y->sizes}));
    if (weight) y = two("Mul", y, flat(*weight));
    if (bias) y = two("Add", y, flat(*bias));
    return w.give(out, y);
  }
  const Value* const x = w.read(in);
  const Value* const center = centered ? mean(graph, x, {1, 2}) : nullptr;
  const Value* const apart = centered ? two("Sub", x, center) : x;
  const Value* const variance = mean(graph, two("Mul", apart, apart), {1, 2});
  if (mean_out) w.give(*mean_out, center);
  if (variance_out) w.give(*variance_out, variance);
  const Value* y = two("Add", variance, graph.number(eps, x->dtype));
  y = two("Div", apart, graph.node("Sqrt", {y}, {y->dtype, y->sizes}));
  const auto with = [&](const char* op, const std::optional<Elements>& parameter) {
    if (!parameter) return;
    const Size groups = parameter->sizes[0];
    const Value* const p = w.read(*parameter, true);
    const Sizes four = {in.sizes[0] / groups, groups, in.sizes[1], in.sizes[2]};
    y = two(op, graph.reshape(y, four), graph.reshape(p, {1, groups, p->sizes[1], 1}));
  };
  with("Mul", weight);
  with("Add", bias);
  w.give(out, graph.reshape(y, in.sizes));
}

/// The running figures of a module that trains: a file keeps nothing from one call to the next.
void follow_statistics(Writer&) {}

const Value* numbers(Graph& graph, const Size& count, bool column) {
  const Value* const range =
      graph.node("Range", {graph.number(int64_t{0}, kInt64), graph.size(count), graph.number(int64_t{1}, kInt64)}, {kInt64, {count}});
  return column ? graph.reshape(range, {count, 1}) : range;
}

void attention(Writer& w) {
  constexpr auto kEntry = &Table::attention;
  Graph& graph = w.graph;
  const Elements out = *w.elements<kEntry, 0>();
  const Elements q = *w.elements<kEntry, 2>(), v = *w.elements<kEntry, 4>();
  Elements k = *w.elements<kEntry, 3>();
  const auto mask = w.elements<kEntry, 5>();
  const kernels::Attention how = w.argument<kEntry, 6>(0);
  for (size_t t = 1; t < kTraces; ++t)
    if (w.argument<kEntry, 6>(t).scale != how.scale) w.refuse_setting();
  std::swap(k.sizes[2], k.sizes[3]);
  std::swap(k.strides[2], k.strides[3]);
  const Size heads = q.sizes[1], own = k.sizes[1];
  const auto for_heads = [&](const Value* x) {
    if (own == heads) return x;
    const Sizes &s = x->sizes, wide = {s[0], own, heads / own, s[2], s[3]};
    return graph.reshape(graph.expand(graph.reshape(x, {s[0], own, 1, s[2], s[3]}), wide), {s[0], heads, s[2], s[3]});
  };
  const DType type = q.dtype;
  const Sizes sizes = {q.sizes[0], heads, q.sizes[2], v.sizes[2]};
  const auto two = [&](const char* op, const Value* a, const Value* b) { return graph.node(op, {a, b}, {type, sizes}); };
  const Value* const low = graph.number(-std::numeric_limits<double>::infinity(), type);
  const Value* x = two("MatMul", w.read(q), for_heads(w.read(k)));
  if (how.scale != 1) x = two("Mul", x, graph.number(how.scale, type));
  if (how.causal) {
    const Value* const seen =
        graph.node("LessOrEqual", {numbers(graph, sizes[3], false), numbers(graph, sizes[2], true)}, {kBool, {sizes[2], sizes[3]}});
    x = graph.node("Where", {seen, x, low}, {type, sizes});
  }
  if (mask) {
    const Value* const m = w.read(*mask, true);
    x = mask->dtype == kBool ? graph.node("Where", {m, x, low}, {type, sizes}) : two("Add", x, graph.cast(m, type));
  }
  x = graph.node("Softmax", {x}, {type, sizes}, {{"axis", int64_t{-1}}});
  if (mask)  // a row that sees nothing gives 0
    x = graph.node("Where", {graph.node("IsNaN", {x}, {kBool, sizes}), graph.number(0.0, type), x}, {type, sizes});
  w.give(out, graph.node("MatMul", {x, for_heads(w.read(v))}, {type, out.sizes}));
}

/// Cross-entropy with numbers of classes, of rows of logits (n, c).
void cross_entropy(Writer& w) {
  constexpr auto kEntry = &Table::cross_entropy;
  Graph& graph = w.graph;
  const Elements losses = *w.elements<kEntry, 0>(), in = *w.elements<kEntry, 3>();
  const auto of_classes = w.elements<kEntry, 5>();
  const double smoothing = w.fixed<kEntry, 7>();
  const Sizes rows = {in.sizes[0]}, column = {in.sizes[0], 1};
  const DType type = in.dtype;
  const auto node = [&](const char* op, const Values& inputs, const Sizes& sizes, const Attributes& attributes = {}) {
    return graph.node(op, inputs, {inputs[0]->dtype, sizes}, attributes);
  };
  const Value* const target = w.read(*w.elements<kEntry, 4>());
  const Value* const ignored = graph.node("Equal", {target, graph.number(w.fixed<kEntry, 6>(), kInt64)}, {kBool, rows});
  const Value* const zero = graph.number(int64_t{0}, kInt64);
  const Value* const chosen = graph.node("Where", {ignored, zero, target}, {kInt64, rows});
  const Value* const counted = graph.cast(graph.node("Not", {ignored}, {kBool, rows}), type);
  const Value* const weight = of_classes ? w.read(*of_classes) : nullptr;
  const Value* const weights = weight ? node("Mul", {node("Gather", {weight, chosen}, rows), counted}, rows) : counted;
  const Value* const logs = node("LogSoftmax", {w.read(in)}, in.sizes, {{"axis", int64_t{1}}});
  const Value* const own = node("GatherElements", {logs, graph.reshape(chosen, column)}, column, {{"axis", int64_t{1}}});
  const Value* sum = node("Mul", {graph.reshape(own, rows), weights}, rows);
  if (smoothing != 0) {
    const Value* const of_all = weight ? node("Mul", {logs, weight}, in.sizes) : logs;
    const Value* const all = node("Mul", {node("ReduceSum", {of_all, graph.ints({1})}, rows, {{"keepdims", int64_t{0}}}), counted}, rows);
    const Value* const share = node("Div", {graph.number(smoothing, type), graph.cast(graph.size(in.sizes[1]), type)}, {});
    sum = node("Add", {node("Mul", {sum, graph.number(1 - smoothing, type)}, rows), node("Mul", {all, share}, rows)}, rows);
  }
  w.give(losses, node("Neg", {sum}, rows));
  w.give(*w.elements<kEntry, 1>(), weights);
  w.give(*w.elements<kEntry, 2>(), logs);
}

}  // namespace

std::span<const Row> layer_rows() {
  static const Row rows[] = {row<&Table::softmax>("softmax", softmax<&Table::softmax>),
                             row<&Table::log_softmax>("log_softmax", softmax<&Table::log_softmax>),
                             row<&Table::normalize>("normalize", normalize),
                             row<&Table::follow_statistics>("follow_statistics", follow_statistics),
                             row<&Table::attention>("attention", attention),
                             row<&Table::cross_entropy>("cross_entropy", cross_entropy)};
  return rows;
}

}  // namespace tandem::onnx::exporting
