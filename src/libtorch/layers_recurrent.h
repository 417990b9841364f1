// Recurrent networks and their cells as layers.
#pragma once

#include <cmath>
#include <tuple>
#include <vector>

#include "libtorch/layers_base.h"
#include "libtorch/options_recurrent.h"
#include "libtorch/utils_rnn.h"
#include "nn/flat_parameters.h"
#include "nn/init.h"
#include "nn/recurrent.h"
#include "ops/recurrent.h"

namespace torch::nn {
namespace detail {

/// tandem's network, which has the parameters, checks the input and computes.
template <class Net>
Net make_network(const RNNOptionsBase& o, Site site) {
  if constexpr (std::is_same_v<Net, tandem::nn::RNN>) {
    const bool relu = std::holds_alternative<enumtype::kRNN_RELU>(o.mode());
    return {o.input_size(),
            o.hidden_size(),
            {.num_layers = o.num_layers(),
             .nonlinearity = relu ? "relu" : "tanh",
             .bias = o.bias(),
             .batch_first = o.batch_first(),
             .dropout = o.dropout(),
             .bidirectional = o.bidirectional()},
            site};
  } else {
    typename std::conditional<std::is_same_v<Net, tandem::nn::LSTM>, tandem::nn::LSTMOptions, tandem::nn::GRUOptions>::type how{
        .num_layers = o.num_layers(),
        .bias = o.bias(),
        .batch_first = o.batch_first(),
        .dropout = o.dropout(),
        .bidirectional = o.bidirectional()};
    if constexpr (requires { how.proj_size; }) how.proj_size = o.proj_size();
    return {o.input_size(), o.hidden_size(), how, site};
  }
}

/// What the networks share: the parameters weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_ih_l0_reverse, …, which are those of
/// one of tandem's networks.
template <class Derived, class Net>
class RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options_, Site = Site::here()) : options_base(options_) { reset(); }

  void reset() override {
    const Site site = making_site();
    network_.emplace(make_network<Net>(options_base, site));
    for (const auto& [name, weight] : network_->named_parameters(site)) this->register_parameter(name, weight, true, site);
  }
  /// Draws all parameters anew, uniform within ±1/sqrt(hidden_size).
  void reset_parameters(Site site = Site::here()) { network_->reset_parameters(site); }
  /// Puts the parameters where cuDNN need not copy them; on a GPU.
  void flatten_parameters(Site site = Site::here()) { tandem::nn::detail::flatten_parameters(*network_, site); }
  /// The parameters in their order.
  [[nodiscard]] std::vector<Tensor> all_weights() const { return network_->weights; }

  void to(tandem::Device device, tandem::DType dtype, bool non_blocking = false) override {
    Module::to(device, dtype, non_blocking);
    flatten_parameters(making_site());
  }
  void to(tandem::DType dtype, bool non_blocking = false) override {
    Module::to(dtype, non_blocking);
    flatten_parameters(making_site());
  }
  void to(tandem::Device device, bool non_blocking = false) override {
    Module::to(device, non_blocking);
    flatten_parameters(making_site());
  }

  void pretty_print(std::ostream& stream) const override {
    const auto& o = options_base;
    detail::Text(stream, Derived::kName)("input_size", o.input_size())("hidden_size", o.hidden_size())("num_layers", o.num_layers())(
        "bias", o.bias())("batch_first", o.batch_first())("dropout", o.dropout())("bidirectional", o.bidirectional())
        .when(o.proj_size() > 0, "proj_size", o.proj_size());
  }

  RNNOptionsBase options_base;

 protected:
  /// The network, in this layer's mode.
  Net& network() {
    if (network_->training() != this->is_training()) network_->train(this->is_training());
    return *network_;
  }

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
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {}, Site site = Site::here()) {
    tandem::RnnResult result = this->network().forward(input, hx, site);
    return {std::move(result.output), std::move(result.h_n)};
  }
  std::tuple<nn::utils::rnn::PackedSequence, Tensor> forward_with_packed_input(const nn::utils::rnn::PackedSequence& packed_input,
                                                                               Tensor hx = {}, Site site = Site::here()) {
    tandem::nn::PackedRnnResult result = this->network().forward(packed_input.parts(), hx, site);
    return {std::move(result.output), std::move(result.h_n)};
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};

