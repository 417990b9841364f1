// JSON from files that may hold anything.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace tandem::detail {

/// Parses text whose objects and lists are nested `deepest` deep at most. Error where they are nested deeper, before memory is taken, and
/// where it is no JSON.
template <class Json>
Json parse_json(std::string_view text, int deepest) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    else if (c == '"') quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > deepest) fail("this is nested deeper than ", deepest);
    else if (!quoted && (c == ']' || c == '}')) --depth;
  }
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) fail("this is no JSON");
  return json;
}

/// The whole number that a JSON value is. Error for all else, also for what T cannot hold: the library's own conversion makes some other
/// number of it.
template <class T, class Json>
T whole_number(const Json& value) {
  if (value.is_number_unsigned()) {
    if (const auto number = value.template get<uint64_t>(); std::in_range<T>(number)) return static_cast<T>(number);
  } else if (value.is_number_integer()) {
    if (const auto number = value.template get<int64_t>(); std::in_range<T>(number)) return static_cast<T>(number);
  }
  fail("this is no whole number of that kind");
}

}  // namespace tandem::detail
