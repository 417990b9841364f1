// Reductions, arguments of extremes, variance and running sums against plain loops in double, over layouts, dtypes, sizes and numbers of
// threads.
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "base/error.h"
#include "kernels/raw.h"

namespace tandem::kernels::testing {
namespace {

class Reductions : public EverySet {};
TD_EVERY_SET(Reductions);

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Sizes with the kept dimensions first, strides of the input, how many are reduced.
struct Layout {
  std::vector<int64_t> sizes, strides;
  int32_t reduced;
};
const Layout kLayouts[] = {
    {{1}, {1}, 1},
    {{13}, {1}, 1},
    {{1000}, {1}, 1},
    {{1000}, {3}, 1},
    {{70000}, {1}, 1},
    {{70000}, {2}, 1},
    {{5}, {1}, 0},
    {{300, 7}, {7, 1}, 1},        // short rows
    {{20, 300}, {300, 1}, 1},     // rows
    {{300, 20}, {1, 300}, 1},     // columns
    {{3, 40000}, {40000, 1}, 1},  // few long rows
    {{37, 9000}, {1, 37}, 1},     // few long columns
    {{3, 9000}, {1, 3}, 1},       // a few interleaved
    {{700, 600}, {1, 700}, 1},
    {{4, 5, 6, 7}, {210, 42, 7, 1}, 2},
    {{4, 6, 5, 7}, {210, 7, 42, 1}, 2},
    {{5, 30, 11}, {330, 1, 30}, 1},
    {{11, 5, 30}, {1, 330, 11}, 2},
    {{6, 5}, {0, 1}, 1},
    {{6, 5}, {1, 0}, 1},
    {{2, 130, 9}, {1170, 9, 1}, 1},
    {{1030, 270}, {1, 1030}, 1},        // many columns,
    {{600, 24}, {1, 600}, 1},           // of few elements,
    {{3, 200, 20}, {4000, 1, 200}, 1},  // and several times
};

/// The table's entry, with scratch memory whose end is guarded.
void reduce(const Queue& queue, Reduce op, const Out& out, const View& in, int32_t reduced) {
  Memory workspace(kUInt8, static_cast<int64_t>(cpu_table().reduce_workspace(in, reduced)));
  cpu_table().reduce(queue, op, out, in, reduced, workspace.data());
}

int64_t extent(const Layout& layout) {
  int64_t last = 0;
  for (size_t d = 0; d < layout.sizes.size(); ++d) last += (layout.sizes[d] - 1) * layout.strides[d];
  return last + 1;
}

/// The reduced elements of each result, in order, in double.
std::vector<std::vector<double>> elements(Memory& memory, const Layout& layout) {
  const View v = memory.view(layout.sizes, layout.strides);
  int64_t count = 1;
  for (size_t d = layout.sizes.size() - static_cast<size_t>(layout.reduced); d < layout.sizes.size(); ++d) count *= layout.sizes[d];
  std::vector<std::vector<double>> all(static_cast<size_t>(v.numel() / count));
  for (int64_t i = 0; i < v.numel(); ++i) all[static_cast<size_t>(i / count)].push_back(memory.get(place(v, i)));
  return all;
}

double reference(Reduce op, const std::vector<double>& x) {
  long double sum = 0, product = 1, magnitudes = 0, squares = 0;
  double greatest = x[0], least = x[0], largest = 0;
  int64_t nonzero = 0;
  bool nan = false;
  for (const double v : x) {
    sum += v;
    product *= v;
    magnitudes += std::fabs(v);
    squares += static_cast<long double>(v) * v;
    nan |= std::isnan(v);
    greatest = std::max(greatest, v);
    least = std::min(least, v);
    largest = std::max(largest, std::fabs(v));
    nonzero += v != 0;
  }
  switch (op) {
    case Reduce::Sum: return static_cast<double>(sum);
    case Reduce::Mean: return static_cast<double>(sum / x.size());
    case Reduce::Prod: return static_cast<double>(product);
    case Reduce::Max: return nan ? std::nan("") : greatest;
    case Reduce::Min: return nan ? std::nan("") : least;
    case Reduce::Any: return nonzero > 0;
    case Reduce::All: return nonzero == static_cast<int64_t>(x.size());
    case Reduce::Norm1: return static_cast<double>(magnitudes);
    case Reduce::Norm2: return static_cast<double>(std::sqrt(squares));
    case Reduce::NormInf: return nan ? std::nan("") : largest;
    case Reduce::SumOfSquares: return static_cast<double>(squares);
    default: return static_cast<double>(nonzero);
  }
}

void expect_near(double got, double wanted, double scale, double tolerance, const std::string& what) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got)) << what << " gave " << got;
  } else if (std::isinf(wanted)) {
    EXPECT_EQ(got, wanted) << what;
  } else {
    EXPECT_LE(std::fabs(got - wanted), tolerance * scale) << what << " gave " << got << ", not " << wanted;
  }
}

