// Indexing, gathering, embedding and listing of non-zeros against plain loops; indices out of range must be reported and touch nothing.
#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/array.h"
#include "kernels/table.h"

namespace tandem::kernels {
namespace {

using namespace testing;

constexpr DType kTypes[] = {kFloat32, kFloat64, kFloat16, kBFloat16, kInt64, kInt32, kInt16, kUInt8, kBool};

Array indices(const Sizes& sizes, int64_t limit, uint64_t seed, bool negative = true, Layout layout = Layout::Dense) {
  Array list(kInt64, sizes, layout);
  for (int64_t i = 0; i < list.numel(); ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto r = static_cast<int64_t>(seed >> 33) % limit;
    list.set(i, static_cast<double>(negative && (seed >> 20) % 3 == 0 ? r - limit : r));
  }
  return list;
}
int64_t wrapped(double index, int64_t size) { return static_cast<int64_t>(index) + (index < 0 ? size : 0); }

/// What kernels sum up a dtype's elements in.
DType sum_type(DType dtype) { return is_half(dtype) ? kFloat32 : dtype; }

double added(DType dtype, double a, double b) {
  Array sum(dtype, {1});
  sum.set(0, a + b);
  return sum[0];
}

TEST(Index, TwoIndicesAroundASlice) {
  // in (4, 5, 6, 3) at [i, :, j]: i (2, 1) and j (3) broadcast to (2, 3); out (2, 3, 5, 3).
  for (const DType dtype : kTypes)
    for (const Layout layout : kLayouts)
      for (const Layout out_layout : {Layout::Dense, Layout::Reversed, Layout::Gaps}) {
        Array in(dtype, {4, 5, 6, 3}, layout), out(dtype, {2, 3, 5, 3}, out_layout), put(dtype, {4, 5, 6, 3}, layout),
            values(dtype, {2, 3, 5, 3}, out_layout);
        in.random(1);
        values.random(2);
        const Array i = indices({2, 1}, 4, 3), j = indices({3}, 6, 4, true, Layout::Gaps);
        const View list[] = {i.view(), View{}, j.view()};
        TestQueue queue;
        cpu_table().index(queue, out.out(), in.view(), {list, 3}, true);
        std::vector<double> expected, into = put.values();
        for (int64_t p = 0; p < 2; ++p)
          for (int64_t q = 0; q < 3; ++q)
            for (int64_t s = 0; s < 5; ++s)
              for (int64_t t = 0; t < 3; ++t) {
                const int64_t at = ((wrapped(i[p], 4) * 5 + s) * 6 + wrapped(j[q], 6)) * 3 + t;
                into[static_cast<size_t>(at)] = values[static_cast<int64_t>(expected.size())];
                expected.push_back(in[at]);
              }
        expect_close(out, expected, 0, std::string(tandem::name(dtype)) + " " + name(layout));
        cpu_table().index_put(queue, put.change(), values.view(), {list, 3}, false, true);
        expect_close(put, into, 0, std::string("put ") + tandem::name(dtype) + " " + name(layout));
        EXPECT_EQ(queue.trouble(), Trouble::None);
      }
}

TEST(Index, AddsInOrder) {
  for (const DType dtype : kTypes)
    for (const int64_t width : {1, 3, 200})
      for (const Layout layout : {Layout::Dense, Layout::Swapped, Layout::Gaps}) {
        Array out(dtype, {7, width}, layout), sums(sum_type(dtype), {7, width}, layout), values(dtype, {300, width}, layout);
        values.random(2);
        if (dtype == kFloat32)
          for (int64_t i = 0; i < values.numel(); ++i) values.set(i, std::sin(static_cast<double>(i)));  // whose sum depends on the order
        const Array list = indices({300}, 7, 5);
        std::vector<double> expected = sums.values(), last = out.values();
        for (int64_t i = 0; i < 300; ++i)
          for (int64_t c = 0; c < width; ++c) {
            double& to = expected[static_cast<size_t>(wrapped(list[i], 7) * width + c)];
            to = dtype == kBool    ? static_cast<double>(to != 0 || values[i * width + c] != 0)
                 : dtype == kUInt8 ? std::fmod(to + values[i * width + c], 256)
                                   : added(sums.dtype(), to, values[i * width + c]);
            last[static_cast<size_t>(wrapped(list[i], 7) * width + c)] = values[i * width + c];
          }
        TestQueue queue(3);
        cpu_table().index_put(queue, sums.change(), values.view(), {&list.view(), 1}, true, true);
        expect_close(sums, expected, 0, std::string("add ") + tandem::name(dtype) + " width " + std::to_string(width));
        cpu_table().index_put(queue, out.change(), values.view(), {&list.view(), 1}, false, true);
        expect_close(out, last, 0, std::string("last wins ") + tandem::name(dtype));
      }
}

TEST(Index, ManyPositionsOnSeveralThreads) {
  Array in(kFloat32, {1000, 3}), out(kFloat32, {20000, 3});
  in.random(1);
  const Array list = indices({20000}, 1000, 2);
  TestQueue queue(4);
  cpu_table().index(queue, out.out(), in.view(), {&list.view(), 1}, true);
  for (int64_t i = 0; i < out.numel(); ++i) ASSERT_EQ(out[i], in[wrapped(list[i / 3], 1000) * 3 + i % 3]);
}

TEST(Index, EmptyOnes) {
  Array in(kFloat32, {4, 3}), none(kInt64, {0}), out(kFloat32, {0, 3}), thin(kFloat32, {4, 0}), thin_out(kFloat32, {2, 0});
  const Array two = indices({2}, 4, 1);
  TestQueue queue;
  cpu_table().index(queue, out.out(), in.view(), {&none.view(), 1}, true);
  cpu_table().index(queue, thin_out.out(), thin.view(), {&two.view(), 1}, true);
  cpu_table().index_put(queue, in.change(), out.view(), {&none.view(), 1}, true, true);
  EXPECT_EQ(queue.trouble(), Trouble::None);
}

TEST(Index, ReportsAndTouchesNothingOutside) {
  for (const int64_t bad : {int64_t{4}, int64_t{-5}, int64_t{1} << 40}) {
    Array in(kFloat32, {4, 3}), out(kFloat32, {2, 3}), list(kInt64, {2}, {0, static_cast<double>(bad)});
    in.random(1);
    TestQueue get, put, add;
    cpu_table().index(get, out.out(), in.view(), {&list.view(), 1}, true);
    cpu_table().index_put(put, in.change(), out.view(), {&list.view(), 1}, false, true);
    cpu_table().index_put(add, in.change(), out.view(), {&list.view(), 1}, true, true);
    for (const TestQueue* queue : {&get, &put, &add}) {
      EXPECT_EQ(queue->trouble(), Trouble::IndexOutOfRange);
      EXPECT_EQ(queue->own.a, bad);
      EXPECT_EQ(queue->own.b, 4);
    }
    EXPECT_TRUE(in.guards_stand() && out.guards_stand());
  }
}

TEST(Gather, AlongEachDimension) {
  for (const DType dtype : kTypes)
    for (const Layout layout : kLayouts)
      for (int dim = 0; dim < 3; ++dim) {
        Array in(dtype, {4, 5, 6}, layout), set(dtype, {4, 5, 6}, layout), sum(sum_type(dtype), {4, 5, 6}, layout);
        in.random(1);
        Sizes sizes = {3, 4, 5};
        sizes[static_cast<size_t>(dim)] = 9;
        const int64_t limit = in.view().sizes[dim];
        const Array list = indices(sizes, limit, 7, false, layout == Layout::Dense ? Layout::Reversed : Layout::Dense);
        Array out(dtype, sizes, layout), source(dtype, sizes, layout);
        source.random(2);
        std::vector<double> gathered, placed = set.values(), sums = sum.values();
        for (int64_t i = 0; i < out.numel(); ++i) {
          int64_t at[3] = {i / (sizes[1] * sizes[2]), i / sizes[2] % sizes[1], i % sizes[2]};
          at[dim] = static_cast<int64_t>(list[i]);
          const int64_t flat = (at[0] * 5 + at[1]) * 6 + at[2];
          gathered.push_back(in[flat]);
          placed[static_cast<size_t>(flat)] = source[i];
          double& to = sums[static_cast<size_t>(flat)];
          to = dtype == kBool ? static_cast<double>(to != 0 || source[i] != 0) : added(sum.dtype(), to, source[i]);
        }
        const std::string what = std::string(tandem::name(dtype)) + " " + name(layout) + " dim " + std::to_string(dim);
        TestQueue queue(3);
        cpu_table().gather(queue, out.out(), in.view(), list.view(), dim);
        expect_close(out, gathered, 0, "gather " + what);
        cpu_table().scatter(queue, Scatter::Set, set.change(), list.view(), source.view(), dim);
        expect_close(set, placed, 0, "scatter " + what);
        cpu_table().scatter(queue, Scatter::Add, sum.change(), list.view(), source.view(), dim);
        expect_close(sum, sums, 0, "scatter add " + what);
        EXPECT_EQ(queue.trouble(), Trouble::None);
      }
}

/// Rows are looked over 256 at a time and read by fours: an index outside is left out, wherever it stands, and no other.
TEST(Gather, LongDenseRowsWithOneIndexOutside) {
  constexpr int64_t size = 700, bad = 700;
  for (const DType dtype : kTypes)
    for (const int64_t length : {3, 256, 257, 1031})
      for (const int64_t outside : {int64_t{-1}, int64_t{0}, length / 2, length - 1}) {
        Array in(dtype, {2, size}), out(dtype, {2, length}), list = indices({2, length}, size, 9, false);
        in.random(4);
        if (outside >= 0) list.set(length + outside, static_cast<double>(bad));
        std::vector<double> expected = out.values();
        for (int64_t i = 0; i < 2 * length; ++i)
          if (i != length + outside || outside < 0)
            expected[static_cast<size_t>(i)] = in[i / length * size + static_cast<int64_t>(list[i])];
        TestQueue queue(3);
        cpu_table().gather(queue, out.out(), in.view(), list.view(), 1);
        expect_close(out, expected, 0, std::string(tandem::name(dtype)) + " " + std::to_string(length) + " at " + std::to_string(outside));
        EXPECT_EQ(queue.trouble(), outside < 0 ? Trouble::None : Trouble::IndexOutOfRange);
      }
}

TEST(Gather, WithoutDimensionsAndOutOfRange) {
  Array in(kFloat32, {}, {3.0}), out(kFloat32, {}), zero(kInt64, {}), bad(kInt64, {}, {1.0});
  TestQueue queue, troubled;
  cpu_table().gather(queue, out.out(), in.view(), zero.view(), 0);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(queue.trouble(), Trouble::None);
  cpu_table().scatter(troubled, Scatter::Add, out.change(), bad.view(), in.view(), 0);
  EXPECT_EQ(troubled.trouble(), Trouble::IndexOutOfRange);
  EXPECT_EQ(out[0], 3);
  EXPECT_TRUE(out.guards_stand());
}

TEST(Embedding, RowsAndTheirGradient) {
  for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16})
    for (const int64_t width : {1, 7, 130})
      for (const Layout layout : kLayouts) {
        Array table(dtype, {11, width}, layout), out(dtype, {4, 50, width}, layout), grad(dtype, {4, 50, width}, layout),
            sum(sum_type(dtype), {11, width}, layout);
        table.random(1);
        grad.random(2);
        for (int64_t i = 0; i < sum.numel(); ++i) sum.set(i, 9);  // to be zeroed
        const Array list = indices({4, 50}, 11, 3, false, layout == Layout::Swapped ? Layout::Swapped : Layout::Dense);
        std::vector<double> rows, sums(static_cast<size_t>(11 * width));
        for (int64_t i = 0; i < 200; ++i)
          for (int64_t c = 0; c < width; ++c) {
            const auto row = static_cast<int64_t>(list[i]);
            rows.push_back(table[row * width + c]);
            double& to = sums[static_cast<size_t>(row * width + c)];
            if (row != 5) to = added(sum.dtype(), to, grad[i * width + c]);
          }
        const std::string what = std::string(tandem::name(dtype)) + " " + name(layout) + " width " + std::to_string(width);
        TestQueue queue(3);
        cpu_table().embedding(queue, out.out(), table.view(), list.view());
        expect_close(out, rows, 0, what);
        cpu_table().embedding_backward(queue, sum.out(), grad.view(), list.view(), 5);
        expect_close(sum, sums, 0, "gradient " + what);
        EXPECT_EQ(queue.trouble(), Trouble::None);
      }
}

