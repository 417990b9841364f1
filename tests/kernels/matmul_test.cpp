// Products against plain sums in double, over all routes: layouts, types, epilogues, batches, empty ones, several threads at once.
#include <algorithm>
#include <array>
#include <thread>

#include "kernels/array.h"
#include "kernels/table.h"

namespace tandem::kernels {
namespace {

using namespace testing;

struct Case {
  Sizes batch;  // of out
  int64_t m, n, k;
  Layout a = Layout::Dense, b = Layout::Dense, out = Layout::Dense;
  DType dtype = kFloat32;
  Epilogue epilogue = {};
  Sizes bias = {};         // sizes of a bias, if any
  bool into_bias = false;  // out is the bias as well
  bool one_b = false;      // b has no batch
  int threads = 2;
};

double activated(double x, Activation activation) {
  switch (activation) {
    case Activation::Relu: return std::max(x, 0.0);
    case Activation::Tanh: return std::tanh(x);
    case Activation::Sigmoid: return 1 / (1 + std::exp(-x));
    default: return x;
  }
}

Sizes with(Sizes sizes, int64_t rows, int64_t columns) {
  sizes.push_back(rows);
  sizes.push_back(columns);
  return sizes;
}

std::string text(const Case& c) {
  std::string batch;
  for (const int64_t size : c.batch) batch += std::to_string(size) + "x";
  return batch + std::to_string(c.m) + "x" + std::to_string(c.n) + "x" + std::to_string(c.k) + " a " + name(c.a) + " b " + name(c.b) +
         " out " + name(c.out) + " " + tandem::name(c.dtype) + " activation " + std::to_string(static_cast<int>(c.epilogue.activation)) +
         (c.bias.empty() ? "" : " bias") + (c.into_bias ? " in place" : "");
}

void check(const Case& c) {
  const Sizes out_sizes = with(c.batch, c.m, c.n);
  Array a(c.dtype, with(c.batch, c.m, c.k), c.a), b(c.dtype, with(c.one_b ? Sizes{} : c.batch, c.k, c.n), c.b),
      out(c.dtype, out_sizes, c.out);
  a.random(1);
  b.random(2);
  const bool biased = !c.bias.empty() || c.into_bias;
  Array bias(c.dtype, c.bias.empty() ? Sizes{1} : c.bias);
  bias.random(3);
  if (c.into_bias) out.random(4);
  const std::vector<double> start = out.values();

  const std::vector<double> left = a.values(), right = b.values();
  int64_t count = 1;
  for (const int64_t size : c.batch) count *= size;
  std::vector<double> expected;
  for (int64_t batch = 0; batch < count; ++batch)
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int64_t q = 0; q < c.k; ++q)
          sum += left[static_cast<size_t>((batch * c.m + i) * c.k + q)] *
                 right[static_cast<size_t>(((c.one_b ? 0 : batch) * c.k + q) * c.n + j)];
        double add = 0;
        if (c.into_bias) {
          add = start[expected.size()];
        } else if (biased) {
          const int64_t columns = c.bias.back(), rows = c.bias.size() > 1 ? c.bias[c.bias.size() - 2] : 1,
                        batches = bias.numel() / (rows * columns);
          add = bias[((batches == 1 ? 0 : batch) * rows + (rows == 1 ? 0 : i)) * columns + (columns == 1 ? 0 : j)];
        }
        expected.push_back(activated(c.epilogue.alpha * sum + (biased ? c.epilogue.beta * add : 0), c.epilogue.activation));
      }

  const Sizes b_sizes = with(c.batch, c.k, c.n);
  const View b_view = c.one_b ? b.expanded(b_sizes) : b.view();
  const View bias_view = c.into_bias ? out.view() : biased ? bias.expanded(out_sizes) : View{};
  const size_t bytes = cpu_table().matmul_workspace(out.out(), a.view(), b_view, bias_view, c.epilogue);
  std::vector<unsigned char> workspace(bytes + 128, 0xA5);
  auto* aligned = reinterpret_cast<unsigned char*>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64);
  TestQueue queue(c.threads);
  cpu_table().matmul(queue, out.out(), a.view(), b_view, bias_view, c.epilogue, bytes ? aligned : nullptr);
  EXPECT_EQ(queue.trouble(), Trouble::None) << text(c);
  expect_close(out, expected, tolerance(c.dtype) * 4, text(c));
  for (unsigned char* p = aligned + bytes; p < workspace.data() + workspace.size(); ++p)
    ASSERT_EQ(*p, 0xA5) << text(c) << ": past the workspace";
}

