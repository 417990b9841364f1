// Four neighbours a thread: where they lie in strided arrays, and how they are moved at once where they lie side by side.
#pragma once

#include "kernels/cuda/elements.cuh"

namespace tandem::kernels::cuda {

inline constexpr int kFour = 4;

/// Bytes that are moved at once.
template <size_t bytes>
struct alignas(bytes) Unit {
  uint8_t byte[bytes];
};

/// Four elements of one dtype in a row, moved at once.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T element[kFour];
};

/// Whether an address is that of a Four of a dtype.
inline bool aligned_to_four(const void* data, DType dtype) { return reinterpret_cast<uintptr_t>(data) % (kFour * size_of(dtype)) == 0; }

/// Elements `first` … first + 3, which are aligned to four, converted to T: at once those of T, and half types where it is float.
template <class T>
TD_DEVICE void load_four(const void* data, DType dtype, int64_t first, T (&x)[kFour]) {
  const auto as = [&](auto zero) {
    using E = decltype(zero);
    const Four<E> four = static_cast<const Four<E>*>(data)[first / kFour];
    for (int k = 0; k < kFour; ++k) x[k] = to_element<T>(to_compute(four.element[k]));
  };
  if (dtype == dtype_of<T>()) as(T{});
  else if (std::is_same_v<T, float> && dtype == DType::Float16) as(Half{});
  else if (std::is_same_v<T, float> && dtype == DType::BFloat16) as(BFloat16{});
  else
    for (int k = 0; k < kFour; ++k) x[k] = load<T>(data, dtype, first + k);
}

/// Writes y to elements `first` … first + 3 of `out`, which are aligned to four; converted. T is what they are computed in.
template <class T, class Y>
TD_DEVICE void store_four(void* out, DType dtype, int64_t first, const Y (&y)[kFour]) {
  const auto as = [&](auto zero) {
    using E = decltype(zero);
    Four<E> four;
    for (int k = 0; k < kFour; ++k) four.element[k] = to_element<E>(y[k]);
    static_cast<Four<E>*>(out)[first / kFour] = four;
  };
  if (dtype == dtype_of<T>()) as(T{});
  else if (dtype == DType::Bool) as(bool{});
  else if (std::is_same_v<T, float> && dtype == DType::Float16) as(Half{});
  else if (std::is_same_v<T, float> && dtype == DType::BFloat16) as(BFloat16{});
  else
    for (int k = 0; k < kFour; ++k) store(out, dtype, first + k, static_cast<T>(y[k]));
}

/// Elements to read or write, of a floating dtype that computes in C. `together`: they are four side by side, aligned.
template <class C>
struct Floats {
  void* data;
  DType dtype;

  Floats(const View& view) : data(view.data), dtype(view.dtype) {}
  template <int n>
  TD_DEVICE void read(const int64_t (&at)[n], C (&x)[n], bool together = false) const {
    visit([&](auto zero) {
      using T = decltype(zero);
      const T* const from = static_cast<const T*>(data);
      if constexpr (n == kFour) {
        if (together) {
          const Four<T> four = *reinterpret_cast<const Four<T>*>(from + at[0]);
          for (int k = 0; k < n; ++k) x[k] = to_compute(four.element[k]);
          return;
        }
      }
      for (int k = 0; k < n; ++k) x[k] = to_compute(from[at[k]]);
    });
  }
  template <int n>
  TD_DEVICE void write(const int64_t (&at)[n], const C (&x)[n], bool together = false) const {
    visit([&](auto zero) {
      using T = decltype(zero);
      T* const to = static_cast<T*>(data);
      if constexpr (n == kFour) {
        if (together) {
          Four<T> four;
          for (int k = 0; k < n; ++k) four.element[k] = to_element<T>(x[k]);
          *reinterpret_cast<Four<T>*>(to + at[0]) = four;
          return;
        }
      }
      for (int k = 0; k < n; ++k) to[at[k]] = to_element<T>(x[k]);
    });
  }

 private:
  template <class F>
  TD_DEVICE void visit(F&& f) const {
    visit_stored_floating(dtype, [&](auto zero) {
      if constexpr (std::is_same_v<Compute<decltype(zero)>, C>) f(zero);
    });
  }
};

/// The elements of N strided arrays of common sizes, four along the innermost dimension at a time; the last of a row may be fewer.
template <int N>
struct Fours {
  Places<N> places;    // of the first of each four
  int64_t length = 0;  // of the innermost dimension
  int64_t step[N];     // along it
  bool together[N];    // whole fours lie side by side, at addresses of a Four

  Fours(const Places<N>& all, const void* const (&data)[N], const DType (&dtypes)[N]) : places(all) {
    if (places.count == 0) return;
    if (places.ndim == 0) {
      places.ndim = 1;
      for (int k = 0; k < N; ++k) places.strides[k][0] = 0;
    }
    const int inner = places.ndim - 1;
    length = places.size(inner);
    const int64_t fours = (length + kFour - 1) / kFour;
    places.count = places.count / length * fours;
    places.by[inner] = Divide(fours);
    for (int k = 0; k < N; ++k) {
      step[k] = places.strides[k][inner];
      together[k] = step[k] == 1 && data[k] && aligned_to_four(data[k], dtypes[k]);
      for (int d = 0; d < inner; ++d) together[k] &= places.strides[k][d] % kFour == 0;
      places.strides[k][inner] *= kFour;
    }
  }

  /// Where the first of four number `i` lies, and how many there are.
  TD_DEVICE int operator()(int64_t i, int64_t (&at)[N]) const {
    int there = kFour;
    for (int k = 0; k < N; ++k) at[k] = 0;
    for_indices(i, places.ndim, places.by, [&](int d, int64_t index) {
      if (d == places.ndim - 1 && length - index * kFour < kFour) there = static_cast<int>(length - index * kFour);
      for (int k = 0; k < N; ++k) at[k] += index * places.strides[k][d];
    });
    return there;
  }
};

}  // namespace tandem::kernels::cuda