TEST(Embedding, ReportsIndicesOutOfRange) {
  for (const int64_t bad : {-1, 3}) {
    Array table(kFloat32, {3, 4}), out(kFloat32, {2, 4}), list(kInt64, {2}, {1, static_cast<double>(bad)});
    TestQueue forward, backward;
    cpu_table().embedding(forward, out.out(), table.view(), list.view());
    cpu_table().embedding_backward(backward, table.out(), out.view(), list.view(), -1);
    EXPECT_EQ(forward.trouble(), Trouble::IndexOutOfRange);
    EXPECT_EQ(backward.trouble(), Trouble::IndexOutOfRange);
    EXPECT_TRUE(table.guards_stand() && out.guards_stand());
  }
}

TEST(Nonzero, CountsAndLists) {
  for (const DType dtype : kTypes)
    for (const Layout layout : kLayouts)
      for (const Sizes& sizes : std::vector<Sizes>{{}, {5}, {3, 4, 5}, {0, 3}, {70, 300}}) {
        Array in(dtype, sizes, layout), count(kInt64, {});
        in.random(11);
        if (in.numel() > 2 && is_floating(dtype)) {
          in.set(0, -0.0);
          in.set(1, std::nan(""));
        }
        std::vector<double> expected;
        for (int64_t i = 0; i < in.numel(); ++i) {
          if (in[i] == 0) continue;
          std::vector<double> row(sizes.size());
          int64_t rest = i;
          for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) row[d] = static_cast<double>(rest % sizes[d]);
          expected.insert(expected.end(), row.begin(), row.end());
        }
        TestQueue queue(3);
        cpu_table().count_nonzero(queue, count.out(), in.view(), nullptr);
        const auto found = static_cast<int64_t>(count[0]);
        if (!sizes.empty()) {
          ASSERT_EQ(found * static_cast<int64_t>(sizes.size()), static_cast<int64_t>(expected.size()));
        }
        Array out(kInt64, {found, static_cast<int64_t>(sizes.size())});
        cpu_table().nonzero(queue, out.out(), in.view(), nullptr);
        expect_close(out, expected, 0, std::string(tandem::name(dtype)) + " " + name(layout));
      }
}

