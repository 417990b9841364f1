// Losses as modules: the values of their functions, options as buffers, names. The golden cases compare them with PyTorch's.
#include "nn/support.h"

namespace tandem::testing {
namespace {

class LossesOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, LossesOn, every_device(), device_name);

double softplus_of(double x) { return std::log1p(std::exp(x)); }

TEST_P(LossesOn, OfNumbers) {
  const Tensor x = tensor({0.5, -1.0, 3.0}).to(device()), y = tensor({0.0, 1.0, 1.0}).to(device());  // differences 0.5, -2, 2
  expect_near(nn::L1Loss()(x, y), {1.5});
  expect_near(nn::L1Loss({.reduction = Reduction::Sum})(x, y), {4.5});
  expect_near(nn::MSELoss({.reduction = Reduction::None})(x, y), {0.25, 4, 4});
  expect_near(nn::MSELoss({.weight = tensor({1.0, 0.0, 1.0}).to(device())})(x, y), {4.25 / 2});
  expect_near(nn::SmoothL1Loss({.reduction = Reduction::None, .beta = 2})(x, y), {0.0625, 1, 1});
  expect_near(nn::HuberLoss({.reduction = Reduction::None, .delta = 0.5})(x, y), {0.125, 0.875, 0.875});
  expect_near(nn::BCEWithLogitsLoss({.reduction = Reduction::None})(x, y), {softplus_of(0.5), softplus_of(1), softplus_of(-3)});
  expect_near(nn::BCELoss()(sigmoid(x), y), {(softplus_of(0.5) + softplus_of(1) + softplus_of(-3)) / 3}, 1e-5);
  expect_near(nn::SoftMarginLoss({.reduction = Reduction::Sum})(x, y * 2 - 1), {softplus_of(0.5) + softplus_of(1) + softplus_of(-3)}, 1e-5);
  expect_near(nn::HingeEmbeddingLoss({.margin = 2, .reduction = Reduction::None})(x, y * 2 - 1), {1.5, -1, 3});
  expect_near(nn::MarginRankingLoss({.margin = 1, .reduction = Reduction::None})(x, y, tensor({1.0, 1.0, -1.0}).to(device())), {0.5, 3, 3});
}

TEST_P(LossesOn, OfDistributions) {
  const Tensor p = tensor({{0.25, 0.75}, {0.5, 0.5}}).to(device()), q = tensor({{0.5, 0.5}, {0.1, 0.9}}).to(device());
  const double first = 0.25 * std::log(0.25 / 0.5) + 0.75 * std::log(0.75 / 0.5);
  const double second = 0.5 * std::log(0.5 / 0.1) + 0.5 * std::log(0.5 / 0.9);
  expect_near(nn::KLDivLoss({.reduction = Reduction::BatchMean})(log(q), p), {(first + second) / 2});
  expect_near(nn::KLDivLoss({.reduction = Reduction::Sum, .log_target = true})(log(q), log(p)), {first + second});
  const Tensor x = tensor({1.0, 2.0}).to(device()), counts = tensor({0.0, 3.0}).to(device());
  expect_near(nn::PoissonNLLLoss({.reduction = Reduction::None})(x, counts), {std::exp(1.0), std::exp(2.0) - 6}, 1e-5);
  expect_near(nn::GaussianNLLLoss({.reduction = Reduction::None})(x, counts, tensor({1.0, 4.0}).to(device())),
              {0.5, (std::log(4.0) + 0.25) / 2});
  expect_near(nn::GaussianNLLLoss()(x, counts, 1.0), {0.5});
}

TEST_P(LossesOn, OfVectors) {
  const Tensor a = tensor({{1.0, 0.0}, {0.0, 2.0}}).to(device()), b = tensor({{1.0, 1.0}, {0.0, -1.0}}).to(device());
  expect_near(nn::CosineEmbeddingLoss({.reduction = Reduction::None})(a, b, tensor({1, -1}).to(device())), {1 - std::sqrt(0.5), 0}, 1e-5);
  const Tensor anchor = zeros({1, 2}, device()), near = tensor({{3.0, 0.0}}).to(device()), far = tensor({{0.0, 3.5}}).to(device());
  expect_near(nn::TripletMarginLoss()(anchor, near, far), {0.5}, 1e-5);
  expect_near(nn::TripletMarginLoss({.margin = 2, .p = 1, .swap = true})(anchor, near, far), {1.5}, 1e-5);
  const auto city = [](const Tensor& a, const Tensor& b) { return (a - b).abs().sum(-1); };
  expect_near(nn::TripletMarginWithDistanceLoss({.distance_function = city, .margin = 2, .swap = true})(anchor, near, far), {1.5}, 1e-5);
  expect_near(nn::TripletMarginWithDistanceLoss()(anchor, near, far), {0.5}, 1e-5);
  expect_near(nn::TripletMarginWithDistanceLoss({.distance_function = nn::PairwiseDistance(1), .margin = 2})(anchor, near, far), {1.5},
              1e-5);
}

/// Distances between projections, which are learned.
struct Projected : nn::Callable<Projected> {
  nn::Linear projection{2, 2};
  void fields(nn::Fields& f) override { f("projection", projection); }
  Tensor forward(const Tensor& a, const Tensor& b) { return (projection(a) - projection(b)).abs().sum(-1); }
};

TEST(TripletMarginWithDistanceLoss, HasItsDistanceAsAPart) {
  nn::TripletMarginWithDistanceLoss loss({.distance_function = Projected()});
  EXPECT_EQ(loss.parameters().size(), 2u);
  loss(ones({1, 2}), ones({1, 2}) * 2, ones({1, 2}) * 3).backward();
  EXPECT_TRUE(loss.parameters()[0].grad().defined());
  // A copy's distance is the copy's own, of the same parameters.
  nn::TripletMarginWithDistanceLoss copy = loss;
  EXPECT_TRUE(copy.parameters()[0].is_same(loss.parameters()[0]));
  EXPECT_NE(copy.named_children()[0].second, loss.named_children()[0].second);
  loss.to(kFloat64);
  EXPECT_EQ(copy.parameters()[0].dtype(), kFloat64);
}

TEST_P(LossesOn, OfClasses) {
  const Tensor x = tensor({{0.1, 0.2, 0.7}, {0.3, 0.5, 0.4}}).to(device()), y = tensor({2, 0}).to(device());
  expect_near(nn::NLLLoss()(log(x), y), {-(std::log(0.7) + std::log(0.3)) / 2});
  expect_near(nn::NLLLoss({.ignore_index = 0})(log(x), y), {-std::log(0.7)});
  expect_near(nn::MultiMarginLoss({.reduction = Reduction::None})(x, y), {(0.4 + 0.5) / 3, (1.2 + 1.1) / 3});
  expect_near(nn::MultiLabelMarginLoss({.reduction = Reduction::None})(x, tensor({{2, -1, 0}, {1, 0, -1}}).to(device())),
              {(0.4 + 0.5) / 3, (0.9 + 1.1) / 3});
  expect_near(nn::MultiLabelSoftMarginLoss()(tensor({{1.0, -2.0}}).to(device()), tensor({{1.0, 0.0}}).to(device())),
              {(softplus_of(-1) + softplus_of(-2)) / 2});
}

TEST_P(LossesOn, OfSequences) {
  // Two steps, blank 0, target "1": alignments 11, 01, 10.
  const Tensor p = tensor({{{0.6, 0.4}}, {{0.3, 0.7}}}).to(device());
  const double expected = -std::log(0.4 * 0.7 + 0.6 * 0.7 + 0.4 * 0.3);
  const Tensor target = tensor({{1}}).to(device());
  expect_near(nn::CTCLoss({.reduction = Reduction::Sum})(log(p), target, {2}, {1}), {expected});
  expect_near(nn::CTCLoss()(log(p), target, tensor({2}), tensor({1})), {expected});
}

TEST_P(LossesOn, TensorsAmongOptionsAreBuffers) {
  nn::BCEWithLogitsLoss loss({.weight = tensor({1.0, 2.0}), .pos_weight = tensor({3.0, 1.0})});
  EXPECT_EQ(loss.state_dict().keys(), (std::vector<std::string>{"weight", "pos_weight"}));
  EXPECT_TRUE(loss.parameters().empty());
  loss.to(device());
  const Tensor x = zeros({2}, {.device = device(), .requires_grad = true});
  const Tensor y = loss(x, tensor({1.0, 0.0}).to(device()));
  EXPECT_EQ(y.device(), device());
  expect_near(y, {(3 + 2) * std::log(2.0) / 2});
  y.backward();
  expect_near(x.grad(), {-0.75, 0.5});
  EXPECT_TRUE(nn::L1Loss().state_dict().empty());
}

TEST(Losses, RefuseWhatTheirFunctionsRefuse) {
  const std::string text = error_of([] { (void)nn::MSELoss()(ones({2}), ones({3})); });
  EXPECT_NE(text.find("must match"), std::string::npos) << text;
  EXPECT_EQ(error_of([] {
              (void)nn::TripletMarginLoss({.margin = 0})(ones({1, 2}), ones({1, 2}), ones({1, 2}));
            }),
            "[triplet_margin_loss] expected margin to be greater than 0, but got 0");
}

TEST(Losses, InPrint) {
  EXPECT_EQ(shown(nn::L1Loss()), "L1Loss()");
  EXPECT_EQ(shown(nn::BCEWithLogitsLoss({.pos_weight = ones({2})})), "BCEWithLogitsLoss()");
  EXPECT_EQ(shown(nn::GaussianNLLLoss()), "GaussianNLLLoss()");
  EXPECT_EQ(shown(nn::MultiLabelSoftMarginLoss()), "MultiLabelSoftMarginLoss()");
  EXPECT_EQ(shown(nn::CTCLoss()), "CTCLoss()");
}

}  // namespace
}  // namespace tandem::testing
