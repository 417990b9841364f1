// Pointwise calls: binary operations against plain C++, layouts, dtypes, numbers, specials, threads, and integer division by zero.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/raw.h"

namespace tandem::kernels::testing {
namespace {

class PointwiseKernel : public EverySet {};
TD_EVERY_SET(PointwiseKernel);

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

bool same(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
}

double python_remainder(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double python_floor_divide(double a, double b) {  // as PyTorch computes it, so that it agrees with the remainder
  if (b == 0) return a / b;
  const double r = std::fmod(a, b);
  double q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  return q == 0 ? std::copysign(0.0, a / b) : std::round(q);
}

struct Binary {
  PointwiseOp op;
  const char* name;
  double (*reference)(double, double);
  bool compares = false;
};
const Binary kFloating[] = {
    {PointwiseOp::add, "add", [](double a, double b) { return a + b; }},
    {PointwiseOp::sub, "sub", [](double a, double b) { return a - b; }},
    {PointwiseOp::rsub, "rsub", [](double a, double b) { return b - a; }},
    {PointwiseOp::mul, "mul", [](double a, double b) { return a * b; }},
    {PointwiseOp::div, "div", [](double a, double b) { return a / b; }},
    {PointwiseOp::remainder, "remainder", python_remainder},
    {PointwiseOp::fmod, "fmod", [](double a, double b) { return std::fmod(a, b); }},
    {PointwiseOp::floor_divide, "floor_divide", python_floor_divide},
    {PointwiseOp::pow, "pow", [](double a, double b) { return std::pow(a, b); }},
    {PointwiseOp::atan2, "atan2", [](double a, double b) { return std::atan2(a, b); }},
    {PointwiseOp::hypot, "hypot", [](double a, double b) { return std::hypot(a, b); }},
    {PointwiseOp::copysign, "copysign", [](double a, double b) { return std::copysign(a, b); }},
    {PointwiseOp::maximum, "maximum", [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b); }},
    {PointwiseOp::minimum, "minimum", [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b); }},
    {PointwiseOp::fmax, "fmax", [](double a, double b) { return std::fmax(a, b); }},
    {PointwiseOp::fmin, "fmin", [](double a, double b) { return std::fmin(a, b); }},
    {PointwiseOp::xlogy, "xlogy", [](double a, double b) { return std::isnan(b) ? kNan
                                                                  : a == 0      ? 0
                                                                                : a * std::log(b); }},
    {PointwiseOp::logaddexp, "logaddexp",
     [](double a, double b) { return a == b ? a + std::log(2.0) : std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b))); }},
    {PointwiseOp::eq, "eq", [](double a, double b) { return double(a == b); }, true},
    {PointwiseOp::ne, "ne", [](double a, double b) { return double(a != b); }, true},
    {PointwiseOp::lt, "lt", [](double a, double b) { return double(a < b); }, true},
    {PointwiseOp::le, "le", [](double a, double b) { return double(a <= b); }, true},
    {PointwiseOp::gt, "gt", [](double a, double b) { return double(a > b); }, true},
    {PointwiseOp::ge, "ge", [](double a, double b) { return double(a >= b); }, true},
    {PointwiseOp::logical_and, "logical_and", [](double a, double b) { return double(a != 0 && b != 0); }, true},
    {PointwiseOp::logical_or, "logical_or", [](double a, double b) { return double(a != 0 || b != 0); }, true},
    {PointwiseOp::logical_xor, "logical_xor", [](double a, double b) { return double((a != 0) != (b != 0)); }, true},
};

