// Lists as libtorch's signatures have them: ArrayRef, IntArrayRef, and arrays that one value fills.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

#include "base/error.h"
#include "base/shape.h"
#include "tensor/tensor.h"

namespace torch {

using std::nullopt;
using std::nullopt_t;
using std::optional;

/// A view of elements that lie one after another; who made it keeps them alive.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;

  ArrayRef() = default;
  ArrayRef(const T& one) : data_(&one), size_(1) {}
  ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  ArrayRef(const std::vector<T>& values) requires(!std::same_as<T, bool>) : data_(values.data()), size_(values.size()) {}
  template <size_t N>
  ArrayRef(const std::array<T, N>& values) : data_(values.data()), size_(N) {}
  template <size_t N>
  ArrayRef(const T (&values)[N]) : data_(values), size_(N) {}
  // As an argument, which it is for, the list lives as long as the call.
  ArrayRef(const std::initializer_list<T>& values) : ArrayRef(std::data(values), values.size()) {}

  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }
  [[nodiscard]] const T& front() const { return at(0); }
  [[nodiscard]] const T& back() const { return at(size_ - 1); }
  const T& operator[](size_t i) const { return data_[i]; }
  /// Element i. IndexError where there is none.
  [[nodiscard]] const T& at(size_t i) const {
    if (i >= size_) tandem::fail<tandem::IndexError>("[ArrayRef] index ", i, " is out of range for ", size_, " elements");
    return data_[i];
  }
  /// `count` elements from number `first` on.
  [[nodiscard]] ArrayRef slice(size_t first, size_t count) const { return {data_ + first, count}; }
  [[nodiscard]] ArrayRef slice(size_t first) const { return {data_ + first, size_ - first}; }
  /// A copy of the elements.
  [[nodiscard]] std::vector<T> vec() const { return std::vector<T>(begin(), end()); }  // braces would make bools of the pointers
  operator std::vector<T>() const { return vec(); }
  [[nodiscard]] bool equals(ArrayRef other) const { return *this == other; }
  friend bool operator==(ArrayRef a, ArrayRef b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

/// Of int64 it is tandem's Shape, which holds its numbers: it goes wherever sizes go, and nothing dangles.
template <>
class ArrayRef<int64_t> : public tandem::Shape {
 public:
  using value_type = int64_t;
  using Shape::Shape;
  ArrayRef() = default;
  ArrayRef(const Shape& sizes) : Shape(sizes) {}
  ArrayRef(const int64_t* begin, const int64_t* end) : Shape(begin, static_cast<size_t>(end - begin)) {}
  template <size_t N>
  ArrayRef(const std::array<int64_t, N>& values) : Shape(values.data(), N) {}

  [[nodiscard]] const int64_t& front() const;
  [[nodiscard]] const int64_t& at(size_t i) const;
  operator std::vector<int64_t>() const;
};

using IntArrayRef = ArrayRef<int64_t>;
using OptionalIntArrayRef = std::optional<IntArrayRef>;
using TensorList = ArrayRef<tandem::Tensor>;

/// As `[1, 2]`.
template <class T>
std::ostream& operator<<(std::ostream& out, const ArrayRef<T>& values) {
  out << '[';
  for (size_t i = 0; i < values.size(); ++i) out << (i ? ", " : "") << values[i];
  return out << ']';
}

/// D values, all the same where one is given: the kernel size of a layer of D dimensions. Error for a list of another length.
template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> values) : ExpandingArray(values.begin(), values.size()) {}
  ExpandingArray(const std::vector<T>& values) : ExpandingArray(values.data(), values.size()) {}
  ExpandingArray(ArrayRef<T> values) : ExpandingArray(values.data(), values.size()) {}
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}
  ExpandingArray(T value) { values_.fill(value); }

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  /// Always D.
  [[nodiscard]] size_t size() const noexcept { return D; }
  operator ArrayRef<T>() const { return ArrayRef<T>(values_); }
  friend bool operator==(const ExpandingArray&, const ExpandingArray&) = default;

 protected:
  template <class From>
  ExpandingArray(const From* values, size_t count) {
    if (count != D) tandem::fail("[ExpandingArray] Expected ", D, " values, but instead got ", count);
    for (size_t i = 0; i < D; ++i) values_[i] = values[i];
  }

  std::array<T, D> values_{};
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& out, const ExpandingArray<D, T>& values) {
  if constexpr (D == 1) return out << (*values)[0];
  else return out << ArrayRef<T>(*values);
}

/// D values of which each may be left out, as the output sizes of adaptive pools.
template <size_t D, class T = int64_t>
class ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
  using Base = ExpandingArray<D, std::optional<T>>;

 public:
  using Base::Base;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> values) : Base(values.begin(), values.size()) {}
  ExpandingArrayWithOptionalElem(const std::vector<T>& values) : Base(values.data(), values.size()) {}
  ExpandingArrayWithOptionalElem(ArrayRef<T> values) : Base(values.data(), values.size()) {}
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values) : Base(values.data(), D) {}
  ExpandingArrayWithOptionalElem(T value) : Base(std::optional<T>(value)) {}
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& out, const ExpandingArrayWithOptionalElem<D, T>& values) {
  if (D != 1) out << '[';
  for (size_t i = 0; i < D; ++i) {
    if (i) out << ", ";
    if ((*values)[i]) out << *(*values)[i];
    else out << "None";
  }
  return D != 1 ? out << ']' : out;
}

}  // namespace torch
