// Attention and transformers: masks, causality, names, texts. The golden cases compare values with PyTorch's.
#include "nn/support.h"

namespace tandem::testing {
namespace {

class TransformerOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, TransformerOn, every_device(), device_name);

void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_TRUE(allclose(a, b, 1e-4, 1e-5)) << a << "\n" << b;
}

// One head written out.
TEST_P(TransformerOn, AttentionIsSoftmaxOfProducts) {
  nn::MultiheadAttention attention(4, 1, {.kdim = 3, .vdim = 2, .batch_first = true});
  attention.to(device());
  const Tensor query = randn({2, 5, 4}, device()), key = randn({2, 6, 3}, device()), value = randn({2, 6, 2}, device());
  const auto [y, weights] = attention(query, key, value);
  const Tensor q = matmul(query, attention.q_proj_weight.t()), k = matmul(key, attention.k_proj_weight.t()),
               v = matmul(value, attention.v_proj_weight.t());
  const Tensor expected = softmax(matmul(q, k.transpose(1, 2)) / 2, -1);
  expect_close(weights, expected);
  expect_close(y, attention.out_proj(matmul(expected, v)));
  EXPECT_FALSE(attention(query, key, value, {.need_weights = false}).attn_output_weights.defined());
  expect_close(attention(query, key, value, {.need_weights = false}).attn_output, y);
  EXPECT_EQ(attention(query, key, value, {.average_attn_weights = false}).attn_output_weights.sizes(), (Shape{2, 1, 5, 6}));
}

TEST_P(TransformerOn, BatchFirstIsTheSameTransposed) {
  nn::MultiheadAttention first(6, 2, {.add_bias_kv = true, .add_zero_attn = true, .batch_first = true});
  first.to(device());
  nn::MultiheadAttention second = first;
  second.batch_first = false;
  const Tensor x = randn({2, 5, 6}, device()), z = randn({2, 3, 6}, device());
  const Tensor padding = tensor({{false, false, true}, {false, true, true}}).to(device());
  const auto [y, weights] = first(x, z, z, {.key_padding_mask = padding});
  const auto [y_other, weights_other] = second(x.transpose(0, 1), z.transpose(0, 1), z.transpose(0, 1), {.key_padding_mask = padding});
  expect_close(y, y_other.transpose(0, 1));
  expect_close(weights, weights_other);
  EXPECT_EQ(weights.sizes(), (Shape{2, 5, 5}));  // a learnt key and one of zeros more
  expect_near(weights.select(2, 2), std::vector<double>(10, 0), 0);
  const auto [alone, own] = first(x[0], z[0], z[0], {.key_padding_mask = padding[0]});  // without a batch
  expect_close(alone, y[0]);
  expect_close(own, weights[0]);
}

TEST_P(TransformerOn, NoStepOfACausalLayerLooksAhead) {
  nn::TransformerEncoder encoder(nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 16, .batch_first = true, .norm_first = true}), 2);
  encoder.to(device());
  encoder.eval();
  const Tensor mask = nn::Transformer::generate_square_subsequent_mask(5, {.device = device()});
  const Tensor x = randn({1, 5, 8}, device());
  Tensor other = x.clone();
  other.select(1, 4).fill_(3);
  for (const bool hint : {false, true}) {
    const nn::EncoderMasks masks{.src_mask = mask, .is_causal = hint};
    const Tensor a = encoder(x, masks), b = encoder(other, masks);
    expect_close(a.narrow(1, 0, 4), b.narrow(1, 0, 4));
    EXPECT_FALSE(allclose(a.select(1, 4), b.select(1, 4), 1e-3, 1e-3));
    expect_close(a, encoder(x, {.src_mask = mask}));
  }
  EXPECT_FALSE(allclose(encoder(x).select(1, 0), encoder(other).select(1, 0), 1e-3, 1e-3));
}

TEST_P(TransformerOn, PaddedKeysDoNotCount) {
  nn::Transformer net(8, 2, {.num_encoder_layers = 1, .num_decoder_layers = 1, .dim_feedforward = 16, .batch_first = true});
  net.to(device());
  net.eval();
  const Tensor src = randn({2, 4, 8}, device()), tgt = randn({2, 3, 8}, device());
  const Tensor padding = tensor({{false, false, true, true}, {false, false, false, true}}).to(device());
  const nn::TransformerMasks masks{.src_key_padding_mask = padding, .memory_key_padding_mask = padding};
  Tensor other = src.clone();
  other.select(1, 3).fill_(9);
  const Tensor y = net(src, tgt, masks);
  EXPECT_EQ(y.sizes(), (Shape{2, 3, 8}));
  expect_close(y, net(other, tgt, masks));
  EXPECT_FALSE(allclose(y, net(other, tgt), 1e-3, 1e-3));
}

TEST_P(TransformerOn, ActivationsByNameAndByFunction) {
  manual_seed(2);
  nn::TransformerEncoderLayer named(8, 2, {.dim_feedforward = 16, .activation = "gelu"});
  manual_seed(2);
  nn::TransformerEncoderLayer own(8, 2, {.dim_feedforward = 16, .activation = [](const Tensor& x) { return gelu(x); }});
  for (auto* layer : {&named, &own}) {
    layer->to(device());
    layer->eval();
  }
  const Tensor x = randn({3, 2, 8}, device());
  expect_close(named(x), own(x));
  EXPECT_EQ(error_of([] { nn::TransformerEncoderLayer bad(8, 2, {.activation = "tanh"}); }),
            "[Activation] activation should be relu/gelu, or a function, not tanh");
}

