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

using tandem::BFloat16;
using tandem::Device;
using tandem::DeviceType;
using tandem::Half;
using tandem::PackedTensorAccessor;
using tandem::Scalar;
using tandem::Tensor;
using tandem::TensorAccessor;
using DeviceIndex = int16_t;
using Dtype = tandem::DType;
using ScalarType = tandem::DType;
using std::make_optional;

using tandem::kBF16;
using tandem::kBFloat16;
using tandem::kBool;
using tandem::kByte;
using tandem::kChar;
using tandem::kCPU;
using tandem::kCUDA;
using tandem::kDouble;
using tandem::kF16;
using tandem::kF32;
using tandem::kF64;
using tandem::kFloat;
using tandem::kFloat16;
using tandem::kFloat32;
using tandem::kFloat64;
using tandem::kHalf;
using tandem::kI16;
using tandem::kI32;
using tandem::kI64;
using tandem::kI8;
using tandem::kInt;
using tandem::kInt16;
using tandem::kInt32;
using tandem::kInt64;
using tandem::kInt8;
using tandem::kLong;
using tandem::kShort;
using tandem::kU8;
using tandem::kUInt8;

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
using tandem::get_default_dtype;
using tandem::set_default_dtype;
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
