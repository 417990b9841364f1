// Identity, layout, storage shared between views, versions, errors of undefined tensors.
#include <sstream>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Tensors : public OnDevice {};

TEST_P(Tensors, ViewsShareStorageAndVersion) {
  auto x = td::arange(6).to(device(), td::kFloat32);
  auto v = x.view({2, 3});
  const auto before = x.version();
  v.select(0, 0).fill_(9);
  EXPECT_EQ(x.version(), before + 1);
  EXPECT_EQ(v.version(), x.version());
  EXPECT_TRUE(td::equal(x.cpu(), td::tensor({9., 9., 9., 3., 4., 5.})));
}

TEST_P(Tensors, AViewOutlivesItsBase) {
  td::Tensor v;
  {
    auto x = td::ones({100, 100}, device());
    v = x.slice(0, 10, 20);
  }
  auto noise = td::zeros({100, 100}, device());
  EXPECT_EQ(v.sum().item<float>(), 1000);
}

TEST_P(Tensors, TransposedAndSlicedLayouts) {
  auto x = td::arange(12).to(device()).reshape({3, 4});
  EXPECT_FALSE(x.t().is_contiguous());
  EXPECT_EQ(x.t().strides(), (td::Shape{1, 4}));
  EXPECT_TRUE(td::equal(x.t().contiguous(), x.t()));
  EXPECT_EQ(x.slice(1, 1, 4, 2).sizes(), (td::Shape{3, 2}));
  EXPECT_EQ(x.slice(1, 1, 4, 2).storage_offset(), 1);
  EXPECT_TRUE(td::equal(x.t().reshape({12}), td::tensor({0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}, device())));
}

TEST_P(Tensors, ConversionsBetweenAllTypes) {
  const auto from = td::tensor({0., 1., 3., 100.}, {.dtype = td::kFloat64, .device = device()});
  for (int a = 0; a < td::kDTypes; ++a)
    for (int b = 0; b < td::kDTypes; ++b) {
      const auto via = from.to(static_cast<td::DType>(a)).to(static_cast<td::DType>(b)).to(td::kFloat64).cpu();
      const bool truth = a == 0 || b == 0;
      EXPECT_TRUE(td::equal(via, truth ? td::tensor({0., 1., 1., 1.}, td::kFloat64) : td::tensor({0., 1., 3., 100.}, td::kFloat64)))
          << td::name(static_cast<td::DType>(a)) << " to " << td::name(static_cast<td::DType>(b));
    }
}

TEST_P(Tensors, ItemReadsEveryType) {
  for (int a = 0; a < td::kDTypes; ++a)
    EXPECT_EQ(td::ones({1, 1}, {.dtype = static_cast<td::DType>(a), .device = device()}).item<int>(), 1);
  EXPECT_NE(error_of([] { (void)td::ones({2}, device()).item(); }).find("2 elements"), std::string::npos);
  EXPECT_TRUE(td::ones({1}, device()) ? true : false);
}

TEST_P(Tensors, SizesThatCannotBeAreRefused) {
  EXPECT_NE(error_of([] { (void)td::empty({2, -1}, device()); }).find("negative dimension -1"), std::string::npos);
  EXPECT_NE(error_of([] { (void)td::empty({int64_t{1} << 40, int64_t{1} << 40}, device()); }).find("overflows"), std::string::npos);
  EXPECT_EQ(td::empty({int64_t{1} << 40, 0, int64_t{1} << 40}, device()).numel(), 0);
}

TEST_P(Tensors, CloneIsACopyDetachIsNot) {
  auto x = td::ones({3}, device());
  auto copy = x.clone(), same = x.detach();
  x.add_(1);
  EXPECT_EQ(copy.sum().item<float>(), 3);
  EXPECT_EQ(same.sum().item<float>(), 6);
}

TEST_P(Tensors, TemporariesAreReusedOnlyWhenNobodyElseHoldsThem) {
  auto x = td::ones({4}, device());
  auto y = (x + 1) * 2;  // the sum's memory may become the product's
  auto held = x + 1;
  auto z = td::Tensor(held) * 2;  // `held` must stay as it is
  EXPECT_EQ(held.sum().item<float>(), 8);
  EXPECT_EQ(y.sum().item<float>(), 16);
  EXPECT_EQ(z.sum().item<float>(), 16);
  EXPECT_EQ(x.sum().item<float>(), 4);
  auto view = (x + 1).view({2, 2}) * 3;
  EXPECT_EQ(view.sum().item<float>(), 24);
}

INSTANTIATE_TEST_SUITE_P(Devices, Tensors, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(TensorHandles, UndefinedOnesSaySo) {
  const td::Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  EXPECT_NE(error_of([&] { (void)nothing.sizes(); }).find("undefined"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::ones({1}, {.requires_grad = true}).grad().sum(); }).find("undefined"), std::string::npos);
}

TEST(TensorHandles, DataPointersAreTyped) {
  auto x = td::tensor({1.f, 2.f});
  EXPECT_EQ(x.data_ptr<float>()[1], 2);
  EXPECT_NE(error_of([&] { (void)x.data_ptr<double>(); }).find("expected scalar type Double but found Float"), std::string::npos);
}

TEST(TensorHandles, FromBlobSeesTheCallersMemory) {
  float numbers[4] = {1, 2, 3, 4};
  auto x = td::from_blob(numbers, {2, 2});
  x.mul_(2);
  EXPECT_EQ(numbers[3], 8);
}

TEST(TensorHandles, RaggedBracesAreRefused) {
  EXPECT_NE(error_of([] { (void)td::tensor({{1, 2}, {3}}); }).find("expected sequence of length 2"), std::string::npos);
  EXPECT_NE(error_of([] { (void)td::tensor({{1, 2}, 3}); }), "no error");
}

TEST(TensorHandles, ManyDimensions) {
  const auto x = td::ones({1, 2, 1, 2, 1, 2, 1, 2});
  EXPECT_EQ((x + x.transpose(1, 7)).sum().item<float>(), 32);
  EXPECT_EQ(x.permute({7, 6, 5, 4, 3, 2, 1, 0}).contiguous().sum().item<float>(), 16);
}

TEST(Scalar, PrintsAsANumber) {
  std::ostringstream out;
  out << td::tensor(0.5).item() << " " << td::tensor(int64_t{1} << 40).item() << " " << td::tensor(true).item() << " " << td::Scalar(-2);
  EXPECT_EQ(out.str(), "0.5 1099511627776 true -2");
}

}  // namespace
