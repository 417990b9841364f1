// What a model is made of, and what one run of it costs.
#include "nn/support.h"

namespace tandem::testing {
namespace {

class SummaryOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, SummaryOn, every_device(), device_name);

TEST_P(SummaryOn, CountsWhatARunCosts) {
  nn::Sequential net(nn::Conv2d(3, 8, 3, {.padding = 1}), nn::ReLU(), nn::Flatten(), nn::Linear(8 * 4 * 4, 10));
  net.to(device());
  net.at(1).eval();
  const nn::Summary summary = nn::summary(net, ones({2, 3, 4, 4}, device()));
  EXPECT_TRUE(net.training() && !net.at(1).training() && !net.at(0).has_hooks());
  ASSERT_EQ(summary.layers.size(), 5u);
  const int64_t conv = 2 * 8 * 16 * 27, linear = 2 * 10 * 128;
  EXPECT_EQ(summary.layers[1].multiply_adds, conv);
  EXPECT_EQ(summary.layers[4].multiply_adds, linear);
  EXPECT_EQ(summary.multiply_adds, conv + linear);
  EXPECT_EQ(summary.layers[1].outputs, (std::vector<Shape>{{2, 8, 4, 4}}));
  EXPECT_EQ(summary.parameters, 3 * 8 * 9 + 8 + 1280 + 10);
  EXPECT_EQ(summary.parameters, net.num_parameters());
  EXPECT_EQ(summary.parameter_bytes, 4 * summary.parameters);
  EXPECT_EQ(summary.output_bytes, 4 * (2 * 256 + 20));  // Flatten gives a view
  EXPECT_EQ(summary.input_bytes, 4 * 96);
  EXPECT_EQ(shown(summary),
            "Layer         Output size   Parameters  Multiply-adds      Memory\n"
            "-----------------------------------------------------------------\n"
            "Sequential    [2, 10]                -              -           -\n"
            "  0: Conv2d   [2, 8, 4, 4]         224          6,912  1024 bytes\n"
            "  1: ReLU     [2, 8, 4, 4]           -              -  1024 bytes\n"
            "  2: Flatten  [2, 128]               -              -           -\n"
            "  3: Linear   [2, 10]            1,290          2,560    80 bytes\n"
            "-----------------------------------------------------------------\n"
            "Parameters: 1,514 (1,514 trainable)\n"
            "Multiply-adds: 9,472\n"
            "Memory: input 384 bytes, parameters 5.91 KiB, buffers 0 bytes, results 2.08 KiB");
}

TEST(Summary, TransposedConvolutionsAndLazyOnes) {
  nn::Sequential net(nn::LazyConvTranspose2d(4, 2, {.stride = 2}));
  const nn::Summary summary = nn::summary(net, ones({1, 3, 5, 5}));
  EXPECT_EQ(summary.multiply_adds, 3 * 25 * 4 * 4);
  EXPECT_EQ(summary.layers[1].type, "ConvTranspose2d");
}

/// A residual block over a sequence, of layers with one and with several results.
struct Encoder : nn::Callable<Encoder> {
  nn::Embedding tokens{10, 8};
  nn::GRU gru{8, 8, {.batch_first = true}};
  nn::MultiheadAttention attention{8, 2, {.batch_first = true}};
  nn::Linear output{8, 3};

  void fields(nn::Fields& f) override {
    f("tokens", tokens);
    f("gru", gru);
    f("attention", attention);
    f("output", output);
  }
  std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& mask) {
    const Tensor states = gru(tokens(x)).output;
    const auto attended = attention(states, states, states, {.key_padding_mask = mask});
    return {output(attended.attn_output + states), attended.attn_output_weights};
  }
};

