// Layers: what the golden cases leave out - errors, first values, in-place forms, lazy ones, running statistics.
#include "nn/support.h"

namespace tandem::testing {
namespace {

class ModulesOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ModulesOn, every_device(), device_name);

/// The largest magnitude.
double largest(const Tensor& x) {
  double result = 0;
  for (const double v : values(x)) result = std::max(result, std::abs(v));
  return result;
}

TEST_P(ModulesOn, InplaceChangesTheInput) {
  const auto check = [&](nn::Module& module) {
    const Tensor x = tensor({-4.0, -0.5, 0.25, 7.0}).to(device());
    const Tensor y = module(x);
    EXPECT_TRUE(y.is_same(x)) << module.name();
    EXPECT_NE(values(x), (std::vector<double>{-4, -0.5, 0.25, 7})) << module.name();
  };
  nn::ReLU relu(true);
  nn::ReLU6 relu6(true);
  nn::ELU elu(1, true);
  nn::CELU celu(1, true);
  nn::SELU selu(true);
  nn::SiLU silu(true);
  nn::Mish mish(true);
  nn::Hardsigmoid hardsigmoid(true);
  nn::Hardswish hardswish(true);
  nn::Hardtanh hardtanh(-1, 1, true);
  nn::LeakyReLU leaky(0.1, true);
  nn::RReLU rrelu(0.1, 0.2, true);
  nn::Threshold threshold(0.1, 20, true);
  nn::Dropout dropout(0.999, true);
  for (nn::Module* module : std::initializer_list<nn::Module*>{&relu, &relu6, &elu, &celu, &selu, &silu, &mish, &hardsigmoid, &hardswish,
                                                               &hardtanh, &leaky, &rrelu, &threshold, &dropout})
    check(*module);
  EXPECT_EQ(error_of([] { nn::Hardtanh wrong(1, 0); }), "[Hardtanh] max_val (0) must be greater than min_val (1)");
  EXPECT_EQ(error_of([&] { (void)nn::Softmax2d()(ones({2}, device())); }), "[Softmax2d] expected input to be 3D or 4D, got 1D instead");
}

TEST(Convolution, StartsWithinItsBound) {
  manual_seed(5);
  const nn::Conv2d conv(8, 16, 5, {.groups = 2});  // fan_in = 4 * 25
  EXPECT_EQ(conv.weight.sizes(), (Shape{16, 4, 5, 5}));
  EXPECT_LE(largest(conv.weight), 0.1);
  EXPECT_GT(largest(conv.weight), 0.099);
  EXPECT_LE(largest(conv.bias), 0.1);
  const nn::ConvTranspose1d transposed(8, 4, 25);  // fan_in = 4 * 25, as PyTorch counts it
  EXPECT_EQ(transposed.weight.sizes(), (Shape{8, 4, 25}));
  EXPECT_LE(largest(transposed.weight), 0.1);
  EXPECT_GT(largest(transposed.weight), 0.099);
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { nn::Conv2d wrong(3, 4, 3, {.groups = 2}); }), "[Conv2d] in_channels must be divisible by groups: 3 is not by 2");
  EXPECT_EQ(error_of([] { nn::Conv2d wrong(4, 5, 3, {.groups = 2}); }), "[Conv2d] out_channels must be divisible by groups: 5 is not by 2");
  EXPECT_EQ(error_of([] { nn::Conv1d wrong(4, 5, 3, {.groups = 0}); }), "[Conv1d] groups must be a positive integer, but is 0");
  EXPECT_EQ(error_of([] { nn::Conv2d wrong(3, 5, 3, {.padding = "full"}); }),
            "[Conv2d] Invalid padding string 'full', should be one of 'same', 'valid'");
  EXPECT_EQ(error_of([] { nn::Conv2d wrong(3, 5, 3, {.stride = 2, .padding = "same"}); }),
            "[Conv2d] padding='same' is not supported for strided convolutions");
  EXPECT_EQ(error_of([] { nn::Conv3d wrong(3, 5, 3, {.padding_mode = "mirror"}); }),
            "[Conv3d] padding_mode must be one of 'zeros', 'reflect', 'replicate', 'circular', but got padding_mode='mirror'");
  EXPECT_EQ(error_of([] {
              nn::Conv2d wrong(3, 5, {1, 2, 3});
            }),
            "[Conv2d] kernel_size must either be a single int, or a tuple of 2 ints, but got [1, 2, 3]");
}

