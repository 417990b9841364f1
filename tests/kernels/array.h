// Memory for kernel tests: elements of any type in any layout, with guard bytes before, between and after them that no kernel may touch.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/every_set.h"
#include "kernels/queue.h"
#include "kernels/view.h"

namespace tandem::kernels::testing {

using Sizes = std::vector<int64_t>;

/// How elements lie in memory.
enum class Layout {
  Dense,
  Swapped,   // the last two dimensions exchanged: a transposed matrix
  Reversed,  // all dimensions in reverse order
  Gaps,      // every stride doubled, with memory between elements that belongs to nobody
  RowGaps,   // rows dense, but longer in memory than in the view
};
inline const char* name(Layout layout) {
  constexpr const char* names[] = {"Dense", "Swapped", "Reversed", "Gaps", "RowGaps"};
  return names[static_cast<int>(layout)];
}
inline constexpr Layout kLayouts[] = {Layout::Dense, Layout::Swapped, Layout::Reversed, Layout::Gaps, Layout::RowGaps};

class Array {
 public:
  explicit Array(DType dtype, const Sizes& sizes, Layout layout = Layout::Dense) {
    view_.dtype = dtype;
    view_.ndim = static_cast<int32_t>(sizes.size());
    std::vector<int> order(sizes.size());  // from the innermost dimension out
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(order.size() - 1 - i);
    if (layout == Layout::Swapped && order.size() >= 2) std::swap(order[0], order[1]);
    if (layout == Layout::Reversed) std::reverse(order.begin(), order.end());
    int64_t step = layout == Layout::Gaps ? 2 : 1;
    for (size_t i = 0; i < order.size(); ++i) {
      const int d = order[i];
      view_.sizes[d] = sizes[static_cast<size_t>(d)];
      view_.strides[d] = step;
      step *= std::max<int64_t>(1, sizes[static_cast<size_t>(d)]);
      if (layout == Layout::RowGaps && i == 0) step += 3;
    }
    bytes_.assign((static_cast<size_t>(step) + 2 * kGuard) * size_of(dtype), kPattern);
    view_.data = bytes_.data() + kGuard * size_of(dtype);
    for (int64_t i = 0; i < numel(); ++i) set(i, 0);
  }
  Array(DType dtype, const Sizes& sizes, const std::vector<double>& values) : Array(dtype, sizes) {
    for (int64_t i = 0; i < numel(); ++i) set(i, values[static_cast<size_t>(i)]);
  }

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] Out out() { return Out{view_}; }
  [[nodiscard]] Change change() { return Change{view_}; }
  /// Larger sizes where this one's are 1, by strides of 0.
  [[nodiscard]] View expanded(const Sizes& sizes) const {
    View wide = view_;
    wide.ndim = static_cast<int32_t>(sizes.size());
    for (int d = 0; d < wide.ndim; ++d) {
      const int own = d - (wide.ndim - view_.ndim);
      wide.sizes[d] = sizes[static_cast<size_t>(d)];
      wide.strides[d] = own < 0 || view_.sizes[own] == 1 ? 0 : view_.strides[own];
    }
    return wide;
  }
  [[nodiscard]] int64_t numel() const { return view_.numel(); }
  [[nodiscard]] DType dtype() const { return view_.dtype; }

  /// Element i in row-major order of the view.
  [[nodiscard]] double operator[](int64_t i) const {
    return visit(view_.dtype, [&]<class T>(T) { return to_double(*static_cast<const T*>(address(i))); });
  }
  void set(int64_t i, double value) {
    visit(view_.dtype, [&]<class T>(T) {
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) *static_cast<T*>(address(i)) = T(static_cast<float>(value));
      else if constexpr (std::is_same_v<T, bool>) *static_cast<T*>(address(i)) = value != 0;
      else *static_cast<T*>(address(i)) = static_cast<T>(value);
    });
  }
  /// Numbers that small sums of products hold exactly, even in half types: quarters in [-2, 2]; whole numbers for integers (0 … 4
  /// unsigned).
  Array& random(uint64_t seed) {
    for (int64_t i = 0; i < numel(); ++i) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      const auto r = static_cast<int64_t>(seed >> 33);
      set(i, is_floating(dtype())                    ? static_cast<double>(r % 17 - 8) / 4
             : dtype() == kBool || dtype() == kUInt8 ? static_cast<double>(r % 5)
                                                     : static_cast<double>(r % 9 - 4));
    }
    return *this;
  }
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> all;
    for (int64_t i = 0; i < numel(); ++i) all.push_back((*this)[i]);
    return all;
  }

  /// Whether every byte that is no element's is as it was.
  [[nodiscard]] bool guards_stand() const {
    std::vector<bool> taken(bytes_.size());
    for (int64_t i = 0; i < numel(); ++i) {
      const auto at = static_cast<size_t>(static_cast<const unsigned char*>(address(i)) - bytes_.data());
      for (size_t b = 0; b < size_of(dtype()); ++b) taken[at + b] = true;
    }
    for (size_t b = 0; b < bytes_.size(); ++b)
      if (!taken[b] && bytes_[b] != kPattern) return false;
    return true;
  }

 private:
  static constexpr size_t kGuard = 32;
  static constexpr unsigned char kPattern = 0xA5;

  template <class T>
  static double to_double(T x) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return static_cast<double>(static_cast<float>(x));
    else return static_cast<double>(x);
  }
  [[nodiscard]] void* address(int64_t i) const {
    int64_t at = 0;
    for (int d = view_.ndim - 1; d >= 0; --d) {
      at += i % view_.sizes[d] * view_.strides[d];
      i /= view_.sizes[d];
    }
    return view_.as<unsigned char>() + at * static_cast<int64_t>(size_of(view_.dtype));
  }

  View view_;
  std::vector<unsigned char> bytes_;
};

/// What a type's results may differ by, for values of about one.
inline double tolerance(DType dtype) {
  return dtype == kFloat64 ? 1e-12 : dtype == kFloat32 ? 2e-6 : dtype == kFloat16 ? 2e-3 : dtype == kBFloat16 ? 1.6e-2 : 0;
}
inline void expect_close(const Array& actual, const std::vector<double>& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(actual.numel(), static_cast<int64_t>(expected.size())) << what;
  for (int64_t i = 0; i < actual.numel(); ++i) {
    const double x = actual[i], y = expected[static_cast<size_t>(i)];
    if (std::isnan(y) ? std::isnan(x) : x == y) continue;
    ASSERT_LE(std::abs(x - y), tolerance * std::max(1.0, std::abs(y))) << what << ", element " << i << ": " << x << " instead of " << y;
  }
  EXPECT_TRUE(actual.guards_stand()) << what << ": wrote outside";
}

}  // namespace tandem::kernels::testing
