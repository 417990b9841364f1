// Reading environment variables, in one way: a wrong value is an error that names the variable, the value and the grammar.
#pragma once

#include <optional>
#include <string>

namespace tandem {

/// The variable's value; nothing where it is not set or empty.
[[nodiscard]] std::optional<std::string> environment(const char* variable);
/// Whether it is set to something other than 0, false, off or no.
[[nodiscard]] bool environment_flag(const char* variable);

}  // namespace tandem
