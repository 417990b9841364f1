// Optimizer steps and clipping against PyTorch's formulas, written out in double.
#include <array>

#include "kernels/array.h"
#include "kernels/table.h"

namespace tandem::kernels {
namespace {

using namespace testing;

constexpr DType kFloatingTypes[] = {kFloat32, kFloat64, kFloat16, kBFloat16};

/// A parameter with everything a step may want; the largest one spans several pieces.
struct Set {
  Array parameter, gradient, mean, square, max_square;
  Set(DType dtype, int64_t n, uint64_t seed)
      : parameter(dtype, {n}), gradient(dtype, {n}), mean(dtype, {n}), square(dtype, {n}), max_square(dtype, {n}) {
    parameter.random(seed);
    gradient.random(seed + 1);
    mean.random(seed + 2);
    square.random(seed + 3);
    max_square.random(seed + 4);
    for (Array* a : {&square, &max_square})
      for (int64_t i = 0; i < n; ++i) a->set(i, std::abs((*a)[i]));
  }
};

std::vector<Set> sets(DType dtype) {
  std::vector<Set> all;
  uint64_t seed = 1;
  for (const int64_t n : {1, 37, 0, 30001, 8192, 5}) all.emplace_back(dtype, n, seed += 10);
  return all;
}

double relative(DType dtype) { return tolerance(dtype) * 4; }

class Optimizer : public EverySet {};
TD_EVERY_SET(Optimizer);

TEST_P(Optimizer, Sgd) {
  for (const DType dtype : kFloatingTypes)
    for (const SgdSettings& s : {SgdSettings{0.1, 0, 0, 0, false, false},  // lr, momentum, dampening, weight decay, nesterov, maximize
                                 SgdSettings{0.1, 0.9, 0.25, 0.5, false, false}, SgdSettings{0.1, 0.5, 0, 0.125, true, true}})
      for (const bool first : {true, false}) {
        std::vector<Set> all = sets(dtype);
        std::vector<SgdParameter> list;
        std::vector<std::vector<double>> expected, buffers;
        for (Set& p : all) {
          std::vector<double> values, momenta;
          for (int64_t i = 0; i < p.parameter.numel(); ++i) {
            double d = (s.maximize ? -1 : 1) * p.gradient[i] + s.weight_decay * p.parameter[i];
            if (s.momentum != 0) {
              const double b = first ? d : s.momentum * p.mean[i] + (1 - s.dampening) * d;
              momenta.push_back(b);
              d = s.nesterov ? d + s.momentum * b : b;
            }
            values.push_back(p.parameter[i] - s.lr * d);
          }
          if (first)
            for (int64_t i = 0; i < p.mean.numel(); ++i) p.mean.set(i, std::nan(""));  // not to be read
          expected.push_back(values);
          buffers.push_back(momenta);
          list.push_back({p.parameter.view().data, p.gradient.view().data, s.momentum != 0 ? p.mean.view().data : nullptr,
                          p.parameter.numel(), dtype, first});
        }
        TestQueue queue;
        cpu_table().sgd(queue, {list.data(), static_cast<int64_t>(list.size())}, s);
        for (size_t i = 0; i < all.size(); ++i) {
          expect_close(all[i].parameter, expected[i], relative(dtype), tandem::name(dtype));
          if (s.momentum != 0) expect_close(all[i].mean, buffers[i], relative(dtype), "momentum");
        }
      }
}

TEST_P(Optimizer, Adam) {
  for (const DType dtype : kFloatingTypes)
    for (const bool keeps_max : {false, true})
      for (const AdamSettings& s :
           {AdamSettings{0.1, 0.9, 0.75, 1e-3, 0, false, false},  // lr, betas, eps, weight decay, decoupled, maximize
            AdamSettings{0.1, 0.5, 0.875, 1e-3, 0.25, false, false}, AdamSettings{0.1, 0.5, 0.875, 1e-3, 0.25, true, true}}) {
        std::vector<Set> all = sets(dtype);
        std::vector<AdamParameter> list;
        std::vector<std::array<std::vector<double>, 4>> expected;
        int64_t step = 0;
        for (Set& p : all) {
          ++step;
          auto& e = expected.emplace_back();
          for (int64_t i = 0; i < p.parameter.numel(); ++i) {
            double x = p.parameter[i], g = (s.maximize ? -1 : 1) * p.gradient[i];
            if (s.decoupled) x *= 1 - s.lr * s.weight_decay;
            else g += s.weight_decay * x;
            const double m = p.mean[i] + (1 - s.beta1) * (g - p.mean[i]), v = s.beta2 * p.square[i] + (1 - s.beta2) * g * g;
            const double most = keeps_max ? std::max(p.max_square[i], v) : v, t = static_cast<double>(step);
            const double denominator = std::sqrt(most) / std::sqrt(1 - std::pow(s.beta2, t)) + s.eps;
            e[0].push_back(x - s.lr / (1 - std::pow(s.beta1, t)) * m / denominator);
            e[1].push_back(m);
            e[2].push_back(v);
            e[3].push_back(keeps_max ? most : p.max_square[i]);
          }
          list.push_back({p.parameter.view().data, p.gradient.view().data, p.mean.view().data, p.square.view().data,
                          keeps_max ? p.max_square.view().data : nullptr, p.parameter.numel(), dtype, step});
        }
        TestQueue queue;
        cpu_table().adam(queue, {list.data(), static_cast<int64_t>(list.size())}, s);
        for (size_t i = 0; i < all.size(); ++i) {
          expect_close(all[i].mean, expected[i][1], relative(dtype), "mean");
          expect_close(all[i].square, expected[i][2], relative(dtype), "square");
          expect_close(all[i].max_square, expected[i][3], relative(dtype), "max square");
          expect_close(all[i].parameter, expected[i][0], relative(dtype) * 2, tandem::name(dtype));
        }
      }
}

TEST_P(Optimizer, TotalNormAndClip) {
  for (const DType dtype : kFloatingTypes) {
    std::vector<Set> all = sets(dtype);
    std::vector<View> views;
    std::vector<Change> changes;
    double squares = 0;
    for (Set& p : all) {
      views.push_back(p.gradient.view());
      changes.push_back(p.gradient.change());
      for (const double g : p.gradient.values()) squares += g * g;
    }
    const Span<View> span{views.data(), static_cast<int64_t>(views.size())};
    const Span<Change> clipped{changes.data(), static_cast<int64_t>(changes.size())};
    Array norm(kFloat32, {}), alone(kFloat32, {});
    TestQueue queue, one(1);
    cpu_table().total_norm(queue, norm.out(), span, nullptr);
    cpu_table().total_norm(one, alone.out(), span, nullptr);
    EXPECT_NEAR(norm[0], std::sqrt(squares), 1e-5 * std::sqrt(squares));
    EXPECT_EQ(norm[0], alone[0]);
    const std::vector<double> before = all[3].gradient.values();
    cpu_table().clip(queue, clipped, norm.view(), norm[0] * 2);
    EXPECT_EQ(all[3].gradient.values(), before) << "nothing to clip";
    cpu_table().clip(queue, clipped, norm.view(), norm[0] / 4);
    for (size_t i = 0; i < before.size(); ++i)
      ASSERT_NEAR(all[3].gradient[static_cast<int64_t>(i)], before[i] / 4, tolerance(dtype) * 2 + 1e-8);
    EXPECT_TRUE(all[3].gradient.guards_stand());
  }
  Array norm(kFloat32, {}, {5.0});
  TestQueue queue;
  cpu_table().total_norm(queue, norm.out(), {}, nullptr);
  EXPECT_EQ(norm[0], 0);
}

}  // namespace
}  // namespace tandem::kernels
