#include "base/env.h"

#include <cstdlib>

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

}  // namespace tandem
