// What programs for libtorch write of a tensor: its names of methods and dtypes, sizes of one number, a dtype at the end, accessors,
// indices.
#include <gtest/gtest.h>

#include <cmath>

#include "support/on_device.h"
#include "tandem.h"
#include "tensor/accessor.h"

namespace td = tandem;

namespace {

class LibtorchNames : public OnDevice {};

TEST_P(LibtorchNames, AskATensor) {
  const td::Tensor x = td::arange(6, td::kFloat).view({2, 3}).to(device());
  EXPECT_EQ(x.ndimension(), 2);
  EXPECT_EQ(x.scalar_type(), td::kFloat32);
  EXPECT_EQ(x.get_device(), device().is_cpu() ? -1 : device().index());
  const td::Tensor like = td::zeros({2}, x.options());
  EXPECT_EQ(like.device(), device());
  EXPECT_EQ(like.dtype(), td::kFloat32);
  EXPECT_TRUE(x.equal(x.clone()));
  EXPECT_FALSE(x.equal(x + 1));
  EXPECT_TRUE(x.allclose(x + 1e-9));
  EXPECT_FALSE(x.allclose(x + 1e-3));
  EXPECT_TRUE(x.allclose(x + 1e-3, 0, 1e-2));
}

TEST_P(LibtorchNames, MoveAndConvert) {
  const td::Tensor x = td::ones({2}), like = td::zeros(1, td::kDouble).to(device());
  EXPECT_EQ(x.to(like).device(), device());
  EXPECT_EQ(x.to(like).dtype(), td::kFloat64);
  EXPECT_EQ(x.to(like.options()).dtype(), td::kFloat64);
  EXPECT_EQ(x.to(like.options()).device(), device());
  EXPECT_EQ(x.to(td::Options{.dtype = td::kLong}).device(), td::cpu());
  EXPECT_EQ(x.toType(td::kInt).dtype(), td::kInt32);
  if (device().is_cuda()) {
    EXPECT_EQ(x.cuda(device()).device(), device());
  } else {
    EXPECT_EQ(error_of([&] { (void)x.cuda(device()); }), "[cuda] Invalid device, must be cuda device, but got cpu");
  }
}

TEST_P(LibtorchNames, ResultsAreTied) {
  const td::Tensor x = td::tensor({{1., 5., 2.}, {7., 3., 4.}}).to(device());
  td::Tensor values, indices;
  std::tie(values, indices) = x.max(1);
  EXPECT_TRUE(values.equal(td::tensor({5., 7.}).to(device())));
  EXPECT_TRUE(indices.equal(td::tensor({1, 0}).to(device())));
  std::tie(std::ignore, indices) = x.min(1);
  EXPECT_TRUE(indices.equal(td::tensor({0, 1}).to(device())));
  const std::tuple<td::Tensor, td::Tensor> top = x.topk(1);
  EXPECT_TRUE(std::get<0>(top).equal(td::tensor({{5.}, {7.}}).to(device())));
  auto [sorted, order] = x.sort(1);
  EXPECT_EQ(sorted[0][2].item<float>(), 5);
  EXPECT_EQ(order[0][2].item<int64_t>(), 1);
  td::Tensor u, s, vh;
  std::tie(u, s, vh) = td::linalg::svd(x, false);
  EXPECT_TRUE(u.matmul(s.diag_embed()).matmul(vh).allclose(x, 1e-4, 1e-4));
}

TEST_P(LibtorchNames, OptionsAreChained) {
  const td::Tensor x = td::ones({2}).to(device());
  const td::Tensor whole = td::zeros({3}, x.options().dtype(td::kLong));
  EXPECT_EQ(whole.dtype(), td::kInt64);
  EXPECT_EQ(whole.device(), device());
  EXPECT_TRUE(td::zeros({3}, x.options().requires_grad(true)).requires_grad());
  const td::TensorOptions options = td::TensorOptions().device(td::kCUDA, 1).dtype<double>();
  EXPECT_EQ(options.device(), td::Device("cuda:1"));
  EXPECT_EQ(options.dtype(), td::kFloat64);
  EXPECT_FALSE(options.requires_grad());
  EXPECT_EQ(x.to(td::kCPU, td::kDouble, /*non_blocking=*/false, /*copy=*/true).dtype(), td::kFloat64);
  EXPECT_TRUE(x.to(device(), false).is_same(x));
  EXPECT_FALSE(x.to(td::kFloat, false, true).is_same(x));
  EXPECT_EQ(td::ones({2}, td::kInt).to(device()).sum(td::kDouble).dtype(), td::kFloat64);
}

TEST_P(LibtorchNames, AskATensorOfItsHistory) {
  const td::Tensor x = td::ones({2, 2}, {.device = device(), .requires_grad = true});
  const td::Tensor y = x * 2, row = y[0];
  EXPECT_FALSE(y.is_view());
  EXPECT_TRUE(row.is_view());
  EXPECT_TRUE(row._base().is_same(y));
  EXPECT_EQ(error_of([&] { (void)y._base(); }), "[_base] Can't get base of non-view Tensor: ask is_view() first");
  EXPECT_FALSE(y.retains_grad());
  y.retain_grad();
  EXPECT_TRUE(y.retains_grad());
  EXPECT_EQ(td::linalg::svd(y).S.output_nr(), 1);
  const uint32_t before = x._version();
  {
    const td::NoGradGuard unrecorded;
    x.add_(1);
  }
  EXPECT_EQ(x._version(), before + 1);
  td::Tensor held = x;
  EXPECT_EQ(held.unsafeGetTensorImpl(), x.unsafeGetTensorImpl());
  held.reset();
  EXPECT_FALSE(held.defined());
  EXPECT_EQ(held.use_count(), 0);
  EXPECT_GE(x.use_count(), 1);
}

TEST(LibtorchNamesOf, NumbersDTypesAndDevices) {
  EXPECT_EQ(td::tensor(2.5).item().toDouble(), 2.5);
  EXPECT_EQ(td::Scalar(7.9).toLong(), 7);
  EXPECT_EQ(td::Scalar().toInt(), 0);
  EXPECT_TRUE(td::Scalar(true).isBoolean());
  EXPECT_FALSE(td::Scalar(true).isIntegral(false));
  EXPECT_TRUE(td::Scalar(true).isIntegral(true));
  EXPECT_EQ(td::Scalar(1.F).type(), td::kFloat64);
  EXPECT_EQ(td::DType::Float, td::kFloat32);
  EXPECT_EQ(td::DType::Long, td::kInt64);
  td::Device gpu(td::kCUDA);
  EXPECT_FALSE(gpu.has_index());
  gpu.set_index(1);
  EXPECT_EQ(gpu.str(), "cuda:1");
  EXPECT_TRUE(td::Index(td::None).is_none());
  EXPECT_TRUE(td::Index("...").is_ellipsis());
  EXPECT_TRUE(td::Index(td::Slice(1, 2)).is_slice());
}

TEST_P(LibtorchNames, Gradients) {
  const td::Tensor w = td::ones({2}).to(device()).set_requires_grad(true);
  const td::Tensor y = (w * w).sum();
  y.backward({}, true);
  y.backward(td::Tensor(), /*retain_graph=*/true, /*create_graph=*/false);
  EXPECT_TRUE(w.mutable_grad().equal(td::full({2}, 4.0, device())));
  w.mutable_grad() = td::Tensor();
  EXPECT_FALSE(w.grad().defined());

  w.set_data(td::zeros(3, td::kDouble).to(device()));
  EXPECT_EQ(w.sizes(), td::Shape(3));
  EXPECT_EQ(w.dtype(), td::kFloat64);
  EXPECT_TRUE(w.requires_grad());
  EXPECT_EQ(error_of([&] { w.set_data(td::zeros(2, td::kLong)); }),
            "[set_data] data set to a tensor that requires gradients must be floating point or complex dtype");
  w.data() = td::ones(3, td::kDouble).to(device());  // takes over the values
  EXPECT_TRUE(w.detach().equal(td::ones(3, td::kDouble).to(device())));
}

TEST_P(LibtorchNames, Resize) {
  const td::Tensor x = td::arange(6, td::kFloat).to(device());
  const void* const before = x.data_ptr();
  x.resize_({2, 2});
  EXPECT_TRUE(x.equal(td::tensor({{0.0F, 1.0F}, {2.0F, 3.0F}}).to(device())));
  x.resize_(6);  // the memory still has them
  EXPECT_EQ(x.data_ptr(), before);
  EXPECT_TRUE(x.equal(td::arange(6, td::kFloat).to(device())));
  x.resize_({3, 4});
  EXPECT_TRUE(x.view(-1).slice(0, 0, 6).equal(td::arange(6, td::kFloat).to(device())));
  const td::Tensor part = td::arange(6, td::kFloat).to(device()).slice(0, 4, 6);
  part.resize_({1, 2});
  EXPECT_TRUE(part.equal(td::tensor({{4.0F, 5.0F}}).to(device())));
  EXPECT_EQ(error_of([&] { td::ones(2, device()).requires_grad_().resize_(3); }), "[resize_] cannot resize variables that require grad");
  EXPECT_EQ(error_of([&] { x.resize_({-1}); }), "[resize_] a tensor cannot have the sizes [-1]");
  EXPECT_EQ(x.sizes(), (td::Shape{3, 4}));
}

TEST_P(LibtorchNames, SizesOfOneNumberAndDtypesAtTheEnd) {
  EXPECT_EQ(td::randn(5, device()).sizes(), td::Shape{5});
  EXPECT_EQ(td::zeros({2, 3}, device()).view(-1).sizes(), td::Shape{6});
  EXPECT_EQ(td::arange(0, 4, td::kDouble).dtype(), td::kFloat64);
  EXPECT_EQ(td::arange(0, 4, 2, td::kInt).dtype(), td::kInt32);
  EXPECT_EQ(td::arange(3, device()).device(), device());
  EXPECT_EQ(td::eye(2, td::kHalf).dtype(), td::kFloat16);
  EXPECT_EQ(td::eye(2, 3, td::kHalf).sizes(), (td::Shape{2, 3}));
  EXPECT_EQ(td::linspace(0, 1, 3, td::kDouble).dtype(), td::kFloat64);
  EXPECT_EQ(td::randint(5, 3, td::kInt).dtype(), td::kInt32);
  EXPECT_EQ(td::randint(2, 5, {3}, device()).device(), device());
  EXPECT_EQ(td::randperm(4, td::kInt).dtype(), td::kInt32);
  const td::Tensor x = td::ones(2, device());
  for (const td::Tensor& y :
       {td::zeros_like(x, td::kLong), td::ones_like(x, td::kLong), td::empty_like(x, td::kLong), td::full_like(x, 3, td::kLong)}) {
    EXPECT_EQ(y.dtype(), td::kInt64);
    EXPECT_EQ(y.device(), device());
  }
  EXPECT_EQ(td::rand_like(x, td::kDouble).dtype(), td::kFloat64);
  EXPECT_EQ(td::randn_like(x, td::cpu()).device(), td::cpu());
  const auto parts = td::arange(6, device()).split_with_sizes({2, 4});
  EXPECT_EQ(parts.at(1).numel(), 4);
}

TEST_P(LibtorchNames, Indices) {
  const td::Tensor x = td::arange(24, device()).view({2, 3, 4});
  using td::None;
  using td::Slice;
  EXPECT_TRUE(x.index({"...", 0}).equal(x.select(-1, 0)));
  EXPECT_TRUE(x.index({0, Slice(None, 2)}).equal(x[0].slice(0, 0, 2)));
  EXPECT_TRUE(x.index({0, Slice(1, None)}).equal(x[0].slice(0, 1)));
  EXPECT_TRUE(x.index({0, Slice(None, None, 2)}).equal(x[0].slice(0, 0, 3, 2)));
  EXPECT_TRUE(x.index({true}).equal(x.unsqueeze(0)));
  EXPECT_EQ(x.index({false}).sizes(), (td::Shape{0, 2, 3, 4}));
  EXPECT_EQ(error_of([&] { (void)x.index({"all"}); }), "[index] Expected \"...\" to represent an ellipsis index, but got \"all\"");
}
INSTANTIATE_TEST_SUITE_P(Devices, LibtorchNames, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(Accessors, ReachElements) {
  const td::Tensor x = td::arange(6, td::kFloat).view({2, 3}).t();
  auto a = x.accessor<float, 2>();
  EXPECT_EQ(a.size(0), 3);
  EXPECT_EQ(a.stride(0), 1);
  for (int64_t i = 0; i < a.size(0); ++i)
    for (int64_t j = 0; j < a.size(1); ++j) EXPECT_EQ(a[i][j], static_cast<float>(j * 3 + i));
  a[2][1] = 9;
  EXPECT_EQ(x.index({2, 1}).item<float>(), 9);
  auto narrow = x.packed_accessor32<float, 2>();
  EXPECT_EQ(narrow[2][1], 9);
  const auto wide = x.packed_accessor64<float, 2>();
  EXPECT_EQ(wide.size(1), 2);
  EXPECT_EQ(wide[0][1], 3);
  EXPECT_EQ(error_of([&] { (void)x.accessor<float, 1>(); }), "[accessor] TensorAccessor expected 1 dims but tensor has 2");
  EXPECT_NE(error_of([&] { (void)x.accessor<double, 2>(); }), "no error");
  EXPECT_EQ(error_of([] { (void)td::ones(2, "cuda:0").accessor<float, 1>(); }),
            "[accessor] the tensor is on cuda:0, where a loop of the CPU's cannot reach it: call cpu() first");
}

TEST(Shapes, AreVectorsToo) {
  const td::Shape sizes{2, 3, 4};
  EXPECT_EQ(sizes.vec(), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(sizes.slice(1, 2), (td::Shape{3, 4}));
  EXPECT_TRUE(sizes.equals({2, 3, 4}));
  EXPECT_FALSE(sizes.equals({2, 3}));
}

TEST(HalfTypes, Compare) {
  const td::Half one(1), two(2), nan(std::nanf(""));
  EXPECT_TRUE(one < two && two > one && one <= one && one >= one && one == td::Half(1) && one != two);
  EXPECT_FALSE(nan == nan || nan < one || nan >= one);
  EXPECT_TRUE(td::Half(0.0F) == td::Half(-0.0F));
  EXPECT_TRUE(td::BFloat16(1) < td::BFloat16(2) && td::BFloat16(1) == td::BFloat16(1));
}

}  // namespace