TEST(Sort, StableWithNanOnTop) {
  for (const DType dtype : kTypes)
    for (const Layout layout : kLayouts)
      for (const Sizes& sizes : std::vector<Sizes>{{}, {1}, {0}, {17}, {3, 50}, {2, 5000}, {40, 9}, {2, 3, 800}})
        for (const bool descending : {false, true}) {
          Array in(dtype, sizes, layout), values(dtype, sizes, layout == Layout::Dense ? Layout::Gaps : Layout::Dense),
              places(kInt64, sizes, layout);
          in.random(3);  // few different values: equal ones must keep their order
          if (is_floating(dtype))
            for (int64_t i = 0; i < in.numel(); ++i)
              if (i % 7 == 3) in.set(i, i % 2 ? std::nan("") : i % 4 ? -INFINITY : -0.0);
          if (dtype == kInt64 && in.numel() > 10) in.set(2, -0x1p62), in.set(5, 0x1p62);
          std::vector<char> workspace(cpu_table().sort_workspace(in.view()) + 1);
          workspace.back() = 77;
          TestQueue queue(3);
          cpu_table().sort_part(queue, values.out(), places.out(), in.view(), descending, 0, workspace.data());
          EXPECT_EQ(workspace.back(), 77);
          const int64_t n = sizes.empty() ? 1 : sizes.back();
          std::vector<double> expected, where;
          for (int64_t row = 0; n > 0 && row < in.numel() / n; ++row) {
            std::vector<int64_t> order(static_cast<size_t>(n));
            std::iota(order.begin(), order.end(), 0);
            const auto less = [&](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
            std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
              const double x = in[row * n + a], y = in[row * n + b];
              return descending ? less(y, x) : less(x, y);
            });
            for (const int64_t i : order) {
              expected.push_back(in[row * n + i]);
              where.push_back(static_cast<double>(i));
            }
          }
          const std::string what =
              std::string(tandem::name(dtype)) + " " + name(layout) + (descending ? " descending " : " ") + std::to_string(n);
          expect_close(places, where, 0, what);
          expect_close(values, expected, 0, what);
        }
}