const std::vector<std::array<int64_t, 3>> kShapes = {{1, 1, 1},     {2, 3, 4},       {32, 1, 2},     {1, 32, 7},    {5, 1, 300},
                                                     {1, 257, 100}, {7, 9, 33},      {16, 16, 16},   {17, 70, 5},   {8, 256, 784},
                                                     {50, 50, 50},  {100, 100, 100}, {128, 10, 256}, {3, 400, 90},  {130, 140, 70},
                                                     {6, 129, 200}, {300, 2, 64},    {2, 1000, 3},   {64, 513, 130}};

class Matmul : public EverySet {};
TD_EVERY_SET(Matmul);

TEST_P(Matmul, LayoutsFloat) {
  for (const auto& [m, n, k] : kShapes)
    for (const Layout a : kLayouts)
      for (const Layout b : kLayouts) check({{}, m, n, k, a, b});
}

TEST_P(Matmul, LayoutsOfTheResult) {
  for (const DType dtype : {kFloat32, kFloat64, kBFloat16, kInt32})
    for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{3, 5, 4}, {40, 1, 60}, {1, 40, 60}, {30, 50, 20}, {70, 80, 90}})
      for (const Layout out : kLayouts)
        for (const Layout b : {Layout::Dense, Layout::Swapped}) {
          check({{}, m, n, k, Layout::Dense, b, out, dtype});
          check({{}, m, n, k, Layout::Dense, b, out, dtype, {.alpha = 2}, {n}});
        }
}

TEST_P(Matmul, Types) {
  for (const DType dtype : {kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat64})
    for (const auto& [m, n, k] :
         std::vector<std::array<int64_t, 3>>{{1, 1, 1}, {3, 4, 5}, {1, 70, 6}, {9, 1, 20}, {40, 50, 30}, {60, 70, 30}})
      for (const Layout a : kLayouts)
        for (const Layout b : {Layout::Dense, Layout::Swapped, Layout::Gaps}) {
          if (dtype == kUInt8 || dtype == kInt8) check({{}, m, n, std::min<int64_t>(k, 7), a, b, Layout::Dense, dtype});
          else check({{}, m, n, k, a, b, Layout::Dense, dtype});
        }
}

TEST_P(Matmul, Epilogues) {
  for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16})
    for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{2, 3, 4}, {1, 50, 40}, {20, 30, 10}, {64, 80, 70}})
      for (const Activation activation : {Activation::None, Activation::Relu, Activation::Tanh, Activation::Sigmoid})
        for (const Sizes& bias : std::vector<Sizes>{{}, {1}, {n}, {1, n}, {m, 1}, {m, n}})
          for (const double alpha : {1.0, -0.25})
            check({{}, m, n, k, Layout::Dense, Layout::Swapped, Layout::Dense, dtype, {activation, alpha, alpha * 2}, bias});
}

TEST_P(Matmul, IntoTheBias) {
  for (const DType dtype : {kFloat32, kFloat64, kBFloat16, kInt64})
    for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{2, 3, 4}, {1, 60, 40}, {30, 20, 10}, {80, 90, 70}})
      for (const Layout out : {Layout::Dense, Layout::Swapped, Layout::Gaps})
        check({.batch = {}, .m = m, .n = n, .k = k, .out = out, .dtype = dtype, .epilogue = {.alpha = 2, .beta = -1}, .into_bias = true});
}

TEST_P(Matmul, Batches) {
  for (const Sizes& batch : std::vector<Sizes>{{1}, {3}, {2, 3}, {40}, {5, 1, 2}})
    for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 5}, {4, 6, 5}, {1, 33, 40}, {30, 20, 40}, {64, 64, 64}})
      for (const Layout layout : kLayouts)
        for (const bool one_b : {false, true}) {
          check({.batch = batch, .m = m, .n = n, .k = k, .a = layout, .b = Layout::Swapped, .one_b = one_b});
          check({.batch = batch, .m = m, .n = n, .k = k, .b = layout, .dtype = kFloat64, .bias = {n}, .one_b = one_b});
          check({.batch = batch,
                 .m = m,
                 .n = n,
                 .k = k,
                 .b = layout,
                 .dtype = kBFloat16,
                 .epilogue = {Activation::Relu},
                 .bias = {m, 1},
                 .one_b = one_b});
        }
}

// More rows, terms and columns than are packed at a time.
TEST_P(Matmul, LargeProducts) {
  for (const DType dtype : {kFloat32, kFloat64, kBFloat16})
    for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{130, 70, 260}, {121, 129, 257}, {70, 140, 530}})
      for (const Layout a : {Layout::Dense, Layout::Swapped})
        for (const Layout b : {Layout::Dense, Layout::Swapped}) {
          check({{}, m, n, k, a, b, Layout::Dense, dtype});
          check({{}, m, n, k, a, b, Layout::Gaps, dtype, {Activation::Relu, 0.5, 2}, {n}});
        }
  check({.batch = {}, .m = 20, .n = 1300, .k = 7000, .bias = {1300}});
  check({.batch = {}, .m = 20, .n = 1100, .k = 4200, .b = Layout::Swapped, .dtype = kFloat64});
}