TEST_P(PointwiseKernel, BinaryOperationsInFloatAndDouble) {
  const double specials[] = {0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1e-3, 1e3, 7, -7, 1e20, -1e20, 1e-20, kInf, -kInf, kNan};
  std::vector<double> a, b;
  for (double x : specials)
    for (double y : specials) a.push_back(x), b.push_back(y);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-20, 20);
  for (int i = 0; i < 5000; ++i) a.push_back(static_cast<float>(uniform(random))), b.push_back(static_cast<float>(uniform(random)));
  for (int i = 0; i < 500; ++i) a.push_back(std::floor(uniform(random))), b.push_back(std::floor(uniform(random)));
  const auto n = static_cast<int64_t>(a.size());
  for (const DType dtype : {kFloat32, kFloat64})
    for (const Binary& test : kFloating) {
      Memory x(dtype, n), y(dtype, n), out(test.compares ? kBool : dtype, n);
      for (int64_t i = 0; i < n; ++i) x.set(i, a[static_cast<size_t>(i)]), y.set(i, b[static_cast<size_t>(i)]);
      Pointwise call = call_of(test.op, dtype, out.out({n}), true);
      add_operand(call, x.view({n}));
      add_operand(call, y.view({n}));
      TestQueue queue;
      cpu_table().pointwise(queue, call);
      ASSERT_EQ(queue.trouble(), Trouble::None) << test.name;
      int wrong = 0;
      for (int64_t i = 0; i < n && wrong < 3; ++i) {
        double wanted = test.reference(x.get(i), y.get(i));
        if (dtype == kFloat32) wanted = static_cast<double>(static_cast<float>(wanted));
        if (!same(out.get(i), wanted, dtype == kFloat32 ? 3e-7 : 1e-15)) {
          if ((test.op == PointwiseOp::logaddexp || test.op == PointwiseOp::sub) && std::fabs(out.get(i) - wanted) < 1e-6) continue;
          ADD_FAILURE() << test.name << "(" << x.get(i) << ", " << y.get(i) << ") in " << dtype << " gave " << out.get(i) << ", not "
                        << wanted;
          ++wrong;
        }
      }
    }
}

TEST_P(PointwiseKernel, IntegersWrapAndDivideAsPythonDoes) {
  struct Test {
    PointwiseOp op;
    int64_t a, b, wanted;
  };
  constexpr int64_t lowest = std::numeric_limits<int64_t>::min(), highest = std::numeric_limits<int64_t>::max();
  const Test tests[] = {
      {PointwiseOp::add, highest, 1, lowest},
      {PointwiseOp::sub, lowest, 1, highest},
      {PointwiseOp::mul, int64_t{1} << 62, 2, lowest},
      {PointwiseOp::floor_divide, 7, 2, 3},
      {PointwiseOp::floor_divide, -7, 2, -4},
      {PointwiseOp::floor_divide, 7, -2, -4},
      {PointwiseOp::floor_divide, -7, -2, 3},
      {PointwiseOp::floor_divide, lowest, -1, lowest},
      {PointwiseOp::remainder, 7, 3, 1},
      {PointwiseOp::remainder, -7, 3, 2},
      {PointwiseOp::remainder, 7, -3, -2},
      {PointwiseOp::remainder, lowest, -1, 0},
      {PointwiseOp::fmod, -7, 3, -1},
      {PointwiseOp::fmod, 7, -3, 1},
      {PointwiseOp::div_trunc, -7, 2, -3},
      {PointwiseOp::pow, 3, 4, 81},
      {PointwiseOp::pow, -2, 63, lowest},
      {PointwiseOp::pow, 2, -1, 0},
      {PointwiseOp::pow, -1, -3, -1},
      {PointwiseOp::pow, 1, -5, 1},
      {PointwiseOp::bitwise_and, 12, 10, 8},
      {PointwiseOp::bitwise_or, 12, 10, 14},
      {PointwiseOp::bitwise_xor, 12, 10, 6},
      {PointwiseOp::bitwise_left_shift, 3, 4, 48},
      {PointwiseOp::bitwise_left_shift, 3, 64, 0},
      {PointwiseOp::bitwise_right_shift, -16, 2, -4},
      {PointwiseOp::bitwise_right_shift, -16, 70, -1},
      {PointwiseOp::maximum, -3, 5, 5},
      {PointwiseOp::minimum, -3, 5, -3},
  };
  for (const Test& test : tests)
    for (const int64_t n : {int64_t{1}, int64_t{37}}) {
      Memory x(kInt64, n), y(kInt64, n), out(kInt64, n);
      for (int64_t i = 0; i < n; ++i) x.as<int64_t>()[i] = test.a, y.as<int64_t>()[i] = test.b;
      Pointwise call = call_of(test.op, kInt64, out.out({n}), true);
      add_operand(call, x.view({n}));
      add_operand(call, y.view({n}));
      TestQueue queue;
      cpu_table().pointwise(queue, call);
      EXPECT_EQ(queue.trouble(), Trouble::None);
      for (int64_t i = 0; i < n; ++i)
        EXPECT_EQ(out.as<int64_t>()[i], test.wanted) << "operation " << static_cast<int>(test.op) << " of " << test.a << ", " << test.b;
    }
}