TEST_P(TransformerOn, LearnsToCopyTheStepBefore) {
  struct Decoder : nn::Module {
    nn::Embedding tokens{6, 16}, places{8, 16};
    nn::TransformerEncoder layers{nn::TransformerEncoderLayer(16, 2, {.dim_feedforward = 32, .dropout = 0, .batch_first = true}), 1};
    nn::Linear output{16, 6};
    void fields(nn::Fields& f) override {
      f("tokens", tokens);
      f("places", places);
      f("layers", layers);
      f("output", output);
    }
    Tensor forward(const Tensor& x) override {
      const Tensor mask = nn::Transformer::generate_square_subsequent_mask(x.size(1), {.device = x.device()});
      const Tensor at = arange(x.size(1), {.dtype = kInt64, .device = x.device()});
      return output(layers(tokens(x) + places(at), {.src_mask = mask, .is_causal = true}));
    }
  } net;
  net.to(device());
  optim::Adam adam(net.parameters(), {.lr = 1e-2});
  double first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    const Tensor x = randint(0, 6, {16, 8}).to(device());
    adam.zero_grad();
    const Tensor loss = cross_entropy(net(x).narrow(1, 1, 7).reshape({-1, 6}), x.narrow(1, 0, 7).reshape({-1}));
    loss.backward();
    adam.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, first / 2);
}

TEST(Transformer, NamesAndSizesAreTorchs) {
  EXPECT_EQ(nn::MultiheadAttention(8, 2, {.bias = false, .add_bias_kv = true, .kdim = 3, .vdim = 4}).state_dict().keys(),
            (std::vector<std::string>{"q_proj_weight", "k_proj_weight", "v_proj_weight", "bias_k", "bias_v", "out_proj.weight"}));
  EXPECT_EQ(nn::MultiheadAttention(8, 2, {.add_bias_kv = true}).state_dict().keys(),
            (std::vector<std::string>{"in_proj_weight", "in_proj_bias", "bias_k", "bias_v", "out_proj.weight", "out_proj.bias"}));
  const nn::TransformerEncoder encoder(nn::TransformerEncoderLayer(64, 4, {.dim_feedforward = 128}), 3, nn::LayerNorm(64));
  const std::vector<std::string> keys = encoder.state_dict().keys();
  EXPECT_EQ(keys.size(), 38u);
  EXPECT_EQ(keys.at(0), "layers.0.self_attn.in_proj_weight");
  EXPECT_EQ(keys.at(37), "norm.bias");
  EXPECT_EQ(nn::Transformer(512, 8).num_parameters(), 44140544);
  const nn::Transformer small(8, 2, {.num_encoder_layers = 1, .num_decoder_layers = 1, .dim_feedforward = 16});
  EXPECT_TRUE(small.state_dict().contains("decoder.layers.0.multihead_attn.out_proj.bias"));
}

TEST(Transformer, LayersAreClones) {
  const nn::TransformerEncoderLayer layer(8, 2, {.dim_feedforward = 16});
  nn::TransformerEncoder encoder(layer, 2);
  auto& second = encoder.layers.at<nn::TransformerEncoderLayer>(1);
  EXPECT_FALSE(second.linear1.weight.is_same(layer.linear1.weight));
  EXPECT_TRUE(equal(second.linear1.weight, layer.linear1.weight));
  EXPECT_EQ(nn::clone(encoder).parameters().size(), 24u);
}

TEST(Transformer, InPrint) {
  EXPECT_EQ(shown(nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 16})),
            "TransformerEncoderLayer(\n"
            "  (self_attn): MultiheadAttention(\n"
            "    (out_proj): NonDynamicallyQuantizableLinear(in_features=8, out_features=8, bias=True)\n"
            "  )\n"
            "  (linear1): Linear(in_features=8, out_features=16, bias=True)\n"
            "  (dropout): Dropout(p=0.1, inplace=False)\n"
            "  (linear2): Linear(in_features=16, out_features=8, bias=True)\n"
            "  (norm1): LayerNorm((8,), eps=1e-05, elementwise_affine=True, bias=True)\n"
            "  (norm2): LayerNorm((8,), eps=1e-05, elementwise_affine=True, bias=True)\n"
            "  (dropout1): Dropout(p=0.1, inplace=False)\n"
            "  (dropout2): Dropout(p=0.1, inplace=False)\n"
            ")");
  const std::string encoder = shown(nn::TransformerEncoder(nn::TransformerEncoderLayer(8, 2), 2, nn::LayerNorm(8)));
  EXPECT_NE(encoder.find("(0-1): 2 x TransformerEncoderLayer("), std::string::npos) << encoder;
  EXPECT_NE(encoder.find("  (norm): LayerNorm((8,), eps=1e-05"), std::string::npos) << encoder;
}

TEST(Transformer, Errors) {
  EXPECT_EQ(error_of([] { nn::MultiheadAttention bad(8, 3); }),
            "[MultiheadAttention] embed_dim must be divisible by num_heads, but they are 8 and 3");
  const Tensor x = ones({2, 3, 8});
  nn::MultiheadAttention attention(8, 2);
  EXPECT_NE(error_of([&] {
              (void)attention(x, x, x, {.attn_mask = zeros({3, 3})});
            }).find("The size of attn_mask is not correct"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)attention(x, x, x, {.is_causal = true}); }).find("Need attn_mask if specifying the is_causal hint"),
            std::string::npos);
  nn::Transformer net(8, 2, {.num_encoder_layers = 1, .num_decoder_layers = 1, .dim_feedforward = 16});
  EXPECT_NE(error_of([&] { (void)net(x, ones({2, 2, 8})); }).find("the batch number of src and tgt must be equal"), std::string::npos);
}

}  // namespace
}  // namespace tandem::testing
