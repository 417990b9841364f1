// Residual networks. He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition".
#pragma once

#include <cstdint>

#include "nn/any_module.h"
#include "nn/batch_norm.h"
#include "nn/convolution.h"
#include "nn/sequential.h"

namespace tandem::models {

/// Two 3x3 convolutions beside a shortcut: (n, in, h, w) to (n, planes, h / stride, w / stride). As torchvision's BasicBlock.
struct BasicBlock : nn::Module {
  static constexpr int64_t kExpansion = 1;
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential downsample;  // of the shortcut; empty where sizes stay

  BasicBlock(int64_t in_planes, int64_t planes, int64_t stride = 1);
  void fields(nn::Fields& f) override;
  void settings(nn::Settings& s) override;
  Tensor forward(const Tensor& x) override;
};

/// 1x1, 3x3 and 1x1 convolutions beside a shortcut; the stride is in the 3x3. As torchvision's Bottleneck.
struct Bottleneck : nn::Module {
  static constexpr int64_t kExpansion = 4;
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Conv2d conv3;
  nn::BatchNorm2d bn3;
  nn::Sequential downsample;

  Bottleneck(int64_t in_planes, int64_t planes, int64_t stride = 1);
  void fields(nn::Fields& f) override;
  void settings(nn::Settings& s) override;
  Tensor forward(const Tensor& x) override;
};

struct ResNetOptions {
  int64_t num_classes = 1000;  // 0: no last layer; it gives features
  int64_t in_channels = 3;
};

/// (n, in_channels, h, w) to (n, num_classes), or to (n, 512 or 2048) features. Names of its parts and first values as torchvision's.
struct ResNet : nn::Module {
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Sequential layer1, layer2, layer3, layer4;
  nn::AnyModule fc;  // a Linear, or an Identity

  void fields(nn::Fields& f) override;
  void settings(nn::Settings& s) override;
  Tensor forward(const Tensor& x) override;

  explicit ResNet(nn::detail::Blank);

 private:
  template <class Block>
  friend ResNet make_resnet(const int64_t (&blocks)[4], const ResNetOptions& options);
  explicit ResNet(int64_t in_channels);
};

/// He et al., "Deep Residual Learning for Image Recognition", with that many layers. As torchvision.models.
[[nodiscard]] ResNet resnet18(const ResNetOptions& options = {});
[[nodiscard]] ResNet resnet34(const ResNetOptions& options = {});
[[nodiscard]] ResNet resnet50(const ResNetOptions& options = {});
[[nodiscard]] ResNet resnet101(const ResNetOptions& options = {});
[[nodiscard]] ResNet resnet152(const ResNetOptions& options = {});

/// The ResNet-18 of "Dive into Deep Learning" for small pictures: a 3x3 stem without pooling, convolutions with biases, shortcuts without
/// normalization. (n, in_channels, h, w) to (n, num_classes).
[[nodiscard]] nn::Sequential d2l_resnet18(int64_t num_classes = 10, int64_t in_channels = 1);

}  // namespace tandem::models
