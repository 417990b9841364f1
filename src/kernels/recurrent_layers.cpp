#include "kernels/recurrent_layers.h"

#include "kernels/recurrent_work.h"

namespace tandem::kernels {
namespace {

/// An address for data that is only measured, far from the others.
char* nowhere(uintptr_t number = 1) { return reinterpret_cast<char*>(number << 44); }

/// Parameters, or their gradients, of one layer and direction; nullptr for those that there are none of.
struct Parameters {
  void *w_ih, *w_hh, *b_ih, *b_hh;
};

/// Without a list, as if all were there.
template <class V>
Parameters parameters_of(const Span<V>& all, int64_t part, bool biases) {
  if (!all.data) return {nowhere(), nowhere(), biases ? nowhere() : nullptr, biases ? nowhere() : nullptr};
  const V* own = all.data + part * (biases ? 4 : 2);
  return {own[0].data, own[1].data, biases ? own[2].data : nullptr, biases ? own[3].data : nullptr};
}

/// Steps for which it pays to transpose the state's weight first: products with few rows read dense rows faster.
constexpr int64_t kManySteps = 16;

/// The order in which a direction takes the steps.
struct Order {
  int64_t steps;
  bool reverse;

  [[nodiscard]] int64_t operator[](int64_t i) const { return reverse ? steps - 1 - i : i; }
};

class Pass : public RecurrentWork {
 protected:
  using RecurrentWork::RecurrentWork;

  [[nodiscard]] int64_t rows() const { return sizes_.gates * sizes_.hidden; }
  [[nodiscard]] Out input_weight(const Parameters& p, int64_t layer) const {
    return matrix_at(p.w_ih, sizes_.dtype, rows(), sizes_.input_of(layer), sizes_.input_of(layer));
  }
  [[nodiscard]] Out hidden_weight(const Parameters& p) const {
    return matrix_at(p.w_hh, sizes_.dtype, rows(), sizes_.hidden, sizes_.hidden);
  }
  /// A bias as a row that repeats.
  [[nodiscard]] Out bias(void* data) const { return matrix_at(data, sizes_.dtype, 1, rows(), 0); }
  [[nodiscard]] bool is(RecurrentCell cell) const { return sizes_.cell == cell; }
};

class Forward : public Pass {
 public:
  Forward(const Table& table, const Queue* queue, const RecurrentSizes& sizes, const RecurrentReserve& reserve, int64_t parts,
          void* workspace)
      : Pass(table, queue, sizes, parts, workspace), reserve_(reserve) {
    const bool gru = is(RecurrentCell::Gru);
    if (!is(RecurrentCell::Lstm) || !reserve.kept()) from_input_ = take_steps(rows());
    if (gru) from_hidden_ = take_matrix(sizes.batch, rows());
    if (gru && !reserve.kept()) active_ = take_matrix(sizes.batch, 4 * sizes.hidden);
    if (!gru && sizes.biases) biases_ = take_matrix(1, rows());
    if (sizes.steps >= kManySteps) turned_ = take_matrix(sizes.hidden, rows());
    for (int64_t i = 0; i < 2 && i + 1 < sizes.layers && !reserve.kept(); ++i) outputs_[i] = take_steps(sizes.width());
  }

  void run(const Out& out, const Out& h, const Out& c, const View& in, const View& h0, const View& c0, const Span<View>& weights) {
    Steps x = steps_of(in, sizes_.input);
    for (int64_t layer = 0; layer < sizes_.layers; ++layer) {
      const Steps all = layer + 1 == sizes_.layers ? steps_of(out, sizes_.width())
                        : reserve_.kept()          ? reserve_.outputs(layer)
                                                   : outputs_[layer % 2];
      for (int64_t direction = 0; direction < sizes_.directions; ++direction) {
        const int64_t part = layer * sizes_.directions + direction;
        const Parameters p = parameters_of(weights, part, sizes_.biases);
        const Steps y = all.part(direction * sizes_.hidden, sizes_.hidden);
        const Order order{sizes_.steps, direction == 1};
        const Steps gates = is(RecurrentCell::Lstm) && reserve_.kept() ? reserve_.gates(part) : from_input_;
        View weight = transposed(hidden_weight(p));  // (hidden, gates)
        together([&](RecurrentCalls& calls) {
          calls.product(gates.all(), x.all(), transposed(input_weight(p, layer)), repeated(input_bias(calls, p), sizes_.steps));
          if (turned_.data) calls.copy(turned_, weight);
        });
        if (turned_.data) weight = turned_;
        each_block([&](RecurrentCalls& calls, int64_t first, int64_t n) {
          const auto own = [&](const Out& m) { return rows_of(m, first, n); };
          const Walk walk{calls, order, part, first, n, y.rows(first, n), gates.rows(first, n), own(state(h0, part)), weight};
          if (is(RecurrentCell::Lstm)) lstm(walk, own(state(c0, part)), own(state(c, part)));
          else if (is(RecurrentCell::Gru)) gru(walk, p.b_hh);
          else plain(walk);
          calls.copy(own(state(h, part)), walk.y[order[sizes_.steps - 1]]);
        });
      }
      x = all;
    }
  }

