// Warnings, as libtorch tells them: a handler that a thread sets, which is told of this library's warnings too.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace torch {

/// A place in a program.
struct SourceLocation {
  const char* function = "";
  const char* file = "";
  uint32_t line = 0;
};
std::ostream& operator<<(std::ostream& out, const SourceLocation& location);

/// Who is told of warnings. `process` may throw: the operation that warned then fails.
class WarningHandler {
 public:
  WarningHandler() = default;
  WarningHandler(const WarningHandler&) = delete;
  WarningHandler& operator=(const WarningHandler&) = delete;
  virtual ~WarningHandler() = default;
  /// Told of one warning; `verbatim` is true for warnings whose text is to be shown as it stands. Here: a line on standard error.
  virtual void process(const SourceLocation& location, const std::string& text, bool verbatim);
};

/// The warnings of the calling thread.
class Warning {
 public:
  /// Hands a warning to the calling thread's handler.
  static void warn(const SourceLocation& location, const std::string& text, bool verbatim);
  /// Sets the calling thread's handler, which stays the caller's own; nullptr is the default one. It is not told of what GPUs' threads find
  /// while they work.
  static void set_warning_handler(WarningHandler* handler) noexcept;
  /// The calling thread's handler.
  static WarningHandler* get_warning_handler() noexcept;
};

}  // namespace torch
