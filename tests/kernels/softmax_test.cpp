// Softmax, log-softmax, cross-entropy and their gradients against plain loops in double.
#include "kernels/array.h"
#include "kernels/table.h"

namespace tandem::kernels {
namespace {

using namespace testing;

constexpr DType kFloatingTypes[] = {kFloat32, kFloat64, kFloat16, kBFloat16};

std::vector<double> softmax_of(const std::vector<double>& x, int64_t length, bool log) {
  std::vector<double> y(x.size());
  for (size_t row = 0; row < x.size(); row += static_cast<size_t>(length)) {
    double top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < length; ++i) top = std::max(top, x[row + static_cast<size_t>(i)]);
    for (int64_t i = 0; i < length; ++i) sum += std::exp(x[row + static_cast<size_t>(i)] - top);
    for (int64_t i = 0; i < length; ++i) {
      const double v = x[row + static_cast<size_t>(i)] - top;
      y[row + static_cast<size_t>(i)] = log ? v - std::log(sum) : std::exp(v) / sum;
    }
  }
  return y;
}

std::vector<Sizes> shapes() {
  return {{1}, {7}, {3, 10}, {5, 16}, {4, 33}, {2, 3, 70}, {300, 9}, {2, 2048}, {3, 5000}, {1, 1}, {0, 4}, {4, 0}};
}

class Softmax : public EverySet {};
TD_EVERY_SET(Softmax);

TEST_P(Softmax, Forward) {
  for (const DType dtype : kFloatingTypes)
    for (const Sizes& sizes : shapes())
      for (const Layout layout : kLayouts)
        for (const bool log : {false, true}) {
          Array in(dtype, sizes, layout), out(dtype, sizes,
                                              layout == Layout::Gaps    ? Layout::Dense
                                              : layout == Layout::Dense ? Layout::RowGaps
                                                                        : Layout::Gaps);
          in.random(7);
          TestQueue queue;
          (log ? cpu_table().log_softmax : cpu_table().softmax)(queue, out.out(), in.view());
          expect_close(out, softmax_of(in.values(), sizes.back(), log), tolerance(dtype),
                       std::string(tandem::name(dtype)) + " " + name(layout) + (log ? " log" : ""));
        }
}

TEST_P(Softmax, InPlaceAndBroadcastRows) {
  Array in(kFloat32, {1, 40});
  in.random(3);
  Array out(kFloat32, {6, 40});
  TestQueue queue;
  cpu_table().softmax(queue, out.out(), in.expanded({6, 40}));
  std::vector<double> expected;
  for (int r = 0; r < 6; ++r)
    for (const double y : softmax_of(in.values(), 40, false)) expected.push_back(y);
  expect_close(out, expected, 1e-6, "one row for all");
  const std::vector<double> once = softmax_of(out.values(), 40, true);
  cpu_table().log_softmax(queue, out.out(), out.view());
  expect_close(out, once, 2e-6, "in place");
}

TEST_P(Softmax, ExtremeValues) {
  for (const DType dtype : {kFloat32, kFloat64})
    for (const int64_t length : {4, 40, 5000}) {
      Array in(dtype, {5, length}), y(dtype, {5, length}), log_y(dtype, {5, length});
      for (int64_t i = 0; i < length; ++i) {
        in.set(i, 1e4);
        in.set(length + i, i == 1 ? -INFINITY : 0);
        in.set(2 * length + i, i == 2 ? std::nan("") : 1);
        in.set(3 * length + i, -INFINITY);
        in.set(4 * length + i, i == 0 ? 1e5 : -1e5);
      }
      TestQueue queue;
      cpu_table().softmax(queue, y.out(), in.view());
      cpu_table().log_softmax(queue, log_y.out(), in.view());
      EXPECT_NEAR(y[0], 1.0 / static_cast<double>(length), 1e-6);
      EXPECT_EQ(y[length + 1], 0);
      EXPECT_EQ(log_y[length + 1], -INFINITY);
      EXPECT_NEAR(y[length], 1.0 / static_cast<double>(length - 1), 1e-6);
      for (int64_t i = 0; i < length; ++i) {
        EXPECT_TRUE(std::isnan(y[2 * length + i]) && std::isnan(log_y[2 * length + i]));
        EXPECT_TRUE(std::isnan(y[3 * length + i]) && std::isnan(log_y[3 * length + i]));
      }
      EXPECT_EQ(y[4 * length], 1);
      EXPECT_EQ(log_y[4 * length + 1], -2e5);
    }
}

TEST_P(Softmax, Backward) {
  for (const DType dtype : kFloatingTypes)
    for (const Sizes& sizes : shapes())
      for (const Layout layout : kLayouts)
        for (const bool log : {false, true}) {
          if (sizes.back() > 1000 && dtype != kFloat32 && dtype != kFloat64) continue;  // sums of so many rounded numbers say nothing
          Array x(kFloat64, sizes), y(dtype, sizes, layout), grad(dtype, sizes, layout == Layout::Swapped ? Layout::Dense : layout),
              out(dtype, sizes);
          x.random(5);
          grad.random(6);
          const std::vector<double> exact = softmax_of(x.values(), sizes.back(), log);
          for (int64_t i = 0; i < y.numel(); ++i) y.set(i, exact[static_cast<size_t>(i)]);
          TestQueue queue;
          (log ? cpu_table().log_softmax_backward : cpu_table().softmax_backward)(queue, out.out(), grad.view(), y.view());
          std::vector<double> expected;
          const int64_t n = sizes.back();
          double sum = 0;
          for (int64_t i = 0; i < y.numel(); ++i) {
            if (i % n == 0) {
              sum = 0;
              for (int64_t k = i; k < i + n; ++k) sum += log ? grad[k] : grad[k] * y[k];
            }
            expected.push_back(log ? grad[i] - std::exp(y[i]) * sum : y[i] * (grad[i] - sum));
          }
          expect_close(out, expected, tolerance(dtype) * 3, std::string(tandem::name(dtype)) + " " + name(layout));
        }
}

struct Loss {
  DType dtype = kFloat32;
  int64_t n = 6, classes = 10;
  bool weighted = false;
  double smoothing = 0;
  Layout layout = Layout::Dense;
};

void check_loss(const Loss& c) {
  const int64_t ignore = -100;
  Array logits(c.dtype, {c.n, c.classes}, c.layout), target(kInt64, {c.n}, Layout::Gaps), weight(c.dtype, {c.classes}, Layout::Gaps);
  Array losses(c.dtype, {c.n}), weights(c.dtype, {c.n}), log_probabilities(c.dtype, {c.n, c.classes}),
      gradient(c.dtype, {c.n, c.classes}, c.layout), scale(c.dtype, {1});
  logits.random(1);
  scale.set(0, 0.5);
  for (int64_t i = 0; i < c.classes; ++i) weight.set(i, 0.5 + static_cast<double>(i % 4) / 4);
  for (int64_t r = 0; r < c.n; ++r) target.set(r, r % 4 == 3 ? static_cast<double>(ignore) : static_cast<double>(r * 7 % c.classes));
  TestQueue queue;
  const View weight_view = c.weighted ? weight.view() : View{};
  cpu_table().cross_entropy(queue, losses.out(), weights.out(), log_probabilities.out(), logits.view(), target.view(), weight_view, ignore,
                            c.smoothing);
  cpu_table().cross_entropy_backward(queue, gradient.out(), scale.expanded({c.n}), log_probabilities.view(), target.view(), weight_view,
                                     ignore, c.smoothing);
  EXPECT_EQ(queue.trouble(), Trouble::None);
  const std::vector<double> log_p = softmax_of(logits.values(), c.classes, true);
  std::vector<double> loss, used, grad;
  for (int64_t r = 0; r < c.n; ++r) {
    const auto t = static_cast<int64_t>(target[r]);
    double sum = 0, total = 0;
    std::vector<double> q(static_cast<size_t>(c.classes));
    for (int64_t i = 0; i < c.classes && t != ignore; ++i) {
      q[static_cast<size_t>(i)] =
          ((i == t ? 1 - c.smoothing : 0) + c.smoothing / static_cast<double>(c.classes)) * (c.weighted ? weight[i] : 1);
      sum -= q[static_cast<size_t>(i)] * log_p[static_cast<size_t>(r * c.classes + i)];
      total += q[static_cast<size_t>(i)];
    }
    loss.push_back(sum);
    used.push_back(t == ignore ? 0 : c.weighted ? weight[t] : 1);
    for (int64_t i = 0; i < c.classes; ++i)
      grad.push_back(0.5 * (std::exp(log_p[static_cast<size_t>(r * c.classes + i)]) * total - q[static_cast<size_t>(i)]));
  }
  const std::string what = std::string(tandem::name(c.dtype)) + " " + name(c.layout) + " classes " + std::to_string(c.classes) +
                           " smoothing " + std::to_string(c.smoothing);
  expect_close(log_probabilities, log_p, tolerance(c.dtype) * 2, what);
  expect_close(losses, loss, tolerance(c.dtype) * 3, what);
  expect_close(weights, used, 0, what);
  expect_close(gradient, grad, tolerance(c.dtype) * 3, what);
}

class CrossEntropy : public EverySet {};
TD_EVERY_SET(CrossEntropy);

TEST_P(CrossEntropy, LossAndGradient) {
  for (const DType dtype : kFloatingTypes)
    for (const Layout layout : kLayouts)
      for (const bool weighted : {false, true})
        for (const double smoothing : {0.0, 0.25})
          for (const int64_t classes : {2, 10, 33, 5000})
            check_loss({dtype, classes == 10 ? 300 : 6, classes, weighted, smoothing, layout});
}

TEST_P(CrossEntropy, ReportsTargetsOutOfRange) {
  for (const int64_t bad : {-1, 4}) {
    Array logits(kFloat32, {3, 4}), target(kInt64, {3}), losses(kFloat32, {3}), weights(kFloat32, {3}), log_p(kFloat32, {3, 4}),
        weight(kFloat32, {4}), grad(kFloat32, {3, 4}), scale(kFloat32, {3});
    target.set(1, static_cast<double>(bad));
    TestQueue queue, backward;
    cpu_table().cross_entropy(queue, losses.out(), weights.out(), log_p.out(), logits.view(), target.view(), weight.view(), -100, 0.1);
    EXPECT_EQ(queue.trouble(), Trouble::IndexOutOfRange);
    EXPECT_EQ(queue.own.a, bad);
    EXPECT_EQ(queue.own.b, 4);
    cpu_table().cross_entropy_backward(backward, grad.out(), scale.view(), log_p.view(), target.view(), weight.view(), -100, 0);
    EXPECT_EQ(backward.trouble(), Trouble::IndexOutOfRange);
    EXPECT_TRUE(losses.guards_stand() && weights.guards_stand() && log_p.guards_stand() && grad.guards_stand());
  }
}

}  // namespace
}  // namespace tandem::kernels
