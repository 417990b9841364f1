// One step of an LSTM or a GRU after the products: a row's gates are taken in pieces that stay in the first cache, so each number is read
// and written once. An LSTM's sigmoid and tanh are the pointwise kernels'.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kPiece = 256;

template <class T>
void apply(PointwiseOp op, T* values, const T* in, int64_t n) {
  const void* const inputs[] = {in};
  tile_of<T>(op)(values, inputs, n);
}

/// Calls f(row, at, n) for pieces of the rows of n hidden elements.
template <class F>
void pieces(const Queue& queue, int64_t rows, int64_t width, F f) {
  parallel_for(rows, row_grain(16 * width), queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t at = 0; at < width; at += kPiece) f(r, at, std::min(kPiece, width - at));
  });
}

}  // namespace

void lstm_cell(const Queue& queue, Out h_view, Out c_view, Out active_view, View gates_view, View previous_view) {
  const Rows h(h_view), c(c_view), active(active_view), gates(gates_view), previous(previous_view);
  const int64_t width = previous.length();
  visit_floating_compute(h.dtype(), [&]<class T>(T) {
    pieces(queue, h.count(), width, [&](int64_t r, int64_t at, int64_t n) {
      alignas(64) T gate[4][kPiece], before[kPiece], cell[kPiece];
      for (int64_t k = 0; k < 4; ++k) {
        const T* from = gates.read(r, k * width + at, n, gate[k]);
        apply(k == 2 ? PointwiseOp::tanh : PointwiseOp::sigmoid, gate[k], from, n);
        active.written(r, k * width + at, n, gate[k]);
      }
      const T* last = previous.read(r, at, n, before);
      for (int64_t j = 0; j < n; ++j) cell[j] = gate[1][j] * last[j] + gate[0][j] * gate[2][j];
      c.written(r, at, n, cell);
      apply(PointwiseOp::tanh, cell, cell, n);
      for (int64_t j = 0; j < n; ++j) cell[j] *= gate[3][j];
      h.written(r, at, n, cell);
    });
  });
}

void lstm_cell_backward(const Queue& queue, Out gates_view, Out previous_grad_view, View h_grad_view, View c_grad_view, View active_view,
                        View c_view, View previous_view) {
  const Rows gates(gates_view), previous_grad(previous_grad_view), active(active_view), c(c_view), previous(previous_view);
  const Rows h_grad(h_grad_view.data ? h_grad_view : c_view), c_grad(c_grad_view.data ? c_grad_view : c_view);
  const bool has_h = h_grad_view.data, has_c = c_grad_view.data;
  const int64_t width = previous.length();
  visit_floating_compute(c.dtype(), [&]<class T>(T) {
    pieces(queue, c.count(), width, [&](int64_t r, int64_t at, int64_t n) {
      alignas(64) T gate[4][kPiece], from_h[kPiece], from_c[kPiece], cell[kPiece], before[kPiece];
      const T* a[4];
      for (int64_t k = 0; k < 4; ++k) a[k] = active.read(r, k * width + at, n, gate[k]);
      apply(PointwiseOp::tanh, cell, c.read(r, at, n, cell), n);
      std::fill_n(from_h, n, T(0));
      std::fill_n(from_c, n, T(0));
      const T *gh = has_h ? h_grad.read(r, at, n, from_h) : from_h, *gc = has_c ? c_grad.read(r, at, n, from_c) : from_c;
      const T* last = previous.read(r, at, n, before);
      for (int64_t j = 0; j < n; ++j) {
        const T i = a[0][j], f = a[1][j], g = a[2][j], o = a[3][j], t = cell[j];
        const T to_cell = gc[j] + gh[j] * o * (1 - t * t), to_output = gh[j] * t * o * (1 - o);
        gate[0][j] = to_cell * g * i * (1 - i);
        gate[1][j] = to_cell * last[j] * f * (1 - f);
        gate[2][j] = to_cell * i * (1 - g * g);
        gate[3][j] = to_output;
        cell[j] = to_cell * f;
      }
      for (int64_t k = 0; k < 4; ++k) gates.written(r, k * width + at, n, gate[k]);
      previous_grad.written(r, at, n, cell);
    });
  });
}

void gru_cell(const Queue& queue, Out h_view, Out active_view, View from_input_view, View from_hidden_view, View previous_view) {
  const Rows h(h_view), active(active_view), from_input(from_input_view), from_hidden(from_hidden_view), previous(previous_view);
  const int64_t width = previous.length();
  visit_floating_compute(h.dtype(), [&]<class T>(T) {
    pieces(queue, h.count(), width, [&](int64_t r, int64_t at, int64_t n) {
      alignas(64) T input[3][kPiece], hidden[3][kPiece], gate[4][kPiece], before[kPiece], next[kPiece];
      GruRow row;
      for (int64_t k = 0; k < 3; ++k) {
        row.from_input[k] = from_input.read(r, k * width + at, n, input[k]);
        row.from_hidden[k] = from_hidden.read(r, k * width + at, n, hidden[k]);
      }
      row.before = previous.read(r, at, n, before);
      for (int64_t k = 0; k < 4; ++k) row.active[k] = active.target(r, k * width + at, gate[k]);
      row.h = h.target(r, at, next);
      isa().recurrent[sizeof(T) == 8].gru(row, n);
      for (int64_t k = 0; k < 4; ++k) active.written(r, k * width + at, n, static_cast<const T*>(row.active[k]));
      h.written(r, at, n, static_cast<const T*>(row.h));
    });
  });
}

void gru_cell_backward(const Queue& queue, Out input_grad_view, Out hidden_grad_view, Out previous_grad_view, View grad_view,
                       View active_view, View previous_view) {
  const Rows input_grad(input_grad_view), hidden_grad(hidden_grad_view), previous_grad(previous_grad_view), grad(grad_view),
      active(active_view), previous(previous_view);
  const int64_t width = previous.length();
  visit_floating_compute(grad.dtype(), [&]<class T>(T) {
    pieces(queue, grad.count(), width, [&](int64_t r, int64_t at, int64_t n) {
      alignas(64) T gate[4][kPiece], incoming[kPiece], before[kPiece], input[3][kPiece], hidden[3][kPiece], last[kPiece];
      GruRowGradient row;
      for (int64_t k = 0; k < 4; ++k) row.active[k] = active.read(r, k * width + at, n, gate[k]);
      row.grad = grad.read(r, at, n, incoming);
      row.before = previous.read(r, at, n, before);
      for (int64_t k = 0; k < 3; ++k) {
        row.from_input[k] = input_grad.target(r, k * width + at, input[k]);
        row.from_hidden[k] = hidden_grad.target(r, k * width + at, hidden[k]);
      }
      row.previous = previous_grad.target(r, at, last);
      isa().recurrent[sizeof(T) == 8].gru_backward(row, n);
      for (int64_t k = 0; k < 3; ++k) {
        input_grad.written(r, k * width + at, n, static_cast<const T*>(row.from_input[k]));
        hidden_grad.written(r, k * width + at, n, static_cast<const T*>(row.from_hidden[k]));
      }
      previous_grad.written(r, at, n, static_cast<const T*>(row.previous));
    });
  });
}

}  // namespace tandem::kernels::cpu
