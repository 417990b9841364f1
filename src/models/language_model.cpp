#include "models/language_model.h"

#include <cmath>

#include "autograd/autograd.h"
#include "base/error.h"
#include "io/named.h"
#include "models/rotary.h"
#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/creation.h"
#include "ops/embedding.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/matmul.h"
#include "ops/normalization.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/random.h"
#include "ops/view.h"

namespace tandem::models {
namespace {

std::vector<float> frequencies_of(const LanguageModelConfig& config) {
  std::vector<float> all;
  for (int64_t pair = 0; pair < config.head_dim / 2; ++pair)
    all.push_back(static_cast<float>(rotary_frequency(config, config.rope_scaling, pair)));
  return all;
}

/// (n, h, t, d) with each pair of numbers d[i], d[i + d / 2] turned by its angle.
Tensor rotated(const Tensor& x, const Tensor& cos, const Tensor& sin, Site site) {
  const int64_t half = x.size(-1) / 2;
  const Tensor a = x.narrow(-1, 0, half, site), b = x.narrow(-1, half, half, site);
  return cat({a * cos - b * sin, b * cos + a * sin}, -1, site);
}

}  // namespace

void LanguageModel::each_weight(const EachWeight& f) {
  const LanguageModelConfig& c = config_;
  const bool llama = c.kind == LanguageModelKind::Llama;
  const int64_t wide = c.hidden_size, inside = c.intermediate_size;
  // GPT-2's linear layers keep their weights transposed.
  const auto linear = [&](const std::string& name, Tensor& weight, Tensor& bias, int64_t out, int64_t in, bool has_bias) {
    f(name + ".weight", weight, llama ? Shape{out, in} : Shape{in, out});
    if (has_bias) f(name + ".bias", bias, {out});
  };
  const auto norm = [&](const std::string& name, Tensor& weight, Tensor& bias) {
    f(name + ".weight", weight, {wide});
    if (!llama) f(name + ".bias", bias, {wide});
  };
  f(llama ? "model.embed_tokens.weight" : "wte.weight", embeddings_, {c.vocab_size, wide});
  if (!llama) f("wpe.weight", positions_, {c.num_positions, wide});
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const std::string at = (llama ? "model.layers." : "h.") + std::to_string(i) + ".";
    norm(at + (llama ? "input_layernorm" : "ln_1"), layer.norm1, layer.norm1_bias);
    const int64_t queries = c.num_heads * c.head_dim, keys = c.num_key_value_heads * c.head_dim;
    if (llama) {
      linear(at + "self_attn.q_proj", layer.query, layer.query_bias, queries, wide, c.qkv_bias);
      linear(at + "self_attn.k_proj", layer.key, layer.key_bias, keys, wide, c.qkv_bias);
      linear(at + "self_attn.v_proj", layer.value, layer.value_bias, keys, wide, c.qkv_bias);
    } else {
      linear(at + "attn.c_attn", layer.query, layer.query_bias, queries + 2 * keys, wide, c.qkv_bias);
    }
    linear(at + (llama ? "self_attn.o_proj" : "attn.c_proj"), layer.output, layer.output_bias, wide, queries, c.output_bias);
    norm(at + (llama ? "post_attention_layernorm" : "ln_2"), layer.norm2, layer.norm2_bias);
    if (llama) linear(at + "mlp.gate_proj", layer.gate, layer.gate_bias, inside, wide, c.mlp_bias);
    linear(at + (llama ? "mlp.up_proj" : "mlp.c_fc"), layer.up, layer.up_bias, inside, wide, c.mlp_bias);
    linear(at + (llama ? "mlp.down_proj" : "mlp.c_proj"), layer.down, layer.down_bias, wide, inside, c.mlp_bias);
  }
  norm(llama ? "model.norm" : "ln_f", norm_, norm_bias_);
  if (!c.tied_head) f("lm_head.weight", head_, {c.vocab_size, wide});
}

