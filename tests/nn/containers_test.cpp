// Lists and dictionaries of modules.
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

}  // namespace
}  // namespace tandem::testing
