// The networks: their numbers of parameters, the names of their parts, the sizes of what they give, and that gradients reach every part.
#include "models/models.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace models = td::models;

class Models : public OnDevice {
 protected:
  /// Runs a network forward and backward; its output's sizes.
  template <class M>
  td::Shape run(M net, const td::Tensor& input) {
    net.to(device());
    const auto output = net(input.to(device()));
    output.sum().backward();
    for (const auto& [name, parameter] : net.named_parameters()) EXPECT_TRUE(parameter.grad().defined()) << name;
    return output.sizes();
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Models, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(Models, GiveTheirSizes) {
  const auto small = td::randn({2, 1, 28, 28}), colours = td::randn({2, 3, 32, 32});
  EXPECT_EQ(run(models::mlp({784, 256, 128, 10}), small), (td::Shape{2, 10}));
  EXPECT_EQ(run(models::digits_cnn(), td::randn({2, 1, 8, 8})), (td::Shape{2, 10}));
  EXPECT_EQ(run(models::mnist_cnn(), small), (td::Shape{2, 10}));
  EXPECT_EQ(run(models::d2l_lenet(), small), (td::Shape{2, 10}));
  EXPECT_EQ(run(models::cifar_cnn(), colours), (td::Shape{2, 10}));
  EXPECT_EQ(run(models::TextGru({.vocabulary = 50}), td::randint(50, {3, 7})), (td::Shape{3, 2}));
  EXPECT_EQ(run(models::resnet18({.num_classes = 5}), colours), (td::Shape{2, 5}));
  EXPECT_EQ(run(models::DenseNet({.num_classes = 3, .growth_rate = 8, .block_config = {2, 2, 2, 2}, .num_init_features = 8}), colours),
            (td::Shape{2, 3}));
}

TEST(Model, WithoutALastLayerGivesFeatures) {
  auto net = models::resnet50({.num_classes = 0});
  net.eval();
  const td::NoGradGuard no_grad;
  EXPECT_EQ(net(td::randn({1, 3, 32, 32})).sizes(), (td::Shape{1, 2048}));
}

TEST(Model, NumbersOfParameters) {
  EXPECT_EQ(models::cifar_cnn().num_parameters(), 3'441'592);
  EXPECT_EQ(models::TextGru().num_parameters(), 3'818'302);
  EXPECT_EQ(models::resnet50({.num_classes = 0}).num_parameters(), 23'508'032);
  EXPECT_EQ(models::densenet121(14).num_parameters(), 6'968'206);
  EXPECT_EQ(models::d2l_resnet18().num_parameters(), 11'175'818);
  EXPECT_EQ(models::d2l_lenet().num_parameters(), 1 * 20 * 9 + 20 + 20 * 50 * 25 + 50 + 800 * 128 + 128 + 128 * 10 + 10);
  EXPECT_EQ(models::mnist_cnn().num_parameters(), 1'199'882);
  EXPECT_EQ(models::mlp({784, 256, 128, 10}).num_parameters(), 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10);
  // As torchvision's.
  EXPECT_EQ(models::resnet18().num_parameters(), 11'689'512);
  EXPECT_EQ(models::resnet34().num_parameters(), 21'797'672);
  EXPECT_EQ(models::resnet50().num_parameters(), 25'557'032);
  EXPECT_EQ(models::densenet121().num_parameters(), 7'978'856);
}

TEST(Model, ProductsOfARun) {
  const auto millions = [](auto net, const td::Shape& input) {
    const auto summary = td::nn::summary(net, td::zeros(input));
    return static_cast<double>(summary.multiply_adds) / 1e6;
  };
  EXPECT_NEAR(millions(models::cifar_cnn(), {1, 3, 32, 32}), 62.26, 0.01);
  EXPECT_NEAR(millions(models::resnet50({.num_classes = 0}), {1, 3, 224, 224}), 4087, 1);
  EXPECT_NEAR(millions(models::densenet121(14), {1, 3, 224, 224}), 2833, 2);
}

TEST(Model, PartsAreNamedAsElsewhere) {
  const auto resnet = models::resnet50().state_dict();
  EXPECT_EQ(resnet.size(), 320U);
  for (const char* name : {"conv1.weight", "bn1.running_var", "layer1.0.downsample.0.weight", "layer1.0.downsample.1.num_batches_tracked",
                           "layer4.2.conv3.weight", "fc.bias"})
    EXPECT_TRUE(resnet.contains(name)) << name;
  EXPECT_EQ(resnet.at("layer2.0.conv2.weight").sizes(), (td::Shape{128, 128, 3, 3}));
  const auto densenet = models::densenet121().state_dict();
  EXPECT_EQ(densenet.size(), 727U);
  for (const char* name : {"features.conv0.weight", "features.norm0.bias", "features.denseblock3.denselayer24.conv2.weight",
                           "features.transition1.norm.running_mean", "features.norm5.weight", "classifier.weight"})
    EXPECT_TRUE(densenet.contains(name)) << name;
}

TEST(Model, StartsAsItShould) {
  td::manual_seed(0);
  const auto lenet = models::d2l_lenet().state_dict();
  EXPECT_EQ(lenet.at("7.bias").abs().max().item<float>(), 0);
  EXPECT_NEAR(lenet.at("7.weight").std().item<double>(), 0.01, 1e-3);
  const auto text = models::TextGru({.vocabulary = 50}).state_dict();
  EXPECT_LE(text.at("gru.bias_ih_l0").abs().max().item<double>(), 0.1);
  EXPECT_NEAR(text.at("gru.weight_ih_l0").abs().max().item<double>(), 0.1, 1e-3);
  const auto resnet = models::resnet18().state_dict();
  EXPECT_NEAR(resnet.at("layer4.1.conv2.weight").std().item<double>(), std::sqrt(2. / (512 * 9)), 1e-3);
}
