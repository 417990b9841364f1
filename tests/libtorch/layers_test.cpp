// libtorch's layers: first values and results of tandem's own, members, texts, copies, and the lines that errors name.
#include "libtorch/layers.h"

#include <cmath>
#include <sstream>

#include "nn/nn.h"
#include "ops/linalg/norms.h"
#include "support/on_device.h"
#include "tandem.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;

class LayersOn : public OnDevice {
 protected:
  void SetUp() override { tandem::manual_seed(1); }
};
INSTANTIATE_TEST_SUITE_P(Devices, LayersOn, testing::Values("cpu", "cuda:0"), device_name);

void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_TRUE(tandem::allclose(a, b, 1e-4, 1e-5)) << a << "\n" << b;
}

/// A layer of libtorch's and tandem's own, made from the same random numbers, give the same.
template <class Holder, class Own, class... Inputs>
void expect_twins(tandem::Device device, const typename std::decay_t<decltype(Holder(nullptr)->options)>& options, Own (*make)(),
                  const Inputs&... inputs) {
  tandem::manual_seed(7);
  Holder layer(options);
  tandem::manual_seed(7);
  Own own = make();
  layer->to(device);
  own.to(device);
  const auto theirs = layer->parameters();
  const auto ours = own.parameters();
  ASSERT_EQ(theirs.size(), ours.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_TRUE(tandem::equal(theirs[i], ours[i]));
  expect_close(layer->forward(inputs.to(device)...), own(inputs.to(device)...));
  layer->eval();
  own.eval();
  expect_close(layer(inputs.to(device)...), own(inputs.to(device)...));
}

TEST_P(LayersOn, StartAndComputeAsTandemsOwn) {
  using tandem::randn;
  expect_twins<nn::Linear>(
      device(), {4, 3}, +[] { return tandem::nn::Linear(4, 3); }, randn({2, 4}));
  expect_twins<nn::Linear>(
      device(), nn::LinearOptions(4, 3).bias(false), +[] { return tandem::nn::Linear(4, 3, {.bias = false}); }, randn({2, 4}));
  expect_twins<nn::Bilinear>(
      device(), {4, 5, 3}, +[] { return tandem::nn::Bilinear(4, 5, 3); }, randn({2, 4}), randn({2, 5}));
  expect_twins<nn::BatchNorm2d>(
      device(), {3}, +[] { return tandem::nn::BatchNorm2d(3); }, randn({2, 3, 4, 4}));
  expect_twins<nn::BatchNorm1d>(
      device(), nn::BatchNormOptions(3).momentum(std::nullopt).affine(false),
      +[] { return tandem::nn::BatchNorm1d(3, {.momentum = std::nullopt, .affine = false}); }, randn({5, 3}));
  expect_twins<nn::InstanceNorm1d>(
      device(), nn::InstanceNormOptions(3).affine(true).track_running_stats(true),
      +[] { return tandem::nn::InstanceNorm1d(3, {.affine = true, .track_running_stats = true}); }, randn({2, 3, 8}));
  expect_twins<nn::LayerNorm>(
      device(), std::vector<int64_t>{3, 4},
      +[] {
        return tandem::nn::LayerNorm({3, 4});
      },
      randn({2, 3, 4}));
  expect_twins<nn::GroupNorm>(
      device(), {2, 4}, +[] { return tandem::nn::GroupNorm(2, 4); }, randn({2, 4, 5}));
  expect_twins<nn::Embedding>(
      device(), nn::EmbeddingOptions(6, 3).padding_idx(-1), +[] { return tandem::nn::Embedding(6, 3, {.padding_idx = -1}); },
      tandem::arange(6));
  expect_twins<nn::PReLU>(
      device(), nn::PReLUOptions().num_parameters(3).init(0.5), +[] { return tandem::nn::PReLU(3, 0.5); }, randn({2, 3, 4}));
}

TEST_P(LayersOn, ConvolutionsPadLikeTandems) {
  const Tensor x = tandem::randn({2, 4, 7, 6}).to(device());
  const auto twins = [&](const nn::Conv2dOptions& options, const tandem::nn::ConvOptions& own) {
    tandem::manual_seed(3);
    nn::Conv2d layer(options);
    tandem::manual_seed(3);
    tandem::nn::Conv2d twin(4, 6, 3, own);
    layer->to(device());
    twin.to(device());
    expect_close(layer(x), twin(x));
  };
  twins(nn::Conv2dOptions(4, 6, 3).stride({2, 1}).padding({1, 0}).dilation(2).groups(2),
        {.stride = {2, 1}, .padding = {1, 0}, .dilation = 2, .groups = 2});
  twins(nn::Conv2dOptions(4, 6, 3).padding(torch::kSame).bias(false), {.padding = "same", .bias = false});
  twins(nn::Conv2dOptions(4, 6, 3).padding(torch::kValid), {.padding = "valid"});
  twins(nn::Conv2dOptions(4, 6, 3).padding({1, 2}).padding_mode(torch::kCircular), {.padding = {1, 2}, .padding_mode = "circular"});
  twins(nn::Conv2dOptions(4, 6, 3).padding(torch::kSame).padding_mode(torch::kReflect), {.padding = "same", .padding_mode = "reflect"});
}

TEST_P(LayersOn, TransposedConvolutionsLeadToTheSizeAskedFor) {
  nn::ConvTranspose1d layer(nn::ConvTranspose1dOptions(2, 3, 3).stride(2).padding(1));
  layer->to(device());
  const Tensor x = tandem::randn({1, 2, 5}).to(device());
  EXPECT_EQ(layer(x).sizes(), (tandem::Shape{1, 3, 9}));
  EXPECT_EQ(layer->forward(x, torch::IntArrayRef{1, 3, 10}).sizes(), (tandem::Shape{1, 3, 10}));
  EXPECT_EQ(error_of([&] { (void)layer->forward(x, torch::IntArrayRef{11}); }),
            "[ConvTranspose1d] requested an output of size 11 in dimension 0, but valid sizes range from 9 to 10");
}

TEST_P(LayersOn, MembersAreTheParametersAndCanBeAssigned) {
  nn::Linear layer(2, 1);
  layer->to(device());
  EXPECT_EQ(layer->weight.device(), device());
  EXPECT_TRUE(layer->weight.is_same(layer->named_parameters()["weight"]));
  layer->weight = tandem::tensor({{1.0, 2.0}}).to(device());
  layer->bias = tandem::tensor({3.0}).to(device());
  EXPECT_EQ(layer(tandem::ones({2}, {.device = device()})).item<float>(), 6);
  layer->options.bias(false);
  EXPECT_EQ(layer->options.in_features(), 2);
}

TEST_P(LayersOn, CopiesHaveParametersOfTheirOwn) {
  nn::BatchNorm2d norm(3);
  nn::LSTM lstm(2, 3);
  norm->to(device());
  lstm->to(device());
  const auto norm_copy = std::dynamic_pointer_cast<nn::BatchNorm2dImpl>(norm->clone());
  const auto lstm_copy = std::dynamic_pointer_cast<nn::LSTMImpl>(lstm->clone());
  const Tensor x = tandem::randn({4, 1, 2}).to(device());
  expect_close(std::get<0>(lstm_copy->forward(x)), std::get<0>(lstm(x)));
  {
    const tandem::NoGradGuard no_grad;
    norm->weight.fill_(5);
    for (const Tensor& weight : lstm->parameters()) weight.zero_();
  }
  EXPECT_EQ(norm_copy->weight[0].item<float>(), 1);
  EXPECT_GT(tandem::norm(std::get<0>(lstm_copy->forward(x))).item<float>(), 0);
  EXPECT_EQ(tandem::norm(std::get<0>(lstm(x))).item<float>(), 0);
}

TEST_P(LayersOn, PretrainedRowsAreFrozenUnlessAskedFor) {
  const Tensor rows = tandem::tensor({{1.0, 2.0}, {3.0, 4.0}});
  nn::Embedding frozen = nn::Embedding::from_pretrained(rows.clone());  // the tensor itself becomes the parameter
  nn::EmbeddingBag bag =
      nn::EmbeddingBag::from_pretrained(rows.clone(), nn::EmbeddingBagFromPretrainedOptions().freeze(false).mode(torch::kSum));
  frozen->to(device());
  bag->to(device());
  EXPECT_FALSE(frozen->weight.requires_grad());
  EXPECT_TRUE(bag->weight.requires_grad());
  const Tensor both = tandem::tensor({{0, 1}}).to(device());
  EXPECT_TRUE(tandem::equal(frozen(both).cpu(), rows.detach().unsqueeze(0)));
  EXPECT_TRUE(tandem::equal(bag(both).cpu(), tandem::tensor({{4.0, 6.0}})));
  EXPECT_EQ(error_of([] { (void)nn::Embedding::from_pretrained(tandem::ones({3})); }),
            "[Embedding.from_pretrained] Embeddings parameter is expected to be 2-dimensional, got [3]");
}

TEST_P(LayersOn, FractionalPoolingTakesTheWindowsOfItsRandomNumbers) {
  const Tensor x = tandem::arange(25, {.dtype = tandem::kFloat32}).view({1, 1, 5, 5}).to(device());
  nn::FractionalMaxPool2d pool(nn::FractionalMaxPool2dOptions(2).output_size(3)._random_samples(tandem::zeros({1, 1, 2}).to(device())));
  const auto [values, indices] = pool->forward_with_indices(x);
  EXPECT_TRUE(tandem::equal(values.cpu().view({9}), tandem::tensor({6.0, 7.0, 9.0, 11.0, 12.0, 14.0, 21.0, 22.0, 24.0})));
  EXPECT_TRUE(tandem::equal(indices.to(tandem::kFloat32), values));
  EXPECT_EQ(error_of([] { nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2)); }),
            "[FractionalMaxPool2d] requires exactly one of output_size and output_ratio, got neither");
}

