// Elements of all dtypes as kernels read and write them.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/places.h"
#include "kernels/to_integer.h"
#include "kernels/view.h"
#include "kernels/visit.h"

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

/// What elements of a C++ type are read as: bool as bytes, which may have any value.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

/// Element `i` of `data`, of any dtype, converted to T.
template <class T>
TD_DEVICE T load(const void* data, DType dtype, int64_t i) {
  switch (dtype) {
#define TD_ROW(Name, Type, ...)                                                                                 \
  case DType::Name:                                                                                             \
    if constexpr (std::is_same_v<Type, bool>) return static_cast<T>(static_cast<const uint8_t*>(data)[i] != 0); \
    else if constexpr (std::is_integral_v<Type>) return static_cast<T>(static_cast<const Type*>(data)[i]);      \
    else return to_element<T>(to_compute(static_cast<const Type*>(data)[i]));
    TD_DTYPES(TD_ROW)
#undef TD_ROW
  }
  __builtin_unreachable();
}

/// Writes `value`, converted, to element `i` of `data`.
template <class T>
TD_DEVICE void store(void* data, DType dtype, int64_t i, T value) {
  switch (dtype) {
#define TD_ROW(Name, Type, ...) \
  case DType::Name: static_cast<Type*>(data)[i] = to_element<Type>(value); return;
    TD_DTYPES(TD_ROW)
#undef TD_ROW
  }
}

// --- Elements as numbers to compute with
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

/// Calls f with a zero of the type that elements of a dtype are read as.
template <class F>
TD_DEVICE void visit_stored(DType dtype, F&& f) {
  switch (dtype) {
#define TD_ROW(Name, Type, ...) \
  case DType::Name: return f(Stored<Type>{});
    TD_DTYPES(TD_ROW)
#undef TD_ROW
  }
  __builtin_unreachable();
}

/// The same for floating dtypes.
template <class F>
TD_DEVICE void visit_stored_floating(DType dtype, F&& f) {
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