LanguageModel::LanguageModel(const LanguageModelConfig& config, const Options& options, Site site) : config_(config) {
  config_.check();
  layers_.resize(static_cast<size_t>(config.num_layers));
  frequencies_ = frequencies_of(config);
  Options placed = options;
  placed.requires_grad = true;
  each_weight([&](const std::string& name, Tensor& weight, const Shape& sizes) {
    if (sizes.size() == 1) weight = name.ends_with(".bias") ? zeros(sizes, placed, site) : ones(sizes, placed, site);
    else weight = (randn(sizes, options, site) * 0.02).requires_grad_();
  });
}

LanguageModel::LanguageModel(const LanguageModelConfig& config, io::TensorMap weights, const Options& options, Site site)
    : config_(config) {
  config_.check();
  layers_.resize(static_cast<size_t>(config.num_layers));
  frequencies_ = frequencies_of(config);
  const Device device = options.device.value_or(Device());
  each_weight([&](const std::string& name, Tensor& weight, const Shape& sizes) {
    auto found = weights.find(name);
    if (found == weights.end()) found = weights.find("transformer." + name);
    if (found == weights.end() && name.starts_with("model.")) found = weights.find(name.substr(6));
    if (found == weights.end())
      fail("[LanguageModel] there is no weight ", io::in_quotes(name), " of sizes ", sizes, ", which the config asks for");
    const Tensor& given = found->second;
    if (given.sizes() != sizes)
      fail("[LanguageModel] the weight ", io::in_quotes(name), " has the sizes ", given.sizes(), ", but the config asks for ", sizes);
    if (!is_floating(given.dtype()))
      fail("[LanguageModel] the weight ", io::in_quotes(name), " is of ", given.dtype(), ", which is no floating dtype");
    weight = given.to(device, options.dtype.value_or(given.dtype()), {}, site).detach();
    weight.requires_grad_();
    weights.erase(found);  // one copy at a time
  });
}

void LanguageModel::fields(nn::Fields& f) {
  each_weight([&](const std::string& name, Tensor& weight, const Shape&) { f(name, weight); });
}

std::string LanguageModel::extra_repr() const {
  return str(config_.kind == LanguageModelKind::Llama ? "llama" : "gpt2", ", layers=", config_.num_layers,
             ", hidden_size=", config_.hidden_size, ", heads=", config_.num_heads, ", vocab_size=", config_.vocab_size);
}

Tensor LanguageModel::norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Site site) const {
  if (config_.kind == LanguageModelKind::Llama) return rms_norm(x, {config_.hidden_size}, weight, config_.norm_eps, site);
  return layer_norm(x, {config_.hidden_size}, weight, bias, config_.norm_eps, site);
}

Tensor LanguageModel::project(const Tensor& x, const Tensor& weight, const Tensor& bias, Site site) const {
  return linear(x, config_.kind == LanguageModelKind::Llama ? weight : weight.t(site), bias, site);
}

LanguageModel::Rotation LanguageModel::rotation(int64_t first, int64_t count, Site site) const {
  if (config_.kind != LanguageModelKind::Llama) return {};
  const auto half = static_cast<int64_t>(frequencies_.size());
  const Tensor cos = empty({count, half}, {.dtype = kFloat32}, site), sin = empty({count, half}, {.dtype = kFloat32}, site);
  auto *to_cos = cos.data_ptr<float>(site), *to_sin = sin.data_ptr<float>(site);
  for (int64_t position = first; position < first + count; ++position)
    for (const float frequency : frequencies_) {
      const float angle = static_cast<float>(position) * frequency;
      *to_cos++ = std::cos(angle);
      *to_sin++ = std::sin(angle);
    }
  const Device device = embeddings_.device();
  return {cos.to(device, embeddings_.dtype(), {}, site), sin.to(device, embeddings_.dtype(), {}, site)};
}

