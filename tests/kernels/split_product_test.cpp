// Products by AMX of numbers split into three: as accurate as plain sums, of every size and layout; and which numbers it is not for.
#include "kernels/cpu/split_product.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/queue.h"
#include "kernels/table.h"
#include "kernels/view.h"

namespace tandem::kernels::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

/// A matrix of random numbers whose rows, or columns, are contiguous and lie a little apart.
struct Matrix {
  std::vector<float> values;
  int64_t row, column;

  Matrix(int64_t rows, int64_t columns, bool by_rows, uint32_t seed)
      : values(static_cast<size_t>(by_rows ? rows * (columns + 3) : (rows + 3) * columns)),
        row(by_rows ? columns + 3 : 1),
        column(by_rows ? 1 : rows + 3) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (float& value : values) value = normal(random);
  }
  [[nodiscard]] float at(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * row + j * column)]; }
};

class SplitProduct : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_split_product()) GTEST_SKIP() << "this processor has no AMX";
  }
};

/// Memory of so many bytes from a cache line on; says so when something behind it was written.
class Guarded {
 public:
  explicit Guarded(size_t bytes)
      : memory_(bytes + 128, 0xA5), data_(memory_.data() + (64 - reinterpret_cast<uintptr_t>(memory_.data()) % 64) % 64), bytes_(bytes) {}
  ~Guarded() {
    for (const unsigned char* p = data_ + bytes_; p < memory_.data() + memory_.size(); ++p) EXPECT_EQ(*p, 0xA5) << "past the memory";
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  [[nodiscard]] unsigned char* data() const { return data_; }

 private:
  std::vector<unsigned char> memory_;
  unsigned char* data_;
  size_t bytes_;
};

/// `packs_b`: b is what all threads share.
std::vector<float> product_of(const Matrix& a, const Matrix& b, int64_t m, int64_t n, int64_t k, bool packs_b = true,
                              const float* bias = nullptr) {
  std::vector<float> out(static_cast<size_t>(m * (n + 5)), 77);
  const int64_t lines = packs_b ? m : n, packed_lines = packs_b ? n : m;
  const SplitLines of_a{a.values.data(), a.row, a.column, true}, of_b{b.values.data(), b.column, b.row, false};
  const Guarded scratch(split_product_scratch(lines, packed_lines, k)), packed(split_bytes(packed_lines, k));
  auto* const to = reinterpret_cast<uint16_t*>(packed.data());
  const int64_t cut = k / 64 * 32;  // in two pieces, as threads would
  split_pack(to, packs_b ? of_b : of_a, packed_lines, cut, k, k);
  if (cut > 0) split_pack(to, packs_b ? of_b : of_a, packed_lines, 0, cut, k);
  const Epilogue epilogue;
  split_product({.lines = packs_b ? of_a : of_b,
                 .packed = to,
                 .m = m,
                 .n = n,
                 .k = k,
                 .out = out.data(),
                 .out_row = n + 5,
                 .epilogue = bias ? &epilogue : nullptr,
                 .bias = bias,
                 .bias_column = 1},
                scratch.data());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = n; j < n + 5; ++j) EXPECT_EQ(out[static_cast<size_t>(i * (n + 5) + j)], 77) << "past a row";
  return out;
}

TEST_F(SplitProduct, IsAsAccurateAsPlainSums) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                {31, 33, 32},
                                {32, 32, 31},
                                {33, 31, 65},
                                {16, 17, 513},
                                {128, 1024, 1},
                                {129, 40, 512},
                                {130, 1025, 33},
                                {257, 70, 1030}})
    for (const bool a_rows : {true, false})
      for (const bool b_rows : {true, false}) {
        const Matrix a(m, k, a_rows, 1), b(k, n, b_rows, 2);
        const std::vector<float> out = product_of(a, b, m, n, k);
        EXPECT_EQ(out, product_of(a, b, m, n, k, false)) << m << "x" << n << "x" << k << a_rows << b_rows;
        const std::vector<float> bias(static_cast<size_t>(n), 3), with_bias = product_of(a, b, m, n, k, a_rows, bias.data());
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            const auto at = static_cast<size_t>(i * (n + 5) + j);
            EXPECT_NEAR(with_bias[at], out[at] + 3, 2e-5 * static_cast<double>(k)) << i << " " << j;
          }
        double error = 0, plain_error = 0, worst = 0;
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double exact = 0, size = 0;
            float plain = 0;
            for (int64_t q = 0; q < k; ++q) {
              const double term = static_cast<double>(a.at(i, q)) * b.at(q, j);
              exact += term;
              size += std::abs(term);
              plain = std::fma(a.at(i, q), b.at(q, j), plain);
            }
            const double found = out[static_cast<size_t>(i * (n + 5) + j)];
            error += (found - exact) * (found - exact);
            plain_error += (plain - exact) * (plain - exact);
            worst = std::max(worst, std::abs(found - exact) / size);
          }
        EXPECT_LE(worst, 0x1p-21) << m << "x" << n << "x" << k << a_rows << b_rows;
        if (k >= 32) {
          EXPECT_LE(error, plain_error) << m << "x" << n << "x" << k << a_rows << b_rows;
        }
      }
}

