// Recurrent networks: against steps written out, each sequence alone, PyTorch's names and texts. The golden cases compare values.
#include "nn/support.h"

namespace tandem::testing {
namespace {

class RecurrentOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, RecurrentOn, every_device(), device_name);

std::vector<std::string> names_of(const nn::Module& module) { return module.state_dict().keys(); }

void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_TRUE(allclose(a, b, 1e-4, 1e-5)) << a << "\n" << b;
}

TEST_P(RecurrentOn, GruIsItsCellRepeated) {
  nn::GRU gru(3, 4);
  nn::GRUCell cell(3, 4);
  gru.to(device());
  cell.to(device());
  cell.weight_ih = gru.weights[0];
  cell.weight_hh = gru.weights[1];
  cell.bias_ih = gru.weights[2];
  cell.bias_hh = gru.weights[3];
  const Tensor x = randn({5, 2, 3}, device());
  const auto [output, h_n] = gru(x);
  Tensor h;
  for (int64_t t = 0; t < 5; ++t) {
    h = cell(x[t], h);
    expect_close(output[t], h);
  }
  expect_close(h_n[0], h);
}

/// Whether parameters lie one behind the other, first all matrices, then all biases.
bool lie_together(const nn::LSTM& lstm) {
  const auto* next = lstm.weights[0].data_ptr<float>();
  bool together = true;
  for (const int64_t dims : {2, 1}) {
    for (const Tensor& weight : lstm.weights) {
      if (weight.dim() != dims) continue;
      together &= weight.data_ptr<float>() == next;
      next += weight.numel();
    }
  }
  return together;
}

TEST_P(RecurrentOn, ParametersLieTogetherOnGpus) {
  if (device().is_cpu()) return;
  nn::LSTM lstm(3, 4, {.num_layers = 2, .bidirectional = true});
  const Tensor x = randn({5, 2, 3}), expected = lstm(x).output;
  const std::vector<Tensor> same = lstm.weights;
  lstm.to(device());
  EXPECT_TRUE(lie_together(lstm));
  EXPECT_TRUE(lie_together(nn::clone(lstm)));
  EXPECT_TRUE(lie_together(nn::LSTM(3, 4, {.device = device()})));
  for (size_t i = 0; i < same.size(); ++i) EXPECT_TRUE(same[i].is_same(lstm.weights[i]));
  expect_close(lstm(x.to(device())).output.cpu(), expected);
  // Each counts its own changes.
  const uint32_t before = lstm.weights[1].version();
  const Tensor output = lstm(x.to(device())).output;
  {
    const NoGradGuard no_grad;
    lstm.weights[0].mul_(2);
  }
  EXPECT_EQ(lstm.weights[1].version(), before);
  EXPECT_THROW(output.sum().backward(), Error);
  // One that was replaced lies elsewhere until the network is moved again; tied ones stay tied.
  lstm.weights[2] = lstm.weights[2].detach().clone().requires_grad_();
  EXPECT_FALSE(lie_together(lstm));
  lstm.to("cpu");
  lstm.to(device());
  EXPECT_TRUE(lie_together(lstm));
  lstm.weights[2] = lstm.weights[3];
  lstm.to("cpu");
  lstm.to(device());
  EXPECT_TRUE(lstm.weights[2].is_same(lstm.weights[3]));
  EXPECT_FALSE(lie_together(lstm));
  lstm.to("cpu");
  EXPECT_TRUE(lstm.weights[0].is_cpu());
}

// The gradients of parameters are asked for alone, as in the first layer of a network: nothing else that the kernel writes has elements.
TEST_P(RecurrentOn, ParametersAloneHaveTheirGradients) {
  nn::RNN rnn(8, 3);
  nn::GRU gru(8, 3);
  nn::LSTM lstm(8, 3);
  const auto gradients = [](nn::Module& module, const Tensor& y) {
    module.zero_grad();
    (y * y).sum().backward();
    std::vector<Tensor> all;
    for (const Tensor& parameter : module.parameters()) all.push_back(parameter.grad().clone());
    return all;
  };
  const auto check = [&](nn::Module& module, auto forward) {
    module.to(device());
    const Tensor x = randn({5, 2, 8}, device());
    const auto alone = gradients(module, forward(x));
    const auto with_input = gradients(module, forward(x.clone().requires_grad_()));
    for (size_t i = 0; i < alone.size(); ++i) expect_close(alone[i], with_input[i]);
  };
  check(rnn, [&](const Tensor& x) { return rnn(x).output; });
  check(gru, [&](const Tensor& x) { return gru(x).output; });
  check(lstm, [&](const Tensor& x) { return lstm(x).output; });
}

