// The names that libtorch's programs are full of: Tensor, dtypes, devices, options, lists, checks; `at` and `c10` are `torch`.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/dtype.h"
#include "base/half.h"
#include "libtorch/results.h"
#include "libtorch/types_array.h"
#include "libtorch/types_error.h"
#include "libtorch/types_indexing.h"
#include "libtorch/types_options.h"
#include "runtime/device.h"
#include "tensor/accessor.h"
#include "tensor/print.h"
#include "tensor/scalar.h"
#include "tensor/tensor.h"

/// Whose interface this is.
#define TORCH_VERSION_MAJOR 1
#define TORCH_VERSION_MINOR 13
#define TORCH_VERSION_PATCH 1
#define TORCH_VERSION "1.13.1"

/// What libtorch marks its own exports with; programs copy it to their classes, which are their own.
#define TORCH_API
#define C10_API
#define C10_EXPORT

namespace torch {

using tandem::BFloat16, tandem::Device, tandem::DeviceType, tandem::Half, tandem::PackedTensorAccessor, tandem::Scalar, tandem::Tensor,
    tandem::TensorAccessor;
using DeviceIndex = int16_t;
using Dtype = tandem::DType;
using ScalarType = tandem::DType;
using std::make_optional;

using tandem::kBF16, tandem::kBFloat16, tandem::kBool, tandem::kByte, tandem::kChar, tandem::kCPU, tandem::kCUDA, tandem::kDouble,
    tandem::kF16, tandem::kF32, tandem::kF64, tandem::kFloat, tandem::kFloat16, tandem::kFloat32, tandem::kFloat64, tandem::kHalf,
    tandem::kI16, tandem::kI32, tandem::kI64, tandem::kI8, tandem::kInt, tandem::kInt16, tandem::kInt32, tandem::kInt64, tandem::kInt8,
    tandem::kLong, tandem::kShort, tandem::kU8, tandem::kUInt8;

/// How a loss joins its elements, as an int64 in calls: at::Reduction::Mean.
namespace Reduction {
enum Reduction : int64_t { None, Mean, Sum, END };
}

/// The name of a dtype: Float, Long.
[[nodiscard]] inline const char* toString(ScalarType type) { return tandem::scalar_name(type); }
[[nodiscard]] inline size_t elementSize(ScalarType type) { return tandem::size_of(type); }
[[nodiscard]] inline bool isFloatingType(ScalarType type) { return tandem::is_floating(type); }
[[nodiscard]] inline bool isIntegralType(ScalarType type, bool include_bool = false) {
  return tandem::is_integral(type) || (include_bool && type == tandem::kBool);
}
[[nodiscard]] inline ScalarType promoteTypes(ScalarType a, ScalarType b) { return tandem::promote_types(a, b); }
/// libtorch tells a tensor's type of elements apart from its ScalarType; here they are one.
[[nodiscard]] inline ScalarType typeMetaToScalarType(ScalarType type) { return type; }
[[nodiscard]] inline ScalarType scalarTypeToTypeMeta(ScalarType type) { return type; }
using tandem::get_default_dtype, tandem::set_default_dtype;
/// The ScalarType of a C++ type, as ::value.
template <class T>
struct CppTypeToScalarType : std::integral_constant<ScalarType, tandem::dtype_of<T>()> {};

namespace detail {
template <class T>
class Range {
 public:
  class Iterator {
   public:
    explicit Iterator(T value) : value_(value) {}
    T operator*() const { return value_; }
    Iterator& operator++() {
      ++value_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    T value_;
  };
  Range(T first, T last) : first_(first), last_(last < first ? first : last) {}
  [[nodiscard]] Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] Iterator end() const { return Iterator(last_); }

 private:
  T first_, last_;
};
}  // namespace detail
/// The integers from 0, or from first, up to last.
template <std::integral T>
[[nodiscard]] detail::Range<T> irange(T last) {
  return {T(0), last};
}
template <std::integral First, std::integral Last>
[[nodiscard]] detail::Range<Last> irange(First first, Last last) {
  return {static_cast<Last>(first), last};
}

}  // namespace torch

namespace tandem {
/// The number with the other sign. Error for bools.
inline Scalar operator-(const Scalar& number) {
  if (number.isBoolean()) fail<TypeError>("[Scalar] a bool has no negative: convert it by to<int64_t>()");
  return number.is_floating() ? Scalar(-number.toDouble()) : Scalar(-number.toLong());
}
}  // namespace tandem

namespace at = torch;
namespace c10 = torch;
