// State dictionaries: out, in, and refused where they do not fit.
#include "nn/support.h"

namespace tandem::testing {
namespace {

nn::Sequential network() { return nn::Sequential(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 2)); }

TEST(StateDict, IsAnOrderedMap) {
  StateDict state{{"b", ones({1})}, {"a", zeros({2})}};
  EXPECT_EQ(state.keys(), (std::vector<std::string>{"b", "a"}));
  state["c"] = ones({3});
  state["b"] = ones({4});
  EXPECT_EQ(state.size(), 3u);
  EXPECT_EQ(state.at("b").numel(), 4);
  EXPECT_TRUE(state.erase("a"));
  EXPECT_FALSE(state.erase("a"));
  EXPECT_EQ(state.keys(), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(state.at("c").numel(), 3);
  EXPECT_EQ(error_of<IndexError>([&] { (void)state.at("d"); }), "[StateDict.at] no entry \"d\"; there are \"b\", \"c\"");
  StateDict both;
  both.add("model.", state);
  both.add("other.", state);
  EXPECT_EQ(both.under("other.").keys(), state.keys());
  EXPECT_TRUE(both.contains("model.c"));
  size_t seen = 0;
  for (const auto& [name, tensor] : state) seen += name.size() * static_cast<size_t>(tensor.numel());
  EXPECT_EQ(seen, 7u);
}

class StateOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, StateOn, every_device(), device_name);

TEST_P(StateOn, LoadsOntoTheModulesOwnDevice) {
  auto net = network();
  net.to(device());
  auto other = network();
  const Tensor weight = other.at<nn::Linear>(0).weight;
  EXPECT_NE(values(weight), values(net.at<nn::Linear>(0).weight));
  const auto keys = other.load_state_dict(net.state_dict());
  EXPECT_TRUE(keys.missing_keys.empty() && keys.unexpected_keys.empty());
  EXPECT_EQ(values(weight), values(net.at<nn::Linear>(0).weight));
  EXPECT_TRUE(weight.is_cpu() && weight.requires_grad());
  EXPECT_FALSE(net.state_dict().at("0.weight").requires_grad());
}

TEST_P(StateOn, AssignTakesTheTensorsOver) {
  auto net = network();
  net.to(device(), kFloat64);
  auto other = network();
  const Tensor weight = other.at<nn::Linear>(0).weight;
  other.load_state_dict(net.state_dict(), {.assign = true});
  EXPECT_TRUE(other.at<nn::Linear>(0).weight.is_same(weight));
  EXPECT_EQ(weight.device(), device());
  EXPECT_EQ(weight.dtype(), kFloat64);
  EXPECT_EQ(weight.data_ptr(), net.at<nn::Linear>(0).weight.data_ptr());
  EXPECT_TRUE(weight.requires_grad());
}

TEST(LoadStateDict, SaysWhatDoesNotFitAndChangesNothing) {
  auto net = network();
  auto state = nn::clone(net).state_dict();
  state["0.weight"] = zeros({1, 1});
  const std::vector<double> before = values(net.at<nn::Linear>(2).weight);
  state["2.weight"] = zeros({2, 8});
  EXPECT_EQ(error_of([&] { net.load_state_dict(state); }),
            "Error(s) in loading state_dict for Sequential: size mismatch for 0.weight: copying a param with shape [1, 1] from checkpoint, "
            "the shape in "
            "current model is [8, 4]. Make the model as the saved one was");
  EXPECT_EQ(values(net.at<nn::Linear>(2).weight), before);
  state.erase("0.weight");
  state["spare"] = ones({1});
  EXPECT_EQ(
      error_of([&] { net.load_state_dict(state); }),
      "Error(s) in loading state_dict for Sequential: Missing key(s) in state_dict: \"0.weight\". Unexpected key(s) in state_dict: "
      "\"spare\". Make the model as the saved one was; load_state_dict(state, {.strict = false}) passes over missing and unexpected keys");
  EXPECT_EQ(values(net.at<nn::Linear>(2).weight), before);
  const auto keys = net.load_state_dict(state, {.strict = false});
  EXPECT_EQ(keys.missing_keys, (std::vector<std::string>{"0.weight"}));
  EXPECT_EQ(keys.unexpected_keys, (std::vector<std::string>{"spare"}));
  EXPECT_EQ(values(net.at<nn::Linear>(2).weight), std::vector<double>(16, 0));
}

TEST_P(StateOn, LazyParametersAreMadeByLoading) {
  nn::Sequential net(nn::Linear(5, 3));
  nn::Sequential lazy(nn::LazyLinear(3));
  lazy.to(device());
  lazy.load_state_dict(net.state_dict());
  const auto& layer = lazy.at<nn::LazyLinear>(0);
  EXPECT_EQ(layer.weight.device(), device());
  EXPECT_EQ(values(layer.weight), values(net.at<nn::Linear>(0).weight));
  EXPECT_TRUE(layer.weight.requires_grad() && layer.bias.requires_grad());
  EXPECT_EQ(layer.in_features(), 5);
}

}  // namespace
}  // namespace tandem::testing
