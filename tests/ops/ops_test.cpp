// Values of what is not pointwise, against plain loops or known answers, on every device.
#include <array>
#include <cmath>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using td::Slice;

namespace {

class Ops : public OnDevice {
 protected:
  static td::Tensor numbers(td::Shape sizes) { return td::arange(sizes.numel()).to(device(), td::kFloat32).reshape(sizes); }
};

TEST_P(Ops, ProductsAgreeWithLoops) {
  for (const auto dtype : {td::kFloat32, td::kFloat64, td::kInt64, td::kBFloat16, td::kFloat16}) {
    for (const auto& [m, k, n] : {std::array{1, 1, 1}, {3, 5, 2}, {17, 33, 9}, {64, 100, 70}, {130, 7, 300}, {2, 0, 3}}) {
      td::manual_seed(3);
      const auto a = td::randint(-3, 4, {m, k}, {.device = device()}).to(dtype),
                 b = td::randint(-3, 4, {n, k}, {.device = device()}).to(dtype);
      const auto y = td::mm(a, b.t()).cpu().to(td::kFloat64), x = a.cpu().to(td::kFloat64), w = b.cpu().to(td::kFloat64);
      auto expected = td::zeros({m, n}, td::kFloat64);
      double* e = expected.data_ptr<double>();
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
          for (int p = 0; p < k; ++p) e[i * n + j] += x.data_ptr<double>()[i * k + p] * w.data_ptr<double>()[j * k + p];
      EXPECT_TRUE(td::allclose(y, expected,
                               dtype == td::kBFloat16  ? 8e-3
                               : dtype == td::kFloat16 ? 1e-3
                                                       : 1e-6,
                               1e-6))
          << td::name(dtype) << " " << m << "x" << k << "x" << n;
    }
  }
}

TEST_P(Ops, BatchedProductsBroadcast) {
  const auto a = td::randn({3, 1, 4, 5}, device()), b = td::randn({2, 5, 6}, device());
  const auto y = td::matmul(a, b);
  EXPECT_EQ(y.sizes(), (td::Shape{3, 2, 4, 6}));
  EXPECT_TRUE(td::allclose(y[2][1], td::mm(a[2][0], b[1]), 1e-5, 1e-5));
  EXPECT_NE(error_of([&] { (void)td::mm(a[0][0], a[0][0]); }).find("mat1 and mat2 shapes cannot be multiplied (4x5 and 4x5)"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::mm(a[0][0], b[0].to(td::kFloat64)); }).find("same dtype"), std::string::npos);
}

TEST_P(Ops, ReductionsOverAnyDimensions) {
  const auto x = numbers({2, 3, 4});
  EXPECT_EQ(x.sum().item<float>(), 276);
  EXPECT_TRUE(td::equal(x.sum({0, 2}), td::tensor({60., 92., 124.}, device())));
  EXPECT_TRUE(td::equal(x.permute({2, 0, 1}).sum(0), x.sum(2)));
  EXPECT_EQ(x.mean({1}, true).sizes(), (td::Shape{2, 1, 4}));
  EXPECT_EQ(x.amax({0, 1, 2}).item<float>(), 23);
  EXPECT_EQ(x.argmax().item<int64_t>(), 23);
  EXPECT_TRUE(td::equal(x.argmin(1), td::zeros({2, 4}, {.dtype = td::kInt64, .device = device()})));
  EXPECT_NEAR(x.var().item<float>(), 50, 1e-4);
  EXPECT_NEAR(x.norm().item<float>(), std::sqrt(4324.), 1e-3);
  EXPECT_EQ(td::ones({5}, {.dtype = td::kBool, .device = device()}).sum().dtype(), td::kInt64);
  EXPECT_TRUE(std::isnan(td::zeros({0}, device()).mean().item<float>()));
  EXPECT_NE(error_of([] { (void)td::zeros({0}, device()).max(); }).find("numel() == 0"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)x.sum({0, 0}); }).find("appears multiple times"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)x.sum(3); }).find("Dimension out of range"), std::string::npos);
}

