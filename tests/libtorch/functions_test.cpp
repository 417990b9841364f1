// Functions with libtorch's parameters, on the CPU and on a GPU.
#include "libtorch/functions.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "libtorch/autograd.h"
#include "libtorch/cuda.h"
#include "libtorch/sequential.h"

namespace {

class LibtorchFunctions : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (torch::Device(GetParam()).is_cuda() && !torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
    torch::manual_seed(0);
  }
  torch::TensorOptions options() { return torch::device(torch::Device(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Devices, LibtorchFunctions, testing::Values("cpu", "cuda:0"));

TEST_P(LibtorchFunctions, ConvolutionsTakeStrideAndPaddingByPlace) {
  const auto x = torch::randn({2, 3, 8, 8}, options());
  const auto weight = torch::randn({4, 3, 3, 3}, options());
  const torch::IntArrayRef halved({2, 4, 3, 3}), same({2, 4, 8, 8});
  EXPECT_EQ(torch::conv2d(x, weight, {}, 2).sizes(), halved);
  EXPECT_EQ(torch::conv2d(x, weight, {}, {2, 2}).sizes(), halved);
  EXPECT_EQ(torch::conv2d(x, weight, {}, 1, 1).sizes(), same);
  EXPECT_EQ(torch::conv2d(x, weight, {}, 1, "same").sizes(), same);
  EXPECT_EQ(torch::conv2d(x, weight, {}, {1, 1}, {2, 2}, {2, 2}).sizes(), same);
  EXPECT_TRUE(torch::allclose(torch::conv2d(x, weight), tandem::conv2d(x, weight)));
}

TEST_P(LibtorchFunctions, PoolsTakeStrideAndPaddingByPlace) {
  const auto x = torch::randn({1, 1, 8, 8}, options());
  EXPECT_EQ(torch::max_pool2d(x, 2).size(2), 4);
  EXPECT_EQ(torch::max_pool2d(x, {2, 2}, {1, 1}).size(2), 7);
  EXPECT_EQ(torch::max_pool2d(x, 3, 2, 1).size(2), 4);
  // The name alone, with what follows the input, as libtorch's programs hand it on.
  const torch::ExpandingArray<2> stride({2, 2});
  EXPECT_EQ(torch::nn::Functional(torch::max_pool2d, 3, stride, 0, 1, false)->forward(x).size(2), 3);
  EXPECT_EQ(torch::nn::Functional(torch::relu)->forward(x).size(2), 8);
  EXPECT_EQ(torch::avg_pool2d(x, 3, 1, 1, false, false).size(2), 8);
  torch::Tensor values, indices;
  std::tie(values, indices) = torch::adaptive_max_pool2d(x, {1, 1});
  EXPECT_EQ(values.item<float>(), x.max().item<float>());
}

TEST_P(LibtorchFunctions, ResultsAreTakenApartAsTuples) {
  const auto x = torch::tensor({{1.0, 5.0, 2.0}, {7.0, 3.0, 4.0}}, options());
  EXPECT_TRUE(torch::equal(std::get<0>(x.max(1)), torch::tensor({5.0, 7.0}, options())));
  EXPECT_TRUE(torch::equal(std::get<1>(torch::topk(x, 1)), torch::tensor({{1}, {0}}, options())));
  const auto u = std::get<0>(torch::linalg::svd(x, false)), s = std::get<1>(torch::linalg::svd(x, false));
  const auto vh = std::get<2>(torch::linalg::svd(x, false));
  EXPECT_TRUE(torch::allclose(u.matmul(torch::diag(s)).matmul(vh), x, 1e-4, 1e-4));
  EXPECT_EQ(std::get<1>(std::make_pair(x, 2)), 2);  // std's own stay as they are
  torch::Tensor indices;
  std::tie(std::ignore, indices) = x.min(1);
  EXPECT_TRUE(torch::equal(indices, torch::tensor({0, 1}, options())));
}

TEST_P(LibtorchFunctions, LossesTakeAReductionByItsNumber) {
  const auto scores = torch::log_softmax(torch::randn({4, 5}, options()), 1);
  const auto target = torch::tensor({0, 1, 2, 3}, options());
  const auto mean = torch::nll_loss(scores, target);
  EXPECT_NEAR(torch::nll_loss(scores, target, {}, at::Reduction::Sum).item<float>(), 4 * mean.item<float>(), 1e-5);
  EXPECT_EQ(torch::mse_loss(scores, scores * 2, at::Reduction::None).sizes(), scores.sizes());
  EXPECT_NEAR(torch::cross_entropy_loss(scores, target).item<float>(), mean.item<float>(), 1e-5);
  EXPECT_THROW(static_cast<void>(torch::mse_loss(scores, scores, 7)), c10::ValueError);
  using namespace torch;
  EXPECT_EQ(nll_loss(scores, target).item<float>(), mean.item<float>());  // found in both namespaces, one function
  EXPECT_EQ(nll_loss(scores, target, {}).item<float>(), mean.item<float>());
}

TEST_P(LibtorchFunctions, BatchNormAndEmbeddingHaveLibtorchsOrder) {
  const auto x = torch::randn({8, 3}, options());
  const auto normal = torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, true);
  EXPECT_TRUE(torch::allclose(normal.mean(0), torch::zeros({3}, options()), 1e-5, 1e-5));
  const auto table = torch::randn({10, 3}, options());
  EXPECT_TRUE(torch::equal(torch::embedding(table, torch::tensor({1, 2}, options())), table.slice(0, 1, 3)));
}

TEST_P(LibtorchFunctions, ErrorsNameTheUsersLine) {
  const auto x = torch::randn({2, 3, 8, 8}, options());
  const int line = __LINE__ + 2;
  try {
    static_cast<void>(torch::conv2d(x, torch::randn({4}, options()), {}, 1, 1));
    FAIL() << "a weight of one dimension";
  } catch (const c10::Error& error) {
    EXPECT_EQ(error.where().line, line) << error.what();
    EXPECT_NE(std::string(error.where().file).find("functions_test.cpp"), std::string::npos);
  }
}

TEST_P(LibtorchFunctions, LinearAlgebraHasItsOldNames) {
  const auto a = torch::randn({3, 3}, options());
  const auto [u, s, v] = torch::svd(a);
  EXPECT_TRUE(torch::allclose(u.matmul(torch::diag(s)).matmul(v.t()), a, 1e-4, 1e-4));
  EXPECT_TRUE(torch::allclose(a.matmul(torch::inverse(a)), torch::eye(3, options()), 1e-3, 1e-3));
  EXPECT_NEAR(torch::special::ndtr(torch::tensor({0.0}, options())).item<double>(), 0.5, 1e-6);
}

TEST(LibtorchFactories, MemoryOfOnesOwnHasStridesAndADeleter) {
  float numbers[4] = {1, 2, 3, 4};
  EXPECT_EQ(torch::from_blob(numbers, {2, 2}, {1, 2})[0][1].item<float>(), 3);
  bool deleted = false;
  {
    const auto x = torch::from_blob(
        numbers, {4}, [&](void*) { deleted = true; }, torch::kFloat);
  }
  EXPECT_TRUE(deleted);
  EXPECT_EQ(torch::tensor(at::ArrayRef<int>(std::vector<int>{1, 2})).dtype(), torch::kLong);
  EXPECT_EQ(torch::range(0, 2).numel(), 3);
  EXPECT_EQ(torch::empty_strided({2, 3}, {1, 2}).stride(1), 2);
}

TEST_P(LibtorchFunctions, BagsOfRowsTakeTheirModeByItsNumber) {
  const auto weight = torch::tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 0.0}}, options());
  const auto indices = torch::tensor({0, 1, 2, 2}, options().dtype(torch::kLong));
  const auto offsets = torch::tensor({0, 3}, options().dtype(torch::kLong));
  const auto bags = [&](int64_t mode) { return std::get<0>(torch::embedding_bag(weight, indices, offsets, false, mode)); };
  EXPECT_TRUE(torch::equal(bags(0), torch::tensor({{9.0, 6.0}, {5.0, 0.0}}, options())));
  EXPECT_TRUE(torch::equal(bags(1), torch::tensor({{3.0, 2.0}, {5.0, 0.0}}, options())));
  EXPECT_TRUE(torch::equal(bags(2), torch::tensor({{5.0, 4.0}, {5.0, 0.0}}, options())));
  const auto padded = torch::embedding_bag(weight, indices, offsets, false, 0, false, torch::Tensor(), false, 2);
  EXPECT_TRUE(torch::equal(std::get<0>(padded), torch::tensor({{4.0, 6.0}, {0.0, 0.0}}, options())));
  EXPECT_THROW(bags(3), c10::ValueError);
}

