// Forms of calls that mean one thing in PyTorch: they mean it here too, or do not compile.
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

using td::Tensor;

Tensor numbers() { return td::tensor({{1., 2., 4.}, {3., 5., 9.}}); }

TEST(Forms, StdAndVarOfANumberAreOverThatDimension) {
  const Tensor x = numbers();
  EXPECT_EQ(x.std(0).sizes(), (td::Shape{3}));
  EXPECT_EQ(x.var(1).sizes(), (td::Shape{2}));
  EXPECT_TRUE(td::equal(x.std(-1), x.std({1})));
  EXPECT_TRUE(td::equal(x.std({0}), x.std(0)));
  EXPECT_TRUE(td::equal(x.var(0, 0), x.var({0}, 0)));
  EXPECT_EQ(x.var(size_t{1}, 1, true).sizes(), (td::Shape{2, 1}));
  EXPECT_TRUE(td::equal(x.std({}), x.std()));
  EXPECT_TRUE(td::equal(x.std(true), x.std()));
  EXPECT_TRUE(td::equal(x.var(false), x.var({}, 0)));
  EXPECT_FALSE(td::equal(x.var(false), x.var()));
}

TEST(Forms, EmptyBracesAreNoDimensionsAndNoOptions) {
  const Tensor x = numbers();
  EXPECT_EQ(x.sum({}).item<float>(), 24);
  EXPECT_EQ(td::sum(x, {}).item<float>(), 24);
  EXPECT_EQ(x.mean({}).item<float>(), 4);
  EXPECT_EQ(td::mean(x, {}).item<float>(), 4);
  EXPECT_EQ(x.all({}).dim(), 0);
  EXPECT_EQ(x.sum({}).dtype(), td::kFloat32);
  EXPECT_EQ(x.view({1, 6}).squeeze({}).dim(), 2);
  EXPECT_EQ(td::zeros({2, 3}, {}).dtype(), td::kFloat32);
  EXPECT_EQ(td::ones({2}, {}).dtype(), td::kFloat32);
  EXPECT_EQ(td::full({2}, 1.5, {}).dtype(), td::kFloat32);
  EXPECT_EQ(td::tensor(1.5, {}).item<float>(), 1.5f);
  EXPECT_EQ(td::rand({2}, {}).dtype(), td::kFloat32);
  EXPECT_EQ(x.to(td::cpu(), {}).dtype(), td::kFloat32);
  EXPECT_EQ(x.to("cpu", td::kFloat64).dtype(), td::kFloat64);
  EXPECT_EQ(td::zeros({2}, "cpu").dtype(), td::kFloat32);
  EXPECT_EQ(td::zeros({2}, td::kInt32).dtype(), td::kInt32);
}

TEST(Forms, BracesOfOneNumberAreAList) {
  const Tensor x = td::arange(6);
  EXPECT_EQ(x.tensor_split({2})[0].numel(), 2);  // cut before element 2, not in two
  EXPECT_EQ(x.tensor_split(2)[0].numel(), 3);
  EXPECT_EQ(td::hsplit(x, {1})[1].numel(), 5);
  EXPECT_EQ(td::split(x, 4).size(), 2u);
  EXPECT_NE(error_of([&] { (void)x.split({2}); }).find("sum exactly"), std::string::npos);
}

TEST(Forms, LinesComeThroughTheShortForms) {
  const auto line_of = [](auto&& f) { return error_of(f).find("no error") == std::string::npos; };
  EXPECT_TRUE(line_of([] { (void)td::zeros({-1}, td::kFloat32); }));
  const int line = __LINE__ + 1;
  EXPECT_EQ(td::Site::here().line, line);
}

// What cannot be right is refused.
template <class T>
concept ToOfNothing = requires(T x) {
  x.to({});
};
template <class T>
concept DTypeOfNothing = requires(T x) {
  x.softmax(0, {});
};
template <class T>
concept KeepdimOfANumber = requires(T x) {
  x.sum(0, 1);
};
template <class T>
concept KeepdimOfBraces = requires(T x) {
  x.sum({0}, {});
};
template <class T>
concept DimOfABool = requires(T x) {
  x.sum(true);
};
template <class T>
concept DimOfAFraction = requires(T x) {
  x.sum(0.5);
};
template <class T>
concept AllOfABool = requires(T x) {
  x.all(true);
};
template <class T>
concept AlphaOfNothing = requires(T x) {
  x.add(x, {});
};
template <class T>
concept BlockingOfAName = requires(T x) {
  x.copy_(x, "cuda");
};
template <class T>
concept DescendingOfANumber = requires(T x) {
  x.sort(0, 1);
};
template <class T>
concept UpperOfAName = requires(T x) {
  tandem::linalg::cholesky(x, "upper");
};
template <class T>
concept LargestOfANumber = requires(T x) {
  x.topk(1, 0, 1);
};
template <class T>
concept InplaceOfANumber = requires {
  T(1);
};
template <class T>
concept TrainOfANumber = requires(T module) {
  module.train(1);
};
template <class T>
concept ModuleToNothing = requires(T module) {
  module.to({});
};
template <class T>
concept SiteOfNothing = requires(T x) {
  x.clone({});
};
template <class T>
concept IndexOfABool = requires(T x) {
  x[true];
};
static_assert(!ToOfNothing<Tensor> && !DTypeOfNothing<Tensor> && !KeepdimOfANumber<Tensor> && !KeepdimOfBraces<Tensor>);
static_assert(!DimOfABool<Tensor> && !DimOfAFraction<Tensor> && !AllOfABool<Tensor> && !AlphaOfNothing<Tensor>);
static_assert(!BlockingOfAName<Tensor> && !DescendingOfANumber<Tensor> && !UpperOfAName<Tensor> && !LargestOfANumber<Tensor>);
static_assert(!InplaceOfANumber<td::nn::ReLU> && !TrainOfANumber<td::nn::Linear> && !ModuleToNothing<td::nn::Linear>);
static_assert(!SiteOfNothing<Tensor> && !IndexOfABool<Tensor>);
// A bool alone is a flag.
static_assert(std::is_convertible_v<bool, td::Flag> && !std::is_convertible_v<int, td::Flag> &&
              !std::is_convertible_v<const char*, td::Flag> && !std::is_convertible_v<Tensor, td::Flag> &&
              !std::is_default_constructible_v<td::Flag>);

}  // namespace
