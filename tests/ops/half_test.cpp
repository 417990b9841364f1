// Half types where an answer depends on what is rounded on the way: numbers chosen so that rounding once would give another.
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class HalfTypes : public OnDevice {
 protected:
  static td::Tensor of(const td::NestedList& data) { return td::tensor(data, device()).to(td::kBFloat16); }
};

TEST_P(HalfTypes, TheRoundedQuotientIsCutOff) {
  EXPECT_EQ(td::div(of({143.}), of({7.96875}), "trunc").item<float>(), 18);  // 17.945 is 18 in bfloat16
  EXPECT_EQ(td::div(of({143.}).to(td::kFloat32), of({7.96875}).to(td::kFloat32), "trunc").item<float>(), 17);
}

TEST_P(HalfTypes, AddbmmRoundsOnce) {
  const auto one = td::ones({2, 1, 1}, {.dtype = td::kBFloat16, .device = device()});
  EXPECT_EQ(td::addbmm(of({{256.}}), one, one).item<float>(), 258);  // 257 alone is 256
}

TEST_P(HalfTypes, TheMeanOfLossesDoesNotOverflow) {
  const auto logits = td::tensor({{0., 100.}}, device()).to(td::kFloat16).expand({1000, 2});
  const auto target = td::zeros({1000}, {.dtype = td::kInt64, .device = device()});
  EXPECT_EQ(td::cross_entropy(logits, target).item<float>(), 100);  // their sum, 100,000, is no float16
  EXPECT_EQ(td::nll_loss(-logits.flip({1}), target).item<float>(), 100);
}

TEST_P(HalfTypes, LossesRoundTheirSteps) {
  EXPECT_EQ(td::hinge_embedding_loss(of({8.}), of({-1.}), {.margin = 8.396}).item<float>(), 0.375);  // the margin is 8.375
  const auto x = of({4.}).requires_grad_();
  td::binary_cross_entropy_with_logits(x, of({1.})).backward();
  EXPECT_EQ(x.grad().item<float>(), 251.f / 256 - 1);  // the sigmoid is 251 / 256
}

TEST_P(HalfTypes, GridSampleRoundsCoordinates) {
  const auto image = td::arange(100., {.dtype = td::kBFloat16, .device = device()}).reshape({1, 1, 1, 100});
  const auto grid = of({{{{0.1, 0.}}}});
  const td::GridSampleOptions nearest{.mode = "nearest"};
  EXPECT_EQ(td::grid_sample(image, grid, nearest).item<float>(), 54);  // at 54.5 instead of 54.505
  EXPECT_EQ(td::grid_sample(image.to(td::kFloat32), grid.to(td::kFloat32), nearest).item<float>(), 55);
}

INSTANTIATE_TEST_SUITE_P(Devices, HalfTypes, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
