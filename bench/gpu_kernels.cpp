// Operations whose kernels are bound by memory, by the number of launches, or by what a library makes of their shapes.
#include <algorithm>
#include <memory>
#include <vector>

#include "bench/gpu_work.h"

namespace tandem::bench {
namespace {

/// A size that shrinks.
int64_t part(int64_t size, int64_t shrink) { return std::max<int64_t>(size / shrink, 2); }

double bytes_of(std::initializer_list<Tensor> tensors) {
  double bytes = 0;
  for (const Tensor& x : tensors) bytes += static_cast<double>(x.nbytes());
  return bytes;
}

/// What f makes of the inputs, and the gradients of all of them for a gradient of ones that lies dense.
template <class F>
GpuWork differentiated(std::vector<Tensor> inputs, F f) {
  for (Tensor& x : inputs) x.requires_grad_();
  const Tensor gradient = ones_like(f(inputs).detach());
  return {[=] { const std::vector<Tensor> gradients = grad({f(inputs)}, inputs, {.grad_outputs = {gradient}}); }};
}

GpuWork copy_rows(Device device, int64_t shrink) {
  const Tensor wide = zeros({part(65536, shrink), 600}, {.device = device}), from = wide.narrow(1, 4, 512),
               to = empty(from.sizes(), {.device = device});
  return {[=] { to.copy_(from); }, bytes_of({to, to})};
}
GpuWork copy_transposed(Device device, int64_t shrink) {
  const int64_t n = part(4096, shrink);
  const Tensor from = zeros({n, n}, {.device = device}).t(), to = empty({n, n}, {.device = device});
  return {[=] { to.copy_(from); }, bytes_of({to, to})};
}
GpuWork cast(Device device, int64_t shrink) {
  const Tensor from = zeros({part(64 << 20, shrink)}, {.device = device}), to = empty(from.sizes(), {.dtype = kBFloat16, .device = device});
  return {[=] { to.copy_(from); }, bytes_of({from, to})};
}
GpuWork add_row(Device device, int64_t shrink) {
  const Tensor x = zeros({part(16384, shrink), 4096}, {.device = device}), row = zeros({4096}, {.device = device});
  return {[=] { const Tensor y = x + row; }, bytes_of({x, x})};
}

template <int64_t kBatch, int64_t kSide>
GpuWork batch_norm_step(Device device, int64_t shrink) {
  const Tensor mean = zeros({64}, {.device = device}), variance = ones({64}, {.device = device});
  return differentiated(
      {randn({part(kBatch, shrink), 64, kSide, kSide}, {.device = device}), ones({64}, {.device = device}),
       zeros({64}, {.device = device})},
      [=](const std::vector<Tensor>& in) { return batch_norm(in[0], mean, variance, {.weight = in[1], .bias = in[2], .training = true}); });
}
GpuWork layer_norm_step(Device device, int64_t shrink) {
  return differentiated(
      {randn({part(8192, shrink), 1024}, {.device = device}), ones({1024}, {.device = device}), zeros({1024}, {.device = device})},
      [](const std::vector<Tensor>& in) { return layer_norm(in[0], {1024}, in[1], in[2]); });
}
GpuWork rms_norm_step(Device device, int64_t shrink) {
  return differentiated({randn({part(8192, shrink), 1024}, {.device = device}), ones({1024}, {.device = device})},
                        [](const std::vector<Tensor>& in) { return rms_norm(in[0], {1024}, in[1]); });
}
GpuWork softmax_step(Device device, int64_t shrink) {
  return differentiated({randn({part(8192, shrink), 1024}, {.device = device})},
                        [](const std::vector<Tensor>& in) { return softmax(in[0], 1); });
}
GpuWork max_pool_step(Device device, int64_t shrink) {
  return differentiated({randn({part(64, shrink), 64, 112, 112}, {.device = device})},
                        [](const std::vector<Tensor>& in) { return max_pool2d(in[0], 3, {.stride = 2, .padding = 1}); });
}
GpuWork linear_of_sum(Device device, int64_t shrink) {
  const std::vector<Tensor> in{randn({part(4096, shrink), 1024}, {.device = device}).requires_grad_(),
                               randn({1024, 1024}, {.device = device}).requires_grad_()};
  return {[=] { const std::vector<Tensor> gradients = grad({linear(in[0], in[1]).sum()}, in); }};
}
GpuWork join(Device device, int64_t shrink) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 64; ++i) parts.push_back(zeros({part(4096, shrink), 64}, {.device = device}));
  return {[=] { const Tensor y = cat(parts, 1); }};
}
GpuWork lstm(Device device, int64_t shrink) {
  const auto net = std::make_shared<nn::LSTM>(512, 512, nn::LSTMOptions{.num_layers = 2, .device = device});
  const Tensor x = randn({part(128, shrink), 32, 512}, {.device = device});
  return {[=] {
    net->zero_grad();
    (*net)(x).output.sum().backward();
  }};
}

