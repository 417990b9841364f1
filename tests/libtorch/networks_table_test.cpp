// libtorch's recurrent networks and their cells, option by option against tandem's core.
#include "libtorch/layers.h"
#include "libtorch/table.h"
#include "nn/nn.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;

/// Sequences of 5 steps, 2 samples and 3 features, which batch_first takes for 5 samples of 2 steps.
class NetworksTable : public TableOn {
 protected:
  void SetUp() override {
    TableOn::SetUp();
    x = normal({5, 2, 3});
  }

  /// Outputs and state of a network of libtorch's that starts with the seed's weights: in training, with the seed's dropout, and in
  /// evaluation.
  template <class Holder, class Options>
  [[nodiscard]] std::vector<Tensor> network(const Options& options) const {
    Holder layer = seeded([&] { return Holder(options); });
    layer->to(device());
    const Tensor trained = joined_result(seeded([&] { return layer(x); }));
    layer->eval();
    return {joined({trained, joined_result(layer(x))})};
  }
  /// The same of one of tandem's.
  template <class Own, class Options>
  [[nodiscard]] Tensor own(int64_t hidden, const Options& options) const {
    Own net = seeded([&] { return Own(3, hidden, options); });
    net.to(device());
    const Tensor trained = joined_result(seeded([&] { return net(x); }));
    net.eval();
    return joined({trained, joined_result(net(x))});
  }
  static Tensor joined_result(const std::tuple<Tensor, Tensor>& r) { return joined({std::get<0>(r), std::get<1>(r)}); }
  static Tensor joined_result(const std::tuple<Tensor, std::tuple<Tensor, Tensor>>& r) {
    return joined({std::get<0>(r), std::get<0>(std::get<1>(r)), std::get<1>(std::get<1>(r))});
  }
  static Tensor joined_result(const tandem::RnnResult& r) { return joined({r.output, r.h_n}); }
  static Tensor joined_result(const tandem::nn::LSTM::Result& r) { return joined({r.output, r.state.h, r.state.c}); }