constexpr Reduce kFloatingOps[] = {Reduce::Sum, Reduce::Mean,  Reduce::Prod,  Reduce::Max,     Reduce::Min,          Reduce::Any,
                                   Reduce::All, Reduce::Norm1, Reduce::Norm2, Reduce::NormInf, Reduce::SumOfSquares, Reduce::CountNonzero};

DType result_of(Reduce op, DType in) {
  if (op == Reduce::Any || op == Reduce::All) return kBool;
  if (op == Reduce::CountNonzero) return kInt64;
  if (op == Reduce::Max || op == Reduce::Min || is_floating(in)) return in;
  return kInt64;
}

TEST_P(Reductions, EveryLayoutDtypeAndOperation) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const Layout& layout : kLayouts)
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16, kInt64, kInt8, kUInt8, kBool})
      for (const Reduce op : kFloatingOps) {
        if (!is_floating(dtype) &&
            (op == Reduce::Mean || op == Reduce::Norm1 || op == Reduce::Norm2 || op == Reduce::NormInf || op == Reduce::SumOfSquares))
          continue;
        if (!is_floating(dtype) && op == Reduce::Prod && dtype != kBool) continue;  // overflows; see the test of wrapping
        Memory in(dtype, extent(layout));
        for (int64_t i = 0; i < in.count(); ++i)
          in.set(i, op == Reduce::Prod   ? (random() % 2 ? 1.0009765625 : 1 / 1.0009765625)
                    : is_floating(dtype) ? normal(random)
                                         : static_cast<double>(random() % 100));
        const std::vector<int64_t> kept(layout.sizes.begin(), layout.sizes.end() - layout.reduced);
        const DType to = result_of(op, dtype);
        int64_t results = 1;
        for (const int64_t size : kept) results *= size;
        Memory out(to, results);
        TestQueue queue(2);
        reduce(queue, op, out.out(kept), in.view(layout.sizes, layout.strides), layout.reduced);
        const auto all = elements(in, layout);
        const double epsilon = to == kFloat64 ? 1e-14 : to == kFloat32 ? 3e-7 : to == kFloat16 ? 1e-3 : to == kBFloat16 ? 8e-3 : 0;
        for (size_t i = 0; i < all.size(); ++i) {
          const double wanted = reference(op, all[i]);
          double scale = std::fabs(wanted);
          if (op == Reduce::Sum || op == Reduce::Mean) {  // relative to what cancels
            scale += 3 * std::sqrt(reference(Reduce::SumOfSquares, all[i])) / (op == Reduce::Mean ? static_cast<double>(all[i].size()) : 1);
          }
          if (to == kFloat16 && std::fabs(wanted) > 65000) continue;
          const double factor = op == Reduce::Prod ? 1 + std::sqrt(static_cast<double>(all[i].size())) : 1;
          expect_near(
              out.get(static_cast<int64_t>(i)), wanted, scale, epsilon * factor,
              str("reduction ", static_cast<int>(op), " of ", dtype, " over ", Shape(layout.sizes), " result ", static_cast<int64_t>(i)));
          if (::testing::Test::HasFailure()) return;
        }
      }
}