 private:
  /// A block of rows on its way through the steps.
  struct Walk {
    RecurrentCalls& calls;
    Order order;
    int64_t part, first, rows;
    Steps y, gates;
    Out h0;
    View weight;  // what the state is multiplied with, (hidden, gates)

    [[nodiscard]] int64_t steps() const { return calls.walked(order.steps); }
    /// The state before step i.
    [[nodiscard]] Out before(int64_t i) const { return i ? y[order[i - 1]] : h0; }
  };

  /// What is added to the input's part of the gates: both biases, but for a GRU.
  View input_bias(RecurrentCalls& calls, const Parameters& p) {
    if (!sizes_.biases) return {};
    if (is(RecurrentCell::Gru)) return bias(p.b_ih);
    calls.pointwise(PointwiseOp::add, biases_, {bias(p.b_ih), bias(p.b_hh)});
    return bias(biases_.data);
  }
  /// A bias for the rows of so many steps.
  [[nodiscard]] View repeated(View bias, int64_t steps) const {
    bias.sizes[0] = steps * sizes_.batch;
    return bias;
  }

  void plain(const Walk& walk) const {
    const Activation activation = is(RecurrentCell::Tanh) ? Activation::Tanh : Activation::Relu;
    for (int64_t i = 0; i < walk.steps(); ++i)
      walk.calls.product(walk.y[walk.order[i]], walk.before(i), walk.weight, walk.gates[walk.order[i]], activation);
  }

  void lstm(const Walk& walk, const Out& c0, const Out& last) const {
    const Steps kept = reserve_.kept() ? reserve_.cells(walk.part).rows(walk.first, walk.rows) : Steps{};
    for (int64_t i = 0; i < walk.steps(); ++i) {
      const int64_t t = walk.order[i];
      const Out gates = walk.gates[t];
      walk.calls.product(gates, walk.before(i), walk.weight, gates);
      const Out now = kept.data ? kept[t] : last;  // each step's cells in turn, where they are not kept
      const View previous = !i ? c0 : kept.data ? kept[walk.order[i - 1]] : last;
      walk.calls.call(&Table::lstm_cell, walk.y[t], now, gates, gates, previous);
    }
    if (kept.data) walk.calls.copy(last, kept[walk.order[sizes_.steps - 1]]);
  }

  void gru(const Walk& walk, void* b_hh) const {
    View more = sizes_.biases ? bias(b_hh) : View{};
    more.sizes[0] = walk.rows;
    const Out from_hidden = rows_of(from_hidden_, walk.first, walk.rows);
    for (int64_t i = 0; i < walk.steps(); ++i) {
      const int64_t t = walk.order[i];
      walk.calls.product(from_hidden, walk.before(i), walk.weight, more);
      const Out active = rows_of(reserve_.kept() ? reserve_.gates(walk.part)[t] : active_, walk.first, walk.rows);
      walk.calls.call(&Table::gru_cell, walk.y[t], active, walk.gates[t], from_hidden, walk.before(i));
    }
  }

  const RecurrentReserve& reserve_;
  Steps from_input_{}, outputs_[2]{};
  Out from_hidden_{}, active_{}, biases_{}, turned_{};
};

/// The gradients of one layer and direction on their way through its steps.
struct Gradients {
  Steps input, hidden;  // of the gates: of the parts from the input and from the state, which are one but for a GRU

  [[nodiscard]] Gradients rows(int64_t first, int64_t n) const { return {input.rows(first, n), hidden.rows(first, n)}; }
};

class Backward : public Pass {
 public:
  Backward(const Table& table, const Queue* queue, const RecurrentSizes& sizes, const RecurrentReserve& reserve, int64_t parts,
           void* workspace)
      : Pass(table, queue, sizes, parts, workspace), reserve_(reserve) {
    if (!is(RecurrentCell::Lstm)) gates_ = take_steps(rows());
    state_ = take_matrix(sizes.batch, sizes.hidden);
    if (is(RecurrentCell::Lstm)) cells_ = take_matrix(sizes.batch, sizes.hidden);
    for (int64_t i = 0; i < 2 && i + 1 < sizes.layers; ++i) outputs_[i] = take_steps(sizes.width());
  }