TEST_P(LayersOn, CrossMapCountsAnEvenWindowAsOneLess) {
  const Tensor x = tandem::full({1, 3, 1, 1}, 2, {.dtype = tandem::kFloat32}).to(device());
  const Tensor y = nn::CrossMapLRN2d(nn::CrossMapLRN2dOptions(2).alpha(1).beta(1).k(1))(x);
  expect_close(y, tandem::full({1, 3, 1, 1}, 2.0 / 3, {.device = device()}));
}

TEST_P(LayersOn, LossesMoveWithTheirWeights) {
  nn::CrossEntropyLoss loss(nn::CrossEntropyLossOptions().weight(tandem::tensor({1.0, 3.0})).reduction(torch::kSum));
  loss->to(device());
  const Tensor scores = tandem::zeros({2, 2}, {.device = device()}), classes = tandem::tensor({0, 1}).to(device());
  expect_close(loss(scores, classes), tandem::full({}, 4 * std::log(2.0), {.dtype = tandem::kFloat32, .device = device()}));
  EXPECT_EQ(error_of([] { nn::MultiMarginLoss(nn::MultiMarginLossOptions().p(3)); }),
            "[MultiMarginLoss] only p == 1 and p == 2 supported, got 3");
}

TEST_P(LayersOn, AdaptiveSoftmaxAgreesWithItsLogProbabilities) {
  nn::AdaptiveLogSoftmaxWithLoss softmax(nn::AdaptiveLogSoftmaxWithLossOptions(8, 6, {2, 4}).div_value(2));
  softmax->to(device());
  const Tensor x = tandem::randn({6, 8}).to(device()), y = tandem::arange(6).to(device());
  const Tensor all = softmax->log_prob(x);
  expect_close(all.exp().sum(1), tandem::ones({6}, {.device = device()}));
  const auto [output, loss] = softmax(x, y);
  expect_close(output, all.gather(1, y.unsqueeze(1)).squeeze(1));
  EXPECT_NEAR(loss, -output.mean().item<double>(), 1e-6);
  EXPECT_TRUE(tandem::equal(softmax->predict(x), all.argmax(1)));
  output.sum().backward();
  for (const Tensor& parameter : softmax->parameters()) EXPECT_TRUE(parameter.grad().defined());
}

