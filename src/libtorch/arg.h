// TORCH_ARG: an option of a class of options, set in a chain and read by the same name.
#pragma once

#include <utility>

/// A member of type T with `name()` to read it, and `name(value)` to set it, which gives the options back:
/// `Options().stride(2).bias(false)`.
#define TORCH_ARG(T, name)                           \
 public:                                             \
  auto& name(T value) {                              \
    name##_ = std::move(value);                      \
    return *this;                                    \
  }                                                  \
  const T& name() const noexcept { return name##_; } \
  T& name() noexcept { return name##_; }             \
                                                     \
 private:                                            \
  T name##_ /* NOLINT: named by the macro */