/// As in generation: a step at a time, the state handed on.
GpuWork lstm_step(Device device, int64_t) {
  const auto net = std::make_shared<nn::LSTM>(512, 512, nn::LSTMOptions{.num_layers = 2, .device = device});
  const Tensor x = randn({1, 1, 512}, {.device = device});
  const auto state = std::make_shared<LstmState>();
  return {[=] {
    const NoGradGuard no_grad;
    *state = (*net)(x, *state).state;
  }};
}

/// Attention of 16 heads of 64 in bfloat16.
Tensor heads(Device device, int64_t batch, int64_t tokens) { return randn({batch, 16, tokens, 64}, {.device = device}).to(kBFloat16); }
template <int64_t kTokens>
GpuWork attention_step(Device device, int64_t shrink) {
  const int64_t tokens = part(kTokens, shrink);
  return differentiated({heads(device, 8, tokens), heads(device, 8, tokens), heads(device, 8, tokens)},
                        [](const std::vector<Tensor>& in) { return scaled_dot_product_attention(in[0], in[1], in[2]); });
}
GpuWork attention_token(Device device, int64_t shrink) {
  const Tensor q = heads(device, 8, 1), k = heads(device, 8, part(1024, shrink)), v = heads(device, 8, part(1024, shrink));
  return {[=] { const Tensor y = scaled_dot_product_attention(q, k, v); }};
}
/// A sequence that grows by a token at a time, as in generation.
GpuWork attention_growing(Device device, int64_t shrink) {
  const int64_t room = part(4096, shrink);
  const Tensor q = heads(device, 1, 1), k = heads(device, 1, room), v = heads(device, 1, room);
  const auto length = std::make_shared<int64_t>(0);
  return {[=] {
    *length = *length % room + 1;
    const Tensor y = scaled_dot_product_attention(q, k.narrow(2, 0, *length), v.narrow(2, 0, *length));
  }};
}
/// Four tokens to 1024, of 16 heads that share the keys of 4.
GpuWork attention_grouped(Device device, int64_t shrink) {
  const int64_t tokens = part(1024, shrink);
  const auto keys = [&] { return randn({8, 4, tokens, 64}, {.device = device}).to(kBFloat16); };
  const Tensor q = heads(device, 8, 4), k = keys(), v = keys();
  return {[=] { const Tensor y = scaled_dot_product_attention(q, k, v, {.enable_gqa = true}); }};
}

Tensor definite(Device device, int64_t count, int64_t n) {
  const Tensor x = randn({count, n, n}, {.device = device});
  return matmul(x, x.mT()) + n * eye(n, n, {.device = device});
}
GpuWork cholesky(Device device, int64_t shrink) {
  const Tensor x = definite(device, part(256, shrink), 32);
  return {[=] { const Tensor y = linalg::cholesky(x); }};
}
GpuWork inverse(Device device, int64_t shrink) {
  const Tensor x = definite(device, part(256, shrink), 32);
  return {[=] { const Tensor y = linalg::inv(x); }};
}
GpuWork qr(Device device, int64_t shrink) {
  const Tensor x = randn({part(256, shrink), 64, 32}, {.device = device});
  return {[=] { const auto y = linalg::qr(x); }};
}

constexpr GpuCase kCases[] = {
    {"copy_rows", "65536 rows of 512 floats out of rows of 600", copy_rows},
    {"copy_transposed", "a 4096x4096 matrix, transposed", copy_transposed},
    {"cast_bf16", "64M elements from float32 to bfloat16", cast},
    {"add_row", "16384x4096 plus a row", add_row},
    {"batch_norm", "batch norm in training and its gradients, 256x64x28x28", batch_norm_step<256, 28>},
    {"batch_norm_large", "the same, 128x64x112x112", batch_norm_step<128, 112>},
    {"layer_norm", "layer norm and its gradients, 8192x1024", layer_norm_step},
    {"rms_norm", "RMS norm and its gradients, 8192x1024", rms_norm_step},
    {"softmax", "softmax and its gradient, 8192x1024", softmax_step},
    {"max_pool", "max-pool 3x3, stride 2, and its gradient, 64x64x112x112", max_pool_step},
    {"linear_of_sum", "linear 4096x1024x1024, gradients of its sum", linear_of_sum},
    {"cat", "64 matrices 4096x64, side by side", join},
    {"lstm", "LSTM of 2 layers of 512, 128 steps of 32 rows, and its gradients", lstm},
    {"lstm_step", "one step of one row of the same, without gradients", lstm_step},
    {"attention_1024", "attention 8x16x1024x64 and its gradients, bfloat16", attention_step<1024>},
    {"attention_197", "the same with 197 tokens", attention_step<197>},
    {"attention_token", "attention of one token to 1024, 8x16 heads of 64, bfloat16", attention_token},
    {"attention_growing", "attention of one token to one more each time, 16 heads of 64", attention_growing},
    {"attention_grouped", "attention of 4 tokens to 1024, 8x16 heads of 64 that share the keys of 4", attention_grouped},
    {"cholesky", "Cholesky of 256 matrices 32x32", cholesky},
    {"inverse", "the inverses of 256 matrices 32x32", inverse},
    {"qr", "QR of 256 matrices 64x32", qr},
};

}  // namespace

std::span<const GpuCase> gpu_kernel_cases() { return kCases; }

}  // namespace tandem::bench
