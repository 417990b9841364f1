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

/// Uses its parameters by number and by name.
struct Mixed : nn::Module {
  nn::ParameterList terms{ones({3}), ones({3})};
  nn::ParameterDict named{{"scale", full({3}, 2.0)}, {"shift", zeros({3})}};

  void fields(nn::Fields& f) override {
    f("terms", terms);
    f("named", named);
  }
  Tensor forward(const Tensor& x) override {
    Tensor y = x * named["scale"] + named["shift"];
    for (const Tensor& term : terms) y = y + term;
    return y;
  }
};

class ContainersOf : public OnDevice {};

TEST_P(ContainersOf, ParametersAreTrained) {
  Mixed model;
  model.to(device());
  model.terms.append(full({3}, 5.0, device()));
  EXPECT_EQ(model.state_dict().keys(), (std::vector<std::string>{"terms.0", "terms.1", "terms.2", "named.scale", "named.shift"}));
  EXPECT_EQ(model.parameters().size(), 5u);
  optim::SGD sgd(model.parameters(), {.lr = 0.5});
  const Tensor y = model(ones({3}, device()));
  expect_near(y, {9, 9, 9});
  y.sum().backward();
  sgd.step();
  expect_near(model.terms[-1], {4.5, 4.5, 4.5});
  expect_near(model.named["scale"], {1.5, 1.5, 1.5});
  Mixed copy = nn::clone(model);
  EXPECT_FALSE(copy.terms[0].is_same(model.terms[0]));
  copy.named["scale"] = zeros({3}, device());
  expect_near(copy(ones({3}, device())), values(model.terms[0] + model.terms[1] + model.terms[2] + model.named["shift"]));
  Mixed other;
  other.terms.append(zeros({3}));
  other.load_state_dict(model.state_dict());
  expect_near(other.named["scale"], {1.5, 1.5, 1.5});
}

TEST_P(ContainersOf, ChildrenNameTheirWeights) {
  nn::Sequential net(nn::Linear(3, 2), nn::ReLU(), nn::Conv1d(2, 4, 1, {.bias = false}));
  net.to(device());
  EXPECT_EQ(net[0].weight.data().device(), Device(device()));
  EXPECT_EQ(net[0].weight.get_device(), net[0].bias.get_device());
  EXPECT_TRUE(net[0].weight.is_same(net.at<nn::Linear>(0).weight));
  EXPECT_TRUE(net[-1].weight.is_same(net.at<nn::Conv1d>(2).weight));
  EXPECT_FALSE(net[1].weight.defined() || net[2].bias.defined());
  net[0].weight.requires_grad_(false).fill_(1);
  net[0].bias.requires_grad_(false).zero_();
  expect_near(net[0](ones({1, 3}, device())), {3, 3});
  nn::Module& first = net[0];
  EXPECT_EQ(&first, &net.at(0));
  EXPECT_EQ(static_cast<nn::Linear&>(net[0]).out_features(), 2);
  EXPECT_NE(error_of([&] { (void)static_cast<nn::Linear&>(net[1]); }).find("the module is a ReLU"), std::string::npos);
  net[1].eval();
  EXPECT_TRUE(net[0].training() && !net[1].training() && !net[1]->training());
  EXPECT_EQ(net[0].name(), "Linear");
  EXPECT_EQ(net[2].parameters().size(), 1u);
  EXPECT_EQ(net[0].named_parameters()[1].first, "bias");
  EXPECT_EQ(net[0].state_dict().size(), 2u);
  const auto doubled = net[1].register_forward_hook([](nn::Module&, const Tensor&, Tensor& y) { y = y * 2; });
  EXPECT_TRUE(net[1].has_hooks());
  net[0].to(kFloat64);
  EXPECT_EQ(net[0].weight.dtype(), kFloat64);
  net[0].cpu();
  EXPECT_TRUE(net[0].weight.is_cpu());
  EXPECT_EQ(shown(net[1]), "ReLU()");
  nn::ModuleList list(nn::Linear(3, 2));
  nn::ModuleDict named{{"a", nn::Linear(3, 2)}};
  EXPECT_TRUE(list[0].weight.is_same(list.at<nn::Linear>(0).weight));
  EXPECT_TRUE(named["a"].bias.is_same(named.at<nn::Linear>("a").bias));
  EXPECT_NE(error_of<IndexError>([&] { (void)net[3].weight; }).find("index 3 is out of range"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Every, ContainersOf, every_device());

TEST(Containers, ParametersAreRefusedByName) {
  nn::ParameterList list{ones({2})};
  EXPECT_EQ(error_of<IndexError>([&] { (void)list[1]; }), "[ParameterList.at] index 1 is out of range: there are 1 parameters");
  EXPECT_EQ(error_of([&] { list.append(Tensor()); }), "[ParameterList.append] the tensor is undefined");
  EXPECT_EQ(list.size(), 1u);
  nn::ParameterDict dict{{"a", ones({2})}};
  EXPECT_EQ(error_of<IndexError>([&] { (void)dict["b"]; }), "[ParameterDict.at] no parameter \"b\"; there is \"a\"");
  EXPECT_EQ(error_of([&] { dict.insert("a.b", ones({1})); }), "[ParameterDict.insert] parameter name can't contain \".\", got: a.b");
  EXPECT_EQ(error_of([&] { dict.insert("c", Tensor()); }), "[ParameterDict.insert] the tensor is undefined");
  EXPECT_TRUE(dict.erase("a") && dict.empty() && !dict.contains("a"));
  // What is a result of others, or of whole numbers, stays what it is.
  const Tensor leaf = ones({2}).requires_grad_();
  nn::ParameterList mixed(std::vector<Tensor>{leaf * 2, arange(3), ones({1})});
  EXPECT_TRUE(mixed[0].requires_grad() && !mixed[0].is_leaf());
  EXPECT_FALSE(mixed[1].requires_grad());
  EXPECT_TRUE(mixed[2].requires_grad());
}

}  // namespace
}  // namespace tandem::testing
