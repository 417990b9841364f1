// torch::nn::functional: options of libtorch's form reach tandem's functions.
#include "libtorch/functional.h"

#include <cmath>

#include "support/on_device.h"
#include "tandem.h"

namespace {

using tandem::Tensor;
namespace F = torch::nn::functional;

class FunctionalOn : public OnDevice {
 protected:
  void SetUp() override { tandem::manual_seed(1); }
  [[nodiscard]] static Tensor on_device(const Tensor& x) { return x.to(device()); }
};
INSTANTIATE_TEST_SUITE_P(Devices, FunctionalOn, testing::Values("cpu", "cuda:0"), device_name);

void expect_values(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  EXPECT_TRUE(tandem::allclose(got.cpu().to(tandem::kFloat64), expected.to(tandem::kFloat64), 1e-5, 1e-6)) << got << "\n" << expected;
}

TEST_P(FunctionalOn, ActivationsWriteInPlaceWhereAsked) {
  const Tensor x = on_device(tandem::tensor({-2.0, 3.0}));
  const Tensor y = F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(0.5));
  expect_values(y, tandem::tensor({-1.0, 3.0}));
  expect_values(x, tandem::tensor({-2.0, 3.0}));
  EXPECT_TRUE(F::relu(x, F::ReLUFuncOptions().inplace(true)).is_same(x));
  expect_values(x, tandem::tensor({0.0, 3.0}));
  EXPECT_TRUE(F::threshold(x, F::ThresholdFuncOptions(1, 7).inplace(true)).is_same(x));
  expect_values(x, tandem::tensor({7.0, 3.0}));
  EXPECT_EQ(F::softmax(x, F::SoftmaxFuncOptions(0).dtype(torch::kFloat64)).dtype(), torch::kFloat64);
  expect_values(F::softmin(x, 0), F::softmax(-x, 0).cpu());
}

TEST_P(FunctionalOn, ConvolutionsTakeNumbersOrWords) {
  const Tensor x = on_device(tandem::randn({1, 1, 5, 5})), w = on_device(tandem::randn({1, 1, 3, 3}));
  EXPECT_EQ(F::conv2d(x, w, F::Conv2dFuncOptions().padding(torch::kSame)).sizes(), x.sizes());
  EXPECT_EQ(F::conv2d(x, w, F::Conv2dFuncOptions().stride({2, 1}).padding({1, 0})).sizes(), (tandem::Shape{1, 1, 3, 3}));
  EXPECT_EQ(F::conv_transpose2d(x, w, F::ConvTranspose2dFuncOptions().stride(2).output_padding({1, 0})).sizes(),
            (tandem::Shape{1, 1, 12, 11}));
}

TEST_P(FunctionalOn, LossesTakeAWordForTheirOptions) {
  const Tensor x = on_device(tandem::tensor({1.0, 4.0})), y = on_device(tandem::tensor({0.0, 0.0}));
  expect_values(F::l1_loss(x, y), tandem::tensor(2.5));
  expect_values(F::l1_loss(x, y, torch::kNone), tandem::tensor({1.0, 4.0}));
  expect_values(F::mse_loss(x, y, torch::kSum), tandem::tensor(17.0));
  expect_values(F::smooth_l1_loss(x, y, torch::kSum, 2.0), tandem::tensor(0.25 + 3));
  expect_values(F::huber_loss(x, y, F::HuberLossFuncOptions(torch::kSum).delta(2)), tandem::tensor(0.5 + 6));
  const Tensor rows = on_device(tandem::full({2, 3}, 0.5));
  expect_values(F::kl_div(rows.log(), rows * 2, torch::kBatchMean), tandem::full({}, 3 * std::log(2.0)));
  EXPECT_EQ(torch::enumtype::get_enum_name(F::KLDivFuncOptions(torch::kBatchMean).reduction()), "kBatchMean");
  EXPECT_EQ(torch::enumtype::reduction_get_enum(F::L1LossFuncOptions(torch::kSum).reduction()), at::Reduction::Sum);
}

TEST_P(FunctionalOn, PoolsGiveIndicesToo) {
  const Tensor x = on_device(tandem::arange(16, {.dtype = tandem::kFloat32}).view({1, 1, 4, 4}));
  const auto [values, indices] = F::max_pool2d_with_indices(x, F::MaxPool2dFuncOptions(2));
  expect_values(values, tandem::tensor({5.0, 7.0, 13.0, 15.0}).view({1, 1, 2, 2}));
  expect_values(indices, values.cpu());
  const Tensor back = F::max_unpool2d(values, indices, F::MaxUnpool2dFuncOptions(2).output_size(std::vector<int64_t>{1, 1, 5, 5}));
  EXPECT_EQ(back.sizes(), (tandem::Shape{1, 1, 5, 5}));
  EXPECT_EQ(F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions({2, std::nullopt})).sizes(), (tandem::Shape{1, 1, 2, 4}));
  expect_values(F::lp_pool2d(x, F::LPPool2dFuncOptions(1, 2)), F::avg_pool2d(x, F::AvgPool2dFuncOptions(2).divisor_override(1)).cpu());
  const auto how = F::FractionalMaxPool3dFuncOptions(1).output_ratio(torch::ExpandingArray<3, double>({0.5, 0.5, 0.5}));
  EXPECT_EQ(F::fractional_max_pool3d(on_device(tandem::randn({2, 4, 4, 6})), how).sizes(), (tandem::Shape{2, 2, 2, 3}));
}

