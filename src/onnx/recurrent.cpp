// Recurrent networks.
#include "ops/recurrent/recurrent.h"

#include <functional>

#include "onnx/call.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/creation.h"
#include "ops/join.h"
#include "ops/matmul.h"
#include "ops/moving.h"
#include "ops/operators.h"
#include "ops/view.h"

namespace tandem::onnx {
namespace {

using Activation = std::function<Tensor(const Tensor&)>;

/// What the three kinds share: their inputs, with the steps first, and the settings of one direction after another.
struct Layer {
  Tensor x, w, r, b, first_h, first_c, peephole, lengths;  // x: (steps, batch, input)
  int64_t hidden = 0, directions = 1, steps = 0, batch = 0;
  bool batch_first = false;
  std::string direction;
  double clip = 0;
};

Layer layer_of(Call& call, int64_t gates, bool has_cell) {
  const Site site = call.site();
  Layer layer;
  layer.x = call.in(0);
  layer.w = call.in(1);
  layer.r = call.in(2);
  layer.b = call.in_or_none(3);
  layer.lengths = call.in_or_none(4);
  layer.first_h = call.in_or_none(5);
  if (has_cell) {
    layer.first_c = call.in_or_none(6);
    layer.peephole = call.in_or_none(7);
  }
  layer.batch_first = call.integer("layout", 0) != 0;
  if (layer.x.dim() != 3 || layer.w.dim() != 3 || layer.r.dim() != 3)
    fail("its input and weights have the sizes ", layer.x.sizes(), ", ", layer.w.sizes(), " and ", layer.r.sizes());
  if (layer.batch_first) {
    layer.x = layer.x.transpose(0, 1, site);
    if (layer.first_h.defined()) layer.first_h = layer.first_h.transpose(0, 1, site);
    if (layer.first_c.defined()) layer.first_c = layer.first_c.transpose(0, 1, site);
  }
  layer.direction = call.text("direction", "forward");
  layer.directions = layer.direction == "bidirectional" ? 2 : 1;
  layer.hidden = layer.r.size(2);
  layer.steps = layer.x.size(0);
  layer.batch = layer.x.size(1);
  layer.clip = call.real("clip", 0);
  const Shape w{layer.directions, gates * layer.hidden, layer.x.size(2)}, r{layer.directions, gates * layer.hidden, layer.hidden};
  if (layer.w.sizes() != w || layer.r.sizes() != r)
    fail("its weights have the sizes ", layer.w.sizes(), " and ", layer.r.sizes(), ", not ", w, " and ", r);
  if (layer.b.defined() && layer.b.sizes() != Shape{layer.directions, 2 * gates * layer.hidden})
    fail("its bias has the sizes ", layer.b.sizes());
  return layer;
}

/// The rows of gates in another order: gate i of the result is gate order[i].
Tensor reordered(const Tensor& weight, int64_t hidden, const Shape& order, Site site) {
  std::vector<Tensor> gates;
  for (const int64_t gate : order) gates.push_back(weight.narrow(0, gate * hidden, hidden, site));
  return gates.size() == 1 ? gates[0] : cat(gates, 0, site);
}

/// Weights as the library's networks take them; a network that only runs backwards is one that sees its input from the back.
std::vector<Tensor> parameters_of(const Layer& layer, const Shape& order, Site site) {
  std::vector<Tensor> all;
  const auto rows = static_cast<int64_t>(order.size()) * layer.hidden;
  for (int64_t d = 0; d < layer.directions; ++d) {
    all.push_back(reordered(layer.w.select(0, d, site), layer.hidden, order, site));
    all.push_back(reordered(layer.r.select(0, d, site), layer.hidden, order, site));
    if (!layer.b.defined()) continue;
    all.push_back(reordered(layer.b.select(0, d, site).narrow(0, 0, rows, site), layer.hidden, order, site));
    all.push_back(reordered(layer.b.select(0, d, site).narrow(0, rows, rows, site), layer.hidden, order, site));
  }
  return all;
}

Tensor start(const Layer& layer, const Tensor& given) {
  return given.defined() ? given
                         : zeros({layer.directions, layer.batch, layer.hidden}, {.dtype = layer.x.dtype(), .device = layer.x.device()});
}

/// Gives all steps, as (steps, directions, batch, hidden), and the last states.
void give_results(Call& call, const Layer& layer, Tensor output, Tensor h, const Tensor& c) {
  const Site site = call.site();
  const auto placed = [&](const Tensor& state) { return layer.batch_first ? state.transpose(0, 1, site) : state; };
  call.give(layer.batch_first ? output.permute({2, 0, 1, 3}, site) : output);
  call.give(placed(h));
  if (c.defined()) call.give(placed(c));
}

/// The activations of one direction, `count` of them, by name or the usual ones.
std::vector<Activation> activations_of(Call& call, int64_t direction, std::initializer_list<const char*> usual) {
  const Site site = call.site();
  const auto* names = call.find("activations");
  const auto number = [&](const char* name, size_t i, double otherwise) {
    const auto* list = call.find(name);
    return list && i < list->floats.size() ? double{list->floats[i]} : otherwise;
  };
  std::vector<Activation> all;
  size_t i = static_cast<size_t>(direction) * usual.size();
  for (const char* otherwise : usual) {
    const std::string name = names && i < names->strings.size() ? names->strings[i] : otherwise;
    const double alpha = number("activation_alpha", i, name == "LeakyRelu" ? 0.01 : name == "HardSigmoid" ? 0.2 : 1);
    const double beta = number("activation_beta", i, name == "HardSigmoid" ? 0.5 : 0);
    ++i;
    if (name == "Sigmoid") all.emplace_back([=](const Tensor& x) { return sigmoid(x, site); });
    else if (name == "Tanh") all.emplace_back([=](const Tensor& x) { return tanh(x, site); });
    else if (name == "Relu") all.emplace_back([=](const Tensor& x) { return relu(x, site); });
    else if (name == "Affine") all.emplace_back([=](const Tensor& x) { return add(mul(x, alpha, site), beta, site); });
    else if (name == "LeakyRelu") all.emplace_back([=](const Tensor& x) { return leaky_relu(x, alpha, site); });
    else if (name == "ThresholdedRelu") all.emplace_back([=](const Tensor& x) { return threshold(x, alpha, 0, site); });
    else if (name == "HardSigmoid")
      all.emplace_back([=](const Tensor& x) { return clamp(add(mul(x, alpha, site), beta, site), 0, 1, site); });
    else if (name == "Elu") all.emplace_back([=](const Tensor& x) { return elu(x, alpha, site); });
    else if (name == "Softsign") all.emplace_back([=](const Tensor& x) { return softsign(x, site); });
    else if (name == "Softplus") all.emplace_back([=](const Tensor& x) { return softplus(x, 1, 20, site); });
    else fail("its activation '", name, "' is unknown");
  }
  return all;
}

/// One direction of a network step by step. `step` makes the states of the next step of x times the weights and the states.
struct Steps {
  Call& call;
  const Layer& layer;
  int64_t direction;
  Tensor w, r, bias_w, bias_r, h, c;

