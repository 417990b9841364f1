// Convolutions, pooling, folding and padding: large sizes against the same in float64, gradients of gradients, and that neither threads nor
// layouts change results. What PyTorch answers for small sizes is in golden/.
#include <cmath>
#include <functional>
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

using Inputs = std::vector<td::Tensor>;

class Windows : public OnDevice {
 protected:
  static td::Tensor random(const td::Shape& sizes, td::DType dtype = td::kFloat64) {
    return (td::rand(sizes, {.dtype = td::kFloat64, .device = device()}) * 2 - 1).to(dtype);
  }
};

/// A convolution's sizes.
struct Sizes {
  td::Shape input, weight;
  td::ConvOptions options;
};

const std::vector<Sizes>& convolutions() {
  static const std::vector<Sizes> all{
      {{37, 3, 17, 19}, {20, 3, 3, 3}, {.padding = 1}},                // a last piece of its own
      {{1, 40, 20, 20}, {70, 40, 3, 3}, {.stride = 2}},                // one image
      {{5, 32, 14, 14}, {32, 1, 3, 3}, {.padding = 1, .groups = 32}},  // depthwise
      {{3, 24, 15, 11}, {36, 8, 3, 2}, {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .groups = 3}},
      {{9, 16, 200}, {24, 16, 5}, {.padding = "same", .dilation = 3}},
      {{2, 8, 7, 9, 10}, {12, 8, 3, 3, 2}, {.stride = 2, .padding = 1}},
      {{4, 64, 7, 7}, {48, 64, 1, 1}, {}},
      {{2, 8, 9, 9}, {8, 8, 2, 2}, {.padding = "same"}},  // more behind than before
      {{30, 4, 20, 21}, {9, 4, 3, 3}, {}},                // many more places than weights
  };
  return all;
}

td::Tensor convolve(const Inputs& in, const td::ConvOptions& options) {
  const auto f = in[0].dim() == 3 ? td::conv1d : in[0].dim() == 4 ? td::conv2d : td::conv3d;
  return f(in[0], in[1], in[2], options, td::Site::here());
}

/// The result and the gradients of a convolution of the dtype.
Inputs all_of(const Inputs& wide, const td::ConvOptions& options, td::DType dtype) {
  Inputs in;
  for (size_t i = 0; i < 3; ++i) in.push_back(wide[i].to(dtype, {.copy = true}).requires_grad_());
  const auto y = convolve(in, options);
  auto all = td::grad({y}, in, {.grad_outputs = {wide[3].to(dtype)}});
  all.push_back(y.detach());
  return all;
}

Inputs operands(const Sizes& sizes, const std::function<td::Tensor(const td::Shape&)>& random) {
  td::manual_seed(7);
  Inputs in{random(sizes.input), random(sizes.weight), random({sizes.weight[0]})};
  in.push_back(random(convolve(in, sizes.options).sizes()));
  return in;
}

TEST_P(Windows, ConvolutionsOfEveryTypeAgree) {
  for (const Sizes& sizes : convolutions()) {
    const Inputs in = operands(sizes, [](const td::Shape& s) { return random(s); });
    const Inputs expected = all_of(in, sizes.options, td::kFloat64);
    for (const auto& [dtype, tolerance] : {std::pair{td::kFloat32, 2e-6}, {td::kBFloat16, 0.02}, {td::kFloat16, 0.003}}) {
      const Inputs found = all_of(in, sizes.options, dtype);
      for (size_t i = 0; i < found.size(); ++i) {
        const double most = expected[i].abs().max().item<double>();
        EXPECT_LT((found[i].to(td::kFloat64) - expected[i]).abs().max().item<double>(), most * tolerance)
            << td::name(dtype) << " " << td::str(sizes.input, sizes.weight) << " part " << i;
      }
    }
  }
}

