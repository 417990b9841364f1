// Options' values, checked. CLI11's own let "nan" pass and name their bounds in forty digits.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "tools/command.h"

namespace tandem::tools {

CLI::Validator whole_number_from(int64_t least, int64_t most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool valid = error == std::errc() && end == text.data() + text.size() && number >= least && number <= most;
        if (valid) return std::string();
        return str("must be a whole number from ", least, most == INT64_MAX ? " on" : str(" to ", most), ", not ", text);
      },
      "");
}

CLI::Validator positive_number() {
  return CLI::Validator(
      [](std::string& text) {
        char* end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        const bool valid = !text.empty() && *end == '\0' && std::isfinite(number) && number > 0;
        return valid ? std::string() : str("must be a number above 0, not ", text);
      },
      "");
}

Device device_named(const char* command, const std::string& text) {
  try {
    return detail::resolve(Device(text));
  } catch (const Error& error) {
    throw UsageError(str(command, ": ", error.what()));
  }
}

}  // namespace tandem::tools
