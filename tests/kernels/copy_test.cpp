// Copies between layouts and dtypes, fills, ranges and triangles.
#include <cmath>
#include <limits>
#include <random>

#include "kernels/raw.h"

namespace tandem::kernels::testing {
namespace {

class Copies : public EverySet {};
TD_EVERY_SET(Copies);

struct Layout {
  std::vector<int64_t> sizes, out, in;
};
const Layout kLayouts[] = {
    {{}, {}, {}},
    {{1}, {1}, {5}},
    {{1000}, {1}, {1}},
    {{1000}, {1}, {0}},
    {{1000}, {2}, {3}},
    {{200000}, {1}, {1}},
    {{30, 50}, {50, 1}, {1, 30}},
    {{64, 64}, {64, 1}, {1, 64}},
    {{129, 67}, {67, 1}, {1, 129}},
    {{500, 300}, {300, 1}, {1, 500}},
    {{30, 50}, {1, 30}, {50, 1}},
    {{30, 50}, {1, 30}, {1, 31}},
    {{4, 30, 50}, {1500, 50, 1}, {1500, 1, 30}},
    {{4, 30, 50}, {1500, 50, 1}, {1, 200, 4}},
    {{2, 3, 8, 9}, {216, 1, 27, 3}, {216, 72, 9, 1}},  // to channels last
    {{2, 3, 8, 9}, {216, 72, 9, 1}, {216, 1, 27, 3}},
    {{7, 40}, {41, 1}, {42, 1}},
};

int64_t extent(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
  return last + 1;
}

TEST_P(Copies, EveryLayoutAndPairOfDtypes) {
  std::mt19937_64 random(2);
  for (const Layout& layout : kLayouts)
    for (int f = 0; f < kDTypes; ++f)
      for (int t = 0; t < kDTypes; ++t) {
        const auto from = static_cast<DType>(f), to = static_cast<DType>(t);
        if (extent(layout.sizes, layout.in) > 100000 && f != t && f + t != 9) continue;
        Memory in(from, extent(layout.sizes, layout.in)), out(to, extent(layout.sizes, layout.out));
        for (int64_t i = 0; i < in.count(); ++i)
          in.set(i, static_cast<double>(random() % 120) * (from == kFloat32 || from == kFloat64 ? 1.0 : 0.5));
        for (int64_t i = 0; i < out.count(); ++i) out.set(i, 77);
        const View source = in.view(layout.sizes, layout.in);
        const Out target = out.out(layout.sizes, layout.out);
        cpu_table().copy(TestQueue(2), target, source);
        int64_t wrong = 0, untouched = 0;
        for (int64_t i = 0; i < target.numel(); ++i) {
          Memory wanted(to, 1);
          wanted.set(0, in.get(place(source, i)));
          wrong += out.get(place(target, i)) != wanted.get(0);
        }
        for (int64_t i = 0; i < out.count(); ++i) untouched += out.get(i) == (to == kBool ? 1 : 77);
        EXPECT_EQ(wrong, 0) << from << " to " << to << " of sizes " << Shape(layout.sizes);
        EXPECT_GE(untouched, out.count() - target.numel());
        if (wrong) return;
      }
}

TEST_P(Copies, ConversionsOfSpecialValues) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto convert = [](DType from, DType to, double value, int64_t n) {
    Memory in(from, n), out(to, n);
    for (int64_t i = 0; i < n; ++i) in.set(i, value);
    cpu_table().copy(TestQueue(), out.out({n}), in.view({n}));
    for (int64_t i = 1; i < n; ++i)
      EXPECT_TRUE(out.get(i) == out.get(0) || std::isnan(out.get(0))) << from << " to " << to << " of " << value;
    return out.get(0);
  };
  for (const int64_t n : {1, 40}) {
    for (const DType from : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
      EXPECT_EQ(convert(from, kBool, std::nan(""), n), 1);
      EXPECT_EQ(convert(from, kBool, 0.25, n), 1);
      EXPECT_EQ(convert(from, kBool, -0.0, n), 0);
      EXPECT_EQ(convert(from, kInt32, -2.75, n), -2);
      EXPECT_EQ(convert(from, kInt8, 2.75, n), 2);
      for (const DType to : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
        EXPECT_TRUE(std::isnan(convert(from, to, std::nan(""), n)));
        EXPECT_EQ(convert(from, to, -inf, n), -inf);
      }
    }
    EXPECT_EQ(convert(kFloat32, kFloat16, 65520, n), inf);
    EXPECT_EQ(convert(kFloat32, kFloat16, 65519, n), 65504);
    EXPECT_EQ(convert(kFloat32, kFloat16, 2.98023224e-8, n), 0);  // half the smallest number: to even
    EXPECT_EQ(convert(kFloat32, kFloat16, 6e-8, n), std::ldexp(1, -24));
    EXPECT_EQ(convert(kFloat32, kBFloat16, 1.00390625, n), 1);  // a tie: to even
    EXPECT_EQ(convert(kInt32, kInt8, 300, n), 44);
    EXPECT_EQ(convert(kInt32, kUInt8, -1, n), 255);
    EXPECT_EQ(convert(kInt64, kFloat32, 16777217, n), 16777216);
    EXPECT_EQ(convert(kFloat64, kInt64, -1e18, n), -1e18);
    EXPECT_EQ(convert(kFloat32, kInt32, inf, n), static_cast<double>(std::numeric_limits<int32_t>::min()));
  }
}

TEST_P(Copies, EveryHalfGoesToFloatAndBack) {
  constexpr int64_t n = 65536;
  Memory half(kFloat16, n), single(kFloat32, n), back(kFloat16, n), brain(kBFloat16, n), brain_back(kBFloat16, n);
  for (int64_t i = 0; i < n; ++i) half.as<uint16_t>()[i] = brain.as<uint16_t>()[i] = static_cast<uint16_t>(i);
  cpu_table().copy(TestQueue(), single.out({n}), half.view({n}));
  cpu_table().copy(TestQueue(), back.out({n}), single.view({n}));
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i) {
    const bool nan = std::isnan(single.get(i));
    wrong += nan ? !std::isnan(back.get(i)) : half.as<uint16_t>()[i] != back.as<uint16_t>()[i] || single.get(i) != half.get(i);
  }
  EXPECT_EQ(wrong, 0);
  cpu_table().copy(TestQueue(), single.out({n}), brain.view({n}));
  cpu_table().copy(TestQueue(), brain_back.out({n}), single.view({n}));
  for (int64_t i = 0; i < n; ++i)
    wrong += std::isnan(single.get(i)) ? !std::isnan(brain_back.get(i)) : brain.as<uint16_t>()[i] != brain_back.as<uint16_t>()[i];
  EXPECT_EQ(wrong, 0);
}

