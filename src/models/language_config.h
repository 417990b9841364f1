// What a language model is made of: the sizes and kinds of its parts, as the config.json of a folder of Hugging Face's says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::models {

/// The two shapes of decoders that there are.
enum class LanguageModelKind {
  Gpt2,   // LayerNorm, learned positions, one linear layer for query, key and value, all with biases
  Llama,  // RMSNorm, rotary positions, groups of heads that share key and value, a gated MLP
};

/// How the angles of rotary positions are stretched for texts that are longer than those of the first training.
struct RotaryScaling {
  /// None, all angles alike, or slow ones only as Llama 3 does.
  enum class Kind { None, Linear, Llama3 };
  Kind kind = Kind::None;
  double factor = 1;
  double low_freq_factor = 1, high_freq_factor = 4;  // these three of Llama3
  int64_t original_positions = 8192;
};

/// Sizes and kinds of a LanguageModel's parts. Those at the end are of models of Llama's kind.
struct LanguageModelConfig {
  LanguageModelKind kind = LanguageModelKind::Llama;
  int64_t vocab_size = 0;         // tokens that there are
  int64_t hidden_size = 0;        // numbers for a token
  int64_t intermediate_size = 0;  // inside of an MLP
  int64_t num_layers = 0;
  int64_t num_heads = 0;
  int64_t num_positions = 0;  // the longest text, in tokens
  double norm_eps = 1e-5;
  std::string activation = "silu";       // of the MLP: silu, gelu, gelu_new, gelu_pytorch_tanh or relu
  bool tied_head = false;                // the last layer's weight is the table of embeddings
  std::vector<int64_t> end_tokens = {};  // each ends a text

  int64_t num_key_value_heads = 0;  // divides num_heads
  int64_t head_dim = 0;
  bool qkv_bias = false, output_bias = false, mlp_bias = false;
  double rope_theta = 10000;
  RotaryScaling rope_scaling = {};

  /// Error where sizes are not above 0 or do not fit each other.
  void check() const;
};

/// Reads the text of a config.json: of model_type gpt2, llama, mistral or qwen2. A window that attention is limited to (mistral's
/// sliding_window) limits `num_positions`, up to which it changes nothing. Error for other kinds, and for settings that would change what
/// the model computes and are not supported.
[[nodiscard]] LanguageModelConfig parse_language_config(std::string_view json);
/// The eos_token_id of a config.json or generation_config.json: a number, or several.
[[nodiscard]] std::vector<int64_t> parse_end_tokens(std::string_view json);

}  // namespace tandem::models
