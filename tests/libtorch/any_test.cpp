// AnyValue, AnyModule and Functional: modules of any signature.
#include "dense.h"
#include "libtorch/sequential.h"
#include "ops/activation.h"

namespace {

using tandem::Tensor;
using tandem::testing::expect_near;
using tests::Dense;
using torch::nn::AnyModule;
using torch::nn::AnyValue;

class TorchAnyOn : public tandem::testing::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, TorchAnyOn, testing::Values("cpu", "cuda:0"), device_name);

struct Sum : torch::nn::Module {
  double forward(int a, int b = 2, double c = 3.0) { return a + b + c; }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2)}, {2, AnyValue(3.0)})
};
struct Join : torch::nn::Module {
  std::string forward(std::string a, const std::string& b, std::string&& c) { return a + b + c; }
};

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const tandem::Error& error) {
    return error.message();
  }
  return "nothing thrown";
}

TEST(TorchAny, ValuesKnowTheirType) {
  AnyValue value(5);
  EXPECT_EQ(value.get<int>(), 5);
  EXPECT_EQ(value.try_get<long>(), nullptr);
  EXPECT_EQ(text_of([&] { value.get<float>(); }), "[AnyValue.get] Attempted to cast AnyValue to float, but its actual type is int");
  AnyValue copy = value;
  *copy.try_get<int>() = 6;
  EXPECT_EQ(value.get<int>(), 5);
}

TEST(TorchAny, CallsAnySignature) {
  AnyModule join(Join{});
  EXPECT_EQ(join.forward<std::string>(std::string("a"), std::string("b"), std::string("c")), "abc");
  AnyModule sum(std::make_shared<Sum>());
  EXPECT_EQ(sum.forward<double>(1), 6);
  EXPECT_EQ(sum.forward<double>(1, 3), 7);
  EXPECT_EQ(sum.forward<double>(1, 3, 5.0), 9);
}

TEST(TorchAny, RefusesOtherArgumentsAndTypes) {
  AnyModule sum(Sum{}), none, dense(Dense(3, 4));
  EXPECT_NE(text_of([&] { sum.forward<double>(); }).find("expects at least 1 argument(s) and at most 3 argument(s), but received 0."),
            std::string::npos);
  EXPECT_NE(text_of([&] { sum.forward<double>(1.0); }).find("Expected argument #0 to be of type int, but received value of type double"),
            std::string::npos);
  EXPECT_NE(text_of([&] { dense.forward(); }).find("forward() method expects 1 argument(s), but received 0. If"), std::string::npos);
  EXPECT_EQ(text_of([&] { none.forward(1); }), "[AnyModule] Cannot call forward() on an empty AnyModule");
  EXPECT_EQ(text_of([&] { dense.get<Join>(); }).find("[AnyModule] Attempted to cast module of type tests::DenseImpl to type"), 0u);
  EXPECT_EQ(dense.get<Dense>()->out_features, 4);
  EXPECT_EQ(dense.ptr(), dense.ptr<tests::DenseImpl>());
}

TEST(TorchAny, HandsOnTheUsersLine) {
  AnyModule dense(Dense(3, 4));
  try {
    dense.forward(tandem::ones({2, 5}));
    FAIL();
  } catch (const tandem::Error& error) {
    EXPECT_EQ(error.where().line, __LINE__ - 3);
  }
}

TEST_P(TorchAnyOn, CopiesShareAndClonesDoNot) {
  AnyModule dense(Dense(3, 4));
  const AnyModule same = dense, other = dense.clone(device());
  EXPECT_EQ(same.ptr(), dense.ptr());
  EXPECT_NE(other.ptr(), dense.ptr());
  expect_near(other.get<Dense>()->forward(tandem::ones({1, 3}, {.device = device()})), {3, 3, 3, 3});
}

TEST_P(TorchAnyOn, FunctionsAreModules) {
  torch::nn::Functional relu(tandem::relu), twice([](Tensor x) { return x * 2; }), leaky(tandem::leaky_relu, 0.5);
  const Tensor x = tandem::tensor({-2.0, 3.0}, {.device = device()});
  expect_near(relu(x), {0, 3});
  expect_near(twice(x), {-4, 6});
  expect_near(leaky(x), {-1, 3});
  EXPECT_FALSE(relu->is_serializable());
}

}  // namespace
