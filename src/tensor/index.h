// What stands between the brackets: slices, integers, tensors, None and Ellipsis.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/site.h"
#include "tensor/tensor.h"

namespace tandem {

struct NoneType {};
struct EllipsisType {};
inline constexpr NoneType None;
inline constexpr EllipsisType Ellipsis;

/// Where a slice begins or ends: a number, or None.
struct SliceBound {
  std::optional<int64_t> value = {};

  SliceBound() = default;
  SliceBound(NoneType) {}
  SliceBound(std::optional<int64_t> value_) : value(value_) {}
  SliceBound(Integer auto value_) : value(static_cast<int64_t>(value_)) {}
};

/// `start:stop:step`; what is left out, or None, is the whole.
struct Slice {
  std::optional<int64_t> start = {}, stop = {};
  int64_t step = 1;

  Slice() = default;
  Slice(SliceBound start_, SliceBound stop_ = {}, int64_t step_ = 1) : start(start_.value), stop(stop_.value), step(step_) {}
};

/// One entry of an index.
struct Index {
  /// What stands between the brackets.
  enum class Kind : uint8_t { Integer, Slice, NewAxis, Dots, Tensor };
  Kind kind;
  int64_t integer = 0;
  Slice slice;
  Tensor tensor;

  Index(Integer auto value) : kind(Kind::Integer), integer(static_cast<int64_t>(value)) {}
  /// A new dimension in front, of size 1 where it is true and 0 where it is false.
  Index(std::same_as<bool> auto value) : kind(Kind::Tensor), tensor(mask_of(value)) {}
  Index(Slice slice_) : kind(Kind::Slice), slice(slice_) {}
  Index(NoneType) : kind(Kind::NewAxis) {}
  Index(EllipsisType) : kind(Kind::Dots) {}
  /// "...". Error for any other text.
  Index(const char* dots);
  Index(Tensor tensor_) : kind(Kind::Tensor), tensor(std::move(tensor_)) {}

  /// Which of them it is, by libtorch's names: is_none, is_ellipsis, is_integer, is_slice, is_tensor.
  [[nodiscard]] bool is_none() const { return kind == Kind::NewAxis; }
  [[nodiscard]] bool is_ellipsis() const { return kind == Kind::Dots; }
  [[nodiscard]] bool is_integer() const { return kind == Kind::Integer; }
  [[nodiscard]] bool is_slice() const { return kind == Kind::Slice; }
  [[nodiscard]] bool is_tensor() const { return kind == Kind::Tensor; }

 private:
  [[nodiscard]] static Tensor mask_of(bool value);
};

}  // namespace tandem