TEST_P(SummaryOn, ListsLayersOfSeveralResults) {
  Encoder model;
  model.to(device());
  const Tensor x = randint(10, {2, 5}, {.device = device()}), mask = zeros({2, 5}, {.dtype = kBool, .device = device()});
  const nn::Summary summary = nn::summary(model, [&] { (void)model(x, mask); });
  ASSERT_EQ(summary.layers.size(), 6u);
  const auto& whole = summary.layers[0];
  const auto& gru = summary.layers[2];
  const auto& attention = summary.layers[3];
  const auto& inner = summary.layers[4];
  EXPECT_EQ(gru.outputs, (std::vector<Shape>{{2, 5, 8}, {1, 2, 8}}));
  EXPECT_EQ(gru.parameters, 3 * 8 * 8 * 2 + 2 * 3 * 8);
  EXPECT_EQ(gru.multiply_adds, 2 * 5 * 3 * 8 * 16);
  EXPECT_EQ(attention.outputs, (std::vector<Shape>{{2, 5, 8}, {2, 5, 5}}));
  EXPECT_EQ(attention.multiply_adds, 4 * 2 * 5 * 8 * 8 + 2 * 2 * 5 * 5 * 8);
  EXPECT_EQ(inner.name, "attention.out_proj");
  EXPECT_EQ(inner.calls, 0);  // its weights are the attention's to use
  EXPECT_EQ(inner.parameters, 8 * 8 + 8);
  EXPECT_EQ(whole.outputs, (std::vector<Shape>{{2, 5, 3}, {2, 5, 5}}));
  EXPECT_EQ(whole.output_bytes, 4 * 2 * 5 * 8);  // the sum, which is no layer's result
  EXPECT_EQ(summary.input_bytes, 8 * 10 + 10);
  const std::string text = shown(summary);
  EXPECT_NE(text.find("[2, 5, 8], [1, 2, 8]         432          3,840  384 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("out_proj: NonDynamicallyQuantizableLinear  -  "), std::string::npos) << text;
}

TEST(Summary, OfATransformerHasEveryPart) {
  nn::Transformer model(8, 2, {.num_encoder_layers = 1, .num_decoder_layers = 1, .dim_feedforward = 16});
  const nn::Summary summary = nn::summary(model, [&] { (void)model(ones({5, 2, 8}), ones({3, 2, 8})); });
  EXPECT_EQ(summary.parameters, model.num_parameters());
  for (const nn::LayerSummary& layer : summary.layers) {
    const bool used = layer.type != "ModuleList" && layer.type != "NonDynamicallyQuantizableLinear";
    EXPECT_EQ(layer.calls, used ? 1 : 0) << layer.name;
  }
  EXPECT_TRUE(model.training());
}

// --- The column of memory is what a run takes.

class SummaryOnGpus : public OnDevice {
 protected:
  /// Bytes that tensors on the GPU have asked for.
  [[nodiscard]] int64_t held() const { return static_cast<int64_t>(cuda::memory_stats(device()).requested_bytes.all.current); }
};
INSTANTIATE_TEST_SUITE_P(Devices, SummaryOnGpus, ::testing::Values("cuda:0", "cuda:1"), device_name);

TEST_P(SummaryOnGpus, ALayersResultsTakeItsMemory) {
  const Tensor pictures = randn({2, 3, 8, 8}, device()), sequence = randn({5, 2, 8}, device());
  const auto check = [&](auto module, const Tensor& x) {
    module.to(device());
    module.eval();
    const nn::Summary summary = nn::summary(module, [&] { (void)module(x); });
    const NoGradGuard no_grad;
    const int64_t before = held();
    const auto result = module(x);
    EXPECT_EQ(held() - before, summary.output_bytes) << module.name();
    if (summary.output_bytes == 0) {
      EXPECT_EQ(summary.layers[0].calls, 1) << module.name();
    }
  };
  check(nn::Conv2d(3, 8, 3, {.padding = 1}), pictures);
  check(nn::ConvTranspose2d(3, 4, 2, {.stride = 2}), pictures);
  check(nn::BatchNorm2d(3), pictures);
  check(nn::MaxPool2d(2), pictures);
  check(nn::AdaptiveAvgPool2d(1), pictures);
  check(nn::Flatten(), pictures);
  check(nn::Identity(), pictures);
  check(nn::Dropout(), pictures);
  check(nn::ReLU(), pictures);
  check(nn::ReLU(true), pictures);
  check(nn::Linear(8, 4), sequence);
  check(nn::LayerNorm({8}), sequence);
  check(nn::GRU(8, 6), sequence);
  check(nn::GRU(8, 6, {.num_layers = 2, .bidirectional = true}), sequence);
  check(nn::LSTM(8, 6), sequence);
}

TEST_P(SummaryOnGpus, DropoutInPlaceTakesItsMaskOnly) {
  nn::Dropout dropout(0.5, true);
  const Tensor x = ones({1000}, device()) * 1;
  const NoGradGuard no_grad;
  const size_t before = cuda::memory_stats(device()).requested_bytes.all.allocated;
  EXPECT_TRUE(dropout(x).is_same(x));
  EXPECT_EQ(cuda::memory_stats(device()).requested_bytes.all.allocated - before, 1000u);  // a byte an element
}

/// x f(x), whose gradient needs both: in a network whose other parts run as one, change in place, or give views.
struct Gate : nn::Module {
  nn::Conv2d conv{4, 4, 3, {.padding = 1}};
  void fields(nn::Fields& f) override { f("conv", conv); }
  Tensor forward(const Tensor& x) override { return x * conv(x); }
};

TEST_P(SummaryOnGpus, ANetworksResultsTakeWhatTrainingKeeps) {
  nn::Sequential net(nn::Conv2d(3, 4, 3), nn::ReLU(true), Gate(), nn::Flatten(), nn::Linear(4 * 36, 16), nn::ReLU(), nn::Linear(16, 16),
                     nn::ReLU(), nn::Linear(16, 2));
  net.to(device());
  const Tensor x = randn({8, 3, 8, 8}, device());
  const nn::Summary summary = nn::summary(net, x);
  const int64_t before = held();
  const Tensor y = net(x);
  EXPECT_EQ(held() - before, summary.output_bytes);
  EXPECT_EQ(summary.output_bytes, 4 * 8 * (3 * 4 * 36 + 16 + 16 + 2));
}

}  // namespace
}  // namespace tandem::testing
