#include "models/densenet.h"

#include "nn/batch_norm.h"
#include "nn/containers.h"
#include "nn/convolution.h"
#include "nn/init.h"
#include "nn/layers.h"
#include "ops/join.h"
#include "ops/pointwise.h"
#include "ops/pooling.h"
#include "ops/view.h"

namespace tandem::models {
namespace {

/// Its input with `growth` channels more.
struct DenseLayer : nn::Module {
  nn::BatchNorm2d norm1;
  nn::Conv2d conv1;
  nn::BatchNorm2d norm2;
  nn::Conv2d conv2;

  DenseLayer(int64_t in, int64_t growth, int64_t bottleneck)
      : norm1(in),
        conv1(in, bottleneck, 1, {.bias = false}),
        norm2(bottleneck),
        conv2(bottleneck, growth, 3, {.padding = 1, .bias = false}) {}
  void fields(nn::Fields& f) override {
    f("norm1", norm1);
    f("conv1", conv1);
    f("norm2", norm2);
    f("conv2", conv2);
  }
  void settings(nn::Settings&) override {}
  Tensor forward(const Tensor& x) override { return cat(std::vector{x, conv2(relu(norm2(conv1(relu(norm1(x))))))}, 1); }
};

struct Transition : nn::Module {
  nn::BatchNorm2d norm;
  nn::Conv2d conv;

  Transition(int64_t in, int64_t out) : norm(in), conv(in, out, 1, {.bias = false}) {}
  void fields(nn::Fields& f) override {
    f("norm", norm);
    f("conv", conv);
  }
  void settings(nn::Settings&) override {}
  Tensor forward(const Tensor& x) override { return avg_pool2d(conv(relu(norm(x))), 2); }
};

struct DenseBlock : nn::Module {
  nn::ModuleDict layers;

  void fields(nn::Fields& f) override { layers.fields(f); }
  void settings(nn::Settings& s) override { layers.settings(s); }
  Tensor forward(const Tensor& x) override {
    Tensor all = x;
    for (const auto& [name, layer] : layers.items()) all = (*layer)(all);
    return all;
  }
};

}  // namespace

DenseNet::DenseNet(const DenseNetOptions& options) : classifier(1, 1) {
  const auto& o = options;
  features.insert("conv0", nn::Conv2d(o.in_channels, o.num_init_features, 7, {.stride = 2, .padding = 3, .bias = false}));
  features.insert("norm0", nn::BatchNorm2d(o.num_init_features));
  int64_t channels = o.num_init_features;
  for (size_t i = 0; i < o.block_config.size(); ++i) {
    DenseBlock block;
    for (int64_t layer = 0; layer < o.block_config[i]; ++layer) {
      block.layers.insert(str("denselayer", layer + 1), DenseLayer(channels, o.growth_rate, o.bn_size * o.growth_rate));
      channels += o.growth_rate;
    }
    features.insert(str("denseblock", i + 1), std::move(block));
    if (i + 1 == o.block_config.size()) break;
    features.insert(str("transition", i + 1), Transition(channels, channels / 2));
    channels /= 2;
  }
  features.insert("norm5", nn::BatchNorm2d(channels));
  classifier = nn::Linear(channels, o.num_classes);
  nn::init::constant_(classifier.bias, 0);
  apply([](nn::Module& module) {
    if (auto* conv = dynamic_cast<nn::Conv2d*>(&module)) nn::init::kaiming_normal_(conv->weight);
  });
}

void DenseNet::fields(nn::Fields& f) {
  f("features", features);
  f("classifier", classifier);
}

Tensor DenseNet::forward(const Tensor& x) {
  Tensor y = x;
  for (const auto& [name, part] : features.items()) {
    y = (*part)(y);
    if (name == "norm0") y = max_pool2d(relu(y), 3, {.stride = 2, .padding = 1});
  }
  return classifier(flatten(adaptive_avg_pool2d(relu(y), 1), 1));
}

DenseNet densenet121(int64_t num_classes) { return DenseNet({.num_classes = num_classes}); }

}  // namespace tandem::models