TEST_P(LibtorchFunctions, AnIndexIsWrittenThrough) {
  const auto x = torch::zeros({3}, options());
  EXPECT_TRUE(at::index_put_(x, {torch::tensor({0, 2}, options().dtype(torch::kLong))}, 5).is_same(x));
  EXPECT_TRUE(torch::equal(x, torch::tensor({5.0, 0.0, 5.0}, options())));
}

TEST_P(LibtorchFunctions, EluTakesItsScales) {
  const auto x = torch::tensor({-1.0, 2.0}, options());
  EXPECT_TRUE(torch::allclose(torch::elu(x), torch::tensor({-0.6321206, 2.0}, options())));
  EXPECT_TRUE(torch::allclose(torch::elu(x, 2, 3), torch::tensor({-3.7927234, 6.0}, options())));
  EXPECT_TRUE(torch::allclose(torch::elu(x, 1, 1, 2), torch::tensor({-0.8646647, 2.0}, options())));
  EXPECT_EQ(torch::nn::Functional(torch::elu, 1, 0, 1)(torch::ones({})).item<float>(), 0);
}

TEST_P(LibtorchFunctions, ACrossEntropysTargetMayHaveOtherSizes) {
  const auto x = torch::rand({6, 1}, options()), target = torch::ones({6}, options());
  EXPECT_TRUE(torch::equal(torch::binary_cross_entropy(x, target), torch::binary_cross_entropy(x, target.view({6, 1}))));
  EXPECT_EQ(torch::binary_cross_entropy(x, target, {}, at::Reduction::None).sizes(), torch::IntArrayRef({6, 1}));
  EXPECT_THROW((void)torch::binary_cross_entropy(x, torch::ones({5}, options())), c10::Error);
}