TEST(Layers, PrintAsLibtorch) {
  const auto shown = [](const auto& layer) {
    std::ostringstream out;
    out << layer;
    return out.str();
  };
  EXPECT_EQ(shown(nn::Linear(3, 4)), "torch::nn::Linear(in_features=3, out_features=4, bias=true)");
  EXPECT_EQ(shown(nn::Conv1d(3, 4, 5)), "torch::nn::Conv1d(3, 4, kernel_size=5, stride=1)");
  EXPECT_EQ(shown(nn::Conv2d(nn::Conv2dOptions(4, 6, {5, 6}).padding({1, 2}).groups(2).bias(false).padding_mode(torch::kCircular))),
            "torch::nn::Conv2d(4, 6, kernel_size=[5, 6], stride=[1, 1], padding=[1, 2], groups=2, bias=false, padding_mode=kCircular)");
  EXPECT_EQ(shown(nn::Conv2d(nn::Conv2dOptions(1, 1, 3).padding(torch::kSame))),
            "torch::nn::Conv2d(1, 1, kernel_size=[3, 3], stride=[1, 1], padding='same')");
  EXPECT_EQ(shown(nn::BatchNorm2d(nn::BatchNorm2dOptions(4).momentum(std::nullopt))),
            "torch::nn::BatchNorm2d(4, eps=1e-05, momentum=None, affine=true, track_running_stats=true)");
  EXPECT_EQ(shown(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({3, std::nullopt}))),
            "torch::nn::AdaptiveAvgPool2d(output_size=[3, None])");
  EXPECT_EQ(shown(nn::AdaptiveMaxPool1d(3)), "torch::nn::AdaptiveMaxPool1d(output_size=3)");
  EXPECT_EQ(shown(nn::ELU(nn::ELUOptions().alpha(0.5).inplace(true))), "torch::nn::ELU(alpha=0.5, inplace=true)");
  EXPECT_EQ(shown(nn::ReLU()), "torch::nn::ReLU()");
  EXPECT_EQ(shown(nn::Dropout(0.25)), "torch::nn::Dropout(p=0.25, inplace=false)");
  EXPECT_EQ(shown(nn::Unflatten(nn::UnflattenOptions(0, {2, 2}))), "torch::nn::Unflatten(dim=0, unflattened_size={2, 2})");
  EXPECT_EQ(shown(nn::Unflatten("C", nn::UnflattenOptions::namedshape_t{{"A", 2}, {"B", 3}})),
            "torch::nn::Unflatten(dim=\"C\", unflattened_size={{\"A\", 2}, {\"B\", 3}})");
  EXPECT_EQ(shown(nn::LayerNorm(std::vector<int64_t>{2, 3})), "torch::nn::LayerNorm([2, 3], eps=1e-05, elementwise_affine=true)");
  EXPECT_EQ(shown(nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 3}).mode(torch::kBilinear))),
            "torch::nn::Upsample(scale_factor=[2, 3], mode=kBilinear)");
}

