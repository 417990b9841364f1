// Networks that `./dev bench work` measures and src/models does not have. bench/peer/work_models.py has the same, with the same names of
// their parts.
#pragma once

#include <cstdint>

#include "nn/nn.h"

namespace tandem::bench {

struct GptOptions {
  int64_t vocabulary = 65, length = 256;  // tokens that there are, and that it sees at once
  int64_t layers = 6, heads = 6, width = 384;
};

/// A decoder of text as nanoGPT's for characters (https://github.com/karpathy/nanoGPT, config/train_shakespeare_char.py): no biases, no
/// dropout, the last product shares its weight with the embedding.
struct Gpt : nn::Module {
  nn::Embedding tokens, places;
  nn::Sequential blocks;
  nn::LayerNorm norm;

  explicit Gpt(const GptOptions& options = {});
  void fields(nn::Fields& f) override;
  /// Tokens (n, t), t at most `length`, to logits (n, t, vocabulary).
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] int64_t multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const override;
};

/// A small U-Net (Ronneberger, Fischer and Brox, "U-Net: Convolutional Networks for Biomedical Image Segmentation") with batch
/// normalization: channels 16, 32, 64 and 128. (n, 3, h, w) to logits (n, 1, h, w); h and w are multiples of 8.
struct UNet : nn::Module {
  nn::ModuleList down, up, join;
  nn::Sequential bottom;
  nn::Conv2d head;

  UNet();
  void fields(nn::Fields& f) override;
  Tensor forward(const Tensor& x) override;
};

}  // namespace tandem::bench
