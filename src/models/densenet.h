// Densely connected networks. Huang, Liu, van der Maaten and Weinberger, "Densely Connected Convolutional Networks".
#pragma once

#include <array>
#include <cstdint>

#include "nn/containers.h"
#include "nn/linear.h"

namespace tandem::models {

struct DenseNetOptions {
  int64_t num_classes = 1000;
  int64_t in_channels = 3;
  int64_t growth_rate = 32;
  std::array<int64_t, 4> block_config = {6, 12, 24, 16};
  int64_t num_init_features = 64;
  int64_t bn_size = 4;  // how many times growth_rate the 1x1 convolutions give
};

/// (n, in_channels, h, w) to (n, num_classes). Names of its parts and first values as torchvision's.
struct DenseNet : nn::Module {
  nn::ModuleDict features;
  nn::Linear classifier;

  explicit DenseNet(nn::detail::Blank) : classifier(1, 1) {}
  explicit DenseNet(const DenseNetOptions& options = {});
  void fields(nn::Fields& f) override;
  void settings(nn::Settings&) override {}
  Tensor forward(const Tensor& x) override;
};

/// DenseNet with blocks of 6, 12, 24 and 16 layers.
[[nodiscard]] DenseNet densenet121(int64_t num_classes = 1000);

}  // namespace tandem::models