TEST_P(PointwiseKernel, IntegerDivisionByZeroIsReportedAndGivesZero) {
  for (const PointwiseOp op : {PointwiseOp::floor_divide, PointwiseOp::remainder, PointwiseOp::fmod, PointwiseOp::div_trunc}) {
    Memory x(kInt32, 40), y(kInt32, 40), out(kInt32, 40);
    for (int64_t i = 0; i < 40; ++i) x.set(i, 5), y.set(i, i == 33 ? 0 : 2);
    Pointwise call = call_of(op, kInt64, out.out({40}), true);
    add_operand(call, x.view({40}));
    add_operand(call, y.view({40}));
    TestQueue queue;
    cpu_table().pointwise(queue, call);
    EXPECT_EQ(queue.trouble(), Trouble::DivisionByZero);
    EXPECT_EQ(out.get(33), 0);
    EXPECT_NE(out.get(32), 0);
  }
}

TEST_P(PointwiseKernel, AnOperationWithoutAKernelForTheTypeIsReported) {
  Memory x(kInt64, 3), out(kInt64, 3);
  Pointwise call = call_of(PointwiseOp::exp, kInt64, out.out({3}), true);
  add_operand(call, x.view({3}));
  TestQueue queue;
  cpu_table().pointwise(queue, call);
  EXPECT_EQ(queue.trouble(), Trouble::Unsupported);
}

