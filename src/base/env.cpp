#include "base/env.h"

#include <cstdlib>

#include "base/number_in.h"

namespace tandem {

std::optional<std::string> environment(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): the library never sets one
  if (!value || !*value) return std::nullopt;
  return std::string(value);
}

bool environment_flag(const char* variable) {
  const auto value = environment(variable);
  return value && *value != "0" && *value != "false" && *value != "off" && *value != "no";
}

std::optional<int> environment_number(std::initializer_list<const char*> variables) {
  for (const char* const variable : variables)
    if (const auto number = detail::number_in<int>(environment(variable).value_or("")); number && *number >= 0) return number;
  return std::nullopt;
}

}  // namespace tandem
