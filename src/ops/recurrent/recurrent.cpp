// Whole layers are one kernel (recurrent_layers.cpp). Packed sequences, projections and integers go step by step: the products of all time
// steps with the input's weights are one product; a step is then one product with the state, and one kernel.
#include "ops/recurrent/recurrent.h"

#include "base/error.h"
#include "ops/autocasting.h"
#include "ops/join.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "ops/recurrent/recurrent_cells.h"
#include "ops/recurrent/recurrent_layers.h"
#include "ops/view.h"

namespace tandem {
namespace {

using ops::gates_of;
using Kind = ops::RecurrentKind;

/// The parameters of one layer and direction.
struct Weights {
  Tensor ih, hh, b_ih, b_hh, hr;
};

struct State {
  Tensor h, c;
};

/// Both biases, where a step adds them up anyway.
Tensor both(const Weights& w, Site site) {
  return w.b_ih.defined() && w.b_hh.defined() ? add(w.b_ih, w.b_hh, site) : w.b_ih.defined() ? w.b_ih : w.b_hh;
}

/// The input's part of the gates, for a step or for all.
Tensor from_input(Kind kind, const Tensor& x, const Weights& w, Site site) {
  return linear(x, w.ih, kind == Kind::Gru ? w.b_ih : both(w, site), site);
}

/// `input_part`: what from_input gave for this step.
State step(Kind kind, const Tensor& input_part, const State& before, const Weights& w, Site site) {
  if (kind == Kind::Gru) return {ops::gru_step(input_part, linear(before.h, w.hh, w.b_hh, site), before.h, site), {}};
  const Tensor gates = addmm(input_part, before.h, w.hh.t(site), 1, 1, site);
  if (kind == Kind::Lstm) {
    LstmState next = ops::lstm_step(gates, before.c, site);
    if (w.hr.defined()) next.h = linear(next.h, w.hr, {}, site);
    return {next.h, next.c};
  }
  return {kind == Kind::Tanh ? tanh(gates, site) : relu(gates, site), {}};
}

/// `batch`: rows of the input's first step.
void check_weights(const char* op, Kind kind, const Tensor& x, int64_t batch, const State& state, const Weights& w) {
  const int64_t hidden = w.hh.dim() == 2 ? w.hh.size(0) / gates_of(kind) : -1;
  if (w.ih.dim() != 2 || w.hh.dim() != 2 || w.ih.size(1) != x.size(-1) || w.ih.size(0) != gates_of(kind) * hidden)
    fail("[", op, "] input has inconsistent input_size: got sizes ", x.sizes(), " with w_ih ", w.ih.sizes(), " and w_hh ", w.hh.sizes());
  if (state.h.dim() != 2 || state.h.size(1) != w.hh.size(1) || (state.c.defined() && (state.c.dim() != 2 || state.c.size(1) != hidden)))
    fail("[", op, "] hidden has inconsistent hidden_size: got h of sizes ", state.h.sizes(), ", expected ", w.hh.size(1), " in the last");
  if (state.h.size(0) != batch || (state.c.defined() && state.c.size(0) != batch))
    fail("[", op, "] Input batch size ", batch, " doesn't match hidden batch size ", state.h.size(0));
  for (const Tensor& bias : {w.b_ih, w.b_hh})
    if (bias.defined() && (bias.dim() != 1 || bias.numel() != gates_of(kind) * hidden))
      fail("[", op, "] a bias should have ", gates_of(kind) * hidden, " elements, not sizes ", bias.sizes());
}

State rows(const State& state, int64_t start, int64_t count, Site site) {
  return {state.h.narrow(0, start, count, site), state.c.defined() ? state.c.narrow(0, start, count, site) : Tensor()};
}

State joined(const std::vector<State>& parts, Site site) {
  if (parts.size() == 1) return parts[0];
  std::vector<Tensor> h, c;
  for (const State& part : parts) {
    h.push_back(part.h);
    if (part.c.defined()) c.push_back(part.c);
  }
  return {cat(h, 0, site), c.empty() ? Tensor() : cat(c, 0, site)};
}

/// The states of the sequences that a step of a packed batch runs on. Forwards, those that have ended step aside with the state they have;
/// in reverse, those that begin join with the one they start from.
class PackedState {
 public:
  PackedState(const State& start, bool reverse, int64_t first, Site site)
      : start_(start), now_(reverse ? rows(start, 0, first, site) : start), site_(site) {}

  /// Before a step of `batch` rows.
  const State& resized(int64_t batch) {
    const int64_t have = now_.h.size(0);
    if (batch > have) now_ = joined({now_, rows(start_, have, batch - have, site_)}, site_);
    if (batch < have) {
      ended_.insert(ended_.begin(), rows(now_, batch, have - batch, site_));
      now_ = rows(now_, 0, batch, site_);
    }
    return now_;
  }
  void set(State next) { now_ = std::move(next); }
  /// Each sequence's last state.
  State last() {
    ended_.insert(ended_.begin(), now_);
    return joined(ended_, site_);
  }