/// out = a - 2 b + c over all layouts: addcmul(a, b, c, -2) with every combination of dtypes and strides.
TEST_P(PointwiseKernel, EveryLayoutAndDtype) {
  struct Case {
    std::vector<int64_t> sizes;
    std::vector<int64_t> out, a, b;  // strides
  };
  const Case cases[] = {
      {{7}, {1}, {1}, {1}},
      {{7}, {3}, {2}, {0}},
      {{5000}, {1}, {1}, {0}},
      {{5000}, {2}, {1}, {3}},
      {{9, 130}, {130, 1}, {130, 1}, {0, 1}},
      {{9, 130}, {130, 1}, {130, 1}, {1, 0}},
      {{9, 600}, {700, 1}, {0, 1}, {601, 1}},
      {{5, 701}, {701, 1}, {701, 1}, {0, 1}},  // rows that begin anywhere in a cache line
      {{3, 5, 520}, {2600, 520, 1}, {2600, 520, 1}, {520, 0, 1}},
      {{2, 1100}, {1100, 1}, {1100, 1}, {1, 0}},
      {{300, 37}, {37, 1}, {37, 1}, {0, 1}},  // tiles that begin at different places of the row
      {{80, 64}, {64, 1}, {64, 1}, {0, 1}},
      {{4, 3, 300}, {900, 300, 1}, {900, 300, 1}, {0, 300, 1}},
      {{50, 37}, {37, 1}, {0, 1}, {0, 0}},
      {{2, 40000}, {40000, 1}, {40000, 1}, {0, 1}},
      {{9, 130}, {130, 1}, {1, 9}, {1, 0}},
      {{130, 9}, {9, 1}, {1, 130}, {0, 0}},
      {{40, 70}, {70, 1}, {1, 40}, {1, 41}},
      {{40, 1100}, {1100, 1}, {1, 40}, {1100, 1}},
      {{40, 70}, {1, 40}, {1, 40}, {70, 1}},
      {{3, 40, 33}, {1320, 33, 1}, {1320, 1, 40}, {0, 33, 1}},
      {{3, 40, 33}, {1, 3, 120}, {1320, 33, 1}, {1, 3, 120}},
      {{2, 3, 4, 5}, {60, 20, 5, 1}, {5, 10, 30, 1}, {0, 1, 0, 3}},
      {{2, 3, 4, 5}, {1, 2, 6, 24}, {60, 20, 5, 1}, {1, 2, 6, 24}},
  };
  const auto extent = [](const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
    int64_t last = 0;
    for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
    return last + 1;
  };
  std::mt19937 random(5);
  for (const Case& c : cases)
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16, kInt64, kInt32, kInt16, kInt8, kUInt8})
      for (const DType other : {dtype, kInt32, kBool}) {
        Memory a(dtype, extent(c.sizes, c.a)), b(other, extent(c.sizes, c.b)), out(dtype, extent(c.sizes, c.out));
        for (int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(random() % 20) + 20);
        for (int64_t i = 0; i < b.count(); ++i) b.set(i, static_cast<double>(random() % 5));
        for (int64_t i = 0; i < out.count(); ++i) out.set(i, 99);
        const Out to = out.out(c.sizes, c.out);
        const View from_a = a.view(c.sizes, c.a), from_b = b.view(c.sizes, c.b);
        const DType compute = dtype == kFloat64 ? kFloat64 : is_floating(dtype) ? kFloat32 : kInt64;
        Pointwise call = call_of(PointwiseOp::addcmul, compute, to, to.contiguous() && from_a.contiguous() && from_b.contiguous());
        add_operand(call, from_a);
        add_operand(call, from_b);
        add_operand(call, from_a);
        add_operand(call, -2);
        TestQueue queue;
        cpu_table().pointwise(queue, call);
        ASSERT_EQ(queue.trouble(), Trouble::None);
        int64_t wrong = 0;
        for (int64_t i = 0; i < to.numel(); ++i) {
          const double x = a.get(place(from_a, i)), y = b.get(place(from_b, i));
          Memory wanted(dtype, 1);
          wanted.set(0, x - 2 * y * x);
          wrong += out.get(place(to, i)) != wanted.get(0);
        }
        EXPECT_EQ(wrong, 0) << "of " << to.numel() << " in " << dtype << " with " << other << ", sizes " << Shape(c.sizes);
        int64_t untouched = 0;
        for (int64_t i = 0; i < out.count(); ++i) untouched += out.get(i) == 99;
        EXPECT_GE(untouched, out.count() - to.numel());
      }
}

TEST_P(PointwiseKernel, ComparisonsGiveBoolOrAnyOtherType) {
  for (const DType to : {kBool, kFloat32, kInt64, kFloat16, kUInt8})
    for (const int64_t stride : {1, 2})
      for (const DType dtype : {kFloat32, kFloat64, kInt16, kBFloat16}) {
        constexpr int64_t n = 3000;
        Memory a(dtype, n), out(to, n * stride);
        for (int64_t i = 0; i < n; ++i) a.set(i, static_cast<double>(i % 11));
        for (int64_t i = 0; i < out.count(); ++i) out.set(i, 1);
        const DType compute = dtype == kFloat64 ? kFloat64 : is_floating(dtype) ? kFloat32 : kInt64;
        Pointwise call = call_of(PointwiseOp::lt, compute, out.out({n}, {stride}), stride == 1);
        add_operand(call, 5);
        add_operand(call, a.view({n}));
        TestQueue queue;
        cpu_table().pointwise(queue, call);
        for (int64_t i = 0; i < n; ++i) ASSERT_EQ(out.get(i * stride), (i % 11 > 5 ? 1 : 0)) << to << " from " << dtype << " at " << i;
        for (int64_t i = 0; to == kBool && i < n; ++i) ASSERT_LE(out.as<uint8_t>()[i * stride], 1);
      }
}

