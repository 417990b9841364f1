// Small networks: for digits, for pictures of 28x28 and 32x32, for texts, and for vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/recurrent.h"
#include "nn/sequential.h"

namespace tandem::models {

/// Linear layers with ReLU between them: sizes {784, 256, 10} make two. Takes (n, …) with sizes[0] numbers a sample.
[[nodiscard]] nn::Sequential mlp(const std::vector<int64_t>& sizes, Site = Site::here());

/// For the 8x8 digits: two 3x3 convolutions, pooling, dropout and two linear layers. (n, 1, 8, 8) to (n, 10).
[[nodiscard]] nn::Sequential digits_cnn();

/// PyTorch's MNIST example: convolutions to 32 and 64 channels, 9216 to 128 to 10. (n, 1, 28, 28) to (n, 10) logits.
[[nodiscard]] nn::Sequential mnist_cnn();

/// The LeNet of "Dive into Deep Learning" for several GPUs, its weights normal with deviation 0.01 and its biases 0. (n, 1, 28, 28) to
/// (n, 10).
[[nodiscard]] nn::Sequential d2l_lenet();

/// Four convolutions and two linear layers for CIFAR-10: (n, 3, 32, 32) to (n, 10). Weights and biases start uniform within
/// ±1/sqrt(fan_in).
[[nodiscard]] nn::Sequential cifar_cnn();

struct TextGruOptions {
  int64_t vocabulary = 30000, embedding = 125, hidden = 100, num_classes = 2;
};

/// Tokens (n, t) to (n, num_classes): an embedding, a GRU whose parameters start uniform within ±0.1, and a linear layer on its last
/// output.
struct TextGru : nn::Module {
  nn::Embedding embedding;
  nn::GRU gru;
  nn::Linear output;

  explicit TextGru(const TextGruOptions& options = {});
  void fields(nn::Fields& f) override;
  void settings(nn::Settings&) override {}
  Tensor forward(const Tensor& tokens) override;
};

}  // namespace tandem::models
