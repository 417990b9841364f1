// Reading environment variables, in one way: a wrong value is an error that names the variable, the value and the grammar.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

namespace tandem {

/// The variable's value; nothing where it is not set or empty.
[[nodiscard]] std::optional<std::string> environment(const char* variable);
/// Whether it is set to something other than 0, false, off or no.
[[nodiscard]] bool environment_flag(const char* variable);
/// The first of these variables that is a whole number from 0 on; nothing where none is. For what several launchers tell ranks, each by a
/// name of its own.
[[nodiscard]] std::optional<int> environment_number(std::initializer_list<const char*> variables);

}  // namespace tandem