TEST_P(PointwiseKernel, InPlaceAndOfOneElement) {
  for (const int64_t n : {1, 5, 64, 1000, 100000}) {
    Memory a(kFloat32, n), b(kFloat32, n);
    for (int64_t i = 0; i < n; ++i) a.set(i, static_cast<double>(i)), b.set(i, 1);
    Pointwise call = call_of(PointwiseOp::sub, kFloat32, a.out({n}), true);
    add_operand(call, a.view({n}));
    add_operand(call, b.view({n}));
    TestQueue queue(2);
    cpu_table().pointwise(queue, call);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(a.get(i), static_cast<double>(i - 1));
  }
  Memory a(kInt32, 1), out(kFloat64, 1);  // no dimensions at all
  a.set(0, 3);
  Pointwise call = call_of(PointwiseOp::pow, kFloat64, out.out({}), true);
  add_operand(call, a.view({}));
  add_operand(call, 2);
  TestQueue queue;
  cpu_table().pointwise(queue, call);
  EXPECT_EQ(out.get(0), 9);
}

/// A number, and a column over rows of a matrix, give what as many copies of it give.
TEST_P(PointwiseKernel, NumbersAndColumnsAsTheirCopies) {
  constexpr int64_t rows = 9, columns = 1000, n = rows * columns;
  const auto call_with = [](PointwiseOp op, DType compute, const Out& out, const View& a, auto b) {
    Pointwise call = call_of(op, compute, out, out.contiguous() && a.contiguous());
    add_operand(call, a);
    if constexpr (std::is_same_v<decltype(b), View>) call.contiguous = call.contiguous && b.contiguous();
    add_operand(call, b);
    TestQueue queue(2);
    cpu_table().pointwise(queue, call);
    return queue.trouble() == Trouble::None;
  };
  for (const DType dtype : {kFloat32, kFloat64, kInt64})
    for (const Binary& test : kFloating) {
      const DType gives = test.compares ? kBool : dtype;
      Memory a(dtype, n), numbers(dtype, rows), copies(dtype, n), wanted(gives, n), found(gives, n);
      for (int64_t i = 0; i < n; ++i) a.set(i, static_cast<double>(i % 7 + 1)), copies.set(i, static_cast<double>(i / columns + 2));
      for (int64_t r = 0; r < rows; ++r) numbers.set(r, static_cast<double>(r + 2));
      const std::vector<int64_t> sizes{rows, columns};
      if (!call_with(test.op, dtype, wanted.out(sizes), a.view(sizes), copies.view(sizes))) continue;  // no kernel for integers
      ASSERT_TRUE(call_with(test.op, dtype, found.out(sizes), a.view(sizes), numbers.view(sizes, {1, 0})));
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(found.get(i), wanted.get(i)) << test.name << " of a column in " << dtype << " at " << i;
      if (test.op == PointwiseOp::pow) continue;  // squared otherwise
      for (const int64_t some : {int64_t{40}, columns, n}) {
        call_with(test.op, dtype, found.out({some}), a.view({some}), 2);
        for (int64_t i = 0; i < std::min(some, columns); ++i)
          ASSERT_EQ(found.get(i), wanted.get(i)) << test.name << " of a number in " << dtype << " at " << i << " of " << some;
      }
    }
}

TEST_P(PointwiseKernel, SmallPowersAreExact) {
  for (const double exponent : {0.0, 1.0, 2.0, 3.0, 4.0, -1.0, -2.0, 0.5, -0.5})
    for (const DType dtype : {kFloat32, kFloat64}) {
      Memory a(dtype, 100), out(dtype, 100);
      for (int64_t i = 0; i < 100; ++i) a.set(i, 0.25 * static_cast<double>(i + 1));
      Pointwise call = call_of(PointwiseOp::pow, dtype, out.out({100}), true);
      add_operand(call, a.view({100}));
      add_operand(call, exponent);
      TestQueue queue;
      cpu_table().pointwise(queue, call);
      for (int64_t i = 0; i < 100; ++i) {
        const double wanted = std::pow(a.get(i), exponent);
        const bool whole = exponent >= 0 && exponent <= 3 && exponent == std::floor(exponent);
        EXPECT_TRUE(same(out.get(i), dtype == kFloat32 ? static_cast<double>(static_cast<float>(wanted)) : wanted,
                         whole               ? 0
                         : dtype == kFloat32 ? 2e-7
                                             : 4e-16))
            << a.get(i) << "^" << exponent;
      }
    }
}

