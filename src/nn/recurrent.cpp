#include "nn/recurrent.h"

#include <cmath>

#include "autograd/autograd.h"
#include "base/error.h"
#include "nn/flat_parameters.h"
#include "nn/repr.h"
#include "nn/settings.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/recurrent/recurrent_cells.h"
#include "ops/view.h"
#include "tensor/host_values.h"

namespace tandem::nn {
namespace {

/// The options that all three have; an LSTM's are the most.
template <class O>
LSTMOptions common(const O& o) {
  return {.num_layers = o.num_layers,
          .bias = o.bias,
          .batch_first = o.batch_first,
          .dropout = o.dropout,
          .bidirectional = o.bidirectional,
          .device = o.device,
          .dtype = o.dtype};
}

using Kind = ops::RecurrentKind;

Kind kind_of(const char* type, const std::string& nonlinearity) {
  if (nonlinearity == "tanh") return Kind::Tanh;
  if (nonlinearity == "relu") return Kind::Relu;
  fail("[", type, "] Unknown nonlinearity '", nonlinearity, "'. Select from 'tanh' or 'relu'.");
}

}  // namespace

namespace detail {

RecurrentBase::RecurrentBase(const char* type, kernels::RecurrentCell kind, int64_t input_size, int64_t hidden_size,
                             const LSTMOptions& options, Site site)
    : input_size(input_size),
      hidden_size(hidden_size),
      num_layers(options.num_layers),
      bias(options.bias),
      batch_first(options.batch_first),
      dropout(options.dropout),
      bidirectional(options.bidirectional),
      proj_size(options.proj_size),
      type_(type),
      kind_(kind) {
  if (input_size < 0) fail("[", type, "] input_size must not be negative, got ", input_size);
  if (hidden_size <= 0) fail("[", type, "] hidden_size must be greater than zero, got ", hidden_size);
  if (num_layers <= 0) fail("[", type, "] num_layers must be greater than zero, got ", num_layers);
  if (!(dropout >= 0 && dropout <= 1))
    fail("[", type, "] dropout should be a number in range [0, 1] representing the probability of an element being zeroed, got ", dropout);
  if (proj_size < 0) fail("[", type, "] proj_size should be a positive integer or zero to disable projections, got ", proj_size);
  if (proj_size >= hidden_size) fail("[", type, "] proj_size has to be smaller than hidden_size, ", hidden_size, ", got ", proj_size);
  const Options made{.dtype = options.dtype, .device = options.device, .requires_grad = true};
  const int64_t directions = bidirectional ? 2 : 1, out = proj_size ? proj_size : hidden_size, rows = ops::gates_of(kind) * hidden_size;
  for (int64_t part = 0; part < num_layers * directions; ++part) {
    weights.push_back(empty({rows, part < directions ? input_size : out * directions}, made, site));
    weights.push_back(empty({rows, out}, made, site));
    for (int i = 0; bias && i < 2; ++i) weights.push_back(empty({rows}, made, site));
    if (proj_size) weights.push_back(empty({proj_size, hidden_size}, made, site));
  }
  reset_parameters(site);
  flatten_parameters(*this, site);
}

void RecurrentBase::fields(Fields& f) {
  size_t i = 0;
  for (int64_t layer = 0; layer < num_layers; ++layer) {
    for (const char* direction : {"", "_reverse"}) {
      if (*direction && !bidirectional) continue;
      const auto name = [&](const char* kind) { f(str(kind, "_l", layer, direction), weights[i++]); };
      name("weight_ih");
      name("weight_hh");
      if (bias) {
        name("bias_ih");
        name("bias_hh");
      }
      if (proj_size) name("weight_hr");
    }
  }
}

void RecurrentBase::reset_parameters(Site site) {
  const NoGradGuard no_grad;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  for (const Tensor& weight : weights) weight.uniform_(-bound, bound, site);
}

std::string RecurrentBase::extra_repr() const {
  std::string s = str(input_size, ", ", hidden_size);
  if (proj_size) s += str(", proj_size=", proj_size);
  if (num_layers != 1) s += str(", num_layers=", num_layers);
  if (!bias) s += str(", bias=", repr(bias));
  if (batch_first) s += str(", batch_first=", repr(batch_first));
  if (dropout != 0) s += ", dropout=" + repr(dropout);
  if (bidirectional) s += str(", bidirectional=", repr(bidirectional));
  return s;
}

int64_t RecurrentBase::multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor>) const {
  int64_t of_step = 0;
  for (const Tensor& weight : weights)
    if (weight.dim() == 2) of_step += weight.numel();
  return input_size > 0 ? inputs[0].numel() / input_size * of_step : 0;
}

// Zeros for those that are not given; errors for sizes that don't fit.
std::vector<Tensor> RecurrentBase::states(const std::vector<Tensor>& hx, const Tensor& like, int64_t batch, Site site) const {
  std::vector<Tensor> result;
  for (size_t i = 0; i < hx.size(); ++i) {
    const Shape expected{num_layers * (bidirectional ? 2 : 1), batch, i == 0 && proj_size ? proj_size : hidden_size};
    if (hx[i].defined() != hx[0].defined()) fail("[", type_, "] expects both hidden states, h and c, or neither");
    if (hx[i].defined() && hx[i].sizes() != expected)
      fail("[", type_, "] Expected hidden", hx.size() > 1 ? str("[", i, "]") : std::string(), " size ", expected, ", got ", hx[i].sizes());
    result.push_back(hx[i].defined() ? hx[i] : zeros(expected, {.dtype = like.dtype(), .device = like.device()}, site));
  }
  return result;
}

LstmResult RecurrentBase::compute(const Tensor& x, const Shape* batch_sizes, const std::vector<Tensor>& hx, Site site) const {
  return ops::recurrent(type_, kind_, x, batch_sizes, hx, weights, bias, num_layers, dropout, training(), bidirectional, site);
}

LstmResult RecurrentBase::run(const Tensor& x, std::vector<Tensor> hx, Site site) {
  if (x.dim() != 2 && x.dim() != 3) fail("[", type_, "] Expected input to be 2D or 3D, got ", x.dim(), "D instead");
  if (x.size(-1) != input_size)
    fail("[", type_, "] input.size(-1) must be equal to input_size. Expected ", input_size, ", got ", x.size(-1));
  const bool batched = x.dim() == 3;
  for (Tensor& h : hx) {
    if (!h.defined()) continue;
    if (h.dim() != x.dim())
      fail("[", type_, "] For ", batched ? "batched 3-D" : "unbatched 2-D", " input, hx should also be ", x.dim(), "-D but got ", h.dim(),
           "-D tensor");
    if (!batched) h = h.unsqueeze(1, site);
  }
  Tensor sequence = batched ? x : x.unsqueeze(1, site);
  if (batched && batch_first) sequence = x.transpose(0, 1, site);
  LstmResult result = compute(sequence, nullptr, states(hx, x, sequence.size(1), site), site);
  if (batched && batch_first) result.output = result.output.transpose(0, 1, site);
  if (batched) return result;
  for (Tensor* y : {&result.output, &result.h_n, &result.c_n})
    if (y->defined()) *y = y->squeeze(1, site);
  return result;
}

LstmResult RecurrentBase::run(const PackedSequence& x, std::vector<Tensor> hx, Site site) {
  if (x.data.dim() != 2) fail("[", type_, "] Expected packed data to be 2D, got ", x.data.dim(), "D instead");
  if (x.data.size(-1) != input_size)
    fail("[", type_, "] input.size(-1) must be equal to input_size. Expected ", input_size, ", got ", x.data.size(-1));
  const Shape batch_sizes = read_values(x.batch_sizes, -1, "RNN.forward", site).integers;
  hx = states(hx, x.data, batch_sizes.empty() ? 0 : batch_sizes[0], site);
  if (x.sorted_indices.defined())
    for (Tensor& h : hx) h = index_select(h, 1, x.sorted_indices, site);
  LstmResult result = compute(x.data, &batch_sizes, hx, site);
  if (x.unsorted_indices.defined())
    for (Tensor* h : {&result.h_n, &result.c_n})
      if (h->defined()) *h = index_select(*h, 1, x.unsorted_indices, site);
  return result;
}

RnnResult StateOfOne::forward(const Tensor& x, const Tensor& hx, Site site) {
  LstmResult result = run(x, {hx}, site);
  return {std::move(result.output), std::move(result.h_n)};
}

PackedRnnResult StateOfOne::forward(const PackedSequence& x, const Tensor& hx, Site site) {
  LstmResult result = run(x, {hx}, site);
  return {{std::move(result.output), x.batch_sizes, x.sorted_indices, x.unsorted_indices}, std::move(result.h_n)};
}

RnnResult StateOfOne::operator()(const Tensor& x, const Tensor& hx, Site site) { return hooked_forward(*this, site, x, hx); }
PackedRnnResult StateOfOne::operator()(const PackedSequence& x, const Tensor& hx, Site site) { return hooked_forward(*this, site, x, hx); }

}  // namespace detail