TEST(Sort, RandomFloats) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  Array in(kFloat32, {100000}), values(kFloat32, {100000}), places(kInt64, {100000});
  for (int64_t i = 0; i < in.numel(); ++i) in.set(i, static_cast<double>(normal(generator)));
  std::vector<char> workspace(cpu_table().sort_workspace(in.view()));
  TestQueue queue;
  cpu_table().sort_part(queue, values.out(), places.out(), in.view(), false, 0, workspace.data());
  std::vector<double> expected = in.values();
  std::sort(expected.begin(), expected.end());
  expect_close(values, expected, 0, "random");
  for (int64_t i = 0; i < in.numel(); ++i) ASSERT_EQ(in[static_cast<int64_t>(places[i])], values[i]);
}

TEST(Sort, PartsAreThoseOfTheWhole) {
  for (const DType dtype : {kFloat32, kFloat64, kInt64, kBFloat16, kUInt8})
    for (const int64_t n : {1, 5, 100, 3000})
      for (const bool descending : {false, true}) {
        Array in(dtype, {2, n}), all(dtype, {2, n}), all_places(kInt64, {2, n});
        in.random(5);
        if (is_floating(dtype)) in.set(n / 2, std::nan(""));
        std::vector<char> workspace(cpu_table().sort_workspace(in.view()));
        TestQueue queue(2);
        cpu_table().sort_part(queue, all.out(), all_places.out(), in.view(), descending, 0, workspace.data());
        for (const int64_t first : {int64_t{0}, n / 3, n - 1})
          for (const int64_t count : {int64_t{1}, n / 9, n - first}) {
            if (first + count > n) continue;
            Array values(dtype, {2, count}), places(kInt64, {2, count});
            cpu_table().sort_part(queue, values.out(), places.out(), in.view(), descending, first, workspace.data());
            for (int64_t r = 0; r < 2; ++r)
              for (int64_t i = 0; i < count; ++i) ASSERT_EQ(places[r * count + i], all_places[r * n + first + i]) << n << " " << first;
            EXPECT_TRUE(values.guards_stand() && places.guards_stand());
          }
      }
}