 private:
  State start_, now_;
  std::vector<State> ended_;
  Site site_;
};

/// One layer in one direction over x (T, N, input), or packed (rows, input) where there are batch sizes. `state` becomes the last one.
Tensor run(const char* op, Kind kind, const Tensor& x, const Shape* batch_sizes, State& state, const Weights& w, bool reverse, Site site) {
  check_weights(op, kind, x, batch_sizes ? (*batch_sizes)[0] : x.size(-2), state, w);
  const Tensor input_part = from_input(kind, x, w, site);
  const std::vector<Tensor> parts = batch_sizes ? ops::steps_of(input_part, *batch_sizes, site) : ops::steps_of(input_part, site);
  std::vector<Tensor> outputs(parts.size());
  PackedState states(state, reverse, parts[reverse ? parts.size() - 1 : 0].size(0), site);
  for (size_t t = 0; t < parts.size(); ++t) {
    const size_t at = reverse ? parts.size() - 1 - t : t;
    State next = step(kind, parts[at], states.resized(parts[at].size(0)), w, site);
    outputs[at] = next.h;
    states.set(std::move(next));
  }
  state = states.last();
  return batch_sizes ? cat(outputs, 0, site) : stack(outputs, 0, site);
}

void check_packed(const char* op, const Tensor& data, const Shape& batch_sizes) {
  int64_t rows = 0, before = batch_sizes.empty() ? 0 : batch_sizes[0];
  for (const int64_t size : batch_sizes) {
    if (size <= 0 || size > before) fail("[", op, "] batch_sizes must be positive and never grow, got ", batch_sizes);
    rows += before = size;
  }
  if (data.dim() != 2 || data.size(0) != rows)
    fail("[", op, "] packed data must have 2 dimensions and as many rows as batch_sizes add up to, ", rows, ", got ", data.sizes());
}

RnnResult without_cell(const LstmResult& result) { return {result.output, result.h_n}; }

/// With batch_first, the two dimensions change places before and after.
LstmResult plain(const char* op, Kind kind, const Tensor& input, const std::vector<Tensor>& hx, const std::vector<Tensor>& params,
                 bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first, Site site) {
  if (input.dim() != 3) fail("[", op, "] input must have 3 dimensions, got ", input.dim());
  LstmResult result = ops::recurrent(op, kind, batch_first ? input.transpose(0, 1, site) : input, nullptr, hx, params, has_biases,
                                     num_layers, dropout, train, bidirectional, site);
  if (batch_first) result.output = result.output.transpose(0, 1, site);
  return result;
}

/// What autocast does with layers and single steps: PyTorch's LSTM and plain networks on the CPU are in the lower precision, its GRU is
/// not.
ops::CastName cast_name(Kind kind, bool is_cell) {
  if (kind != Kind::Lstm && kind != Kind::Gru) return "rnn";
  if (is_cell) return "gated_cell";
  return kind == Kind::Lstm ? ops::CastName("lstm") : ops::CastName("gru");
}

Tensor cell(const char* op, Kind kind, const Tensor& input, const State& before, const Weights& w, Site site, Tensor* c = nullptr) {
  if (const ops::Cast cast(cast_name(kind, true), site, input, before.h, w.ih, w.hh); cast)
    return cell(op, kind, cast(input), {cast(before.h), cast(before.c)}, {cast(w.ih), cast(w.hh), cast(w.b_ih), cast(w.b_hh), cast(w.hr)},
                site, c);
  if (input.dim() != 2) fail("[", op, "] Expected input to be 2D, got ", input.dim(), "D");
  check_weights(op, kind, input, input.size(0), before, w);
  const State next = step(kind, from_input(kind, input, w, site), before, w, site);
  if (c) *c = next.c;
  return next.h;
}

}  // namespace

LstmResult ops::recurrent_steps(const char* op, Kind kind, const Tensor& input, const Shape* batch_sizes, const std::vector<Tensor>& hx,
                                const std::vector<Tensor>& params, bool has_biases, int64_t num_layers, double dropout, bool train,
                                bool bidirectional, Site site) {
  if (batch_sizes) check_packed(op, input, *batch_sizes);
  else if (input.dim() != 3) fail("[", op, "] input must have 3 dimensions, got ", input.dim());
  if (num_layers < 1) fail("[", op, "] num_layers must be at least 1, not ", num_layers);
  const int64_t directions = bidirectional ? 2 : 1, parts = num_layers * directions;
  const size_t plain = has_biases ? 4 : 2, each = params.size() / static_cast<size_t>(parts);
  const bool projects = kind == Kind::Lstm && each == plain + 1;
  if (params.size() != static_cast<size_t>(parts) * (plain + (projects ? 1 : 0)))
    fail("[", op, "] got ", params.size(), " parameters, expected ", plain, " for each of ", parts, " layers and directions");
  for (const Tensor& h : hx)
    if (h.dim() != 3 || h.size(0) != parts)
      fail("[", op, "] Expected hidden size (", parts, ", N, hidden) for ", num_layers, " layers and ", directions, " directions, got ",
           h.sizes());
  Tensor x = input;
  if (batch_sizes ? batch_sizes->empty() : x.size(0) == 0) fail("[", op, "] Expected sequence length to be larger than 0 in RNN");
  LstmResult result;
  std::vector<Tensor> last_h, last_c;
  for (int64_t layer = 0; layer < num_layers; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t part = layer * directions + direction;
      const Tensor* own = params.data() + static_cast<size_t>(part) * each;
      Weights w{own[0], own[1], {}, {}, projects ? own[plain] : Tensor()};
      if (has_biases) {
        w.b_ih = own[2];
        w.b_hh = own[3];
      }
      State state{hx[0].select(0, part, site), hx.size() > 1 ? hx[1].select(0, part, site) : Tensor()};
      outputs.push_back(run(op, kind, x, batch_sizes, state, w, direction == 1, site));
      last_h.push_back(state.h);
      if (state.c.defined()) last_c.push_back(state.c);
    }
    x = outputs.size() == 1 ? outputs[0] : cat(outputs, -1, site);
    if (dropout > 0 && train && layer + 1 < num_layers) x = tandem::dropout(x, dropout, true, site);
  }
  result.output = x;
  result.h_n = stack(last_h, 0, site);
  if (!last_c.empty()) result.c_n = stack(last_c, 0, site);
  return result;
}

