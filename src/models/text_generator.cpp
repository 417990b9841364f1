#include "models/text_generator.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "models/gguf_model.h"
#include "models/settings_file.h"
#include "ops/creation.h"

namespace tandem::models {
namespace {

constexpr const char* kOp = "load_language_model";
constexpr uint64_t kLargestConfig = 1 << 20;

bool is_part(const std::string& name) {
  return name.starts_with("model-") && name.ends_with(".safetensors") && name.find("-of-") != std::string::npos;
}

/// The files with a model's weights: one, or its parts in their order.
std::vector<std::string> files_of_weights(const std::string& folder) {
  const std::string whole = folder + "/model.safetensors";
  std::error_code error;
  if (std::filesystem::exists(whole, error)) return {whole};
  std::vector<std::string> parts;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (is_part(entry->path().filename().string())) parts.push_back(entry->path().string());
  if (parts.empty()) fail("[", kOp, "] ", folder, ": there is neither model.safetensors nor model-00001-of-….safetensors in this folder");
  std::ranges::sort(parts);
  return parts;
}

/// The tokenizer first: it is refused before a tensor is read.
TextGenerator gguf_generator(const std::string& path, const Options& options, Site site) {
  Tokenizer tokenizer = load_gguf_tokenizer(path);
  return {load_gguf_model(path, options, site), std::move(tokenizer)};
}

}  // namespace

LanguageModel load_language_model(const std::string& path, const Options& options, Site site) {
  if (is_gguf(path)) return load_gguf_model(path, options, site);
  const std::string& folder = path;
  auto config = parse_file(kOp, folder + "/config.json", kLargestConfig, parse_language_config);
  std::error_code error;
  if (const std::string file = folder + "/generation_config.json"; std::filesystem::exists(file, error))
    for (const int64_t token : parse_file(kOp, file, kLargestConfig, parse_end_tokens)) config.end_tokens.push_back(token);
  io::TensorMap weights;
  for (const std::string& file : files_of_weights(folder)) weights.merge(io::load_safetensors(file, {}, {}, site));
  return made_of(kOp, folder, [&] {
    LanguageModel model(config, std::move(weights), options, site);
    model.eval();
    return model;
  });
}

GeneratedTokens generate(LanguageModel& model, std::span<const int64_t> prompt, const GenerateOptions& options,
                         const std::function<bool(int64_t token)>& on_token, Site site) {
  if (prompt.empty()) fail("[generate] the prompt has no token: begin with one, such as the text's first word");
  if (options.max_new_tokens < 0) fail("[generate] max_new_tokens has to be 0 or above, but is ", options.max_new_tokens);
  const LanguageModelConfig& config = model.config();
  for (const int64_t token : prompt)
    if (token < 0 || token >= config.vocab_size)
      fail("[generate] the token ", token, " is none of the model's ", config.vocab_size, ": is the tokenizer another model's?");
  const std::vector<int64_t>& ends = options.end_tokens.empty() ? config.end_tokens : options.end_tokens;
  const Device device = model.parameters(site).front().device();
  Sampler sampler(options.sampling, site);
  KeyValueCache cache;
  GeneratedTokens written;
  std::vector<int64_t> given(prompt.begin(), prompt.end());
  while (static_cast<int64_t>(written.tokens.size()) < options.max_new_tokens) {
    const auto count = static_cast<int64_t>(given.size());
    if (cache.length() > 0 && cache.length() + count > config.num_positions) {
      written.end = TextEnd::NumPositions;
      break;
    }
    const Tensor tokens = tensor(given, {.dtype = kInt64}, site).view({1, count}, site).to(device, {}, site);
    const int64_t token = sampler.choose(model.next(tokens, cache, site).select(0, 0, site), site);
    if (std::ranges::find(ends, token) != ends.end()) {
      written.end = TextEnd::EndToken;
      break;
    }
    written.tokens.push_back(token);
    if (on_token && !on_token(token)) {
      written.end = TextEnd::Stopped;
      break;
    }
    given = {token};
  }
  return written;
}

TextGenerator::TextGenerator(const std::string& path, const Options& options, Site site)
    : TextGenerator(is_gguf(path) ? gguf_generator(path, options, site)
                                  : TextGenerator{load_language_model(path, options, site), Tokenizer(path + "/tokenizer.json", site)}) {}

GeneratedText TextGenerator::generate(std::string_view prompt, const GenerateOptions& options,
                                      const std::function<bool(std::string_view text)>& on_text, Site site) {
  const std::vector<int64_t> tokens = tokenizer.encode(prompt);
  GeneratedText written;
  TextStream stream;
  bool goes_on = true;
  const auto tell = [&](const std::string& piece) {
    written.text += piece;
    if (!piece.empty() && on_text && goes_on) goes_on = on_text(piece);
    return goes_on;
  };
  const auto result = models::generate(
      model, tokens, options, [&](int64_t token) { return tell(stream.add(tokenizer.bytes_of(token))); }, site);
  tell(stream.finish());
  written.prompt_tokens = static_cast<int64_t>(tokens.size());
  written.new_tokens = static_cast<int64_t>(result.tokens.size());
  written.end = result.end;
  return written;
}

}  // namespace tandem::models
