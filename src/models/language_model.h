// Decoders of text: networks that say, of each token of a text, which one may follow. Of Llama's shape (Touvron et al., "LLaMA: Open and
// Efficient Foundation Language Models") and of GPT-2's (Radford et al., "Language Models are Unsupervised Multitask Learners").
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/safetensors.h"
#include "models/key_value_cache.h"
#include "models/language_config.h"
#include "nn/module.h"

namespace tandem::models {

/// Tokens (n, t) to logits (n, t, vocab_size): row i is of the token after token i, and depends on those up to i. Names and sizes of its
/// parameters are those of Hugging Face's files: model.layers.0.self_attn.q_proj.weight, h.0.attn.c_attn.weight.
struct LanguageModel : nn::Module {
  /// With random weights, normal(0, 0.02), to be trained.
  explicit LanguageModel(const LanguageModelConfig& config, const Options& options = {}, Site site = Site::here());
  /// With the weights of a file, which are moved to the device and dtype of `options`; without a dtype they keep theirs. Names may lack
  /// "model.", or have "transformer." in front. Error for a weight that is missing or has other sizes. Others are passed over.
  LanguageModel(const LanguageModelConfig& config, io::TensorMap weights, const Options& options = {}, Site site = Site::here());

  void fields(nn::Fields& f) override;
  Tensor forward(const Tensor& tokens) override;
  /// Logits (n, vocab_size) of the token that follows `tokens` (n, t), which follow those in the cache, where they are added. Without
  /// gradients. Error where the text is longer than num_positions.
  [[nodiscard]] Tensor next(const Tensor& tokens, KeyValueCache& cache, Site site = Site::here());

  /// What it was made of.
  [[nodiscard]] const LanguageModelConfig& config() const { return config_; }
  [[nodiscard]] std::string extra_repr() const override;

 private:
  struct Layer {
    Tensor norm1, norm1_bias, norm2, norm2_bias;
    Tensor query, query_bias, key, key_bias, value, value_bias;  // of GPT-2, query is all three
    Tensor output, output_bias, gate, up, up_bias, gate_bias, down, down_bias;
  };
  /// Cosines and sines of the positions' angles, (t, head_dim / 2); undefined where positions are learned.
  struct Rotation {
    Tensor cos, sin;
  };
  using EachWeight = std::function<void(const std::string& name, Tensor& weight, const Shape& sizes)>;

  void each_weight(const EachWeight& f);
  [[nodiscard]] Tensor hidden(const Tensor& tokens, KeyValueCache* cache, Site site);
  [[nodiscard]] Tensor head(const Tensor& x, Site site) const;
  [[nodiscard]] Tensor attention(const Layer& layer, size_t number, const Tensor& x, const Rotation& rotation, const Tensor& mask,
                                 KeyValueCache* cache, Site site) const;
  [[nodiscard]] Tensor mlp(const Layer& layer, const Tensor& x, Site site) const;
  [[nodiscard]] Tensor norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Site site) const;
  [[nodiscard]] Tensor project(const Tensor& x, const Tensor& weight, const Tensor& bias, Site site) const;
  [[nodiscard]] Rotation rotation(int64_t first, int64_t count, Site site) const;

  LanguageModelConfig config_;
  Tensor embeddings_, positions_, norm_, norm_bias_, head_;
  std::vector<Layer> layers_;
  std::vector<float> frequencies_;  // of rotary positions
};

}  // namespace tandem::models