TEST_P(ModulesOn, PaddingModesPadFirst) {
  for (const char* mode : {"reflect", "replicate", "circular"}) {
    nn::Conv2d conv(2, 3, 3, {.padding = {1, 2}, .padding_mode = mode});
    nn::Conv2d bare(2, 3, 3);
    bare.load_state_dict(conv.state_dict());
    conv.to(device());
    bare.to(device());
    const Tensor x = randn({2, 2, 5, 6}, device());
    EXPECT_TRUE(allclose(conv(x), bare(pad(x, {2, 2, 1, 1}, mode)), 1e-5, 1e-6)) << mode;
    nn::Conv2d same(2, 3, {2, 3}, {.padding = "same", .dilation = 2, .padding_mode = mode});
    EXPECT_EQ(same(x.cpu()).sizes(), (Shape{2, 3, 5, 6})) << mode;
  }
}

TEST_P(ModulesOn, ConvTransposeTakesAnOutputSize) {
  nn::Conv2d down(3, 4, 3, {.stride = 2, .padding = 1});
  nn::ConvTranspose2d up(4, 3, 3, {.stride = 2, .padding = 1});
  down.to(device());
  up.to(device());
  const Tensor x = randn({1, 3, 12, 11}, device());
  const Tensor y = down(x);
  EXPECT_EQ(up(y).sizes(), (Shape{1, 3, 11, 11}));
  EXPECT_EQ(up(y, x.sizes()).sizes(), x.sizes());
  EXPECT_EQ(up(y, {12, 12}).sizes(), (Shape{1, 3, 12, 12}));
  EXPECT_EQ(error_of([&] {
              (void)up(y, {13, 12});
            }),
            "[ConvTranspose2d] requested an output size of [13, 12], but valid sizes of spatial dimension 0 range from 11 to 12 (for an "
            "input of [1, 4, 6, 6])");
}

TEST_P(ModulesOn, LazyOnesLearnTheirChannels) {
  nn::Sequential net(nn::LazyConv2d(4, 3, {.groups = 2}), nn::LazyBatchNorm2d(), nn::LazyConvTranspose2d(3, 2),
                     nn::LazyInstanceNorm2d({.affine = true}));
  EXPECT_TRUE(net.has_uninitialized_params());
  net.to(device());
  const Tensor y = net(randn({2, 6, 5, 5}, device()));
  EXPECT_EQ(y.device(), device());
  EXPECT_EQ(y.sizes(), (Shape{2, 3, 4, 4}));
  EXPECT_EQ(net.at<nn::LazyConv2d>(0).weight.sizes(), (Shape{4, 3, 3, 3}));
  EXPECT_EQ(net.at<nn::LazyBatchNorm2d>(1).running_var.sizes(), (Shape{4}));
  EXPECT_EQ(net.at(1).name(), "BatchNorm2d");
  nn::Sequential loaded(nn::LazyConv2d(4, 3, {.groups = 2}), nn::LazyBatchNorm2d(), nn::LazyConvTranspose2d(3, 2),
                        nn::LazyInstanceNorm2d({.affine = true}));
  loaded.load_state_dict(net.state_dict());
  EXPECT_FALSE(loaded.has_uninitialized_params());
  EXPECT_FALSE(loaded.at<nn::LazyBatchNorm2d>(1).running_mean.requires_grad());
  EXPECT_TRUE(loaded.at<nn::LazyBatchNorm2d>(1).weight.requires_grad());
  net.eval();
  loaded.eval();
  const Tensor x = randn({1, 6, 5, 5});
  EXPECT_TRUE(allclose(net(x.to(device())).cpu(), loaded(x), 1e-4, 1e-5));
  nn::LazyConv1d odd(4, 3, {.groups = 2});
  EXPECT_EQ(error_of([&] { (void)odd(ones({1, 3, 5})); }), "[LazyConv1d] in_channels must be divisible by groups: 3 is not by 2");
}

