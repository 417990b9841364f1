// Functions called before and after forward: of one tensor, and of several arguments and results.
#include "nn/support.h"

namespace tandem::testing {
namespace {

TEST(Hooks, SeeAndReplace) {
  nn::Sequential net(nn::Linear(2, 2), nn::ReLU());
  std::vector<std::string> seen;
  nn::HookHandle first = net.at(0).register_forward_pre_hook([&](nn::Module& module, Tensor& x) {
    seen.push_back("before " + module.name());
    x = x * 0;
  });
  nn::HookHandle second = net.at(0).register_forward_hook([&](nn::Module& module, const Tensor& x, Tensor& y) {
    seen.push_back("after " + module.name());
    EXPECT_EQ(values(x), (std::vector<double>{0, 0}));
    y = y - 100;
  });
  EXPECT_TRUE(net.at(0).has_hooks());
  EXPECT_EQ(values(net(ones({1, 2}))), (std::vector<double>{0, 0}));
  EXPECT_EQ(seen, (std::vector<std::string>{"before Linear", "after Linear"}));
  first.remove();
  second.remove();
  second.remove();
  EXPECT_FALSE(net.at(0).has_hooks());
  const Tensor x = ones({1, 2});
  EXPECT_TRUE(allclose(net(x), relu(net.at(0)(x))));
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Hooks, MayTakeThemselvesOut) {
  nn::Identity module;
  int calls = 0;
  nn::HookHandle handle;
  handle = module.register_forward_hook([&](nn::Module&, const Tensor&, Tensor&) {
    ++calls;
    handle.remove();
  });
  (void)module(ones({1}));
  (void)module(ones({1}));
  EXPECT_EQ(calls, 1);
}

/// Sizes of the tensors that a module's calls had and gave; "-" where one was not given.
struct Witness {
  std::vector<std::string> seen;
  nn::HookHandle handle;

