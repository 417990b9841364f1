// What the library adds to an error on its way out: where it belongs.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/site.h"

namespace tandem::detail {

struct ErrorPlace {
  /// The user's line, which the message names already.
  static void set_line_of_message(Error& error, Site site);
  /// The innermost module, and how it is described.
  static void set_layer(Error& error, std::string description, const void* module);
  /// A module around it, in which it has the path `path`.
  static void add_path(Error& error, std::string_view path, const void* module);
  /// The module that saw the error last; nullptr before the first one.
  static const void* module_of(const Error& error) { return error.module_; }
  /// `before` in front of the message.
  static void prepend(Error& error, std::string_view before);
  /// The text of what() from the parts.
  static void write_text(Error& error);
};

}  // namespace tandem::detail
