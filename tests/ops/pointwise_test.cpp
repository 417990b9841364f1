// Result types, broadcasting, in-place forms and errors that all pointwise operations share.
#include <cmath>
#include <limits>
#include <string>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Pointwise : public OnDevice {
 protected:
  static td::Tensor ones(td::DType dtype, td::Shape sizes = {2}) { return td::ones(sizes, {.dtype = dtype, .device = device()}); }
};

TEST_P(Pointwise, DifferencesOfBoolsAreRefusedInTheSameWordsOfAllSizes) {
  for (const td::Shape& sizes : {td::Shape{2}, td::Shape{3, 2}, td::Shape{}}) {
    try {
      (void)(ones(td::kBool) - ones(td::kBool, sizes));
      FAIL() << sizes;
    } catch (const td::NotImplementedError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("[sub] Subtraction, the `-` operator, with two bool tensors is not supported."))
          << error.what();
    }
  }
}

TEST_P(Pointwise, ResultTypesArePyTorchs) {
  // Tensors with dimensions decide before 0-dim ones, these before numbers.
  EXPECT_EQ((ones(td::kInt32) + ones(td::kInt64)).dtype(), td::kInt64);
  EXPECT_EQ((ones(td::kUInt8) + ones(td::kInt8)).dtype(), td::kInt16);
  EXPECT_EQ((ones(td::kFloat16) + ones(td::kBFloat16)).dtype(), td::kFloat32);
  EXPECT_EQ((ones(td::kInt32) + 1).dtype(), td::kInt32);
  EXPECT_EQ((ones(td::kInt32) + 1.5).dtype(), td::kFloat32);
  EXPECT_EQ((ones(td::kFloat16) + 1.5).dtype(), td::kFloat16);
  EXPECT_EQ((ones(td::kFloat32) + ones(td::kFloat64, {})).dtype(), td::kFloat32);
  EXPECT_EQ((ones(td::kInt64) + ones(td::kFloat64, {})).dtype(), td::kFloat64);
  EXPECT_EQ((ones(td::kBool) + ones(td::kBool)).dtype(), td::kBool);
  EXPECT_EQ((ones(td::kBool) + 1).dtype(), td::kInt64);
  EXPECT_EQ((ones(td::kInt64) / 2).dtype(), td::kFloat32);
  EXPECT_EQ(td::exp(ones(td::kInt32)).dtype(), td::kFloat32);
  EXPECT_EQ((ones(td::kFloat64) > 0).dtype(), td::kBool);
}

TEST_P(Pointwise, IntegersStayExact) {
  const auto big = td::full({3}, (int64_t{1} << 62) + 1, {.dtype = td::kInt64, .device = device()});
  EXPECT_EQ((big + 1)[0].item<int64_t>(), (int64_t{1} << 62) + 2);
  const auto small = td::full({3}, 200, {.dtype = td::kUInt8, .device = device()});
  EXPECT_EQ((small + small)[0].item<int>(), 144);  // wraps
}

TEST_P(Pointwise, LayoutsAllGiveTheSame) {
  const auto x = td::randn({5, 7, 3}, device()), y = td::randn({3, 7, 5}, device());
  const auto a = x + y.permute({2, 1, 0});
  const auto b = x.contiguous() + y.permute({2, 1, 0}).contiguous();
  EXPECT_TRUE(td::equal(a, b));
  EXPECT_TRUE(td::equal(x.slice(1, 1, 6, 2) * 2, (x * 2).slice(1, 1, 6, 2)));
  EXPECT_TRUE(td::equal(x + td::ones({1}, device()).expand({5, 7, 3}), x + 1));
}

TEST_P(Pointwise, InPlaceFormsWriteThroughViews) {
  auto x = td::zeros({3, 4}, device());
  x.t().select(0, 1).add_(5);
  EXPECT_EQ(x.sum().item<float>(), 15);
  x.mul_(td::tensor({1., 2., 3., 4.}, device()));
  EXPECT_EQ(x.sum().item<float>(), 30);
  auto half = ones(td::kFloat16);
  half.add_(ones(td::kFloat32));
  EXPECT_EQ(half.dtype(), td::kFloat16);
}

