// Views as rows: all dimensions but the last, and what stands in a row, in pieces of the type that kernels compute in.
#pragma once

#include <algorithm>

#include "kernels/cpu/isa/isa.h"
#include "kernels/view.h"
#include "kernels/visit.h"

namespace tandem::kernels::cpu {

/// The rows of a view; a view without dimensions is one row of one element.
class Rows {
 public:
  explicit Rows(const View& view) : view_(view) {
    length_ = view.ndim ? view.sizes[view.ndim - 1] : 1;
    stride_ = view.ndim && length_ != 1 ? view.strides[view.ndim - 1] : 1;
    for (int i = 0; i + 1 < view.ndim; ++i) count_ *= view.sizes[i];
    // One stride from row to row, where the outer dimensions allow it.
    bool first = true;
    int64_t expected = 0;
    for (int i = view.ndim - 2; i >= 0; --i) {
      if (view.sizes[i] == 1) continue;
      if (first) row_stride_ = view.strides[i];
      else regular_ &= view.strides[i] == expected;
      expected = view.strides[i] * view.sizes[i];
      first = false;
    }
  }

  [[nodiscard]] int64_t count() const { return count_; }
  [[nodiscard]] int64_t length() const { return length_; }
  [[nodiscard]] int64_t stride() const { return stride_; }  // within a row
  /// Whether rows follow each other at one distance, row_stride().
  [[nodiscard]] bool regular() const { return regular_; }
  [[nodiscard]] int64_t row_stride() const { return row_stride_; }
  [[nodiscard]] DType dtype() const { return view_.dtype; }

  /// Where a row begins, in elements.
  [[nodiscard]] int64_t offset(int64_t row) const {
    return regular_ ? row * row_stride_ : offset_of(row, view_.ndim - 1, view_.sizes, view_.strides);
  }
  [[nodiscard]] char* address(int64_t row, int64_t column = 0) const {
    return view_.as<char>() + (offset(row) + column * stride_) * static_cast<int64_t>(size_of(view_.dtype));
  }

  /// n elements of a row as T (the compute type of the dtype): where they lie, or a copy in `buffer`.
  template <class T>
  const T* read(int64_t row, int64_t column, int64_t n, T* buffer) const {
    const char* from = address(row, column);
    if (dtype_of<T>() == view_.dtype && (stride_ == 1 || n == 1)) return reinterpret_cast<const T*>(from);
    pack_to<T>(view_.dtype)(buffer, from, stride_, n);
    return buffer;
  }
  /// Where to put n elements of a row before `written`: in their place, or in `buffer`.
  template <class T>
  T* target(int64_t row, int64_t column, T* buffer) const {
    return dtype_of<T>() == view_.dtype && stride_ == 1 ? reinterpret_cast<T*>(address(row, column)) : buffer;
  }
  template <class T>
  void written(int64_t row, int64_t column, int64_t n, const T* values) const {
    char* to = address(row, column);
    if (reinterpret_cast<const char*>(values) != to) unpack_from<T>(view_.dtype)(to, stride_, values, n);
  }

 private:
  View view_;
  int64_t count_ = 1, length_ = 1, stride_ = 1, row_stride_ = 0;
  bool regular_ = true;
};

/// Rows for a thread to take at a time, when an element costs about a nanosecond.
inline int64_t row_grain(int64_t length) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, length)); }

}  // namespace tandem::kernels::cpu
