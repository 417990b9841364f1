// What convolutions, pooling and padding share: arguments that are one number or one a dimension, and the windows that kernels see.
#pragma once

#include <initializer_list>
#include <optional>
#include <type_traits>

#include "base/shape.h"

namespace tandem {

/// One number for each spatial dimension, or one for all of them. Empty: not given. What PyTorch takes as an int or a tuple.
class PerDim {
 public:
  PerDim() = default;
  /// One number for all spatial dimensions.
  template <class T>
  requires std::is_integral_v<T> PerDim(T all) : values_{static_cast<int64_t>(all)} {}
  /// One number for each spatial dimension.
  PerDim(std::initializer_list<int64_t> values) : values_(values) {}
  PerDim(const Shape& values) : values_(values) {}

  [[nodiscard]] bool empty() const { return values_.empty(); }
  /// The numbers; one stands for all dimensions.
  [[nodiscard]] const Shape& values() const { return values_; }

 private:
  Shape values_;
};

/// The sizes that adaptive pooling gives: one for all dimensions, or one each, std::nullopt for the input's own.
class OutputSize {
 public:
  static constexpr int64_t kSame = INT64_MIN;  // the input's own

  template <class T>
  requires std::is_integral_v<T> OutputSize(T all) : values_{static_cast<int64_t>(all)} {}
  /// One size for each spatial dimension.
  OutputSize(std::initializer_list<std::optional<int64_t>> values) {
    for (const auto& value : values) values_.push_back(value.value_or(kSame));
  }
  OutputSize(const Shape& values) : values_(values) {}

  /// The sizes; kSame for the input's own.
  [[nodiscard]] const Shape& values() const { return values_; }

 private:
  Shape values_;
};

}  // namespace tandem
