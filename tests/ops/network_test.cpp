// Network functions: gradients of both orders, and recurrent networks and attention against the same written out.
#include <functional>
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

using Inputs = std::vector<td::Tensor>;

struct Case {
  const char* name;
  std::function<td::Tensor(const Inputs&)> f;
  std::vector<td::Shape> sizes;
  bool second = true;
};

td::Tensor sum_of(const td::LstmResult& r) { return (r.output * r.output).sum() + (r.h_n * 2).sum() + td::sin(r.c_n).sum(); }
td::Tensor sum_of(const td::RnnResult& r) { return (r.output * r.output).sum() + td::sin(r.h_n).sum(); }
Inputs from(const Inputs& in, size_t first) { return {in.begin() + static_cast<std::ptrdiff_t>(first), in.end()}; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"layer_norm",
       [](const Inputs& in) {
         return td::layer_norm(in[0], {2, 3}, in[1], in[2]);
       },
       {{2, 2, 3}, {2, 3}, {2, 3}}},
      {"rms_norm", [](const Inputs& in) { return td::rms_norm(in[0], {4}, in[1], 1e-3); }, {{3, 4}, {4}}},
      {"group_norm", [](const Inputs& in) { return td::group_norm(in[0], 2, in[1], in[2]); }, {{2, 4, 3}, {4}, {4}}},
      {"batch_norm",
       [](const Inputs& in) { return td::batch_norm(in[0], {}, {}, {.weight = in[1], .bias = in[2], .training = true}); },
       {{3, 2, 2}, {2}, {2}}},
      {"batch_norm_of_vectors",
       [](const Inputs& in) { return td::batch_norm(in[0], {}, {}, {.weight = in[1], .training = true}); },
       {{4, 3}, {3}}},
      {"instance_norm", [](const Inputs& in) { return td::instance_norm(in[0], {.weight = in[1], .bias = in[2]}); }, {{2, 2, 4}, {2}, {2}}},
      {"interpolate",
       [](const Inputs& in) {
         return td::interpolate(in[0], {.size = td::Shape{5, 2}, .mode = "bicubic"}) * 2;
       },
       {{1, 2, 3, 4}}},
      {"interpolate_antialiased",
       [](const Inputs& in) {
         return td::interpolate(in[0], {.size = td::Shape{2, 3}, .mode = "bilinear", .antialias = true});
       },
       {{1, 1, 5, 7}}},
      {"grid_sample", [](const Inputs& in) { return td::grid_sample(in[0], in[1] * 0.6); }, {{1, 2, 4, 3}, {1, 2, 3, 2}}, false},
      {"grid_sample_volume",
       [](const Inputs& in) { return td::grid_sample(in[0], in[1], {.mode = "bicubic", .padding_mode = "reflection"}); },
       {{1, 1, 3, 4, 2}, {1, 1, 2, 2, 3}},
       false},
      {"affine_grid",
       [](const Inputs& in) {
         return td::affine_grid(in[0], {2, 1, 3, 2});
       },
       {{2, 2, 3}}},
      {"embedding_bag",
       [](const Inputs& in) {
         const td::Device device = in[0].device();
         return td::embedding_bag(td::tensor({0, 2, 2, 1, 3}, device), in[0],
                                  {.offsets = td::tensor({0, 2, 2}, device), .mode = "sum", .per_sample_weights = in[1]});
       },
       {{4, 3}, {5}}},
      {"embedding_bag_max",
       [](const Inputs& in) {
         return td::embedding_bag(td::tensor({{0, 2}, {1, 3}}, in[0].device()), in[0], {.mode = "max"}) * 3;
       },
       {{4, 3}}},
      {"attention",
       [](const Inputs& in) { return td::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true}); },
       {{2, 3, 4}, {2, 3, 4}, {2, 3, 2}}},
      {"lstm",
       [](const Inputs& in) {
         return sum_of(td::lstm(in[0], {in[1], in[2]}, from(in, 3), true, 1, 0, true, true));
       },
       {{3, 2, 2}, {2, 2, 2}, {2, 2, 2}, {8, 2}, {8, 2}, {8}, {8}, {8, 2}, {8, 2}, {8}, {8}}},
      {"lstm_projected",
       [](const Inputs& in) {
         return sum_of(td::lstm(in[0], {in[1], in[2]}, from(in, 3), false));
       },
       {{2, 2, 2}, {1, 2, 1}, {1, 2, 2}, {8, 2}, {8, 1}, {1, 2}}},
      {"gru",
       [](const Inputs& in) { return sum_of(td::gru(in[0], in[1], from(in, 2), true, 2)); },
       {{2, 2, 3}, {2, 2, 2}, {6, 3}, {6, 2}, {6}, {6}, {6, 2}, {6, 2}, {6}, {6}}},
      {"rnn_tanh",
       [](const Inputs& in) { return sum_of(td::rnn_tanh(in[0], in[1], from(in, 2), true, 1, 0, true, false, true)); },
       {{2, 3, 2}, {1, 2, 2}, {2, 2}, {2, 2}, {2}, {2}}},
      {"cosine_similarity", [](const Inputs& in) { return td::cosine_similarity(in[0], in[1]); }, {{2, 3}, {2, 3}}},
      {"pairwise_distance", [](const Inputs& in) { return td::pairwise_distance(in[0], in[1]); }, {{2, 3}, {2, 3}}},
  };
  return all;
}

