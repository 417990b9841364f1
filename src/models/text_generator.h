// Writing text with a language model: from a folder with its files to the text that follows a prompt.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/language_model.h"
#include "models/sampler.h"
#include "models/tokenizer.h"

namespace tandem::models {

/// A model on the device and in the dtype of `options`, in evaluation. Of a folder: by its config.json and its weights, model.safetensors
/// or model-00001-of-00002.safetensors and so on; without a dtype weights keep theirs. Tokens that end a text are read from
/// generation_config.json too. Of a GGUF file, of the architecture llama, qwen2 or gpt2: without a dtype in that of its table of
/// embeddings, where quantized numbers are float32. Error that names the file where one is missing or damaged.
[[nodiscard]] LanguageModel load_language_model(const std::string& path, const Options& options = {}, Site site = Site::here());

/// Options of generate().
struct GenerateOptions {
  int64_t max_new_tokens = 100;
  SamplingOptions sampling = {};
  std::vector<int64_t> end_tokens = {};  // each ends the text; the config's where there are none
};
/// Why a text ended.
enum class TextEnd { MaxNewTokens, EndToken, NumPositions, Stopped };

/// What generate() gives: the tokens after the prompt, without the one that ended them.
struct GeneratedTokens {
  std::vector<int64_t> tokens;
  TextEnd end = TextEnd::MaxNewTokens;
};
/// The tokens that follow those of `prompt`, one at a time; `on_token` is called with each, and ends the text by false. Error for a prompt
/// without a token, and for one that is longer than num_positions.
[[nodiscard]] GeneratedTokens generate(LanguageModel& model, std::span<const int64_t> prompt, const GenerateOptions& options = {},
                                       const std::function<bool(int64_t token)>& on_token = {}, Site site = Site::here());

/// What TextGenerator::generate() gives: the text after the prompt.
struct GeneratedText {
  std::string text;
  int64_t prompt_tokens = 0, new_tokens = 0;
  TextEnd end = TextEnd::MaxNewTokens;
};

/// A language model with its tokenizer.
struct TextGenerator {
  LanguageModel model;
  Tokenizer tokenizer;

  /// Of a folder as Hugging Face's: config.json, tokenizer.json and weights. Or of a GGUF file, which has all of them.
  explicit TextGenerator(const std::string& path, const Options& options = {}, Site site = Site::here());
  TextGenerator(LanguageModel model_, Tokenizer tokenizer_) : model(std::move(model_)), tokenizer(std::move(tokenizer_)) {}
  /// The text that follows `prompt`; `on_text` is given it piece by piece, as characters are complete, and ends it by false.
  [[nodiscard]] GeneratedText generate(std::string_view prompt, const GenerateOptions& options = {},
                                       const std::function<bool(std::string_view text)>& on_text = {}, Site site = Site::here());
};

}  // namespace tandem::models
