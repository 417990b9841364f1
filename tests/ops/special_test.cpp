// Special functions by torch.special's names, and what these names stand for.
#include <cmath>
#include <limits>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

class Special : public OnDevice {
 protected:
  static td::Tensor of(const td::NestedList& data) { return td::tensor(data, {.dtype = td::kFloat64, .device = device()}); }
  static void expect(const td::Tensor& found, const td::NestedList& wanted) {
    EXPECT_TRUE(td::allclose(found, of(wanted), 1e-12, 1e-300, true)) << found;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Special, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(Special, AreOtherNames) {
  const auto x = of({0.3, 1.5, 4.0});
  EXPECT_TRUE(td::equal(td::special::expit(x), td::sigmoid(x)));
  EXPECT_TRUE(td::equal(td::special::gammaln(x), td::lgamma(x)));
  EXPECT_TRUE(td::equal(td::special::psi(x), td::digamma(x)));
  EXPECT_TRUE(td::equal(td::special::erf(x), td::erf(x)));
}

TEST_P(Special, OfTheNormalDistribution) {
  expect(td::special::ndtr(of({0., 1., -10.})), {0.5, 0.84134474606854294859, 7.6198530241605260660e-24});
  expect(td::special::ndtri(of({0.5, 0.84134474606854294859, 0.})), {0., 1., -kInf});
}

TEST_P(Special, EntropyAndLogarithms) {
  expect(td::special::entr(of({0., 1., 0.5, -1., kNan})), {0., 0., 0.34657359027997265, -kInf, kNan});
  expect(td::special::xlog1py(of({0., 2., 0., 0., 0., 3.}), of({-1., 1e-20, kNan, kInf, -5., -1.})), {0., 2e-20, kNan, 0., 0., -kInf});
  const auto x = of({0., 2.}).requires_grad_(), y = of({-1., 1.}).requires_grad_();
  td::special::xlog1py(x, y).sum().backward();
  expect(x.grad(), {0., std::log(2.0)});
  expect(y.grad(), {0., 1.});
  expect(td::special::multigammaln(of({3.5}), 2), {2.4664857258317188});
  EXPECT_NE(error_of([&] { (void)td::special::multigammaln(of({3.5}), 0); }).find("p must be greater than or equal to 1, got 0"),
            std::string::npos);
}

}  // namespace