TEST_P(Reductions, OutputsWithStridesAndOtherDtypes) {
  Memory in(kInt32, 6 * 50), out(kFloat64, 40);
  for (int64_t i = 0; i < in.count(); ++i) in.set(i, static_cast<double>(i % 7));
  for (int64_t i = 0; i < 40; ++i) out.set(i, -1);
  TestQueue queue;
  reduce(queue, Reduce::Mean, out.out({6}, {5}, 3), in.view({6, 50}), 1);
  for (int64_t r = 0; r < 6; ++r) {
    double sum = 0;
    for (int64_t i = 0; i < 50; ++i) sum += in.get(r * 50 + i);
    EXPECT_DOUBLE_EQ(out.get(3 + r * 5), sum / 50);
  }
  EXPECT_EQ(out.get(4), -1);
  reduce(queue, Reduce::Sum, out.out({50}, {0}, 0), in.view({50, 6}, {1, 50}), 1);  // must not crash; every result goes to one place
}

TEST_P(Reductions, TheMeanOfSquaresIsTheirSumDivided) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (const Layout& layout : kLayouts)
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
      Memory in(dtype, extent(layout));
      for (int64_t i = 0; i < in.count(); ++i) in.set(i, normal(random));
      const std::vector<int64_t> kept(layout.sizes.begin(), layout.sizes.end() - layout.reduced);
      int64_t results = 1, count = 1;
      for (const int64_t size : kept) results *= size;
      for (size_t d = kept.size(); d < layout.sizes.size(); ++d) count *= layout.sizes[d];
      Memory sums(kFloat64, results), means(kFloat64, results);
      TestQueue queue(2);
      const View from = in.view(layout.sizes, layout.strides);
      reduce(queue, Reduce::SumOfSquares, sums.out(kept), from, layout.reduced);
      reduce(queue, Reduce::MeanOfSquares, means.out(kept), from, layout.reduced);
      for (int64_t i = 0; i < results; ++i) {
        if (count == 0) EXPECT_TRUE(std::isnan(means.get(i))) << dtype;
        else EXPECT_EQ(means.get(i), sums.get(i) / static_cast<double>(count)) << dtype << " over " << Shape(layout.sizes);
      }
    }
}

TEST_P(Reductions, NanWinsAndInfinitiesStay) {
  for (const int64_t n : {1, 5, 17, 1000, 100000})
    for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
      Memory in(kFloat32, n), out(kFloat32, 1);
      for (int64_t i = 0; i < n; ++i) in.set(i, static_cast<double>(i % 100));
      in.set(at, std::nan(""));
      TestQueue queue(2);
      for (const Reduce op : {Reduce::Max, Reduce::Min, Reduce::Sum, Reduce::NormInf}) {
        reduce(queue, op, out.out({}), in.view({n}), 1);
        EXPECT_TRUE(std::isnan(out.get(0)));
      }
      in.set(at, -kInf);
      reduce(queue, Reduce::Min, out.out({}), in.view({n}), 1);
      EXPECT_EQ(out.get(0), -kInf);
    }
}

TEST_P(Reductions, EmptyOnesGiveTheNeutralElement) {
  Memory in(kFloat32, 1), out(kFloat32, 3);
  TestQueue queue;
  const std::pair<Reduce, double> neutral[] = {
      {Reduce::Sum, 0}, {Reduce::Prod, 1}, {Reduce::Max, -kInf}, {Reduce::Min, kInf}, {Reduce::Norm2, 0}};
  for (const auto& [op, wanted] : neutral) {
    reduce(queue, op, out.out({3}), in.view({3, 0}), 1);
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(out.get(i), wanted);
  }
  reduce(queue, Reduce::Mean, out.out({3}), in.view({3, 0}), 1);
  EXPECT_TRUE(std::isnan(out.get(2)));
  reduce(queue, Reduce::Sum, out.out({0}), in.view({0, 3}), 1);
  Memory truth(kBool, 1);
  reduce(queue, Reduce::All, truth.out({}), in.view({0}), 1);
  EXPECT_EQ(truth.get(0), 1);
  reduce(queue, Reduce::Any, truth.out({}), in.view({0}), 1);
  EXPECT_EQ(truth.get(0), 0);
}