/// An LSTM's state, h and c, as tandem has it.
inline tandem::LstmState lstm_state(const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  if (!hx) return {};
  return {std::get<0>(*hx), std::get<1>(*hx)};
}

/// The options that all networks have, of those of one kind.
template <class LayerOptions>
RNNOptionsBase base_of(RNNOptionsBase::rnn_options_base_mode_t mode, const LayerOptions& o) {
  return RNNOptionsBase(mode, o.input_size(), o.hidden_size())
      .num_layers(o.num_layers())
      .bias(o.bias())
      .batch_first(o.batch_first())
      .dropout(o.dropout())
      .bidirectional(o.bidirectional());
}

}  // namespace detail

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.
class RNNImpl : public detail::StateOfOneImpl<RNNImpl, tandem::nn::RNN> {
 public:
  static constexpr const char* kName = "RNN";

  RNNImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here()) : RNNImpl(RNNOptions(input_size, hidden_size), site) {}
  explicit RNNImpl(const RNNOptions& options_, Site site = Site::here())
      : StateOfOneImpl(detail::base_of(mode_of(options_), options_), site), options(options_) {}

  RNNOptions options;

 private:
  static detail::RNNOptionsBase::rnn_options_base_mode_t mode_of(const RNNOptions& o) {
    if (std::holds_alternative<enumtype::kReLU>(o.nonlinearity())) return torch::kRNN_RELU;
    return torch::kRNN_TANH;
  }
};
TORCH_MODULE(RNN);

/// Gated recurrent units.
class GRUImpl : public detail::StateOfOneImpl<GRUImpl, tandem::nn::GRU> {
 public:
  static constexpr const char* kName = "GRU";

  GRUImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here()) : GRUImpl(GRUOptions(input_size, hidden_size), site) {}
  explicit GRUImpl(const GRUOptions& options_, Site site = Site::here())
      : StateOfOneImpl(detail::base_of(torch::kGRU, options_), site), options(options_) {}

  GRUOptions options;
};
TORCH_MODULE(GRU);

/// Long short-term memory; the state is h and c.
class LSTMImpl : public detail::RNNImplBase<LSTMImpl, tandem::nn::LSTM> {
 public:
  static constexpr const char* kName = "LSTM";
  using State = std::tuple<Tensor, Tensor>;

  LSTMImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here()) : LSTMImpl(LSTMOptions(input_size, hidden_size), site) {}
  explicit LSTMImpl(const LSTMOptions& options_, Site site = Site::here())
      : RNNImplBase(detail::base_of(torch::kLSTM, options_).proj_size(options_.proj_size()), site), options(options_) {}

  /// As those of the other networks, with h and c for the state.
  std::tuple<Tensor, State> forward(const Tensor& input, std::optional<State> hx = {}, Site site = Site::here()) {
    tandem::nn::LSTM::Result result = network().forward(input, detail::lstm_state(hx), site);
    return {std::move(result.output), State(std::move(result.state.h), std::move(result.state.c))};
  }
  std::tuple<nn::utils::rnn::PackedSequence, State> forward_with_packed_input(const nn::utils::rnn::PackedSequence& packed_input,
                                                                              std::optional<State> hx = {}, Site site = Site::here()) {
    tandem::nn::LSTM::PackedResult result = network().forward(packed_input.parts(), detail::lstm_state(hx), site);
    return {std::move(result.output), State(std::move(result.state.h), std::move(result.state.c))};
  }

  LSTMOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})
};
TORCH_MODULE(LSTM);