  Tensor x;
};
INSTANTIATE_TEST_SUITE_P(Devices, NetworksTable, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(NetworksTable, Plain) {
  using RNN = nn::RNNOptions;
  const auto rnn = [&](const RNN& options) { return network<nn::RNN>(options); };
  const auto core = [&](const tandem::nn::RNNOptions& options) { return own<tandem::nn::RNN>(4, options); };
  const Tensor usual = core({}), deep = core({.num_layers = 2});
  expect_rows({
      {"RNN", rnn({3, 4}), usual},
      {"RNN input_size and hidden_size", rnn(RNN(9, 9).input_size(3).hidden_size(4)), usual},
      {"RNN num_layers", rnn(RNN(3, 4).num_layers(2)), deep, usual},
      {"RNN nonlinearity", rnn(RNN(3, 4).nonlinearity(torch::kReLU)), core({.nonlinearity = "relu"}), usual},
      {"RNN bias", rnn(RNN(3, 4).bias(false)), core({.bias = false}), usual},
      {"RNN batch_first", rnn(RNN(3, 4).batch_first(true)), core({.batch_first = true}), usual},
      {"RNN dropout", rnn(RNN(3, 4).num_layers(2).dropout(0.4)), core({.num_layers = 2, .dropout = 0.4}), deep},
      {"RNN bidirectional", rnn(RNN(3, 4).bidirectional(true)), core({.bidirectional = true}), usual},
  });
}

TEST_P(NetworksTable, Gated) {
  using GRU = nn::GRUOptions;
  const auto gru = [&](const GRU& options) { return network<nn::GRU>(options); };
  const auto core = [&](const tandem::nn::GRUOptions& options) { return own<tandem::nn::GRU>(4, options); };
  const Tensor usual = core({}), deep = core({.num_layers = 2});
  expect_rows({
      {"GRU", gru({3, 4}), usual},
      {"GRU input_size and hidden_size", gru(GRU(9, 9).input_size(3).hidden_size(4)), usual},
      {"GRU num_layers", gru(GRU(3, 4).num_layers(2)), deep, usual},
      {"GRU bias", gru(GRU(3, 4).bias(false)), core({.bias = false}), usual},
      {"GRU batch_first", gru(GRU(3, 4).batch_first(true)), core({.batch_first = true}), usual},
      {"GRU dropout", gru(GRU(3, 4).num_layers(2).dropout(0.4)), core({.num_layers = 2, .dropout = 0.4}), deep},
      {"GRU bidirectional", gru(GRU(3, 4).bidirectional(true)), core({.bidirectional = true}), usual},
  });
}

TEST_P(NetworksTable, LongShortTerm) {
  using LSTM = nn::LSTMOptions;
  const auto lstm = [&](const LSTM& options) { return network<nn::LSTM>(options); };
  const auto core = [&](const tandem::nn::LSTMOptions& options) { return own<tandem::nn::LSTM>(4, options); };
  const Tensor usual = core({}), deep = core({.num_layers = 2});
  expect_rows({
      {"LSTM", lstm({3, 4}), usual},
      {"LSTM input_size and hidden_size", lstm(LSTM(9, 9).input_size(3).hidden_size(4)), usual},
      {"LSTM num_layers", lstm(LSTM(3, 4).num_layers(2)), deep, usual},
      {"LSTM bias", lstm(LSTM(3, 4).bias(false)), core({.bias = false}), usual},
      {"LSTM batch_first", lstm(LSTM(3, 4).batch_first(true)), core({.batch_first = true}), usual},
      {"LSTM dropout", lstm(LSTM(3, 4).num_layers(2).dropout(0.4)), core({.num_layers = 2, .dropout = 0.4}), deep},
      {"LSTM bidirectional", lstm(LSTM(3, 4).bidirectional(true)), core({.bidirectional = true}), usual},
      {"LSTM proj_size", lstm(LSTM(3, 4).proj_size(2)), core({.proj_size = 2}), usual},
  });
}

TEST_P(NetworksTable, StatesToBeginWith) {
  const Tensor h = normal({1, 2, 4}), c = normal({1, 2, 4});
  nn::GRU gru = seeded([] { return nn::GRU(3, 4); });
  nn::LSTM lstm = seeded([] { return nn::LSTM(3, 4); });
  tandem::nn::GRU own_gru = seeded([] { return tandem::nn::GRU(3, 4); });
  tandem::nn::LSTM own_lstm = seeded([] { return tandem::nn::LSTM(3, 4); });
  gru->to(device());
  lstm->to(device());
  own_gru.to(device());
  own_lstm.to(device());
  expect_rows({
      {"GRU hx", {joined_result(gru(x, h))}, joined_result(own_gru(x, h)), joined_result(own_gru(x))},
      {"LSTM hx", {joined_result(lstm(x, std::tuple(h, c)))}, joined_result(own_lstm(x, {h, c})), joined_result(own_lstm(x))},
  });
}

TEST_P(NetworksTable, Cells) {
  const Tensor step = normal({2, 3}), h = normal({2, 4}), c = normal({2, 4});
  using Plain = nn::RNNCellOptions;
  using Gated = nn::GRUCellOptions;
  using Long = nn::LSTMCellOptions;
  const auto moved = [](auto layer) {
    layer->to(device());
    return layer;
  };
  // A step from nothing, and one from a state.
  const auto plain = [&](const Plain& options) {
    nn::RNNCell cell = moved(seeded([&] { return nn::RNNCell(options); }));
    return std::vector<Tensor>{joined({cell(step), cell(step, h)})};
  };
  const auto gated = [&](const Gated& options) {
    nn::GRUCell cell = moved(seeded([&] { return nn::GRUCell(options); }));
    return std::vector<Tensor>{joined({cell(step), cell(step, h)})};
  };
  const auto lasting = [&](const Long& options) {
    nn::LSTMCell cell = moved(seeded([&] { return nn::LSTMCell(options); }));
    return std::vector<Tensor>{joined({std::get<0>(cell(step)), joined_result(cell(step, std::tuple(h, c)))})};
  };
  const auto own_plain = [&](const tandem::nn::RNNCellOptions& options) {
    tandem::nn::RNNCell cell = seeded([&] { return tandem::nn::RNNCell(3, 4, options); });
    cell.to(device());
    return joined({cell(step), cell(step, h)});
  };
  const auto own_gated = [&](bool bias) {
    tandem::nn::GRUCell cell = seeded([&] { return tandem::nn::GRUCell(3, 4, {.bias = bias}); });
    cell.to(device());
    return joined({cell(step), cell(step, h)});
  };
  const auto own_lasting = [&](bool bias) {
    tandem::nn::LSTMCell cell = seeded([&] { return tandem::nn::LSTMCell(3, 4, {.bias = bias}); });
    cell.to(device());
    const auto next = cell(step, {h, c});
    return joined({cell(step).h, next.h, next.c});
  };
  expect_rows({
      {"RNNCell", plain({3, 4}), own_plain({})},
      {"RNNCell input_size and hidden_size", plain(Plain(9, 9).input_size(3).hidden_size(4)), own_plain({})},
      {"RNNCell bias", plain(Plain(3, 4).bias(false)), own_plain({.bias = false}), own_plain({})},
      {"RNNCell nonlinearity", plain(Plain(3, 4).nonlinearity(torch::kReLU)), own_plain({.nonlinearity = "relu"}), own_plain({})},
      {"GRUCell", gated({3, 4}), own_gated(true)},
      {"GRUCell input_size and hidden_size", gated(Gated(9, 9).input_size(3).hidden_size(4)), own_gated(true)},
      {"GRUCell bias", gated(Gated(3, 4).bias(false)), own_gated(false), own_gated(true)},
      {"LSTMCell", lasting({3, 4}), own_lasting(true)},
      {"LSTMCell input_size and hidden_size", lasting(Long(9, 9).input_size(3).hidden_size(4)), own_lasting(true)},
      {"LSTMCell bias", lasting(Long(3, 4).bias(false)), own_lasting(false), own_lasting(true)},
  });
}

}  // namespace