TEST_P(Reductions, FloatSumsAreAsPreciseAsPairwiseOnes) {
  constexpr int64_t n = 4'000'000;
  Memory in(kFloat32, n), out(kFloat32, 1), columns(kFloat32, 4);
  for (int64_t i = 0; i < n; ++i) in.set(i, 0.1);
  TestQueue queue(2);
  reduce(queue, Reduce::Sum, out.out({}), in.view({n}), 1);
  const double wanted = static_cast<double>(0.1F) * n;
  // Equal numbers round the same way each time, so this is the worst case; one after another they would end 3e-2 away.
  EXPECT_LE(std::fabs(out.get(0) - wanted) / wanted, 2e-7);
  reduce(queue, Reduce::Sum, columns.out({4}), in.view({4, n / 4}, {1, 4}), 1);
  for (int64_t i = 0; i < 4; ++i) EXPECT_LE(std::fabs(columns.get(i) - wanted / 4) / wanted * 4, 2e-7);
  Memory wide(kFloat32, 16);
  reduce(queue, Reduce::Sum, wide.out({16}), in.view({16, n / 16}, {1, 16}), 1);
  for (int64_t i = 0; i < 16; ++i) EXPECT_LE(std::fabs(wide.get(i) - wanted / 16) / wanted * 16, 1e-6);
}

