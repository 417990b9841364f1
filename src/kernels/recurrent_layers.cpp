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
  Forward(const Table& table, const Queue* queue, const RecurrentSizes& sizes, const RecurrentReserve& reserve, void* workspace)
      : Pass(table, queue, sizes, workspace), reserve_(reserve) {
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
        product(gates.all(), x.all(), transposed(input_weight(p, layer)), repeated(input_bias(p), sizes_.steps));
        const View weight = from_state(p);
        if (is(RecurrentCell::Lstm)) lstm(y, gates, order, part, weight, h0, c0, c);
        else if (is(RecurrentCell::Gru)) gru(y, gates, order, part, weight, p.b_hh, h0);
        else plain(y, gates, order, part, weight, h0);
        copy(state(h, part), y[order[sizes_.steps - 1]]);
      }
      x = all;
    }
  }

 private:
  /// What is added to the input's part of the gates: both biases, but for a GRU.
  View input_bias(const Parameters& p) {
    if (!sizes_.biases) return {};
    if (is(RecurrentCell::Gru)) return bias(p.b_ih);
    pointwise(PointwiseOp::add, biases_, {bias(p.b_ih), bias(p.b_hh)});
    return bias(biases_.data);
  }
  /// What the state is multiplied with, (hidden, gates).
  View from_state(const Parameters& p) {
    const View weight = transposed(hidden_weight(p));
    if (!turned_.data) return weight;
    copy(turned_, weight);
    return turned_;
  }
  /// A bias for the rows of so many steps.
  [[nodiscard]] View repeated(View bias, int64_t steps) const {
    bias.sizes[0] = steps * sizes_.batch;
    return bias;
  }

  void plain(const Steps& y, const Steps& gates, const Order& order, int64_t part, const View& weight, const View& h0) {
    const Activation activation = is(RecurrentCell::Tanh) ? Activation::Tanh : Activation::Relu;
    for (int64_t i = 0; i < walked(); ++i) product(y[order[i]], i ? y[order[i - 1]] : state(h0, part), weight, gates[order[i]], activation);
  }

  void lstm(const Steps& y, const Steps& gates, const Order& order, int64_t part, const View& weight, const View& h0, const View& c0,
            const Out& c) {
    const Out last = state(c, part);  // each step's cells in turn, where they are not kept
    for (int64_t i = 0; i < walked(); ++i) {
      const int64_t t = order[i], before = i ? order[i - 1] : 0;
      product(gates[t], i ? y[before] : state(h0, part), weight, gates[t]);
      const Out now = reserve_.kept() ? reserve_.cells(part)[t] : last;
      const View previous = !i ? state(c0, part) : reserve_.kept() ? reserve_.cells(part)[before] : last;
      call(&Table::lstm_cell, y[t], now, gates[t], gates[t], previous);
    }
    if (reserve_.kept()) copy(last, reserve_.cells(part)[order[sizes_.steps - 1]]);
  }

  void gru(const Steps& y, const Steps& gates, const Order& order, int64_t part, const View& weight, void* b_hh, const View& h0) {
    const View more = sizes_.biases ? repeated(bias(b_hh), 1) : View{};
    for (int64_t i = 0; i < walked(); ++i) {
      const int64_t t = order[i];
      const View before = i ? y[order[i - 1]] : state(h0, part);
      product(from_hidden_, before, weight, more);
      call(&Table::gru_cell, y[t], reserve_.kept() ? reserve_.gates(part)[t] : active_, gates[t], from_hidden_, before);
    }
  }

  const RecurrentReserve& reserve_;
  Steps from_input_{}, outputs_[2]{};
  Out from_hidden_{}, active_{}, biases_{}, turned_{};
};

/// The gradients of one layer and direction on their way through its steps.
struct Gradients {
  Steps input, hidden;  // of the gates: of the parts from the input and from the state, which are one but for a GRU
};

