// torch::nn::init: libtorch's order of parameters over tandem's functions.
#include "libtorch/init.h"

#include "libtorch/cuda.h"
#include "libtorch/functions.h"
#include "libtorch/layers_linear.h"
#include "nn/support.h"

namespace {

using tandem::Tensor;
using tandem::testing::expect_near;
namespace init = torch::nn::init;

class TorchInitOn : public tandem::testing::OnDevice {
 protected:
  static Tensor empty(const tandem::Shape& sizes) { return tandem::empty(sizes, {.device = device(), .requires_grad = true}); }
};
INSTANTIATE_TEST_SUITE_P(Devices, TorchInitOn, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(TorchInitOn, FillsInPlaceWithoutATrace) {
  const Tensor weight = empty({2, 2});
  EXPECT_TRUE(init::constant_(weight, 7).is_same(weight));
  expect_near(weight, {7, 7, 7, 7});
  expect_near(init::eye_(weight), {1, 0, 0, 1});
  expect_near(init::ones_(weight), {1, 1, 1, 1});
  expect_near(init::zeros_(weight), {0, 0, 0, 0});
  EXPECT_TRUE(weight.is_leaf());
  const Tensor q = init::orthogonal_(empty({3, 3}), 2).detach();
  expect_near(tandem::matmul(q, q.t()), {4, 0, 0, 0, 4, 0, 0, 0, 4}, 1e-5);
}

TEST_P(TorchInitOn, KaimingsArgumentsAreInTheirPlaces) {
  const double bound = std::sqrt(2.0) * std::sqrt(3.0 / 100);
  const Tensor fan_out = init::kaiming_uniform_(empty({100, 400}), 0, torch::kFanOut, torch::kReLU).detach();
  EXPECT_LE(fan_out.abs().max().item<double>(), bound);
  EXPECT_GE(fan_out.abs().max().item<double>(), 0.99 * bound);
  const Tensor narrow = init::kaiming_normal_(empty({400, 100}), /*a=*/1).detach();
  EXPECT_NEAR(narrow.std().item<double>(), 0.1, 0.002);
}

TEST(TorchInit, GainsAndFans) {
  EXPECT_DOUBLE_EQ(init::calculate_gain(torch::kTanh), 5.0 / 3);
  EXPECT_DOUBLE_EQ(init::calculate_gain(torch::kLeakyReLU, 1), 1);
  EXPECT_DOUBLE_EQ(init::calculate_gain(torch::kConvTranspose2D), 1);
  EXPECT_EQ(init::_calculate_fan_in_and_fan_out(tandem::empty({2, 3, 4, 5})), (std::tuple<int64_t, int64_t>(60, 40)));
  EXPECT_THROW((void)init::_calculate_fan_in_and_fan_out(tandem::empty({2})), tandem::ValueError);
}

// What PyTorch prints for the same calls.
TEST(TorchInit, ASeedGivesPyTorchsNumbers) {
  torch::manual_seed(0);
  expect_near(torch::rand({3}), {0.4963, 0.7682, 0.0885}, 5e-5);
  torch::manual_seed(0);
  const torch::nn::Linear layer(2, 1);
  expect_near(layer->weight.detach(), {-0.0053, 0.3793}, 5e-5);
  expect_near(layer->bias.detach(), {-0.5820}, 5e-5);
}

}  // namespace