TEST_P(Windows, ConvolutionsDoNotDependOnThreads) {
  const int before = td::get_num_threads();
  const bool deterministic = td::backends::cudnn::deterministic.exchange(true);  // a GPU's own threads are another matter
  for (const Sizes& sizes : convolutions()) {
    const Inputs in = operands(sizes, [](const td::Shape& s) { return random(s); });
    for (const auto dtype : {td::kFloat32, td::kFloat64}) {
      td::set_num_threads(1);
      const Inputs one = all_of(in, sizes.options, dtype);
      td::set_num_threads(3);
      const Inputs three = all_of(in, sizes.options, dtype);
      for (size_t i = 0; i < one.size(); ++i)
        EXPECT_TRUE(td::equal(one[i], three[i])) << td::str(sizes.input, sizes.weight) << " part " << i;
    }
  }
  td::backends::cudnn::deterministic = deterministic;
  td::set_num_threads(before);
}

TEST_P(Windows, ConvolutionsOfIntegersAreExact) {
  const auto x = td::randint(-9, 10, {2, 3, 8, 8}, {.device = device()}), w = td::randint(-9, 10, {4, 3, 3, 3}, {.device = device()});
  EXPECT_TRUE(td::equal(td::conv2d(x, w).to(td::kFloat64), td::conv2d(x.to(td::kFloat64), w.to(td::kFloat64))));
}

TEST_P(Windows, LayoutsMakeNoDifference) {
  const auto x = random({2, 6, 9, 11}), w = random({6, 6, 3, 3});
  const auto turned = x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
  EXPECT_TRUE(td::equal(td::conv2d(x, w), td::conv2d(turned, w)));
  EXPECT_TRUE(td::equal(td::max_pool2d(x, 3, {.stride = 2}), td::max_pool2d(turned, 3, {.stride = 2})));
  EXPECT_TRUE(td::equal(td::avg_pool2d(x, 2), td::avg_pool2d(turned, 2)));
  EXPECT_TRUE(td::equal(td::unfold(x, 3), td::unfold(turned, 3)));
  EXPECT_TRUE(td::equal(td::pad(x, {1, 2, 3, 0}, "reflect"), td::pad(turned, {1, 2, 3, 0}, "reflect")));
}