  explicit Witness(nn::Module& module)
      : handle(module.register_forward_hook([this](nn::Module&, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
          std::string text;
          for (const Tensor& x : inputs) text += x.defined() ? str(x.sizes(), " ") : "- ";
          text += "->";
          for (const Tensor& y : outputs) text += y.defined() ? str(" ", y.sizes()) : " -";
          seen.push_back(text);
        })) {}
  using Texts = std::vector<std::string>;
};

class HooksOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, HooksOn, every_device(), device_name);

TEST_P(HooksOn, SeeRecurrentNetworks) {
  nn::GRU gru(3, 4, {.device = device()});
  nn::LSTM lstm(3, 4, {.device = device()});
  nn::LSTMCell cell(3, 4, {.device = device()});
  Witness of_gru(gru), of_lstm(lstm), of_cell(cell);
  const Tensor x = randn({5, 2, 3}, device()), h = randn({1, 2, 4}, device());
  (void)gru(x);
  (void)gru(x, h);
  (void)gru(nn::utils::rnn::pack_padded_sequence(x, {5, 2}));
  EXPECT_EQ(of_gru.seen, (Witness::Texts{"[5, 2, 3] - -> [5, 2, 4] [1, 2, 4]", "[5, 2, 3] [1, 2, 4] -> [5, 2, 4] [1, 2, 4]",
                                         "[7, 3] - -> [7, 4] [1, 2, 4]"}));
  (void)lstm(x, {h, h});
  (void)lstm(nn::utils::rnn::pack_padded_sequence(x, {5, 2}));
  EXPECT_EQ(of_lstm.seen,
            (Witness::Texts{"[5, 2, 3] [1, 2, 4] [1, 2, 4] -> [5, 2, 4] [1, 2, 4] [1, 2, 4]", "[7, 3] - - -> [7, 4] [1, 2, 4] [1, 2, 4]"}));
  (void)cell(x[0]);
  EXPECT_EQ(of_cell.seen, (Witness::Texts{"[2, 3] - - -> [2, 4] [2, 4]"}));
}

TEST_P(HooksOn, SeeAttentionWithinATransformer) {
  nn::Transformer model(
      8, 2,
      {.num_encoder_layers = 1, .num_decoder_layers = 1, .dim_feedforward = 16, .dropout = 0, .batch_first = true, .device = device()});
  Witness of_model(model);
  Witness of_self(model.encoder.layers.at<nn::TransformerEncoderLayer>(0).self_attn);
  Witness of_layer(model.decoder.layers[0]);
  Witness of_norm(*model.decoder.norm);
  const Tensor mask = nn::Transformer::generate_square_subsequent_mask(3, {.device = device()});
  (void)model(randn({2, 5, 8}, device()), randn({2, 3, 8}, device()), {.tgt_mask = mask});
  EXPECT_EQ(of_model.seen, Witness::Texts{"[2, 5, 8] [2, 3, 8] - [3, 3] - - - - -> [2, 3, 8]"});
  EXPECT_EQ(of_self.seen, Witness::Texts{"[2, 5, 8] [2, 5, 8] [2, 5, 8] - - -> [2, 5, 8] -"});
  EXPECT_EQ(of_layer.seen, Witness::Texts{"[2, 3, 8] [2, 5, 8] [3, 3] - - - -> [2, 3, 8]"});
  EXPECT_EQ(of_norm.seen, Witness::Texts{"[2, 3, 8] -> [2, 3, 8]"});
}

TEST_P(HooksOn, SeeLayersOfTwoInputsAndLosses) {
  nn::Bilinear bilinear(2, 3, 4, {.device = device()});
  nn::CosineSimilarity cosine;
  nn::EmbeddingBag bag(5, 3, {.device = device()});
  nn::MaxUnpool1d unpool(2);
  nn::ConvTranspose1d transposed(1, 1, 2, {.stride = 2, .device = device()});
  nn::CrossEntropyLoss loss;
  nn::TripletMarginLoss triplet;
  Witness of_bilinear(bilinear), of_cosine(cosine), of_bag(bag), of_unpool(unpool), of_transposed(transposed), of_loss(loss),
      of_triplet(triplet);
  const Tensor a = randn({4, 2}, device()), b = randn({4, 3}, device());
  (void)bilinear(a, b);
  (void)cosine(a, a);
  (void)bag(tensor({0, 1, 2}, device()), tensor({0, 2}, device()));
  (void)unpool(ones({1, 1, 2}, device()), tensor({0, 3}, device()).view({1, 1, 2}));
  (void)transposed(ones({1, 1, 3}, device()), {7});
  (void)loss(b, tensor({0, 1, 2, 0}, device()));
  (void)triplet(a, a, a);
  EXPECT_EQ(of_bilinear.seen, Witness::Texts{"[4, 2] [4, 3] -> [4, 4]"});
  EXPECT_EQ(of_cosine.seen, Witness::Texts{"[4, 2] [4, 2] -> [4]"});
  EXPECT_EQ(of_bag.seen, Witness::Texts{"[3] [2] - -> [2, 3]"});
  EXPECT_EQ(of_unpool.seen, Witness::Texts{"[1, 1, 2] [1, 1, 2] -> [1, 1, 4]"});
  EXPECT_EQ(of_transposed.seen, Witness::Texts{"[1, 1, 3] -> [1, 1, 7]"});
  EXPECT_EQ(of_loss.seen, Witness::Texts{"[4, 3] [4] -> []"});
  EXPECT_EQ(of_triplet.seen, Witness::Texts{"[4, 2] [4, 2] [4, 2] -> []"});
}

TEST(Hooks, ReplaceAnyArgumentAndResult) {
  nn::GRU gru(2, 3);
  const Tensor x = randn({4, 1, 2}), h = randn({1, 1, 3});
  const RnnResult expected = gru(x, h);
  const auto gives_h = gru.register_forward_pre_hook([&](nn::Module&, std::span<Tensor> inputs) {
    EXPECT_EQ(inputs.size(), 2u);
    inputs[1] = h;
  });
  const auto doubles = gru.register_forward_hook([&](nn::Module&, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
    EXPECT_TRUE(inputs[1].is_same(h));
    for (Tensor& y : outputs) y = y * 2;
  });
  const RnnResult given = gru(x);
  EXPECT_TRUE(equal(given.output, expected.output * 2));
  EXPECT_TRUE(equal(given.h_n, expected.h_n * 2));
}

TEST(Hooks, OfOneTensorSeeTheFirst) {
  nn::GRU gru(2, 3);
  const auto zeros_it = gru.register_forward_pre_hook([](nn::Module&, Tensor& x) { x = x * 0; });
  std::vector<double> first;
  const auto takes = gru.register_forward_hook([&](nn::Module&, const Tensor& x, Tensor& y) {
    EXPECT_EQ(x.abs().sum().item<float>(), 0);
    first = values(y);
  });
  const RnnResult given = gru(ones({4, 1, 2}));
  EXPECT_EQ(first, values(given.output));
}

/// What a forward of one's own takes and gives.
struct Gaussian {
  Tensor mean, deviation;
  std::string note;