TEST_P(RecurrentOn, LstmIsItsCellRepeated) {
  nn::LSTM lstm(3, 4, {.batch_first = true});
  nn::LSTMCell cell(3, 4);
  lstm.to(device());
  cell.to(device());
  cell.weight_ih = lstm.weights[0];
  cell.weight_hh = lstm.weights[1];
  cell.bias_ih = lstm.weights[2];
  cell.bias_hh = lstm.weights[3];
  const Tensor x = randn({2, 5, 3}, device());
  const LstmState start{randn({1, 2, 4}, device()), randn({1, 2, 4}, device())};
  const auto [output, state] = lstm(x, start);
  LstmState now{start.h[0], start.c[0]};
  for (int64_t t = 0; t < 5; ++t) {
    now = cell(x.select(1, t), now);
    expect_close(output.select(1, t), now.h);
  }
  expect_close(state.h[0], now.h);
  expect_close(state.c[0], now.c);
}

TEST_P(RecurrentOn, ReverseReadsFromTheEnd) {
  nn::RNN both(3, 4, {.nonlinearity = "relu", .bidirectional = true});
  nn::RNN one(3, 4, {.nonlinearity = "relu"});
  both.to(device());
  one.to(device());
  for (size_t i = 0; i < 4; ++i) one.weights[i] = both.weights[4 + i];
  const Tensor x = randn({5, 2, 3}, device());
  const auto [output, h_n] = both(x);
  const auto [backwards, last] = one(flip(x, {0}));
  expect_close(output.slice(-1, 4, 8), flip(backwards, {0}));
  expect_close(h_n[1], last[0]);
}

TEST_P(RecurrentOn, WithoutABatch) {
  nn::GRU gru(3, 4, {.num_layers = 2, .batch_first = true});
  gru.to(device());
  const Tensor x = randn({5, 3}, device()), h = randn({2, 4}, device());
  const auto [output, h_n] = gru(x, h);
  EXPECT_EQ(output.sizes(), (Shape{5, 4}));
  EXPECT_EQ(h_n.sizes(), (Shape{2, 4}));
  const auto [batched, h_batched] = gru(x.unsqueeze(0), h.unsqueeze(1));
  expect_close(output, batched[0]);
  expect_close(h_n, h_batched.squeeze(1));
  nn::LSTMCell cell(3, 4);
  cell.to(device());
  EXPECT_EQ(cell(x[0]).c.sizes(), (Shape{4}));
}

TEST_P(RecurrentOn, DropoutBetweenLayersInTrainingOnly) {
  nn::GRU gru(3, 8, {.num_layers = 2, .dropout = 0.5});
  gru.to(device());
  const Tensor x = randn({4, 2, 3}, device());
  EXPECT_FALSE(equal(gru(x).output, gru(x).output));
  gru.eval();
  EXPECT_TRUE(equal(gru(x).output, gru(x).output));
}

// Sequences of different lengths, packed, give what each gives alone.
template <class M, class F>
void expect_packed_as_alone(M& module, Device device, bool sorted, F last_states) {
  const std::vector<int64_t> lengths = sorted ? std::vector<int64_t>{5, 4, 4, 1} : std::vector<int64_t>{4, 1, 5, 4};
  const Tensor padded = randn({5, 4, 3}, {.device = device, .requires_grad = true});
  const auto packed = nn::utils::rnn::pack_padded_sequence(padded, lengths, {.enforce_sorted = sorted});
  auto result = module(packed);
  const auto [output, again] = nn::utils::rnn::pad_packed_sequence(result.output);
  EXPECT_EQ(values(again), std::vector<double>(lengths.begin(), lengths.end()));
  (output * output).sum().backward();
  const Tensor gradient = padded.grad().clone(), weight_gradient = module.weights[1].grad().clone();
  padded.set_grad({});
  module.zero_grad();
  const std::vector<Tensor> states = last_states(result);
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t length = lengths[static_cast<size_t>(i)];
    auto alone = module(padded.narrow(1, i, 1).narrow(0, 0, length));
    expect_close(output.narrow(1, i, 1).narrow(0, 0, length), alone.output);
    if (length < 5) expect_near(output.narrow(1, i, 1).narrow(0, length, 5 - length).abs().sum(), {0}, 0);
    const std::vector<Tensor> own = last_states(alone);
    for (size_t s = 0; s < own.size(); ++s) expect_close(states[s].narrow(1, i, 1), own[s]);
    (alone.output * alone.output).sum().backward();
  }
  expect_close(gradient, padded.grad());
  expect_close(weight_gradient, module.weights[1].grad());
}

