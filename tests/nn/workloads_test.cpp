// The networks that the project is measured on, built from its layers: parameter counts, products of a run, and the names of torchvision's
// state dictionaries.
#include "nn/support.h"

namespace tandem::testing {
namespace {

/// 1x1, 3x3, 1x1, the stride in the middle, and the input added.
struct Bottleneck : nn::Module {
  nn::Conv2d conv1, conv2, conv3;
  nn::BatchNorm2d bn1, bn2, bn3;
  nn::Sequential downsample;  // empty where the input fits as it is

  Bottleneck(int64_t in, int64_t width, int64_t stride)
      : conv1(in, width, 1, {.bias = false}),
        conv2(width, width, 3, {.stride = stride, .padding = 1, .bias = false}),
        conv3(width, 4 * width, 1, {.bias = false}),
        bn1(width),
        bn2(width),
        bn3(4 * width) {
    if (stride != 1 || in != 4 * width) {
      downsample.push_back(nn::Conv2d(in, 4 * width, 1, {.stride = stride, .bias = false}));
      downsample.push_back(nn::BatchNorm2d(4 * width));
    }
  }
  void fields(nn::Fields& f) override {
    f("conv1", conv1);
    f("bn1", bn1);
    f("conv2", conv2);
    f("bn2", bn2);
    f("conv3", conv3);
    f("bn3", bn3);
    if (downsample.size()) f("downsample", downsample);
  }
  Tensor forward(const Tensor& x) override {
    const Tensor y = bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x))))))));
    return relu(y + downsample(x));
  }
};

/// ResNet-50 without its last layer: 2048 features.
struct ResNet50 : nn::Module {
  nn::Conv2d conv1{3, 64, 7, {.stride = 2, .padding = 3, .bias = false}};
  nn::BatchNorm2d bn1{64};
  nn::MaxPool2d maxpool{3, {.stride = 2, .padding = 1}};
  nn::Sequential layer1 = layer(64, 64, 3, 1), layer2 = layer(256, 128, 4, 2), layer3 = layer(512, 256, 6, 2),
                 layer4 = layer(1024, 512, 3, 2);
  nn::AdaptiveAvgPool2d avgpool{1};

  static nn::Sequential layer(int64_t in, int64_t width, int blocks, int64_t stride) {
    nn::Sequential all(Bottleneck(in, width, stride));
    for (int i = 1; i < blocks; ++i) all.push_back(Bottleneck(4 * width, width, 1));
    return all;
  }
  void fields(nn::Fields& f) override {
    f("conv1", conv1);
    f("bn1", bn1);
    f("maxpool", maxpool);
    f("layer1", layer1);
    f("layer2", layer2);
    f("layer3", layer3);
    f("layer4", layer4);
    f("avgpool", avgpool);
  }
  Tensor forward(const Tensor& x) override { return flatten(avgpool(layer4(layer3(layer2(layer1(maxpool(relu(bn1(conv1(x))))))))), 1); }
};

TEST(Workloads, ResNet50) {
  ResNet50 net;
  EXPECT_EQ(net.num_parameters(), 23508032);
  const StateDict state = net.state_dict();
  EXPECT_EQ(state.size(), 318u);  // torchvision's 320 without fc.weight and fc.bias
  EXPECT_TRUE(state.contains("layer1.0.downsample.1.num_batches_tracked") && state.contains("layer4.2.bn3.running_var"));
  const nn::Summary summary = nn::summary(net, zeros({1, 3, 224, 224}));
  EXPECT_EQ(summary.layers[0].output, (Shape{1, 2048}));
  EXPECT_NEAR(static_cast<double>(summary.multiply_adds), 4.087e9, 1e6);
}

struct DenseLayer : nn::Module {
  nn::BatchNorm2d norm1, norm2;
  nn::Conv2d conv1, conv2;

  explicit DenseLayer(int64_t in)
      : norm1(in), norm2(128), conv1(in, 128, 1, {.bias = false}), conv2(128, 32, 3, {.padding = 1, .bias = false}) {}
  void fields(nn::Fields& f) override {
    f("norm1", norm1);
    f("conv1", conv1);
    f("norm2", norm2);
    f("conv2", conv2);
  }
  Tensor forward(const Tensor& x) override { return cat({x, conv2(relu(norm2(conv1(relu(norm1(x))))))}, 1); }
};