TEST_P(Matmul, LargeBatches) {
  for (const DType dtype : {kFloat32, kFloat64})
    for (const Sizes& batch : std::vector<Sizes>{{2}, {5}})
      for (const bool one_b : {false, true})
        for (const Layout a : {Layout::Dense, Layout::Swapped})
          check({.batch = batch, .m = 130, .n = 90, .k = 270, .a = a, .dtype = dtype, .bias = {90}, .one_b = one_b});
}

TEST_P(Matmul, EmptyProducts) {
  check({{}, 3, 4, 0});
  check({{}, 0, 4, 3});
  check({{}, 3, 0, 4});
  check({{2}, 3, 4, 0});
  check({{0}, 3, 4, 5});
  check({.batch = {}, .m = 3, .n = 40, .k = 0, .epilogue = {.beta = 2}, .bias = {40}});
  check({.batch = {}, .m = 3, .n = 4, .k = 0, .epilogue = {.beta = 0.5}, .into_bias = true});
}

TEST_P(Matmul, NanAndInfinityPass) {
  for (const int64_t size : {4, 20, 64, 150})
    for (const Activation activation : {Activation::None, Activation::Relu}) {
      Array a(kFloat32, {size, size}), b(kFloat32, {size, size}), out(kFloat32, {size, size});
      for (int64_t i = 0; i < size * size; ++i) b.set(i, 1);
      a.set(0, std::nan(""));
      a.set(size, INFINITY);
      const Epilogue epilogue{.activation = activation};
      std::vector<char> workspace(cpu_table().matmul_workspace(out.out(), a.view(), b.view(), {}, epilogue) + 64);
      TestQueue queue;
      cpu_table().matmul(queue, out.out(), a.view(), b.view(), {}, epilogue, workspace.data());
      EXPECT_TRUE(std::isnan(out[0])) << size;
      EXPECT_EQ(out[size], INFINITY) << size;
      EXPECT_EQ(out[2 * size], 0) << size;
    }
}

// The number of threads must not change a bit.
TEST_P(Matmul, SameForAnyNumberOfThreads) {
  for (const DType dtype : {kFloat32, kFloat64, kBFloat16})
    for (const Layout layout : {Layout::Dense, Layout::Swapped}) {
      Array a(dtype, {150, 130}, layout), b(dtype, {130, 170}, layout), one(dtype, {150, 170}), many(dtype, {150, 170});
      for (int64_t i = 0; i < a.numel(); ++i) a.set(i, std::sin(static_cast<double>(i)));
      for (int64_t i = 0; i < b.numel(); ++i) b.set(i, std::cos(static_cast<double>(i)));
      std::vector<char> workspace(cpu_table().matmul_workspace(one.out(), a.view(), b.view(), {}, {}) + 64);
      TestQueue alone(1), together(4);
      cpu_table().matmul(alone, one.out(), a.view(), b.view(), {}, {}, workspace.data());
      cpu_table().matmul(together, many.out(), a.view(), b.view(), {}, {}, workspace.data());
      EXPECT_EQ(one.values(), many.values()) << tandem::name(dtype);
    }
}

// A primitive's scratch memory must not be shared: two threads with the same shapes and different numbers.
TEST_P(Matmul, SeveralThreadsAtOnce) {
  constexpr int64_t m = 96, n = 80, k = 112;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (const DType dtype : {kFloat32, kBFloat16, kFloat64})
        for (const Layout layout : {Layout::Dense, Layout::Swapped}) {
          Array a(dtype, {m, k}, layout), b(dtype, {k, n}, layout), out(dtype, {m, n});
          for (int64_t i = 0; i < m * k; ++i) a.set(i, t + 1);
          for (int64_t i = 0; i < k * n; ++i) b.set(i, 1);
          std::vector<char> workspace(cpu_table().matmul_workspace(out.out(), a.view(), b.view(), {}, {}) + 64);
          TestQueue queue(t % 2 + 1);
          for (int round = 0; round < 100; ++round) {
            cpu_table().matmul(queue, out.out(), a.view(), b.view(), {}, {}, workspace.data());
            for (int64_t i = 0; i < m * n; i += 61)
              ASSERT_EQ(out[i], static_cast<double>(k * (t + 1))) << "thread " << t << ", " << tandem::name(dtype);
          }
        }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tandem::kernels
