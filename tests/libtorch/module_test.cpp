// torch::nn::Module, holders and clones: what is registered is found, moved, printed and copied, and errors name the user's lines.
#include "dense.h"

namespace {

using tandem::Tensor;
using tandem::testing::expect_near;
using tandem::testing::shown;
using tests::Dense;
namespace nn = torch::nn;

class TorchModuleOn : public tandem::testing::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, TorchModuleOn, testing::Values("cpu", "cuda:0"), device_name);

struct PairImpl : nn::Module {
  PairImpl() : first(register_module("first", Dense(3, 4))), second(register_module("second", Dense(4, 2))) {}
  static constexpr int kFirstLine = __LINE__ + 2;
  Tensor forward(Tensor x) {
    x = first(x);
    return second->forward(x);
  }
  Dense first, second;
};
TORCH_MODULE(Pair);

struct FrozenImpl : nn::Module {
  void train(bool = true) override { nn::Module::train(false); }
  Tensor forward(Tensor x) { return x; }
};
TORCH_MODULE(Frozen);

TEST(TorchModule, KnowsItsPartsByName) {
  Pair net;
  EXPECT_EQ(net->named_parameters().keys(), (std::vector<std::string>{"first.weight", "second.weight"}));
  EXPECT_EQ(net->named_parameters(/*recurse=*/false).size(), 0u);
  EXPECT_EQ(net->named_buffers().keys(), (std::vector<std::string>{"first.step", "second.step"}));
  EXPECT_EQ(net->named_modules("net").keys(), (std::vector<std::string>{"net", "net.first", "net.second"}));
  EXPECT_EQ(net->modules(/*include_self=*/false).size(), 2u);
  EXPECT_EQ(net->children()[1], net->second.ptr());
  EXPECT_TRUE(net->parameters()[0].is_same(net->first->weight));
  std::vector<std::string> visited;
  net->apply([&](const std::string& name, nn::Module& module) { visited.push_back(name + ":" + module.name()); }, "net");
  EXPECT_EQ(visited.size(), 3u);
  EXPECT_EQ(visited[1], "net.first:tests::DenseImpl");
  EXPECT_EQ(net->named_children()["first"]->as<Dense>(), net->first.get());
  EXPECT_EQ(net->as<Dense>(), nullptr);
}

TEST(TorchModule, IsAModuleOfTandems) {
  Pair net;
  tandem::nn::ModuleBase& base = *net;
  EXPECT_EQ(base.num_parameters(), 12 + 8);
  EXPECT_EQ(base.named_parameters()[1].first, "second.weight");
  EXPECT_TRUE(base.state_dict().contains("first.step"));
  base.train(false);
  EXPECT_FALSE(net->second->is_training());
  base.requires_grad_(false);
  EXPECT_FALSE(net->first->weight.requires_grad());
}

TEST(TorchModule, RefusesNames) {
  Pair net;
  const auto text = [](auto&& f) {
    try {
      f();
    } catch (const tandem::Error& error) {
      return error.message();
    }
    return std::string("nothing thrown");
  };
  EXPECT_EQ(text([&] { net->register_module("first", Dense(1, 1)); }), "[OrderedDict.insert] Submodule 'first' already defined");
  EXPECT_EQ(text([&] { net->register_buffer("a.b", Tensor()); }), "[Module] Buffer name must not contain a dot (got 'a.b')");
  EXPECT_EQ(text([&] { net->register_parameter("", Tensor(), false); }), "[Module] Parameter name must not be empty");
  EXPECT_EQ(text([&] { net->replace_module("third", Dense(1, 1)); }), "[OrderedDict] Submodule 'third' is not defined");
  EXPECT_EQ(text([&] { net->unregister_module("third"); }), "[Module.unregister_module] No Module with name `third` is registered");
  EXPECT_EQ(text([&] { PairImpl().modules(); }).find("[Module] It looks like you attempted to retrieve"), 0u);
  EXPECT_EQ(text([&] { (void)net->clone(); }).find("[Module.clone] clone() has not been implemented for"), 0u);
  EXPECT_EQ(text([] { (void)*Dense(nullptr); }), "[ModuleHolder] Accessing empty ModuleHolder: give it a module first");
}