TEST(Workloads, DenseNet121) {
  nn::Sequential net(nn::Conv2d(3, 64, 7, {.stride = 2, .padding = 3, .bias = false}), nn::BatchNorm2d(64), nn::ReLU(),
                     nn::MaxPool2d(3, {.stride = 2, .padding = 1}));
  int64_t channels = 64;
  for (const int layers : {6, 12, 24, 16}) {
    for (int i = 0; i < layers; ++i, channels += 32) net.push_back(DenseLayer(channels));
    net.push_back(nn::BatchNorm2d(channels));
    net.push_back(nn::ReLU());
    if (layers == 16) break;
    net.push_back(nn::Conv2d(channels, channels / 2, 1, {.bias = false}));
    net.push_back(nn::AvgPool2d(2));
    channels /= 2;
  }
  net.push_back(nn::AdaptiveAvgPool2d(1));
  net.push_back(nn::Flatten());
  net.push_back(nn::Linear(1024, 14));
  EXPECT_EQ(channels, 1024);
  EXPECT_EQ(net.num_parameters(), 6968206);
  const nn::Summary summary = nn::summary(net, zeros({1, 3, 224, 224}));
  EXPECT_EQ(summary.layers[0].output, (Shape{1, 14}));
  EXPECT_NEAR(static_cast<double>(summary.multiply_adds), 2.833e9, 2e6);
}

/// d2l's: biases in the convolutions, a 1x1 one where the size changes.
struct Residual : nn::Module {
  nn::LazyConv2d conv1, conv2;
  nn::LazyBatchNorm2d bn1, bn2;
  nn::Sequential conv3;

  Residual(int64_t channels, int64_t stride) : conv1(channels, 3, {.stride = stride, .padding = 1}), conv2(channels, 3, {.padding = 1}) {
    if (stride != 1) conv3.push_back(nn::LazyConv2d(channels, 1, {.stride = stride}));
  }
  void fields(nn::Fields& f) override {
    f("conv1", conv1);
    f("bn1", bn1);
    f("conv2", conv2);
    f("bn2", bn2);
    f("conv3", conv3);
  }
  Tensor forward(const Tensor& x) override { return relu(bn2(conv2(relu(bn1(conv1(x))))) + conv3(x)); }
};

TEST(Workloads, ResNet18OfD2l) {
  nn::Sequential net(nn::LazyConv2d(64, 3, {.padding = 1}), nn::LazyBatchNorm2d(), nn::ReLU());
  for (const int64_t channels : {64, 128, 256, 512}) {
    net.push_back(Residual(channels, channels == 64 ? 1 : 2));
    net.push_back(Residual(channels, 1));
  }
  net.push_back(nn::AdaptiveAvgPool2d(1));
  net.push_back(nn::Flatten());
  net.push_back(nn::LazyLinear(10));
  nn::initialize(net, zeros({1, 1, 28, 28}));
  EXPECT_EQ(net.num_parameters(), 11175818);
}

TEST(Workloads, CnnOnCifar) {
  nn::Sequential net(nn::Conv2d(3, 50, 3, {.padding = 1}), nn::ReLU(), nn::Conv2d(50, 50, 3, {.padding = 1}), nn::MaxPool2d(2), nn::ReLU(),
                     nn::Dropout(0.25), nn::Conv2d(50, 100, 3, {.padding = 1}), nn::ReLU(), nn::Conv2d(100, 100, 3, {.padding = 1}),
                     nn::MaxPool2d(2), nn::ReLU(), nn::Dropout(0.25), nn::Flatten(), nn::Linear(6400, 512), nn::ReLU(), nn::Dropout(0.5),
                     nn::Linear(512, 10));
  EXPECT_EQ(net.num_parameters(), 3441592);
  const nn::Summary summary = nn::summary(net, zeros({1, 3, 32, 32}));
  EXPECT_NEAR(static_cast<double>(summary.multiply_adds), 62.26e6, 0.01e6);
}

}  // namespace
}  // namespace tandem::testing