/// A long row's best are found in pieces, by any number of threads: ties, nan and infinities as in the whole order.
TEST(Sort, TheFirstOfALongRowAreThoseOfTheWhole) {
  constexpr int64_t n = 200'003;
  for (const DType dtype : {kFloat32, kFloat64, kInt64, kBFloat16, kUInt8})
    for (const bool descending : {false, true})
      for (const bool few : {false, true}) {  // different values
        Array in(dtype, {n}), all(dtype, {n}), all_places(kInt64, {n});
        std::mt19937_64 random(few);
        for (int64_t i = 0; i < n; ++i) in.set(i, static_cast<double>(random() % (few ? 3 : 1 << 20)) - (dtype == kUInt8 ? 0 : 1000));
        if (is_floating(dtype))
          for (const int64_t i : {int64_t{5}, n / 2, n - 1}) in.set(i, std::nan("")), in.set(i - 1, INFINITY), in.set(i - 2, -INFINITY);
        std::vector<char> workspace(cpu_table().sort_workspace(in.view()));
        cpu_table().sort_part(TestQueue(2), all.out(), all_places.out(), in.view(), descending, 0, workspace.data());
        for (const int threads : {1, 2, 5})
          for (const int64_t count : {1, 7, 100, 700, 3000}) {
            Array values(dtype, {count}), places(kInt64, {count});
            cpu_table().sort_part(TestQueue(threads), values.out(), places.out(), in.view(), descending, 0, workspace.data());
            const std::string what = std::string(tandem::name(dtype)) + " " + std::to_string(count) + " by " + std::to_string(threads);
            for (int64_t i = 0; i < count; ++i) {
              ASSERT_EQ(places[i], all_places[i]) << what << " at " << i;
              ASSERT_TRUE(values[i] == all[i] || (std::isnan(values[i]) && std::isnan(all[i]))) << what << " at " << i;
            }
            EXPECT_TRUE(values.guards_stand() && places.guards_stand());
          }
      }
}

TEST(Search, PlacesInSortedRows) {
  Array sorted(kFloat32, {2, 5}, {1, 2, 2, 4, std::nan(""), -1, 0, 0, 0, 7});
  Array values(kFloat32, {2, 4}, {2, 5, 0, std::nan(""), 0, 8, -3, 7}), left(kInt64, {2, 4}), right(kInt32, {2, 4});
  TestQueue queue;
  cpu_table().searchsorted(queue, left.out(), sorted.view(), values.view(), View{}, false);
  cpu_table().searchsorted(queue, right.out(), sorted.view(), values.view(), View{}, true);
  expect_close(left, {1, 4, 0, 4, 1, 5, 0, 4}, 0, "left");
  expect_close(right, {3, 4, 0, 5, 4, 5, 0, 5}, 0, "right");
  Array mixed(kInt64, {3}, {30, 10, 20}), order(kInt64, {3}, {1, 2, 0}), wanted(kInt64, {2}, {25, 5}), out(kInt64, {2});
  cpu_table().searchsorted(queue, out.out(), mixed.view(), wanted.view(), order.view(), false);
  expect_close(out, {2, 0}, 0, "in an order");
  Array rows(kInt64, {4, 2}, {2, 1, 1, 5, 2, 1, 1, 3}), by(kInt64, {4});
  cpu_table().sort_rows(queue, by.out(), rows.view());
  expect_close(by, {3, 1, 0, 2}, 0, "rows");
}

}  // namespace
}  // namespace tandem::kernels
