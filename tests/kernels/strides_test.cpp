// Sizes and strides: collapsed dimensions reach the elements that the ones before them did, in the same order.
#include "kernels/strides.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include "kernels/pointwise_call.h"

namespace tandem::kernels {
namespace {

constexpr int kArrays = 3;

/// Dimensions of three arrays: some of them go on where the next one ends, some repeat, some run backwards.
struct Arrays {
  int ndim;
  int64_t sizes[kMaxDims], strides[kArrays][kMaxDims];

  explicit Arrays(std::mt19937& random) : ndim(static_cast<int>(random() % 6)) {
    for (int d = ndim - 1; d >= 0; --d) {
      sizes[d] = 1 + static_cast<int64_t>(random() % 4);
      for (auto& list : strides) {
        const int64_t on = d + 1 < ndim ? list[d + 1] * sizes[d + 1] : 1;
        list[d] = random() % 4 ? on : static_cast<int64_t>(random() % 13) - 6;
      }
    }
  }
  [[nodiscard]] int64_t numel() const {
    int64_t n = 1;
    for (int d = 0; d < ndim; ++d) n *= sizes[d];
    return n;
  }
  /// By divisions alone.
  [[nodiscard]] int64_t place(int array, int64_t n) const {
    int64_t place = 0;
    for (int d = ndim - 1; d >= 0; --d) {
      place += n % sizes[d] * strides[array][d];
      n /= sizes[d];
    }
    return place;
  }
};

TEST(Strides, CollapsedDimensionsReachTheSameElements) {
  std::mt19937 random(3);
  int fewer = 0;
  for (int round = 0; round < 2000; ++round) {
    const Arrays arrays(random);
    StridedDims<kArrays> dims;
    for (int d = 0; d < arrays.ndim; ++d) dims.push(arrays.sizes[d], {arrays.strides[0][d], arrays.strides[1][d], arrays.strides[2][d]});
    fewer += dims.ndim < arrays.ndim;
    ASSERT_EQ(dims.numel, arrays.numel());
    for (int d = 0; d + 1 < dims.ndim; ++d) {
      bool joins = true;
      for (const auto& list : dims.strides) joins &= list[d] == list[d + 1] * dims.sizes[d + 1];
      EXPECT_FALSE(joins) << "two dimensions that are one";
    }
    for (int64_t n = 0; n < dims.numel; ++n) {
      const auto places = dims.locate(n);
      for (int k = 0; k < kArrays; ++k) {
        ASSERT_EQ(places[static_cast<size_t>(k)], arrays.place(k, n));
        ASSERT_EQ(offset_of(n, arrays.ndim, arrays.sizes, arrays.strides[k]), arrays.place(k, n));
      }
    }
    dims.require_one();
    EXPECT_GE(dims.ndim, 1);
  }
  EXPECT_GT(fewer, 500);
}

TEST(Strides, DimensionsThatMayNotJoinStayApart) {
  StridedDims<1> dims;
  dims.push(2, {12});
  dims.push(3, {4}, false);
  dims.push(1, {4}, false);
  dims.push(4, {1});
  EXPECT_EQ(dims.ndim, 3);
  EXPECT_EQ(dims.sizes[0], 2);
  EXPECT_EQ(dims.sizes[1], 3);
  EXPECT_EQ(dims.sizes[2], 4);
}

TEST(Strides, ExtentsHoldEveryElement) {
  std::mt19937 random(4);
  for (int round = 0; round < 500; ++round) {
    const Arrays arrays(random);
    const Extent extent = extent_of(arrays.ndim, arrays.sizes, arrays.strides[0]);
    int64_t first = 0, last = 0;
    for (int64_t n = 0; n < arrays.numel(); ++n) {
      first = std::min(first, arrays.place(0, n));
      last = std::max(last, arrays.place(0, n));
    }
    EXPECT_EQ(extent.first, first);
    EXPECT_EQ(extent.last, last);
  }
}

TEST(Strides, AreOrderedByMagnitudeAndStay) {
  const int64_t strides[] = {1, -8, 8, 0, 100, 8};
  int order[5];
  order_by_stride(1, 6, strides, order);
  EXPECT_EQ(std::vector<int>(order, order + 5), (std::vector<int>{4, 1, 2, 5, 3}));
}

TEST(Strides, ContiguousArraysHaveNoGaps) {
  const int64_t sizes[] = {2, 1, 3}, dense[] = {3, 77, 1}, gap[] = {4, 4, 1};
  EXPECT_TRUE(is_contiguous(3, sizes, dense));
  EXPECT_FALSE(is_contiguous(3, sizes, gap));
  EXPECT_TRUE(is_contiguous(0, sizes, gap));
}

TEST(Strides, OfACallAreCollapsedAlike) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const Arrays arrays(random);
    for (const bool by_stride : {false, true}) {
      Pointwise call{};
      float element;
      call.inputs = 3;
      call.ndim = static_cast<int8_t>(arrays.ndim);
      call.in[0].data = call.in[2].data = &element;  // the second operand is a number
      std::copy_n(arrays.sizes, arrays.ndim, call.sizes);
      std::copy_n(arrays.strides[0], arrays.ndim, call.out_strides);
      std::copy_n(arrays.strides[1], arrays.ndim, call.in[0].strides);
      std::copy_n(arrays.strides[2], arrays.ndim, call.in[2].strides);
      collapse_dims(call, by_stride);
      std::vector<std::vector<int64_t>> before, after;
      for (int64_t n = 0; n < arrays.numel(); ++n) {
        before.push_back({arrays.place(0, n), arrays.place(1, n), arrays.place(2, n)});
        after.push_back({offset_of(n, call.ndim, call.sizes, call.out_strides), offset_of(n, call.ndim, call.sizes, call.in[0].strides),
                         offset_of(n, call.ndim, call.sizes, call.in[2].strides)});
      }
      if (by_stride) {  // the same elements together, in another order
        std::sort(before.begin(), before.end());
        std::sort(after.begin(), after.end());
        for (int d = 0; d + 1 < call.ndim; ++d) EXPECT_GE(std::abs(call.out_strides[d]), std::abs(call.out_strides[d + 1]));
      }
      EXPECT_EQ(after, before);
    }
  }
}

}  // namespace
}  // namespace tandem::kernels
