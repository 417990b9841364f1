// Modules as values: parts by name, identity over moving, copies and clones, modes.
#include "nn/support.h"

namespace tandem::testing {
namespace {

struct Net : nn::Module {
  nn::Linear hidden{4, 8};
  nn::Sequential tail{nn::ReLU(), nn::Linear(8, 2)};
  Tensor scale = ones({2}, {.requires_grad = true});
  Tensor count = zeros({}, kInt64);
  Tensor scratch = zeros({3});

  void fields(nn::Fields& f) override {
    f("hidden", hidden);
    f("tail", tail);
    f("scale", scale);
    f.buffer("count", count);
    f.buffer("scratch", scratch, false);
  }
  Tensor forward(const Tensor& x) override { return tail(hidden(x)) * scale; }
};

std::vector<std::string> names(const std::vector<std::pair<std::string, Tensor>>& list) {
  std::vector<std::string> result;
  for (const auto& [name, tensor] : list) result.push_back(name);
  return result;
}

TEST(Module, NamesItsPartsInPyTorchsOrder) {
  const Net net;
  EXPECT_EQ(names(net.named_parameters()),
            (std::vector<std::string>{"scale", "hidden.weight", "hidden.bias", "tail.1.weight", "tail.1.bias"}));
  EXPECT_EQ(names(net.named_buffers()), (std::vector<std::string>{"count", "scratch"}));
  EXPECT_EQ(net.state_dict().keys(),
            (std::vector<std::string>{"scale", "count", "hidden.weight", "hidden.bias", "tail.1.weight", "tail.1.bias"}));
  EXPECT_EQ(net.parameters().size(), 5u);
  EXPECT_EQ(net.num_parameters(), 2 + 4 * 8 + 8 + 8 * 2 + 2);
  for (const Tensor& parameter : net.parameters()) EXPECT_TRUE(parameter.requires_grad() && parameter.is_leaf());
}

TEST(Module, ListsModules) {
  Net net;
  std::vector<std::string> found;
  for (const auto& [name, module] : net.named_modules()) found.push_back(name + ":" + module->name());
  EXPECT_EQ(found, (std::vector<std::string>{":Net", "hidden:Linear", "tail:Sequential", "tail.0:ReLU", "tail.1:Linear"}));
  ASSERT_EQ(net.named_children().size(), 2u);
  EXPECT_EQ(net.named_children()[0].second, &net.hidden);
  std::string order;
  net.apply([&](nn::Module& module) { order += module.name() + " "; });
  EXPECT_EQ(order, "Linear ReLU Linear Sequential Net ");
}

TEST(Module, ModesReachEverything) {
  Net net;
  EXPECT_TRUE(net.training());
  net.eval();
  for (const auto& [name, module] : net.named_modules()) EXPECT_FALSE(module->training()) << name;
  net.tail.train();
  EXPECT_FALSE(net.training());
  EXPECT_TRUE(net.tail.training() && net.tail.at(1).training());
}

struct Stack : nn::Module {
  std::vector<nn::Linear> layers;
  std::vector<Tensor> gains;
  Stack() {
    for (int i = 0; i < 3; ++i) {
      layers.emplace_back(2, 2, nn::LinearOptions{.bias = false});
      gains.push_back(ones({2}, {.requires_grad = true}));
    }
  }
  void fields(nn::Fields& f) override {
    f("layers", layers);
    f("gains", gains);
  }
  Tensor forward(const Tensor& x) override {
    Tensor y = x;
    for (size_t i = 0; i < layers.size(); ++i) y = layers[i](y) * gains[i];
    return y;
  }
};

TEST(Module, VectorsAreNumbered) {
  const Stack stack;
  EXPECT_EQ(names(stack.named_parameters()),
            (std::vector<std::string>{"gains.0", "gains.1", "gains.2", "layers.0.weight", "layers.1.weight", "layers.2.weight"}));
}

class ModuleOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ModuleOn, every_device(), device_name);

TEST_P(ModuleOn, MovesInPlace) {
  Net net;
  const Tensor weight = net.hidden.weight, gradient_owner = net.scale;
  const std::vector<double> before = values(weight);
  net(ones({1, 4})).sum().backward();
  const std::vector<double> gradient = values(net.scale.grad());
  net.to(device());
  EXPECT_TRUE(net.hidden.weight.is_same(weight));
  EXPECT_EQ(weight.device(), device());
  EXPECT_EQ(values(weight), before);
  EXPECT_TRUE(weight.requires_grad() && weight.is_leaf());
  EXPECT_EQ(gradient_owner.grad().device(), device());
  EXPECT_EQ(values(gradient_owner.grad()), gradient);
  EXPECT_EQ(net.count.device(), device());
  EXPECT_EQ(net.scratch.device(), device());
  const Tensor y = net(ones({3, 4}, device()));
  EXPECT_EQ(y.device(), device());
  EXPECT_EQ(y.sizes(), (Shape{3, 2}));
  net.cpu();
  EXPECT_TRUE(weight.is_cpu());
  EXPECT_EQ(values(weight), before);
}

TEST_P(ModuleOn, ChangesFloatingTypesOnly) {
  Net net;
  net.to(device(), kFloat64);
  EXPECT_EQ(net.hidden.weight.dtype(), kFloat64);
  EXPECT_EQ(net.hidden.weight.device(), device());
  EXPECT_EQ(net.count.dtype(), kInt64);
  EXPECT_EQ(net(ones({1, 4}, Options{.dtype = kFloat64, .device = device()})).dtype(), kFloat64);
  EXPECT_EQ(error_of([&] { net.to(kInt64); }), "[Module.to] a module's parameters are floating-point numbers: Long is no such dtype");
}

TEST_P(ModuleOn, CopySharesAndCloneOwns) {
  Net net;
  net.to(device());
  const Net copy = net;
  EXPECT_TRUE(copy.hidden.weight.is_same(net.hidden.weight));
  EXPECT_TRUE(copy.tail.at<nn::Linear>(1).weight.is_same(net.tail.at<nn::Linear>(1).weight));
  EXPECT_NE(&copy.tail.at(1), &net.tail.at(1));
  const Net own = nn::clone(net);
  EXPECT_FALSE(own.hidden.weight.is_same(net.hidden.weight));
  EXPECT_EQ(own.hidden.weight.device(), device());
  EXPECT_EQ(values(own.hidden.weight), values(net.hidden.weight));
  EXPECT_TRUE(own.hidden.weight.requires_grad() && own.hidden.weight.is_leaf());
  {
    const NoGradGuard no_grad;
    net.hidden.weight.zero_();
  }
  EXPECT_NE(values(own.hidden.weight), values(net.hidden.weight));
  EXPECT_EQ(own.state_dict().keys(), net.state_dict().keys());
}

TEST_P(ModuleOn, TiedParametersStayTied) {
  Tied net;
  EXPECT_EQ(names(net.named_parameters()), (std::vector<std::string>{"in.weight", "in.bias", "out.bias"}));
  EXPECT_EQ(net.state_dict().size(), 4u);
  net.to(device());
  EXPECT_TRUE(net.out.weight.is_same(net.in.weight));
  const Tied own = nn::clone(net);
  EXPECT_TRUE(own.out.weight.is_same(own.in.weight));
  EXPECT_FALSE(own.in.weight.is_same(net.in.weight));
}

struct Pointing : nn::Module {
  nn::Linear* inner;
  explicit Pointing(nn::Linear& inner) : inner(&inner) {}
  void fields(nn::Fields& f) override { f("inner", *inner); }
};

TEST(Module, CloneRefusesWhatPointsIntoTheOriginal) {
  nn::Linear inner(2, 2);
  const Pointing module(inner);
  EXPECT_EQ(error_of([&] { (void)nn::clone(module); }),
            "[clone] a copy of Pointing shares 'inner' with the original, which it points or refers to: hold it by value");
}

TEST(Module, CloneRefusesABase) {
  struct Wider : nn::Linear {
    Wider() : Linear(2, 2) {}
  };
  const Wider wider;
  const nn::Linear& base = wider;
  EXPECT_NE(error_of([&] { (void)nn::clone(base); }).find("[clone] Wider was given as one of its bases"), std::string::npos);
}

TEST_P(ModuleOn, ZeroGradForgetsOrFills) {
  nn::Linear layer(2, 2);
  layer.to(device());
  layer(ones({1, 2}, device())).sum().backward();
  ASSERT_TRUE(layer.weight.grad().defined());
  layer.zero_grad(false);
  EXPECT_EQ(values(layer.weight.grad()), (std::vector<double>{0, 0, 0, 0}));
  layer.zero_grad();
  EXPECT_FALSE(layer.weight.grad().defined());
}

TEST(Module, FreezesAndThaws) {
  Net net;
  net.requires_grad_(false);
  for (const Tensor& parameter : net.parameters()) EXPECT_FALSE(parameter.requires_grad());
  EXPECT_FALSE(net(ones({1, 4})).requires_grad());
  net.requires_grad_();
  for (const Tensor& parameter : net.parameters()) EXPECT_TRUE(parameter.requires_grad());
}

TEST(Module, WithoutForwardSaysSo) {
  struct Empty : nn::Module {};
  Empty module;
  EXPECT_EQ(error_of([&] { (void)module(ones({1})); }),
            "[Empty] has no forward(const Tensor&): override it, or derive from nn::Callable for another signature");
}

struct Pair : nn::Callable<Pair> {
  nn::Linear left{2, 1}, right{2, 1};
  void fields(nn::Fields& f) override {
    f("left", left);
    f("right", right);
  }
  std::pair<Tensor, Tensor> forward(const Tensor& a, const Tensor& b) { return {left(a), right(b)}; }
};

/// One tensor in, and out whatever a result can be.
template <class Result>
struct Split : nn::Callable<Split<Result>> {
  nn::Linear left{2, 1}, right{2, 1};
  void fields(nn::Fields& f) override {
    f("left", left);
    f("right", right);
  }
  Result forward(const Tensor& x) { return {left(x), right(x)}; }
};
struct Both {
  Tensor a, b;
  template <class F>
  void each_tensor(F&& f) {
    f(a);
    f(b);
  }
};

template <class Result>
void check_split() {
  Split<Result> split;
  const Tensor x = ones({3, 2});
  {
    const auto [a, b] = split(x);
    EXPECT_EQ(a.sizes(), (Shape{3, 1}));
    EXPECT_TRUE(equal(b, split.right(x)));
  }
  const auto handle = split.register_forward_hook([](nn::ModuleBase&, std::span<const Tensor>, std::span<Tensor> outputs) {
    for (Tensor& output : outputs) output = output * 0 + 7;
  });
  const auto [a, b] = split(x);
  EXPECT_TRUE(equal(b, full({3, 1}, 7.0)));
  struct Model : nn::Module {
    Split<Result> part;
    nn::ModuleList parts{Split<Result>(), nn::Linear(2, 2)};
    void fields(nn::Fields& f) override {
      f("part", part);
      f("parts", parts);
    }
  } model;
  EXPECT_EQ(model.parameters().size(), 10u);
  model.to(kFloat64);
  EXPECT_EQ(model.parts.template at<Split<Result>>(0).left.weight.dtype(), kFloat64);
  EXPECT_NE(error_of([&] { (void)model.parts.at(0); }).find("no module from tensor to tensor"), std::string::npos);
  Split<Result> copy = nn::clone(split);
  copy.load_state_dict(split.state_dict());
  EXPECT_EQ(nn::summary(copy, [&] { (void)copy(x); }).layers.size(), 3u);
}

TEST(Module, CallableGivesAPairATupleOrAStructOfOneTensor) {
  check_split<std::pair<Tensor, Tensor>>();
  check_split<std::tuple<Tensor, Tensor>>();
  check_split<Both>();
  // Others call only what is from tensor to tensor.
  static_assert(!std::is_convertible_v<Split<Both>&, nn::Module&>);
}

TEST(Module, ApplyReachesAllThatItsFunctionTakes) {
  struct Model : nn::Module {
    Split<Both> part;
    void fields(nn::Fields& f) override { f("part", part); }
  } model;
  int all = 0, called = 0, any = 0;
  model.apply([&](nn::ModuleBase&) { ++all; });
  model.apply([&](nn::Module&) { ++called; });
  model.apply([&](auto& module) { any += module.training(); });
  EXPECT_EQ(all, 4);
  EXPECT_EQ(called, 3);
  EXPECT_EQ(any, 4);
}

TEST(Module, CallableForwardsAnySignature) {
  Pair pair;
  const auto [a, b] = pair(ones({3, 2}), ones({4, 2}));
  EXPECT_EQ(a.sizes(), (Shape{3, 1}));
  EXPECT_EQ(b.sizes(), (Shape{4, 1}));
  EXPECT_EQ(pair.parameters().size(), 4u);
}

// --- Parts that a model computes with and does not name

/// What is warned of while it lives.
class Warnings {
 public:
  Warnings() : before_(set_warning_handler([this](const std::string& text) { texts.push_back(text); })) {}
  ~Warnings() { set_warning_handler(before_); }
  std::vector<std::string> texts;