TEST_P(ModulesOn, BatchNormFollowsTheBatches) {
  nn::BatchNorm1d norm(2, {.momentum = std::nullopt});
  norm.to(device());
  (void)norm(tensor({{0.0, 2.0}, {2.0, 6.0}}).to(device()));
  (void)norm(tensor({{3.0, 0.0}, {5.0, 0.0}}).to(device()));
  expect_near(norm.running_mean, {2.5, 2});  // the mean of (1, 4) and (4, 0)
  expect_near(norm.running_var, {2, 4});     // of the unbiased variances (2, 8) and (2, 0)
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 2);
  norm.eval();
  const Tensor y = norm(tensor({{2.5, 4.0}}).to(device()));
  expect_near(y, {0, 2 / std::sqrt(4 + 1e-5)});
  norm.reset_running_stats();
  expect_near(norm.running_var, {1, 1});
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 0);
  EXPECT_EQ(error_of([&] { (void)norm(ones({2, 2, 3, 3}, device())); }), "[BatchNorm1d] expected 2D or 3D input (got 4D input)");
  EXPECT_EQ(error_of([&] {
              (void)nn::InstanceNorm2d(3, {.affine = true})(ones({2, 4, 3, 3}));
            }),
            "[InstanceNorm2d] expected input's size at dim=1 to match num_features (3), but got: 4");
  EXPECT_EQ(error_of([] { nn::GroupNorm wrong(3, 4); }), "[GroupNorm] num_channels (4) must be divisible by num_groups (3)");
}

TEST_P(ModulesOn, PoolingAndItsWayBack) {
  const Tensor x = randn({2, 3, 6, 6}, device());
  nn::MaxPool2d pool(2);
  const auto [y, indices] = pool.forward_with_indices(x);
  EXPECT_EQ(values(pool(x)), values(y));
  const Tensor back = nn::MaxUnpool2d(2)(y, indices);
  EXPECT_EQ(back.sizes(), x.sizes());
  EXPECT_NEAR(back.sum().item<double>(), y.sum().item<double>(), 1e-4);
  EXPECT_EQ(values(pool(back.clamp_min(0))), values(y.clamp_min(0)));
  EXPECT_EQ(error_of([&] { (void)nn::CircularPad2d(1)(ones({3, 3})); }), "[CircularPad2d] expected 3D or 4D input (got 2D input)");
}

TEST_P(ModulesOn, ResamplingAndShuffling) {
  const Tensor x = randn({1, 4, 3, 3}, device());
  EXPECT_EQ(nn::Upsample({.scale_factor = {{2}}})(x).sizes(), (Shape{1, 4, 6, 6}));
  EXPECT_EQ(nn::UpsamplingBilinear2d({.size = {{5, 4}}})(x).sizes(), (Shape{1, 4, 5, 4}));
  EXPECT_TRUE(equal(nn::UpsamplingNearest2d({.scale_factor = {{3}}, .mode = "bilinear"})(x),
                    interpolate(x, {.scale_factor = {{3}}, .mode = "nearest"})));
  EXPECT_TRUE(equal(nn::PixelUnshuffle(2)(nn::PixelShuffle(2)(x)), x));
  EXPECT_TRUE(equal(nn::ChannelShuffle(2)(nn::ChannelShuffle(2)(x)), x));
  EXPECT_EQ(nn::Unflatten(1, {2, -1})(x).sizes(), (Shape{1, 2, 2, 3, 3}));
  const Tensor windows = nn::Unfold(2, {.stride = 2})(randn({1, 2, 4, 4}, device()));
  EXPECT_EQ(windows.sizes(), (Shape{1, 8, 4}));
  EXPECT_TRUE(equal(nn::Unfold(2, {.stride = 2})(nn::Fold(4, 2, {.stride = 2})(windows)), windows));
}