TEST_P(Ops, LongSumsAreAccurate) {
  const auto x = td::full({1 << 22}, 0.1, device());
  EXPECT_NEAR(x.sum().item<double>(), 0.1f * double(1 << 22), 1.0);
  const auto y = td::rand({1000, 999}, device());
  EXPECT_TRUE(td::allclose(y.sum(0).to(td::kFloat64), y.to(td::kFloat64).sum(0), 1e-5));
  EXPECT_TRUE(td::allclose(y.sum(1).to(td::kFloat64), y.to(td::kFloat64).sum(1), 1e-5));
}

TEST_P(Ops, ResultsAreTheSameToTheBitEachTime) {
  const auto x = td::randn({300, 1000}, device());
  const auto first = x.sum();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(td::equal(x.sum(), first));
}

TEST_P(Ops, IndexingReads) {
  const auto x = numbers({3, 4, 2});
  EXPECT_TRUE(td::equal(x.index({1, Slice(), 0}), td::tensor({8., 10., 12., 14.}, device())));
  EXPECT_TRUE(td::equal(x.index({td::Ellipsis, -1}).select(0, 2), td::tensor({17., 19., 21., 23.}, device())));
  const auto i = td::tensor({2, 0}, device()), j = td::tensor({1, -1}, device());
  EXPECT_TRUE(td::equal(x.index({i, j}), td::tensor({{18., 19.}, {6., 7.}}, device())));
  EXPECT_EQ(x.index({i, Slice(), td::tensor({0, 1}, device())}).sizes(), (td::Shape{2, 4}));
  EXPECT_EQ(x.index({Slice(), i}).sizes(), (td::Shape{3, 2, 2}));
  EXPECT_TRUE(td::equal(x.index({Slice(), i})[1], td::stack({x[1][2], x[1][0]})));
  EXPECT_EQ(x.index({x > 10}).sizes(), (td::Shape{13}));
  EXPECT_EQ(x.index({td::None, 0}).sizes(), (td::Shape{1, 4, 2}));
  EXPECT_NE(error_of([&] { (void)x.index({0, 0, 0, 0}); }).find("too many indices"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)x.index({7}); }).find("out of bounds for dimension 0 with size 3"), std::string::npos);
}

TEST_P(Ops, IndexingWrites) {
  auto x = td::zeros({3, 4}, device());
  x.index_put_({td::tensor({0, 2}, device()), td::tensor({1, 1}, device())}, td::tensor({5., 6.}, device()));
  EXPECT_EQ(x[2][1].item<float>(), 6);
  x.index_put_({Slice(), td::tensor({0, 0}, device())}, 1.0, true);
  EXPECT_EQ(x.sum().item<float>(), 11 + 6);
  x.index_put_({x > 4}, -1.0);
  EXPECT_EQ(x.min().item<float>(), -1);
  x.index_put_({1}, td::ones({4}, device()) * 3);
  EXPECT_EQ(x[1].sum().item<float>(), 12);
  EXPECT_NE(error_of([&] {
              x.index_put_({td::tensor({0, 2}, device())}, td::ones({3}, device()));
            }).find("shape mismatch"),
            std::string::npos);
}

TEST_P(Ops, GatherAndScatter) {
  const auto x = numbers({2, 3});
  const auto index = td::tensor({{2, 0}, {1, 1}}, device());
  EXPECT_TRUE(td::equal(x.gather(1, index), td::tensor({{2., 0.}, {4., 4.}}, device())));
  EXPECT_TRUE(td::equal(td::scatter_add(td::zeros({2, 3}, device()), 1, index, td::ones({2, 2}, device())),
                        td::tensor({{1., 0., 1.}, {0., 2., 0.}}, device())));
  EXPECT_TRUE(td::equal(td::scatter(td::zeros({2, 3}, device()), 1, index, 7), td::tensor({{7., 0., 7.}, {0., 7., 0.}}, device())));
  const auto twos = td::full({2, 2}, 2., device());
  EXPECT_TRUE(td::equal(td::ones({2, 3}, device()).scatter_(1, index, twos, "add"), td::tensor({{3., 1., 3.}, {1., 5., 1.}}, device())));
  EXPECT_TRUE(td::equal(td::ones({2, 3}, device()).scatter_(1, index, 3, "multiply"), td::tensor({{3., 1., 3.}, {1., 9., 1.}}, device())));
  EXPECT_TRUE(td::equal(td::ones({2, 3}, device()).scatter(1, index, 3, "add"), td::tensor({{4., 1., 4.}, {1., 7., 1.}}, device())));
  EXPECT_TRUE(td::equal((x > 2).nonzero(), td::tensor({{1, 0}, {1, 1}, {1, 2}}, device())));
}

