// A number from C++ code, with its kind: bool, integer or floating. Kinds decide result types (torch.result_type).
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "base/dtype.h"

namespace tandem {

/// A bool, an int64 or a double.
class Scalar {
 public:
  /// Which of the three it is.
  enum class Kind : uint8_t { Bool, Integer, Floating };

  /// The integer 0.
  explicit Scalar() : Scalar(0) {}  // explicit, so that `{}` in a call never becomes a number, such as add's alpha
  /// Any number of C++: integers are kept as int64 (unsigned ones from 2^63 on wrap), floating ones as double.
  template <class T>
  requires std::is_arithmetic_v<T> Scalar(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::Floating;
      floating_ = static_cast<double>(value);
    } else {
      kind_ = std::is_same_v<T, bool> ? Kind::Bool : Kind::Integer;
      integer_ = static_cast<int64_t>(value);
    }
  }
  /// Exact.
  explicit Scalar(Half value) : Scalar(static_cast<float>(value)) {}
  explicit Scalar(BFloat16 value) : Scalar(static_cast<float>(value)) {}

  /// Which of the three it is.
  [[nodiscard]] Kind kind() const { return kind_; }
  /// Whether it is a double.
  [[nodiscard]] bool is_floating() const { return kind_ == Kind::Floating; }
  /// The value as a `T`, as by static_cast: a double that does not fit an integer `T`, or nan, is undefined behaviour.
  template <class T>
  [[nodiscard]] T to() const {
    if constexpr (std::is_same_v<T, bool>) return is_floating() ? floating_ != 0 : integer_ != 0;
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return T(to<float>());
    else return is_floating() ? static_cast<T>(floating_) : static_cast<T>(integer_);
  }
  /// The type a tensor made from it has: bool, int64, or the default dtype.
  [[nodiscard]] DType dtype() const { return kind_ == Kind::Bool ? kBool : kind_ == Kind::Integer ? kInt64 : get_default_dtype(); }
  /// libtorch's names of the value: toDouble, toFloat, toInt, toLong, toBool; of its kind: isFloatingPoint, isIntegral, isBoolean.
  [[nodiscard]] double toDouble() const { return to<double>(); }
  [[nodiscard]] float toFloat() const { return to<float>(); }
  [[nodiscard]] int toInt() const { return to<int>(); }
  [[nodiscard]] int64_t toLong() const { return to<int64_t>(); }
  [[nodiscard]] bool toBool() const { return to<bool>(); }
  [[nodiscard]] bool isFloatingPoint() const { return is_floating(); }
  [[nodiscard]] bool isIntegral(bool include_bool) const { return kind_ == Kind::Integer || (include_bool && isBoolean()); }
  [[nodiscard]] bool isBoolean() const { return kind_ == Kind::Bool; }
  /// bool, int64 or float64, as libtorch's type(); unlike dtype(), whatever the default dtype is.
  [[nodiscard]] DType type() const { return is_floating() ? kFloat64 : dtype(); }
  /// By value, whatever the kinds: an integer and a double are compared as doubles, and true equals 1.
  friend bool operator==(const Scalar& a, const Scalar& b) {
    return a.is_floating() || b.is_floating() ? a.to<double>() == b.to<double>() : a.integer_ == b.integer_;
  }

 private:
  Kind kind_;
  union {
    double floating_;
    int64_t integer_;
  };
};

}  // namespace tandem
