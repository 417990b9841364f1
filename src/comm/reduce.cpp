#include "comm/reduce.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tandem::comm {
namespace {

constexpr int64_t kBlock = 512;  // elements that stay in the first cache

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) return a || b;
    else if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else return a + b;
  }
};
struct Product {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) return a && b;
    else if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else return a * b;
  }
};
// A nan on either side is the result, as in PyTorch's minimum and maximum.
struct Min {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a < b || a != a ? a : b;
    else return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a > b || a != a ? a : b;
    else return a > b ? a : b;
  }
};

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T, class Op>
void reduce_blocks(T* out, const void* const* inputs, int n, int64_t count, bool average) {
  using W = Wide<T>;
  const auto input = [&](int i) { return static_cast<const T*>(inputs[i]); };
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t size = std::min(kBlock, count - begin);
    W sums[kBlock];
    const T* first = input(0) + begin;
    for (int64_t k = 0; k < size; ++k) sums[k] = static_cast<W>(first[k]);
    for (int i = 1; i < n; ++i) {
      const T* next = input(i) + begin;
      for (int64_t k = 0; k < size; ++k) sums[k] = Op::template apply<W>(sums[k], static_cast<W>(next[k]));
    }
    if constexpr (std::is_floating_point_v<W>) {
      if (average)
        for (int64_t k = 0; k < size; ++k) sums[k] /= static_cast<W>(n);
    }
    T* to = out + begin;
    for (int64_t k = 0; k < size; ++k) to[k] = static_cast<T>(sums[k]);
  }
}

}  // namespace

void reduce_elements(void* out, const void* const* inputs, int n, int64_t count, DType dtype, ReduceOp op) {
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* to = static_cast<T*>(out);
    switch (op) {
      case ReduceOp::SUM: return reduce_blocks<T, Sum>(to, inputs, n, count, false);
      case ReduceOp::AVG: return reduce_blocks<T, Sum>(to, inputs, n, count, true);
      case ReduceOp::PRODUCT: return reduce_blocks<T, Product>(to, inputs, n, count, false);
      case ReduceOp::MIN: return reduce_blocks<T, Min>(to, inputs, n, count, false);
      default: return reduce_blocks<T, Max>(to, inputs, n, count, false);
    }
  });
}

}  // namespace tandem::comm
