// Layers: values against plain loops, gradients, texts of errors.
#include "nn/support.h"

namespace tandem::testing {
namespace {

class LayersOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, LayersOn, every_device(), device_name);

std::vector<double> affine(const std::vector<double>& x, const std::vector<double>& w, const std::vector<double>& b, size_t n, size_t in,
                           size_t out) {
  std::vector<double> y(n * out);
  for (size_t i = 0; i < n; ++i) {
    for (size_t o = 0; o < out; ++o) {
      y[i * out + o] = b.empty() ? 0 : b[o];
      for (size_t k = 0; k < in; ++k) y[i * out + o] += x[i * in + k] * w[o * in + k];
    }
  }
  return y;
}

TEST_P(LayersOn, LinearIsAffine) {
  for (const bool bias : {true, false}) {
    nn::Linear layer(5, 3, {.bias = bias});
    layer.to(device());
    EXPECT_EQ(layer.bias.defined(), bias);
    const Tensor x = randn({4, 5}, device());
    const Tensor y = layer(x);
    expect_near(y, affine(values(x), values(layer.weight), bias ? values(layer.bias) : std::vector<double>(), 4, 5, 3), 1e-5);
    y.sum().backward();
    std::vector<double> columns(5);  // d sum / d weight[o][k] = sum over the batch of x[i][k]
    for (size_t i = 0; i < 20; ++i) columns[i % 5] += values(x)[i];
    std::vector<double> expected;
    for (int o = 0; o < 3; ++o) expected.insert(expected.end(), columns.begin(), columns.end());
    expect_near(layer.weight.grad(), expected, 1e-5);
    if (bias) expect_near(layer.bias.grad(), {4, 4, 4});
  }
}

TEST_P(LayersOn, LinearTakesAnyLeadingDimensions) {
  nn::Linear layer(5, 3);
  layer.to(device());
  EXPECT_EQ(layer(randn({2, 4, 5}, device())).sizes(), (Shape{2, 4, 3}));
  EXPECT_EQ(layer(randn({5}, device())).sizes(), (Shape{3}));
}

TEST(Linear, StartsWithinItsBound) {
  manual_seed(3);
  const nn::Linear layer(100, 50);
  double largest = 0, mean = 0;
  for (const double w : values(layer.weight)) largest = std::max(largest, std::abs(w)), mean += w / 5000;
  EXPECT_LE(largest, 0.1);
  EXPECT_GT(largest, 0.099);
  EXPECT_NEAR(mean, 0, 0.004);
  for (const double b : values(layer.bias)) EXPECT_LE(std::abs(b), 0.1);
  manual_seed(3);
  EXPECT_EQ(values(nn::Linear(100, 50).weight), values(layer.weight));
}

TEST_P(LayersOn, LazyLinearLearnsItsInputs) {
  nn::Sequential net(nn::LazyLinear(1));
  EXPECT_FALSE(net.at<nn::LazyLinear>(0).weight.defined());
  EXPECT_TRUE(net.has_uninitialized_params());
  EXPECT_NE(error_of([&] { (void)net.parameters(); }).find("has no values yet"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)net.named_parameters(); }).find("'0.weight' (of LazyLinear) has no values yet"), std::string::npos);
  net.to(device());
  const Tensor y = net(ones({2, 3}, device()));
  EXPECT_EQ(y.device(), device());
  EXPECT_EQ(net.at<nn::LazyLinear>(0).weight.sizes(), (Shape{1, 3}));
  EXPECT_EQ(net.at<nn::LazyLinear>(0).weight.device(), device());
  EXPECT_FALSE(net.has_uninitialized_params());
  EXPECT_STREQ(y.grad_fn()->name(), "AddmmBackward0");
  for (const Tensor& parameter : net.parameters()) EXPECT_TRUE(parameter.is_leaf() && parameter.requires_grad());
  if (device().is_cuda()) {
    EXPECT_NE(error_of([&] { (void)net(ones({2, 3})); }).find("same device"), std::string::npos);
  }
}

