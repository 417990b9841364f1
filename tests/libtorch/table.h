// Tables of what libtorch's spelling gives beside what tandem's core gives, row by row.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "support/on_device.h"
#include "tandem.h"

/// A row: results that are to be the core's. `without` is the core's result without the option that the row is about. It must be another,
/// as a row could not fail else.
struct TableRow {
  const char* name;
  std::vector<tandem::Tensor> results;
  tandem::Tensor expected;
  tandem::Tensor without = {};
};

/// Whether two tensors have the same type, sizes and, but for rounding, values.
inline bool same_values(const tandem::Tensor& a, const tandem::Tensor& b) {
  const auto numbers = [](const tandem::Tensor& x) { return x.detach().cpu().to(tandem::kFloat64); };
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && tandem::allclose(numbers(a), numbers(b), 1e-5, 1e-6);
}

/// The elements of several results as those of one, of the first one's type.
inline tandem::Tensor joined(const std::vector<tandem::Tensor>& parts) {
  std::vector<tandem::Tensor> flat;
  for (const tandem::Tensor& part : parts) flat.push_back(part.detach().flatten().to(parts.front().dtype()));
  return tandem::cat(flat);
}

inline void expect_rows(const std::vector<TableRow>& rows) {
  for (const TableRow& row : rows) {
    for (size_t i = 0; i < row.results.size(); ++i) {
      const tandem::Tensor& result = row.results[i];
      EXPECT_TRUE(same_values(result, row.expected)) << row.name << ", result " << i << "\n" << result << "\n" << row.expected;
    }
    EXPECT_FALSE(row.without.defined() && same_values(row.expected, row.without)) << row.name << " shows nothing of its option";
  }
}

/// Each test of a table has a seed of its own and makes its inputs on its device.
class TableOn : public OnDevice {
 protected:
  void SetUp() override { tandem::manual_seed(1); }
  /// Numbers of a normal distribution.
  [[nodiscard]] static tandem::Tensor normal(const tandem::Shape& sizes) { return tandem::randn(sizes).to(device()); }
  /// Numbers in [0, 1).
  [[nodiscard]] static tandem::Tensor uniform(const tandem::Shape& sizes) { return tandem::rand(sizes).to(device()); }
  [[nodiscard]] static tandem::Tensor on_device(const tandem::Tensor& x) { return x.to(device()); }

  /// What f gives with the same random numbers at each call.
  template <class F>
  [[nodiscard]] static auto seeded(F&& f) {
    tandem::manual_seed(9);
    return f();
  }
  /// What f leaves in a copy of x, which it is to change and return.
  template <class F>
  [[nodiscard]] static tandem::Tensor changed(const tandem::Tensor& x, F&& f) {
    const tandem::Tensor copy = x.clone();
    EXPECT_TRUE(f(copy).is_same(copy)) << "a copy instead of the input";
    return copy;
  }
};
