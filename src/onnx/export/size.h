// A number that may depend on sizes of the inputs: what it is in each of the traces that an export makes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tandem::onnx::exporting {

/// How often a module is traced, each time with other numbers in the places of the sizes that may change.
inline constexpr size_t kTraces = 3;

/// A whole number, once a trace. Where all are the same it does not depend on the inputs.
struct Size {
  std::array<int64_t, kTraces> at{};

  Size() = default;
  Size(int64_t number) { at.fill(number); }  // NOLINT: a number is one that is always the same

  [[nodiscard]] bool is_fixed() const { return at[0] == at[1] && at[0] == at[2]; }
  [[nodiscard]] bool is(int64_t number) const { return is_fixed() && at[0] == number; }
  bool operator==(const Size&) const = default;
  /// Any order, for maps.
  bool operator<(const Size& other) const { return at < other.at; }
  /// Whether it holds in each trace.
  template <class Holds>
  [[nodiscard]] static bool all(const Size& a, const Size& b, Holds holds) {
    for (size_t i = 0; i < kTraces; ++i)
      if (!holds(a.at[i], b.at[i])) return false;
    return true;
  }
  [[nodiscard]] bool at_most(const Size& other) const {
    return all(*this, other, [](int64_t a, int64_t b) { return a <= b; });
  }
  [[nodiscard]] bool below(const Size& other) const {
    return all(*this, other, [](int64_t a, int64_t b) { return a < b; });
  }
  /// Whether `other` divides it.
  [[nodiscard]] bool divisible(const Size& other) const {
    return all(*this, other, [](int64_t a, int64_t b) { return b != 0 && a % b == 0; });
  }
  template <class Combine>
  [[nodiscard]] Size with(const Size& other, Combine combine) const {
    Size result;
    for (size_t i = 0; i < kTraces; ++i) result.at[i] = combine(at[i], other.at[i]);
    return result;
  }
  Size operator+(const Size& other) const {
    return with(other, [](int64_t a, int64_t b) { return a + b; });
  }
  Size operator-(const Size& other) const {
    return with(other, [](int64_t a, int64_t b) { return a - b; });
  }
  Size operator*(const Size& other) const {
    return with(other, [](int64_t a, int64_t b) { return a * b; });
  }
  /// Rounded down; 0 where it is divided by 0.
  Size operator/(const Size& other) const {
    return with(other, [](int64_t a, int64_t b) { return b ? a / b : 0; });
  }
};

using Sizes = std::vector<Size>;

/// How many elements the sizes make.
[[nodiscard]] inline Size count_of(const Sizes& sizes) {
  Size count = 1;
  for (const Size& size : sizes) count = count * size;
  return count;
}
/// Row-major strides.
[[nodiscard]] inline Sizes dense_strides(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  return strides;
}
/// "[2, 8 or 9 or 11]".
[[nodiscard]] std::string text_of(const Sizes& sizes);

}  // namespace tandem::onnx::exporting
