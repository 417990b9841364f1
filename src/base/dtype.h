// The element types: their names, sizes, kinds, and the rules by which two of them meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>

#include "base/half.h"
#include "base/site.h"

namespace tandem {

// clang-format off
/// The element types, a row each, in the order of promotion within whole and within floating types. ROW is called with
///   the name, the C++ type, the name as printed, the name in PyTorch's messages, the kind, the dtype that its elements are computed in.
#define TD_DTYPES(ROW)                                              \
  ROW(Bool,     bool,     "bool",     "Bool",     Bool,     Int64)   \
  ROW(UInt8,    uint8_t,  "uint8",    "Byte",     Integer,  Int64)   \
  ROW(Int8,     int8_t,   "int8",     "Char",     Integer,  Int64)   \
  ROW(Int16,    int16_t,  "int16",    "Short",    Integer,  Int64)   \
  ROW(Int32,    int32_t,  "int32",    "Int",      Integer,  Int64)   \
  ROW(Int64,    int64_t,  "int64",    "Long",     Integer,  Int64)   \
  ROW(Float16,  Half,     "float16",  "Half",     Floating, Float32) \
  ROW(BFloat16, BFloat16, "bfloat16", "BFloat16", Floating, Float32) \
  ROW(Float32,  float,    "float32",  "Float",    Floating, Float32) \
  ROW(Float64,  double,   "float64",  "Double",   Floating, Float64)
// clang-format on

/// An element type.
enum class DType : uint8_t {
#define TD_ROW(Name, ...) Name,
  TD_DTYPES(TD_ROW)
#undef TD_ROW
  // The same by libtorch's names.
  Byte = UInt8,
  Char = Int8,
  Short = Int16,
  Int = Int32,
  Long = Int64,
  Half = Float16,
  Float = Float32,
  Double = Float64,
};
#define TD_ROW(Name, ...) inline constexpr DType k##Name = DType::Name;
TD_DTYPES(TD_ROW)
#undef TD_ROW
/// How many there are.
#define TD_ROW(...) +1
inline constexpr int kDTypes = TD_DTYPES(TD_ROW);
#undef TD_ROW

/// What its elements are; each kind holds the ones before it.
enum class DTypeKind : uint8_t { Bool, Integer, Floating };

/// A row of the table.
struct DTypeFacts {
  const char* name;
  const char* scalar_name;
  size_t size;
  DTypeKind kind;
  DType compute;
};
/// The row of `dtype` in the table of dtypes.
constexpr DTypeFacts facts_of(DType dtype) {
  switch (dtype) {
#define TD_ROW(Name, Type, printed, scalar, Kind, Compute) \
  case DType::Name: return {printed, scalar, sizeof(Type), DTypeKind::Kind, DType::Compute};
    TD_DTYPES(TD_ROW)
#undef TD_ROW
  }
  __builtin_unreachable();
}

/// Bytes an element takes.
constexpr size_t size_of(DType dtype) { return facts_of(dtype).size; }
/// Whether a dtype is one of float16, bfloat16, float32, float64.
constexpr bool is_floating(DType dtype) { return facts_of(dtype).kind == DTypeKind::Floating; }
/// The floating types of 16 bits, in which a result of several operations depends on what is rounded on the way.
constexpr bool is_half(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }
/// Whether a dtype is an integer; bool is none.
constexpr bool is_integral(DType dtype) { return facts_of(dtype).kind == DTypeKind::Integer; }
/// The dtype that its elements are computed in: float32, float64 or int64.
constexpr DType compute_type(DType dtype) { return facts_of(dtype).compute; }

/// As printed: float32, bool, int64.
[[nodiscard]] constexpr const char* name(DType dtype) { return facts_of(dtype).name; }
/// As PyTorch's messages have it: Float, Bool, Long.
[[nodiscard]] constexpr const char* scalar_name(DType dtype) { return facts_of(dtype).scalar_name; }
/// As name().
std::ostream& operator<<(std::ostream& out, DType dtype);

/// The type in which values of both are computed (torch.promote_types).
[[nodiscard]] DType promote_types(DType a, DType b);
/// Whether a result of type `from` may be written into a tensor of type `to` (torch.can_cast).
[[nodiscard]] constexpr bool can_cast(DType from, DType to) { return facts_of(from).kind <= facts_of(to).kind; }

/// The type of new floating tensors, float32 unless changed.
[[nodiscard]] DType get_default_dtype();
/// Sets it. Error where `dtype` is not floating.
void set_default_dtype(DType dtype, Site = Site::here());

/// The DType of a C++ element type.
template <class T>
constexpr DType dtype_of() {
#define TD_ROW(Name, Type, ...)                              \
  if constexpr (std::is_same_v<T, Type>) return DType::Name; \
  else
  TD_DTYPES(TD_ROW) {
    static_assert(std::is_integral_v<T> && sizeof(T) == 8, "not an element type");
    return DType::Int64;  // C++ has more than one integer of 64 bits
  }
#undef TD_ROW
}

/// Calls `f` with a value of the C++ type that `dtype` names, as `visit(dtype, [&](auto zero) { using T = decltype(zero); … })`.
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
#define TD_ROW(Name, Type, ...) \
  case DType::Name: return f(Type{});
    TD_DTYPES(TD_ROW)
#undef TD_ROW
  }
  __builtin_unreachable();
}

inline void append_text(std::string& out, DType dtype) { out += name(dtype); }

}  // namespace tandem
