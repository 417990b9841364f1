// New tensors: empty, filled, counted up, from C++ numbers. On the CPU and in float32 unless told otherwise.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace tandem {

/// Nested braces of numbers, as `tensor({{1, 2}, {3, 4}})` takes them. Holds a copy.
class NestedList {
 public:
  /// A list of lists or numbers, all of the same sizes.
  template <class T>
  requires std::is_arithmetic_v<T> NestedList(T number) : number_(number) {}
  NestedList(std::initializer_list<NestedList> items) : items_(items), is_list_(true) {}
  template <class T>
  requires std::is_arithmetic_v<T> NestedList(const std::vector<T>& numbers) : is_list_(true) {
    items_.reserve(numbers.size());
    for (const T number : numbers) items_.emplace_back(number);
  }

  /// Whether it is a list, and no number.
  [[nodiscard]] bool is_list() const { return is_list_; }
  /// Its items.
  [[nodiscard]] const std::vector<NestedList>& items() const { return items_; }
  /// Its number.
  [[nodiscard]] const Scalar& number() const { return number_; }

 private:
  Scalar number_ = 0;
  std::vector<NestedList> items_;
  bool is_list_ = false;
};

/// From numbers: bool, int64 or the default floating dtype, after the widest kind among them. Error where the braces are ragged. As
/// torch.tensor.
[[nodiscard]] Tensor tensor(const NestedList& data, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor tensor(const NestedList& data, const OneOption auto& option, Site site = Site::here()) {
  return tensor(data, only(option, site), site);
}

/// Uninitialised memory. Error for negative sizes and more than 2^63 bytes.
[[nodiscard]] Tensor empty(const Shape& sizes, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor empty(const Shape& sizes, const OneOption auto& option, Site site = Site::here()) {
  return empty(sizes, only(option, site), site);
}
/// All elements 0. As torch.zeros.
[[nodiscard]] Tensor zeros(const Shape& sizes, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor zeros(const Shape& sizes, const OneOption auto& option, Site site = Site::here()) {
  return zeros(sizes, only(option, site), site);
}
/// All elements 1. As torch.ones.
[[nodiscard]] Tensor ones(const Shape& sizes, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor ones(const Shape& sizes, const OneOption auto& option, Site site = Site::here()) {
  return ones(sizes, only(option, site), site);
}
/// All elements `value`; its kind decides the dtype where none is given... except that floating values give the default dtype.
[[nodiscard]] Tensor full(const Shape& sizes, const Scalar& value, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor full(const Shape& sizes, const Scalar& value, const OneOption auto& option, Site site = Site::here()) {
  return full(sizes, value, only(option, site), site);
}
/// The identity, n by m (n by n without m).
[[nodiscard]] Tensor eye(int64_t n, std::optional<int64_t> m = {}, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor eye(int64_t n, const OneOption auto& option, Site site = Site::here()) { return eye(n, {}, only(option, site), site); }
[[nodiscard]] Tensor eye(int64_t n, int64_t m, const OneOption auto& option, Site site = Site::here()) {
  return eye(n, m, only(option, site), site);
}
/// start, start + step, … below end. int64 where all three are integers.
[[nodiscard]] Tensor arange(const Scalar& end, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor arange(const Scalar& start, const Scalar& end, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const Options& options = {},
                            Site site = Site::here());
[[nodiscard]] Tensor arange(const Scalar& end, const OneOption auto& option, Site site = Site::here()) {
  return arange(end, only(option, site), site);
}
[[nodiscard]] Tensor arange(const Scalar& start, const Scalar& end, const OneOption auto& option, Site site = Site::here()) {
  return arange(start, end, only(option, site), site);
}
[[nodiscard]] Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const OneOption auto& option,
                            Site site = Site::here()) {
  return arange(start, end, step, only(option, site), site);
}
/// `steps` numbers from start to end, both included.
[[nodiscard]] Tensor linspace(const Operand& start, const Operand& end, int64_t steps, const Options& options = {},
                              Site site = Site::here());
[[nodiscard]] Tensor linspace(const Operand& start, const Operand& end, int64_t steps, const OneOption auto& option,
                              Site site = Site::here()) {
  return linspace(start, end, steps, only(option, site), site);
}
/// base raised to each number of linspace.
[[nodiscard]] Tensor logspace(const Operand& start, const Operand& end, int64_t steps, double base = 10, const Options& options = {},
                              Site site = Site::here());
/// Rows and columns, sizes (2, count), of a matrix's elements on and below (above) the diagonal `offset`. int64 or int32.
[[nodiscard]] Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0, const Options& options = {}, Site site = Site::here());
/// The same on and above the diagonal.
[[nodiscard]] Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0, const Options& options = {}, Site site = Site::here());

/// The sizes, dtype and device of `other` unless options say otherwise.
[[nodiscard]] Tensor empty_like(const Tensor& other, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor empty_like(const Tensor& other, const OneOption auto& option, Site site = Site::here()) {
  return empty_like(other, only(option, site), site);
}
/// All 0, otherwise as empty_like.
[[nodiscard]] Tensor zeros_like(const Tensor& other, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor zeros_like(const Tensor& other, const OneOption auto& option, Site site = Site::here()) {
  return zeros_like(other, only(option, site), site);
}
/// All 1, otherwise as empty_like.
[[nodiscard]] Tensor ones_like(const Tensor& other, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor ones_like(const Tensor& other, const OneOption auto& option, Site site = Site::here()) {
  return ones_like(other, only(option, site), site);
}
/// All `value`, otherwise as empty_like.
[[nodiscard]] Tensor full_like(const Tensor& other, const Scalar& value, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor full_like(const Tensor& other, const Scalar& value, const OneOption auto& option, Site site = Site::here()) {
  return full_like(other, value, only(option, site), site);
}

/// A tensor like x, filled with a number or the value of a 0-dim tensor. As torch.fill.
[[nodiscard]] Tensor fill(const Tensor& x, const Operand& value, Site site = Site::here());

/// A tensor over memory of the caller's, who keeps it alive; a GPU's memory by the user's address. As torch.from_blob.
[[nodiscard]] Tensor from_blob(void* data, const Shape& sizes, const Options& options = {}, Site site = Site::here());
[[nodiscard]] Tensor from_blob(void* data, const Shape& sizes, const OneOption auto& option, Site site = Site::here()) {
  return from_blob(data, sizes, only(option, site), site);
}
/// The same with strides in elements, none of them negative. `deleter(data)` is called once nothing uses the memory any more: by the last
/// tensor over it, on whichever thread; on a GPU after a wait for what was queued before. Not called where from_blob throws.
[[nodiscard]] Tensor from_blob(void* data, const Shape& sizes, const Shape& strides, std::function<void(void*)> deleter,
                               const Options& options = {}, Site site = Site::here());
/// The same of dense memory. A template, so that braces are always options.
[[nodiscard]] Tensor from_blob(void* data, const Shape& sizes, std::invocable<void*> auto deleter, const Options& options = {},
                               Site site = Site::here()) {
  return from_blob(data, sizes, contiguous_strides(sizes), std::function<void(void*)>(std::move(deleter)), options, site);
}

}  // namespace tandem