namespace detail {

/// What cells share: weight_ih (gates · hidden, input), weight_hh (gates · hidden, hidden), bias_ih, bias_hh (gates · hidden), uniform
/// within ±1/sqrt(hidden) at first.
template <class Derived>
class RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_, Site = Site::here()) : options_base(options_) { reset(); }

  void reset() override {
    const Site site = making_site();
    const int64_t rows = options_base.num_chunks() * options_base.hidden_size();
    weight_ih = this->register_parameter("weight_ih", tandem::empty({rows, options_base.input_size()}, {}, site), true, site);
    weight_hh = this->register_parameter("weight_hh", tandem::empty({rows, options_base.hidden_size()}, {}, site), true, site);
    const auto bias = [&](const char* name) {
      return this->register_parameter(name, options_base.bias() ? tandem::empty({rows}, {}, site) : Tensor(), options_base.bias(), site);
    };
    bias_ih = bias("bias_ih");
    bias_hh = bias("bias_hh");
    reset_parameters(site);
  }
  void reset_parameters(Site site = Site::here()) {
    const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
    for (const Tensor& parameter : {weight_ih, weight_hh, bias_ih, bias_hh})
      if (parameter.defined()) tandem::nn::init::uniform_(parameter, -bound, bound, site);
  }
  void pretty_print(std::ostream& stream) const override {
    detail::Text text(stream, Derived::kName);
    text("", options_base.input_size())("", options_base.hidden_size()).when(!options_base.bias(), "bias", false);
    if constexpr (requires(const Derived& d) { d.options.nonlinearity(); }) {
      const auto& nonlinearity = static_cast<const Derived&>(*this).options.nonlinearity();
      text.when(!std::holds_alternative<enumtype::kTanh>(nonlinearity), "nonlinearity", nonlinearity);
    }
  }

  RNNCellOptionsBase options_base;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  /// Zeros where there is no state. Errors where sizes don't fit.
  Tensor state(const char* what, const Tensor& input, const Tensor& given, Site site) const {
    const int64_t hidden = options_base.hidden_size();
    if (input.dim(site) != 2 || input.size(1, site) != options_base.input_size())
      tandem::fail("[", Derived::kName, "] expected an input (N, ", options_base.input_size(), "), got ", input.sizes());
    const tandem::Shape sizes{input.size(0, site), hidden};
    if (!given.defined()) return tandem::zeros(sizes, {.dtype = input.dtype(), .device = input.device()}, site);
    if (given.sizes() != sizes) tandem::fail("[", Derived::kName, "] expected ", what, " of size ", sizes, ", got ", given.sizes());
    return given;
  }
};

}  // namespace detail

/// One step of a plain network: from input (N, input) and state (N, hidden), zeros where there is none, to the next state.
class RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  static constexpr const char* kName = "RNNCell";

  RNNCellImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here())
      : RNNCellImpl(RNNCellOptions(input_size, hidden_size), site) {}
  explicit RNNCellImpl(const RNNCellOptions& options_, Site site = Site::here())
      : RNNCellImplBase({options_.input_size(), options_.hidden_size(), options_.bias(), 1}, site), options(options_) {}
  Tensor forward(const Tensor& input, Tensor hx = {}, Site site = Site::here()) {
    const auto step = std::holds_alternative<enumtype::kTanh>(options.nonlinearity()) ? tandem::rnn_tanh_cell : tandem::rnn_relu_cell;
    return step(input, state("hx", input, hx, site), weight_ih, weight_hh, bias_ih, bias_hh, site);
  }

  RNNCellOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TORCH_MODULE(RNNCell);

/// One step of gated recurrent units.
class GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  static constexpr const char* kName = "GRUCell";

  GRUCellImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here())
      : GRUCellImpl(GRUCellOptions(input_size, hidden_size), site) {}
  explicit GRUCellImpl(const GRUCellOptions& options_, Site site = Site::here())
      : RNNCellImplBase({options_.input_size(), options_.hidden_size(), options_.bias(), 3}, site), options(options_) {}
  Tensor forward(const Tensor& input, Tensor hx = {}, Site site = Site::here()) {
    return tandem::gru_cell(input, state("hx", input, hx, site), weight_ih, weight_hh, bias_ih, bias_hh, site);
  }

  GRUCellOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TORCH_MODULE(GRUCell);

/// One step of an LSTM: the state is h and c.
class LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  static constexpr const char* kName = "LSTMCell";

  LSTMCellImpl(int64_t input_size, int64_t hidden_size, Site site = Site::here())
      : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size), site) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options_, Site site = Site::here())
      : RNNCellImplBase({options_.input_size(), options_.hidden_size(), options_.bias(), 4}, site), options(options_) {}
  std::tuple<Tensor, Tensor> forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx = {}, Site site = Site::here()) {
    const tandem::LstmState given = detail::lstm_state(hx);
    tandem::LstmState next = tandem::lstm_cell(input, {state("h", input, given.h, site), state("c", input, given.c, site)}, weight_ih,
                                               weight_hh, bias_ih, bias_hh, site);
    return {std::move(next.h), std::move(next.c)};
  }

  LSTMCellOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})
};
TORCH_MODULE(LSTMCell);

}  // namespace torch::nn
