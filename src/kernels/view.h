// What kernels see of a tensor: an address, a type, sizes and strides. Plain values that a queue can copy.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/shape.h"
#include "kernels/strides.h"

namespace tandem::kernels {

/// Elements to read. Strides count elements; a stride of 0 repeats.
struct View {
  void* data = nullptr;
  DType dtype = DType::Float32;
  int32_t ndim = 0;
  int64_t sizes[kMaxDims];
  int64_t strides[kMaxDims];

  [[nodiscard]] int64_t numel() const {
    int64_t n = 1;
    for (int i = 0; i < ndim; ++i) n *= sizes[i];
    return n;
  }
  [[nodiscard]] bool contiguous() const { return is_contiguous(ndim, sizes, strides); }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data);
  }
};

/// Elements to write (and, where an entry says so, to read before).
struct Out : View {};

/// Elements of which some are changed, or added to.
struct Change : View {};

/// A number from the caller: an integer kept exactly, or a floating one.
struct Value {
  double floating = 0;
  int64_t integer = 0;
  bool is_floating = true;

  template <class T>
  [[nodiscard]] constexpr T to() const {
    return is_floating ? static_cast<T>(floating) : static_cast<T>(integer);
  }
};

/// A list from the caller, which a queue copies together with the call.
template <class T>
struct Span {
  const T* data = nullptr;
  int64_t size = 0;

  const T* begin() const { return data; }
  const T* end() const { return data + size; }
  const T& operator[](int64_t i) const { return data[i]; }
};

}  // namespace tandem::kernels