TEST_P(Windows, GradientsOfEveryOrder) {
  const std::vector<std::pair<std::function<td::Tensor(const Inputs&)>, std::vector<td::Shape>>> cases{
      {[](const Inputs& in) { return td::conv2d(in[0], in[1], in[2], {.stride = 2, .padding = 1}); }, {{2, 2, 5, 4}, {3, 2, 3, 3}, {3}}},
      {[](const Inputs& in) { return td::conv1d(in[0], in[1], in[2], {.padding = "same", .groups = 2}); }, {{4, 6}, {2, 2, 2}, {2}}},
      {[](const Inputs& in) { return td::conv_transpose2d(in[0], in[1], in[2], {.stride = 2, .output_padding = 1}); },
       {{2, 2, 3, 3}, {2, 3, 2, 2}, {3}}},
      {[](const Inputs& in) { return td::conv_transpose1d(in[0], in[1], in[2], {.output_padding = 2, .dilation = 3}); },
       {{1, 2, 4}, {2, 2, 2}, {2}}},
      {[](const Inputs& in) { return td::max_pool2d(in[0], 3, {.stride = 2, .padding = 1}) * 2; }, {{1, 2, 5, 6}}},
      {[](const Inputs& in) {
         return td::avg_pool2d(in[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
       },
       {{1, 2, 6, 5}}},
      {[](const Inputs& in) {
         return td::adaptive_avg_pool2d(in[0], {3, 2});
       },
       {{2, 5, 7}}},
      {[](const Inputs& in) { return td::adaptive_max_pool1d(in[0], 3) * 2; }, {{2, 7}}},
      {[](const Inputs& in) { return td::lp_pool2d(in[0] * in[0] + 1, 3, 2); }, {{1, 4, 4}}},
      {[](const Inputs& in) { return td::unfold(in[0], 2, {.dilation = 2, .padding = 1}); }, {{1, 2, 4, 4}}},
      {[](const Inputs& in) {
         return td::fold(in[0], {4, 5}, 2, {.stride = 2});
       },
       {{8, 4}}},
      {[](const Inputs& in) {
         return td::pad(in[0], {1, 2, -1, 1});
       },
       {{2, 3, 3}}},
      {[](const Inputs& in) {
         return td::pad(in[0], {2, 1}, "reflect");
       },
       {{2, 4}}},
      {[](const Inputs& in) {
         return td::pad(in[0], {2, 1, -1, 1}, "replicate");
       },
       {{2, 3, 3}}},
      {[](const Inputs& in) {
         return td::pad(in[0], {2, 1}, "circular");
       },
       {{2, 4}}},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    td::manual_seed(5);
    Inputs in;
    for (const auto& sizes : cases[i].second) in.push_back(random(sizes).requires_grad_());
    const auto f = [&](const Inputs& x) { return td::exp(cases[i].first(x) * 0.3); };
    EXPECT_NO_THROW(td::autograd::gradcheck(f, in));
    EXPECT_NO_THROW(td::autograd::gradgradcheck(f, in));
  }
}

TEST_P(Windows, LargestOfEveryType) {
  const auto x = td::randint(-50, 50, {3, 5, 23, 31}, {.device = device()});
  for (const auto& [kernel, options] :
       std::vector<std::pair<td::PerDim, td::MaxPoolOptions>>{{3, {.stride = 2, .padding = 1}},
                                                              {{2, 3}, {.stride = {1, 3}}},
                                                              {3, {.stride = 1, .padding = 1, .dilation = 2}},
                                                              {{23, 31}, {}},
                                                              {2, {.stride = 5}}}) {
    // By hand: the largest column of what unfold gives. It pads with 0, so everything is made positive first.
    const td::FoldOptions seen{
        .dilation = options.dilation, .padding = options.padding, .stride = options.stride.empty() ? kernel : options.stride};
    const auto columns = td::unfold((x + 100).to(td::kFloat64).reshape({15, 1, 23, 31}), kernel, seen);
    const auto expected = columns.amax({1}) - 100;
    for (const auto dtype : {td::kInt8, td::kInt32, td::kInt64, td::kFloat32, td::kFloat64, td::kFloat16, td::kBFloat16}) {
      const auto in = x.to(dtype);
      const auto [values, indices] = td::max_pool2d_with_indices(in, kernel, options);
      EXPECT_TRUE(td::equal(values.reshape({15, -1}).to(td::kFloat64), expected)) << td::name(dtype);
      EXPECT_TRUE(td::equal(values, td::max_pool2d(in, kernel, options)));
      EXPECT_TRUE(td::equal(in.flatten(2).gather(2, indices.flatten(2)), values.flatten(2))) << td::name(dtype);
    }
  }
  const double nan = std::nan(""), inf = INFINITY;
  const auto odd = td::tensor({{-inf, -inf, nan, 1}}, {.dtype = td::kFloat32, .device = device()});
  const auto [values, indices] = td::max_pool1d_with_indices(odd, 2);
  EXPECT_EQ(values.select(1, 0).item<float>(), -inf);
  EXPECT_TRUE(std::isnan(values.select(1, 1).item<float>()));
  EXPECT_TRUE(td::equal(indices, td::tensor({{0, 2}}).to(device())));
  const auto at = td::tensor({{3}}).to(device());
  EXPECT_TRUE(td::equal(td::max_unpool1d(td::ones({1, 1}, device()), at, 4), td::tensor({{0., 0., 0., 1.}}, device())));
  for (const int64_t outside : {-1, 4})
    EXPECT_NE(error_of([&] { (void)td::max_unpool1d(td::ones({1, 1}, device()), td::full_like(at, outside), 4).cpu(); }), "no error");
}

TEST_P(Windows, AveragesOfLargeWindows) {
  const auto x = random({3, 5, 23, 31});
  const auto whole = x.mean({2, 3}, true);
  const auto part = td::unfold(x.reshape({15, 1, 23, 31}), {9, 14}, {.stride = {2, 3}}).mean({1}).reshape({3, 5, 8, 6});
  for (const auto& [dtype, tolerance] : {std::pair{td::kFloat64, 1e-12}, {td::kFloat32, 1e-5}, {td::kBFloat16, 1e-2}}) {
    const auto close = [&, tolerance = tolerance](const td::Tensor& found, const td::Tensor& expected) {
      return td::allclose(found.to(td::kFloat64), expected, tolerance, tolerance);
    };
    EXPECT_TRUE(close(td::adaptive_avg_pool2d(x.to(dtype), 1), whole)) << td::name(dtype);
    EXPECT_TRUE(close(td::avg_pool2d(x.to(dtype), {23, 31}), whole)) << td::name(dtype);
    EXPECT_TRUE(close(td::avg_pool2d(x.to(dtype), {9, 14}, {.stride = {2, 3}}), part)) << td::name(dtype);
  }
}

TEST_P(Windows, MayBeNearlyAsLargeAsNumbersOf32Bits) {
  const auto x = td::tensor({1.0, 5.0, 2.0, 4.0, 3.0}).to(device()).reshape({1, 1, 5}).requires_grad_();
  constexpr int64_t kernel = 2'000'000'000;
  const auto y = td::max_pool1d(x, kernel, {.stride = kernel, .padding = kernel / 2});
  EXPECT_EQ(y.item<double>(), 5);
  y.sum().backward();
  EXPECT_TRUE(td::equal(x.grad().cpu().flatten(), td::tensor({0.0, 1.0, 0.0, 0.0, 0.0})));
}

/// PyTorch's own numbers.
TEST_P(Windows, BytesAreResizedToTheDigit) {
  const auto x = (td::arange(20, {.device = device()}) * 37).remainder(256).to(td::kUInt8).view({1, 1, 4, 5});
  struct Expected {
    const char* mode;
    bool antialias;
    std::vector<int> values;
  };
  for (const auto& [mode, antialias, values] : {Expected{"bilinear", false, {36, 66, 85, 131, 155, 153, 119, 53, 60, 106, 152, 161}},
                                                Expected{"bilinear", true, {64, 76, 75, 118, 159, 149, 118, 65, 73, 116, 160, 146}},
                                                Expected{"bicubic", false, {31, 65, 79, 136, 178, 171, 124, 30, 55, 106, 157, 164}},
                                                Expected{"bicubic", true, {59, 70, 65, 127, 170, 156, 116, 53, 61, 112, 172, 151}}}) {
    const auto y = td::interpolate(x, {.size = td::Shape{3, 4}, .mode = mode, .antialias = antialias});
    EXPECT_TRUE(td::equal(y.cpu().flatten(), td::tensor(values, td::kUInt8))) << mode << " " << antialias << ": " << y;
  }
}

/// PyTorch's own numbers: a size that a factor leaves as it is, or doubles, after rounding down.
TEST_P(Windows, InterpolateByAFactorThatLeavesTheSizeAsItIs) {
  const auto line = td::tensor({{{1., 2., 3.}}}, device()), image = td::arange(1., 10, {.device = device()}).view({1, 1, 3, 3});
  const auto by = [](const td::Tensor& x, double factor, const char* mode, bool antialias = false) {
    return td::interpolate(x, {.scale_factor = {{factor}}, .mode = mode, .antialias = antialias});
  };
  EXPECT_TRUE(td::equal(by(line, 1.3, "linear"), line));
  EXPECT_TRUE(td::equal(by(line, 1.3, "nearest"), line));
  EXPECT_TRUE(td::equal(by(line, 1.3, "area"), line));
  EXPECT_TRUE(td::equal(by(line, 1.3, "nearest-exact"), td::tensor({{{1., 2., 2.}}}, device())));
  EXPECT_TRUE(td::equal(by(line, 2.3, "nearest"), td::tensor({{{1., 1., 2., 2., 3., 3.}}}, device())));
  EXPECT_TRUE(td::equal(by(image, 2.3, "nearest"), image.repeat_interleave(2, 2).repeat_interleave(2, 3)));
  for (const char* mode : {"nearest", "bilinear"}) EXPECT_TRUE(td::equal(by(image, 1.3, mode), image)) << mode;
  for (const char* mode : {"bilinear", "bicubic"}) EXPECT_TRUE(td::equal(by(image, 1.3, mode, true), image)) << mode;
  EXPECT_TRUE(td::allclose(by(image, 1.3, "bicubic").flatten(),
                           td::tensor({0.7291200757, 1.3571064472, 2.3161420822, 2.6130793095, 3.2410662174, 4.2001023293, 5.4901857376,
                                       6.1181735992, 7.0772109032},
                                      device()),
                           1e-5));
  const auto volume = td::randn({1, 2, 3, 4, 5}, device());
  EXPECT_TRUE(td::equal(by(volume, 1.15, "trilinear"), volume));
  for (const char* mode : {"nearest", "linear"}) {
    const auto x = line.clone().requires_grad_(), weights = td::tensor({{{1., 2., 3.}}}, device());
    (by(x, 1.3, mode) * weights).sum().backward();
    EXPECT_TRUE(td::equal(x.grad(), weights)) << mode;
  }
}

TEST_P(Windows, RefuseWhatDoesNotFit) {
  const auto x = random({2, 3, 4, 4}), w = random({5, 3, 3, 3});
  EXPECT_NE(error_of([&] {
              (void)td::conv2d(x, random({5, 4, 3, 3}));
            }).find("to have 4 channels, but got 3 channels instead"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              (void)td::conv2d(x, random({5, 3, 6, 6}));
            }).find("Kernel size can't be greater than actual input size"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::conv2d(x, w, {}, {.stride = 2, .padding = "same"}); }).find("not supported for strided"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::conv2d(x, w, {}, {.padding = "full"}); }).find("Invalid padding string"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::conv2d(x, w, {}, {.stride = int64_t{1} << 62}); }).find("out of range"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::max_pool2d(x, 2, {.padding = 2}); }).find("at most half of effective kernel size"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::avg_pool2d(x, 5); }).find("Output size is too small"), std::string::npos);
  EXPECT_NE(error_of([&] {
              (void)td::pad(x, {4, 0, 0, 0}, "reflect");
            }).find("less than the corresponding input dimension"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)td::pad(x, {-3, -2}); }).find("negative output size"), std::string::npos);
  EXPECT_NE(error_of([&] {
              (void)td::fold(random({1, 12, 5}), {4, 4}, 2);
            }).find("calculated number of sliding blocks"),
            std::string::npos);
}

TEST_P(Windows, NothingToDo) {
  const auto none = td::zeros({0, 3, 4, 4}, device()).requires_grad_();
  const auto w = td::ones({5, 3, 3, 3}, device()).requires_grad_();
  const auto y = td::conv2d(none, w);
  EXPECT_EQ(y.sizes(), (td::Shape{0, 5, 2, 2}));
  y.sum().backward();
  EXPECT_TRUE(td::equal(w.grad(), td::zeros({5, 3, 3, 3}, device())));
  EXPECT_EQ(td::max_pool2d(none, 2).sizes(), (td::Shape{0, 3, 2, 2}));
  EXPECT_EQ(td::adaptive_avg_pool2d(none, 1).sizes(), (td::Shape{0, 3, 1, 1}));
  EXPECT_EQ(td::pad(none, {1, 1}).sizes(), (td::Shape{0, 3, 4, 6}));
}

INSTANTIATE_TEST_SUITE_P(Devices, Windows, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
