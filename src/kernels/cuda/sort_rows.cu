// The order of the rows of a matrix, compared element by element: their numbers, sorted in place by a network; a row that equals another
// goes by its number, so the order is stable.
#include "kernels/cuda/bitonic.cuh"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/keys.cuh"

namespace tandem::kernels::cuda {
namespace {

struct Number {
  int64_t* order;
  TD_DEVICE void operator()(int64_t i) const { order[i] = i; }
};

struct RowLess {
  const void* data;
  DType dtype;
  int64_t columns, row, column;

  TD_DEVICE bool operator()(int64_t a, int64_t b) const {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t left = a * row + c * column, right = b * row + c * column;
      const bool wide = dtype == DType::Float64 || dtype == DType::Int64;
      const uint64_t x = wide ? wide_key(data, dtype, left) : narrow_key(data, dtype, left);
      const uint64_t y = wide ? wide_key(data, dtype, right) : narrow_key(data, dtype, right);
      if (x != y) return x < y;
    }
    return a < b;
  }
};

}  // namespace

void sort_rows(const Queue& queue, Out order, View in) {
  auto* const numbers = order.as<int64_t>();
  for_each(queue, in.sizes[0], Number{numbers});
  bitonic_sort(queue, numbers, in.sizes[0], RowLess{in.data, in.dtype, in.sizes[1], in.strides[0], in.strides[1]});
}

}  // namespace tandem::kernels::cuda
