// Where in the user's program a call stands. Every public call that launches, allocates, moves or waits carries one.
#pragma once

#include <type_traits>

namespace tandem {

/// The file and line of a call. Taken by a default argument: `Site site = Site::here()`.
struct Site {
  const char* file;
  int line;

  // No default constructor, and a template, so that the braces of a list of numbers, {} or {0, 1}, are never taken for a site.
  template <class File>
  requires std::is_same_v<File, const char*>
  constexpr Site(File file_, int line_) : file(file_), line(line_) {}

  /// No line of the user's.
  static constexpr Site none() { return {"", 0}; }
  /// The file and line of the call, where it is the default value of a parameter.
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

}  // namespace tandem
