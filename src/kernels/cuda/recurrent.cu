// One step of an LSTM or a GRU after the products: a thread a hidden element, so each number is read and written once and neighbours are
// neighbours in memory.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"
#include "kernels/pointwise.h"

namespace tandem::kernels::cuda {
namespace {

template <class T>
struct LstmCell {
  T *h, *c, *active;
  const T *gates, *previous;
  Places<5> places;
  int64_t width;

  TD_DEVICE void operator()(int64_t j) const {
    using C = Compute<T>;
    int64_t at[5];
    places(j, at);
    C gate[4];
    for (int k = 0; k < 4; ++k) {
      const C x = to_compute(gates[at[3] + k * width]);
      gate[k] = k == 2 ? Tanh{}(x) : Sigmoid{}(x);
      active[at[2] + k * width] = to_element<T>(gate[k]);
    }
    const C cell = gate[1] * to_compute(previous[at[4]]) + gate[0] * gate[2];
    c[at[1]] = to_element<T>(cell);
    h[at[0]] = to_element<T>(gate[3] * Tanh{}(cell));
  }
};

template <class T>
struct LstmCellBackward {
  T *gates, *previous_grad;
  const T *h_grad, *c_grad, *active, *c, *previous;
  Places<7> places;
  int64_t width;

  TD_DEVICE void operator()(int64_t j) const {
    using C = Compute<T>;
    int64_t at[7];
    places(j, at);
    const C one = 1, gh = h_grad ? to_compute(h_grad[at[2]]) : C(0), gc = c_grad ? to_compute(c_grad[at[3]]) : C(0);
    C a[4];
    for (int k = 0; k < 4; ++k) a[k] = to_compute(active[at[4] + k * width]);
    const C i = a[0], f = a[1], g = a[2], o = a[3], t = Tanh{}(to_compute(c[at[5]]));
    const C to_cell = gc + gh * o * (one - t * t);
    const C grads[4] = {to_cell * g * i * (one - i), to_cell * to_compute(previous[at[6]]) * f * (one - f), to_cell * i * (one - g * g),
                        gh * t * o * (one - o)};
    for (int k = 0; k < 4; ++k) gates[at[0] + k * width] = to_element<T>(grads[k]);
    previous_grad[at[1]] = to_element<T>(to_cell * f);
  }
};

template <class T>
struct GruCell {
  T *h, *active;
  const T *from_input, *from_hidden, *previous;
  Places<5> places;
  int64_t width;

  TD_DEVICE void operator()(int64_t j) const {
    using C = Compute<T>;
    int64_t at[5];
    places(j, at);
    C x[3], y[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = to_compute(from_input[at[2] + k * width]);
      y[k] = to_compute(from_hidden[at[3] + k * width]);
    }
    const C reset = Sigmoid{}(x[0] + y[0]), z = Sigmoid{}(x[1] + y[1]), fresh = Tanh{}(x[2] + reset * y[2]);
    const C kept[4] = {reset, z, fresh, y[2]};
    for (int k = 0; k < 4; ++k) active[at[1] + k * width] = to_element<T>(kept[k]);
    h[at[0]] = to_element<T>(fresh + z * (to_compute(previous[at[4]]) - fresh));
  }
};

template <class T>
struct GruCellBackward {
  T *input_grad, *hidden_grad, *previous_grad;
  const T *grad, *active, *previous;
  Places<6> places;
  int64_t width;

  TD_DEVICE void operator()(int64_t j) const {
    using C = Compute<T>;
    int64_t at[6];
    places(j, at);
    C a[4];
    for (int k = 0; k < 4; ++k) a[k] = to_compute(active[at[4] + k * width]);
    const C one = 1, reset = a[0], z = a[1], fresh = a[2], product = a[3], g = to_compute(grad[at[3]]);
    const C to_new = g * (one - z) * (one - fresh * fresh);
    const C grads[3] = {to_new * product * reset * (one - reset), g * (to_compute(previous[at[5]]) - fresh) * z * (one - z), to_new};
    for (int k = 0; k < 3; ++k) {
      input_grad[at[0] + k * width] = to_element<T>(grads[k]);
      hidden_grad[at[1] + k * width] = to_element<T>(k == 2 ? to_new * reset : grads[k]);
    }
    previous_grad[at[2]] = to_element<T>(g * z);
  }
};

/// Where the elements of `hidden` lie in views of as many rows, in which more may stand behind them; those without data are left alone.
template <int N>
Places<N> places_in(const View& hidden, const View* const (&views)[N]) {
  return [&]<size_t... k>(std::index_sequence<k...>) {
    return Places<N>(hidden.ndim, hidden.sizes, {(views[k]->data ? views[k]->strides : hidden.strides)...});
  }
  (std::make_index_sequence<N>());
}

}  // namespace

void lstm_cell(const Queue& queue, Out h, Out c, Out active, View gates, View previous) {
  const Places<5> places = places_in<5>(h, {&h, &c, &active, &gates, &previous});
  visit_floating(h.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, places.count,
             LstmCell<T>{h.as<T>(), c.as<T>(), active.as<T>(), gates.as<T>(), previous.as<T>(), places, h.sizes[h.ndim - 1]});
  });
}

void lstm_cell_backward(const Queue& queue, Out gates, Out previous_grad, View h_grad, View c_grad, View active, View c, View previous) {
  const Places<7> places = places_in<7>(c, {&gates, &previous_grad, &h_grad, &c_grad, &active, &c, &previous});
  visit_floating(c.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, places.count,
             LstmCellBackward<T>{gates.as<T>(), previous_grad.as<T>(), h_grad.as<T>(), c_grad.as<T>(), active.as<T>(), c.as<T>(),
                                 previous.as<T>(), places, c.sizes[c.ndim - 1]});
  });
}

void gru_cell(const Queue& queue, Out h, Out active, View from_input, View from_hidden, View previous) {
  const Places<5> places = places_in<5>(h, {&h, &active, &from_input, &from_hidden, &previous});
  visit_floating(h.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, places.count,
             GruCell<T>{h.as<T>(), active.as<T>(), from_input.as<T>(), from_hidden.as<T>(), previous.as<T>(), places, h.sizes[h.ndim - 1]});
  });
}

void gru_cell_backward(const Queue& queue, Out input_grad, Out hidden_grad, Out previous_grad, View grad, View active, View previous) {
  const Places<6> places = places_in<6>(grad, {&input_grad, &hidden_grad, &previous_grad, &grad, &active, &previous});
  visit_floating(grad.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, places.count,
             GruCellBackward<T>{input_grad.as<T>(), hidden_grad.as<T>(), previous_grad.as<T>(), grad.as<T>(), active.as<T>(),
                                previous.as<T>(), places, grad.sizes[grad.ndim - 1]});
  });
}

}  // namespace tandem::kernels::cuda
