// Layers in print and by the names of their tensors: PyTorch 2.15's texts.
#include "nn/support.h"

namespace tandem::testing {
namespace {

using Names = std::vector<std::string>;
Names keys(const nn::Module& module) { return module.state_dict().keys(); }

TEST(PrintLayers, Activations) {
  EXPECT_EQ(shown(nn::ELU()), "ELU(alpha=1.0)");
  EXPECT_EQ(shown(nn::ELU(2, true)), "ELU(alpha=2.0, inplace=True)");
  EXPECT_EQ(shown(nn::CELU()), "CELU(alpha=1.0)");
  EXPECT_EQ(shown(nn::SELU(true)), "SELU(inplace=True)");
  EXPECT_EQ(shown(nn::GELU()), "GELU(approximate='none')");
  EXPECT_EQ(shown(nn::GELU("tanh")), "GELU(approximate='tanh')");
  EXPECT_EQ(shown(nn::GLU()), "GLU(dim=-1)");
  EXPECT_EQ(shown(nn::Hardshrink()), "Hardshrink(0.5)");
  EXPECT_EQ(shown(nn::Hardsigmoid(true)), "Hardsigmoid()");
  EXPECT_EQ(shown(nn::Hardswish()), "Hardswish()");
  EXPECT_EQ(shown(nn::Hardtanh()), "Hardtanh(min_val=-1.0, max_val=1.0)");
  EXPECT_EQ(shown(nn::LeakyReLU()), "LeakyReLU(negative_slope=0.01)");
  EXPECT_EQ(shown(nn::LogSigmoid()), "LogSigmoid()");
  EXPECT_EQ(shown(nn::Mish()), "Mish()");
  EXPECT_EQ(shown(nn::PReLU(3)), "PReLU(num_parameters=3)");
  EXPECT_EQ(shown(nn::ReLU(true)), "ReLU(inplace=True)");
  EXPECT_EQ(shown(nn::ReLU6()), "ReLU6()");
  EXPECT_EQ(shown(nn::RReLU()), "RReLU(lower=0.125, upper=0.3333333333333333)");
  EXPECT_EQ(shown(nn::SiLU(true)), "SiLU(inplace=True)");
  EXPECT_EQ(shown(nn::Softplus()), "Softplus(beta=1.0, threshold=20.0)");
  EXPECT_EQ(shown(nn::Softshrink()), "Softshrink(0.5)");
  EXPECT_EQ(shown(nn::Softsign()), "Softsign()");
  EXPECT_EQ(shown(nn::Softmin(1)), "Softmin(dim=1)");
  EXPECT_EQ(shown(nn::Softmax2d()), "Softmax2d()");
  EXPECT_EQ(shown(nn::Tanhshrink()), "Tanhshrink()");
  EXPECT_EQ(shown(nn::Threshold(0.1, 20)), "Threshold(threshold=0.1, value=20)");
  EXPECT_EQ(shown(nn::Threshold(0.1, 20.0, true)), "Threshold(threshold=0.1, value=20.0, inplace=True)");
  EXPECT_EQ(keys(nn::PReLU()), Names{"weight"});
}

TEST(PrintLayers, Convolutions) {
  EXPECT_EQ(shown(nn::Conv1d(3, 5, 3)), "Conv1d(3, 5, kernel_size=(3,), stride=(1,))");
  EXPECT_EQ(shown(nn::Conv2d(3, 5, 3, {.stride = 2, .padding = 1})), "Conv2d(3, 5, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1))");
  EXPECT_EQ(shown(nn::Conv2d(4, 6, {3, 2}, {.padding = "same", .dilation = 2, .groups = 2, .bias = false, .padding_mode = "reflect"})),
            "Conv2d(4, 6, kernel_size=(3, 2), stride=(1, 1), padding=same, dilation=(2, 2), groups=2, bias=False, padding_mode=reflect)");
  EXPECT_EQ(shown(nn::ConvTranspose2d(3, 4, 4, {.stride = 2, .padding = 1, .output_padding = 1})),
            "ConvTranspose2d(3, 4, kernel_size=(4, 4), stride=(2, 2), padding=(1, 1), output_padding=(1, 1))");
  EXPECT_EQ(keys(nn::Conv3d(2, 4, 3, {.groups = 2})), (Names{"weight", "bias"}));
  EXPECT_EQ(keys(nn::ConvTranspose1d(2, 4, 3, {.bias = false})), Names{"weight"});
  nn::LazyConv2d lazy(4, 3);
  EXPECT_EQ(shown(lazy), "LazyConv2d(0, 4, kernel_size=(3, 3), stride=(1, 1))");
  (void)lazy(ones({1, 2, 5, 5}));
  EXPECT_EQ(shown(lazy), "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1))");
  EXPECT_EQ(shown(nn::LazyConvTranspose1d(4, 3)), "LazyConvTranspose1d(0, 4, kernel_size=(3,), stride=(1,))");
}

TEST(PrintLayers, PoolingAndPadding) {
  EXPECT_EQ(shown(nn::MaxPool1d(2)), "MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)");
  EXPECT_EQ(shown(nn::MaxPool2d({2, 3}, {.stride = {1, 2}})),
            "MaxPool2d(kernel_size=(2, 3), stride=(1, 2), padding=0, dilation=1, ceil_mode=False)");
  EXPECT_EQ(shown(nn::AvgPool1d(2)), "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))");
  EXPECT_EQ(shown(nn::AvgPool2d(2)), "AvgPool2d(kernel_size=2, stride=2, padding=0)");
  EXPECT_EQ(shown(nn::AvgPool3d({2, 3, 4}, {.stride = 2})), "AvgPool3d(kernel_size=(2, 3, 4), stride=2, padding=0)");
  EXPECT_EQ(shown(nn::AdaptiveAvgPool2d(1)), "AdaptiveAvgPool2d(output_size=1)");
  EXPECT_EQ(shown(nn::AdaptiveAvgPool2d({3, std::nullopt})), "AdaptiveAvgPool2d(output_size=(3, None))");
  EXPECT_EQ(shown(nn::AdaptiveMaxPool1d(3)), "AdaptiveMaxPool1d(output_size=3)");
  EXPECT_EQ(shown(nn::LPPool2d(2, 3)), "LPPool2d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)");
  EXPECT_EQ(shown(nn::LPPool2d(1.5, 3, {.stride = 2})), "LPPool2d(norm_type=1.5, kernel_size=3, stride=2, ceil_mode=False)");
  EXPECT_EQ(shown(nn::MaxUnpool2d(2)), "MaxUnpool2d(kernel_size=(2, 2), stride=(2, 2), padding=(0, 0))");
  EXPECT_EQ(shown(nn::ConstantPad1d(2, 3.5)), "ConstantPad1d(padding=(2, 2), value=3.5)");
  EXPECT_EQ(shown(nn::ReflectionPad2d(2)), "ReflectionPad2d((2, 2, 2, 2))");
  EXPECT_EQ(shown(nn::ReplicationPad3d(1)), "ReplicationPad3d((1, 1, 1, 1, 1, 1))");
  EXPECT_EQ(shown(nn::CircularPad1d({1, 2})), "CircularPad1d((1, 2))");
  EXPECT_EQ(shown(nn::ZeroPad2d(1)), "ZeroPad2d((1, 1, 1, 1))");
}

TEST(PrintLayers, Normalizations) {
  EXPECT_EQ(shown(nn::BatchNorm1d(4)), "BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)");
  EXPECT_EQ(shown(nn::BatchNorm2d(4, {.momentum = std::nullopt, .affine = false})),
            "BatchNorm2d(4, eps=1e-05, momentum=None, affine=False, bias=False, track_running_stats=True)");
  EXPECT_EQ(shown(nn::InstanceNorm2d(3)),
            "InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)");
  EXPECT_EQ(shown(nn::LazyBatchNorm2d()), "LazyBatchNorm2d(0, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)");
  EXPECT_EQ(shown(nn::LayerNorm({8})), "LayerNorm((8,), eps=1e-05, elementwise_affine=True, bias=True)");
  EXPECT_EQ(shown(nn::LayerNorm({2, 8}, {.bias = false})), "LayerNorm((2, 8), eps=1e-05, elementwise_affine=True, bias=False)");
  EXPECT_EQ(shown(nn::GroupNorm(2, 4)), "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)");
  EXPECT_EQ(shown(nn::RMSNorm(8)), "RMSNorm((8,), eps=None, elementwise_affine=True)");
  EXPECT_EQ(shown(nn::RMSNorm(8, {.eps = 1e-3})), "RMSNorm((8,), eps=0.001, elementwise_affine=True)");
  EXPECT_EQ(shown(nn::LocalResponseNorm(2)), "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)");
  EXPECT_EQ(keys(nn::BatchNorm2d(3)), (Names{"weight", "bias", "running_mean", "running_var", "num_batches_tracked"}));
  EXPECT_EQ(keys(nn::BatchNorm2d(3, {.track_running_stats = false})), (Names{"weight", "bias"}));
  EXPECT_EQ(keys(nn::InstanceNorm1d(3)), Names{});
  EXPECT_EQ(keys(nn::GroupNorm(2, 4, {.bias = false})), Names{"weight"});
}

TEST(PrintLayers, Others) {
  EXPECT_EQ(shown(nn::Dropout(1)), "Dropout(p=1.0, inplace=False)");
  EXPECT_EQ(shown(nn::Dropout2d(0.2, true)), "Dropout2d(p=0.2, inplace=True)");
  EXPECT_EQ(shown(nn::AlphaDropout()), "AlphaDropout(p=0.5, inplace=False)");
  EXPECT_EQ(shown(nn::EmbeddingBag(10, 3)), "EmbeddingBag(10, 3, mode='mean')");
  EXPECT_EQ(shown(nn::EmbeddingBag(10, 3, {.max_norm = 1, .mode = "sum", .padding_idx = 1})),
            "EmbeddingBag(10, 3, max_norm=1.0, mode='sum', padding_idx=1)");
  EXPECT_EQ(shown(nn::Embedding(10, 3, {.padding_idx = 1, .max_norm = 2, .norm_type = 1, .scale_grad_by_freq = true})),
            "Embedding(10, 3, padding_idx=1, max_norm=2.0, norm_type=1.0, scale_grad_by_freq=True)");
  EXPECT_EQ(shown(nn::Bilinear(2, 3, 4)), "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)");
  EXPECT_EQ(shown(nn::Unflatten(1, {2, 3})), "Unflatten(dim=1, unflattened_size=(2, 3))");
  EXPECT_EQ(shown(nn::PixelShuffle(2)), "PixelShuffle(upscale_factor=2)");
  EXPECT_EQ(shown(nn::PixelUnshuffle(2)), "PixelUnshuffle(downscale_factor=2)");
  EXPECT_EQ(shown(nn::ChannelShuffle(2)), "ChannelShuffle(groups=2)");
  EXPECT_EQ(shown(nn::Upsample({.scale_factor = {{2}}})), "Upsample(scale_factor=2.0, mode='nearest')");
  EXPECT_EQ(shown(nn::Upsample({.size = {{3, 4}}, .mode = "bilinear", .align_corners = true})), "Upsample(size=(3, 4), mode='bilinear')");
  EXPECT_EQ(shown(nn::UpsamplingNearest2d({.scale_factor = {{2}}})), "UpsamplingNearest2d(scale_factor=2.0, mode='nearest')");
  EXPECT_EQ(shown(nn::Fold({4, 5}, 2)), "Fold(output_size=(4, 5), kernel_size=2, dilation=1, padding=0, stride=1)");
  EXPECT_EQ(shown(nn::Unfold({2, 3}, {.padding = 1})), "Unfold(kernel_size=(2, 3), dilation=1, padding=1, stride=1)");
  EXPECT_EQ(shown(nn::CosineSimilarity()), "CosineSimilarity()");
  EXPECT_EQ(shown(nn::PairwiseDistance()), "PairwiseDistance()");
}

TEST(PrintLayers, Parameters) {
  EXPECT_EQ(shown(nn::ParameterList()), "ParameterList()");
  EXPECT_EQ(shown(nn::ParameterList{zeros({2, 3}), zeros({}, {.dtype = kFloat64})}),
            "ParameterList(\n"
            "  (0): Parameter containing: [float32 of size 2x3]\n"
            "  (1): Parameter containing: [float64 of size ]\n"
            ")");
  EXPECT_EQ(shown(nn::ParameterDict{{"left", zeros({2}, "cuda:1")}}),
            "ParameterDict((left): Parameter containing: [float32 of size 2 (cuda:1)])");
  EXPECT_EQ(shown(nn::FractionalMaxPool2d(2, {.output_size = 3})), "FractionalMaxPool2d()");
  EXPECT_EQ(shown(nn::AdaptiveLogSoftmaxWithLoss(4, 10, {3}, {.head_bias = true})),
            "AdaptiveLogSoftmaxWithLoss(\n"
            "  (head): Linear(in_features=4, out_features=4, bias=True)\n"
            "  (tail): ModuleList(\n"
            "    (0): Sequential(\n"
            "      (0): Linear(in_features=4, out_features=1, bias=False)\n"
            "      (1): Linear(in_features=1, out_features=7, bias=False)\n"
            "    )\n"
            "  )\n"
            ")");
}

TEST(PrintLayers, Containers) {
  EXPECT_EQ(shown(nn::ModuleList()), "ModuleList()");
  EXPECT_EQ(shown(nn::ModuleList(nn::Linear(2, 2), nn::Linear(2, 2), nn::ReLU())),
            "ModuleList(\n"
            "  (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)\n"
            "  (2): ReLU()\n"
            ")");
  EXPECT_EQ(shown(nn::ModuleDict{{"a", nn::ReLU()}}), "ModuleDict(\n  (a): ReLU()\n)");
}

}  // namespace
}  // namespace tandem::testing
