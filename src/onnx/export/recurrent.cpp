// Rows of recurrent layers, and of their single steps.
#include "onnx/export/writer.h"

namespace tandem::onnx::exporting {
namespace {

using kernels::RecurrentCell;
using kernels::Table;

/// The gates of a weight or bias, whose first dimension they are, in ONNX's order; with a dimension of size 1 in front.
const Value* arranged(Graph& graph, const Value* x, const std::vector<int64_t>& order) {
  Sizes sizes = x->sizes;
  if (!order.empty()) {
    const int64_t rows = sizes[0].at[0] / static_cast<int64_t>(order.size());
    Values gates;
    for (const int64_t gate : order) gates.push_back(graph.slice(x, {0}, {gate * rows}, {(gate + 1) * rows}, {1}));
    x = graph.concat(gates, 0);
  }
  sizes.insert(sizes.begin(), 1);
  return graph.reshape(x, sizes);
}

void recurrent(Writer& w) {
  constexpr auto kEntry = &Table::recurrent;
  Graph& graph = w.graph;
  const Elements out = *w.elements<kEntry, 0>(), h_out = *w.elements<kEntry, 1>(), in = *w.elements<kEntry, 4>();
  const auto c_out = w.elements<kEntry, 2>();
  const Value* const h0 = w.read(*w.elements<kEntry, 5>());
  const auto c_in = w.elements<kEntry, 6>();
  const Value* const c0 = c_in ? w.read(*c_in) : nullptr;
  const auto weights = w.list<kEntry, 7>();
  const kernels::RecurrentLayers how = w.argument<kEntry, 8>(0);
  const char* op = "RNN";
  std::vector<int64_t> order;
  Attributes attributes = {{"hidden_size", h_out.sizes[2].at[0]}};
  if (how.cell == RecurrentCell::Lstm) {
    op = "LSTM";
    order = {0, 3, 1, 2};
  } else if (how.cell == RecurrentCell::Gru) {
    op = "GRU";
    order = {1, 0, 2};
    attributes.push_back({"linear_before_reset", int64_t{1}});
  } else if (how.cell == RecurrentCell::Relu) {
    attributes.push_back({"activations", std::vector<std::string>(how.bidirectional ? 2 : 1, "Relu")});
  }
  if (how.bidirectional) attributes.push_back({"direction", std::string("bidirectional")});
  const int64_t directions = how.bidirectional ? 2 : 1;
  const size_t each = how.biases ? 4 : 2;
  const Value* x = w.read(in);
  Values hs, cs;
  for (int64_t layer = 0; layer < how.layers; ++layer) {
    Values of_input, of_hidden, biases;
    for (int64_t d = 0; d < directions; ++d) {
      const auto first = static_cast<size_t>(layer * directions + d) * each;
      const auto part = [&](size_t i) { return arranged(graph, w.read(*weights[first + i]), order); };
      of_input.push_back(part(0));
      of_hidden.push_back(part(1));
      if (how.biases) biases.push_back(graph.concat({part(2), part(3)}, 1));
    }
    const auto state = [&](const Value* all) {
      return how.layers == 1 ? all : graph.slice(all, {0}, {layer * directions}, {(layer + 1) * directions}, {1});
    };
    Values inputs = {
        x, graph.concat(of_input, 0), graph.concat(of_hidden, 0), how.biases ? graph.concat(biases, 0) : nullptr, nullptr, state(h0)};
    if (c0) inputs.push_back(state(c0));
    const Size time = in.sizes[0], batch = in.sizes[1], hidden = h_out.sizes[2];
    std::vector<ResultType> types = {{out.dtype, {time, directions, batch, hidden}}, {out.dtype, {directions, batch, hidden}}};
    if (c0) types.push_back({out.dtype, {directions, batch, hidden}});
    const auto results = graph.nodes(op, inputs, types, attributes);
    x = graph.reshape(graph.transpose(results[0], {0, 2, 1, 3}), {time, batch, hidden * directions});
    hs.push_back(results[1]);
    if (c0) cs.push_back(results[2]);
  }
  w.give(out, x);
  w.give(h_out, graph.concat(hs, 0));
  if (c_out) w.give(*c_out, graph.concat(cs, 0));
}

/// The parts of a step.
struct Step {
  Graph& graph;
  DType type;
  Sizes sizes;

  const Value* gate(const Value* gates, int64_t i) const {
    const Size columns = sizes[1];
    return graph.slice(gates, {1}, {columns * i}, {columns * (i + 1)}, {1});
  }
  const Value* one(const char* op, const Value* x) const { return graph.node(op, {x}, {type, sizes}); }
  const Value* two(const char* op, const Value* a, const Value* b) const { return graph.node(op, {a, b}, {type, sizes}); }
};

void lstm_cell(Writer& w) {
  constexpr auto kEntry = &Table::lstm_cell;
  const auto h = w.elements<kEntry, 0>(), c = w.elements<kEntry, 1>();
  const Value* const gates = w.read(*w.elements<kEntry, 3>());
  const Value* const previous = w.read(*w.elements<kEntry, 4>());
  const Step s{w.graph, previous->dtype, previous->sizes};
  const Value* const in = s.one("Sigmoid", s.gate(gates, 0));
  const Value* const forget = s.one("Sigmoid", s.gate(gates, 1));
  const Value* const cell = s.one("Tanh", s.gate(gates, 2));
  const Value* const out = s.one("Sigmoid", s.gate(gates, 3));
  const Value* const next = s.two("Add", s.two("Mul", forget, previous), s.two("Mul", in, cell));
  if (c) w.give(*c, next);
  if (h) w.give(*h, s.two("Mul", out, s.one("Tanh", next)));
}

void gru_cell(Writer& w) {
  constexpr auto kEntry = &Table::gru_cell;
  const Elements h = *w.elements<kEntry, 0>();
  const Value* const of_input = w.read(*w.elements<kEntry, 2>());
  const Value* const of_hidden = w.read(*w.elements<kEntry, 3>());
  const Value* const previous = w.read(*w.elements<kEntry, 4>());
  const Step s{w.graph, previous->dtype, previous->sizes};
  const auto sum = [&](int64_t i) { return s.two("Add", s.gate(of_input, i), s.gate(of_hidden, i)); };
  const Value* const reset = s.one("Sigmoid", sum(0));
  const Value* const update = s.one("Sigmoid", sum(1));
  const Value* const fresh = s.one("Tanh", s.two("Add", s.gate(of_input, 2), s.two("Mul", reset, s.gate(of_hidden, 2))));
  const Value* const kept = s.two("Mul", update, s.two("Sub", previous, fresh));
  w.give(h, s.two("Add", fresh, kept));
}

}  // namespace

std::span<const Row> recurrent_rows() {
  static const Row rows[] = {row<&Table::recurrent>("recurrent", recurrent), row<&Table::lstm_cell>("lstm_cell", lstm_cell),
                             row<&Table::gru_cell>("gru_cell", gru_cell)};
  return rows;
}

}  // namespace tandem::onnx::exporting