LstmResult ops::recurrent(const char* op, Kind kind, const Tensor& input, const Shape* batch_sizes, const std::vector<Tensor>& hx,
                          const std::vector<Tensor>& params, bool has_biases, int64_t num_layers, double dropout, bool train,
                          bool bidirectional, Site site) {
  if (const ops::Cast cast(cast_name(kind, false), site, input, hx, params); cast)
    return recurrent(op, kind, cast(input), batch_sizes, cast(hx), cast(params), has_biases, num_layers, dropout, train, bidirectional,
                     site);
  if (batch_sizes || !suits_recurrent_layers(kind, input, hx, params, has_biases, num_layers, bidirectional))
    return recurrent_steps(op, kind, input, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional, site);
  if (!(dropout > 0 && train && num_layers > 1))
    return recurrent_layers(op, kind, input, hx, params, has_biases, num_layers, bidirectional, site);
  const int64_t directions = bidirectional ? 2 : 1;
  LstmResult result{.output = input, .h_n = {}, .c_n = {}};
  std::vector<Tensor> last_h, last_c;
  auto own = params.begin();
  for (int64_t layer = 0; layer < num_layers; ++layer) {
    if (layer) result.output = tandem::dropout(result.output, dropout, true, site);
    std::vector<Tensor> states;
    for (const Tensor& h : hx) states.push_back(h.narrow(0, layer * directions, directions, site));
    const auto next = own + (has_biases ? 4 : 2) * directions;
    const LstmResult of_layer = recurrent_layers(op, kind, result.output, states, {own, next}, has_biases, 1, bidirectional, site);
    own = next;
    result.output = of_layer.output;
    last_h.push_back(of_layer.h_n);
    if (of_layer.c_n.defined()) last_c.push_back(of_layer.c_n);
  }
  result.h_n = cat(last_h, 0, site);
  if (!last_c.empty()) result.c_n = cat(last_c, 0, site);
  return result;
}

LstmResult lstm(const Tensor& input, const std::vector<Tensor>& hx, const std::vector<Tensor>& params, Flag has_biases, int64_t num_layers,
                double dropout, Flag train, Flag bidirectional, Flag batch_first, Site site) {
  if (hx.size() != 2) fail("[lstm] expects two hidden states, got ", hx.size());
  return plain("lstm", Kind::Lstm, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, site);
}

RnnResult gru(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params, Flag has_biases, int64_t num_layers, double dropout,
              Flag train, Flag bidirectional, Flag batch_first, Site site) {
  return without_cell(
      plain("gru", Kind::Gru, input, {hx}, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, site));
}

RnnResult rnn_tanh(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params, Flag has_biases, int64_t num_layers,
                   double dropout, Flag train, Flag bidirectional, Flag batch_first, Site site) {
  return without_cell(
      plain("rnn_tanh", Kind::Tanh, input, {hx}, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, site));
}

RnnResult rnn_relu(const Tensor& input, const Tensor& hx, const std::vector<Tensor>& params, Flag has_biases, int64_t num_layers,
                   double dropout, Flag train, Flag bidirectional, Flag batch_first, Site site) {
  return without_cell(
      plain("rnn_relu", Kind::Relu, input, {hx}, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, site));
}

LstmState lstm_cell(const Tensor& input, const std::vector<Tensor>& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                    const Tensor& b_hh, Site site) {
  if (hx.size() != 2) fail("[lstm_cell] expects two hidden states, got ", hx.size());
  LstmState next;
  next.h = cell("lstm_cell", Kind::Lstm, input, {hx[0], hx[1]}, {w_ih, w_hh, b_ih, b_hh, {}}, site, &next.c);
  return next;
}

Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh,
                Site site) {
  return cell("gru_cell", Kind::Gru, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}}, site);
}
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh,
                     Site site) {
  return cell("rnn_tanh_cell", Kind::Tanh, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}}, site);
}
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh,
                     Site site) {
  return cell("rnn_relu_cell", Kind::Relu, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}}, site);
}

}  // namespace tandem
