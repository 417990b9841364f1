// What the library warns of: mistakes that a program runs on with.
#pragma once

#include <functional>
#include <string>

namespace tandem {

/// Who is told of warnings, each one line of text without a newline. An empty function is the default again: each goes to standard error,
/// as "tandem: warning: …". May be called from any thread, one call at a time.
using WarningHandler = std::function<void(const std::string& text)>;
/// Sets it for the process; returns the one before.
WarningHandler set_warning_handler(WarningHandler handler);

/// Hands a warning of the program's own to the handler, each time.
void warn(const std::string& text);

namespace detail {
/// Hands a warning to the handler; each text once in a process, and no more than 10,000 of them. What the handler throws is thrown on.
void warn_once(const std::string& text);
}  // namespace detail

}  // namespace tandem
