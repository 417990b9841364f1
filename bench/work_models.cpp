#include "bench/work_models.h"

#include "tandem.h"

namespace tandem::bench {
namespace {

/// Attention to what came before, then two products with a GELU between; each added to its input.
struct GptBlock : nn::Module {
  nn::LayerNorm norm1, norm2;
  nn::Linear attention_in, attention_out, widen, narrow;
  int64_t heads;

  GptBlock(int64_t width, int64_t heads_)
      : norm1(width, {.bias = false}),
        norm2(width, {.bias = false}),
        attention_in(width, 3 * width, {.bias = false}),
        attention_out(width, width, {.bias = false}),
        widen(width, 4 * width, {.bias = false}),
        narrow(4 * width, width, {.bias = false}),
        heads(heads_) {}
  void fields(nn::Fields& f) override {
    f("norm1", norm1);
    f("norm2", norm2);
    f("attention_in", attention_in);
    f("attention_out", attention_out);
    f("widen", widen);
    f("narrow", narrow);
  }
  Tensor forward(const Tensor& x) override {
    std::vector<Tensor> parts = chunk(attention_in(norm1(x)), 3, 2);
    for (Tensor& part : parts) part = part.unflatten(2, {heads, -1}).transpose(1, 2);
    const Tensor seen = scaled_dot_product_attention(parts[0], parts[1], parts[2], {.is_causal = true});
    const Tensor y = x + attention_out(seen.transpose(1, 2).flatten(2));
    return y + narrow(gelu(widen(norm2(y))));
  }
  [[nodiscard]] int64_t multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> /*outputs*/) const override {
    const Tensor& x = inputs[0];  // a query sees half of the keys, in both products
    return x.size(0) * x.size(1) * (x.size(1) + 1) * x.size(2);
  }
};

/// Two 3x3 convolutions, each with a normalization and a ReLU.
nn::Sequential two_convolutions(int64_t in, int64_t out) {
  return nn::Sequential(nn::Conv2d(in, out, 3, {.padding = 1, .bias = false}), nn::BatchNorm2d(out), nn::ReLU(),
                        nn::Conv2d(out, out, 3, {.padding = 1, .bias = false}), nn::BatchNorm2d(out), nn::ReLU());
}

}  // namespace

Gpt::Gpt(const GptOptions& options)
    : tokens(options.vocabulary, options.width), places(options.length, options.width), norm(options.width, {.bias = false}) {
  for (int64_t i = 0; i < options.layers; ++i) blocks.push_back(GptBlock(options.width, options.heads));
  for (const Tensor& parameter : parameters())
    if (parameter.dim() == 2) nn::init::normal_(parameter, 0, 0.02);
}

void Gpt::fields(nn::Fields& f) {
  f("tokens", tokens);
  f("places", places);
  f("blocks", blocks);
  f("norm", norm);
}

Tensor Gpt::forward(const Tensor& x) {
  const Tensor embedded = tokens(x) + places(arange(x.size(1), {.device = x.device()}));
  return linear(norm(blocks(embedded)), tokens.weight);
}

int64_t Gpt::multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> /*outputs*/) const {
  return inputs[0].numel() * tokens.weight.numel();
}

UNet::UNet() : bottom(two_convolutions(64, 128)), head(16, 1, 1) {
  int64_t channels = 3;
  for (const int64_t out : {16, 32, 64}) {
    down.append(two_convolutions(channels, out));
    channels = out;
  }
  for (const int64_t out : {64, 32, 16}) {
    up.append(nn::ConvTranspose2d(2 * out, out, 2, {.stride = 2}));
    join.append(two_convolutions(2 * out, out));
  }
}

void UNet::fields(nn::Fields& f) {
  f("down", down);
  f("bottom", bottom);
  f("up", up);
  f("join", join);
  f("head", head);
}

Tensor UNet::forward(const Tensor& x) {
  std::vector<Tensor> kept;
  Tensor y = x;
  for (nn::Module& level : down) {
    kept.push_back(level(y));
    y = max_pool2d(kept.back(), 2);
  }
  y = bottom(y);
  for (int64_t i = 0; i < static_cast<int64_t>(up.size()); ++i) {
    y = join[i](cat(std::vector{kept.back(), up[i](y)}, 1));
    kept.pop_back();
  }
  return head(y);
}

}  // namespace tandem::bench
