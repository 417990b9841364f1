// Elements of the ten dtypes as kernels read and write them.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/places.h"
#include "kernels/to_integer.h"
#include "kernels/view.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace tandem::kernels::cuda {

// --- One element. Half types are stored as base/half.h has them and computed with as float.
template <class T>
struct ComputeOf {
  using type = T;
};
template <>
struct ComputeOf<Half> {
  using type = float;
};
template <>
struct ComputeOf<BFloat16> {
  using type = float;
};
/// What an element type is computed in.
template <class T>
using Compute = typename ComputeOf<T>::type;

/// An element as a number to compute with.
template <class T>
TD_DEVICE Compute<T> to_compute(T x) {
#if defined(__CUDACC__)
  if constexpr (std::is_same_v<T, Half>) return __half2float(__ushort_as_half(x.bits));
  else if constexpr (std::is_same_v<T, BFloat16>) return __bfloat162float(__ushort_as_bfloat16(x.bits));
  else return x;
#else
  return static_cast<Compute<T>>(x);
#endif
}

/// The element of type T nearest to a number; integers wrap, and are made of floating numbers by kernels/to_integer.h.
template <class T, class C>
TD_DEVICE T to_element(C x) {
#if defined(__CUDACC__)
  T element;
  if constexpr (std::is_same_v<T, Half>) element.bits = __half_as_ushort(__float2half(static_cast<float>(x)));
  else if constexpr (std::is_same_v<T, BFloat16>) element.bits = __bfloat16_as_ushort(__float2bfloat16(static_cast<float>(x)));
  else if constexpr (std::is_same_v<T, bool>) element = x != C(0);
  else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<C>) element = to_integer<T>(x);
  else element = static_cast<T>(x);
  return element;
#else
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return T(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, bool>) return x != C(0);
  else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<C>) return to_integer<T>(x);
  else return static_cast<T>(x);
#endif
}

/// Element `i` of `data`, of any dtype, converted to T.
template <class T>
TD_DEVICE T load(const void* data, DType dtype, int64_t i) {
  switch (dtype) {
    case DType::Bool: return static_cast<T>(static_cast<const uint8_t*>(data)[i] != 0);
    case DType::UInt8: return static_cast<T>(static_cast<const uint8_t*>(data)[i]);
    case DType::Int8: return static_cast<T>(static_cast<const int8_t*>(data)[i]);
    case DType::Int16: return static_cast<T>(static_cast<const int16_t*>(data)[i]);
    case DType::Int32: return static_cast<T>(static_cast<const int32_t*>(data)[i]);
    case DType::Int64: return static_cast<T>(static_cast<const int64_t*>(data)[i]);
    case DType::Float16: return to_element<T>(to_compute(static_cast<const Half*>(data)[i]));
    case DType::BFloat16: return to_element<T>(to_compute(static_cast<const BFloat16*>(data)[i]));
    case DType::Float32: return to_element<T>(static_cast<const float*>(data)[i]);
    default: return to_element<T>(static_cast<const double*>(data)[i]);
  }
}

/// Writes `value`, converted, to element `i` of `data`.
template <class T>
TD_DEVICE void store(void* data, DType dtype, int64_t i, T value) {
  switch (dtype) {
    case DType::Bool: static_cast<bool*>(data)[i] = to_element<bool>(value); break;
    case DType::UInt8: static_cast<uint8_t*>(data)[i] = to_element<uint8_t>(value); break;
    case DType::Int8: static_cast<int8_t*>(data)[i] = to_element<int8_t>(value); break;
    case DType::Int16: static_cast<int16_t*>(data)[i] = to_element<int16_t>(value); break;
    case DType::Int32: static_cast<int32_t*>(data)[i] = to_element<int32_t>(value); break;
    case DType::Int64: static_cast<int64_t*>(data)[i] = to_element<int64_t>(value); break;
    case DType::Float16: static_cast<Half*>(data)[i] = to_element<Half>(value); break;
    case DType::BFloat16: static_cast<BFloat16*>(data)[i] = to_element<BFloat16>(value); break;
    case DType::Float32: static_cast<float*>(data)[i] = to_element<float>(value); break;
    default: static_cast<double*>(data)[i] = to_element<double>(value); break;
  }
}