 private:
  WarningHandler before_;
};

/// Calls one layer that it names and some that it does not.
struct Forgetful : nn::Module {
  struct Pair : nn::Callable<Pair> {
    nn::Linear a{2, 2}, b{2, 2};
    void fields(nn::Fields& f) override {
      f("a", a);
      f("b", b);
    }
    std::pair<Tensor, Tensor> forward(const Tensor& x) { return {a(x), b(x)}; }
  };
  nn::Linear named{2, 2}, frozen{2, 2};
  std::vector<nn::Linear> layers = {nn::Linear(2, 2), nn::Linear(2, 2)};
  nn::GRUCell cell{2, 2};
  Pair pair;
  int lines[2] = {};
  Forgetful() { frozen.requires_grad_(false); }
  void fields(nn::Fields& f) override { f("named", named); }
  Tensor forward(const Tensor& x) override {
    Tensor y = named(frozen(x));
    lines[0] = __LINE__ + 1;
    for (nn::Linear& layer : layers) y = layer(y);
    lines[1] = __LINE__ + 1;
    y = cell(y, Tensor());
    const auto [a, b] = pair(y);
    return a + b;
  }
};

TEST(UnnamedParts, AreWarnedOfOnceWithTypeAndLine) {
  Warnings warnings;
  nn::Sequential net(nn::Linear(2, 2), Forgetful());
  {
    const NoGradGuard unrecorded;
    (void)net(ones({1, 2}));
  }
  EXPECT_TRUE(warnings.texts.empty());
  for (int i = 0; i < 2; ++i) net(ones({1, 2})).sum().backward();
  (void)nn::clone(net)(ones({1, 2}));
  const int* lines = net.at<Forgetful>(1).lines;
  const auto expected = [&](const char* part, int line) {
    return str("Forgetful.fields() does not name ", part, ", called at ", __FILE__, ":", line,
               ": it is not trained, saved or moved with the model; name it there, f(\"name\", part), or switch its requires_grad off");
  };
  ASSERT_EQ(warnings.texts.size(), 3U);
  EXPECT_EQ(warnings.texts[0], expected("Linear(in_features=2, out_features=2, bias=True)", lines[0]));
  EXPECT_EQ(warnings.texts[1], expected("GRUCell(2, 2)", lines[1]));
  // A call with a pack of arguments cannot take its line.
  EXPECT_EQ(warnings.texts[2].find("Forgetful.fields() does not name Pair(): it is not trained"), 0U) << warnings.texts[2];
}

TEST(UnnamedParts, AreNoneWhereAllIsNamedOrSharedOrOnItsOwn) {
  Warnings warnings;
  Net net;
  (void)net(ones({3, 4}));
  nn::Linear alone(4, 2);
  (void)alone(ones({3, 4}));
  struct Copies : nn::Module {  // computes with a copy that shares what is named
    nn::Linear fc{4, 2};
    void fields(nn::Fields& f) override { f("fc", fc); }
    Tensor forward(const Tensor& x) override {
      auto copy = fc;
      return copy(x);
    }
  } copies;
  (void)copies(ones({3, 4}));
  nn::TransformerEncoder encoder(nn::TransformerEncoderLayer(4, 2, {.dim_feedforward = 4}), 2);
  (void)encoder(ones({3, 2, 4}));
  EXPECT_TRUE(warnings.texts.empty()) << warnings.texts[0];
}

}  // namespace
}  // namespace tandem::testing
