// Recurrent networks and their cells.
#include "modules.h"

namespace golden {
namespace {

template <class O>
O layers(const Call& c) {
  O options;
  options.num_layers = c.integer("num_layers");
  options.bias = c.flag("bias");
  options.batch_first = c.flag("batch_first");
  options.dropout = c.real("dropout");
  options.bidirectional = c.flag("bidirectional");
  return options;
}

LstmState state(const Call& c) {
  if (!c.has("hx")) return {};
  const std::vector<Tensor> hx = c.tensors("hx");
  return {hx.at(0), hx.at(1)};
}

template <class M>
Built network(M module) {
  return built(std::move(module), "(input, hx=None)", [](M& m, Call& c) {
    const RnnResult result = m(c.input(), c.tensor_or_none("hx"));
    return Results{result.output, result.h_n};
  });
}
template <class M>
Built cell(M module) {
  return built(std::move(module), "(input, hx=None)", [](M& m, Call& c) { return m(c.input(), c.tensor_or_none("hx")); });
}

}  // namespace

void add_recurrent_modules(Modules& table) {
  const std::string sizes = "input_size, hidden_size, num_layers=1, ",
                    rest = "bias=True, batch_first=False, dropout=0.0, bidirectional=False";
  const auto in = [](const Call& c) { return c.integer("input_size"); };
  const auto hidden = [](const Call& c) { return c.integer("hidden_size"); };
  table.add("nn.RNN(" + sizes + "nonlinearity='tanh', " + rest + ")", [=](Call& c) {
    auto options = layers<nn::RNNOptions>(c);
    options.nonlinearity = c.text("nonlinearity");
    return network(nn::RNN(in(c), hidden(c), options));
  });
  table.add("nn.GRU(" + sizes + rest + ")", [=](Call& c) { return network(nn::GRU(in(c), hidden(c), layers<nn::GRUOptions>(c))); });
  table.add("nn.LSTM(" + sizes + rest + ", proj_size=0)", [=](Call& c) {
    auto options = layers<nn::LSTMOptions>(c);
    options.proj_size = c.integer("proj_size");
    return built(nn::LSTM(in(c), hidden(c), options), "(input, hx=None)", [](nn::LSTM& m, Call& c) {
      const auto [output, last] = m(c.input(), state(c));
      return Results{output, last.h, last.c};
    });
  });
  table.add("nn.RNNCell(input_size, hidden_size, bias=True, nonlinearity='tanh')",
            [=](Call& c) { return cell(nn::RNNCell(in(c), hidden(c), {.bias = c.flag("bias"), .nonlinearity = c.text("nonlinearity")})); });
  table.add("nn.GRUCell(input_size, hidden_size, bias=True)",
            [=](Call& c) { return cell(nn::GRUCell(in(c), hidden(c), {.bias = c.flag("bias")})); });
  table.add("nn.LSTMCell(input_size, hidden_size, bias=True)", [=](Call& c) {
    return built(nn::LSTMCell(in(c), hidden(c), {.bias = c.flag("bias")}), "(input, hx=None)", [](nn::LSTMCell& m, Call& c) {
      const LstmState next = m(c.input(), state(c));
      return Results{next.h, next.c};
    });
  });
}

}  // namespace golden