TEST_P(ModulesOn, TwoInputs) {
  const Tensor a = tensor({{3.0, 4.0}, {1.0, 0.0}}).to(device()), b = tensor({{3.0, 4.0}, {0.0, 1.0}}).to(device());
  expect_near(nn::CosineSimilarity()(a, b), {1, 0});
  expect_near(nn::PairwiseDistance(2, 0)(a, b), {0, std::sqrt(2.0)});
  nn::Bilinear layer(2, 2, 3);
  layer.to(device());
  EXPECT_LE(largest(layer.weight), 1 / std::sqrt(2.0));
  EXPECT_TRUE(allclose(layer(a, b), bilinear(a, b, layer.weight, layer.bias)));
  EXPECT_EQ(error_of([] { nn::Bilinear wrong(0, 1, 2); }), "[Bilinear] in1_features must be > 0, but got (in1_features=0)");
}

TEST_P(ModulesOn, EmbeddingOptions) {
  nn::Embedding table(3, 2, {.max_norm = 1});
  {
    const NoGradGuard no_grad;
    table.weight.copy_(tensor({{3.0, 4.0}, {0.3, 0.4}, {6.0, 8.0}}));
  }
  table.to(device());
  expect_near(table(tensor({0, 1}).to(device())), {0.6, 0.8, 0.3, 0.4}, 1e-5);
  expect_near(table.weight, {0.6, 0.8, 0.3, 0.4, 6, 8}, 1e-5);  // those in use only
  const Tensor given = randn({4, 2}, device());
  auto frozen = nn::Embedding::from_pretrained(given, true, {.padding_idx = -1});
  EXPECT_FALSE(frozen.weight.requires_grad());
  EXPECT_EQ(frozen.padding_idx, 3);
  EXPECT_TRUE(equal(frozen(tensor({2}).to(device())), given.narrow(0, 2, 1)));
  auto bags = nn::EmbeddingBag::from_pretrained(given, false, {.mode = "sum", .padding_idx = -1});
  EXPECT_TRUE(bags.weight.requires_grad());
  EXPECT_EQ(bags.options.padding_idx, 3);
  EXPECT_TRUE(allclose(bags(tensor({{0, 2}, {1, 3}}).to(device())), stack({given[0] + given[2], given[1]})));
  EXPECT_NE(error_of([] { (void)nn::EmbeddingBag::from_pretrained(ones({4})); }).find("expected to be 2-dimensional, got [4]"),
            std::string::npos);
  nn::EmbeddingBag bag(4, 2, {.mode = "sum"});
  bag.to(device());
  const Tensor sums = bag(tensor({0, 1, 2}).to(device()), tensor({0, 2}).to(device()));
  const std::vector<double> w = values(bag.weight);
  expect_near(sums, {w[0] + w[2], w[1] + w[3], w[4], w[5]});
}

TEST_P(ModulesOn, AlphaDropoutKeepsMeanAndVariance) {
  nn::AlphaDropout layer(0.3);
  const Tensor x = randn({20000}, device());
  const Tensor y = layer(x);
  EXPECT_NEAR(y.mean().item<double>(), 0, 0.05);
  EXPECT_NEAR(y.var().item<double>(), 1, 0.06);
  layer.eval();
  EXPECT_EQ(values(layer(x)), values(x));
  const Tensor channels = nn::Dropout2d(0.5)(ones({8, 16, 3, 3}, device())).sum({2, 3});
  for (const double sum : values(channels)) EXPECT_TRUE(sum == 0 || sum == 18) << sum;
}

}  // namespace
}  // namespace tandem::testing
