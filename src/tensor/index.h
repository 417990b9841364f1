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
  Slice(std::optional<int64_t> start, std::optional<int64_t> stop = {}, int64_t step = 1) : start(start), stop(stop), step(step) {}
};
struct NoneType {};
struct EllipsisType {};
inline constexpr NoneType None;
inline constexpr EllipsisType Ellipsis;

/// One entry of an index.
struct Index {
  enum class Kind : uint8_t { Integer, Slice, None, Ellipsis, Tensor };
  Kind kind;
  int64_t integer = 0;
  Slice slice;
  Tensor tensor;

  template <std::integral T>
  Index(T value) : kind(Kind::Integer), integer(value) {
    static_assert(!std::is_same_v<T, bool>, "index with a bool tensor instead of a bool");
  }
  Index(Slice slice) : kind(Kind::Slice), slice(slice) {}
  Index(NoneType) : kind(Kind::None) {}
  Index(EllipsisType) : kind(Kind::Ellipsis) {}
  Index(Tensor tensor) : kind(Kind::Tensor), tensor(std::move(tensor)) {}
};

}  // namespace tandem
