// Numbers in text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tandem::detail {

/// The number that the whole text is, as std::from_chars reads it: no sign but '-', no space. Nothing where it is none, or does not fit a
/// `T`.
template <class T>
[[nodiscard]] std::optional<T> number_in(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace tandem::detail