TEST_P(Reductions, DoNotDependOnThreads) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  for (const Layout& layout : {Layout{{1'000'003}, {1}, 1}, Layout{{3, 200'000}, {200'000, 1}, 1}, Layout{{40, 30'000}, {1, 40}, 1},
                               Layout{{2000, 500}, {1, 2000}, 1}}) {
    Memory in(kFloat32, extent(layout));
    for (int64_t i = 0; i < in.count(); ++i) in.set(i, normal(random));
    const std::vector<int64_t> kept(layout.sizes.begin(), layout.sizes.end() - 1);
    const int64_t results = kept.empty() ? 1 : kept[0];
    Memory one(kFloat32, results), many(kFloat32, results);
    for (const Reduce op : {Reduce::Sum, Reduce::Norm2}) {
      reduce(TestQueue(1), op, one.out(kept), in.view(layout.sizes, layout.strides), 1);
      for (int repeat = 0; repeat < 5; ++repeat) {
        reduce(TestQueue(4), op, many.out(kept), in.view(layout.sizes, layout.strides), 1);
        EXPECT_EQ(std::memcmp(one.data(), many.data(), static_cast<size_t>(results) * 4), 0);
      }
      cpu_table().variance(TestQueue(1), one.out(kept), Out{}, in.view(layout.sizes, layout.strides), 1, 1, nullptr);
      cpu_table().variance(TestQueue(4), many.out(kept), Out{}, in.view(layout.sizes, layout.strides), 1, 1, nullptr);
      EXPECT_EQ(std::memcmp(one.data(), many.data(), static_cast<size_t>(results) * 4), 0);
    }
  }
}

TEST_P(Reductions, IntegersWrap) {
  Memory in(kInt64, 40), out(kInt64, 1);
  for (int64_t i = 0; i < 40; ++i) in.as<int64_t>()[i] = std::numeric_limits<int64_t>::max();
  TestQueue queue;
  reduce(queue, Reduce::Sum, out.out({}), in.view({40}), 1);
  EXPECT_EQ(out.as<int64_t>()[0], -40);
  reduce(queue, Reduce::Prod, out.out({}), in.view({40}), 1);
  EXPECT_EQ(out.as<int64_t>()[0], 1);
}

TEST_P(Reductions, FirstLargestAndSmallest) {
  std::mt19937_64 random(6);
  for (const Layout& layout : kLayouts)
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kInt64, kInt16, kUInt8, kBool})
      for (const bool largest : {true, false})
        for (const bool with_nan : {false, true}) {
          if (with_nan && !is_floating(dtype)) continue;
          Memory in(dtype, extent(layout));
          for (int64_t i = 0; i < in.count(); ++i)
            in.set(i, with_nan && random() % 50 == 0 ? std::nan("") : static_cast<double>(random() % 40));
          const std::vector<int64_t> kept(layout.sizes.begin(), layout.sizes.end() - layout.reduced);
          const auto all = elements(in, layout);
          Memory values(dtype, static_cast<int64_t>(all.size())), indices(kInt64, static_cast<int64_t>(all.size()));
          TestQueue queue(2);
          const View from = in.view(layout.sizes, layout.strides);
          cpu_table().arg_reduce(queue, largest, values.out(kept), indices.out(kept), from, layout.reduced, nullptr);
          int64_t wrong = 0;
          for (size_t r = 0; r < all.size(); ++r) {
            size_t best = 0;
            for (size_t i = 1; i < all[r].size(); ++i) {
              if (std::isnan(all[r][best])) break;
              if (std::isnan(all[r][i]) || (largest ? all[r][i] > all[r][best] : all[r][i] < all[r][best])) best = i;
            }
            const double value = values.get(static_cast<int64_t>(r));
            wrong += indices.as<int64_t>()[r] != static_cast<int64_t>(best) || (value != all[r][best] && !std::isnan(all[r][best]));
          }
          EXPECT_EQ(wrong, 0) << dtype << " over " << Shape(layout.sizes);
          if (wrong) return;
        }
  Memory in(kFloat32, 3), indices(kInt64, 1);
  in.set(0, 1), in.set(1, 5), in.set(2, 5);
  cpu_table().arg_reduce(TestQueue(), true, Out{}, indices.out({}), in.view({3}), 1, nullptr);
  EXPECT_EQ(indices.get(0), 1);
}

