// First values: bounds, moments and structure.
#include "nn/support.h"

namespace tandem::testing {
namespace {

namespace init = nn::init;

class InitOn : public OnDevice {
 protected:
  [[nodiscard]] Tensor made(const Shape& sizes) const { return zeros(sizes, Options{.device = device(), .requires_grad = true}); }
};
INSTANTIATE_TEST_SUITE_P(Devices, InitOn, every_device(), device_name);

double deviation(const Tensor& x) { return x.detach().std().item<double>(); }
std::pair<double, double> range(const Tensor& x) { return {x.detach().min().item<double>(), x.detach().max().item<double>()}; }

void expect_within(const Tensor& x, double low, double high) {
  const auto [least, most] = range(x);
  const double slack = (high - low) * 0.02;
  EXPECT_GE(least, low);
  EXPECT_LE(most, high);
  EXPECT_LT(least, low + slack);
  EXPECT_GT(most, high - slack);
}

TEST_P(InitOn, Plain) {
  const Tensor x = made({60, 50});
  EXPECT_TRUE(init::uniform_(x, -2, 3).is_same(x));
  EXPECT_TRUE(x.is_leaf() && x.requires_grad());
  expect_within(x, -2, 3);
  init::normal_(x, 4, 0.5);
  EXPECT_NEAR(x.detach().mean().item<double>(), 4, 0.05);
  EXPECT_NEAR(deviation(x), 0.5, 0.03);
  init::constant_(x, 0.25);
  EXPECT_EQ(range(x), std::pair(0.25, 0.25));
  init::ones_(x);
  EXPECT_EQ(range(x), std::pair(1.0, 1.0));
  init::zeros_(x);
  EXPECT_EQ(range(x), std::pair(0.0, 0.0));
}

TEST_P(InitOn, ByFans) {
  const Tensor x = made({40, 20, 3, 2});  // fans 120 and 240
  init::xavier_uniform_(x, 2);
  expect_within(x, -2 * std::sqrt(6.0 / 360), 2 * std::sqrt(6.0 / 360));
  init::xavier_normal_(x);
  EXPECT_NEAR(deviation(x), std::sqrt(2.0 / 360), 0.004);
  init::kaiming_uniform_(x);
  expect_within(x, -std::sqrt(6.0 / 120), std::sqrt(6.0 / 120));
  init::kaiming_uniform_(x, {.a = std::sqrt(5.0)});
  expect_within(x, -std::sqrt(1.0 / 120), std::sqrt(1.0 / 120));
  init::kaiming_normal_(x, {.mode = "fan_out", .nonlinearity = "relu"});
  EXPECT_NEAR(deviation(x), std::sqrt(2.0 / 240), 0.004);
  EXPECT_NE(error_of([&] { init::xavier_uniform_(made({3})); }).find("fewer than 2 dimensions"), std::string::npos);
  EXPECT_EQ(error_of([&] { init::kaiming_normal_(x, {.mode = "fan"}); }),
            "[kaiming_normal_] Mode fan not supported, please use one of 'fan_in', 'fan_out'");
}

TEST(Init, Gains) {
  EXPECT_EQ(init::calculate_gain("conv2d"), 1);
  EXPECT_EQ(init::calculate_gain("sigmoid"), 1);
  EXPECT_DOUBLE_EQ(init::calculate_gain("tanh"), 5.0 / 3);
  EXPECT_DOUBLE_EQ(init::calculate_gain("relu"), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(init::calculate_gain("leaky_relu"), std::sqrt(2 / (1 + 1e-4)));
  EXPECT_DOUBLE_EQ(init::calculate_gain("leaky_relu", 0.2), std::sqrt(2 / 1.04));
  EXPECT_DOUBLE_EQ(init::calculate_gain("selu"), 0.75);
  EXPECT_NE(error_of([] { (void)init::calculate_gain("swish"); }).find("Unsupported nonlinearity swish"), std::string::npos);
}

TEST_P(InitOn, TruncatedNormal) {
  const Tensor x = made({5000});
  init::trunc_normal_(x);
  expect_within(x, -2, 2);
  EXPECT_NEAR(deviation(x), 0.8796, 0.03);  // of a normal cut at two deviations
  EXPECT_NEAR(x.detach().mean().item<double>(), 0, 0.05);
  init::trunc_normal_(x, 0, 1, 2, 3);  // far out: a tail of 2%
  expect_within(x, 2, 3);
  EXPECT_NEAR(x.detach().mean().item<double>(), 2.3158, 0.02);
  EXPECT_NE(error_of([&] { init::trunc_normal_(x, 0, 1, 3, 2); }).find("needs std > 0 and a <= b"), std::string::npos);
}

TEST_P(InitOn, Structured) {
  const Tensor square = made({2, 3});
  init::eye_(square);
  EXPECT_EQ(values(square), (std::vector<double>{1, 0, 0, 0, 1, 0}));

  const Tensor kernel = made({4, 2, 3});
  init::dirac_(kernel, 2);
  const Tensor x = randn({1, 4, 7}, device());
  EXPECT_TRUE(equal(conv1d(x, kernel, {}, {.padding = 1, .groups = 2}), x));
  EXPECT_EQ(error_of([&] { init::dirac_(kernel, 3); }), "[dirac_] dim 0, 4, must be divisible by groups, 3");

  for (const Shape& sizes : {Shape{6, 4}, Shape{4, 6}, Shape{4, 3, 2}}) {
    const Tensor q = made(sizes);
    init::orthogonal_(q, 2);
    const Tensor flat = q.detach().reshape({sizes[0], -1});
    const Tensor product = flat.size(0) > flat.size(1) ? matmul(flat.t(), flat) : matmul(flat, flat.t());
    EXPECT_TRUE(allclose(product.cpu(), eye(product.size(0)) * 4, 1e-4, 1e-4));
  }

  const Tensor sparse = made({10, 30});
  init::sparse_(sparse, 0.25);
  for (const double zeros : values(eq(sparse.detach(), 0).sum(Shape{0}))) EXPECT_EQ(zeros, 3);  // rounded up
  EXPECT_NEAR(deviation(sparse), 0.01 * std::sqrt(0.7), 0.002);
  EXPECT_EQ(error_of([&] { init::eye_(kernel); }), "[eye_] Only tensors with 2 dimensions are supported, not one of size [4, 2, 3]");
}

}  // namespace
}  // namespace tandem::testing