  void run(const Out& in_grad, const Out& h0_grad, const Out& c0_grad, const Span<Out>& weight_grads, const View& grad, const View& h_grad,
           const View& c_grad, const View& in, const View& out, const View& h0, const View& c0, const Span<View>& weights) {
    Steps from_above = steps_of(grad, sizes_.width());
    for (int64_t layer = sizes_.layers - 1; layer >= 0; --layer) {
      const Steps x = layer ? reserve_.outputs(layer - 1) : steps_of(in, sizes_.input);
      const Steps all = layer + 1 == sizes_.layers ? steps_of(out, sizes_.width()) : reserve_.outputs(layer);
      const Steps to_input = layer ? outputs_[(layer - 1) % 2] : steps_of(in_grad, sizes_.input);
      for (int64_t direction = 0; direction < sizes_.directions; ++direction) {
        const int64_t part = layer * sizes_.directions + direction, column = direction * sizes_.hidden;
        const Parameters p = parameters_of(weights, part, sizes_.biases), to = parameters_of(weight_grads, part, sizes_.biases);
        const Order order{sizes_.steps, direction == 1};
        const Steps y = all.part(column, sizes_.hidden), above = from_above.part(column, sizes_.hidden);
        const Gradients gates = gradients_of(part);
        const Out cells = c0_grad.data ? state(c0_grad, part) : cells_, to_h0 = state(h0_grad, part);
        each_block([&](RecurrentCalls& calls, int64_t first, int64_t n) {
          const auto own = [&](const Out& m) { return rows_of(m, first, n); };
          const auto kept = [&](const Steps& steps) { return steps.rows(first, n); };
          const Walk walk{.calls = calls,
                          .order = order,
                          .weight = hidden_weight(p),
                          .above = kept(above),
                          .y = kept(y),
                          .kept_gates = kept(reserve_.gates(part)),
                          .kept_cells = kept(reserve_.cells(part)),
                          .gates = gates.rows(first, n),
                          .state = own(state_),
                          .cells = own(cells),
                          .h_grad = own(state(h_grad, part)),
                          .c_grad = own(state(c_grad, part)),
                          .h0 = own(state(h0, part)),
                          .c0 = own(state(c0, part))};
          for (int64_t k = 0; k < calls.walked(sizes_.steps); ++k) step(walk, sizes_.steps - 1 - k);
          if (to_h0.data)
            calls.product(own(to_h0), walk.gates.hidden[order[0]], walk.weight, is(RecurrentCell::Gru) ? View(walk.state) : View{});
        });
        together([&](RecurrentCalls& calls) {
          of_weights(calls, to, layer, order, x, y, gates, state(h0, part));
          if (to_input.data)
            calls.product(to_input.all(), gates.input.all(), input_weight(p, layer), direction ? View(to_input.all()) : View{});
        });
      }
      from_above = to_input;
    }
  }

 private:
  /// A block of rows on its way back through the steps.
  struct Walk {
    RecurrentCalls& calls;
    Order order;
    View weight;
    Steps above, y, kept_gates, kept_cells;  // the gradients from above, the outputs, and what forward kept
    Gradients gates;
    Out state, cells;  // the gradients of what a step started from
    Out h_grad, c_grad, h0, c0;
  };

  [[nodiscard]] Gradients gradients_of(int64_t part) const {
    if (is(RecurrentCell::Lstm)) return {reserve_.gates(part), reserve_.gates(part)};
    return {gates_, is(RecurrentCell::Gru) ? reserve_.gates(part).part(0, rows()) : gates_};
  }

