// Lists and dictionaries of modules, hooks and summaries.
#include "nn/support.h"

namespace tandem::testing {
namespace {

struct Heads : nn::Module {
  nn::ModuleList layers{nn::Linear(4, 4), nn::ReLU()};
  nn::ModuleDict heads{{"a", nn::Linear(4, 2)}, {"b", nn::Linear(4, 3)}};
  std::string head = "a";

  void fields(nn::Fields& f) override {
    f("layers", layers);
    f("heads", heads);
  }
  Tensor forward(const Tensor& x) override {
    Tensor y = x;
    for (nn::Module& layer : layers) y = layer(y);
    return heads[head](y);
  }
};

TEST(Containers, HoldModulesByNumberAndByName) {
  Heads model;
  model.layers.append(nn::Linear(4, 4, {.bias = false})).append(nn::Tanh());
  EXPECT_EQ(model.state_dict().keys(), (std::vector<std::string>{"layers.0.weight", "layers.0.bias", "layers.2.weight", "heads.a.weight",
                                                                 "heads.a.bias", "heads.b.weight", "heads.b.bias"}));
  EXPECT_EQ(model(ones({3, 4})).sizes(), (Shape{3, 2}));
  model.head = "b";
  EXPECT_EQ(model(ones({3, 4})).sizes(), (Shape{3, 3}));
  EXPECT_EQ(model.layers.size(), 4u);
  EXPECT_EQ(model.layers.at<nn::Linear>(-2).out_features(), 4);
  model.layers.insert(0, nn::Identity());
  EXPECT_EQ(model.layers[0].name(), "Identity");
  nn::ModuleList twice;
  twice.extend(model.layers).extend(twice);
  EXPECT_EQ(twice.size(), 10u);
  EXPECT_TRUE(twice.at<nn::Linear>(1).weight.is_same(twice.at<nn::Linear>(6).weight));
  EXPECT_EQ(error_of<IndexError>([&] { (void)twice.at(10); }), "[ModuleList.at] index 10 is out of range: there are 10 modules");
  EXPECT_EQ(error_of([&] { (void)twice.at<nn::ReLU>(1); }), "[ModuleList.at] the module is a Linear, not of the type asked for");
  EXPECT_EQ(error_of<IndexError>([&] { (void)model.heads["c"]; }), "[ModuleDict.at] no module \"c\"; there are \"a\", \"b\"");
  EXPECT_EQ(error_of([&] { model.heads.insert("a.b", nn::ReLU()); }), "[ModuleDict.insert] module name can't contain \".\", got: a.b");
  EXPECT_EQ(error_of([&] { model.heads.insert("", nn::ReLU()); }), "[ModuleDict.insert] module name can't be empty string \"\"");
  EXPECT_TRUE(model.heads.erase("a"));
  EXPECT_FALSE(model.heads.contains("a"));
  EXPECT_EQ(model.heads.keys(), std::vector<std::string>{"b"});
  const Heads copy = nn::clone(model);
  EXPECT_FALSE(copy.layers.at<nn::Linear>(1).weight.is_same(model.layers.at<nn::Linear>(1).weight));
}

TEST(Hooks, SeeAndReplace) {
  nn::Sequential net(nn::Linear(2, 2), nn::ReLU());
  std::vector<std::string> seen;
  nn::HookHandle first = net.at(0).register_forward_pre_hook([&](nn::Module& module, Tensor& x) {
    seen.push_back("before " + module.name());
    x = x * 0;
  });
  nn::HookHandle second = net.at(0).register_forward_hook([&](nn::Module& module, const Tensor& x, Tensor& y) {
    seen.push_back("after " + module.name());
    EXPECT_EQ(values(x), (std::vector<double>{0, 0}));
    y = y - 100;
  });
  EXPECT_TRUE(net.at(0).has_hooks());
  EXPECT_EQ(values(net(ones({1, 2}))), (std::vector<double>{0, 0}));
  EXPECT_EQ(seen, (std::vector<std::string>{"before Linear", "after Linear"}));
  first.remove();
  second.remove();
  second.remove();
  EXPECT_FALSE(net.at(0).has_hooks());
  const Tensor x = ones({1, 2});
  EXPECT_TRUE(allclose(net(x), relu(net.at(0)(x))));
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Hooks, MayTakeThemselvesOut) {
  nn::Identity module;
  int calls = 0;
  nn::HookHandle handle;
  handle = module.register_forward_hook([&](nn::Module&, const Tensor&, Tensor&) {
    ++calls;
    handle.remove();
  });
  (void)module(ones({1}));
  (void)module(ones({1}));
  EXPECT_EQ(calls, 1);
}

class SummaryOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, SummaryOn, every_device(), device_name);

TEST_P(SummaryOn, CountsWhatARunCosts) {
  nn::Sequential net(nn::Conv2d(3, 8, 3, {.padding = 1}), nn::ReLU(), nn::Flatten(), nn::Linear(8 * 4 * 4, 10));
  net.to(device());
  net.at(1).eval();
  const nn::Summary summary = nn::summary(net, ones({2, 3, 4, 4}, device()));
  EXPECT_TRUE(net.training() && !net.at(1).training() && !net.at(0).has_hooks());
  ASSERT_EQ(summary.layers.size(), 5u);
  const int64_t conv = 2 * 8 * 16 * 27, linear = 2 * 10 * 128;
  EXPECT_EQ(summary.layers[1].multiply_adds, conv);
  EXPECT_EQ(summary.layers[4].multiply_adds, linear);
  EXPECT_EQ(summary.multiply_adds, conv + linear);
  EXPECT_EQ(summary.layers[1].output, (Shape{2, 8, 4, 4}));
  EXPECT_EQ(summary.parameters, 3 * 8 * 9 + 8 + 1280 + 10);
  EXPECT_EQ(summary.parameters, net.num_parameters());
  EXPECT_EQ(summary.parameter_bytes, 4 * summary.parameters);
  EXPECT_EQ(summary.output_bytes, 4 * (3 * 256 + 20));
  EXPECT_EQ(summary.input_bytes, 4 * 96);
  EXPECT_EQ(shown(summary),
            "Layer         Output size   Parameters  Multiply-adds      Memory\n"
            "-----------------------------------------------------------------\n"
            "Sequential    [2, 10]                -              -           -\n"
            "  0: Conv2d   [2, 8, 4, 4]         224          6,912  1024 bytes\n"
            "  1: ReLU     [2, 8, 4, 4]           -              -  1024 bytes\n"
            "  2: Flatten  [2, 128]               -              -  1024 bytes\n"
            "  3: Linear   [2, 10]            1,290          2,560    80 bytes\n"
            "-----------------------------------------------------------------\n"
            "Parameters: 1,514 (1,514 trainable)\n"
            "Multiply-adds: 9,472\n"
            "Memory: input 384 bytes, parameters 5.91 KiB, buffers 0 bytes, results 3.08 KiB");
}

TEST(Summary, TransposedConvolutionsAndLazyOnes) {
  nn::Sequential net(nn::LazyConvTranspose2d(4, 2, {.stride = 2}));
  const nn::Summary summary = nn::summary(net, ones({1, 3, 5, 5}));
  EXPECT_EQ(summary.multiply_adds, 3 * 25 * 4 * 4);
  EXPECT_EQ(summary.layers[1].type, "ConvTranspose2d");
}

}  // namespace
}  // namespace tandem::testing