class Backward : public Pass {
 public:
  Backward(const Table& table, const Queue* queue, const RecurrentSizes& sizes, const RecurrentReserve& reserve, void* workspace)
      : Pass(table, queue, sizes, workspace), reserve_(reserve) {
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
        const int64_t part = layer * sizes_.directions + direction, first = direction * sizes_.hidden;
        const Parameters p = parameters_of(weights, part, sizes_.biases), to = parameters_of(weight_grads, part, sizes_.biases);
        const Order order{sizes_.steps, direction == 1};
        const Steps y = all.part(first, sizes_.hidden);
        const Gradients gates = gradients_of(part);
        const Out cells = c0_grad.data ? state(c0_grad, part) : cells_;
        for (int64_t k = 0; k < walked(); ++k)
          step(order, sizes_.steps - 1 - k, from_above.part(first, sizes_.hidden), y, gates, cells, part, p, h_grad, c_grad, h0, c0);
        if (h0_grad.data)
          product(state(h0_grad, part), gates.hidden[order[0]], hidden_weight(p), is(RecurrentCell::Gru) ? View(state_) : View{});
        of_weights(to, layer, order, x, y, gates, state(h0, part));
        if (to_input.data) product(to_input.all(), gates.input.all(), input_weight(p, layer), direction ? View(to_input.all()) : View{});
      }
      from_above = to_input;
    }
  }

 private:
  [[nodiscard]] Gradients gradients_of(int64_t part) const {
    if (is(RecurrentCell::Lstm)) return {reserve_.gates(part), reserve_.gates(part)};
    return {gates_, is(RecurrentCell::Gru) ? reserve_.gates(part).part(0, rows()) : gates_};
  }

  /// Back through step i: from the gradients of what it gave, to those of its gates and, in state_ and `cells`, of what it started from.
  void step(const Order& order, int64_t i, const Steps& from_above, const Steps& y, const Gradients& gates, const Out& cells, int64_t part,
            const Parameters& p, const View& h_grad, const View& c_grad, const View& h0, const View& c0) {
    const int64_t t = order[i];
    const bool last = i + 1 == sizes_.steps, gru = is(RecurrentCell::Gru);
    View grad = state_;
    if (!last && !gru) {
      product(state_, gates.hidden[order[i + 1]], hidden_weight(p), from_above[t]);
    } else if (!last) {
      product(state_, gates.hidden[order[i + 1]], hidden_weight(p), state_);
      pointwise(PointwiseOp::add, state_, {state_, from_above[t]});
    } else if (h_grad.data) {
      pointwise(PointwiseOp::add, state_, {from_above[t], state(h_grad, part)});
    } else {
      grad = from_above[t];
    }
    if (gru) {
      call(&Table::gru_cell_backward, gates.input[t], gates.hidden[t], state_, grad, reserve_.gates(part)[t],
           i ? y[order[i - 1]] : state(h0, part));
    } else if (is(RecurrentCell::Lstm)) {
      const Steps kept = reserve_.cells(part);
      call(&Table::lstm_cell_backward, gates.input[t], cells, grad, last ? View(state(c_grad, part)) : View(cells), gates.input[t], kept[t],
           i ? kept[order[i - 1]] : state(c0, part));
    } else if (is(RecurrentCell::Tanh)) {
      pointwise(PointwiseOp::tanh_backward, gates.input[t], {grad, y[t]});
    } else {
      pointwise(PointwiseOp::threshold_backward, gates.input[t], {grad, y[t], View{}});
    }
  }

  void of_weights(const Parameters& to, int64_t layer, const Order& order, const Steps& x, const Steps& y, const Gradients& gates,
                  const View& h0) {
    if (to.w_ih) product(input_weight(to, layer), transposed(gates.input.all()), x.all());
    if (to.w_hh) {
      const Out weight = hidden_weight(to);
      product(weight, transposed(gates.hidden[order[0]]), h0);
      const int64_t more = sizes_.steps - 1;  // of the states, the output has all but the first
      if (more) product(weight, transposed(gates.hidden.range(order.reverse ? 0 : 1, more)), y.range(order.reverse ? 1 : 0, more), weight);
    }
    if (to.b_ih) sum(line(to.b_ih), transposed(gates.input.all()));
    if (to.b_hh && to.b_ih && !is(RecurrentCell::Gru)) copy(line(to.b_hh), line(to.b_ih));
    else if (to.b_hh) sum(line(to.b_hh), transposed(gates.hidden.all()));
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
                      Span<View> weights, RecurrentLayers layers, void* workspace) {
  const RecurrentSizes sizes(in, h0, layers);
  const RecurrentReserve kept(sizes, reserve.data);
  Forward(table, &queue, sizes, kept, workspace).run(out, h, c, in, h0, c0, weights);
}

void recurrent_layers_backward(const Table& table, const Queue& queue, Out in_grad, Out h0_grad, Out c0_grad, Span<Out> weight_grads,
                               Out reserve, View grad, View h_grad, View c_grad, View in, View out, View h0, View c0, Span<View> weights,
                               RecurrentLayers layers, void* workspace) {
  const RecurrentSizes sizes(in, h0, layers);
  const RecurrentReserve kept(sizes, reserve.data);
  Backward(table, &queue, sizes, kept, workspace)
      .run(in_grad, h0_grad, c0_grad, weight_grads, grad, h_grad, c_grad, in, out, h0, c0, weights);
}

RecurrentMemory recurrent_layers_memory(const Table& table, const View& in, const View& h0, const RecurrentLayers& layers) {
  const RecurrentSizes sizes(in, h0, layers);
  Out data{in};
  data.data = nowhere();
  RecurrentMemory memory;
  for (void* const kept_at : {static_cast<char*>(nullptr), nowhere(2)}) {
    const RecurrentReserve kept(sizes, kept_at);
    Forward forward(table, nullptr, sizes, kept, nowhere(3));
    forward.run(data, data, data, data, data, data, {});
    memory.workspace = std::max(memory.workspace, forward.bytes());
    memory.reserve = kept.bytes();
  }
  const RecurrentReserve kept(sizes, nowhere(2));
  Backward backward(table, nullptr, sizes, kept, nowhere(3));
  backward.run(data, data, data, {}, data, data, data, data, data, data, data, {});
  memory.workspace = std::max(memory.workspace, backward.bytes());
  return memory;
}

}  // namespace tandem::kernels
