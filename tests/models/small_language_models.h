// Language models of a few numbers, for tests: the settings and weights of make_language_models.py.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/language_model.h"
#include "ops/creation.h"
#include "ops/view.h"

namespace small {

inline constexpr const char* kGpt2 =
    R"({"model_type": "gpt2", "vocab_size": 40, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32})";
inline constexpr const char* kLlama = R"({"model_type": "llama", "vocab_size": 40, "hidden_size": 16, "intermediate_size": 24,
  "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
  "rope_theta": 10000.0, "eos_token_id": [38, 39]})";
inline constexpr const char* kLlama3 = R"({"model_type": "llama", "vocab_size": 40, "hidden_size": 16, "intermediate_size": 24,
  "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 12, "max_position_embeddings": 64,
  "rms_norm_eps": 1e-5, "rope_theta": 500.0, "tie_word_embeddings": true, "attention_bias": true, "mlp_bias": true,
  "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 16}})";

/// The numbers that make_language_models.py makes for a name.
inline tandem::Tensor weight(const std::string& name, const tandem::Shape& sizes) {
  uint32_t state = 2166136261;
  for (const char byte : name) state = (state ^ static_cast<uint8_t>(byte)) * 16777619;
  const bool is_norm = name.find("norm") != std::string::npos || name.find("ln_") != std::string::npos;
  std::vector<double> values;
  for (int64_t i = 0; i < sizes.numel(); ++i) {
    state = state * 1664525 + 1013904223;
    values.push_back(((state >> 8) / 16777216.0 - 0.5) * (sizes.size() == 2 ? 0.6 : 0.4) + (is_norm ? 1 : 0));
  }
  return tandem::tensor(values, {.dtype = tandem::kFloat32}).view(sizes);
}

/// All weights that a model of these settings has, by name.
inline tandem::io::TensorMap weights_of(const char* config) {
  tandem::models::LanguageModel like(tandem::models::parse_language_config(config));
  tandem::io::TensorMap weights;
  for (const auto& [name, parameter] : like.named_parameters()) weights[name] = weight(name, parameter.sizes());
  return weights;
}

inline tandem::models::LanguageModel model(const char* config, const tandem::Options& options = {}) {
  return {tandem::models::parse_language_config(config), weights_of(config), options};
}

}  // namespace small
