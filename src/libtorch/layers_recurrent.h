// Recurrent networks and their cells as layers.
#pragma once

#include <tuple>
#include <vector>

#include "libtorch/layers_base.h"
#include "libtorch/options_recurrent.h"
#include "libtorch/utils_rnn.h"
#include "nn/recurrent.h"

namespace torch::nn {
namespace detail {

/// What the networks share: the parameters weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_ih_l0_reverse, …, which are those of
/// one of tandem's networks.
template <class Derived, class Net>
class RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options_, Site = Site::here());

  void reset() override;
  /// Draws all parameters anew, uniform within ±1/sqrt(hidden_size).
  void reset_parameters(Site site = Site::here());
  /// Puts the parameters where cuDNN need not copy them; on a GPU.
  void flatten_parameters(Site site = Site::here());
  /// The parameters in their order.
  [[nodiscard]] std::vector<Tensor> all_weights() const { return network_->weights; }

  void to(tandem::Device device, tandem::DType dtype, bool non_blocking = false) override;
  void to(tandem::DType dtype, bool non_blocking = false) override;
  void to(tandem::Device device, bool non_blocking = false) override;

  void pretty_print(std::ostream& stream) const override;

  RNNOptionsBase options_base;

 protected:
  /// The network, in this layer's mode.
  Net& network();

 private:
  std::optional<Net> network_;
};

/// Networks whose state is one tensor: plain ones and gated recurrent units.
template <class Derived, class Net>
class StateOfOneImpl : public RNNImplBase<Derived, Net> {
 public:
  using RNNImplBase<Derived, Net>::RNNImplBase;

  /// Outputs (T, N, directions · hidden) of the last layer and the last state (layers · directions, N, hidden) of each, from input (T, N,
  /// input), or (N, T, input) with batch_first. `hx`: the state to begin with, zeros where there is none.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {}, Site site = Site::here());
  std::tuple<nn::utils::rnn::PackedSequence, Tensor> forward_with_packed_input(const nn::utils::rnn::PackedSequence& packed_input,
                                                                               Tensor hx = {}, Site site = Site::here());

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};

}  // namespace detail

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.
class RNNImpl : public detail::StateOfOneImpl<RNNImpl, tandem::nn::RNN> {
 public:
  static constexpr const char* kName = "RNN";

  RNNImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here());
  explicit RNNImpl(const RNNOptions& options_, Site site = Site::here());

  RNNOptions options;

 private:
  static detail::RNNOptionsBase::rnn_options_base_mode_t mode_of(const RNNOptions& o);
};
TANDEM_TORCH_LAYER(RNN);

/// Gated recurrent units.
class GRUImpl : public detail::StateOfOneImpl<GRUImpl, tandem::nn::GRU> {
 public:
  static constexpr const char* kName = "GRU";

  GRUImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here());
  explicit GRUImpl(const GRUOptions& options_, Site site = Site::here());

  GRUOptions options;
};
TANDEM_TORCH_LAYER(GRU);

/// Long short-term memory; the state is h and c.
class LSTMImpl : public detail::RNNImplBase<LSTMImpl, tandem::nn::LSTM> {
 public:
  static constexpr const char* kName = "LSTM";
  using State = std::tuple<Tensor, Tensor>;

  LSTMImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here());
  explicit LSTMImpl(const LSTMOptions& options_, Site site = Site::here());

  /// As those of the other networks, with h and c for the state.
  std::tuple<Tensor, State> forward(const Tensor& input, std::optional<State> hx = {}, Site site = Site::here());
  std::tuple<nn::utils::rnn::PackedSequence, State> forward_with_packed_input(const nn::utils::rnn::PackedSequence& packed_input,
                                                                              std::optional<State> hx = {}, Site site = Site::here());

  LSTMOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})
};
TANDEM_TORCH_LAYER(LSTM);

extern template class detail::RNNImplBase<RNNImpl, tandem::nn::RNN>;
extern template class detail::StateOfOneImpl<RNNImpl, tandem::nn::RNN>;
extern template class detail::RNNImplBase<GRUImpl, tandem::nn::GRU>;
extern template class detail::StateOfOneImpl<GRUImpl, tandem::nn::GRU>;
extern template class detail::RNNImplBase<LSTMImpl, tandem::nn::LSTM>;

namespace detail {

/// What cells share: weight_ih (gates · hidden, input), weight_hh (gates · hidden, hidden), bias_ih, bias_hh (gates · hidden), uniform
/// within ±1/sqrt(hidden) at first.
template <class Derived>
class RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_, Site = Site::here());

  void reset() override;
  void reset_parameters(Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;

  RNNCellOptionsBase options_base;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  /// Zeros where there is no state. Errors where sizes don't fit.
  Tensor state(const char* what, const Tensor& input, const Tensor& given, Site site) const;
};

}  // namespace detail

/// One step of a plain network: from input (N, input) and state (N, hidden), zeros where there is none, to the next state.
class RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  static constexpr const char* kName = "RNNCell";

  RNNCellImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here());
  explicit RNNCellImpl(const RNNCellOptions& options_, Site site = Site::here());
  Tensor forward(const Tensor& input, Tensor hx = {}, Site site = Site::here());

  RNNCellOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TANDEM_TORCH_LAYER(RNNCell);

/// One step of gated recurrent units.
class GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  static constexpr const char* kName = "GRUCell";

  GRUCellImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here());
  explicit GRUCellImpl(const GRUCellOptions& options_, Site site = Site::here());
  Tensor forward(const Tensor& input, Tensor hx = {}, Site site = Site::here());

  GRUCellOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TANDEM_TORCH_LAYER(GRUCell);

/// One step of an LSTM: the state is h and c.
class LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  static constexpr const char* kName = "LSTMCell";

  LSTMCellImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here());
  explicit LSTMCellImpl(const LSTMCellOptions& options_, Site site = Site::here());
  std::tuple<Tensor, Tensor> forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx = {}, Site site = Site::here());

  LSTMCellOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})
};
TANDEM_TORCH_LAYER(LSTMCell);

extern template class detail::RNNCellImplBase<RNNCellImpl>;
extern template class detail::RNNCellImplBase<GRUCellImpl>;
extern template class detail::RNNCellImplBase<LSTMCellImpl>;

}  // namespace torch::nn