TEST_F(SplitProduct, IsNotForNumbersThatCannotBeSplit) {
  const auto of = [](const std::vector<float>& values) {
    alignas(64) uint16_t packed[kSplitPanelElements];
    const auto n = static_cast<int64_t>(values.size());
    return split_pack(packed, {values.data(), n, 1, true}, 1, 0, n, n);
  };
  const Magnitudes common = of({1, -2, 0, 3});
  EXPECT_EQ(common.least, std::bit_cast<uint32_t>(1.0F));
  EXPECT_EQ(common.most, std::bit_cast<uint32_t>(3.0F));
  EXPECT_TRUE(can_split(common, common, 1000));
  EXPECT_TRUE(can_split(of({0, 0}), common, 1000));
  EXPECT_TRUE(can_split(of({1e-25F, 1}), common, 1000));
  for (const float value : {kInfinity, -kInfinity, kNan, 1e-36F, -1e-42F, 3e38F})
    for (const bool other_is_zero : {false, true}) {
      const Magnitudes odd = of({0, value, 1}), other = other_is_zero ? of({0}) : common;
      if (other_is_zero && std::abs(value) < 1) continue;  // zero whatever is lost
      EXPECT_FALSE(can_split(odd, other, 10)) << value;
      EXPECT_FALSE(can_split(other, odd, 10)) << value;
    }
  EXPECT_FALSE(can_split(of({1e19F}), of({1e19F}), 1000));  // the sums would not be finite
  EXPECT_FALSE(can_split(of({1e-20F}), of({1e-20F}), 1000));
}

/// The whole way from views: with numbers of all kinds it is what sums in double give.
TEST_F(SplitProduct, GivesWayToPlainSums) {
  constexpr int64_t m = 420, n = 400, k = 40;
  for (const float value : {1.0F, kInfinity, -kInfinity, kNan, 1e-36F, 1e-42F, 3e38F, -3e38F}) {
    Matrix a(m, k, true, 3), b(k, n, false, 4);
    a.values[static_cast<size_t>(7 * a.row + 5)] = value;
    for (const int threads : {1, 2, 5}) {
      std::vector<float> out(static_cast<size_t>(m * n));
      const auto view = [](auto data, int64_t rows, int64_t columns, int64_t row, int64_t column) {
        Out v{};
        v.data = const_cast<float*>(data);
        v.dtype = kFloat32;
        v.ndim = 2;
        v.sizes[0] = rows, v.sizes[1] = columns;
        v.strides[0] = row, v.strides[1] = column;
        return v;
      };
      const Out x = view(a.values.data(), m, k, a.row, a.column), y = view(b.values.data(), k, n, b.row, b.column),
                z = view(out.data(), m, n, n, 1);
      const size_t bytes = cpu_table().matmul_workspace(z, x, y, {}, {});
      std::vector<unsigned char> workspace(bytes + 64);
      auto* const aligned = reinterpret_cast<unsigned char*>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64);
      testing::TestQueue queue(threads);
      cpu_table().matmul(queue, z, x, y, {}, {}, aligned);
      for (const int64_t i : {int64_t{0}, int64_t{7}, m - 1})
        for (int64_t j = 0; j < n; ++j) {
          double exact = 0, size = 0;
          for (int64_t q = 0; q < k; ++q) {
            exact += static_cast<double>(a.at(i, q)) * b.at(q, j);
            size += std::abs(static_cast<double>(a.at(i, q)) * b.at(q, j));
          }
          const float found = out[static_cast<size_t>(i * n + j)], expected = static_cast<float>(exact);
          if (std::isnan(expected)) EXPECT_TRUE(std::isnan(found)) << value << " " << i << " " << j;
          else if (std::isinf(expected) || size > 1e38) EXPECT_TRUE(found == expected || size > 1e38) << value << " " << i << " " << j;
          else EXPECT_NEAR(found, expected, size * 1e-6) << value << " " << i << " " << j;
        }
    }
  }
}

TEST_F(SplitProduct, DoesNotDependOnThreads) {
  constexpr int64_t m = 500, n = 430, k = 600;
  const Matrix a(m, k, true, 5), b(k, n, true, 6);
  const std::vector<float> whole = product_of(a, b, m, n, k);
  // A block of it is what the whole has there.
  Matrix lower = a;
  lower.values.erase(lower.values.begin(), lower.values.begin() + 224 * lower.row);
  const std::vector<float> part = product_of(lower, b, m - 224, n, k);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 224 * (n + 5)));
}

}  // namespace
}  // namespace tandem::kernels::cpu
