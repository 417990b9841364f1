#include "models/small.h"

#include "base/error.h"
#include "nn/activation.h"
#include "nn/convolution.h"
#include "nn/dropout.h"
#include "nn/init.h"
#include "nn/layers.h"
#include "nn/pooling.h"

namespace tandem::models {

nn::Sequential mlp(const std::vector<int64_t>& sizes, Site /*site*/) {
  if (sizes.size() < 2) fail("[mlp] sizes must have at least an input's and an output's, but has ", sizes.size());
  nn::Sequential net;
  net.push_back(nn::Flatten());
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    if (i > 0) net.push_back(nn::ReLU());
    net.push_back(nn::Linear(sizes[i], sizes[i + 1]));
  }
  return net;
}

nn::Sequential digits_cnn() {
  return nn::Sequential(nn::Conv2d(1, 16, 3, {.padding = 1}), nn::ReLU(), nn::Conv2d(16, 32, 3, {.padding = 1}), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Flatten(), nn::Dropout(0.25), nn::Linear(512, 64), nn::ReLU(), nn::Linear(64, 10));
}

nn::Sequential mnist_cnn() {
  return nn::Sequential(nn::Conv2d(1, 32, 3), nn::ReLU(), nn::Conv2d(32, 64, 3), nn::ReLU(), nn::MaxPool2d(2), nn::Dropout(0.25),
                        nn::Flatten(), nn::Linear(9216, 128), nn::ReLU(), nn::Dropout(0.5), nn::Linear(128, 10));
}

nn::Sequential d2l_lenet() {
  nn::Sequential net(nn::Conv2d(1, 20, 3), nn::ReLU(), nn::AvgPool2d(2), nn::Conv2d(20, 50, 5), nn::ReLU(), nn::AvgPool2d(2), nn::Flatten(),
                     nn::Linear(800, 128), nn::ReLU(), nn::Linear(128, 10));
  for (const auto& [name, parameter] : net.named_parameters()) {
    if (name.ends_with("bias")) nn::init::zeros_(parameter);
    else nn::init::normal_(parameter, 0, 0.01);
  }
  return net;
}

nn::Sequential cifar_cnn() {
  return nn::Sequential(nn::Conv2d(3, 50, 3, {.padding = 1}), nn::ReLU(), nn::Conv2d(50, 50, 3, {.padding = 1}), nn::MaxPool2d(2),
                        nn::ReLU(), nn::Dropout(0.25), nn::Conv2d(50, 100, 3, {.padding = 1}), nn::ReLU(),
                        nn::Conv2d(100, 100, 3, {.padding = 1}), nn::MaxPool2d(2), nn::ReLU(), nn::Dropout(0.25), nn::Flatten(),
                        nn::Linear(6400, 512), nn::ReLU(), nn::Dropout(0.5), nn::Linear(512, 10));
}

TextGru::TextGru(const TextGruOptions& options)
    : embedding(options.vocabulary, options.embedding),
      gru(options.embedding, options.hidden, {.batch_first = true}),
      output(options.hidden, options.num_classes) {
  for (const auto& parameter : gru.parameters()) nn::init::uniform_(parameter, -0.1, 0.1);
}

void TextGru::fields(nn::Fields& f) {
  f("embedding", embedding);
  f("gru", gru);
  f("output", output);
}

Tensor TextGru::forward(const Tensor& tokens) {
  const auto result = gru(embedding(tokens));
  return output(result.output.select(1, -1));
}

}  // namespace tandem::models
