// What a shell offers while a command line of the program is typed.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
}

namespace tandem::tools {

/// What may stand in place of the last of `words`, which is as far as it has been typed: commands, options, or an option's choices, a line
/// each with a tab and its description behind it. Nothing where any file or number may stand there.
[[nodiscard]] std::string completions(const CLI::App& app, std::span<const char* const> words);

}  // namespace tandem::tools
