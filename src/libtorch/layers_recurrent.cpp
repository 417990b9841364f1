#include "libtorch/layers_recurrent.h"

#include <cmath>

#include "nn/flat_parameters.h"
#include "nn/init.h"
#include "ops/creation.h"
#include "ops/recurrent/recurrent.h"

namespace torch::nn {
namespace {

// tandem's network, which has the parameters, checks the input and computes.
template <class Net>
Net make_network(const detail::RNNOptionsBase& o, Site site) {
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

// The options that all networks have, of those of one kind.
template <class LayerOptions>
detail::RNNOptionsBase base_of(detail::RNNOptionsBase::rnn_options_base_mode_t mode, const LayerOptions& o) {
  return detail::RNNOptionsBase(mode, o.input_size(), o.hidden_size())
      .num_layers(o.num_layers())
      .bias(o.bias())
      .batch_first(o.batch_first())
      .dropout(o.dropout())
      .bidirectional(o.bidirectional());
}

// An LSTM's state, h and c, as tandem has it.
tandem::LstmState lstm_state(const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  if (!hx) return {};
  return {std::get<0>(*hx), std::get<1>(*hx)};
}

}  // namespace

namespace detail {

template <class Derived, class Net>
RNNImplBase<Derived, Net>::RNNImplBase(const RNNOptionsBase& options_, Site) : options_base(options_) {
  reset();
}

template <class Derived, class Net>
void RNNImplBase<Derived, Net>::reset() {
  const Site site = making_site();
  network_.emplace(make_network<Net>(options_base, site));
  for (const auto& [name, weight] : network_->named_parameters(site)) this->register_parameter(name, weight, true, site);
}

template <class Derived, class Net>
void RNNImplBase<Derived, Net>::reset_parameters(Site site) {
  network_->reset_parameters(site);
}

template <class Derived, class Net>
void RNNImplBase<Derived, Net>::flatten_parameters(Site site) {
  tandem::nn::detail::flatten_parameters(*network_, site);
}

template <class Derived, class Net>
void RNNImplBase<Derived, Net>::to(tandem::Device device, tandem::DType dtype, bool non_blocking) {
  Module::to(device, dtype, non_blocking);
  flatten_parameters(making_site());
}

template <class Derived, class Net>
void RNNImplBase<Derived, Net>::to(tandem::DType dtype, bool non_blocking) {
  Module::to(dtype, non_blocking);
  flatten_parameters(making_site());
}

template <class Derived, class Net>
void RNNImplBase<Derived, Net>::to(tandem::Device device, bool non_blocking) {
  Module::to(device, non_blocking);
  flatten_parameters(making_site());
}

template <class Derived, class Net>
void RNNImplBase<Derived, Net>::pretty_print(std::ostream& stream) const {
  const auto& o = options_base;
  detail::Text(stream, Derived::kName)("input_size", o.input_size())("hidden_size", o.hidden_size())("num_layers", o.num_layers())(
      "bias", o.bias())("batch_first", o.batch_first())("dropout", o.dropout())("bidirectional", o.bidirectional())
      .when(o.proj_size() > 0, "proj_size", o.proj_size());
}

template <class Derived, class Net>
Net& RNNImplBase<Derived, Net>::network() {
  if (network_->training() != this->is_training()) network_->train(this->is_training());
  return *network_;
}

template <class Derived, class Net>
std::tuple<Tensor, Tensor> StateOfOneImpl<Derived, Net>::forward(const Tensor& input, Tensor hx, Site site) {
  tandem::RnnResult result = this->network().forward(input, hx, site);
  return {std::move(result.output), std::move(result.h_n)};
}

template <class Derived, class Net>
std::tuple<nn::utils::rnn::PackedSequence, Tensor> StateOfOneImpl<Derived, Net>::forward_with_packed_input(
    const nn::utils::rnn::PackedSequence& packed_input, Tensor hx, Site site) {
  tandem::nn::PackedRnnResult result = this->network().forward(packed_input.parts(), hx, site);
  return {std::move(result.output), std::move(result.h_n)};
}

template <class Derived>
RNNCellImplBase<Derived>::RNNCellImplBase(const RNNCellOptionsBase& options_, Site) : options_base(options_) {
  reset();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset() {
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

template <class Derived>
void RNNCellImplBase<Derived>::reset_parameters(Site site) {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& parameter : {weight_ih, weight_hh, bias_ih, bias_hh})
    if (parameter.defined()) tandem::nn::init::uniform_(parameter, -bound, bound, site);
}

template <class Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& stream) const {
  detail::Text text(stream, Derived::kName);
  text("", options_base.input_size())("", options_base.hidden_size()).when(!options_base.bias(), "bias", false);
  if constexpr (requires(const Derived& d) { d.options.nonlinearity(); }) {
    const auto& nonlinearity = static_cast<const Derived&>(*this).options.nonlinearity();
    text.when(!std::holds_alternative<enumtype::kTanh>(nonlinearity), "nonlinearity", nonlinearity);
  }
}

template <class Derived>
Tensor RNNCellImplBase<Derived>::state(const char* what, const Tensor& input, const Tensor& given, Site site) const {
  const int64_t hidden = options_base.hidden_size();
  if (input.dim(site) != 2 || input.size(1, site) != options_base.input_size())
    tandem::fail("[", Derived::kName, "] expected an input (N, ", options_base.input_size(), "), got ", input.sizes());
  const tandem::Shape sizes{input.size(0, site), hidden};
  if (!given.defined()) return tandem::zeros(sizes, {.dtype = input.dtype(), .device = input.device()}, site);
  if (given.sizes() != sizes) tandem::fail("[", Derived::kName, "] expected ", what, " of size ", sizes, ", got ", given.sizes());
  return given;
}

}  // namespace detail

template class detail::RNNImplBase<RNNImpl, tandem::nn::RNN>;
template class detail::StateOfOneImpl<RNNImpl, tandem::nn::RNN>;
template class detail::RNNImplBase<GRUImpl, tandem::nn::GRU>;
template class detail::StateOfOneImpl<GRUImpl, tandem::nn::GRU>;
template class detail::RNNImplBase<LSTMImpl, tandem::nn::LSTM>;
template class detail::RNNCellImplBase<RNNCellImpl>;
template class detail::RNNCellImplBase<GRUCellImpl>;
template class detail::RNNCellImplBase<LSTMCellImpl>;

RNNImpl::RNNImpl(int64_t input_size, int64_t hidden_size, Site site) : RNNImpl(RNNOptions(input_size, hidden_size), site) {}

RNNImpl::RNNImpl(const RNNOptions& options_, Site site) : StateOfOneImpl(base_of(mode_of(options_), options_), site), options(options_) {}

detail::RNNOptionsBase::rnn_options_base_mode_t RNNImpl::mode_of(const RNNOptions& o) {
  if (std::holds_alternative<enumtype::kReLU>(o.nonlinearity())) return torch::kRNN_RELU;
  return torch::kRNN_TANH;
}

GRUImpl::GRUImpl(int64_t input_size, int64_t hidden_size, Site site) : GRUImpl(GRUOptions(input_size, hidden_size), site) {}

GRUImpl::GRUImpl(const GRUOptions& options_, Site site) : StateOfOneImpl(base_of(torch::kGRU, options_), site), options(options_) {}

LSTMImpl::LSTMImpl(int64_t input_size, int64_t hidden_size, Site site) : LSTMImpl(LSTMOptions(input_size, hidden_size), site) {}

LSTMImpl::LSTMImpl(const LSTMOptions& options_, Site site)
    : RNNImplBase(base_of(torch::kLSTM, options_).proj_size(options_.proj_size()), site), options(options_) {}

std::tuple<Tensor, LSTMImpl::State> LSTMImpl::forward(const Tensor& input, std::optional<State> hx, Site site) {
  tandem::nn::LSTM::Result result = network().forward(input, lstm_state(hx), site);
  return {std::move(result.output), State(std::move(result.state.h), std::move(result.state.c))};
}

std::tuple<nn::utils::rnn::PackedSequence, LSTMImpl::State> LSTMImpl::forward_with_packed_input(
    const nn::utils::rnn::PackedSequence& packed_input, std::optional<State> hx, Site site) {
  tandem::nn::LSTM::PackedResult result = network().forward(packed_input.parts(), lstm_state(hx), site);
  return {std::move(result.output), State(std::move(result.state.h), std::move(result.state.c))};
}

RNNCellImpl::RNNCellImpl(int64_t input_size, int64_t hidden_size, Site site) : RNNCellImpl(RNNCellOptions(input_size, hidden_size), site) {}

RNNCellImpl::RNNCellImpl(const RNNCellOptions& options_, Site site)
    : RNNCellImplBase({options_.input_size(), options_.hidden_size(), options_.bias(), 1}, site), options(options_) {}

Tensor RNNCellImpl::forward(const Tensor& input, Tensor hx, Site site) {
  const auto step = std::holds_alternative<enumtype::kTanh>(options.nonlinearity()) ? tandem::rnn_tanh_cell : tandem::rnn_relu_cell;
  return step(input, state("hx", input, hx, site), weight_ih, weight_hh, bias_ih, bias_hh, site);
}

GRUCellImpl::GRUCellImpl(int64_t input_size, int64_t hidden_size, Site site) : GRUCellImpl(GRUCellOptions(input_size, hidden_size), site) {}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& options_, Site site)
    : RNNCellImplBase({options_.input_size(), options_.hidden_size(), options_.bias(), 3}, site), options(options_) {}

Tensor GRUCellImpl::forward(const Tensor& input, Tensor hx, Site site) {
  return tandem::gru_cell(input, state("hx", input, hx, site), weight_ih, weight_hh, bias_ih, bias_hh, site);
}

LSTMCellImpl::LSTMCellImpl(int64_t input_size, int64_t hidden_size, Site site)
    : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size), site) {}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options_, Site site)
    : RNNCellImplBase({options_.input_size(), options_.hidden_size(), options_.bias(), 4}, site), options(options_) {}

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx, Site site) {
  const tandem::LstmState given = lstm_state(hx);
  tandem::LstmState next = tandem::lstm_cell(input, {state("h", input, given.h, site), state("c", input, given.c, site)}, weight_ih,
                                             weight_hh, bias_ih, bias_hh, site);
  return {std::move(next.h), std::move(next.c)};
}

}  // namespace torch::nn