TEST_P(Ops, BadIndicesAreErrors) {
  const auto table = td::randn({4, 2}, device());
  const auto text = error_of([&] {
    auto y = td::embedding(td::tensor({1, 9}, device()), table);
    if (device().is_cuda()) td::cuda::synchronize(device());
  });
  EXPECT_NE(text.find("embedding"), std::string::npos) << text;
  EXPECT_NE(text.find("9"), std::string::npos) << text;
  EXPECT_EQ(td::embedding(td::tensor({1, 3}, device()), table).sum().sizes(), td::Shape{});  // all is usable afterwards
  if (device().is_cuda()) td::cuda::synchronize(device());
}

TEST_P(Ops, JoiningAndSplitting) {
  const auto x = numbers({2, 3});
  EXPECT_TRUE(td::equal(td::cat({x, x.slice(1, 0, 1)}, 1).select(1, 3), td::tensor({0., 3.}, device())));
  EXPECT_EQ(td::stack({x, x, x}, 2).sizes(), (td::Shape{2, 3, 3}));
  EXPECT_EQ(x.chunk(2, 1)[1].sizes(), (td::Shape{2, 1}));
  EXPECT_EQ(td::arange(10).to(device()).chunk(4).size(), 4u);
  EXPECT_EQ(td::arange(5).to(device()).chunk(4).size(), 3u);
  EXPECT_TRUE(td::equal(x.flip({1})[0], td::tensor({2., 1., 0.}, device())));
  EXPECT_TRUE(td::equal(x.repeat({1, 2})[1], td::tensor({3., 4., 5., 3., 4., 5.}, device())));
  EXPECT_EQ(td::cat({x, x.to(td::kFloat64)}).dtype(), td::kFloat64);
  EXPECT_NE(error_of([&] {
              (void)td::cat({x, td::ones({3, 2}, device())});
            }).find("Sizes of tensors must match except in dimension 0"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::stack({}); }).find("non-empty"), std::string::npos);
}

TEST_P(Ops, SortingKeepsTiesInOrder) {
  const auto x = td::tensor({3., 1., 3., 2.}, device());
  const auto up = x.sort(), down = x.sort(0, true);
  EXPECT_TRUE(td::equal(up.indices, td::tensor({1, 3, 0, 2}, device())));
  EXPECT_TRUE(td::equal(down.indices, td::tensor({0, 2, 3, 1}, device())));
  const auto big = td::randn({100, 50}, device());
  const auto sorted = big.sort(0);
  EXPECT_TRUE((sorted.values.slice(0, 1) >= sorted.values.slice(0, 0, 99)).all().item<bool>());
  EXPECT_TRUE(td::equal(big.gather(0, sorted.indices), sorted.values));
  EXPECT_TRUE(td::equal(big.topk(3, 1).values.select(1, 0), big.amax({1})));
}

TEST_P(Ops, SoftmaxDoesNotOverflow) {
  const auto y = td::softmax(td::full({2, 3}, 1e4, device()), 1);
  EXPECT_TRUE(td::allclose(y, td::full({2, 3}, 1. / 3, device())));
  const auto x = td::randn({4, 5, 6}, device());
  for (int64_t dim = -3; dim < 3; ++dim) {
    EXPECT_TRUE(td::allclose(td::softmax(x, dim), td::exp(x) / td::exp(x).sum(dim, true), 1e-5, 1e-6));
    EXPECT_TRUE(td::allclose(td::log_softmax(x, dim), td::log(td::softmax(x, dim)), 1e-4, 1e-5));
  }
  EXPECT_NE(
      error_of([] { (void)td::softmax(td::ones({2}, {.dtype = td::kInt64, .device = device()}), 0); }).find("not implemented for 'Long'"),
      std::string::npos);
}

