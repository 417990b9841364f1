#include "models/gguf_model.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

#include "autograd/autograd.h"
#include "base/error.h"
#include "io/gguf.h"
#include "io/gguf_header.h"
#include "io/gguf_settings.h"
#include "io/named.h"
#include "models/rotary.h"
#include "models/settings_file.h"
#include "models/tokenizer_reader.h"

namespace tandem::models {
namespace {

constexpr const char* kOp = "load_language_model";

/// A part of each layer, as GGUF files call it and as Hugging Face's do.
struct PartName {
  std::string_view gguf, llama, gpt2;
};
constexpr PartName kParts[] = {
    {"attn_norm", "input_layernorm", "ln_1"},
    {"attn_q", "self_attn.q_proj", ""},
    {"attn_k", "self_attn.k_proj", ""},
    {"attn_v", "self_attn.v_proj", ""},
    {"attn_qkv", "", "attn.c_attn"},
    {"attn_output", "self_attn.o_proj", "attn.c_proj"},
    {"ffn_norm", "post_attention_layernorm", "ln_2"},
    {"ffn_gate", "mlp.gate_proj", ""},
    {"ffn_up", "mlp.up_proj", "mlp.c_fc"},
    {"ffn_down", "mlp.down_proj", "mlp.c_proj"},
};
constexpr PartName kWhole[] = {
    {"token_embd", "model.embed_tokens", "wte"},
    {"position_embd", "", "wpe"},
    {"output_norm", "model.norm", "ln_f"},
    {"output", "lm_head", "lm_head"},
};

/// The name that a LanguageModel gives the tensor `name` of a file; empty where it has none.
std::string name_of(std::string_view name, LanguageModelKind kind) {
  const size_t point = name.rfind('.');
  if (point == std::string_view::npos) return "";
  const std::string_view ending = name.substr(point);  // .weight or .bias
  std::string_view part = name.substr(0, point);
  std::string begin;
  std::span<const PartName> names = kWhole;
  if (part.starts_with("blk.")) {
    part.remove_prefix(4);
    const size_t end = part.find('.');
    if (end == std::string_view::npos) return "";
    begin = str(kind == LanguageModelKind::Llama ? "model.layers." : "h.", part.substr(0, end), ".");
    part.remove_prefix(end + 1);
    names = kParts;
  }
  const auto found = std::ranges::find(names, part, &PartName::gguf);
  if (found == names.end()) return "";
  const std::string_view ours = kind == LanguageModelKind::Llama ? found->llama : found->gpt2;
  return ours.empty() ? "" : str(begin, ours, ending);
}

/// Rows of query and key, which a converter puts in the order that pairs neighbours, in the order that pairs the halves of a head.
Tensor halves_of_heads(const Tensor& x, int64_t heads, Site site) {
  const Shape& sizes = x.sizes();
  if (heads < 1 || sizes.empty() || sizes[0] % (2 * heads) != 0) fail("a query or key of sizes ", sizes, " has not ", heads, " heads");
  Shape apart = {heads, sizes[0] / heads / 2, 2};
  for (size_t d = 1; d < sizes.size(); ++d) apart.push_back(sizes[d]);
  return x.reshape(apart, site).transpose(1, 2, site).reshape(sizes, site);
}

/// What Llama 3 does to slow angles is written out, frequency by frequency: the settings that give these factors.
RotaryScaling scaling_of(const Tensor& factors, const LanguageModelConfig& config, int64_t original_positions) {
  const Tensor host = factors.cpu().to(kFloat32).contiguous();
  RotaryScaling scaling{.kind = RotaryScaling::Kind::Llama3};
  scaling.original_positions = original_positions;
  scaling.factor = host.numel() > 0 ? static_cast<double>(host.max().item<float>()) : 0;
  bool fits = host.numel() == config.head_dim / 2;
  for (int64_t i = 0; fits && i < host.numel(); ++i) {
    const double expected = rotary_frequency(config, {}, i) / rotary_frequency(config, scaling, i), given = host.data_ptr<float>()[i];
    fits = std::abs(given - expected) <= 1e-3 * expected;
  }
  if (!fits) fail("the factors of its angles, rope_freqs.weight, are not those of Llama 3, and others are not supported");
  return scaling;
}

LanguageModelConfig config_of(const io::GgufFile& file, LanguageModelKind kind, const io::GgufSettings& from) {
  const auto has = [&](const char* tensor) { return file.tensors.contains(tensor); };
  if (!has("token_embd.weight")) fail("lacks the tensor token_embd.weight");
  const bool llama = kind == LanguageModelKind::Llama;
  LanguageModelConfig config;
  config.kind = kind;
  config.vocab_size = file.tensors.at("token_embd.weight").size(0);
  config.hidden_size = from.whole("embedding_length");
  config.intermediate_size = from.whole("feed_forward_length");
  config.num_layers = from.whole("block_count");
  config.num_heads = from.whole("attention.head_count");
  config.num_key_value_heads = from.whole("attention.head_count_kv", config.num_heads);
  config.head_dim = from.whole("attention.key_length", config.num_heads > 0 ? config.hidden_size / config.num_heads : 0);
  if (from.whole("attention.value_length", config.head_dim) != config.head_dim)
    fail("values of another length than keys are not supported");
  config.num_positions = from.whole("context_length");
  config.tied_head = !has("output.weight");
  if (!llama) {
    config.norm_eps = from.number("attention.layer_norm_epsilon", 1e-5);
    config.activation = "gelu_new";
    config.qkv_bias = config.output_bias = config.mlp_bias = true;
    return config;
  }
  config.norm_eps = from.number("attention.layer_norm_rms_epsilon", 1e-6);
  config.qkv_bias = has("blk.0.attn_q.bias");
  config.output_bias = has("blk.0.attn_output.bias");
  config.mlp_bias = has("blk.0.ffn_down.bias");
  if (has("blk.0.ffn_gate_inp.weight")) fail("a mixture of experts is not supported");
  config.rope_theta = from.number("rope.freq_base", 10000);
  if (from.whole("rope.dimension_count", config.head_dim) != config.head_dim)
    fail("rotary positions of a part of each head are not supported");
  if (from.whole("attention.sliding_window", 0) > 0)
    config.num_positions = std::min(config.num_positions, from.whole("attention.sliding_window"));
  const std::string scaling = from.text("rope.scaling.type", "none");
  if (scaling == "linear") config.rope_scaling = {.kind = RotaryScaling::Kind::Linear, .factor = from.number("rope.scaling.factor", 1)};
  else if (scaling != "none") fail("rotary positions of type ", io::in_quotes(scaling), " are not supported; linear is");
  if (has("rope_freqs.weight"))
    config.rope_scaling =
        scaling_of(file.tensors.at("rope_freqs.weight"), config, from.whole("rope.scaling.original_context_length", 8192));
  return config;
}

std::vector<int64_t> end_tokens_of(const io::MetadataMap& metadata) {
  const io::GgufSettings settings(metadata, "tokenizer.ggml.");
  std::vector<int64_t> tokens;
  for (const char* key : {"eos_token_id", "eot_token_id", "eom_token_id"})
    if (settings.has(key)) tokens.push_back(settings.whole(key));
  return tokens;
}

std::string architecture_of(const io::MetadataMap& metadata) {
  const std::string architecture = io::GgufSettings(metadata, "general.").text("architecture");
  if (architecture != "llama" && architecture != "qwen2" && architecture != "gpt2")
    fail("a model of the architecture ", io::in_quotes(architecture), " is not supported; llama, qwen2 and gpt2 are");
  return architecture;
}

LanguageModel model_of(io::GgufFile file, const std::string& architecture, const Options& options, Site site) {
  const NoGradGuard no_grad;
  const LanguageModelKind kind = architecture == "gpt2" ? LanguageModelKind::Gpt2 : LanguageModelKind::Llama;
  LanguageModelConfig config = config_of(file, kind, io::GgufSettings(file.metadata, architecture + "."));
  config.end_tokens = end_tokens_of(file.metadata);
  Options placed = options;
  if (!placed.dtype) placed.dtype = file.tensors.at("token_embd.weight").dtype();
  io::TensorMap weights;
  for (auto& [name, tensor] : file.tensors) {
    const std::string ours = name_of(name, kind);
    if (ours.empty()) continue;
    Tensor weight = std::move(tensor);
    if (kind == LanguageModelKind::Gpt2 && weight.dim() == 2 && !ours.starts_with("w") && ours != "lm_head.weight")
      weight = weight.t(site).contiguous(site);
    if (architecture == "llama" && ours.find("self_attn.q_proj") != std::string::npos)
      weight = halves_of_heads(weight, config.num_heads, site);
    if (architecture == "llama" && ours.find("self_attn.k_proj") != std::string::npos)
      weight = halves_of_heads(weight, config.num_key_value_heads, site);
    weights.emplace(ours, std::move(weight));
  }
  LanguageModel model(config, std::move(weights), placed, site);
  model.eval();
  return model;
}

}  // namespace

bool is_gguf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string magic(io::kGgufMagic.size(), '\0');
  return file.read(magic.data(), static_cast<std::streamsize>(magic.size())) && magic == io::kGgufMagic;
}

LanguageModel load_gguf_model(const std::string& path, const Options& options, Site site) {
  // Before a tensor is read, and decoded.
  const std::string architecture = made_of(kOp, path, [&] { return architecture_of(io::load_gguf_metadata(path)); });
  io::GgufFile file = io::read_gguf(path, cpu(), {}, site);
  return made_of(kOp, path, [&] { return model_of(std::move(file), architecture, options, site); });
}

Tokenizer load_gguf_tokenizer(const std::string& path) {
  const io::MetadataMap metadata = io::load_gguf_metadata(path);
  return made_of("Tokenizer", path, [&] { return TokenizerReader::read_gguf(metadata); });
}

}  // namespace tandem::models
