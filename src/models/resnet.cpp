#include "models/resnet.h"

#include "nn/activation.h"
#include "nn/init.h"
#include "nn/layers.h"
#include "nn/linear.h"
#include "nn/pooling.h"
#include "nn/settings.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/pooling.h"
#include "ops/view.h"

namespace tandem::models {
namespace {

nn::Conv2d conv3x3(int64_t in, int64_t out, int64_t stride = 1) {
  return nn::Conv2d(in, out, 3, {.stride = stride, .padding = 1, .bias = false});
}

nn::Conv2d conv1x1(int64_t in, int64_t out, int64_t stride = 1) { return nn::Conv2d(in, out, 1, {.stride = stride, .bias = false}); }

/// What brings the shortcut to the block's sizes.
nn::Sequential shortcut(int64_t in, int64_t out, int64_t stride) {
  if (in == out && stride == 1) return {};
  return nn::Sequential(conv1x1(in, out, stride), nn::BatchNorm2d(out));
}

template <class Block>
nn::Sequential blocks_of(int64_t in, int64_t planes, int64_t count, int64_t stride) {
  nn::Sequential blocks;
  for (int64_t i = 0; i < count; ++i) {
    blocks.push_back(Block(in, planes, i == 0 ? stride : 1));
    in = planes * Block::kExpansion;
  }
  return blocks;
}

/// The block of d2l_resnet18.
struct Residual : nn::Module {
  nn::Conv2d conv1, conv2;
  nn::BatchNorm2d bn1, bn2;
  nn::Sequential conv3;  // of the shortcut, or empty

  Residual(int64_t in, int64_t out, int64_t stride, bool changes = false)
      : conv1(in, out, 3, {.stride = stride, .padding = 1}), conv2(out, out, 3, {.padding = 1}), bn1(out), bn2(out) {
    if (changes) conv3.push_back(nn::Conv2d(in, out, 1, {.stride = stride}));
  }
  void fields(nn::Fields& f) override {
    f("conv1", conv1);
    f("conv2", conv2);
    if (conv3.size() > 0) f("conv3", conv3);
    f("bn1", bn1);
    f("bn2", bn2);
  }
  void settings(nn::Settings& s) override { conv3.settings(s); }
  Tensor forward(const Tensor& x) override { return relu(bn2(conv2(relu(bn1(conv1(x))))) + (conv3.size() > 0 ? conv3(x) : x)); }
};

}  // namespace

BasicBlock::BasicBlock(int64_t in_planes, int64_t planes, int64_t stride)
    : conv1(conv3x3(in_planes, planes, stride)),
      bn1(planes),
      conv2(conv3x3(planes, planes)),
      bn2(planes),
      downsample(shortcut(in_planes, planes, stride)) {}

void BasicBlock::fields(nn::Fields& f) {
  f("conv1", conv1);
  f("bn1", bn1);
  f("conv2", conv2);
  f("bn2", bn2);
  if (downsample.size() > 0) f("downsample", downsample);
}

Tensor BasicBlock::forward(const Tensor& x) { return relu(bn2(conv2(relu(bn1(conv1(x))))) + (downsample.size() > 0 ? downsample(x) : x)); }

Bottleneck::Bottleneck(int64_t in_planes, int64_t planes, int64_t stride)
    : conv1(conv1x1(in_planes, planes)),
      bn1(planes),
      conv2(conv3x3(planes, planes, stride)),
      bn2(planes),
      conv3(conv1x1(planes, planes * kExpansion)),
      bn3(planes * kExpansion),
      downsample(shortcut(in_planes, planes * kExpansion, stride)) {}

void Bottleneck::fields(nn::Fields& f) {
  f("conv1", conv1);
  f("bn1", bn1);
  f("conv2", conv2);
  f("bn2", bn2);
  f("conv3", conv3);
  f("bn3", bn3);
  if (downsample.size() > 0) f("downsample", downsample);
}

Tensor Bottleneck::forward(const Tensor& x) {
  return relu(bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x)))))))) + (downsample.size() > 0 ? downsample(x) : x));
}

void BasicBlock::settings(nn::Settings& s) { s(downsample); }
void Bottleneck::settings(nn::Settings& s) { s(downsample); }

ResNet::ResNet(nn::detail::Blank) : ResNet(1) {}
void ResNet::settings(nn::Settings& s) { s(fc); }

ResNet::ResNet(int64_t in_channels) : conv1(in_channels, 64, 7, {.stride = 2, .padding = 3, .bias = false}), bn1(64) {}

void ResNet::fields(nn::Fields& f) {
  f("conv1", conv1);
  f("bn1", bn1);
  f("layer1", layer1);
  f("layer2", layer2);
  f("layer3", layer3);
  f("layer4", layer4);
  f("fc", *fc);
}

Tensor ResNet::forward(const Tensor& x) {
  const Tensor stem = max_pool2d(relu(bn1(conv1(x))), 3, {.stride = 2, .padding = 1});
  const Tensor features = layer4(layer3(layer2(layer1(stem))));
  return (*fc)(flatten(adaptive_avg_pool2d(features, 1), 1));
}

template <class Block>
ResNet make_resnet(const int64_t (&blocks)[4], const ResNetOptions& options) {
  constexpr int64_t wide = Block::kExpansion;
  ResNet net(options.in_channels);
  net.layer1 = blocks_of<Block>(64, 64, blocks[0], 1);
  net.layer2 = blocks_of<Block>(64 * wide, 128, blocks[1], 2);
  net.layer3 = blocks_of<Block>(128 * wide, 256, blocks[2], 2);
  net.layer4 = blocks_of<Block>(256 * wide, 512, blocks[3], 2);
  net.fc = options.num_classes > 0 ? nn::AnyModule(nn::Linear(512 * wide, options.num_classes)) : nn::AnyModule(nn::Identity());
  net.apply([](nn::Module& module) {
    if (auto* conv = dynamic_cast<nn::Conv2d*>(&module))
      nn::init::kaiming_normal_(conv->weight, {.mode = "fan_out", .nonlinearity = "relu"});
  });
  return net;
}

ResNet resnet18(const ResNetOptions& options) { return make_resnet<BasicBlock>({2, 2, 2, 2}, options); }
ResNet resnet34(const ResNetOptions& options) { return make_resnet<BasicBlock>({3, 4, 6, 3}, options); }
ResNet resnet50(const ResNetOptions& options) { return make_resnet<Bottleneck>({3, 4, 6, 3}, options); }
ResNet resnet101(const ResNetOptions& options) { return make_resnet<Bottleneck>({3, 4, 23, 3}, options); }
ResNet resnet152(const ResNetOptions& options) { return make_resnet<Bottleneck>({3, 8, 36, 3}, options); }

nn::Sequential d2l_resnet18(int64_t num_classes, int64_t in_channels) {
  nn::Sequential net(nn::Conv2d(in_channels, 64, 3, {.padding = 1}), nn::BatchNorm2d(64), nn::ReLU());
  int64_t in = 64;
  for (const int64_t out : {64, 128, 256, 512}) {
    const bool changes = out != in;
    net.push_back(nn::Sequential(Residual(in, out, changes ? 2 : 1, changes), Residual(out, out, 1, false)));
    in = out;
  }
  net.push_back(nn::AdaptiveAvgPool2d(1));
  net.push_back(nn::Flatten());
  net.push_back(nn::Linear(512, num_classes));
  return net;
}

}  // namespace tandem::models
