// What changes a tensor in place: how it is seen, its random numbers, slices combined by index.
#include <cmath>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class InPlace : public OnDevice {
 protected:
  static td::Tensor of(const td::NestedList& data) { return td::tensor(data, device()); }
  static td::Tensor draws(td::DType dtype = td::kFloat32) { return td::empty({20000}, {.dtype = dtype, .device = device()}); }
};

TEST_P(InPlace, ViewsChangeTheTensorItself) {
  const auto x = td::arange(6, {.device = device()}).reshape({2, 1, 3}).clone();
  const auto same = x;
  EXPECT_EQ(x.squeeze_(1).sizes(), (td::Shape{2, 3}));
  EXPECT_EQ(x.t_().sizes(), (td::Shape{3, 2}));
  EXPECT_EQ(same.strides(), (td::Shape{1, 3}));
  EXPECT_TRUE(td::equal(same, of({{0, 3}, {1, 4}, {2, 5}})));
  EXPECT_EQ(x.unsqueeze_(-1).sizes(), (td::Shape{3, 2, 1}));
  EXPECT_EQ(x.transpose_(0, 2).sizes(), (td::Shape{1, 2, 3}));
  EXPECT_EQ(x.swapaxes_(0, 1).squeeze_().sizes(), (td::Shape{2, 3}));
  EXPECT_EQ(x.unsqueeze_(0).squeeze_(td::Shape{0, 1}).sizes(), (td::Shape{2, 3}));
  EXPECT_TRUE(x.is_contiguous());
  x.add_(1);
  EXPECT_TRUE(td::equal(same, of({{1, 2, 3}, {4, 5, 6}})));
}

TEST_P(InPlace, ViewsAreDifferentiated) {
  const auto w = of({{1., 2., 3.}, {4., 5., 6.}}).requires_grad_();
  const auto a = w * 2;
  const auto row = a[0];
  a.t_();
  EXPECT_EQ(a.grad_fn()->name(), std::string("TBackward0"));
  ((a * of({{1., 2.}, {3., 4.}, {5., 6.}})).sum() + (row * of({10., 20., 30.})).sum()).backward();
  EXPECT_TRUE(td::equal(w.grad(), of({{22., 46., 70.}, {4., 8., 12.}})));
  EXPECT_NE(error_of([&] { w.t_(); }).find("a leaf Variable that requires grad"), std::string::npos);
}

TEST_P(InPlace, AChangeAfterAViewReachesOlderViews) {
  const auto w = of({{2., 3.}, {4., 5.}, {6., 7.}}).requires_grad_();
  const auto a = td::ones({2, 3}, {.device = device()});
  const auto row = a[0];
  a.t_();
  a.mul_(w);
  EXPECT_TRUE(td::equal(row, of({2., 4., 6.})));
  (row * of({1., 10., 100.})).sum().backward();
  EXPECT_TRUE(td::equal(w.grad(), of({{1., 0.}, {10., 0.}, {100., 0.}})));
}

TEST_P(InPlace, ViewsCountAsChangesOfWhatIsSaved) {
  const auto w = of({{1., 2.}, {3., 4.}}).requires_grad_();
  const auto a = w * 1;
  const auto y = a * a;
  a.t_();
  EXPECT_NE(error_of([&] { y.sum().backward(); }).find("modified by an inplace operation"), std::string::npos);
}

TEST_P(InPlace, RandomNumbersOfGivenDistributions) {
  td::manual_seed(3);
  const auto p = of({0., 0.25, 1.}).reshape({3, 1});
  const auto b = td::empty({3, 20000}, {.dtype = td::kInt32, .device = device()}).bernoulli_(p).to(td::kFloat32).mean(1);
  EXPECT_EQ(b.cpu()[0].item<double>(), 0);
  EXPECT_NEAR(b.cpu()[1].item<double>(), 0.25, 0.02);
  EXPECT_EQ(b.cpu()[2].item<double>(), 1);

  for (const td::DType dtype : {td::kFloat32, td::kInt64, td::kBFloat16}) {
    const auto g = draws(dtype).geometric_(0.25).to(td::kFloat64);
    EXPECT_EQ(g.min().item<double>(), 1);
    EXPECT_NEAR(g.mean().item<double>(), 4, 0.2);
    EXPECT_NEAR((g == 1).to(td::kFloat64).mean().item<double>(), 0.25, 0.02);
  }

  const auto c = draws(td::kFloat64).cauchy_(3, 2);
  EXPECT_NEAR(c.median().item<double>(), 3, 0.15);
  EXPECT_NEAR(((c - 3).abs() < 2).to(td::kFloat64).mean().item<double>(), 0.5, 0.02);

  const auto n = td::log(draws().log_normal_(1, 0.5));
  EXPECT_NEAR(n.mean().item<double>(), 1, 0.02);
  EXPECT_NEAR(n.std().item<double>(), 0.5, 0.02);

  const auto w = of({1., 2.}).requires_grad_();
  const auto y = w * 3;
  y.cauchy_();
  y.sum().backward();
  EXPECT_TRUE(td::equal(w.grad(), of({0., 0.})));  // nothing of it is left
  EXPECT_NE(error_of([] { draws().geometric_(1); }).find("p to be in (0, 1), but got p=1"), std::string::npos);
  EXPECT_NE(error_of([] { draws().cauchy_(0, 0); }).find("sigma > 0.0, but found sigma=0"), std::string::npos);
  EXPECT_NE(error_of([] { draws(td::kInt32).log_normal_(); }).find("floating"), std::string::npos);
}

TEST_P(InPlace, IndexReduce) {
  const auto x = of({{1., 2., 3.}, {4., 5., 6.}}).requires_grad_();
  const auto source = of({{2., 9., 1.}, {3., 0., 7.}}).requires_grad_();
  const auto index = of({0, 0});
  EXPECT_TRUE(td::equal(td::index_reduce(x, 0, index, source, "amax"), of({{3., 9., 7.}, {4., 5., 6.}})));
  EXPECT_TRUE(td::equal(td::index_reduce(x, 0, index, source, "mean", false), of({{2.5, 4.5, 4.}, {4., 5., 6.}})));
  const auto y = x.clone().index_reduce_(0, index, source, "prod");
  EXPECT_TRUE(td::equal(y, of({{6., 0., 21.}, {4., 5., 6.}})));
  y.sum().backward();
  EXPECT_TRUE(td::allclose(x.grad(), of({{6., 0., 7.}, {1., 1., 1.}})));
  EXPECT_TRUE(td::allclose(source.grad(), of({{3., 0., 21.}, {2., 18., 3.}})));
  EXPECT_NE(error_of([&] { (void)td::index_reduce(x, 0, index, source, "sum"); }).find("prod, mean, amax or amin, got sum"),
            std::string::npos);
}

TEST_P(InPlace, DistinctElementsAsMethods) {
  const auto x = of({3, 1, 1, 3});
  EXPECT_TRUE(td::equal(x.unique().output, of({1, 3})));
  EXPECT_TRUE(td::equal(x.unique({.return_counts = true}).counts, of({2, 2})));
  EXPECT_TRUE(td::equal(x.unique_consecutive().output, of({3, 1, 3})));
  EXPECT_TRUE(td::equal(x.unique_consecutive({.return_inverse = true}).inverse_indices, of({0, 1, 1, 2})));
}

INSTANTIATE_TEST_SUITE_P(Devices, InPlace, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