TEST(Layers, ErrorsNameTheUsersLine) {
  nn::Linear linear(2, 2);
  const auto line_of = [](auto&& f) {
    try {
      f();
    } catch (const tandem::Error& error) {
      EXPECT_NE(std::string(error.where().file).find("layers_test.cpp"), std::string::npos) << error.where().file;
      return error.where().line;
    }
    return 0;
  };
  const Tensor wrong = tandem::ones({1, 5});
  EXPECT_EQ(line_of([&] { (void)linear(wrong); }), __LINE__);
  EXPECT_EQ(line_of([&] { (void)linear->forward(wrong); }), __LINE__);
  EXPECT_EQ(line_of([&] { nn::Conv2d(nn::Conv2dOptions(3, 4, 1).groups(2)); }), __LINE__);
  EXPECT_EQ(line_of([&] { (void)nn::Hardtanh(nn::HardtanhOptions().min_val(2)); }), __LINE__);
}

TEST(LibtorchLayersByNumbers, OptionsAreMadeOfWhatALayerIsGiven) {
  EXPECT_EQ(c10::str(torch::nn::Threshold(24.5, 42.25)), "torch::nn::Threshold(threshold=24.5, value=42.25)");
  EXPECT_EQ(torch::nn::Unfold(torch::IntArrayRef({2, 4}))->options.kernel_size(), torch::ExpandingArray<2>({2, 4}));
}

}  // namespace
