// One step of a recurrent network as a module, for loops of one's own.
#pragma once

#include "nn/module.h"
#include "ops/recurrent/recurrent.h"

namespace tandem::nn {

struct RNNCellOptions {
  bool bias = true;
  std::string nonlinearity = "tanh";  // or "relu"
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};
struct RecurrentCellOptions {
  bool bias = true;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

namespace detail {

/// What the cells share: parameters that start uniform within ±1/sqrt(hidden), and input with or without a batch.
struct RecurrentCell : Module {
  int64_t input_size, hidden_size;
  Tensor weight_ih, weight_hh;  // (gates · hidden, input), (gates · hidden, hidden)
  Tensor bias_ih, bias_hh;      // (gates · hidden); undefined where there are none

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  /// Draws all parameters anew.
  void reset_parameters(Site site = Site::here());
  [[nodiscard]] int64_t multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const override;
  [[nodiscard]] std::string extra_repr() const override;

 protected:
  RecurrentCell(const char* type, int64_t gates, int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options, Site site);
  /// Both with a batch of their own: h (N, hidden), zeros where it is undefined.
  struct Ready {
    Tensor x, h, c;
    bool batched;
  };
  [[nodiscard]] Ready ready(const Tensor& x, const Tensor& h, const Tensor& c, bool has_cell, Site site) const;

 private:
  const char* type_;
};

}  // namespace detail

/// tanh(W_ih x + b_ih + W_hh h + b_hh), or relu. As torch.nn.RNNCell.
struct RNNCell : detail::RecurrentCell {
  std::string nonlinearity;

  RNNCell(int64_t input_size, int64_t hidden_size, const RNNCellOptions& options = {}, Site site = Site::here());
  using RecurrentCell::forward;
  void settings(Settings& s) override;
  /// The next state (N, hidden), from x (N, input) and the state before, zeros where not given; or all without N.
  Tensor forward(const Tensor& x, const Tensor& hx, Site site);
  Tensor operator()(const Tensor& x, const Tensor& hx = {}, Site site = Site::here());
  [[nodiscard]] std::string extra_repr() const override;
};

/// A step of a GRU. As torch.nn.GRUCell.
struct GRUCell : detail::RecurrentCell {
  GRUCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options = {}, Site site = Site::here());
  using RecurrentCell::forward;
  /// The next state (N, hidden), from x (N, input) and the state before, zeros where not given; or all without N.
  Tensor forward(const Tensor& x, const Tensor& hx, Site site);
  Tensor operator()(const Tensor& x, const Tensor& hx = {}, Site site = Site::here());
};

/// A step of an LSTM. As torch.nn.LSTMCell.
struct LSTMCell : detail::RecurrentCell {
  LSTMCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options = {}, Site site = Site::here());
  using RecurrentCell::forward;
  /// The next h and c (N, hidden), from x (N, input) and the state before, zeros where not given; or all without N.
  LstmState forward(const Tensor& x, const LstmState& hx, Site site);
  LstmState operator()(const Tensor& x, const LstmState& hx = {}, Site site = Site::here());
};

}  // namespace tandem::nn
