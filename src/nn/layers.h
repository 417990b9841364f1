// Small layers: dropout, flattening, nothing at all, and tables of vectors.
#pragma once

#include <optional>

#include "nn/module.h"

namespace tandem::nn {

/// In training zeroes each element with probability p and scales the others by 1 / (1 - p); otherwise its input itself. As
/// torch.nn.Dropout.
struct Dropout : Module {
  double p;

  /// Error unless 0 <= p <= 1.
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// Merges the dimensions from `start_dim` to `end_dim` into one; the default keeps the batch's.
struct Flatten : Module {
  int64_t start_dim, end_dim;

  explicit Flatten(int64_t start_dim = 1, int64_t end_dim = -1) : start_dim(start_dim), end_dim(end_dim) {}
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// Its input itself.
struct Identity : Module {
  Tensor forward(const Tensor& x) override;
};

struct EmbeddingOptions {
  std::optional<int64_t> padding_idx = {};  // this row stays as it is: it gets no gradient, and starts at zero
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// A table of `num_embeddings` vectors; indices (…) to (…, embedding_dim). Starts normal(0, 1). As torch.nn.Embedding.
struct Embedding : Module {
  Tensor weight;  // (num_embeddings, embedding_dim)
  std::optional<int64_t> padding_idx;

  Embedding(int64_t num_embeddings, int64_t embedding_dim, const EmbeddingOptions& options = {}, Site site = Site::here());
  void fields(Fields& f) override;
  Tensor forward(const Tensor& indices) override;
  [[nodiscard]] std::string extra_repr() const override;
};

}  // namespace tandem::nn
