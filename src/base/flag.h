// What takes the place of a bool where one is passed.
#pragma once

#include <concepts>

namespace tandem {

/// A bool as a parameter: only a bool becomes one. A number, a pointer or empty braces, meant for another parameter, do not compile.
class Flag {
 public:
  constexpr Flag(std::same_as<bool> auto value) : value_(value) {}
  constexpr operator bool() const { return value_; }

 private:
  bool value_;
};

}  // namespace tandem