Tensor LanguageModel::attention(const Layer& layer, size_t number, const Tensor& x, const Rotation& rotation, const Tensor& mask,
                                KeyValueCache* cache, Site site) const {
  const int64_t n = x.size(0), t = x.size(1);
  const auto heads = [&](const Tensor& flat, int64_t count) {
    return flat.view({n, t, count, config_.head_dim}, site).transpose(1, 2, site);
  };
  Tensor query = project(x, layer.query, layer.query_bias, site), key, value;
  if (layer.key.defined()) {
    key = project(x, layer.key, layer.key_bias, site);
    value = project(x, layer.value, layer.value_bias, site);
  } else {
    const auto parts = query.chunk(3, -1, site);
    query = parts[0];
    key = parts[1];
    value = parts[2];
  }
  query = heads(query, config_.num_heads);
  key = heads(key, config_.num_key_value_heads);
  value = heads(value, config_.num_key_value_heads);
  if (rotation.cos.defined()) {
    query = rotated(query, rotation.cos, rotation.sin, site);
    key = rotated(key, rotation.cos, rotation.sin, site);
  }
  if (cache) {
    const auto all = cache->append(number, key, value, site);
    key = all.keys;
    value = all.values;
  }
  const bool grouped = config_.num_heads != config_.num_key_value_heads;
  const Tensor y = scaled_dot_product_attention(query, key, value,
                                                {.attn_mask = mask, .is_causal = !mask.defined() && t > 1, .enable_gqa = grouped}, site);
  return project(y.transpose(1, 2, site).reshape({n, t, config_.num_heads * config_.head_dim}, site), layer.output, layer.output_bias,
                 site);
}

Tensor LanguageModel::mlp(const Layer& layer, const Tensor& x, Site site) const {
  const auto activated = [&](const Tensor& inside) {
    const std::string& name = config_.activation;
    if (name == "silu") return silu(inside, site);
    if (name == "relu") return relu(inside, site);
    return gelu(inside, name == "gelu" ? "none" : "tanh", site);
  };
  Tensor inside = project(x, layer.up, layer.up_bias, site);
  if (layer.gate.defined()) inside = activated(project(x, layer.gate, layer.gate_bias, site)) * inside;
  else inside = activated(inside);
  return project(inside, layer.down, layer.down_bias, site);
}

Tensor LanguageModel::hidden(const Tensor& tokens, KeyValueCache* cache, Site site) {
  if (tokens.dim() != 2 || tokens.numel() == 0)
    fail("[LanguageModel] tokens have to be (n, t), at least one, but have the sizes ", tokens.sizes());
  const int64_t past = cache ? cache->length() : 0, t = tokens.size(1);
  if (past + t > config_.num_positions)
    fail("[LanguageModel] a text of ", past + t, " tokens is longer than the ", config_.num_positions, " positions of the model");
  Tensor x = embedding(tokens, embeddings_, {}, {}, 2, false, site);
  if (positions_.defined()) x = x + positions_.narrow(0, past, t, site);
  const Rotation turned = rotation(past, t, site);
  // Token i of those given sees the past, and those up to itself.
  const Tensor mask = past > 0 && t > 1 ? tril(ones({t, past + t}, {.dtype = kBool, .device = x.device()}, site), past, site) : Tensor();
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    x = x + attention(layer, i, norm(x, layer.norm1, layer.norm1_bias, site), turned, mask, cache, site);
    x = x + mlp(layer, norm(x, layer.norm2, layer.norm2_bias, site), site);
  }
  if (cache) cache->advance(t);
  return x;
}

Tensor LanguageModel::head(const Tensor& x, Site site) const {
  return linear(norm(x, norm_, norm_bias_, site), config_.tied_head ? embeddings_ : head_, Tensor(), site);
}

Tensor LanguageModel::forward(const Tensor& tokens) {
  const Site site = nn::detail::call_site();
  return head(hidden(tokens, nullptr, site), site);
}

Tensor LanguageModel::next(const Tensor& tokens, KeyValueCache& cache, Site site) {
  const NoGradGuard no_grad;
  return head(hidden(tokens, &cache, site).select(1, -1, site), site);
}

}  // namespace tandem::models