RNN::RNN(int64_t input_size, int64_t hidden_size, const RNNOptions& options, Site site)
    : StateOfOne("RNN", kind_of("RNN", options.nonlinearity), input_size, hidden_size, common(options), site),
      nonlinearity(options.nonlinearity) {}

void RNN::settings(Settings& s) {
  StateOfOne::settings(s);
  s(nonlinearity);
  if (s.taking()) kind_ = kind_of("RNN", nonlinearity);
}

GRU::GRU(int64_t input_size, int64_t hidden_size, const GRUOptions& options, Site site)
    : StateOfOne("GRU", Kind::Gru, input_size, hidden_size, common(options), site) {}

LSTM::LSTM(int64_t input_size, int64_t hidden_size, const LSTMOptions& options, Site site)
    : RecurrentBase("LSTM", Kind::Lstm, input_size, hidden_size, options, site) {}

LSTM::Result LSTM::forward(const Tensor& x, const LstmState& hx, Site site) {
  LstmResult result = run(x, {hx.h, hx.c}, site);
  return {std::move(result.output), {std::move(result.h_n), std::move(result.c_n)}};
}

LSTM::PackedResult LSTM::forward(const PackedSequence& x, const LstmState& hx, Site site) {
  LstmResult result = run(x, {hx.h, hx.c}, site);
  return {{std::move(result.output), x.batch_sizes, x.sorted_indices, x.unsorted_indices}, {std::move(result.h_n), std::move(result.c_n)}};
}

LSTM::Result LSTM::operator()(const Tensor& x, const LstmState& hx, Site site) { return hooked_forward(*this, site, x, hx); }
LSTM::PackedResult LSTM::operator()(const PackedSequence& x, const LstmState& hx, Site site) { return hooked_forward(*this, site, x, hx); }

}  // namespace tandem::nn
