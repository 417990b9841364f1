// Every module of nn that has parameters, with an input for it.
#pragma once

#include "nn/nn.h"
#include "ops/creation.h"
#include "ops/operators.h"
#include "ops/random.h"

namespace tandem::testing {

/// Calls `f(module, input, call)` for each; `call(module, input)` is a tensor of its result. Not called where the module is one from tensor
/// to tensor: `f(module, input)`.
template <class F>
void every_module(F&& f) {
  manual_seed(11);
  const Tensor rows = randn({6, 4}), one = randn({6, 2, 7}), two = randn({6, 2, 6, 6}), three = randn({6, 2, 4, 4, 4});
  const Tensor steps = randn({6, 5, 8}), indices = arange(18).remainder(9).view({6, 3});
  const nn::TransformerLayerOptions layer{.dim_feedforward = 12, .dropout = 0, .batch_first = true};
  f(nn::Linear(4, 3), rows);
  f(nn::LazyLinear(3), rows);
  f(nn::Bilinear(4, 4, 3), rows, [](auto& m, const Tensor& x) { return m(x, x * 2); });
  f(nn::Conv1d(2, 3, 3), one);
  f(nn::Conv2d(2, 4, 3, {.groups = 2}), two);
  f(nn::Conv3d(2, 3, 2), three);
  f(nn::LazyConv1d(3, 3), one);
  f(nn::LazyConv2d(3, 3), two);
  f(nn::LazyConv3d(3, 2), three);
  f(nn::ConvTranspose1d(2, 3, 3), one);
  f(nn::ConvTranspose2d(2, 3, 3, {.stride = 2}), two);
  f(nn::ConvTranspose3d(2, 3, 2), three);
  f(nn::LazyConvTranspose1d(3, 3), one);
  f(nn::LazyConvTranspose2d(3, 3), two);
  f(nn::LazyConvTranspose3d(3, 2), three);
  f(nn::BatchNorm1d(2), one);
  f(nn::BatchNorm2d(2), two);
  f(nn::BatchNorm3d(2), three);
  f(nn::SyncBatchNorm(2), two);
  f(nn::LazyBatchNorm1d(), one);
  f(nn::LazyBatchNorm2d(), two);
  f(nn::LazyBatchNorm3d(), three);
  f(nn::InstanceNorm1d(2, {.affine = true}), one);
  f(nn::InstanceNorm2d(2, {.affine = true}), two);
  f(nn::InstanceNorm3d(2, {.affine = true}), three);
  f(nn::LazyInstanceNorm1d({.affine = true}), one);
  f(nn::LazyInstanceNorm2d({.affine = true}), two);
  f(nn::LazyInstanceNorm3d({.affine = true}), three);
  f(nn::LayerNorm({4}), rows);
  f(nn::GroupNorm(2, 2), two);
  f(nn::RMSNorm({4}), rows);
  f(nn::PReLU(2), two);
  f(nn::Embedding(9, 4), indices);
  f(nn::EmbeddingBag(9, 4), indices);
  f(nn::RNN(8, 3, {.batch_first = true}), steps, [](auto& m, const Tensor& x) { return m(x).output; });
  f(nn::GRU(8, 3, {.num_layers = 2, .batch_first = true}), steps, [](auto& m, const Tensor& x) { return m(x).output; });
  f(nn::LSTM(8, 4, {.batch_first = true, .bidirectional = true, .proj_size = 2}), steps,
    [](auto& m, const Tensor& x) { return m(x).output; });
  f(nn::RNNCell(4, 3), rows, [](auto& m, const Tensor& x) { return m(x); });
  f(nn::GRUCell(4, 3), rows, [](auto& m, const Tensor& x) { return m(x); });
  f(nn::LSTMCell(4, 3), rows, [](auto& m, const Tensor& x) { return m(x).h; });
  f(nn::MultiheadAttention(8, 2, {.batch_first = true}), steps, [](auto& m, const Tensor& x) { return m(x, x, x).attn_output; });
  f(nn::TransformerEncoderLayer(8, 2, layer), steps);
  f(nn::TransformerEncoder(nn::TransformerEncoderLayer(8, 2, layer), 2), steps);
  f(nn::TransformerDecoderLayer(8, 2, layer), steps, [](auto& m, const Tensor& x) { return m(x, x * 2); });
  f(nn::TransformerDecoder(nn::TransformerDecoderLayer(8, 2, layer), 2), steps, [](auto& m, const Tensor& x) { return m(x, x * 2); });
  f(nn::Transformer(8, 2, {.num_encoder_layers = 1, .num_decoder_layers = 1, .dim_feedforward = 12, .dropout = 0, .batch_first = true}),
    steps, [](auto& m, const Tensor& x) { return m(x, x * 2); });
  f(nn::AdaptiveLogSoftmaxWithLoss(4, 9, {3, 6}), rows, [](auto& m, const Tensor& x) { return m.log_prob(x); });
  f(nn::Sequential(nn::Linear(4, 5), nn::ReLU(), nn::Linear(5, 2)), rows);
}

}  // namespace tandem::testing
