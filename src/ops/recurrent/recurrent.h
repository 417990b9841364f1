// Recurrent networks over sequences (T, N, input): plain, LSTM and GRU, in layers and both directions; and one step of each.
//
// `params` holds, for each layer and direction, w_ih (gates * hidden, input), w_hh (gates * hidden, hidden) and, with biases, b_ih, b_hh
// (gates * hidden); an LSTM with projections has w_hr (projected, hidden) after them. As torch.lstm, torch.gru, torch.rnn_tanh.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace tandem {

/// Output (T, N, directions * hidden) and the last state (layers * directions, N, hidden).
struct RnnResult {
  Tensor output, h_n;
  template <class A, class B>
  operator std::tuple<A, B>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(output), detail::tied<B>(h_n)};
  }

  template <class F>
  void each_tensor(F&& f) {
    f(output);
    f(h_n);
  }
};
/// What lstm() gives: all outputs, and the last states.
struct LstmResult {
  Tensor output, h_n, c_n;
  template <class A, class B, class C>
  operator std::tuple<A, B, C>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(output), detail::tied<B>(h_n), detail::tied<C>(c_n)};
  }
};
/// One step's state.
struct LstmState {
  Tensor h, c;
  template <class A, class B>
  operator std::tuple<A, B>() {  // NOLINT: std::tie(…) = result
    return {detail::tied<A>(h), detail::tied<B>(c)};
  }

  template <class F>
  void each_tensor(F&& f) {
    f(h);
    f(c);
  }
};

/// hx: the states to begin with, (layers * directions, N, hidden): h for all, and c for an LSTM. With batch_first, input and output are (N,
/// T, …). `dropout` between layers is for training only.
[[nodiscard]] LstmResult lstm(const Tensor& input, const std::vector<Tensor>& hx, const std::vector<Tensor>& params, Flag has_biases = true,
                              int64_t num_layers = 1, double dropout = 0, Flag train = false, Flag bidirectional = false,
                              Flag batch_first = false, Site site = Site::here());
/// The same with gated recurrent units. As torch.gru.
[[nodiscard]] RnnResult gru(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params, Flag has_biases = true,
                            int64_t num_layers = 1, double dropout = 0, Flag train = false, Flag bidirectional = false,
                            Flag batch_first = false, Site site = Site::here());
/// The same of plain cells. As torch.rnn_tanh.
[[nodiscard]] RnnResult rnn_tanh(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params, Flag has_biases = true,
                                 int64_t num_layers = 1, double dropout = 0, Flag train = false, Flag bidirectional = false,
                                 Flag batch_first = false, Site site = Site::here());
/// The same of plain cells with relu. As torch.rnn_relu.
[[nodiscard]] RnnResult rnn_relu(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params, Flag has_biases = true,
                                 int64_t num_layers = 1, double dropout = 0, Flag train = false, Flag bidirectional = false,
                                 Flag batch_first = false, Site site = Site::here());

/// One step of (N, input) from states (N, hidden); biases may be undefined. As torch.lstm_cell and the others.
[[nodiscard]] LstmState lstm_cell(const Tensor& input, const std::vector<Tensor>& hx, const Tensor& w_ih, const Tensor& w_hh,
                                  const Tensor& b_ih = {}, const Tensor& b_hh = {}, Site site = Site::here());
/// As torch.gru_cell.
[[nodiscard]] Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {},
                              const Tensor& b_hh = {}, Site site = Site::here());
/// As torch.rnn_tanh_cell.
[[nodiscard]] Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {},
                                   const Tensor& b_hh = {}, Site site = Site::here());
/// As torch.rnn_relu_cell.
[[nodiscard]] Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih = {},
                                   const Tensor& b_hh = {}, Site site = Site::here());

}  // namespace tandem