  Steps(Call& call_, const Layer& layer_, int64_t direction_, int64_t gates) : call(call_), layer(layer_), direction(direction_) {
    const Site site = call.site();
    w = layer.w.select(0, direction, site);
    r = layer.r.select(0, direction, site);
    if (layer.b.defined()) {
      bias_w = layer.b.select(0, direction, site).narrow(0, 0, gates * layer.hidden, site);
      bias_r = layer.b.select(0, direction, site).narrow(0, gates * layer.hidden, gates * layer.hidden, site);
    }
    h = start(layer, layer.first_h).select(0, direction, site);
    c = start(layer, layer.first_c).select(0, direction, site);
  }

  [[nodiscard]] Tensor clipped(const Tensor& x) const { return layer.clip > 0 ? clamp(x, -layer.clip, layer.clip, call.site()) : x; }
  [[nodiscard]] Tensor gate(const Tensor& all, int64_t i) const { return all.narrow(1, i * layer.hidden, layer.hidden, call.site()); }

  /// Does all steps, and gives their outputs, (steps, batch, hidden). A sequence that has ended keeps its states, and gives zeros.
  template <class Step>
  Tensor run(Step step) {
    const Site site = call.site();
    const bool backwards = layer.direction == "reverse" || direction == 1;
    std::vector<Tensor> outputs(static_cast<size_t>(layer.steps));
    for (int64_t i = 0; i < layer.steps; ++i) {
      const int64_t at = backwards ? layer.steps - 1 - i : i;
      const Tensor input = linear(layer.x.select(0, at, site), w, bias_w, site);
      Tensor next_c = c;
      Tensor next_h = step(input, next_c);
      Tensor output = next_h;
      if (layer.lengths.defined()) {
        const Tensor goes_on = gt(layer.lengths, at, site).unsqueeze(1, site);
        output = where(goes_on, next_h, 0, site);
        next_h = where(goes_on, next_h, h, site);
        next_c = where(goes_on, next_c, c, site);
      }
      h = next_h;
      c = next_c;
      outputs[static_cast<size_t>(at)] = output;
    }
    if (outputs.empty()) return zeros({0, layer.batch, layer.hidden}, {.dtype = layer.x.dtype(), .device = layer.x.device()}, site);
    return stack(outputs, 0, site);
  }
};

/// Does each direction by `one`, which makes its steps, and gives the results.
template <class One>
void by_steps(Call& call, const Layer& layer, int64_t gates, bool has_cell, One one) {
  std::vector<Tensor> outputs, hs, cs;
  for (int64_t d = 0; d < layer.directions; ++d) {
    Steps steps(call, layer, d, gates);
    outputs.push_back(one(steps));
    hs.push_back(steps.h);
    cs.push_back(steps.c);
  }
  give_results(call, layer, stack(outputs, 1, call.site()), stack(hs, 0, call.site()), has_cell ? stack(cs, 0, call.site()) : Tensor());
}

/// Whether the library's own network does the same.
bool is_usual(Call& call, const Layer& layer) {
  return !call.find("activations") && layer.clip == 0 && !layer.lengths.defined() && !layer.peephole.defined() && layer.steps > 0;
}

struct Results {
  Tensor output = {}, h = {}, c = {};
};

/// By the library's network `f`, of x and the first states.
template <class F>
void at_once(Call& call, const Layer& layer, bool has_cell, F f) {
  const Site site = call.site();
  const bool backwards = layer.direction == "reverse";
  const Results results = f(backwards ? flip(layer.x, {0}, site) : layer.x);
  Tensor all = results.output.reshape({layer.steps, layer.batch, layer.directions, layer.hidden}, site).transpose(1, 2, site);
  if (backwards) all = flip(all, {0}, site);
  give_results(call, layer, all, results.h, has_cell ? results.c : Tensor());
}

void lstm_of(Call& call) {
  const Site site = call.site();
  const Layer layer = layer_of(call, 4, true);
  const bool coupled = call.integer("input_forget", 0) != 0;
  if (is_usual(call, layer) && !coupled)
    return at_once(call, layer, true, [&](const Tensor& x) {
      LstmResult result = lstm(x, {start(layer, layer.first_h), start(layer, layer.first_c)}, parameters_of(layer, {0, 2, 3, 1}, site),
                               layer.b.defined(), 1, 0, false, layer.directions == 2, false, site);
      return Results{result.output, result.h_n, result.c_n};
    });
  by_steps(call, layer, 4, true, [&](Steps& steps) {
    const auto act = activations_of(call, steps.direction, {"Sigmoid", "Tanh", "Tanh"});
    const Tensor peephole = layer.peephole.defined() ? layer.peephole.select(0, steps.direction, site) : Tensor();
    const auto seen = [&](const Tensor& gate, const Tensor& c, int64_t i) {
      return peephole.defined() ? add(gate, mul(c, peephole.narrow(0, i * layer.hidden, layer.hidden, site), site), site) : gate;
    };
    return steps.run([&](const Tensor& input, Tensor& c) {
      const Tensor all = add(input, linear(steps.h, steps.r, steps.bias_r, site), site);
      const Tensor i = act[0](steps.clipped(seen(steps.gate(all, 0), c, 0)));
      const Tensor f = coupled ? sub(1, i, site) : act[0](steps.clipped(seen(steps.gate(all, 2), c, 2)));
      const Tensor g = act[1](steps.clipped(steps.gate(all, 3)));
      c = add(mul(f, c, site), mul(i, g, site), site);
      const Tensor o = act[0](steps.clipped(seen(steps.gate(all, 1), c, 1)));
      return mul(o, act[2](c), site);
    });
  });
}

void gru_of(Call& call) {
  const Site site = call.site();
  const Layer layer = layer_of(call, 3, false);
  const bool reset_after = call.integer("linear_before_reset", 0) != 0;
  if (is_usual(call, layer) && reset_after)
    return at_once(call, layer, false, [&](const Tensor& x) {
      RnnResult result = gru(x, start(layer, layer.first_h), parameters_of(layer, {1, 0, 2}, site), layer.b.defined(), 1, 0, false,
                             layer.directions == 2, false, site);
      return Results{result.output, result.h_n, {}};
    });
  by_steps(call, layer, 3, false, [&](Steps& steps) {
    const auto act = activations_of(call, steps.direction, {"Sigmoid", "Tanh"});
    const Tensor last_r = steps.r.narrow(0, 2 * layer.hidden, layer.hidden, site);
    const Tensor last_bias = steps.bias_r.defined() ? steps.bias_r.narrow(0, 2 * layer.hidden, layer.hidden, site) : Tensor();
    return steps.run([&](const Tensor& input, Tensor&) {
      const Tensor all = linear(steps.h, steps.r, steps.bias_r, site);
      const Tensor z = act[0](steps.clipped(add(steps.gate(input, 0), steps.gate(all, 0), site)));
      const Tensor r = act[0](steps.clipped(add(steps.gate(input, 1), steps.gate(all, 1), site)));
      const Tensor of_state = reset_after ? mul(r, steps.gate(all, 2), site) : linear(mul(r, steps.h, site), last_r, last_bias, site);
      const Tensor n = act[1](steps.clipped(add(steps.gate(input, 2), of_state, site)));
      return add(mul(sub(1, z, site), n, site), mul(z, steps.h, site), site);
    });
  });
}

void rnn_of(Call& call) {
  const Site site = call.site();
  const Layer layer = layer_of(call, 1, false);
  if (is_usual(call, layer))
    return at_once(call, layer, false, [&](const Tensor& x) {
      RnnResult result = rnn_tanh(x, start(layer, layer.first_h), parameters_of(layer, {0}, site), layer.b.defined(), 1, 0, false,
                                  layer.directions == 2, false, site);
      return Results{result.output, result.h_n, {}};
    });
  by_steps(call, layer, 1, false, [&](Steps& steps) {
    const auto act = activations_of(call, steps.direction, {"Tanh"});
    return steps.run([&](const Tensor& input, Tensor&) {
      return act[0](steps.clipped(add(input, linear(steps.h, steps.r, steps.bias_r, site), site)));
    });
  });
}

constexpr OperatorRow kRows[] = {
    {"GRU", 1, gru_of},
    {"LSTM", 1, lstm_of},
    {"RNN", 1, rnn_of},
};

}  // namespace

std::span<const OperatorRow> recurrent_operators() { return kRows; }

}  // namespace tandem::onnx
