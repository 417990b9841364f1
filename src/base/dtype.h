// The ten element types: their names, sizes, kinds, and the rules by which two of them meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>

#include "base/half.h"
#include "base/site.h"

namespace tandem {

/// An element type. The order within floating and within integer types is that of promotion.
enum class DType : uint8_t { Bool, UInt8, Int8, Int16, Int32, Int64, Float16, BFloat16, Float32, Float64 };
inline constexpr int kDTypes = 10;

inline constexpr DType kBool = DType::Bool, kUInt8 = DType::UInt8, kInt8 = DType::Int8, kInt16 = DType::Int16, kInt32 = DType::Int32,
                       kInt64 = DType::Int64, kFloat16 = DType::Float16, kBFloat16 = DType::BFloat16, kFloat32 = DType::Float32,
                       kFloat64 = DType::Float64;

/// Bytes an element takes.
constexpr size_t size_of(DType dtype) {
  constexpr uint8_t sizes[kDTypes] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
  return sizes[static_cast<int>(dtype)];
}
/// Whether a dtype is one of float16, bfloat16, float32, float64.
constexpr bool is_floating(DType dtype) { return dtype >= DType::Float16; }
/// The floating types of 16 bits, in which a result of several operations depends on what is rounded on the way.
constexpr bool is_half(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }
/// Whether a dtype is an integer; bool is none.
constexpr bool is_integral(DType dtype) { return dtype < DType::Float16 && dtype != DType::Bool; }

/// As printed: float32, bool, int64.
[[nodiscard]] const char* name(DType dtype);
/// As PyTorch's messages have it: Float, Bool, Long.
[[nodiscard]] const char* scalar_name(DType dtype);
/// As name().
std::ostream& operator<<(std::ostream& out, DType dtype);

/// The type in which values of both are computed (torch.promote_types).
[[nodiscard]] DType promote_types(DType a, DType b);
/// Whether a result of type `from` may be written into a tensor of type `to` (torch.can_cast).
[[nodiscard]] constexpr bool can_cast(DType from, DType to) {
  if (is_floating(from) && !is_floating(to)) return false;
  return from == DType::Bool || to != DType::Bool;
}

/// The type of new floating tensors, float32 unless changed.
[[nodiscard]] DType get_default_dtype();
/// Sets it. Error where `dtype` is not floating.
void set_default_dtype(DType dtype, Site = Site::here());

/// The DType of a C++ element type.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::Bool;
  else if constexpr (std::is_same_v<T, uint8_t>) return DType::UInt8;
  else if constexpr (std::is_same_v<T, int8_t>) return DType::Int8;
  else if constexpr (std::is_same_v<T, int16_t>) return DType::Int16;
  else if constexpr (std::is_same_v<T, int32_t>) return DType::Int32;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) return DType::Int64;
  else if constexpr (std::is_same_v<T, Half>) return DType::Float16;
  else if constexpr (std::is_same_v<T, BFloat16>) return DType::BFloat16;
  else if constexpr (std::is_same_v<T, float>) return DType::Float32;
  else {
    static_assert(std::is_same_v<T, double>, "not an element type");
    return DType::Float64;
  }
}

/// Calls `f` with a value of the C++ type that `dtype` names, as `visit(dtype, [&](auto zero) { using T = decltype(zero); … })`.
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool: return f(bool{});
    case DType::UInt8: return f(uint8_t{});
    case DType::Int8: return f(int8_t{});
    case DType::Int16: return f(int16_t{});
    case DType::Int32: return f(int32_t{});
    case DType::Int64: return f(int64_t{});
    case DType::Float16: return f(Half{});
    case DType::BFloat16: return f(BFloat16{});
    case DType::Float32: return f(float{});
    default: return f(double{});
  }
}

inline void append_text(std::string& out, DType dtype) { out += name(dtype); }

}  // namespace tandem