TEST_P(LayersOn, InitializeRunsOneSampleWithoutATrace) {
  nn::Sequential net(nn::LazyLinear(4), nn::ReLU(), nn::Dropout(0.5), nn::LazyLinear(2));
  net.to(device());
  net.at(2).eval();
  const GeneratorState before = get_rng_state(device());
  nn::initialize(net, randn({8, 3}).to(device()));
  EXPECT_EQ(net.parameters().size(), 4u);
  EXPECT_TRUE(net.training() && !net.at(2).training());
  EXPECT_EQ(net.at<nn::LazyLinear>(3).in_features(), 4);
  const GeneratorState after = get_rng_state(device());
  nn::initialize(net, ones({8, 3}, device()));
  EXPECT_EQ(get_rng_state(device()), after);
  EXPECT_FALSE(after == before);
}

TEST_P(LayersOn, SequentialFusesLinearAndRelu) {
  nn::Sequential net(nn::Linear(5, 7), nn::ReLU(), nn::Linear(7, 3));
  net.to(device());
  const Tensor x = randn({6, 5}, device());
  const Tensor y = net(x);
  const auto& first = net.at<nn::Linear>(0);
  auto& last = net.at<nn::Linear>(2);
  std::vector<double> hidden = affine(values(x), values(first.weight), values(first.bias), 6, 5, 7);
  for (double& h : hidden) h = std::max(h, 0.0);
  expect_near(y, affine(hidden, values(last.weight), values(last.bias), 6, 7, 3), 1e-5);
  (y * y).sum().backward();
  const Tensor fused = first.weight.grad().clone();
  net.zero_grad();
  const Tensor plain = last(net.at(1)(net.at(0)(x)));
  (plain * plain).sum().backward();
  EXPECT_TRUE(allclose(fused, first.weight.grad(), 1e-5, 1e-6));
}

TEST_P(LayersOn, SequentialFusesLinearAndGeluWhereNoGradientIsRecorded) {
  for (const char* approximate : {"tanh", "none"}) {
    SCOPED_TRACE(approximate);
    nn::Sequential net(nn::Linear(5, 7), nn::GELU(approximate), nn::Linear(7, 3));
    net.to(device());
    const Tensor x = randn({6, 5}, device());
    const Tensor plain = net.at(2)(gelu(net.at(0)(x), approximate));
    const Tensor recorded = net(x);
    EXPECT_TRUE(allclose(recorded, plain, 1e-5, 1e-6));
    const NoGradGuard no_grad;
    EXPECT_TRUE(allclose(net(x), plain, 1e-5, 1e-6));
  }
  EXPECT_FALSE(nn::Sequential(nn::Linear(5, 7), nn::GELU("tanh")).runs_with_next(0));  // a gradient wants what lies between
  EXPECT_TRUE(nn::Sequential(nn::Linear(5, 7), nn::ReLU()).runs_with_next(0));
}

TEST(Sequential, HoldsItsChildrenByValue) {
  nn::Linear layer(2, 2);
  nn::Sequential net(layer, nn::Tanh());
  EXPECT_TRUE(net.at<nn::Linear>(0).weight.is_same(layer.weight));
  net.push_back(nn::Linear(2, 1));
  EXPECT_EQ(net.size(), 3u);
  nn::Sequential copy = net;
  copy.push_back(nn::ReLU());
  EXPECT_EQ(net.size(), 3u);
  EXPECT_TRUE(copy.at<nn::Linear>(-2).weight.is_same(net.at<nn::Linear>(2).weight));
  EXPECT_EQ(error_of<IndexError>([&] { (void)net.at(3); }),
            "[Sequential.at] index 3 is out of range: there are 3 modules; count from 0, or from the end with -1");
  EXPECT_EQ(error_of([&] { (void)net.at<nn::ReLU>(0); }), "[Sequential.at] child 0 is a Linear, not of the type asked for");
  const Tensor x = ones({1, 2});
  EXPECT_TRUE(nn::Sequential()(x).is_same(x));
}

TEST_P(LayersOn, Activations) {
  const Tensor x = tensor({-1.0, 0.0, 2.0}).to(device());
  expect_near(nn::ReLU()(x), {0, 0, 2});
  expect_near(nn::Tanh()(x), {std::tanh(-1.0), 0, std::tanh(2.0)});
  expect_near(nn::Sigmoid()(x), {1 / (1 + std::exp(1.0)), 0.5, 1 / (1 + std::exp(-2.0))});
  const double sum = std::exp(-1.0) + 1 + std::exp(2.0);
  expect_near(nn::Softmax(0)(x), {std::exp(-1.0) / sum, 1 / sum, std::exp(2.0) / sum});
  expect_near(nn::LogSoftmax(-1)(x), {-1 - std::log(sum), -std::log(sum), 2 - std::log(sum)});
}

