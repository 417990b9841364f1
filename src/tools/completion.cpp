#include "tools/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

namespace tandem::tools {
namespace {

constexpr auto kAll = [](const CLI::App*) { return true; };

const CLI::Option* option_named(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : app.get_options())
    if (option->check_name(name)) return option;
  return nullptr;
}

/// An option's choices, from what its help shows of them: TEXT:{cnn,mlp}.
std::vector<std::string> choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

}  // namespace

std::string completions(const CLI::App& app, std::span<const char* const> words) {
  if (words.empty()) return {};
  const std::string_view typed = words.back();
  const CLI::App* command = &app;
  const CLI::Option* valued = nullptr;  // the option that the word is the value of
  for (const char* word : words.first(words.size() - 1)) {
    if (valued) {
      valued = nullptr;
      continue;
    }
    valued = option_named(*command, word);
    if (valued && valued->get_items_expected_max() == 0) valued = nullptr;
    for (const CLI::App* sub : command->get_subcommands(kAll))
      if (sub->get_name() == word) {
        command = sub;
        break;
      }
  }
  std::string lines;
  const auto offer = [&](const std::string& name, std::string text) {
    if (!name.starts_with(typed)) return;
    text.resize(std::min(text.find('\n'), text.size()));
    lines += name + "\t" + text + "\n";
  };
  if (valued) {
    for (const std::string& choice : choices(*valued)) offer(choice, "");
    return lines;
  }
  if (typed.starts_with("-"))
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) offer("--" + name, option->get_description());
  else
    for (const CLI::App* sub : command->get_subcommands(kAll)) offer(sub->get_name(), sub->get_description());
  return lines;
}

}  // namespace tandem::tools
