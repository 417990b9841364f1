// Choosing a kernel by dtype: each calls `f` with a zero of a C++ type. A dtype that is not among those a function takes is a defect of the
// caller's; a new one is an error of the compiler where it has to be decided about.
#pragma once

#include <cstdint>
#include <utility>

#include "base/dtype.h"

namespace tandem::kernels {

/// The floating type that `dtype` names.
template <class F>
decltype(auto) visit_floating(DType dtype, F&& f) {
  switch (dtype) {
#define TD_ROW(Name, Type, printed, scalar, Kind, Compute)                  \
  case DType::Name:                                                         \
    if constexpr (DTypeKind::Kind == DTypeKind::Floating) return f(Type{}); \
    else break;
    TD_DTYPES(TD_ROW)
#undef TD_ROW
  }
  __builtin_unreachable();
}

/// The type that elements of `dtype` are computed in: float, double or int64_t.
template <class F>
decltype(auto) visit_compute(DType dtype, F&& f) {
  switch (compute_type(dtype)) {
    case DType::Int64: return f(int64_t{});
    case DType::Float32: return f(float{});
    case DType::Float64: return f(double{});
    case DType::Bool:
    case DType::UInt8:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Float16:
    case DType::BFloat16: break;  // nothing is computed in them
  }
  __builtin_unreachable();
}

/// The same for floating dtypes: float or double.
template <class F>
decltype(auto) visit_floating_compute(DType dtype, F&& f) {
  if (compute_type(dtype) == DType::Float64) return f(double{});
  return f(float{});
}

/// The floating type that `dtype` names, or int64_t for all integer dtypes and bool.
template <class F>
decltype(auto) visit_number(DType dtype, F&& f) {
  if (is_floating(dtype)) return visit_floating(dtype, std::forward<F>(f));
  return f(int64_t{});
}

/// An unsigned type as wide as an element: for kernels that only move elements.
template <class F>
decltype(auto) visit_width(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
  }
  __builtin_unreachable();
}

}  // namespace tandem::kernels
