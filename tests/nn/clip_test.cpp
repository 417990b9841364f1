// Clipping gradients by their norm.
#include "nn/support.h"

namespace tandem::testing {
namespace {

class ClipOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ClipOn, every_device(), device_name);

Tensor with_gradient(const Tensor& gradient) {
  Tensor parameter = zeros(gradient.sizes(), Options{.dtype = gradient.dtype(), .device = gradient.device(), .requires_grad = true});
  parameter.set_grad(gradient);
  return parameter;
}

TEST_P(ClipOn, ScalesOnlyWhatIsTooLong) {
  const Tensor a = with_gradient(tensor({3.0, 0.0}).to(device())), b = with_gradient(tensor({{0.0, 4.0}}).to(device()));
  const Tensor none = zeros({2}, Options{.device = device(), .requires_grad = true});
  expect_near(nn::utils::clip_grad_norm_({a, none, b}, 10), {5});
  expect_near(a.grad(), {3, 0});
  const Tensor norm = nn::utils::clip_grad_norm_({a, none, b}, 1);
  EXPECT_EQ(norm.dim(), 0);
  EXPECT_EQ(norm.device(), device());
  expect_near(norm, {5});
  expect_near(a.grad(), {0.6, 0}, 1e-5);
  expect_near(b.grad(), {0, 0.8}, 1e-5);
  EXPECT_FALSE(none.grad().defined());
}

TEST_P(ClipOn, OtherNorms) {
  const Tensor a = with_gradient(tensor({3.0, -1.0}).to(device())), b = with_gradient(tensor({-4.0}).to(device()));
  expect_near(nn::utils::clip_grad_norm_({a, b}, 100, 1), {8}, 1e-5);
  expect_near(nn::utils::clip_grad_norm_({a, b}, 2, std::numeric_limits<double>::infinity()), {4});
  expect_near(a.grad(), {1.5, -0.5}, 1e-5);
  expect_near(b.grad(), {-2}, 1e-5);
}

TEST_P(ClipOn, StridedGradientsKeepTheirIdentity) {
  const Tensor gradient = tensor({{3.0, 0.0}, {0.0, 4.0}, {0.0, 0.0}}).to(device()).t();
  const Tensor parameter = with_gradient(gradient);
  expect_near(nn::utils::clip_grad_norm_({parameter}, 1), {5});
  EXPECT_TRUE(parameter.grad().is_same(gradient));
  expect_near(gradient, {0.6, 0, 0, 0, 0.8, 0}, 1e-5);
}

TEST(Clip, AcrossDevicesAndWithoutGradients) {
  const Tensor a = with_gradient(tensor({3.0}).to(gpu(1))), b = with_gradient(tensor({4.0}));
  const Tensor norm = nn::utils::clip_grad_norm_({a, b}, 1);
  EXPECT_EQ(norm.device(), gpu(1));
  expect_near(norm, {5});
  expect_near(a.grad(), {0.6}, 1e-5);
  expect_near(b.grad(), {0.8}, 1e-5);
  expect_near(nn::utils::clip_grad_norm_({zeros({2}, {.requires_grad = true})}, 1), {0});
}

TEST(Clip, CountsAsAChange) {
  const Tensor a = with_gradient(tensor({3.0}));
  const uint32_t before = a.grad().version();
  nn::utils::clip_grad_norm_({a}, 1);
  EXPECT_GT(a.grad().version(), before);
}

}  // namespace
}  // namespace tandem::testing