TEST_P(PointwiseKernel, RowsAndColumnsInPlace) {
  for (const int64_t columns : {31, 64, 300, 1000, 5000}) {
    constexpr int64_t rows = 70;
    for (const bool by_row : {true, false})
      for (const int threads : {1, 2, 5}) {
        Memory a(kFloat32, rows * columns), b(kFloat32, std::max(rows, columns));
        for (int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(i % 1000));
        for (int64_t i = 0; i < b.count(); ++i) b.set(i, static_cast<double>(i));
        Pointwise call = call_of(PointwiseOp::sub, kFloat32, a.out({rows, columns}), false);
        add_operand(call, a.view({rows, columns}));
        add_operand(call, b.view({rows, columns}, {by_row ? 0 : 1, by_row ? 1 : 0}));
        cpu_table().pointwise(TestQueue(threads), call);
        for (int64_t i = 0; i < a.count(); ++i)
          ASSERT_EQ(a.get(i), static_cast<double>(i % 1000 - (by_row ? i % columns : i / columns))) << columns << " columns, element " << i;
      }
  }
}

TEST_P(PointwiseKernel, ResultsDoNotDependOnPlaceOrThreads) {
  constexpr int64_t n = 300001;
  Memory a(kFloat32, n), b(kFloat32, n), whole(kFloat32, n), parts(kFloat32, n);
  std::mt19937 random(9);
  std::normal_distribution<double> normal(0, 30);
  for (int64_t i = 0; i < n; ++i) a.set(i, normal(random)), b.set(i, normal(random));
  for (const PointwiseOp op :
       {PointwiseOp::tanh, PointwiseOp::sin, PointwiseOp::log1p, PointwiseOp::gelu, PointwiseOp::pow, PointwiseOp::remainder}) {
    const bool binary = op == PointwiseOp::pow || op == PointwiseOp::remainder;
    Pointwise call = call_of(op, kFloat32, whole.out({n}), true);
    add_operand(call, a.view({n}));
    if (binary) add_operand(call, b.view({n}));
    TestQueue queue(4);
    cpu_table().pointwise(queue, call);
    for (int64_t i = 0; i < n;) {
      const int64_t count = std::min<int64_t>(n - i, 1 + static_cast<int64_t>(random() % 200));
      Pointwise piece = call_of(op, kFloat32, parts.out({count}, {1}, i), true);
      add_operand(piece, a.view({count}, {1}, i));
      if (binary) add_operand(piece, b.view({count}, {1}, i));
      cpu_table().pointwise(queue, piece);
      i += count;
    }
    EXPECT_EQ(std::memcmp(whole.data(), parts.data(), n * sizeof(float)), 0) << "operation " << static_cast<int>(op);
  }
}