TEST_P(Reductions, Variance) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal(1000, 2);  // far from zero: one pass would lose it
  for (const Layout& layout : kLayouts)
    for (const DType dtype : {kFloat32, kFloat64}) {
      Memory in(dtype, extent(layout));
      for (int64_t i = 0; i < in.count(); ++i) in.set(i, normal(random));
      const std::vector<int64_t> kept(layout.sizes.begin(), layout.sizes.end() - layout.reduced);
      const auto all = elements(in, layout);
      Memory variance(dtype, static_cast<int64_t>(all.size())), mean(dtype, static_cast<int64_t>(all.size()));
      for (const double correction : {0.0, 1.0}) {
        cpu_table().variance(TestQueue(2), variance.out(kept), mean.out(kept), in.view(layout.sizes, layout.strides), layout.reduced,
                             correction, nullptr);
        for (size_t r = 0; r < all.size(); ++r) {
          long double sum = 0, squares = 0;
          for (const double x : all[r]) sum += x;
          const long double center = sum / all[r].size();
          for (const double x : all[r]) squares += (x - center) * (x - center);
          const auto wanted = static_cast<double>(squares / std::max<long double>(0, static_cast<long double>(all[r].size()) - correction));
          expect_near(mean.get(static_cast<int64_t>(r)), static_cast<double>(center), 1000, dtype == kFloat32 ? 1e-7 : 1e-15, "mean");
          expect_near(variance.get(static_cast<int64_t>(r)), wanted, std::fabs(wanted) + 1e-9, dtype == kFloat32 ? 1e-5 : 1e-12,
                      "variance");
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
}

/// Where the first elements say nothing of the mean, or it moves on and on.
TEST_P(Reductions, VarianceOfAWanderingMean) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> noise;
  constexpr int64_t count = 70000;
  const std::function<double(int64_t)> means[] = {
      [](int64_t i) { return i == 0 ? 1e6 : 0.0; },                        // one far away, first
      [](int64_t i) { return i < 3000 ? 0.0 : 5000.0; },                        // one step
      [](int64_t i) { return i / 1500 % 2 ? 1e4 : -1e4; },                        // steps up and down
      [](int64_t i) { return static_cast<double>(i); },    [](int64_t i) { return i + 1 == count ? -1e7 : 1e3; },  // one far away, last
  };
  for (const auto& mean_at : means)
    for (const DType dtype : {kFloat32, kFloat64})
      for (const bool in_short_runs : {false, true}) {
        Memory in(dtype, 2 * count), variance(dtype, 1), mean(dtype, 1);
        for (int64_t i = 0; i < count; ++i) in.set(in_short_runs ? i / 7 * 14 + i % 7 : i, mean_at(i) + noise(random));
        const Layout layout = in_short_runs ? Layout{{count / 7, 7}, {14, 1}, 2} : Layout{{count}, {1}, 1};
        cpu_table().variance(TestQueue(2), variance.out({}), mean.out({}), in.view(layout.sizes, layout.strides), layout.reduced, 1,
                             nullptr);
        long double sum = 0, squares = 0;
        const auto all = elements(in, layout).front();
        for (const double x : all) sum += x;
        const long double center = sum / count;
        for (const double x : all) squares += (x - center) * (x - center);
        const auto wanted = static_cast<double>(squares / (count - 1));
        expect_near(mean.get(0), static_cast<double>(center), std::sqrt(wanted) + std::fabs(static_cast<double>(center)),
                    dtype == kFloat32 ? 1e-7 : 1e-14, "mean");
        expect_near(variance.get(0), wanted, wanted, dtype == kFloat32 ? 1e-6 : 1e-14, "variance");
      }
}

TEST_P(Reductions, RunningSumsAndProducts) {
  for (const DType dtype : {kFloat32, kFloat64, kInt64, kInt32, kFloat16})
    for (const bool transposed : {false, true}) {
      constexpr int64_t rows = 3, columns = 2500;
      Memory in(dtype, rows * columns), out(dtype, rows * columns);
      for (int64_t i = 0; i < in.count(); ++i) in.set(i, dtype == kFloat16 ? i % 2 : i % 3);
      const View from = transposed ? in.view({rows, columns}, {1, rows}) : in.view({rows, columns});
      const Out to = transposed ? out.out({rows, columns}, {1, rows}) : out.out({rows, columns});
      cpu_table().scan(TestQueue(2), Scan::Sum, to, from);
      for (int64_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (int64_t c = 0; c < columns; ++c) {
          sum += in.get(place(from, r * columns + c));
          ASSERT_EQ(out.get(place(to, r * columns + c)),
                    dtype == kFloat16 ? static_cast<double>(static_cast<float>(Half(static_cast<float>(sum)))) : sum);
        }
      }
      for (int64_t i = 0; i < in.count(); ++i) in.set(i, i % 97 == 0 ? 2 : 1);
      cpu_table().scan(TestQueue(), Scan::Prod, out.out({5}), in.view({5}, {97}));
      for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(out.get(i), std::ldexp(1, static_cast<int>(i) + 1));
    }
  Memory in(kFloat64, 1), out(kFloat64, 1);
  in.set(0, 4);
  cpu_table().scan(TestQueue(), Scan::Sum, out.out({}), in.view({}));
  EXPECT_EQ(out.get(0), 4);
}

TEST_P(Reductions, RunningSumsAreCarriedInDouble) {
  std::mt19937_64 random(10);
  std::normal_distribution<double> normal;
  for (const DType dtype : {kFloat32, kFloat64})
    for (const int64_t n : {1, 2, 7, 8, 15, 16, 17, 1000, 16 * 1024, 16 * 1024 + 1, 70'003}) {  // from 16384 on in parts
      Memory in(dtype, n), one(dtype, n), many(dtype, n);
      for (int64_t i = 0; i < n; ++i) in.set(i, normal(random) * (i % 100 == 0 ? 1e4 : 1));
      cpu_table().scan(TestQueue(1), Scan::Sum, one.out({n}), in.view({n}));
      for (const int threads : {2, 5}) {
        cpu_table().scan(TestQueue(threads), Scan::Sum, many.out({n}), in.view({n}));
        EXPECT_EQ(std::memcmp(one.data(), many.data(), static_cast<size_t>(n) * size_of(dtype)), 0) << n << " on " << threads;
      }
      double sum = 0, magnitudes = 0;
      for (int64_t i = 0; i < n; ++i) {
        sum += in.get(i);
        magnitudes += std::fabs(in.get(i));
        ASSERT_LE(std::fabs(one.get(i) - sum), (dtype == kFloat32 ? 6e-8 * std::fabs(sum) : 0) + 1e-14 * magnitudes) << i << " of " << n;
      }
      in.set(n / 2, kInf);
      in.set(n - 1, n > 1 ? -kInf : kInf);
      cpu_table().scan(TestQueue(2), Scan::Sum, many.out({n}), in.view({n}));
      for (int64_t i = 0; i < n; ++i) {
        if (i == n - 1 && n > 1) ASSERT_EQ(std::isnan(many.get(i)), n > 2);  // of two elements the second took the infinity's place
        else ASSERT_EQ(many.get(i), i < n / 2 ? one.get(i) : kInf);
      }
    }
}

TEST_P(Reductions, RunningExtremesAndRecurrences) {
  for (const DType dtype : {kFloat32, kFloat64, kInt32, kBFloat16})
    for (const bool transposed : {false, true}) {  // one row after another, or many side by side
      constexpr int64_t rows = 70, columns = 40;
      Memory in(dtype, rows * columns), values(dtype, rows * columns), places(kInt64, rows * columns);
      for (int64_t i = 0; i < in.count(); ++i) in.set(i, static_cast<double>(i * 37 % 11));
      if (is_floating(dtype)) in.set(100, std::nan(""));
      const std::vector<int64_t> sizes{rows, columns}, strides{transposed ? 1 : columns, transposed ? rows : 1};
      const View from = in.view(sizes, strides);
      cpu_table().scan_extreme(TestQueue(2), true, values.out(sizes, strides), places.out(sizes, strides), from);
      for (int64_t r = 0; r < rows; ++r) {
        double best = -INFINITY;
        int64_t where = 0;
        for (int64_t c = 0; c < columns; ++c) {
          const int64_t at = place(from, r * columns + c);
          const double x = in.get(at);
          if (std::isnan(x) || x >= best) best = x, where = c;
          EXPECT_EQ(places.get(at), static_cast<double>(where));
          EXPECT_TRUE(values.get(at) == best || (std::isnan(best) && std::isnan(values.get(at))));
        }
      }
      if (!is_floating(dtype) || dtype == kBFloat16) continue;
      for (int64_t i = 0; i < in.count(); ++i) in.set(i, i % 3 - 1);
      Memory factor(dtype, rows * columns);
      for (int64_t i = 0; i < in.count(); ++i) factor.set(i, i % 5 == 0 ? 0.5 : -1);
      cpu_table().recurrence(TestQueue(2), values.out(sizes, strides), factor.view(sizes, strides), from);
      for (int64_t r = 0; r < rows; ++r) {
        double y = 0;
        for (int64_t c = 0; c < columns; ++c) {
          const int64_t at = place(from, r * columns + c);
          y = factor.get(at) * y + in.get(at);
          EXPECT_NEAR(values.get(at), y, 1e-5);
        }
      }
    }
}

}  // namespace
}  // namespace tandem::kernels::testing
