// Losses: small cases worked out by hand, and what they refuse.
#include <cmath>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Losses : public OnDevice {
 protected:
  static td::Tensor of(const td::NestedList& data) { return td::tensor(data, device()); }
};

TEST_P(Losses, OfNumbers) {
  const auto x = of({0.5, 3.}), y = of({0., 0.});
  EXPECT_TRUE(td::allclose(td::smooth_l1_loss(x, y, {.reduction = td::Reduction::None}), of({0.125, 2.5})));
  EXPECT_TRUE(td::allclose(td::huber_loss(x, y, {.reduction = td::Reduction::None, .delta = 2}), of({0.125, 4.})));
  EXPECT_TRUE(td::allclose(td::mse_loss(x, y, {.weight = of({1., 3.})}), of(27.25 / 4)));
  EXPECT_TRUE(td::allclose(td::margin_ranking_loss(x, y, of({1., -1.}), {.margin = 1}), of((0.5 + 4) / 2)));
  EXPECT_NE(error_of([&] { (void)td::huber_loss(x, y, {.delta = 0}); }).find("non-positive values for delta"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::l1_loss(x, y, {.reduction = td::Reduction::BatchMean}); }).find("batchmean"), std::string::npos);
}

TEST_P(Losses, TripletsByAnyDistance) {
  const auto anchor = of({{0., 0.}}), positive = of({{1., 2.}}), negative = of({{2., 0.}});
  const auto city = [](const td::Tensor& a, const td::Tensor& b) { return (a - b).abs().sum(-1); };
  EXPECT_EQ(td::triplet_margin_with_distance_loss(anchor, positive, negative, {.distance_function = city}).item<float>(), 3 - 2 + 1);
  EXPECT_EQ(
      td::triplet_margin_with_distance_loss(anchor, positive, of({{9., 0.}}), {.distance_function = city, .swap = true}).item<float>(), 0);
  EXPECT_TRUE(
      td::allclose(td::triplet_margin_with_distance_loss(anchor, positive, negative), td::triplet_margin_loss(anchor, positive, negative)));
  EXPECT_NE(
      error_of([&] { (void)td::triplet_margin_with_distance_loss(anchor, positive, negative, {.margin = 0}); }).find("greater than 0"),
      std::string::npos);
}

/// A GPU is not waited for: it tells at the next synchronization.
TEST_P(Losses, OfProbabilitiesRefuseOtherNumbers) {
  const auto error = [](const td::Tensor& x, const td::Tensor& y) {
    return error_of([&] {
      (void)td::binary_cross_entropy(x, y);
      if (x.is_cuda()) td::cuda::synchronize(x.device());
    });
  };
  for (const auto dtype : {td::kFloat32, td::kFloat64, td::kBFloat16, td::kFloat16}) {
    for (const double bad : {1.5, -0.25, double(NAN), double(INFINITY)}) {
      for (const int64_t n : {1, 3, 3000}) {
        const auto good = td::rand({n}, device()).to(dtype), other = good.clone();
        other.select(0, n - 1).fill_(bad);
        EXPECT_NE(error(other, good).find(td::str("all elements of input should be between 0 and 1, but one is ", bad)), std::string::npos)
            << error(other, good);
        EXPECT_NE(error(good, other).find(td::str("all elements of target should be between 0 and 1, but one is ", bad)),
                  std::string::npos);
        EXPECT_NE(error(other.expand({2, n}).t(), good.expand({2, n}).t()).find("all elements of input"), std::string::npos);
        EXPECT_EQ(error(good, good), "no error");
      }
    }
  }
  EXPECT_EQ(error(of({0., 1., -0.}), of({1., -0., 0.})), "no error");
}

TEST_P(Losses, OfClasses) {
  const auto x = of({{1., 2., 3.}, {0., 0., 0.}});
  EXPECT_TRUE(td::allclose(td::multi_margin_loss(x, of({2, 0})), of((0. + 2. / 3) / 2)));
  EXPECT_TRUE(td::allclose(td::multilabel_margin_loss(x, of({{0, -1, 2}, {-1, 0, 0}})), of((5. / 3 + 0) / 2)));
  EXPECT_NE(error_of([&] { (void)td::nll_loss(x, of({0, -1})).item(); }), "no error");
}

TEST_P(Losses, CtcSumsOverAlignments) {
  // Two steps, classes {blank, a}, uniform: "a" has the alignments aa, a-, -a of probability 1/4 each.
  const auto in = td::full({2, 1, 2}, std::log(0.5), {.device = device()}).requires_grad_();
  const auto loss = td::ctc_loss(in, of({{1}}), td::Shape{2}, td::Shape{1});
  EXPECT_NEAR(loss.item<double>(), -std::log(0.75), 1e-6);
  loss.backward();
  EXPECT_NEAR(in.grad().sum().item<double>(), 0, 1e-6);  // a gradient under a log_softmax
  EXPECT_NEAR(in.grad().cpu()[0][0][1].item<double>(), 0.5 - 2. / 3, 1e-6);
  // "aa" needs a blank between: three steps.
  EXPECT_TRUE(std::isinf(td::ctc_loss(in, of({{1, 1}}), td::Shape{2}, td::Shape{2}).item<double>()));
  EXPECT_EQ(td::ctc_loss(in, of({{1, 1}}), td::Shape{2}, td::Shape{2}, {.zero_infinity = true}).item<double>(), 0);
  EXPECT_NE(error_of([&] { (void)td::ctc_loss(in, of({{1}}), td::Shape{3}, td::Shape{1}); }).find("at most 2, but got value 3"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Devices, Losses, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
