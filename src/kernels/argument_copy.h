// A kernel's arguments as something keeps them that calls it later.
#pragma once

#include <vector>

#include "kernels/view.h"

namespace tandem::kernels {

/// An argument that outlives the call it came with.
template <class T>
struct ArgumentCopy {
  T value;
  explicit ArgumentCopy(const T& v) : value(v) {}
  [[nodiscard]] const T& get() const { return value; }
};
template <class T>
struct ArgumentCopy<Span<T>> {
  std::vector<T> values;
  explicit ArgumentCopy(const Span<T>& span) : values(span.begin(), span.end()) {}
  [[nodiscard]] Span<T> get() const { return {values.data(), static_cast<int64_t>(values.size())}; }
};

}  // namespace tandem::kernels