TEST_P(Ops, CrossEntropyAgreesWithItsDefinition) {
  const auto x = td::randn({5, 4}, device());
  const auto t = td::tensor({0, 3, 2, -100, 1}, device());
  const auto logp = td::log_softmax(x, 1).cpu();
  double expected = 0;
  const int targets[] = {0, 3, 2, -1, 1};
  for (int i = 0; i < 5; ++i)
    if (targets[i] >= 0) expected -= logp[i][targets[i]].item<double>();
  EXPECT_NEAR(td::cross_entropy(x, t).item<double>(), expected / 4, 1e-5);
  EXPECT_NEAR(td::cross_entropy(x, t, {.reduction = td::Reduction::Sum}).item<double>(), expected, 1e-5);
  EXPECT_EQ(td::cross_entropy(x, t, {.reduction = td::Reduction::None})[3].item<float>(), 0);
  EXPECT_NEAR(td::nll_loss(td::log_softmax(x, 1), t).item<double>(), expected / 4, 1e-5);
  EXPECT_NE(
      error_of([&] { (void)td::cross_entropy(x, t.slice(0, 0, 3)); }).find("Expected input batch_size (5) to match target batch_size (3)"),
      std::string::npos);
}

TEST_P(Ops, WhatRepeatsIsACopyOfItsOwn) {
  // Of sizes whose strides would allow a view: a change of one element must reach no other.
  const auto changed = [&](const td::Tensor& x, const td::Tensor& y) {
    y.view({-1})[0].fill_(9);
    EXPECT_EQ(y.sum().item<float>(), static_cast<float>(9 + y.numel() - 1)) << y.sizes();
    EXPECT_EQ(x.max().item<float>(), 1) << y.sizes();
  };
  for (const td::Shape& sizes : {td::Shape{}, {1}, {2}, {1, 3}, {3, 1}, {1, 1, 1}}) {
    const auto x = td::ones(sizes, device());
    for (const int64_t times : {1, 2}) {
      td::Shape repeats = sizes;
      for (auto& count : repeats) count = times;
      changed(x, x.repeat(repeats));
      repeats.insert(0, 3);
      changed(x, x.repeat(repeats));
      changed(x, td::tile(x, {times}));
    }
  }
  const auto image = td::ones({1, 1, 2, 2}, device());
  changed(image, td::pixel_shuffle(image, 1));
  changed(image, td::pixel_unshuffle(image, 1));
  changed(image, td::channel_shuffle(image, 1));
}

TEST_P(Ops, ViewsOfTheSameBytesAsAnotherDtype) {
  const auto x = td::tensor({1.0, -2.0}, td::kFloat32).to(device());
  const auto bits = x.view(td::kInt32);
  EXPECT_TRUE(td::equal(bits, td::tensor({0x3f800000, static_cast<int>(0xc0000000)}, td::kInt32).to(device())));
  bits[0].fill_(0x40400000);
  EXPECT_EQ(x[0].item<float>(), 3);
  EXPECT_EQ(x.view(td::kUInt8).sizes(), td::Shape{8});
  EXPECT_EQ(x[0].view({}).dtype(), td::kFloat32);  // no sizes, and no dtype
  EXPECT_EQ(x.view(td::kUInt8)[7].item<int>(), 0xc0);
  EXPECT_TRUE(td::equal(x.view(td::kUInt8).slice(0, 4).view(td::kFloat32), x.slice(0, 1)));
  EXPECT_EQ(td::ones({3, 4}, device()).t().unsqueeze(-1).view(td::kInt16).strides(), (td::Shape{2, 8, 1}));
  EXPECT_FALSE(td::ones({2}, {.device = device(), .requires_grad = true}).view(td::kInt32).requires_grad());
  const auto bytes = td::zeros({3, 8}, {.dtype = td::kUInt8, .device = device()});
  EXPECT_EQ(bytes.view(td::kInt64).sizes(), (td::Shape{3, 1}));
  for (const auto& [odd, text] : {std::pair{bytes.slice(1, 0, 3), "self.size(-1) must be divisible by 4 to view Byte as Float"},
                                  {bytes.slice(1, 1, 5), "self.storage_offset() must be divisible by 4"},
                                  {bytes.t(), "self.stride(-1) must be 1"},
                                  {bytes[0][0], "self.dim() cannot be 0"}})
    EXPECT_NE(error_of([&] { (void)odd.view(td::kFloat32); }).find(text), std::string::npos) << text;
}