  template <class F>
  void each_tensor(F&& f) {
    f(mean);
    f(deviation);
  }
};
struct Own : nn::Callable<Own> {
  int times_called = 0;

  Gaussian forward(const Tensor& x, const std::vector<Tensor>& more, const std::string& note, std::optional<Tensor> scale = {}) {
    ++times_called;
    return {scale ? x * *scale : x, more.at(0) + more.at(1), note};
  }
  void forward(std::vector<Tensor>& log) { log.push_back(ones({1})); }
  const Tensor& forward(const Gaussian& from) { return kept = from.mean; }
  Tensor kept;
};

TEST(Hooks, SeeSignaturesOfOnesOwn) {
  Own module;
  const Tensor x = ones({2});
  const std::vector<Tensor> more = {ones({1}), ones({1}) * 2};
  EXPECT_EQ(values(module(x, more, "plain").deviation), std::vector<double>{3});
  std::string sizes;
  auto before = module.register_forward_pre_hook([&](nn::ModuleBase&, std::span<Tensor> inputs) {
    for (Tensor& input : inputs) {
      sizes += str(input.sizes());
      input = input * 10;
    }
  });
  auto after = module.register_forward_hook([&](nn::ModuleBase&, std::span<const Tensor>, std::span<Tensor> outputs) {
    for (Tensor& output : outputs) output = output + 1;
  });
  const Gaussian given = module(x, more, "listened to", std::optional<Tensor>(full({2}, 3)));
  EXPECT_EQ(sizes, "[2][1][1][2]");
  EXPECT_EQ(values(given.mean), (std::vector<double>{301, 301}));
  EXPECT_EQ(values(given.deviation), std::vector<double>{31});
  EXPECT_EQ(given.note, "listened to");
  // The caller's own stay as they are.
  EXPECT_EQ(values(x), (std::vector<double>{1, 1}));
  EXPECT_EQ(values(more[1]), std::vector<double>{2});
  EXPECT_EQ(module.times_called, 2);
  // A result that is a reference is a value to whoever calls; what forward writes to is the caller's.
  EXPECT_EQ(values(module(given)), (std::vector<double>{3011, 3011}));
  EXPECT_EQ(values(module.kept), (std::vector<double>{3010, 3010}));
  std::vector<Tensor> log;
  module(log);
  EXPECT_EQ(log.size(), 1u);
  before.remove();
  after.remove();
  EXPECT_EQ(values(module(x, more, "plain").deviation), std::vector<double>{3});
}

TEST(Hooks, AreSharedByCopies) {
  nn::GRU gru(2, 3);
  Witness witness(gru);
  nn::GRU copy = gru;
  (void)copy(ones({1, 1, 2}));
  EXPECT_EQ(witness.seen.size(), 1u);
  witness.handle.remove();
  EXPECT_FALSE(copy.has_hooks());
}

}  // namespace
}  // namespace tandem::testing
