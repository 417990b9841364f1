// Language models: against PyTorch, with and without a cache, their weights' names, and what is refused.
#include "models/language_model.h"

#include <span>
#include <tuple>

#include "models/language_model_numbers.h"
#include "models/small_language_models.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace models = td::models;

namespace {

td::Tensor tokens_of(std::span<const int64_t> tokens, td::Device device) {
  return td::tensor(std::vector<int64_t>(tokens.begin(), tokens.end())).view({1, static_cast<int64_t>(tokens.size())}).to(device);
}

/// The largest difference of two tensors.
double difference(const td::Tensor& a, const td::Tensor& b) {
  return (a.cpu().to(td::kFloat64) - b.cpu().to(td::kFloat64)).abs().max().item<double>();
}

class LanguageModels : public OnDevice {
 protected:
  static void expect_logits(const char* config, const double (&logits)[3][40]) {
    auto model = small::model(config, {.device = device()});
    const td::NoGradGuard no_grad;
    const auto all = model(tokens_of(kTokens, device()));
    ASSERT_EQ(all.sizes(), (td::Shape{1, 10, 40}));
    for (size_t row = 0; row < 3; ++row) {
      const auto wanted = td::tensor(std::vector<double>(std::begin(logits[row]), std::end(logits[row])));
      EXPECT_LT(difference(all[0][kRows[row]], wanted), 2e-5) << "row " << row;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, LanguageModels, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(LanguageModels, GivePyTorchsLogits) {
  expect_logits(small::kGpt2, kGpt2Logits);
  expect_logits(small::kLlama, kLlamaLogits);
  expect_logits(small::kLlama3, kLlama3Logits);
}

TEST_P(LanguageModels, GiveTheSameWithACache) {
  const td::NoGradGuard no_grad;
  for (const char* config : {small::kGpt2, small::kLlama, small::kLlama3}) {
    auto model = small::model(config, {.device = device()});
    const auto tokens = tokens_of(kTokens, device());
    const auto all = model(tokens);
    // Token by token; a beginning, then the rest at once; pieces of several sizes.
    for (const std::vector<int64_t>& pieces :
         std::vector<std::vector<int64_t>>{{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {4, 6}, {7, 1, 1, 1}, {1, 3, 2, 4}, {10}}) {
      models::KeyValueCache cache(4);
      for (const int64_t piece : pieces) {
        const auto logits = model.next(tokens.narrow(1, cache.length(), piece), cache);
        ASSERT_EQ(logits.sizes(), (td::Shape{1, 40}));
        EXPECT_LT(difference(logits[0], all[0][cache.length() - 1]), 2e-5) << "after " << cache.length() << " tokens";
      }
      EXPECT_EQ(cache.length(), 10);
    }
  }
}

TEST_P(LanguageModels, GoBackInACacheAndSeveralTextsAtOnce) {
  const td::NoGradGuard no_grad;
  auto model = small::model(small::kLlama, {.device = device()});
  const auto tokens = td::cat({tokens_of(kTokens, device()), tokens_of(kTokens, device()).flip({1})});
  const auto all = model(tokens);
  models::KeyValueCache cache;
  (void)model.next(tokens, cache);
  cache.truncate(6);
  const auto logits = model.next(tokens.narrow(1, 6, 2), cache);
  EXPECT_LT(difference(logits, all.select(1, 7)), 2e-5);
  EXPECT_EQ(error_of([&] { cache.truncate(9); }), "[KeyValueCache.truncate] 8 tokens can be cut to 0 to 8, but not to 9");
  EXPECT_NE(error_of([&] { (void)model.next(tokens.narrow(0, 0, 1), cache); }).find("make a cache for each model and batch"),
            std::string::npos);
}

TEST_P(LanguageModels, ComputeInOtherDtypes) {
  const td::NoGradGuard no_grad;
  for (const auto& [dtype, bound] : {std::pair(td::kFloat64, 1e-5), std::pair(td::kBFloat16, 0.2)}) {
    auto model = small::model(small::kLlama, {.dtype = dtype, .device = device()});
    const auto all = model(tokens_of(kTokens, device()));
    EXPECT_EQ(all.dtype(), dtype);
    const auto wanted = td::tensor(std::vector<double>(std::begin(kLlamaLogits[2]), std::end(kLlamaLogits[2])));
    EXPECT_LT(difference(all[0][9], wanted), bound);
    models::KeyValueCache cache;
    EXPECT_LT(difference(model.next(tokens_of(kTokens, device()), cache)[0], all[0][9]), bound);
  }
}

TEST_P(LanguageModels, AreTrainedAsAnyModule) {
  for (const char* config : {small::kGpt2, small::kLlama3}) {
    models::LanguageModel model(models::parse_language_config(config));
    model.to(device());
    td::optim::Adam adam(model.parameters(), {.lr = 0.02});
    const auto tokens = tokens_of(kTokens, device());
    double first = 0, last = 0;
    for (int step = 0; step < 30; ++step) {
      const auto logits = model(tokens.narrow(1, 0, 9));
      const auto loss = td::cross_entropy(logits[0], tokens[0].narrow(0, 1, 9));
      adam.zero_grad();
      loss.backward();
      adam.step();
      last = loss.item<double>();
      if (step == 0) first = last;
    }
    EXPECT_LT(last, first / 4);
    for (const auto& [name, parameter] : model.named_parameters()) EXPECT_TRUE(parameter.grad().defined()) << name;
  }
}

TEST(LanguageModel, HasTheNamesOfFiles) {
  const auto gpt2 = small::weights_of(small::kGpt2), llama = small::weights_of(small::kLlama), tied = small::weights_of(small::kLlama3);
  EXPECT_EQ(gpt2.size(), 2u + 2 * 12 + 2);
  EXPECT_EQ(gpt2.at("h.1.attn.c_attn.weight").sizes(), (td::Shape{16, 48}));
  EXPECT_EQ(gpt2.at("h.0.mlp.c_proj.bias").sizes(), (td::Shape{16}));
  EXPECT_EQ(llama.size(), 1u + 2 * 9 + 2);
  EXPECT_EQ(llama.at("model.layers.1.self_attn.k_proj.weight").sizes(), (td::Shape{8, 16}));
  EXPECT_EQ(llama.at("lm_head.weight").sizes(), (td::Shape{40, 16}));
  EXPECT_EQ(tied.count("lm_head.weight"), 0u);
  EXPECT_EQ(tied.at("model.layers.0.self_attn.o_proj.weight").sizes(), (td::Shape{16, 24}));
}

TEST(LanguageModel, TakesNamesWithAndWithoutAPrefix) {
  td::io::TensorMap longer, shorter;
  for (const auto& [name, weight] : small::weights_of(small::kGpt2)) longer["transformer." + name] = weight;
  longer["transformer.h.0.attn.bias"] = td::ones({1, 1, 32, 32});  // a mask, which older files have
  for (const auto& [name, weight] : small::weights_of(small::kLlama)) shorter[name.starts_with("model.") ? name.substr(6) : name] = weight;
  const td::NoGradGuard no_grad;
  models::LanguageModel gpt2(models::parse_language_config(small::kGpt2), longer);
  models::LanguageModel llama(models::parse_language_config(small::kLlama), shorter);
  const auto tokens = tokens_of(kTokens, td::cpu());
  EXPECT_EQ(difference(gpt2(tokens), small::model(small::kGpt2)(tokens)), 0);
  EXPECT_EQ(difference(llama(tokens), small::model(small::kLlama)(tokens)), 0);
}

TEST(LanguageModel, RefusesWeightsThatDoNotFit) {
  const auto config = models::parse_language_config(small::kLlama);
  auto weights = small::weights_of(small::kLlama);
  const auto refused = [&](const std::string& name, const td::Tensor& weight) {
    auto changed = weights;
    if (weight.defined()) changed[name] = weight;
    else changed.erase(name);
    return error_of([&] { models::LanguageModel model(config, changed); });
  };
  EXPECT_EQ(refused("model.norm.weight", {}),
            "[LanguageModel] there is no weight 'model.norm.weight' of sizes [16], which the config asks for");
  EXPECT_EQ(refused("model.layers.1.mlp.up_proj.weight", td::ones({16, 24})),
            "[LanguageModel] the weight 'model.layers.1.mlp.up_proj.weight' has the sizes [16, 24], but the config asks for [24, 16]");
  EXPECT_EQ(refused("lm_head.weight", td::ones({40, 16}, td::kInt8)),
            "[LanguageModel] the weight 'lm_head.weight' is of int8, which is no floating dtype");
}

TEST(LanguageModel, RefusesTextsThatItCannotTake) {
  auto model = small::model(small::kGpt2);
  models::KeyValueCache cache;
  const auto long_text = td::zeros({1, 33}, td::kInt64);
  EXPECT_EQ(error_of([&] { (void)model(long_text); }), "[LanguageModel] a text of 33 tokens is longer than the 32 positions of the model");
  EXPECT_EQ(error_of([&] { (void)model(td::zeros({3}, td::kInt64)); }),
            "[LanguageModel] tokens have to be (n, t), at least one, but have the sizes [3]");
  (void)model.next(long_text.narrow(1, 0, 30), cache);
  EXPECT_NE(error_of([&] { (void)model.next(long_text.narrow(1, 0, 3), cache); }).find("33 tokens"), std::string::npos);
  EXPECT_EQ(cache.length(), 30);
  EXPECT_NE(error_of([&] { (void)model(td::full({1, 2}, 40, td::kInt64)); }), "no error");
}

TEST(KeyValueCache, GrowsInSteps) {
  auto model = small::model(small::kGpt2);
  models::KeyValueCache cache(8);
  const auto one = td::zeros({1, 1}, td::kInt64);
  std::vector<int64_t> capacities;
  for (int i = 0; i < 20; ++i) {
    (void)model.next(one, cache);
    if (capacities.empty() || capacities.back() != cache.capacity()) capacities.push_back(cache.capacity());
  }
  EXPECT_EQ(capacities, (std::vector<int64_t>{8, 16, 32}));
  EXPECT_NE(error_of([] { models::KeyValueCache none(0); }), "no error");
}

// What a config.json with other settings is answered.
std::string refused(const std::string& json) {
  return error_of([&] { (void)models::parse_language_config(json); });
}

TEST(LanguageConfig, ReadsBothKinds) {
  const auto gpt2 = models::parse_language_config(R"({"model_type": "gpt2", "eos_token_id": 50256})");
  EXPECT_EQ(std::tuple(gpt2.vocab_size, gpt2.hidden_size, gpt2.intermediate_size, gpt2.num_layers, gpt2.head_dim, gpt2.num_positions),
            std::tuple(50257, 768, 3072, 12, 64, 1024));
  EXPECT_TRUE(gpt2.tied_head);
  EXPECT_EQ(gpt2.end_tokens, std::vector<int64_t>{50256});
  const auto llama = models::parse_language_config(small::kLlama3);
  EXPECT_EQ(llama.rope_scaling.kind, models::RotaryScaling::Kind::Llama3);
  EXPECT_EQ(llama.rope_scaling.original_positions, 16);
  const std::string base = R"("vocab_size": 9, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2)";
  const auto qwen2 =
      models::parse_language_config("{" + base + R"(, "model_type": "qwen2", "sliding_window": 3, "use_sliding_window": false})");
  EXPECT_EQ(std::tuple(qwen2.qkv_bias, qwen2.output_bias, qwen2.num_positions), std::tuple(true, false, 2048));
  const auto mistral = models::parse_language_config("{" + base + R"(, "model_type": "mistral", "sliding_window": 100})");
  EXPECT_EQ(std::tuple(mistral.qkv_bias, mistral.num_positions), std::tuple(false, 100));
  const auto newer = models::parse_language_config(
      "{" + base + R"(, "model_type": "llama", "rope_parameters": {"rope_type": "linear", "factor": 2, "rope_theta": 7}})");
  EXPECT_EQ(std::tuple(newer.rope_theta, newer.rope_scaling.factor), std::tuple(7, 2));
}

TEST(LanguageConfig, SaysWhatItDoesNotSupport) {
  EXPECT_EQ(refused("nothing"), "this is no JSON");
  EXPECT_EQ(refused("[]"), "is no JSON object");
  EXPECT_EQ(refused("{}"), "lacks model_type: is it the config.json of a language model?");
  EXPECT_EQ(refused(R"({"model_type": "bert"})"), "a model of type 'bert' is not supported; gpt2, llama, mistral and qwen2 are");
  EXPECT_EQ(refused(R"({"model_type": "llama"})"), "lacks vocab_size");
  EXPECT_EQ(refused(R"({"model_type": "gpt2", "n_layer": 1.5})"), "n_layer is no whole number");
  EXPECT_EQ(refused(R"({"model_type": "gpt2", "n_layer": 1000000000})"),
            "[LanguageModelConfig] num_layers has to be from 1 to 10000, but is 1000000000");
  EXPECT_EQ(refused(R"({"model_type": "gpt2", "n_head": 7})"), "[LanguageModelConfig] num_heads (7) has to divide hidden_size (768)");
  EXPECT_EQ(refused(R"({"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": true})"),
            "scale_attn_by_inverse_layer_idx true is not supported");
  EXPECT_NE(refused(R"({"model_type": "gpt2", "activation_function": "swish"})").find("the activation 'swish' is not supported"),
            std::string::npos);
  const std::string base =
      R"({"model_type": "llama", "vocab_size": 9, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2)";
  EXPECT_EQ(refused(base + R"(, "rope_scaling": {"rope_type": "yarn"}})"),
            "rotary positions of type 'yarn' are not supported; default, linear and llama3 are");
  EXPECT_NE(refused(base + R"(, "num_key_value_heads": 3})").find("has to divide num_heads (2)"), std::string::npos);
  EXPECT_NE(refused(base + R"(, "head_dim": 3})").find("head_dim has to be even"), std::string::npos);
}

}  // namespace