TEST_P(Ops, WritingByIndicesRefusesMemoryThatIsShared) {
  const auto x = td::zeros({1, 3}, device()).expand({2, 3}), y = td::zeros({2, 3}, device()), one = td::ones({2, 3}, device());
  const auto index = td::zeros({2, 3}, {.dtype = td::kInt64, .device = device()}), row = index[0].slice(0, 0, 2);
  const std::string shared = "more than one element of the written-to tensor refers to a single memory location";
  EXPECT_NE(error_of([&] { x.scatter_(0, index, one); }).find(shared), std::string::npos);
  EXPECT_NE(error_of([&] { x.scatter_add_(0, index, one); }).find(shared), std::string::npos);
  EXPECT_NE(error_of([&] { x.index_add_(0, row, one); }).find(shared), std::string::npos);
  EXPECT_NE(error_of([&] { x.index_copy_(0, row, one); }).find(shared), std::string::npos);
  EXPECT_NE(error_of([&] { x.index_fill_(0, row, 1); }).find(shared), std::string::npos);
  EXPECT_NE(error_of([&] { y.scatter_add_(0, index, y); }).find("some elements of the input tensor and the written-to"), std::string::npos);
  EXPECT_NE(error_of([&] { y.index_add_(0, row, y); }).find("some elements of the input tensor and the written-to"), std::string::npos);
  EXPECT_EQ(y.sum().item<float>(), 0);
}

TEST_P(Ops, CopiesOfATensorOntoItselfUnderOtherSizes) {
  const auto x = numbers({1, 3, 1});
  x.copy_(x[0]);  // dimensions of size 1 change no place
  x.slice(1, 0, 1).copy_(x[0][0]);
  EXPECT_TRUE(td::equal(x, numbers({1, 3, 1})));
  const auto square = numbers({3, 3});
  EXPECT_NE(error_of([&] { square.copy_(square.t()); }).find("refer to a single memory location"), std::string::npos);
}

TEST_P(Ops, NumbersThatATensorCannotHold) {
  const auto of = [&](td::DType dtype, const td::Scalar& value) {
    const auto x = td::zeros({2}, {.dtype = dtype, .device = device()});
    return error_of([&] { x.fill_(value); });
  };
  EXPECT_NE(of(td::kUInt8, 300).find("value cannot be converted to type uint8_t without overflow"), std::string::npos);
  EXPECT_NE(of(td::kInt8, -129).find("int8_t"), std::string::npos);
  EXPECT_NE(of(td::kInt32, 1e10).find("type int without"), std::string::npos);
  EXPECT_NE(of(td::kInt64, std::nan("")).find("int64_t"), std::string::npos);
  EXPECT_NE(of(td::kFloat32, 1e40).find("type float"), std::string::npos);
  EXPECT_EQ(of(td::kUInt8, -1), "no error");
  EXPECT_EQ(of(td::kFloat16, 1e10), "no error");
  EXPECT_EQ(of(td::kFloat32, -std::numeric_limits<double>::infinity()), "no error");
  EXPECT_THROW((void)td::full({2}, 300, {.dtype = td::kUInt8, .device = device()}), td::Error);
}

TEST_P(Ops, ClassesOfErrors) {
  const auto bools = td::ones({2}, {.dtype = td::kBool, .device = device()}),
             whole = td::ones({2, 2}, {.dtype = td::kInt64, .device = device()});
  const auto x = td::ones({3, 4}, device()), empty = td::ones({2, 0}, device());
  EXPECT_THROW((void)td::relu(bools), td::NotImplementedError);
  EXPECT_THROW((void)td::softmax(whole, 0), td::NotImplementedError);
  EXPECT_THROW((void)td::linalg::inv(whole), td::NotImplementedError);
  EXPECT_THROW((void)td::argmax(empty), td::IndexError);
  EXPECT_THROW((void)td::amax(empty, {1}), td::IndexError);
  EXPECT_THROW((void)x.index({td::tensor({0, 1}, td::kInt64).to(device()), td::tensor({0, 1, 2}, td::kInt64).to(device())}),
               td::IndexError);
  EXPECT_THROW((void)td::cross_entropy(x, td::zeros({2}, {.dtype = td::kInt64, .device = device()})), td::ValueError);
  EXPECT_THROW(((void)td::linalg::inv(td::zeros({2, 2}, device())).cpu(), td::cuda::synchronize()), td::LinAlgError);
}