TEST_P(LibtorchFunctions, ResultsAreWrittenIntoATensorOfTheCallers) {
  const auto a = torch::tensor({1.0, 4.0}, options()), b = torch::tensor({2.0, 2.0}, options());
  auto out = torch::empty({0}, options());
  EXPECT_TRUE(torch::add_out(out, a, b, 2).is_same(out));
  EXPECT_TRUE(torch::equal(out, torch::tensor({5.0, 8.0}, options())));
  torch::mul_out(out, out, 2);  // its own operand
  EXPECT_TRUE(torch::equal(out, torch::tensor({10.0, 16.0}, options())));
  EXPECT_TRUE(torch::equal(torch::sqrt_out(out, a), torch::tensor({1.0, 2.0}, options())));
  EXPECT_TRUE(torch::equal(torch::cat_out(out, {a, b}), torch::cat({a, b})));
  EXPECT_TRUE(torch::equal(torch::linear_out(out, a.view({1, 2}), b.view({1, 2})), torch::full({1, 1}, 10.0, options())));
  EXPECT_TRUE(torch::equal(torch::sum_out(out, a.view({2, 1}), {0}), torch::tensor({5.0}, options())));
  auto numbers = torch::empty({0}, options().dtype(torch::kInt));
  EXPECT_TRUE(torch::equal(torch::arange_out(numbers, 0, 6, 2), torch::tensor({0, 2, 4}, options().dtype(torch::kInt))));
  EXPECT_TRUE(torch::equal(torch::ones_out(numbers, {2}), torch::tensor({1, 1}, options().dtype(torch::kInt))));
}

TEST_P(LibtorchFunctions, ATensorThatCannotHoldAResultIsAnError) {
  const auto a = torch::tensor({1.5, 4.0}, options());
  auto numbers = torch::zeros({2}, options().dtype(torch::kInt));
  EXPECT_THROW(torch::add_out(numbers, a, a), c10::Error);
  EXPECT_TRUE(torch::equal(numbers, torch::zeros({2}, options().dtype(torch::kInt))));
  auto recorded = torch::zeros({2}, options().requires_grad(true));
  EXPECT_THROW(torch::add_out(recorded, a, a), c10::Error);
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(torch::equal(torch::add_out(recorded, a, a), a + a));
  if (a.is_cuda()) {
    auto elsewhere = torch::zeros({2});
    EXPECT_THROW(torch::add_out(elsewhere, a, a), c10::Error);
  }
}

}  // namespace