// --- Choosing a kernel by dtype
/// Calls f with a zero of the floating type that `dtype` names.
template <class F>
void visit_floating(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float16: return f(Half{});
    case DType::BFloat16: return f(BFloat16{});
    case DType::Float32: return f(float{});
    default: return f(double{});
  }
}

/// Calls f with a zero of an unsigned type as wide as an element: for kernels that only move elements.
template <class F>
void visit_width(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

/// Calls f with a zero of the type that a dtype computes in: float, double or int64_t.
template <class F>
void visit_compute(DType dtype, F&& f) {
  if (dtype == DType::Float64) f(double{});
  else if (is_floating(dtype)) f(float{});
  else f(int64_t{});
}
/// The same for floating dtypes.
template <class F>
void visit_floating_compute(DType dtype, F&& f) {
  if (dtype == DType::Float64) f(double{});
  else f(float{});
}

// --- Elements as numbers to compute with
/// Calls f with a zero of the floating type that `dtype` names, or of int64_t for all integer dtypes and bool.
template <class F>
void visit_number(DType dtype, F&& f) {
  if (is_floating(dtype)) visit_floating(dtype, f);
  else f(int64_t{});
}

/// The elements of an array of T as numbers; for T = int64_t those of any integer dtype or bool.
template <class T>
struct Numbers {
  void* data;
  DType dtype;

  explicit Numbers(const View& v) : data(v.data), dtype(v.dtype) {}

  TD_DEVICE Compute<T> operator[](int64_t i) const {
    if constexpr (std::is_integral_v<T>) return load<int64_t>(data, dtype, i);
    else return to_compute(static_cast<const T*>(data)[i]);
  }
  TD_DEVICE void set(int64_t i, Compute<T> value) const {
    if constexpr (std::is_integral_v<T>) store(data, dtype, i, value);
    else static_cast<T*>(data)[i] = to_element<T>(value);
  }
};

/// Calls f with a zero of the type that elements of a dtype are read as: bool as bytes that may have any value.
template <class F>
TD_DEVICE void visit_stored(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool:
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

/// n elements of any dtype, converted to C: one question about the dtype, then n loads at once.
template <class C, int n>
TD_DEVICE void load_at(const void* data, DType dtype, const int64_t (&at)[n], C (&x)[n]) {
  visit_stored(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int k = 0; k < n; ++k) {
      if constexpr (std::is_integral_v<T>) x[k] = static_cast<C>(static_cast<const T*>(data)[at[k]]);
      else x[k] = to_element<C>(to_compute(static_cast<const T*>(data)[at[k]]));
    }
  });
  if (dtype == DType::Bool)
    for (int k = 0; k < n; ++k) x[k] = static_cast<C>(x[k] != C(0));
}

/// Elements of any dtype as C, or none.
template <class C>
struct Converted {
  const void* data;
  DType dtype;

  Converted(const View& view) : data(view.data), dtype(view.dtype) {}
  TD_DEVICE C operator[](int64_t at) const { return load<C>(data, dtype, at); }
  template <int n>
  TD_DEVICE void read(const int64_t (&at)[n], C (&x)[n]) const {
    load_at(data, dtype, at, x);
  }
};

/// Where results go, converted; may have no data.
struct Results {
  void* data;
  DType dtype;

  Results(const Out& out) : data(out.data), dtype(out.dtype) {}
  template <class C>
  TD_DEVICE void put(int64_t at, C value) const {
    store(data, dtype, at, value);
  }
};

/// a + b; integers wrap.
template <class C>
TD_DEVICE C added(C a, C b) {
  if constexpr (std::is_integral_v<C>) return static_cast<C>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else return a + b;
}
/// a * b + c; integers wrap.
template <class C>
TD_DEVICE C fused(C a, C b, C c) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) + static_cast<uint64_t>(c));
  else return a * b + c;
}

}  // namespace tandem::kernels::cuda