struct Parameterised {
  PointwiseOp op;
  const char* name;
  std::vector<double> parameters;
  double (*reference)(double x, const std::vector<double>& p);
};
TEST_P(PointwiseKernel, OperationsWithParameters) {
  using P = const std::vector<double>&;
  const Parameterised tests[] = {
      {PointwiseOp::clamp, "clamp", {-1, 2}, [](double x, P p) { return std::isnan(x) ? x : std::min(std::max(x, p[0]), p[1]); }},
      {PointwiseOp::threshold, "threshold", {0.5, 7}, [](double x, P p) { return x <= p[0] ? p[1] : x; }},
      {PointwiseOp::leaky_relu, "leaky_relu", {0.1}, [](double x, P p) { return x > 0 ? x : x * p[0]; }},
      {PointwiseOp::elu, "elu", {1.5}, [](double x, P p) { return x > 0 ? x : p[0] * std::expm1(x); }},
      {PointwiseOp::celu, "celu", {2}, [](double x, P p) { return x > 0 ? x : p[0] * std::expm1(x / p[0]); }},
      {PointwiseOp::softplus,
       "softplus",
       {2, 20},
       [](double x, P p) { return x * p[0] > p[1] ? x : std::log1p(std::exp(x * p[0])) / p[0]; }},
      {PointwiseOp::hardshrink, "hardshrink", {0.5}, [](double x, P p) { return x >= -p[0] && x <= p[0] ? 0 : x; }},
      {PointwiseOp::softshrink,
       "softshrink",
       {0.5},
       [](double x, P p) {
         return x > p[0] ? x - p[0] : x < -p[0] ? x + p[0] : std::isnan(x) ? x : 0;
       }},
      {PointwiseOp::nan_to_num,
       "nan_to_num",
       {1, 2, 3},
       [](double x, P p) {
         return std::isnan(x) ? p[0] : x == kInf ? p[1] : x == -kInf ? p[2] : x;
       }},
      {PointwiseOp::lerp, "lerp", {3, 0.25}, [](double x, P p) { return x + p[1] * (p[0] - x); }},
      {PointwiseOp::add_scaled, "add_scaled", {2, 3}, [](double x, P p) { return x + p[0] * p[1]; }},
      {PointwiseOp::addcdiv, "addcdiv", {3, 4, 2}, [](double x, P p) { return x + p[2] * p[0] / p[1]; }},
      {PointwiseOp::smooth_l1,
       "smooth_l1",
       {1, 2},
       [](double x, P p) {
         const double d = std::fabs(x - p[0]);
         return d < p[1] ? d * d / 2 / p[1] : d - p[1] / 2;
       }},
      {PointwiseOp::huber,
       "huber",
       {1, 2},
       [](double x, P p) {
         const double d = std::fabs(x - p[0]);
         return d <= p[1] ? d * d / 2 : p[1] * (d - p[1] / 2);
       }},
      {PointwiseOp::where, "where", {4, 5}, [](double x, P p) { return x != 0 ? p[0] : p[1]; }},
      {PointwiseOp::isclose,
       "isclose",
       {1, 0.5, 0.25},
       [](double x, P p) { return double(x == p[0] || (!std::isinf(x) && std::fabs(x - p[0]) <= p[2] + p[1] * std::fabs(p[0]))); }},
  };
  std::vector<double> values = {0, -0.0, 1, -1, 0.5, -0.5, 3, -3, 30, -30, kNan, kInf, -kInf};
  for (int i = 0; i < 200; ++i) values.push_back(static_cast<float>(std::sin(i * 1.7) * 4));
  const auto n = static_cast<int64_t>(values.size());
  for (const DType dtype : {kFloat32, kFloat64})
    for (const Parameterised& test : tests) {
      Memory x(dtype, n), out(test.op == PointwiseOp::isclose ? kBool : dtype, n);
      for (int64_t i = 0; i < n; ++i) x.set(i, values[static_cast<size_t>(i)]);
      Pointwise call = call_of(test.op, dtype, out.out({n}), true);
      add_operand(call, x.view({n}));
      for (const double p : test.parameters) add_operand(call, p);
      TestQueue queue;
      cpu_table().pointwise(queue, call);
      ASSERT_EQ(queue.trouble(), Trouble::None) << test.name;
      for (int64_t i = 0; i < n; ++i) {
        const double wanted = test.reference(x.get(i), test.parameters);
        EXPECT_TRUE(same(out.get(i), wanted, dtype == kFloat32 ? 5e-7 : 1e-15) ||
                    std::fabs(out.get(i) - wanted) < (dtype == kFloat32 ? 3e-7 : 1e-15))
            << test.name << " of " << x.get(i) << " in " << dtype << " gave " << out.get(i) << ", not " << wanted;
      }
    }
}

