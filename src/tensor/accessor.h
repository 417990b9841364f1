// Elements of a tensor by a[i][j], in loops of one's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/tensor.h"

namespace tandem {

/// What Tensor::accessor gives: a view of N dimensions of elements T. Indices are not checked.
template <class T, size_t N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data), sizes_(sizes), strides_(strides) {}

  /// Element i of the first dimension: an accessor of the others, or the element itself.
  decltype(auto) operator[](int64_t i) const {
    T* const at = data_ + i * strides_[0];
    if constexpr (N == 1) return (*at);
    else return TensorAccessor<T, N - 1>(at, sizes_ + 1, strides_ + 1);
  }
  /// How many elements the dimension has.
  [[nodiscard]] int64_t size(size_t dim) const { return sizes_[dim]; }
  /// How many elements lie between neighbours.
  [[nodiscard]] int64_t stride(size_t dim) const { return strides_[dim]; }
  /// The address of the first element.
  [[nodiscard]] T* data() const { return data_; }

 private:
  T* data_;
  const int64_t *sizes_, *strides_;
};

/// What Tensor::packed_accessor32 and 64 give: the same with its own sizes and strides, as Count, so that a copy of it can be handed to a
/// kernel.
template <class T, size_t N, class Count>
class PackedTensorAccessor {
 public:
  PackedTensorAccessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<Count>(sizes[i]);
      strides_[i] = static_cast<Count>(strides[i]);
    }
  }

  /// Element i of the first dimension: an accessor of the others, or the element itself.
  decltype(auto) operator[](Count i) const {
    if constexpr (N == 1) {
      return (data_[i * strides_[0]]);
    } else {
      PackedTensorAccessor<T, N - 1, Count> rest(data_ + i * strides_[0]);
      for (size_t k = 1; k < N; ++k) {
        rest.sizes_[k - 1] = sizes_[k];
        rest.strides_[k - 1] = strides_[k];
      }
      return rest;
    }
  }
  /// How many elements the dimension has.
  [[nodiscard]] Count size(size_t dim) const { return sizes_[dim]; }
  /// How many elements lie between neighbours.
  [[nodiscard]] Count stride(size_t dim) const { return strides_[dim]; }
  /// The address of the first element.
  [[nodiscard]] T* data() const { return data_; }

 private:
  template <class, size_t, class>
  friend class PackedTensorAccessor;
  explicit PackedTensorAccessor(T* data) : data_(data) {}

  T* data_;
  std::array<Count, N> sizes_{}, strides_{};
};

namespace detail {
/// Error where the tensor has not `dims` dimensions, or is on a GPU though it has to be on the CPU, or has more elements than 32 bits
/// count.
void check_accessor(const Tensor& tensor, size_t dims, bool on_cpu, bool narrow, Site site);
}  // namespace detail

/// As declared in Tensor.
template <class T, size_t N>
TensorAccessor<T, N> Tensor::accessor(Site site) const {
  static_assert(N > 0, "an accessor has at least one dimension: item() gives the one element of a tensor without");
  detail::check_accessor(*this, N, true, false, site);
  return {data_ptr<T>(site), sizes(site).data(), strides(site).data()};
}
/// As declared in Tensor.
template <class T, size_t N>
PackedTensorAccessor<T, N, int32_t> Tensor::packed_accessor32(Site site) const {
  detail::check_accessor(*this, N, false, true, site);
  return {data_ptr<T>(site), sizes(site).data(), strides(site).data()};
}
/// As declared in Tensor.
template <class T, size_t N>
PackedTensorAccessor<T, N, int64_t> Tensor::packed_accessor64(Site site) const {
  detail::check_accessor(*this, N, false, false, site);
  return {data_ptr<T>(site), sizes(site).data(), strides(site).data()};
}

}  // namespace tandem
