// libtorch's recurrent networks, attention and transformers: against tandem's own, cell by cell, packed input, masks, texts.
#include <sstream>

#include "libtorch/layers.h"
#include "nn/nn.h"
#include "support/on_device.h"
#include "tandem.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;

class RecurrentOn : public OnDevice {
 protected:
  void SetUp() override { tandem::manual_seed(1); }
};
INSTANTIATE_TEST_SUITE_P(Devices, RecurrentOn, testing::Values("cpu", "cuda:0"), device_name);

void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_TRUE(tandem::allclose(a, b, 1e-4, 1e-5)) << a << "\n" << b;
}

TEST_P(RecurrentOn, LstmIsItsCellRepeated) {
  nn::LSTM lstm(3, 4);
  nn::LSTMCell cell(3, 4);
  lstm->to(device());
  cell->to(device());
  const auto weights = lstm->named_parameters();
  EXPECT_EQ(weights.keys(), (std::vector<std::string>{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"}));
  cell->weight_ih = weights["weight_ih_l0"];
  cell->weight_hh = weights["weight_hh_l0"];
  cell->bias_ih = weights["bias_ih_l0"];
  cell->bias_hh = weights["bias_hh_l0"];
  const Tensor x = tandem::randn({5, 2, 3}).to(device());
  const auto [output, state] = lstm(x);
  std::optional<std::tuple<Tensor, Tensor>> step;
  for (int64_t t = 0; t < 5; ++t) {
    step = cell->forward(x[t], step);
    expect_close(output[t], std::get<0>(*step));
  }
  expect_close(std::get<1>(state)[0], std::get<1>(*step));
  // From a state of one's own, and with the batch first.
  const auto again = lstm->forward(x, state);
  EXPECT_FALSE(tandem::allclose(std::get<0>(again), output));
}

TEST_P(RecurrentOn, NetworksComputeAsTandems) {
  const Tensor x = tandem::randn({2, 5, 3}).to(device());
  tandem::manual_seed(5);
  nn::GRU gru(nn::GRUOptions(3, 4).num_layers(2).bidirectional(true).batch_first(true));
  tandem::manual_seed(5);
  tandem::nn::GRU own(3, 4, {.num_layers = 2, .batch_first = true, .bidirectional = true});
  gru->to(device());
  own.to(device());
  const auto [output, h_n] = gru(x);
  const auto expected = own(x);
  expect_close(output, expected.output);
  expect_close(h_n, expected.h_n);
  nn::RNN relu(nn::RNNOptions(3, 4).nonlinearity(torch::kReLU).bias(false));
  relu->to(device());
  EXPECT_GE(std::get<0>(relu(x)).min().item<float>(), 0);
  EXPECT_EQ(relu->parameters().size(), 2U);
  output.sum().backward();
  for (const Tensor& weight : gru->all_weights()) EXPECT_TRUE(weight.grad().defined());
}

TEST_P(RecurrentOn, PackedSequencesEndWhereTheyEnd) {
  nn::LSTM lstm(nn::LSTMOptions(3, 4).proj_size(2));
  lstm->to(device());
  const Tensor x = tandem::randn({4, 2, 3}).to(device());
  const auto packed = nn::utils::rnn::pack_padded_sequence(x, tandem::tensor({2, 4}), false, false);
  const auto [output, state] = lstm->forward_with_packed_input(packed);
  const auto [padded, lengths] = nn::utils::rnn::pad_packed_sequence(output);
  const Tensor alone = std::get<0>(lstm(x.narrow(0, 0, 2).narrow(1, 0, 1)));
  expect_close(padded.narrow(0, 0, 2).narrow(1, 0, 1), alone);
  expect_close(std::get<0>(state)[0][0], alone[1][0]);
  EXPECT_EQ(padded[3][0].abs().sum().item<float>(), 0);
}

TEST_P(RecurrentOn, AttentionComputesAsTandems) {
  const Tensor query = tandem::randn({3, 2, 8}).to(device()), key = tandem::randn({5, 2, 6}).to(device());
  const Tensor value = tandem::randn({5, 2, 4}).to(device());
  nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(8, 2).kdim(6).vdim(4).add_bias_kv(true));
  tandem::nn::MultiheadAttention own(8, 2, {.add_bias_kv = true, .kdim = 6, .vdim = 4});
  own.load_state_dict(attention->state_dict());
  attention->to(device());
  own.to(device());
  const auto [output, weights] = attention(query, key, value);
  const auto expected = own(query, key, value);
  expect_close(output, expected.attn_output);
  expect_close(weights, expected.attn_output_weights);
  // A mask of bytes hides what one of bools hides.
  Tensor hidden = tandem::zeros({2, 5}, {.dtype = torch::kUInt8, .device = device()});
  hidden.select(1, 4).fill_(1);
  const auto masked = std::get<1>(attention->forward(query, key, value, hidden));
  EXPECT_EQ(masked.select(2, 4).abs().sum().item<float>(), 0);
}

TEST_P(RecurrentOn, TransformersLookNoFurtherThanTheirMasks) {
  nn::Transformer transformer(nn::TransformerOptions(8, 2, 1, 2).dim_feedforward(16).dropout(0));
  transformer->to(device());
  EXPECT_EQ(transformer->named_parameters().keys().front(), "encoder.layers.0.self_attn.in_proj_weight");
  const Tensor src = tandem::randn({4, 1, 8}).to(device()), tgt = tandem::randn({3, 1, 8}).to(device());
  const Tensor mask = nn::TransformerImpl::generate_square_subsequent_mask(3).to(device());
  const Tensor all = transformer->forward(src, tgt, {}, mask);
  const Tensor first = transformer->forward(src, tgt.narrow(0, 0, 2), {}, mask.narrow(0, 0, 2).narrow(1, 0, 2));
  expect_close(all.narrow(0, 0, 2), first);
  const auto copy = std::dynamic_pointer_cast<nn::TransformerImpl>(transformer->clone());
  expect_close(copy->forward(src, tgt, {}, mask), all);
  EXPECT_EQ(error_of([&] {
              (void)transformer->forward(src, tandem::ones({3, 2, 8}, {.device = device()}));
            }),
            "[Transformer] src and tgt should have equal batch size (at dim 1), but got 1 and 2");
}

TEST_P(RecurrentOn, EncoderLayersComputeAsTandems) {
  const Tensor x = tandem::randn({4, 2, 8}).to(device());
  nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0).activation(torch::kGELU));
  tandem::nn::TransformerEncoderLayer own(8, 2, {.dim_feedforward = 16, .dropout = 0, .activation = "gelu"});
  own.load_state_dict(layer->state_dict());
  layer->to(device());
  own.to(device());
  expect_close(layer(x), own(x));
  layer->options.activation([](const Tensor& y) { return tandem::zeros_like(y); });
  expect_close(layer(x).mean(-1), tandem::zeros({4, 2}, {.device = device()}));
}

TEST(Recurrent, PrintAsLibtorch) {
  const auto shown = [](const auto& layer) {
    std::ostringstream out;
    out << layer;
    return out.str();
  };
  EXPECT_EQ(shown(nn::LSTM(nn::LSTMOptions(8, 4).num_layers(2).dropout(0.2).proj_size(3))),
            "torch::nn::LSTM(input_size=8, hidden_size=4, num_layers=2, bias=true, batch_first=false, dropout=0.2, bidirectional=false, "
            "proj_size=3)");
  EXPECT_EQ(shown(nn::GRUCell(nn::GRUCellOptions(2, 3).bias(false))), "torch::nn::GRUCell(2, 3, bias=false)");
  EXPECT_EQ(shown(nn::RNNCell(nn::RNNCellOptions(2, 3).nonlinearity(torch::kReLU))), "torch::nn::RNNCell(2, 3, nonlinearity=kReLU)");
}

}  // namespace
