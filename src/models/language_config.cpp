#include "models/language_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/untrusted_json.h"
#include "io/named.h"

namespace tandem::models {
namespace {

using io::in_quotes;
using nlohmann::json;

constexpr int kDeepest = 16;
/// No model is larger, and products of three sizes can still be counted.
constexpr int64_t kMostLayers = 10'000, kMostSize = int64_t{1} << 20, kMostTokens = int64_t{1} << 30;

/// The settings of a config.json: a key that is missing or null has the default that the format gives it.
class Settings {
 public:
  explicit Settings(const json& all) : all_(all) {
    if (!all.is_object()) fail("is no JSON object");
  }

  [[nodiscard]] bool has(const char* key) const {
    const auto found = all_.find(key);
    return found != all_.end() && !found->is_null();
  }
  [[nodiscard]] int64_t whole(const char* key) const {
    if (!has(key)) fail("lacks ", key);
    return whole_of(key, all_.at(key));
  }
  [[nodiscard]] int64_t whole(const char* key, int64_t otherwise) const { return has(key) ? whole(key) : otherwise; }
  [[nodiscard]] double number(const char* key, double otherwise) const {
    if (!has(key)) return otherwise;
    if (!all_.at(key).is_number()) fail(key, " is no number");
    return all_.at(key).get<double>();
  }
  [[nodiscard]] bool flag(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!all_.at(key).is_boolean()) fail(key, " is neither true nor false");
    return all_.at(key).get<bool>();
  }
  [[nodiscard]] std::string text(const char* key, const std::string& otherwise) const {
    if (!has(key)) return otherwise;
    if (!all_.at(key).is_string()) fail(key, " is no text");
    return all_.at(key).get<std::string>();
  }
  [[nodiscard]] std::vector<int64_t> tokens(const char* key) const {
    std::vector<int64_t> all;
    if (!has(key)) return all;
    const json& value = all_.at(key);
    if (!value.is_array()) return {whole_of(key, value)};
    for (const json& token : value) all.push_back(whole_of(key, token));
    return all;
  }
  [[nodiscard]] Settings inside(const char* key) const { return Settings(all_.at(key)); }
  /// Error where a setting that is not supported has another value than the one that changes nothing.
  void only(const char* key, bool supported) const {
    if (flag(key, supported) != supported) fail(key, " ", supported ? "false" : "true", " is not supported");
  }

 private:
  static int64_t whole_of(const char* key, const json& value) {
    try {
      return detail::whole_number<int64_t>(value);
    } catch (const Error&) {
      fail(key, " is no whole number");
    }
  }
  const json& all_;
};

RotaryScaling scaling_of(const Settings& rope, int64_t positions) {
  RotaryScaling scaling;
  const std::string kind = rope.text("rope_type", rope.text("type", "default"));
  if (kind == "default") return scaling;
  if (kind != "linear" && kind != "llama3")
    fail("rotary positions of type ", in_quotes(kind), " are not supported; default, linear and llama3 are");
  scaling.kind = kind == "linear" ? RotaryScaling::Kind::Linear : RotaryScaling::Kind::Llama3;
  scaling.factor = rope.number("factor", 1);
  scaling.low_freq_factor = rope.number("low_freq_factor", 1);
  scaling.high_freq_factor = rope.number("high_freq_factor", 4);
  scaling.original_positions = rope.whole("original_max_position_embeddings", positions);
  return scaling;
}

LanguageModelConfig gpt2(const Settings& from) {
  from.only("scale_attn_weights", true);
  from.only("scale_attn_by_inverse_layer_idx", false);
  from.only("add_cross_attention", false);
  LanguageModelConfig config;
  config.kind = LanguageModelKind::Gpt2;
  config.vocab_size = from.whole("vocab_size", 50257);
  config.hidden_size = from.whole("n_embd", 768);
  config.intermediate_size = from.has("n_inner") ? from.whole("n_inner") : 4 * std::min(config.hidden_size, kMostSize);
  config.num_layers = from.whole("n_layer", 12);
  config.num_heads = from.whole("n_head", 12);
  config.num_positions = from.whole("n_positions", from.whole("n_ctx", 1024));
  config.norm_eps = from.number("layer_norm_epsilon", 1e-5);
  config.activation = from.text("activation_function", "gelu_new");
  config.tied_head = from.flag("tie_word_embeddings", true);
  config.num_key_value_heads = config.num_heads;
  config.head_dim = config.num_heads > 0 ? config.hidden_size / config.num_heads : 0;
  config.qkv_bias = config.output_bias = config.mlp_bias = true;
  return config;
}

LanguageModelConfig llama(const Settings& from, const std::string& type) {
  LanguageModelConfig config;
  config.vocab_size = from.whole("vocab_size");
  config.hidden_size = from.whole("hidden_size");
  config.intermediate_size = from.whole("intermediate_size");
  config.num_layers = from.whole("num_hidden_layers");
  config.num_heads = from.whole("num_attention_heads");
  config.num_key_value_heads = from.whole("num_key_value_heads", config.num_heads);
  config.head_dim = from.whole("head_dim", config.num_heads > 0 ? config.hidden_size / config.num_heads : 0);
  config.num_positions = from.whole("max_position_embeddings", 2048);
  config.norm_eps = from.number("rms_norm_eps", 1e-6);
  config.activation = from.text("hidden_act", "silu");
  config.tied_head = from.flag("tie_word_embeddings", false);
  config.qkv_bias = from.flag("attention_bias", type == "qwen2");
  config.output_bias = from.flag("attention_bias", false) && type == "llama";
  config.mlp_bias = from.flag("mlp_bias", false);
  config.rope_theta = from.number("rope_theta", 10000);
  for (const char* key : {"rope_scaling", "rope_parameters"})
    if (from.has(key)) {
      const Settings rope = from.inside(key);
      config.rope_theta = rope.number("rope_theta", config.rope_theta);
      if (rope.number("partial_rotary_factor", 1) != 1) fail(key, ": a partial_rotary_factor is not supported");
      config.rope_scaling = scaling_of(rope, config.num_positions);
    }
  if (from.number("partial_rotary_factor", 1) != 1) fail("a partial_rotary_factor is not supported");
  if (from.has("sliding_window") && from.flag("use_sliding_window", type != "qwen2"))
    config.num_positions = std::min(config.num_positions, from.whole("sliding_window"));
  return config;
}

}  // namespace

