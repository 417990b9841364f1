// JSON as text, where names of files and of users' own may be any bytes.
#pragma once

#include <string>

namespace tandem::detail {

/// The text of a JSON value, nlohmann's; U+FFFD stands for what is not UTF-8. On one line, or with `indent` spaces a level.
template <class Json>
[[nodiscard]] std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tandem::detail
