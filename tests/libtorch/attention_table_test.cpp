// libtorch's attention and transformers, option by option against tandem's core with the same weights.
#include "libtorch/functional.h"
#include "libtorch/layers.h"
#include "libtorch/table.h"
#include "nn/nn.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

class AttentionTable : public TableOn {
 protected:
  /// What a layer of libtorch's gives, beside tandem's own with the same weights, which all differ from each other: in training, with the
  /// seed's dropout, and in evaluation.
  template <class Holder, class Own, class F, class G>
  [[nodiscard]] static TableRow compared(const char* name, Holder layer, Own own, F&& f, G&& own_f) {
    layer->to(device());
    own.to(device());
    for (const Tensor& parameter : layer->parameters()) tandem::nn::init::normal_(parameter, 0, 0.5);
    own.load_state_dict(layer->state_dict());
    const Tensor trained = seeded([&] { return f(layer); }), own_trained = seeded([&] { return own_f(own); });
    layer->eval();
    own.eval();
    return {name, {joined({trained, f(layer)})}, joined({own_trained, own_f(own)})};
  }
  /// The first `open` of `all` keys of each of two samples count, one less in the second.
  [[nodiscard]] static Tensor hidden_after(int64_t open, int64_t all) {
    Tensor mask = tandem::zeros({2, all}, {.dtype = torch::kBool});
    mask.narrow(1, open, all - open).fill_(true);
    mask[1].narrow(0, open - 1, 1).fill_(true);
    return on_device(mask);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, AttentionTable, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(AttentionTable, Function) {
  const Tensor query = normal({3, 2, 8}), key = normal({5, 2, 8}), value = normal({5, 2, 8});
  const Tensor w = normal({24, 8}), b = normal({24}), out = normal({8, 8}), out_b = normal({8});
  const Tensor q_w = normal({8, 8}), k_w = normal({8, 8}), v_w = normal({8, 8}), extra_k = normal({1, 1, 8}), extra_v = normal({1, 1, 8});
  const Tensor padding = hidden_after(4, 5), mask = normal({3, 5}), fixed_k = normal({4, 5, 4}), fixed_v = normal({4, 5, 4});
  using Func = F::MultiheadAttentionForwardFuncOptions;
  const auto ours = [&](const Func& options) {
    const auto [output, weights] = seeded([&] { return F::multi_head_attention_forward(query, key, value, options); });
    return std::vector<Tensor>{weights.defined() ? joined({output, weights}) : output};
  };
  const auto core = [&](tandem::MultiHeadAttentionOptions options, int64_t heads = 2) {
    const auto r = seeded([&] { return tandem::multi_head_attention_forward(query, key, value, 8, heads, options); });
    return r.attn_output_weights.defined() ? joined({r.attn_output, r.attn_output_weights}) : r.attn_output;
  };
  const auto base = [&] { return Func(8, 2, w, b, {}, {}, false, 0, out, out_b); };
  const auto with = [&](auto&& change) {
    tandem::MultiHeadAttentionOptions options{.in_proj_weight = w, .in_proj_bias = b, .out_proj_weight = out, .out_proj_bias = out_b};
    change(options);
    return options;
  };
  const auto own = [&](auto&& change) { return core(with(change)); };
  const auto separate = [&](auto& o) {
    o.use_separate_proj_weight = true;
    o.q_proj_weight = q_w;
    o.k_proj_weight = k_w;
    o.v_proj_weight = v_w;
  };
  const Tensor usual = own([](auto&) {});
  expect_rows({
      {"attention", ours(base()), usual},
      {"embed_dim_to_check", ours(Func(9, 2, w, b, {}, {}, false, 0, out, out_b).embed_dim_to_check(8)), usual},
      {"num_heads", ours(base().num_heads(4)), core(with([](auto&) {}), 4), usual},
      {"in_proj_weight", ours(base().in_proj_weight(w * 2)), own([&](auto& o) { o.in_proj_weight = w * 2; }), usual},
      {"in_proj_bias", ours(base().in_proj_bias(b * 2)), own([&](auto& o) { o.in_proj_bias = b * 2; }), usual},
      {"bias_k and bias_v", ours(base().bias_k(extra_k).bias_v(extra_v)), own([&](auto& o) {
         o.bias_k = extra_k;
         o.bias_v = extra_v;
       }),
       usual},
      {"add_zero_attn", ours(base().add_zero_attn(true)), own([](auto& o) { o.add_zero_attn = true; }), usual},
      {"dropout_p", ours(base().dropout_p(0.4)), own([](auto& o) { o.dropout_p = 0.4; }), usual},
      {"training", ours(base().dropout_p(0.4).training(false)), usual, own([](auto& o) { o.dropout_p = 0.4; })},
      {"out_proj_weight", ours(base().out_proj_weight(out * 2)), own([&](auto& o) { o.out_proj_weight = out * 2; }), usual},
      {"out_proj_bias", ours(base().out_proj_bias(out_b * 2)), own([&](auto& o) { o.out_proj_bias = out_b * 2; }), usual},
      {"key_padding_mask", ours(base().key_padding_mask(padding)), own([&](auto& o) { o.key_padding_mask = padding; }), usual},
      {"key_padding_mask of bytes", ours(base().key_padding_mask(padding.to(torch::kUInt8))),
       own([&](auto& o) { o.key_padding_mask = padding; }), usual},
      {"need_weights", ours(base().need_weights(false)), own([](auto& o) { o.need_weights = false; }), usual},
      {"attn_mask", ours(base().attn_mask(mask)), own([&](auto& o) { o.attn_mask = mask; }), usual},
      {"use_separate_proj_weight", ours(base().use_separate_proj_weight(true).q_proj_weight(q_w).k_proj_weight(k_w).v_proj_weight(v_w)),
       own(separate), usual},
      {"static_k", ours(base().static_k(fixed_k)), own([&](auto& o) { o.static_k = fixed_k; }), usual},
      {"static_v", ours(base().static_v(fixed_v)), own([&](auto& o) { o.static_v = fixed_v; }), usual},
      {"average_attn_weights", ours(base().average_attn_weights(false)), own([](auto& o) { o.average_attn_weights = false; }), usual},
  });
}

TEST_P(AttentionTable, Layer) {
  const Tensor query = normal({3, 2, 8}), key = normal({5, 2, 8}), value = normal({5, 2, 8});
  const Tensor padding = hidden_after(4, 5), mask = normal({3, 5});
  using Attention = nn::MultiheadAttentionOptions;
  const auto row = [&](const char* name, const Attention& options, int64_t heads, const tandem::nn::MultiheadAttentionOptions& how,
                       const Tensor& k, const Tensor& v) {
    return compared(
        name, nn::MultiheadAttention(options), tandem::nn::MultiheadAttention(8, heads, how),
        [&](nn::MultiheadAttention& layer) {
          const auto [output, weights] = layer(query, k, v);
          const auto [masked, all_weights] = layer->forward(query, k, v, padding, true, mask, false);
          const auto [bare, no_weights] = layer->forward(query, k, v, padding, false);
          EXPECT_FALSE(no_weights.defined());
          return joined({output, weights, masked, all_weights, bare});
        },
        [&](tandem::nn::MultiheadAttention& own) {
          const auto usual = own(query, k, v);
          const auto masked = own(query, k, v, {.key_padding_mask = padding, .attn_mask = mask, .average_attn_weights = false});
          const auto bare = own(query, k, v, {.key_padding_mask = padding, .need_weights = false});
          return joined({usual.attn_output, usual.attn_output_weights, masked.attn_output, masked.attn_output_weights, bare.attn_output});
        });
  };
  expect_rows({
      row("attention", {8, 2}, 2, {}, key, value),
      row("embed_dim and num_heads", Attention(10, 5).embed_dim(8).num_heads(4).kdim(8).vdim(8), 4, {}, key, value),
      row("dropout", Attention(8, 2).dropout(0.4), 2, {.dropout = 0.4}, key, value),
      row("bias", Attention(8, 2).bias(false), 2, {.bias = false}, key, value),
      row("add_bias_kv", Attention(8, 2).add_bias_kv(true), 2, {.add_bias_kv = true}, key, value),
      row("add_zero_attn", Attention(8, 2).add_zero_attn(true), 2, {.add_zero_attn = true}, key, value),
      row("kdim", Attention(8, 2).kdim(6), 2, {.kdim = 6}, key.narrow(2, 0, 6), value),
      row("vdim", Attention(8, 2).vdim(4), 2, {.vdim = 4}, key, value.narrow(2, 0, 4)),
  });
}

TEST_P(AttentionTable, EncoderLayers) {
  const Tensor src = normal({4, 2, 8}), mask = normal({4, 4}), padding = hidden_after(3, 4);
  using Layer = nn::TransformerEncoderLayerOptions;
  const auto row = [&](const char* name, const Layer& options, int64_t heads, const tandem::nn::TransformerLayerOptions& how) {
    return compared(
        name, nn::TransformerEncoderLayer(options), tandem::nn::TransformerEncoderLayer(8, heads, how),
        [&](auto& layer) {
          return joined({layer(src), layer(src, mask, padding)});
        },
        [&](auto& own) {
          return joined({own(src), own(src, {mask, padding})});
        });
  };
  const auto cube = [](const Tensor& x) { return x.pow(3); };
  const auto small = [] { return Layer(8, 2).dim_feedforward(16).dropout(0); };
  expect_rows({
      row("EncoderLayer", {8, 2}, 2, {}),
      row("EncoderLayer d_model and nhead", Layer(9, 9).d_model(8).nhead(4), 4, {}),
      row("EncoderLayer dim_feedforward", Layer(8, 2).dim_feedforward(16), 2, {.dim_feedforward = 16}),
      row("EncoderLayer dropout", Layer(8, 2).dropout(0.4), 2, {.dropout = 0.4}),
      row("EncoderLayer activation", small().activation(torch::kGELU), 2, {.dim_feedforward = 16, .dropout = 0, .activation = "gelu"}),
      row("EncoderLayer function", small().activation(cube), 2, {.dim_feedforward = 16, .dropout = 0, .activation = cube}),
  });
}

TEST_P(AttentionTable, DecoderLayers) {
  const Tensor tgt = normal({3, 2, 8}), memory = normal({5, 2, 8}), tgt_mask = normal({3, 3}), memory_mask = normal({3, 5});
  const Tensor tgt_padding = hidden_after(2, 3), memory_padding = hidden_after(4, 5);
  using Layer = nn::TransformerDecoderLayerOptions;
  const auto row = [&](const char* name, const Layer& options, int64_t heads, const tandem::nn::TransformerLayerOptions& how) {
    return compared(
        name, nn::TransformerDecoderLayer(options), tandem::nn::TransformerDecoderLayer(8, heads, how),
        [&](auto& layer) {
          return joined({layer(tgt, memory), layer->forward(tgt, memory, tgt_mask, memory_mask, tgt_padding, memory_padding)});
        },
        [&](auto& own) {
          return joined({own(tgt, memory), own(tgt, memory, {tgt_mask, memory_mask, tgt_padding, memory_padding})});
        });
  };
  const auto cube = [](const Tensor& x) { return x.pow(3); };
  const auto small = [] { return Layer(8, 2).dim_feedforward(16).dropout(0); };
  expect_rows({
      row("DecoderLayer", {8, 2}, 2, {}),
      row("DecoderLayer d_model and nhead", Layer(9, 9).d_model(8).nhead(4), 4, {}),
      row("DecoderLayer dim_feedforward", Layer(8, 2).dim_feedforward(16), 2, {.dim_feedforward = 16}),
      row("DecoderLayer dropout", Layer(8, 2).dropout(0.4), 2, {.dropout = 0.4}),
      row("DecoderLayer activation", small().activation(torch::kGELU), 2, {.dim_feedforward = 16, .dropout = 0, .activation = "gelu"}),
      row("DecoderLayer function", small().activation(cube), 2, {.dim_feedforward = 16, .dropout = 0, .activation = cube}),
  });
}

TEST_P(AttentionTable, EncodersAndDecoders) {
  const Tensor src = normal({5, 2, 8}), tgt = normal({3, 2, 8}), src_mask = normal({5, 5}), tgt_mask = normal({3, 3});
  const Tensor memory_mask = normal({3, 5}), src_padding = hidden_after(4, 5), tgt_padding = hidden_after(2, 3);
  const auto encoder_layer = nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16);
  const auto decoder_layer = nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(16);
  const auto norm = [] { return nn::AnyModule(nn::LayerNorm(std::vector<int64_t>{8})); };
  const auto encoder = [&](const char* name, const nn::TransformerEncoderOptions& options, int64_t layers,
                           const tandem::nn::AnyModule& behind) {
    return compared(
        name, nn::TransformerEncoder(options), tandem::nn::TransformerEncoder({8, 2, {.dim_feedforward = 16}}, layers, behind),
        [&](auto& layer) {
          return joined({layer(src), layer(src, src_mask, src_padding)});
        },
        [&](auto& own) {
          return joined({own(src), own(src, {src_mask, src_padding})});
        });
  };
  const auto decoder = [&](const char* name, const nn::TransformerDecoderOptions& options, int64_t layers,
                           const tandem::nn::AnyModule& behind) {
    return compared(
        name, nn::TransformerDecoder(options), tandem::nn::TransformerDecoder({8, 2, {.dim_feedforward = 16}}, layers, behind),
        [&](auto& layer) {
          return joined({layer(tgt, src), layer->forward(tgt, src, tgt_mask, memory_mask, tgt_padding, src_padding)});
        },
        [&](auto& own) {
          return joined({own(tgt, src), own(tgt, src, {tgt_mask, memory_mask, tgt_padding, src_padding})});
        });
  };
  using Encoder = nn::TransformerEncoderOptions;
  using Decoder = nn::TransformerDecoderOptions;
  const tandem::nn::AnyModule none, own_norm = tandem::nn::LayerNorm(8);
  const nn::TransformerEncoderLayer given_encoder(encoder_layer);
  const nn::TransformerDecoderLayer given_decoder(decoder_layer);
  expect_rows({
      encoder("TransformerEncoder", {encoder_layer, 2}, 2, none),
      encoder("TransformerEncoder encoder_layer", Encoder(nn::TransformerEncoderLayer(6, 3), 2).encoder_layer(given_encoder), 2, none),
      encoder("TransformerEncoder num_layers", Encoder(given_encoder, 1).num_layers(3), 3, none),
      encoder("TransformerEncoder norm", Encoder(encoder_layer, 1).norm(norm()), 1, own_norm),
      decoder("TransformerDecoder", {decoder_layer, 2}, 2, none),
      decoder("TransformerDecoder decoder_layer", Decoder(nn::TransformerDecoderLayer(6, 3), 2).decoder_layer(given_decoder), 2, none),
      decoder("TransformerDecoder num_layers", Decoder(given_decoder, 1).num_layers(3), 3, none),
      decoder("TransformerDecoder norm", Decoder(decoder_layer, 1).norm(norm()), 1, own_norm),
  });
}

TEST_P(AttentionTable, Transformers) {
  const Tensor src = normal({5, 2, 8}), tgt = normal({3, 2, 8}), src_mask = normal({5, 5}), tgt_mask = normal({3, 3});
  const Tensor memory_mask = normal({3, 5}), src_padding = hidden_after(4, 5), tgt_padding = hidden_after(2, 3),
               memory_padding = hidden_after(3, 5);
  const auto row = [&](const char* name, const nn::TransformerOptions& options, int64_t heads, const tandem::nn::TransformerOptions& how) {
    return compared(
        name, nn::Transformer(options), tandem::nn::Transformer(8, heads, how),
        [&](auto& layer) {
          return joined(
              {layer(src, tgt), layer->forward(src, tgt, src_mask, tgt_mask, memory_mask, src_padding, tgt_padding, memory_padding)});
        },
        [&](auto& own) {
          return joined({own(src, tgt), own(src, tgt, {src_mask, tgt_mask, memory_mask, src_padding, tgt_padding, memory_padding})});
        });
  };
  using Options = nn::TransformerOptions;
  const auto small = [] { return Options(8, 2, 1, 1).dim_feedforward(16); };
  const tandem::nn::TransformerOptions one{.num_encoder_layers = 1, .num_decoder_layers = 1, .dim_feedforward = 16};
  const auto with = [&](auto&& change) {
    tandem::nn::TransformerOptions options = one;
    change(options);
    return options;
  };
  const auto cube = [](const Tensor& x) { return x.pow(3); };
  const auto norm = [] { return nn::AnyModule(nn::LayerNorm(std::vector<int64_t>{8})); };
  const auto encoder = [&] {
    const auto layer = nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16);
    return nn::AnyModule(nn::TransformerEncoder(nn::TransformerEncoderOptions(layer, 2).norm(norm())));
  };
  const auto decoder = [&] {
    const auto layer = nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(16);
    return nn::AnyModule(nn::TransformerDecoder(nn::TransformerDecoderOptions(layer, 3).norm(norm())));
  };
  const auto two_layers = [](auto& o) { o.num_encoder_layers = 2; };
  const auto three_layers = [](auto& o) { o.num_decoder_layers = 3; };
  expect_rows({
      row("Transformer", small(), 2, one),
      row("Transformer d_model and nhead", Options(9, 9, 1, 1).d_model(8).nhead(4).dim_feedforward(16), 4, one),
      row("Transformer num_encoder_layers", small().num_encoder_layers(2), 2, with(two_layers)),
      row("Transformer num_decoder_layers", small().num_decoder_layers(3), 2, with(three_layers)),
      row("Transformer dim_feedforward", small().dim_feedforward(12), 2, with([](auto& o) { o.dim_feedforward = 12; })),
      row("Transformer dropout", small().dropout(0.4), 2, with([](auto& o) { o.dropout = 0.4; })),
      row("Transformer activation", small().activation(torch::kGELU), 2, with([](auto& o) { o.activation = "gelu"; })),
      row("Transformer function", small().activation(cube), 2, with([&](auto& o) { o.activation = cube; })),
      row("Transformer custom_encoder", small().custom_encoder(encoder()), 2, with(two_layers)),
      row("Transformer custom_decoder", small().custom_decoder(decoder()), 2, with(three_layers)),
  });
}

}  // namespace
