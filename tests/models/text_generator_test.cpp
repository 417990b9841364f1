// Choosing tokens, and writing them one after another.
#include "models/text_generator.h"

#include <cmath>
#include <filesystem>
#include <map>

#include "io/safetensors.h"
#include "models/small_language_models.h"
#include "support/files.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace models = td::models;

namespace {

using Tokens = std::vector<int64_t>;

/// How often each token is chosen in a thousand draws.
std::map<int64_t, int> drawn(const td::Tensor& logits, const models::SamplingOptions& options) {
  models::Sampler sampler(options);
  std::map<int64_t, int> counts;
  for (int i = 0; i < 1000; ++i) ++counts[sampler.choose(logits)];
  return counts;
}

TEST(Sampler, DrawsByProbability) {
  const auto logits = td::tensor({0.5, 0.25, 0.2, 0.05}).log();
  EXPECT_EQ(drawn(logits, {}), (std::map<int64_t, int>{{0, 1000}}));
  auto counts = drawn(logits, {.temperature = 1});
  EXPECT_NEAR(counts[0], 500, 60);
  EXPECT_NEAR(counts[1], 250, 60);
  EXPECT_NEAR(counts[3], 50, 30);
  counts = drawn(logits, {.temperature = 0.5});  // squares of the probabilities
  EXPECT_NEAR(counts[0], 707, 60);
  counts = drawn(logits, {.temperature = 1, .top_k = 2});
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_NEAR(counts[0], 667, 60);
  counts = drawn(logits, {.temperature = 1, .top_p = 0.6});
  EXPECT_EQ(counts.size(), 2u);
  counts = drawn(logits, {.temperature = 1, .top_p = 0.4});
  EXPECT_EQ(counts.size(), 1u);
  // top_p is of what top_k leaves: 0.5 and 0.25 of 0.75.
  EXPECT_EQ(drawn(logits, {.temperature = 1, .top_k = 2, .top_p = 0.66}).size(), 1u);
  EXPECT_EQ(drawn(logits, {.temperature = 1, .seed = 5}), drawn(logits, {.temperature = 1, .seed = 5}));
  EXPECT_NE(drawn(logits, {.temperature = 1, .seed = 5}), drawn(logits, {.temperature = 1, .seed = 6}));
}

TEST(Sampler, RefusesWhatIsNoChoice) {
  EXPECT_EQ(error_of([] { models::Sampler sampler({.temperature = -1}); }), "[Sampler] temperature has to be 0 or above, but is -1");
  EXPECT_EQ(error_of([] { models::Sampler sampler({.top_k = -1}); }), "[Sampler] top_k has to be 0 or above, but is -1");
  EXPECT_EQ(error_of([] { models::Sampler sampler({.top_p = 0}); }), "[Sampler] top_p has to be above 0 and up to 1, but is 0");
  models::Sampler sampler;
  EXPECT_NE(error_of([&] { (void)sampler.choose(td::tensor({1.0, NAN})); }).find("not finite"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)sampler.choose(td::full({2}, -INFINITY)); }).find("not finite"), std::string::npos);
  EXPECT_EQ(sampler.choose(td::tensor({-INFINITY, 1.0})), 1);
}

class Generating : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Generating, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(Generating, WritesTheLikeliestTokens) {
  for (const char* config : {small::kGpt2, small::kLlama}) {
    auto model = small::model(config, {.device = device()});
    const auto written = models::generate(model, Tokens{3, 17, 0}, {.max_new_tokens = 12, .end_tokens = {-1}});
    Tokens all = {3, 17, 0};
    const td::NoGradGuard no_grad;
    for (int i = 0; i < 12; ++i) {  // the same without a cache
      const auto logits = model(td::tensor(all).view({1, static_cast<int64_t>(all.size())}).to(device()));
      all.push_back(logits[0][-1].argmax().item<int64_t>());
    }
    all.erase(all.begin(), all.begin() + 3);
    EXPECT_EQ(written.tokens, all);
    EXPECT_EQ(written.end, models::TextEnd::MaxNewTokens);
  }
}

TEST_P(Generating, EndsWhereItShould) {
  auto model = small::model(small::kGpt2, {.device = device()});
  const auto whole = models::generate(model, Tokens{1}, {.max_new_tokens = 100, .end_tokens = {-1}});
  EXPECT_EQ(whole.end, models::TextEnd::NumPositions);
  EXPECT_EQ(whole.tokens.size(), 32u);
  const auto ended = models::generate(model, Tokens{1}, {.max_new_tokens = 100, .end_tokens = {whole.tokens[0]}});
  EXPECT_EQ(ended.end, models::TextEnd::EndToken);
  EXPECT_TRUE(ended.tokens.empty());
  Tokens seen;
  const auto stopped = models::generate(model, Tokens{1}, {.end_tokens = {-1}}, [&](int64_t token) {
    seen.push_back(token);
    return seen.size() < 3;
  });
  EXPECT_EQ(stopped.end, models::TextEnd::Stopped);
  EXPECT_EQ(stopped.tokens, seen);
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_TRUE(models::generate(model, Tokens{1}, {.max_new_tokens = 0}).tokens.empty());
  EXPECT_NE(error_of([&] { (void)models::generate(model, Tokens{}); }).find("the prompt has no token"), std::string::npos);
  EXPECT_EQ(error_of([&] { (void)models::generate(model, Tokens{40}); }),
            "[generate] the token 40 is none of the model's 40: is the tokenizer another model's?");
}

TEST(TextGenerator, ReadsAFolder) {
  const std::string tokenizer = read_file(TANDEM_TESTS_DIR "/models/tokenizers/gpt2.json");
  std::string config = small::kGpt2;
  config.replace(config.find("40"), 2, "420");
  models::LanguageModel random(models::parse_language_config(config));
  std::filesystem::create_directories("folder");
  write_file("folder/config.json", config);
  write_file("folder/generation_config.json", R"({"eos_token_id": 7})");
  write_file("folder/tokenizer.json", tokenizer);
  td::io::TensorMap first, second;
  for (const auto& [name, weight] : random.named_parameters()) (name.find("h.1") == 0 ? second : first)[name] = weight;
  td::io::save_safetensors("folder/model-00001-of-00002.safetensors", first);
  td::io::save_safetensors("folder/model-00002-of-00002.safetensors", second);
  models::TextGenerator generator("folder");
  EXPECT_EQ(generator.model.config().end_tokens, Tokens{7});
  EXPECT_FALSE(generator.model.training());
  std::string pieces;
  models::GenerateOptions options{.max_new_tokens = 20, .sampling = {.temperature = 3}};
  const auto written = generator.generate("hello world", options, [&](std::string_view piece) {
    pieces += piece;
    return true;
  });
  EXPECT_EQ(written.text, pieces);
  EXPECT_EQ(written.prompt_tokens, static_cast<int64_t>(generator.tokenizer.encode("hello world").size()));
  const auto tokens = models::generate(random, generator.tokenizer.encode("hello world"), {20, {.temperature = 3}, {7}});
  EXPECT_EQ(written.text, generator.tokenizer.decode(tokens.tokens));
  EXPECT_NE(error_of([] { models::TextGenerator none("nowhere"); }).find("[load_language_model] nowhere/config.json"), std::string::npos);
}

}  // namespace