void LanguageModelConfig::check() const {
  const auto within = [](const char* what, int64_t value, int64_t most) {
    if (value < 1 || value > most) fail("[LanguageModelConfig] ", what, " has to be from 1 to ", most, ", but is ", value);
  };
  within("vocab_size", vocab_size, kMostTokens);
  within("hidden_size", hidden_size, kMostSize);
  within("intermediate_size", intermediate_size, 4 * kMostSize);
  within("num_layers", num_layers, kMostLayers);
  within("num_heads", num_heads, kMostSize);
  within("num_positions", num_positions, kMostTokens);
  within("num_key_value_heads", num_key_value_heads, kMostSize);
  within("head_dim", head_dim, kMostSize);
  if (num_heads % num_key_value_heads != 0)
    fail("[LanguageModelConfig] num_key_value_heads (", num_key_value_heads, ") has to divide num_heads (", num_heads, ")");
  if (kind == LanguageModelKind::Gpt2 && (num_key_value_heads != num_heads || head_dim * num_heads != hidden_size))
    fail("[LanguageModelConfig] num_heads (", num_heads, ") has to divide hidden_size (", hidden_size, ")");
  if (kind == LanguageModelKind::Llama && head_dim % 2 != 0)
    fail("[LanguageModelConfig] head_dim has to be even for rotary positions, but is ", head_dim);
  if (!(norm_eps > 0) || !std::isfinite(norm_eps)) fail("[LanguageModelConfig] norm_eps has to be above 0, but is ", norm_eps);
  if (!(rope_theta > 0) || !std::isfinite(rope_theta)) fail("[LanguageModelConfig] rope_theta has to be above 0, but is ", rope_theta);
  const RotaryScaling& scaling = rope_scaling;
  if (scaling.kind != RotaryScaling::Kind::None && !(scaling.factor > 0 && std::isfinite(scaling.factor)))
    fail("[LanguageModelConfig] the factor of rope_scaling has to be above 0, but is ", scaling.factor);
  if (scaling.kind == RotaryScaling::Kind::Llama3 &&
      !(scaling.low_freq_factor > 0 && scaling.high_freq_factor > scaling.low_freq_factor && scaling.original_positions > 0))
    fail("[LanguageModelConfig] rope_scaling needs 0 < low_freq_factor < high_freq_factor, but they are ", scaling.low_freq_factor, " and ",
         scaling.high_freq_factor, ", and original_max_position_embeddings above 0");
  constexpr const char* kActivations[] = {"silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu"};
  if (std::ranges::none_of(kActivations, [&](const char* known) { return activation == known; }))
    fail("[LanguageModelConfig] the activation ", in_quotes(activation),
         " is not supported; silu, gelu, gelu_new, gelu_pytorch_tanh and relu are");
}

std::vector<int64_t> parse_end_tokens(std::string_view text) {
  const json all = detail::parse_json<json>(text, kDeepest);
  return Settings(all).tokens("eos_token_id");
}

LanguageModelConfig parse_language_config(std::string_view text) {
  const json all = detail::parse_json<json>(text, kDeepest);
  const Settings settings(all);
  const std::string type = settings.text("model_type", "");
  LanguageModelConfig config;
  if (type == "gpt2") config = gpt2(settings);
  else if (type == "llama" || type == "mistral" || type == "qwen2") config = llama(settings, type);
  else if (type.empty()) fail("lacks model_type: is it the config.json of a language model?");
  else fail("a model of type ", in_quotes(type), " is not supported; gpt2, llama, mistral and qwen2 are");
  config.end_tokens = settings.tokens("eos_token_id");
  config.check();
  return config;
}

}  // namespace tandem::models