TEST_P(RecurrentOn, PackedGru) {
  for (const bool sorted : {true, false}) {
    nn::GRU gru(3, 4, {.num_layers = 2, .bidirectional = true});
    gru.to(device());
    expect_packed_as_alone(gru, device(), sorted, [](const auto& r) { return std::vector<Tensor>{r.h_n}; });
  }
}

TEST_P(RecurrentOn, PackedLstm) {
  nn::LSTM lstm(3, 4, {.num_layers = 2, .bidirectional = true, .proj_size = 2});
  lstm.to(device());
  expect_packed_as_alone(lstm, device(), false, [](const auto& r) { return std::vector<Tensor>{r.state.h, r.state.c}; });
}

TEST_P(RecurrentOn, PackedStateFollowsTheCallersOrder) {
  nn::RNN rnn(3, 4);
  rnn.to(device());
  const Tensor padded = randn({3, 2, 3}, device()), h = randn({1, 2, 4}, device());
  const auto packed = nn::utils::rnn::pack_padded_sequence(padded, {1, 3}, {.enforce_sorted = false});
  const auto [output, h_n] = rnn(packed, h);
  expect_close(h_n.narrow(1, 0, 1), rnn(padded.narrow(1, 0, 1).narrow(0, 0, 1), h.narrow(1, 0, 1)).h_n);
  expect_close(h_n.narrow(1, 1, 1), rnn(padded.narrow(1, 1, 1), h.narrow(1, 1, 1)).h_n);
}

TEST(Recurrent, NamesAndSizesAreTorchs) {
  EXPECT_EQ(names_of(nn::GRU(3, 4, {.num_layers = 2})),
            (std::vector<std::string>{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_ih_l1", "weight_hh_l1",
                                      "bias_ih_l1", "bias_hh_l1"}));
  const nn::LSTM lstm(3, 4, {.bias = false, .bidirectional = true, .proj_size = 2});
  EXPECT_EQ(names_of(lstm), (std::vector<std::string>{"weight_ih_l0", "weight_hh_l0", "weight_hr_l0", "weight_ih_l0_reverse",
                                                      "weight_hh_l0_reverse", "weight_hr_l0_reverse"}));
  EXPECT_EQ(lstm.state_dict().at("weight_hh_l0").sizes(), (Shape{16, 2}));
  EXPECT_EQ(lstm.state_dict().at("weight_hr_l0").sizes(), (Shape{2, 4}));
  EXPECT_EQ(names_of(nn::LSTMCell(3, 4)), (std::vector<std::string>{"weight_ih", "weight_hh", "bias_ih", "bias_hh"}));
  // A second layer of a bidirectional network reads both directions' outputs.
  EXPECT_EQ(nn::RNN(3, 4, {.num_layers = 2, .bidirectional = true}).state_dict().at("weight_ih_l1").sizes(), (Shape{4, 8}));
}

TEST(Recurrent, StartsWithinItsBound) {
  double largest = 0;
  for (const Tensor& p : nn::LSTM(30, 16).parameters())
    for (const double w : values(p)) largest = std::max(largest, std::abs(w));
  EXPECT_LE(largest, 0.25);
  EXPECT_GT(largest, 0.24);
}

TEST(Recurrent, CopiesShareAndClonesDoNot) {
  nn::GRU gru(3, 4);
  const nn::GRU copy = gru;
  EXPECT_TRUE(copy.weights[0].is_same(gru.weights[0]));
  nn::GRU other = nn::clone(gru);
  EXPECT_FALSE(other.weights[0].is_same(gru.weights[0]));
  const Tensor x = randn({2, 1, 3});
  EXPECT_TRUE(equal(other(x).output, gru(x).output));
}

