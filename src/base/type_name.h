// Types' names for errors.
#pragma once

#include <string>
#include <typeinfo>

namespace tandem {

/// As written in C++: "std::runtime_error".
[[nodiscard]] std::string type_name(const std::type_info& type);

}  // namespace tandem