TEST_P(Pointwise, ErrorsNameBothValues) {
  EXPECT_NE(error_of([] {
              (void)(td::ones({3, 4}, device()) + td::ones({3}, device()));
            }).find("The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1"),
            std::string::npos);
  EXPECT_NE(error_of([&] { ones(td::kInt64).add_(1.5); }).find("result type Float can't be cast to the desired output type Long"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              ones(td::kFloat32).add_(ones(td::kFloat32, {3, 2}));
            }).find("doesn't match the broadcast shape [3, 2]"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)(ones(td::kBool) - ones(td::kBool)); }).find("bool"), std::string::npos);
  EXPECT_NE(error_of([&] { td::ones({1}, device()).expand({3}).add_(1); }).find("single memory location"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)(ones(td::kFloat32) & ones(td::kFloat32)); }).find("integers and bool only"), std::string::npos);
}

// Of what is read and written at once, either all may be the same or nothing: threads take their pieces in any order.
TEST_P(Pointwise, RefusesToReadInPartWhatIsWritten) {
  const auto x = td::arange(12, {.dtype = td::kFloat32, .device = device()}).view({3, 4});
  const auto refusal = [&](const td::Tensor& to, const td::Tensor& from) {
    return error_of([&] { to.add_(from); }).find("some elements of the input tensor and the written-to tensor") != std::string::npos &&
           error_of([&] { to.copy_(from); }).find("some elements of the input tensor and the written-to tensor") != std::string::npos;
  };
  EXPECT_TRUE(refusal(x.narrow(0, 1, 2), x.narrow(0, 0, 2)));
  EXPECT_TRUE(refusal(x.narrow(0, 0, 2), x.narrow(0, 1, 2)));
  EXPECT_TRUE(refusal(x, x.select(0, 1)));
  EXPECT_TRUE(refusal(x.view({12}).narrow(0, 0, 4).view({2, 2}), x.view({12}).narrow(0, 0, 4).view({2, 2}).t()));
  EXPECT_EQ(x.sum().item<float>(), 66);
  x.add_(x).add_(x.view({3, 4}));
  EXPECT_EQ(x.sum().item<float>(), 264);
  x.narrow(0, 0, 1).copy_(x.narrow(0, 2, 1));
  EXPECT_EQ(x.sum().item<float>(), 264 - 24 + 152);
}

TEST_P(Pointwise, EmptyAndZeroDim) {
  EXPECT_EQ((td::ones({0, 3}, device()) + 1).sizes(), (td::Shape{0, 3}));
  EXPECT_EQ((td::tensor(2., device()) * td::tensor(3., device())).item<float>(), 6);
  EXPECT_EQ((td::tensor(2., device()) * td::ones({2}, device())).sizes(), (td::Shape{2}));
}

TEST_P(Pointwise, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto x = td::tensor({NAN, inf, -inf, 0.f}, device());
  EXPECT_TRUE(td::equal(td::isnan(x), td::tensor({true, false, false, false}, device())));
  EXPECT_TRUE(td::isnan(td::maximum(x, 1)[0]).item<bool>());
  EXPECT_EQ(td::exp(x)[2].item<float>(), 0);
  EXPECT_EQ(td::tanh(x)[1].item<float>(), 1);
  EXPECT_EQ(td::sigmoid(x)[2].item<float>(), 0);
  EXPECT_EQ(td::log(x)[3].item<float>(), -inf);
}

TEST_P(Pointwise, WhereAndClamp) {
  const auto x = td::tensor({-2., 0., 3.}, device());
  EXPECT_TRUE(td::equal(td::where(x > 0, x, 7), td::tensor({7., 7., 3.}, device())));
  EXPECT_TRUE(td::equal(x.clamp(-1, 1), td::tensor({-1., 0., 1.}, device())));
  EXPECT_TRUE(td::equal(x.clamp(0), td::tensor({0., 0., 3.}, device())));
  EXPECT_NE(error_of([&] { (void)x.clamp(std::nullopt, std::nullopt); }).find("At least one of 'min' or 'max'"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Devices, Pointwise, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