TEST(Recurrent, InPrint) {
  EXPECT_EQ(shown(nn::RNN(3, 4, {.num_layers = 2, .nonlinearity = "relu", .dropout = 0.5})), "RNN(3, 4, num_layers=2, dropout=0.5)");
  EXPECT_EQ(shown(nn::LSTM(3, 4, {.bias = false, .batch_first = true, .bidirectional = true, .proj_size = 2})),
            "LSTM(3, 4, proj_size=2, bias=False, batch_first=True, bidirectional=True)");
  EXPECT_EQ(shown(nn::GRU(3, 4)), "GRU(3, 4)");
  EXPECT_EQ(shown(nn::RNNCell(3, 4, {.bias = false, .nonlinearity = "relu"})), "RNNCell(3, 4, bias=False, nonlinearity=relu)");
  EXPECT_EQ(shown(nn::GRUCell(3, 4)), "GRUCell(3, 4)");
}

TEST(Recurrent, Errors) {
  nn::GRU gru(3, 4);
  EXPECT_EQ(error_of([&] { (void)gru(ones({3})); }), "[GRU] Expected input to be 2D or 3D, got 1D instead");
  EXPECT_EQ(error_of([&] { (void)gru(ones({5, 2, 4})); }), "[GRU] input.size(-1) must be equal to input_size. Expected 3, got 4");
  EXPECT_EQ(error_of([&] { (void)gru(ones({5, 2, 3}), ones({1, 3, 4})); }), "[GRU] Expected hidden size [1, 2, 4], got [1, 3, 4]");
  EXPECT_EQ(error_of([&] {
              (void)gru(ones({5, 2, 3}), ones({1, 4}));
            }),
            "[GRU] For batched 3-D input, hx should also be 3-D but got 2-D tensor");
  EXPECT_EQ(error_of([] {
              (void)nn::LSTM(3, 4)(ones({5, 2, 3}), {ones({1, 2, 4}), ones({1, 2, 3})});
            }),
            "[LSTM] Expected hidden[1] size [1, 2, 4], got [1, 2, 3]");
  EXPECT_EQ(error_of([] {
              (void)nn::LSTM(3, 4)(ones({5, 2, 3}), {ones({1, 2, 4}), {}});
            }),
            "[LSTM] expects both hidden states, h and c, or neither");
  EXPECT_EQ(error_of([] { nn::LSTM bad(3, 4, {.proj_size = 4}); }), "[LSTM] proj_size has to be smaller than hidden_size, 4, got 4");
  EXPECT_EQ(error_of([] { nn::RNN bad(3, 4, {.nonlinearity = "gelu"}); }),
            "[RNN] Unknown nonlinearity 'gelu'. Select from 'tanh' or 'relu'.");
  EXPECT_EQ(error_of([] { nn::GRU bad(3, 0); }), "[GRU] hidden_size must be greater than zero, got 0");
}

// Embedding, GRU, Linear: the network for IMDB reviews.
struct Reviews : nn::Module {
  nn::Embedding embedding{30000, 125};
  nn::GRU gru{125, 100, {.batch_first = true}};
  nn::Linear output{100, 2};

  void fields(nn::Fields& f) override {
    f("embedding", embedding);
    f("gru", gru);
    f("output", output);
  }
  Tensor forward(const Tensor& tokens) override { return output(gru(embedding(tokens)).output.select(1, -1)); }
};

TEST_P(RecurrentOn, NetworkForReviewsLearns) {
  Reviews net;
  EXPECT_EQ(net.num_parameters(), 3818302);
  net.to(device());
  optim::Adam adam(net.parameters(), {.lr = 1e-2});
  const Tensor tokens = randint(0, 30000, {8, 12}).to(device()), labels = tensor({0, 1, 0, 1, 1, 0, 1, 0}).to(device());
  double first = 0, last = 0;
  for (int step = 0; step < 6; ++step) {
    adam.zero_grad();
    const Tensor loss = cross_entropy(net(tokens), labels);
    loss.backward();
    adam.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, first / 4);
}

}  // namespace
}  // namespace tandem::testing
