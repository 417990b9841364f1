// `tandem generate`: the text that follows a prompt, by a language model's files.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json_text.h"
#include "models/text_generator.h"
#include "tools/program.h"

namespace tandem::tools {
namespace {

struct GenerateSettings {
  std::string model, prompt, device, dtype;
  models::GenerateOptions options;
  bool json = false;
};

const char* name_of(models::TextEnd end) {
  switch (end) {
    case models::TextEnd::EndToken: return "end_token";
    case models::TextEnd::NumPositions: return "num_positions";
    case models::TextEnd::Stopped: return "stopped";
    case models::TextEnd::MaxNewTokens: break;
  }
  return "max_new_tokens";
}

Options placed(const GenerateSettings& settings) {
  Options options{.device = settings.device.empty() ? try_gpu() : device_named("generate", settings.device)};
  for (const DType dtype : {kFloat32, kBFloat16, kFloat16})
    if (settings.dtype == name(dtype)) options.dtype = dtype;
  return options;
}

int generate(const GenerateSettings& settings) {
  const Options options = placed(settings);
  models::TextGenerator generator(settings.model, options);
  const auto begin = std::chrono::steady_clock::now();
  const auto written = generator.generate(settings.prompt, settings.options, [&](std::string_view piece) {
    if (!settings.json) std::cout << piece << std::flush;
    return static_cast<bool>(std::cout);  // a reader that has gone away wants no more
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!settings.json) {
    std::cout << std::endl;
    return 0;
  }
  const nlohmann::ordered_json result = {{"prompt", settings.prompt},
                                         {"text", written.text},
                                         {"prompt_tokens", written.prompt_tokens},
                                         {"new_tokens", written.new_tokens},
                                         {"end", name_of(written.end)},
                                         {"seconds", seconds},
                                         {"tokens_per_second", seconds > 0 ? static_cast<double>(written.new_tokens) / seconds : 0},
                                         {"device", options.device->str()},
                                         {"parameters", generator.model.num_parameters()}};
  std::cout << detail::json_text(result, 2) << std::endl;
  return 0;
}

}  // namespace

void add_generate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("generate", "The text that follows a prompt, by a language model's files");
  const auto settings = std::make_shared<GenerateSettings>();
  models::GenerateOptions& options = settings->options;
  command->add_option("MODEL", settings->model, "A folder with config.json, tokenizer.json and model.safetensors, or a GGUF file")
      ->required();
  command->add_option("PROMPT", settings->prompt, "The text's beginning")->required();
  command->add_option("--tokens", options.max_new_tokens, "How many tokens to write at most")
      ->capture_default_str()
      ->check(whole_number_from(0, kMostInt));
  command->add_option("--temperature", options.sampling.temperature, "How much chance there is; 0: always the likeliest token")
      ->capture_default_str()
      ->check(number_from_zero());
  command->add_option("--top-k", options.sampling.top_k, "Only so many of the likeliest tokens; 0: all")
      ->capture_default_str()
      ->check(whole_number_from(0));
  command->add_option("--top-p", options.sampling.top_p, "Only the likeliest tokens that have this probability together")
      ->capture_default_str()
      ->check(number_between(0, 1));
  command->add_option("--seed", options.sampling.seed, "The same seed writes the same text")
      ->capture_default_str()
      ->check(whole_number_from(0));
  command->add_option("--device", settings->device,
                      "Where to compute: cpu, cuda:0; by default the first GPU, or the CPU where there is none");
  command->add_option("--dtype", settings->dtype, "What to compute in; by default what the weights are in")
      ->check(one_of({name(kFloat32), name(kBFloat16), name(kFloat16)}));
  command->add_flag("--json", settings->json, "Print the text as JSON, with how it came about");
  command->callback([settings, &action] { action = [settings] { return generate(*settings); }; });
}

}  // namespace tandem::tools