  /// Back through step i: from the gradients of what it gave, to those of its gates and of what it started from.
  void step(const Walk& walk, int64_t i) const {
    const int64_t t = walk.order[i];
    const bool last = i + 1 == sizes_.steps, gru = is(RecurrentCell::Gru);
    RecurrentCalls& calls = walk.calls;
    const Out &state = walk.state, gates = walk.gates.input[t], above = walk.above[t];
    View grad = state;
    if (!last && !gru) {
      calls.product(state, walk.gates.hidden[walk.order[i + 1]], walk.weight, above);
    } else if (!last) {
      calls.product(state, walk.gates.hidden[walk.order[i + 1]], walk.weight, state);
      calls.pointwise(PointwiseOp::add, state, {state, above});
    } else if (walk.h_grad.data) {
      calls.pointwise(PointwiseOp::add, state, {above, walk.h_grad});
    } else {
      grad = above;
    }
    if (gru) {
      calls.call(&Table::gru_cell_backward, gates, walk.gates.hidden[t], state, grad, walk.kept_gates[t],
                 i ? walk.y[walk.order[i - 1]] : walk.h0);
    } else if (is(RecurrentCell::Lstm)) {
      calls.call(&Table::lstm_cell_backward, gates, walk.cells, grad, last ? View(walk.c_grad) : View(walk.cells), gates,
                 walk.kept_cells[t], i ? walk.kept_cells[walk.order[i - 1]] : walk.c0);
    } else if (is(RecurrentCell::Tanh)) {
      calls.pointwise(PointwiseOp::tanh_backward, gates, {grad, walk.y[t]});
    } else {
      calls.pointwise(PointwiseOp::threshold_backward, gates, {grad, walk.y[t], View{}});
    }
  }

  void of_weights(RecurrentCalls& calls, const Parameters& to, int64_t layer, const Order& order, const Steps& x, const Steps& y,
                  const Gradients& gates, const View& h0) const {
    if (to.w_ih) calls.product(input_weight(to, layer), transposed(gates.input.all()), x.all());
    if (to.w_hh) {
      const Out weight = hidden_weight(to);
      calls.product(weight, transposed(gates.hidden[order[0]]), h0);
      const int64_t more = sizes_.steps - 1;  // of the states, the output has all but the first
      if (more)
        calls.product(weight, transposed(gates.hidden.range(order.reverse ? 0 : 1, more)), y.range(order.reverse ? 1 : 0, more), weight);
    }
    if (to.b_ih) calls.sum(line(to.b_ih), transposed(gates.input.all()));
    if (to.b_hh && to.b_ih && !is(RecurrentCell::Gru)) calls.copy(line(to.b_hh), line(to.b_ih));
    else if (to.b_hh) calls.sum(line(to.b_hh), transposed(gates.hidden.all()));
  }

  /// A bias as it is, in one dimension.
  [[nodiscard]] Out line(void* data) const {
    Out v = bias(data);
    v.ndim = 1;
    v.sizes[0] = rows();
    v.strides[0] = 1;
    return v;
  }

  const RecurrentReserve& reserve_;
  Steps gates_{}, outputs_[2]{};
  Out state_{}, cells_{};
};

}  // namespace

void recurrent_layers(const Table& table, const Queue& queue, Out out, Out h, Out c, Out reserve, View in, View h0, View c0,
                      Span<View> weights, RecurrentLayers layers, int64_t parts, void* workspace) {
  const RecurrentSizes sizes(in, h0, layers);
  const RecurrentReserve kept(sizes, reserve.data);
  Forward(table, &queue, sizes, kept, parts, workspace).run(out, h, c, in, h0, c0, weights);
}

void recurrent_layers_backward(const Table& table, const Queue& queue, Out in_grad, Out h0_grad, Out c0_grad, Span<Out> weight_grads,
                               Out reserve, View grad, View h_grad, View c_grad, View in, View out, View h0, View c0, Span<View> weights,
                               RecurrentLayers layers, int64_t parts, void* workspace) {
  const RecurrentSizes sizes(in, h0, layers);
  const RecurrentReserve kept(sizes, reserve.data);
  Backward(table, &queue, sizes, kept, parts, workspace)
      .run(in_grad, h0_grad, c0_grad, weight_grads, grad, h_grad, c_grad, in, out, h0, c0, weights);
}

RecurrentMemory recurrent_layers_memory(const Table& table, const View& in, const View& h0, const RecurrentLayers& layers, int64_t parts) {
  const RecurrentSizes sizes(in, h0, layers);
  Out data{in};
  data.data = nowhere();
  RecurrentMemory memory;
  for (void* const kept_at : {static_cast<char*>(nullptr), nowhere(2)}) {
    const RecurrentReserve kept(sizes, kept_at);
    Forward forward(table, nullptr, sizes, kept, parts, nowhere(3));
    forward.run(data, data, data, data, data, data, {});
    memory.workspace = std::max(memory.workspace, forward.bytes());
    memory.reserve = kept.bytes();
  }
  const RecurrentReserve kept(sizes, nowhere(2));
  Backward backward(table, nullptr, sizes, kept, parts, nowhere(3));
  backward.run(data, data, data, {}, data, data, data, data, data, data, data, {});
  memory.workspace = std::max(memory.workspace, backward.bytes());
  return memory;
}

}  // namespace tandem::kernels
