// The error at hand, with more said.
#pragma once

#include <string>

namespace tandem {

/// In a handler: throws the error at hand again, of the same type, with `before` in front of its text. Standard exceptions become Error.
[[noreturn]] void rethrow_named(const std::string& before);

}  // namespace tandem
