// Options' values, checked: CLI11's own let "nan" pass and name their bounds in forty digits. The program that a command is to run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/number_in.h"
#include "tools/command.h"
#include "tools/did_you_mean.h"

namespace tandem::tools {

CLI::Validator whole_number_from(int64_t least, int64_t most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        if (const auto number = detail::number_in<int64_t>(text); number && *number >= least && *number <= most) return std::string();
        return str("must be a whole number from ", least, most == INT64_MAX ? " on" : str(" to ", most), ", not ", text);
      },
      "");
}

namespace {
CLI::Validator number(const std::string& which, const std::function<bool(double)>& fits) {
  return CLI::Validator(
      [=](std::string& text) {
        char* end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        const bool valid = !text.empty() && *end == '\0' && std::isfinite(number) && fits(number);
        return valid ? std::string() : str("must be a number ", which, ", not ", text);
      },
      "");
}
}  // namespace

CLI::Validator positive_number() {
  return number("above 0", [](double number) { return number > 0; });
}

CLI::Validator number_from_zero() {
  return number("from 0 on", [](double number) { return number >= 0; });
}

CLI::Validator number_between(double least, double most) {
  return number(str("from ", least, " to ", most), [least, most](double number) { return number >= least && number <= most; });
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string listed, names;
  for (size_t i = 0; i < words.size(); ++i) {
    listed += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    names += (i == 0 ? "" : ",") + words[i];
  }
  return CLI::Validator(
      [words, listed](std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        return str("must be ", listed, ", not ", text, did_you_mean(text, words));
      },
      "{" + names + "}");
}

CLI::Validator existing_file() {
  return CLI::Validator(
      [](std::string& text) {
        std::error_code error;
        if (std::filesystem::is_regular_file(text, error)) return std::string();
        return str("must be a file, and there is none at ", text, std::filesystem::is_directory(text, error) ? ", which is a folder" : "");
      },
      "FILE");
}

CLI::Validator not_empty() {
  return CLI::Validator([](std::string& text) { return text.empty() ? "must not be empty" : std::string(); }, "");
}

std::vector<std::string> program_of(const CLI::App& command) {
  std::vector<std::string> program = command.remaining();
  if (program.empty() || !program.front().starts_with("-")) return program;
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) known.push_back(option->get_name());
  const std::string call = "tandem " + command.get_name();
  throw UsageError(
      str("unknown option ", program.front(), " of '", call, "'", did_you_mean(program.front(), known), "; ", call, " --help tells more"));
}

Device device_named(const char* command, const std::string& text) {
  try {
    return detail::resolve(Device(text));
  } catch (const Error& error) {
    throw UsageError(str(command, ": ", error.what()));
  }
}

}  // namespace tandem::tools
