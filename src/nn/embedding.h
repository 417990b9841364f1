// Tables of vectors: rows one by one, and bags of them.
#pragma once

#include <optional>
#include <string>

#include "nn/module.h"

namespace tandem::nn {

struct EmbeddingOptions {
  std::optional<int64_t> padding_idx = {};  // this row stays as it is: it gets no gradient, and starts at zero
  std::optional<double> max_norm = {};      // rows in use that are longer are scaled down to it, in place, at each forward
  double norm_type = 2;                     // which norm that is
  bool scale_grad_by_freq = false;          // a row's gradient is divided by how often its index occurs
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// A table of `num_embeddings` vectors; indices (…) to (…, embedding_dim). Starts normal(0, 1). As torch.nn.Embedding.
struct Embedding : Module {
  Tensor weight;  // (num_embeddings, embedding_dim)
  std::optional<int64_t> padding_idx;
  std::optional<double> max_norm;
  double norm_type;
  bool scale_grad_by_freq;

  Embedding(int64_t num_embeddings, int64_t embedding_dim, const EmbeddingOptions& options = {}, Site site = Site::here());
  /// A table of the rows of `embeddings` (n, d), which it shares; without gradients if `freeze`. As torch.nn.Embedding.from_pretrained.
  [[nodiscard]] static Embedding from_pretrained(const Tensor& embeddings, Flag freeze = true, const EmbeddingOptions& options = {},
                                                 Site site = Site::here());
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& indices) override;
  /// Draws the table anew.
  void reset_parameters(Site site = Site::here());
  [[nodiscard]] std::string extra_repr() const override;
};

struct EmbeddingBagOptions {
  std::optional<double> max_norm = {};  // as for Embedding
  double norm_type = 2;
  bool scale_grad_by_freq = false;
  std::string mode = "mean";                // sum, mean or max of a bag's rows
  bool include_last_offset = false;         // offsets ends with the number of indices
  std::optional<int64_t> padding_idx = {};  // indices that don't count
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// Sums, means or maxima of rows of a table: indices (bags, n), or (n) with the `offsets` where each bag begins, to (bags, embedding_dim).
/// `per_sample_weights`, of the indices' sizes, are factors of the rows of a sum. Starts normal(0, 1). As torch.nn.EmbeddingBag.
struct EmbeddingBag : Module {
  Tensor weight;  // (num_embeddings, embedding_dim)
  EmbeddingBagOptions options;

  EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim, EmbeddingBagOptions options = {}, Site site = Site::here());
  /// Bags of the rows of `embeddings` (n, d), which it shares; without gradients if `freeze`. As torch.nn.EmbeddingBag.from_pretrained.
  [[nodiscard]] static EmbeddingBag from_pretrained(const Tensor& embeddings, Flag freeze = true, const EmbeddingBagOptions& options = {},
                                                    Site site = Site::here());
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& indices) override;
  Tensor forward(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights = {}, Site site = Site::here());
  using Module::operator();
  Tensor operator()(const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights = {}, Site site = Site::here());
  /// Draws the table anew.
  void reset_parameters(Site site = Site::here());
  [[nodiscard]] std::string extra_repr() const override;
};

}  // namespace tandem::nn