TEST_P(Copies, Fill) {
  for (int d = 0; d < kDTypes; ++d)
    for (const int64_t n : {1, 3, 1000, 70000}) {
      const auto dtype = static_cast<DType>(d);
      Memory dense(dtype, n), strided(dtype, 2 * n);
      for (int64_t i = 0; i < 2 * n; ++i) strided.set(i, 1);
      cpu_table().fill(TestQueue(2), dense.out({n}), Value{3, 3, false});
      cpu_table().fill(TestQueue(2), strided.out({n}, {2}), Value{0, 0, true});
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(dense.get(i), dtype == kBool ? 1 : 3) << dtype;
        ASSERT_EQ(strided.get(2 * i), 0);
        ASSERT_EQ(strided.get(2 * i + 1), 1);
      }
    }
  Memory out(kInt64, 1);
  cpu_table().fill(TestQueue(), out.out({}), Value{0, std::numeric_limits<int64_t>::max() - 1, false});
  EXPECT_EQ(out.as<int64_t>()[0], std::numeric_limits<int64_t>::max() - 1);
}

TEST_P(Copies, Ranges) {
  for (const DType dtype : {kFloat32, kFloat64, kInt64, kInt32, kInt8, kFloat16}) {
    Memory out(dtype, 100);
    cpu_table().arange(TestQueue(), out.out({100}), Value{-50, -50, false}, Value{1, 1, false});
    for (int64_t i = 0; i < 100; ++i) ASSERT_EQ(out.get(i), static_cast<double>(i - 50)) << dtype;
    cpu_table().linspace(TestQueue(), out.out({5}), -2, 2);
    for (int64_t i = 0; i < 5; ++i) ASSERT_EQ(out.get(i), static_cast<double>(i - 2));
  }
  Memory out(kFloat32, 11);
  cpu_table().arange(TestQueue(), out.out({11}), Value{0.5, 0, true}, Value{0.1, 0, true});
  for (int64_t i = 0; i < 11; ++i) EXPECT_EQ(out.get(i), static_cast<double>(static_cast<float>(0.5 + 0.1 * static_cast<double>(i))));
  cpu_table().linspace(TestQueue(), out.out({11}), 0, 0.3);
  EXPECT_EQ(out.get(10), static_cast<double>(0.3F));
  cpu_table().linspace(TestQueue(), out.out({1}), 0.7, 5);
  EXPECT_EQ(out.get(0), static_cast<double>(0.7F));
  Memory large(kInt64, 2);
  cpu_table().arange(TestQueue(), large.out({2}), Value{0, (int64_t{1} << 60) + 1, false}, Value{0, 2, false});
  EXPECT_EQ(large.as<int64_t>()[1], (int64_t{1} << 60) + 3);
}

TEST_P(Copies, Triangles) {
  for (const bool upper : {true, false})
    for (const int64_t diagonal : {-9, -2, 0, 1, 9})
      for (const DType dtype : {kFloat32, kInt64, kBool, kFloat16}) {
        constexpr int64_t batch = 3, rows = 5, columns = 7;
        Memory in(dtype, batch * rows * columns), out(dtype, batch * rows * columns);
        for (int64_t i = 0; i < in.count(); ++i) in.set(i, static_cast<double>(i % 50 + 1)), out.set(i, 9);
        const View from = in.view({batch, rows, columns}, {35, 1, 5});
        cpu_table().triangle(TestQueue(2), out.out({batch, rows, columns}), from, diagonal, upper);
        for (int64_t i = 0; i < in.count(); ++i) {
          const int64_t row = i / columns % rows, column = i % columns;
          const bool kept = upper ? column - row >= diagonal : column - row <= diagonal;
          ASSERT_EQ(out.get(i), kept ? in.get(place(from, i)) : 0);
        }
      }
}

TEST_P(Copies, NothingOfNothing) {
  Memory out(kFloat32, 1);
  out.set(0, 5);
  cpu_table().copy(TestQueue(), out.out({0, 3}), out.view({0, 3}));
  cpu_table().fill(TestQueue(), out.out({0}), Value{1, 1, false});
  cpu_table().arange(TestQueue(), out.out({0}), Value{}, Value{});
  cpu_table().triangle(TestQueue(), out.out({0, 4}), out.view({0, 4}), 0, true);
  EXPECT_EQ(out.get(0), 5);
}

}  // namespace
}  // namespace tandem::kernels::testing