class Network : public OnDevice {
 protected:
  [[nodiscard]] static Inputs leaves(const std::vector<td::Shape>& sizes) {
    td::manual_seed(11);
    Inputs inputs;
    for (const td::Shape& each : sizes) {
      inputs.push_back(td::empty(each, {.dtype = td::kFloat64, .device = device()}));
      inputs.back().uniform_(-1, 1);
      inputs.back().requires_grad_();
    }
    return inputs;
  }
  [[nodiscard]] static td::Tensor random(const td::Shape& sizes) { return td::randn(sizes, {.dtype = td::kFloat64, .device = device()}); }
};

TEST_P(Network, Gradients) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    try {
      EXPECT_TRUE(td::autograd::gradcheck(each.f, leaves(each.sizes)));
      if (each.second) {
        EXPECT_TRUE(td::autograd::gradgradcheck(each.f, leaves(each.sizes)));
      }
    } catch (const td::Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST_P(Network, StepsOfAnLstmAreThoseOfItsDefinition) {
  td::manual_seed(3);
  const td::Tensor x = random({5, 2, 3}), w_ih = random({16, 3}), w_hh = random({16, 4}), b_ih = random({16}), b_hh = random({16});
  td::Tensor h = random({2, 4}), c = random({2, 4});
  const td::LstmResult all = td::lstm(x, {h.unsqueeze(0), c.unsqueeze(0)}, {w_ih, w_hh, b_ih, b_hh});
  for (int64_t t = 0; t < 5; ++t) {
    const auto gates = (td::linear(x[t], w_ih, b_ih) + td::linear(h, w_hh, b_hh)).chunk(4, 1);
    c = td::sigmoid(gates[1]) * c + td::sigmoid(gates[0]) * td::tanh(gates[2]);
    h = td::sigmoid(gates[3]) * td::tanh(c);
    EXPECT_TRUE(td::allclose(all.output[t], h));
  }
  EXPECT_TRUE(td::allclose(all.h_n[0], h));
  EXPECT_TRUE(td::allclose(all.c_n[0], c));
}

TEST_P(Network, StepsOfAGruAreThoseOfItsDefinition) {
  td::manual_seed(3);
  const td::Tensor x = random({4, 2, 3}), w_ih = random({12, 3}), w_hh = random({12, 4}), b_ih = random({12}), b_hh = random({12});
  td::Tensor h = random({2, 4});
  const td::RnnResult all = td::gru(x, h.unsqueeze(0), {w_ih, w_hh, b_ih, b_hh});
  for (int64_t t = 0; t < 4; ++t) {
    const auto i = td::linear(x[t], w_ih, b_ih).chunk(3, 1), own = td::linear(h, w_hh, b_hh).chunk(3, 1);
    const td::Tensor r = td::sigmoid(i[0] + own[0]), z = td::sigmoid(i[1] + own[1]), n = td::tanh(i[2] + r * own[2]);
    h = (1 - z) * n + z * h;
    EXPECT_TRUE(td::allclose(all.output[t], h));
  }
  EXPECT_TRUE(td::allclose(all.h_n[0], h));
}

TEST_P(Network, HeadsOfAttentionAreAttentions) {
  td::manual_seed(5);
  const td::Tensor x = random({3, 2, 4}), in = random({12, 4}), out = random({4, 4});
  const td::MultiHeadAttentionOptions options{.in_proj_weight = in, .out_proj_weight = out};
  const auto result = td::multi_head_attention_forward(x, x, x, 4, 2, options);
  std::vector<td::Tensor> heads;
  for (int64_t head = 0; head < 2; ++head) {
    const auto part = [&](int64_t which) {
      return td::linear(x, in.slice(0, which * 4 + head * 2, which * 4 + head * 2 + 2)).transpose(0, 1);
    };
    heads.push_back(td::scaled_dot_product_attention(part(0), part(1), part(2)));
  }
  const td::Tensor expected = td::linear(td::cat(heads, 2), out).transpose(0, 1);
  EXPECT_TRUE(td::allclose(result.attn_output, expected));
  EXPECT_EQ(result.attn_output_weights.sizes(), (td::Shape{2, 3, 3}));
  EXPECT_TRUE(td::allclose(result.attn_output_weights.sum(-1), td::ones({2, 3}, {.dtype = td::kFloat64, .device = device()})));
}

TEST_P(Network, AKeyThatIsMaskedDoesNotCount) {
  td::manual_seed(5);
  const td::Tensor x = random({3, 2, 4}), in = random({12, 4}), out = random({4, 4});
  const td::Tensor padding = td::tensor({{0, 0, 1}, {0, 0, 1}}, device()).to(td::kBool);
  td::MultiHeadAttentionOptions options{.in_proj_weight = in, .out_proj_weight = out};
  const td::Tensor without = td::multi_head_attention_forward(x, x.slice(0, 0, 2), x.slice(0, 0, 2), 4, 2, options).attn_output;
  options.key_padding_mask = padding;
  EXPECT_TRUE(td::allclose(td::multi_head_attention_forward(x, x, x, 4, 2, options).attn_output, without));
  options.need_weights = false;
  EXPECT_TRUE(td::allclose(td::multi_head_attention_forward(x, x, x, 4, 2, options).attn_output, without));
}

TEST_P(Network, RunningStatisticsFollow) {
  const td::Tensor x = td::tensor({{1, 2}, {3, 6}}, {.dtype = td::kFloat32, .device = device()});
  const td::Tensor mean = td::zeros({2}, device()), variance = td::ones({2}, device());
  (void)td::batch_norm(x, mean, variance, {.training = true, .momentum = 0.5});
  EXPECT_TRUE(td::equal(mean.cpu(), td::tensor({1.0, 2.0})));
  EXPECT_TRUE(td::equal(variance.cpu(), td::tensor({1.5, 4.5})));
}

TEST_P(Network, ChannelsAreDroppedWhole) {
  td::manual_seed(1);
  const td::Tensor y = td::dropout2d(td::ones({8, 16, 3, 3}, device()), 0.5).cpu();
  const td::Tensor sums = y.sum({2, 3});
  EXPECT_TRUE(static_cast<bool>(td::logical_or(sums == 0, sums == 18).all()));
  EXPECT_TRUE(static_cast<bool>((sums == 0).any()) && static_cast<bool>((sums == 18).any()));
}

TEST_P(Network, ChannelDropoutReadsUnusualSizesAsPyTorchDoes) {
  td::manual_seed(2);
  const auto on = [&](const td::Shape& sizes) { return td::ones(sizes, device()); };
  // Of two dimensions every element is a channel.
  const td::Tensor y = td::dropout2d(on({20, 30}), 0.5).cpu();
  EXPECT_TRUE(static_cast<bool>(td::logical_or(y == 0, y == 2).all()));
  EXPECT_TRUE(static_cast<bool>((y == 0).any()) && static_cast<bool>((y == 2).any()));
  // Whatever has not five dimensions has channels first, and no batch.
  const td::Tensor z = td::dropout3d(on({40, 7}), 0.5).cpu().sum(1);
  EXPECT_TRUE(static_cast<bool>(td::logical_or(z == 0, z == 14).all()));
  EXPECT_EQ(td::dropout2d(on({2, 3, 4, 5, 6}), 0.5).dim(), 5);
  EXPECT_EQ(td::nn::Dropout2d(0.5)(on({4, 6})).sizes(), (td::Shape{4, 6}));
  EXPECT_EQ(td::dropout3d(on({5}), 0.5, false).dim(), 1);
  EXPECT_EQ(error_of([&] { (void)td::dropout2d(on({5}), 0.5); }),
            "[dropout2d] Feature dropout requires at least 2 dimensions in the input");
  EXPECT_EQ(error_of([&] { (void)td::dropout1d(on({2, 3, 4, 5}), 0.5); }), "[dropout1d] Expected 2D or 3D input, but received a 4D input");
}

TEST_P(Network, RowsInUseAreShortened) {
  const td::Tensor table = td::tensor({{3.0, 4.0}, {30.0, 40.0}}, device());
  (void)td::embedding(td::tensor({0}, device()), table, {}, 1.0);
  EXPECT_TRUE(td::allclose(table.cpu(), td::tensor({{0.6, 0.8}, {30.0, 40.0}})));
}

INSTANTIATE_TEST_SUITE_P(Devices, Network, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