TEST_P(Ops, RandomNumbersDoNotDependOnTheDevice) {
  for (const auto dtype : {td::kFloat32, td::kFloat64, td::kFloat16}) {
    td::manual_seed(11);
    const auto a = td::randn({1001}, dtype), b = td::rand({7, 3}, dtype);
    td::manual_seed(11);
    EXPECT_TRUE(td::equal(td::randn({1001}, {.dtype = dtype, .device = device()}).cpu(), a));
    EXPECT_TRUE(td::equal(td::rand({7, 3}, {.dtype = dtype, .device = device()}).cpu(), b));
  }
  const auto drawn_on = [](td::Device on) {
    td::manual_seed(12);
    const auto wild = td::empty({1003}, on).exponential_(3);
    const auto kept = td::dropout(td::ones({999}, on), 0.3), coins = td::bernoulli(td::full({777}, 0.4, on));
    const auto whole = td::randint(-5, 1'000'000'007, {1001}, {.device = on}), order = td::randperm(5001, {.device = on});
    return std::array{wild.cpu(), kept.cpu(), coins.cpu(), whole.cpu(), order.cpu()};
  };
  const auto there = drawn_on(device()), expected = drawn_on(td::Device("cpu"));
  for (size_t k = 0; k < expected.size(); ++k) EXPECT_TRUE(td::equal(there[k], expected[k])) << "draw " << k;
  const auto x = td::randn({100000}, device());
  EXPECT_NEAR(x.mean().item<float>(), 0, 0.02);
  EXPECT_NEAR(x.std().item<float>(), 1, 0.02);
  const auto p = td::randperm(1000, {.device = device()});
  EXPECT_TRUE(td::equal(p.sort().values, td::arange(1000).to(device())));
  EXPECT_THROW((void)td::randperm(300, {.dtype = td::kUInt8, .device = device()}), td::Error);
  const auto i = td::randint(3, 7, {10000}, {.device = device()});
  EXPECT_EQ(i.min().item<int>(), 3);
  EXPECT_EQ(i.max().item<int>(), 6);
  const auto dropped = td::dropout(td::ones({100000}, device()), 0.25);
  EXPECT_NEAR(dropped.mean().item<float>(), 1, 0.02);
  EXPECT_NEAR((dropped == 0).to(td::kFloat32).mean().item<float>(), 0.25, 0.01);
}

TEST_P(Ops, CreationCountsExactly) {
  EXPECT_EQ(td::arange(0, 1, 0.1, {.device = device()}).size(0), 10);
  EXPECT_TRUE(td::equal(td::arange(5, 0, -2, {.device = device()}), td::tensor({5, 3, 1}, device())));
  EXPECT_EQ(td::linspace(0, 1, 5, {.device = device()})[4].item<float>(), 1);
  EXPECT_EQ(td::eye(3, 4, {.device = device()}).sum().item<float>(), 3);
  EXPECT_NE(error_of([] { (void)td::arange(0, 1, -1); }).find("inconsistent with step sign"), std::string::npos);
  EXPECT_NE(error_of([] { (void)td::arange(0, 1, 0); }).find("step must be nonzero"), std::string::npos);
}

TEST_P(Ops, ViewsThatCannotBeAreRefused) {
  const auto x = numbers({3, 4});
  EXPECT_NE(error_of([&] { (void)x.t().view({12}); }).find("view size is not compatible"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)x.view({5, -1}); }).find("shape '[5, -1]' is invalid for input of size 12"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)x.expand({2, 4}); }).find("must match the existing size (3)"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)x.permute({0, 0}); }).find("duplicate dims"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)x.as_strided({100}, {1}); }).find("storage"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Devices, Ops, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

}  // namespace
