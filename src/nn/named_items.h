// What containers of parts by name share. For the library.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tandem::nn::detail {

/// The item of that name, or the end.
auto find_named(auto& items, std::string_view name) {
  return std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.first == name; });
}

/// Error for a name that would not lead to one part: an empty one, or one with a point.
inline void check_part_name(const char* op, const char* kind, std::string_view name) {
  if (name.empty()) fail("[", op, "] ", kind, " name can't be empty string \"\"");
  if (name.find('.') != std::string_view::npos) fail("[", op, "] ", kind, " name can't contain \".\", got: ", name);
}

/// Puts a part in the place of the one of its name, or at the end.
void put_named(auto& items, std::string_view name, auto part) {
  if (const auto found = find_named(items, name); found != items.end()) found->second = std::move(part);
  else items.emplace_back(std::string(name), std::move(part));
}

/// Takes the part of that name out; whether it was there.
bool erase_named(auto& items, std::string_view name) {
  const auto found = find_named(items, name);
  if (found == items.end()) return false;
  items.erase(found);
  return true;
}

/// The names in their order.
std::vector<std::string> names_of(const auto& items) {
  std::vector<std::string> names;
  for (const auto& [name, part] : items) names.push_back(name);
  return names;
}

/// The part of that name. Error that names those that are there, where there is none.
auto& named_part(const char* op, const char* kind, auto& items, std::string_view name) {
  if (const auto found = find_named(items, name); found != items.end()) return found->second;
  std::string have;
  for (const auto& [other, part] : items) have += (have.empty() ? "\"" : ", \"") + other + "\"";
  fail<IndexError>("[", op, "] no ", kind, " \"", name, "\"; there ", items.size() == 1 ? "is " : "are ", have.empty() ? "none" : have);
}

/// Place `i` of `count`, where negative numbers count from the end. IndexError where there is none.
inline size_t place_of(const char* op, const char* kind, int64_t i, size_t count) {
  const auto all = static_cast<int64_t>(count);
  if (i < -all || i >= all) fail<IndexError>("[", op, "] index ", i, " is out of range: there are ", all, " ", kind, "s");
  return static_cast<size_t>(i < 0 ? i + all : i);
}

}  // namespace tandem::nn::detail