TEST_P(FunctionalOn, FractionalPoolingHasGradients) {
  const Tensor x = on_device(tandem::randn({1, 2, 6, 6})).requires_grad_();
  const auto [values, indices] =
      F::fractional_max_pool2d_with_indices(x, F::FractionalMaxPool2dFuncOptions(2).output_size(torch::ExpandingArray<2>({3, 4})));
  values.sum().backward();
  EXPECT_EQ(x.grad().sum().item<float>(), 24);
  expect_values(x.detach().view({1, 2, 36}).gather(2, indices.view({1, 2, 12})), values.detach().view({1, 2, 12}).cpu());
}

TEST_P(FunctionalOn, ImagesTakeOtherSizes) {
  const Tensor x = on_device(tandem::randn({1, 1, 4, 4}));
  const auto twice = F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2});
  EXPECT_EQ(F::interpolate(x, twice).sizes(), (tandem::Shape{1, 1, 8, 8}));
  for (const auto& mode : {F::InterpolateFuncOptions::mode_t(torch::kBilinear), {torch::kBicubic}, {torch::kNearestExact}, {torch::kArea}})
    EXPECT_EQ(F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{3, 5}).mode(mode)).sizes(),
              (tandem::Shape{1, 1, 3, 5}));
  const Tensor identity = on_device(tandem::tensor({1.0, 0.0, 0.0, 0.0, 1.0, 0.0}).view({1, 2, 3}));
  const Tensor grid = F::affine_grid(identity, {1, 1, 4, 4}, true);
  expect_values(F::grid_sample(x, grid, F::GridSampleFuncOptions().padding_mode(torch::kBorder).align_corners(true)), x.cpu());
  expect_values(F::pad(on_device(tandem::tensor({1.0, 2.0}).view({1, 1, 2})), F::PadFuncOptions({1, 1}).mode(torch::kReflect)),
                tandem::tensor({2.0, 1.0, 2.0, 1.0}).view({1, 1, 4}));
  expect_values(F::pad(on_device(tandem::tensor({1.0})), F::PadFuncOptions({1, 0}).value(9)), tandem::tensor({9.0, 1.0}));
}

TEST_P(FunctionalOn, ChannelsDropTogether) {
  const Tensor x = on_device(tandem::ones({50, 2, 3}));
  const Tensor y = F::dropout2d(x, F::Dropout2dFuncOptions().p(0.5));  // one sample of 50 channels
  for (int64_t channel = 0; channel < 50; ++channel) {
    const auto sum = y[channel].sum().item<float>();
    EXPECT_TRUE(sum == 0 || sum == 12) << sum;
  }
  EXPECT_TRUE(tandem::equal(F::dropout(x, F::DropoutFuncOptions().training(false)), x));
  EXPECT_EQ(error_of([&] { (void)F::dropout3d(x, F::Dropout3dFuncOptions().p(2)); }),
            "[dropout3d] dropout probability has to be between 0 and 1, but got 2");
}

TEST_P(FunctionalOn, DistancesOfPairs) {
  const Tensor x = on_device(tandem::tensor({{0.0, 0.0}, {3.0, 4.0}, {0.0, 1.0}}));
  expect_values(F::pdist(x), tandem::tensor({5.0, 1.0, std::sqrt(18.0)}));
  Tensor out = on_device(tandem::empty({0}));
  (void)F::normalize(x, F::NormalizeFuncOptions().p(1).out(out));
  expect_values(out, tandem::tensor({{0.0, 0.0}, {3.0 / 7, 4.0 / 7}, {0.0, 1.0}}));
}

TEST(Functional, ErrorsNameTheUsersLine) {
  const Tensor x = tandem::ones({1, 2}), w = tandem::ones({3, 5});
  const auto line_of = [](auto&& f) {
    try {
      f();
    } catch (const tandem::Error& error) {
      EXPECT_NE(std::string(error.where().file).find("functional_test.cpp"), std::string::npos) << error.where().file;
      return error.where().line;
    }
    return 0;
  };
  EXPECT_EQ(line_of([&] { (void)F::linear(x, w); }), __LINE__);
  EXPECT_EQ(line_of([&] { (void)F::gelu(x, F::GELUFuncOptions().approximate("never")); }), __LINE__);
  EXPECT_EQ(line_of([&] { (void)F::celu(x, F::CELUFuncOptions().alpha(0)); }), __LINE__);
  EXPECT_EQ(line_of([&] { (void)F::fractional_max_pool2d(x, F::FractionalMaxPool2dFuncOptions(2)); }), __LINE__);
}

}  // namespace