TEST(TorchModule, ReplacesAndTakesOutChildren) {
  Pair net;
  net->second = net->replace_module("second", Dense(4, 7));
  EXPECT_EQ(net->forward(tandem::ones({1, 3})).size(1), 7);
  net->unregister_module("first");
  EXPECT_EQ(net->named_parameters().keys(), std::vector<std::string>{"second.weight"});
}

TEST(TorchModule, AChildsOwnTrainHasTheLastWord) {
  nn::Module net;
  auto frozen = net.register_module("frozen", Frozen());
  net.train();
  EXPECT_TRUE(net.is_training());
  EXPECT_FALSE(frozen->is_training());
}

TEST(TorchModule, Prints) {
  EXPECT_EQ(shown(Pair()).find("(\n  (first): tests::Dense(in=3, out=4)\n  (second): tests::Dense(in=4, out=2)\n)"), Pair()->name().size());
}

TEST(TorchModule, HoldersHandOnTheUsersLine) {
  EXPECT_EQ(Dense(3, 4)->line, __LINE__);
  Dense dense{3, 4};
  const auto line_of = [](auto&& f) {
    try {
      f();
    } catch (const tandem::Error& error) {
      return error.where().line;
    }
    return -1;
  };
  const Tensor x = tandem::ones({2, 5});
  EXPECT_EQ(line_of([&] { dense(x); }), __LINE__);
  EXPECT_EQ(line_of([&] { dense->forward(x); }), __LINE__);
  Pair net;
  EXPECT_EQ(line_of([&] { net(x); }), PairImpl::kFirstLine);
  try {
    net(x);
    FAIL();
  } catch (const tandem::Error& error) {
    EXPECT_EQ(error.layer(), "first: tests::DenseImpl(in=3, out=4)");
  }
}

TEST(TorchModule, HooksSeeTheCallsOfHolders) {
  Dense dense(3, 4);
  int calls = 0;
  dense->register_forward_hook([&](tandem::nn::ModuleBase&, const Tensor&, Tensor& output) {
    ++calls;
    output = output * 2;
  });
  expect_near(dense(tandem::ones({1, 3})), {6, 6, 6, 6});
  EXPECT_EQ(calls, 1);
}

TEST_P(TorchModuleOn, MovesAndKeepsTheTensors) {
  Pair net;
  const Tensor weight = net->first->weight;
  net->forward(tandem::ones({1, 3})).sum().backward();
  net->to(device(), tandem::kFloat64);
  EXPECT_TRUE(weight.is_same(net->first->weight));
  EXPECT_EQ(weight.device(), device() == tandem::cpu() ? tandem::cpu() : tandem::gpu(0));
  EXPECT_EQ(weight.grad().device(), weight.device());
  EXPECT_EQ(net->first->step.dtype(), tandem::kFloat64);
  net->forward(tandem::ones({1, 3}, {.dtype = tandem::kFloat64, .device = device()})).sum().backward();
  expect_near(weight.grad().sum(), {2 * 2 * 12});
  net->zero_grad();
  expect_near(weight.grad().sum(), {0});
  net->zero_grad(/*set_to_none=*/true);
  EXPECT_FALSE(weight.grad().defined());
}

TEST_P(TorchModuleOn, ClonesHavePartsOfTheirOwn) {
  Dense dense(3, 4);
  {
    const tandem::NoGradGuard no_grad;
    dense->weight.fill_(5);
  }
  auto copy = std::dynamic_pointer_cast<tests::DenseImpl>(dense->clone(device()));
  EXPECT_FALSE(copy->weight.is_same(dense->weight));
  EXPECT_TRUE(copy->weight.requires_grad());
  EXPECT_TRUE(copy->named_parameters()["weight"].is_same(copy->weight));
  expect_near(copy->forward(tandem::ones({1, 3}, {.device = device()})), {15, 15, 15, 15});
}

}  // namespace
