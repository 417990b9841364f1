// What stands between the brackets: slices, integers, tensors, None and Ellipsis.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/site.h"
#include "tensor/tensor.h"

namespace tandem {

/// `start:stop:step`; what is left out is the whole.
struct Slice {
  std::optional<int64_t> start = {}, stop = {};
  int64_t step = 1;

  Slice() = default;
  Slice(std::optional<int64_t> start_, std::optional<int64_t> stop_ = {}, int64_t step_ = 1) : start(start_), stop(stop_), step(step_) {}
};
struct NoneType {};
struct EllipsisType {};
inline constexpr NoneType None;
inline constexpr EllipsisType Ellipsis;

/// One entry of an index.
struct Index {
  /// What stands between the brackets.
  enum class Kind : uint8_t { Integer, Slice, NewAxis, Dots, Tensor };
  Kind kind;
  int64_t integer = 0;
  Slice slice;
  Tensor tensor;

  template <std::integral T>
  Index(T value) : kind(Kind::Integer), integer(value) {
    static_assert(!std::is_same_v<T, bool>, "index with a bool tensor instead of a bool");
  }
  Index(Slice slice_) : kind(Kind::Slice), slice(slice_) {}
  Index(NoneType) : kind(Kind::NewAxis) {}
  Index(EllipsisType) : kind(Kind::Dots) {}
  Index(Tensor tensor_) : kind(Kind::Tensor), tensor(std::move(tensor_)) {}
};

}  // namespace tandem