TEST_P(LayersOn, SoftmaxChoosesADimension) {
  const Shape sizes[] = {{}, {4}, {3, 4}, {2, 3, 4}, {2, 3, 4, 2}};
  const int64_t chosen[] = {0, 0, 1, 0, 1};  // as PyTorch's
  for (size_t i = 0; i < std::size(sizes); ++i) {
    const Tensor x = randn(sizes[i], device());
    EXPECT_TRUE(equal(nn::Softmax()(x), nn::Softmax(chosen[i])(x))) << sizes[i].size();
    EXPECT_TRUE(equal(nn::Softmin()(x), nn::Softmin(chosen[i])(x))) << sizes[i].size();
    EXPECT_TRUE(equal(nn::LogSoftmax()(x), nn::LogSoftmax(chosen[i])(x))) << sizes[i].size();
  }
}

TEST_P(LayersOn, DropoutInTrainingOnly) {
  nn::Dropout layer(0.25);
  const Tensor x = ones({1000}, device());
  size_t dropped = 0;
  for (const double y : values(layer(x))) {
    if (y == 0) ++dropped;
    else EXPECT_NEAR(y, 1 / 0.75, 1e-6);
  }
  EXPECT_GT(dropped, 180u);
  EXPECT_LT(dropped, 320u);
  layer.eval();
  EXPECT_EQ(values(layer(x)), values(x));
  EXPECT_EQ(error_of([] { nn::Dropout too_much(1.5); }),
            "[Dropout] dropout probability has to be between 0 and 1, but got 1.5: it is the share of elements to drop, such as 0.5");
}

TEST_P(LayersOn, FlattenAndIdentity) {
  const Tensor x = randn({2, 3, 4}, device());
  EXPECT_EQ(nn::Flatten()(x).sizes(), (Shape{2, 12}));
  EXPECT_EQ(nn::Flatten(0, 1)(x).sizes(), (Shape{6, 4}));
  EXPECT_TRUE(nn::Identity()(x).is_same(x));
}

TEST_P(LayersOn, EmbeddingLooksUpRows) {
  nn::Embedding table(4, 3, {.padding_idx = 2});
  table.to(device());
  const Tensor indices = tensor({{0, 2}, {3, 3}}).to(device());
  const Tensor y = table(indices);
  EXPECT_EQ(y.sizes(), (Shape{2, 2, 3}));
  const std::vector<double> w = values(table.weight);
  std::vector<double> expected;
  for (const size_t row : {0, 2, 3, 3})
    expected.insert(expected.end(), w.begin() + static_cast<long>(row * 3), w.begin() + static_cast<long>(row * 3 + 3));
  expect_near(y, expected);
  for (size_t i = 6; i < 9; ++i) EXPECT_EQ(w[i], 0);
  y.sum().backward();
  expect_near(table.weight.grad(), {1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 2});
  EXPECT_EQ(error_of([] { nn::Embedding bad(4, 3, {.padding_idx = 4}); }),
            "[Embedding] padding_idx must be within num_embeddings, 4, but is 4");
}

TEST_P(LayersOn, Losses) {
  const Tensor logits = tensor({{1.0, 2.0, 0.5}, {0.0, -1.0, 3.0}}).to(device());
  const Tensor labels = tensor({1, 2}).to(device());
  const double a = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(0.5)) - 2, b = std::log(1 + std::exp(-1.0) + std::exp(3.0)) - 3;
  expect_near(nn::CrossEntropyLoss()(logits, labels), {(a + b) / 2});
  expect_near(nn::CrossEntropyLoss({.reduction = Reduction::Sum})(logits, labels), {a + b}, 1e-5);
  nn::CrossEntropyLoss weighted({.weight = tensor({1.0, 1.0, 3.0})});
  weighted.to(device());
  expect_near(weighted(logits, labels), {(a + 3 * b) / 4});
  EXPECT_EQ(weighted.state_dict().keys(), (std::vector<std::string>{"weight"}));
  expect_near(nn::MSELoss()(tensor({1.0, 2.0}).to(device()), tensor({0.0, 4.0}).to(device())), {2.5});
  expect_near(nn::MSELoss({.reduction = Reduction::None})(tensor({1.0, 2.0}), tensor({0.0, 4.0})), {1, 4});
}

}  // namespace
}  // namespace tandem::testing