/// Each fused gradient against the slope of its function.
TEST_P(PointwiseKernel, FusedGradientsAreSlopes) {
  struct Test {
    PointwiseOp forward, backward;
    bool from_result;
    std::vector<double> parameters;
  };
  const Test tests[] = {{PointwiseOp::tanh, PointwiseOp::tanh_backward, true, {}},
                        {PointwiseOp::sigmoid, PointwiseOp::sigmoid_backward, true, {}},
                        {PointwiseOp::silu, PointwiseOp::silu_backward, false, {}},
                        {PointwiseOp::mish, PointwiseOp::mish_backward, false, {}},
                        {PointwiseOp::gelu, PointwiseOp::gelu_backward, false, {}},
                        {PointwiseOp::gelu_tanh, PointwiseOp::gelu_tanh_backward, false, {}},
                        {PointwiseOp::leaky_relu, PointwiseOp::leaky_relu_backward, false, {0.2}},
                        {PointwiseOp::softplus, PointwiseOp::softplus_backward, false, {1.5, 20}},
                        {PointwiseOp::softshrink, PointwiseOp::shrink_backward, false, {0.5}}};
  const auto run = [](PointwiseOp op, double x, double y, bool two, const std::vector<double>& parameters) {
    Memory out(kFloat64, 1);
    Pointwise call = call_of(op, kFloat64, out.out({1}), true);
    add_operand(call, x);
    if (two) add_operand(call, y);
    for (const double p : parameters) add_operand(call, p);
    TestQueue queue;
    cpu_table().pointwise(queue, call);
    EXPECT_EQ(queue.trouble(), Trouble::None);
    return out.get(0);
  };
  for (const Test& test : tests)
    for (const double x : {-3.3, -1.1, -0.3, 0.2, 0.9, 2.7, 12.0}) {
      constexpr double h = 1e-6;
      const double slope =
          (run(test.forward, x + h, 0, false, test.parameters) - run(test.forward, x - h, 0, false, test.parameters)) / (2 * h);
      const double known = test.from_result ? run(test.forward, x, 0, false, {}) : x;
      EXPECT_NEAR(run(test.backward, 3, known, true, test.parameters), 3 * slope, 1e-8) << static_cast<int>(test.backward) << " at " << x;
    }
}

TEST_P(PointwiseKernel, NothingHappensToNothing) {
  Memory out(kFloat32, 1);
  out.set(0, 7);
  Pointwise call = call_of(PointwiseOp::neg, kFloat32, out.out({0}), true);
  add_operand(call, out.view({0}));
  TestQueue queue;
  cpu_table().pointwise(queue, call);
  EXPECT_EQ(out.get(0), 7);
}

TEST_P(PointwiseKernel, BitwiseNotOfBoolIsLogical) {
  Memory a(kBool, 4), out(kBool, 4);
  a.set(1, 1), a.set(0, 0), a.set(2, 0), a.set(3, 1);
  Pointwise call = call_of(PointwiseOp::bitwise_not, kInt64, out.out({4}), true);
  add_operand(call, a.view({4}));
  TestQueue queue;
  cpu_table().pointwise(queue, call);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(out.get(i), 1 - a.get(i));
}

TEST_P(PointwiseKernel, LargeResultsPastTheCaches) {
  constexpr int64_t n = 20'000'003;
  std::vector<float> a(n), out(n + 1, -1);
  for (int64_t i = 0; i < n; ++i) a[static_cast<size_t>(i)] = static_cast<float>(i % 1000);
  Out to;
  to.data = out.data() + 1;  // not aligned
  to.dtype = kFloat32;
  to.ndim = 1;
  to.sizes[0] = n;
  to.strides[0] = 1;
  View from = to;
  from.data = a.data();
  Pointwise call = call_of(PointwiseOp::add, kFloat32, to, true);
  add_operand(call, from);
  add_operand(call, 1);
  TestQueue queue(2);
  cpu_table().pointwise(queue, call);
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i) wrong += out[static_cast<size_t>(i) + 1] != static_cast<float>(i % 1000 + 1);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(out[0], -1);
}

}  // namespace
}  // namespace tandem::kernels::testing
