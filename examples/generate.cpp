// A language model writes on: generate MODEL PROMPT, with a folder of Hugging Face's that has config.json, tokenizer.json and
// model.safetensors, or a GGUF file. Without arguments a model of random weights, which has learned nothing, writes numbers.
#include <tandem/models/text_generator.h>
#include <tandem/tandem.h>

#include <iostream>

namespace td = tandem;

/// What a model writes after the prompt, piece by piece.
int write_on(const std::string& model, const std::string& prompt) {
  td::models::TextGenerator generator(model, {.device = td::try_gpu()});
  td::models::GenerateOptions options;
  options.max_new_tokens = 50;
  options.sampling = {.temperature = 0.8, .top_k = 40, .seed = 1};
  std::cout << prompt;
  const auto written = generator.generate(prompt, options, [](std::string_view piece) {
    std::cout << piece << std::flush;
    return true;
  });
  std::cout << '\n' << written.new_tokens << " tokens\n";
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3) return write_on(argv[1], argv[2]);
  td::manual_seed(0);
  td::models::LanguageModelConfig config{.vocab_size = 100, .hidden_size = 32, .intermediate_size = 64, .num_layers = 2, .num_heads = 4};
  config.num_positions = 64;
  config.num_key_value_heads = 2;
  config.head_dim = 8;
  td::models::LanguageModel model(config, {.device = td::try_gpu()});
  std::cout << model << "\n" << model.num_parameters() << " parameters\n";
  const std::vector<int64_t> prompt = {1, 2, 3};
  for (const int64_t token : td::models::generate(model, prompt, {.max_new_tokens = 20, .sampling = {.temperature = 1}}).tokens)
    std::cout << token << ' ';
  std::cout << '\n';
}
