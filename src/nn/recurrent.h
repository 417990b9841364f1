// Recurrent networks: plain, LSTM and GRU, over sequences and as single cells.
#pragma once

#include "nn/module.h"
#include "nn/packed_sequence.h"
#include "ops/recurrent/recurrent.h"

namespace tandem::kernels {
enum class RecurrentCell : uint8_t;
}

namespace tandem::nn {

using utils::rnn::PackedSequence;

struct RNNOptions {
  int64_t num_layers = 1;             // each on the outputs of the one before
  std::string nonlinearity = "tanh";  // or "relu"
  bool bias = true;
  bool batch_first = false;  // input and output (N, T, …) rather than (T, N, …); states are (…, N, hidden) always
  double dropout = 0;        // of the outputs of each layer but the last, in training
  bool bidirectional = false;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};
struct GRUOptions {
  int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};
struct LSTMOptions {
  int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  int64_t proj_size = 0;  // of outputs and h, by one more product a step; 0 for none
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// What a recurrent network makes of a packed sequence.
struct PackedRnnResult {
  PackedSequence output;
  Tensor h_n;

  template <class F>
  void each_tensor(F&& f) {
    f(output);
    f(h_n);
  }
};

namespace detail {

/// What RNN, GRU and LSTM share: parameters by layer and direction, checks, input with or without a batch, and packed input.
struct RecurrentBase : Module {
  int64_t input_size, hidden_size, num_layers;
  bool bias, batch_first;
  double dropout;
  bool bidirectional;
  int64_t proj_size;
  /// weight_ih (gates · hidden, input), weight_hh (gates · hidden, hidden), bias_ih, bias_hh (gates · hidden) and, with projections,
  /// weight_hr, for each layer and direction. Named weight_ih_l0, …, weight_ih_l0_reverse, …, weight_ih_l1, ….
  std::vector<Tensor> weights;

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  /// Draws all parameters anew, uniform within ±1/sqrt(hidden).
  void reset_parameters(Site site = Site::here());
  [[nodiscard]] int64_t multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const override;
  [[nodiscard]] std::string extra_repr() const override;

 protected:
  RecurrentBase(const char* type, kernels::RecurrentCell kind, int64_t input_size, int64_t hidden_size, const LSTMOptions& options,
                Site site);
  /// `hx`: h, and c for an LSTM; undefined for zeros.
  LstmResult run(const Tensor& x, std::vector<Tensor> hx, Site site);
  /// The result's output is the packed data.
  LstmResult run(const PackedSequence& x, std::vector<Tensor> hx, Site site);

 private:
  [[nodiscard]] std::vector<Tensor> states(const std::vector<Tensor>& hx, const Tensor& like, int64_t batch, Site site) const;
  [[nodiscard]] LstmResult compute(const Tensor& x, const Shape* batch_sizes, const std::vector<Tensor>& hx, Site site) const;

  const char* type_;

 protected:
  kernels::RecurrentCell kind_;
};

/// Those whose state is one tensor.
struct StateOfOne : RecurrentBase {
  using RecurrentBase::forward;
  /// Outputs (T, N, directions · hidden) of the last layer, and the last state (layers · directions, N, hidden) of each layer and
  /// direction, from x (T, N, input), or from (T, input) both without N. `hx`: the states to begin with; zeros where not given.
  RnnResult forward(const Tensor& x, const Tensor& hx, Site site);
  PackedRnnResult forward(const PackedSequence& x, const Tensor& hx, Site site);
  RnnResult operator()(const Tensor& x, const Tensor& hx = {}, Site site = Site::here());
  PackedRnnResult operator()(const PackedSequence& x, const Tensor& hx = {}, Site site = Site::here());

 protected:
  using RecurrentBase::RecurrentBase;
};

}  // namespace detail

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu. As torch.nn.RNN.
struct RNN : detail::StateOfOne {
  std::string nonlinearity;

  RNN(int64_t input_size, int64_t hidden_size, const RNNOptions& options = {}, Site site = Site::here());
  void settings(Settings& s) override;
};

/// Gated recurrent units, Cho et al. 2014, in the form with two biases: n = tanh(W_in x + b_in + r (W_hn h + b_hn)). As torch.nn.GRU.
struct GRU : detail::StateOfOne {
  GRU(int64_t input_size, int64_t hidden_size, const GRUOptions& options = {}, Site site = Site::here());
};

/// Long short-term memory, Hochreiter and Schmidhuber 1997. As torch.nn.LSTM.
struct LSTM : detail::RecurrentBase {
  /// What forward gives for a tensor.
  struct Result {
    Tensor output;
    LstmState state;  // h_n and c_n

    template <class F>
    void each_tensor(F&& f) {
      f(output);
      f(state);
    }
  };
  /// What forward gives for a packed sequence.
  struct PackedResult {
    PackedSequence output;
    LstmState state;

    template <class F>
    void each_tensor(F&& f) {
      f(output);
      f(state);
    }
  };

  LSTM(int64_t input_size, int64_t hidden_size, const LSTMOptions& options = {}, Site site = Site::here());
  using RecurrentBase::forward;
  /// Outputs (T, N, directions · hidden) of the last layer, and the last h and c (layers · directions, N, hidden) of each layer and
  /// direction, from x (T, N, input), or from (T, input) all without N. With proj_size it stands for hidden in outputs and h.
  Result forward(const Tensor& x, const LstmState& hx, Site site);
  PackedResult forward(const PackedSequence& x, const LstmState& hx, Site site);
  Result operator()(const Tensor& x, const LstmState& hx = {}, Site site = Site::here());
  PackedResult operator()(const PackedSequence& x, const LstmState& hx = {}, Site site = Site::here());
};

}  // namespace tandem::nn
