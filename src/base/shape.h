// Sizes, strides and lists of dimensions: a small vector of int64, six of them inside.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace tandem {

/// The most dimensions a tensor can have.
inline constexpr int kMaxDims = 12;

/// a * b, wrapping: sizes beside a zero may be as large as they like.
constexpr int64_t wrapping_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// A list of int64: the sizes of a tensor, its strides, or a choice of its dimensions. Up to six lie inside it.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> values) : Shape(values.begin(), values.size()) {}
  /// One size: `randn(5)`, `view(-1)`. A template, so that a bool is none.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Shape(T value) : Shape({static_cast<int64_t>(value)}) {}
  Shape(std::span<const int64_t> values) : Shape(values.data(), values.size()) {}
  Shape(const std::vector<int64_t>& values) : Shape(values.data(), values.size()) {}
  Shape(const int64_t* values, size_t count) {
    resize(count);
    if (count) std::memcpy(data(), values, count * sizeof(int64_t));
  }
  Shape(const Shape& other) : Shape(other.data(), other.size()) {}
  Shape(Shape&& other) noexcept : size_(other.size_), heap_(other.heap_) {
    if (!heap_) std::memcpy(inside_, other.inside_, sizeof inside_);
    other.heap_ = nullptr;
    other.size_ = 0;
  }
  Shape& operator=(const Shape& other) {
    if (this != &other) {
      resize(other.size());
      if (size_) std::memcpy(data(), other.data(), size_ * sizeof(int64_t));
    }
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (this != &other) {
      delete[] heap_;
      size_ = other.size_;
      heap_ = other.heap_;
      if (!heap_) std::memcpy(inside_, other.inside_, sizeof inside_);
      other.heap_ = nullptr;
      other.size_ = 0;
    }
    return *this;
  }
  ~Shape() { delete[] heap_; }

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] int64_t* data() { return heap_ ? heap_ : inside_; }
  [[nodiscard]] const int64_t* data() const { return heap_ ? heap_ : inside_; }
  int64_t& operator[](size_t i) { return data()[i]; }
  const int64_t& operator[](size_t i) const { return data()[i]; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  [[nodiscard]] const int64_t* begin() const { return data(); }
  [[nodiscard]] const int64_t* end() const { return data() + size_; }
  [[nodiscard]] int64_t front() const { return data()[0]; }
  [[nodiscard]] int64_t back() const { return data()[size_ - 1]; }

  /// Sets the length; values past the old length are unspecified.
  void resize(size_t count) {
    if (count > capacity()) {
      auto* wider = new int64_t[count > 16 ? count : 16];
      if (size_) std::memcpy(wider, data(), size_ * sizeof(int64_t));
      delete[] heap_;
      heap_ = wider;
    }
    size_ = static_cast<uint32_t>(count);
  }
  void push_back(int64_t value) {
    const size_t last = size_;
    resize(last + 1);
    data()[last] = value;
  }
  void erase(size_t i) {
    for (size_t k = i + 1; k < size_; ++k) data()[k - 1] = data()[k];
    --size_;
  }
  void insert(size_t i, int64_t value) {
    push_back(value);
    for (size_t k = size_ - 1; k > i; --k) data()[k] = data()[k - 1];
    data()[i] = value;
  }

  /// As a vector.
  [[nodiscard]] std::vector<int64_t> vec() const { return {begin(), end()}; }
  /// `count` values from number `first` on.
  [[nodiscard]] Shape slice(size_t first, size_t count) const { return {data() + first, count}; }
  /// The values from number `first` on.
  [[nodiscard]] Shape slice(size_t first) const { return slice(first, size() - first); }
  /// As ==.
  [[nodiscard]] bool equals(const Shape& other) const { return *this == other; }
  friend bool operator==(const Shape& a, const Shape& b) {
    return a.size_ == b.size_ && (a.size_ == 0 || std::memcmp(a.data(), b.data(), a.size_ * sizeof(int64_t)) == 0);
  }

  /// The product of the sizes: how many elements. One for no dimensions.
  [[nodiscard]] int64_t numel() const {
    int64_t n = 1;
    for (const int64_t size : *this) n = wrapping_product(n, size);
    return n;
  }

 private:
  [[nodiscard]] size_t capacity() const { return heap_ ? (size_ > 16 ? size_ : 16) : 6; }

  uint32_t size_ = 0;
  int64_t* heap_ = nullptr;
  int64_t inside_[6];
};

/// As `[2, 3]`.
std::ostream& operator<<(std::ostream& out, const Shape& shape);

void append_text(std::string& out, const Shape& shape);  // as [2, 3]

}  // namespace tandem
