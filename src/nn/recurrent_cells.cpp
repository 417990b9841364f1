#include "nn/recurrent_cells.h"

#include <cmath>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/view.h"

namespace tandem::nn {
namespace detail {

RecurrentCell::RecurrentCell(const char* type, int64_t gates, int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options,
                             Site site)
    : input_size(input_size), hidden_size(hidden_size), type_(type) {
  if (input_size < 0 || hidden_size < 0)
    fail("[", type, "] input_size and hidden_size must not be negative, got ", input_size, " and ", hidden_size);
  const Options made{.dtype = options.dtype, .device = options.device, .requires_grad = true};
  weight_ih = empty({gates * hidden_size, input_size}, made, site);
  weight_hh = empty({gates * hidden_size, hidden_size}, made, site);
  if (options.bias) {
    bias_ih = empty({gates * hidden_size}, made, site);
    bias_hh = empty({gates * hidden_size}, made, site);
  }
  reset_parameters(site);
}

void RecurrentCell::fields(Fields& f) {
  f("weight_ih", weight_ih);
  f("weight_hh", weight_hh);
  f("bias_ih", bias_ih);
  f("bias_hh", bias_hh);
}

void RecurrentCell::reset_parameters(Site site) {
  const NoGradGuard no_grad;
  const double bound = hidden_size > 0 ? 1 / std::sqrt(static_cast<double>(hidden_size)) : 0;
  for (const Tensor& parameter : parameters()) parameter.uniform_(-bound, bound, site);
}

std::string RecurrentCell::extra_repr() const { return str(input_size, ", ", hidden_size, bias_ih.defined() ? "" : ", bias=False"); }

int64_t RecurrentCell::multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor>) const {
  const int64_t samples = inputs[0].dim() == 2 ? inputs[0].size(0) : 1;
  return samples * (weight_ih.numel() + weight_hh.numel());
}

RecurrentCell::Ready RecurrentCell::ready(const Tensor& x, const Tensor& h, const Tensor& c, bool has_cell, Site site) const {
  if (x.dim() != 1 && x.dim() != 2) fail("[", type_, "] Expected input to be 1D or 2D, got ", x.dim(), "D instead");
  if (h.defined() != c.defined() && has_cell) fail("[", type_, "] expects both hidden states, h and c, or neither");
  const bool batched = x.dim() == 2;
  const Tensor wide = batched ? x : x.unsqueeze(0, site);
  const auto state = [&](const Tensor& s) {
    if (!s.defined()) return zeros({wide.size(0), hidden_size}, {.dtype = x.dtype(), .device = x.device()}, site);
    if (s.dim() != x.dim()) fail("[", type_, "] Expected hidden to be ", x.dim(), "D as the input is, got ", s.dim(), "D instead");
    return batched ? s : s.unsqueeze(0, site);
  };
  return {wide, state(h), has_cell ? state(c) : Tensor(), batched};
}

}  // namespace detail

RNNCell::RNNCell(int64_t input_size, int64_t hidden_size, const RNNCellOptions& options, Site site)
    : RecurrentCell("RNNCell", 1, input_size, hidden_size, {options.bias, options.device, options.dtype}, site),
      nonlinearity(options.nonlinearity) {
  if (nonlinearity != "tanh" && nonlinearity != "relu")
    fail("[RNNCell] Unknown nonlinearity '", nonlinearity, "'. Select from 'tanh' or 'relu'.");
}

Tensor RNNCell::forward(const Tensor& x, const Tensor& hx, Site site) {
  const Ready in = ready(x, hx, {}, false, site);
  const auto step = nonlinearity == "tanh" ? rnn_tanh_cell : rnn_relu_cell;
  const Tensor h = step(in.x, in.h, weight_ih, weight_hh, bias_ih, bias_hh, site);
  return in.batched ? h : h.squeeze(0, site);
}

std::string RNNCell::extra_repr() const {
  return RecurrentCell::extra_repr() + (nonlinearity == "tanh" ? "" : ", nonlinearity=" + nonlinearity);
}

GRUCell::GRUCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options, Site site)
    : RecurrentCell("GRUCell", 3, input_size, hidden_size, options, site) {}

Tensor GRUCell::forward(const Tensor& x, const Tensor& hx, Site site) {
  const Ready in = ready(x, hx, {}, false, site);
  const Tensor h = gru_cell(in.x, in.h, weight_ih, weight_hh, bias_ih, bias_hh, site);
  return in.batched ? h : h.squeeze(0, site);
}

LSTMCell::LSTMCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options, Site site)
    : RecurrentCell("LSTMCell", 4, input_size, hidden_size, options, site) {}

LstmState LSTMCell::forward(const Tensor& x, const LstmState& hx, Site site) {
  const Ready in = ready(x, hx.h, hx.c, true, site);
  const LstmState next = lstm_cell(in.x, {in.h, in.c}, weight_ih, weight_hh, bias_ih, bias_hh, site);
  return in.batched ? next : LstmState{next.h.squeeze(0, site), next.c.squeeze(0, site)};
}

Tensor RNNCell::operator()(const Tensor& x, const Tensor& hx, Site site) { return hooked_forward(*this, site, x, hx); }
Tensor GRUCell::operator()(const Tensor& x, const Tensor& hx, Site site) { return hooked_forward(*this, site, x, hx); }
LstmState LSTMCell::operator()(const Tensor& x, const LstmState& hx, Site site) { return hooked_forward(*this, site, x, hx); }

}  // namespace tandem::nn
