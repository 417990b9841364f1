// Compiled modules answer with the parameters and the parts that the module has at the call, whatever was put in their place, and where.
#include <array>
#include <limits>

#include "compile/training.h"

namespace tandem::compiling {
namespace {

/// Results with and without gradients, and the gradients, are the module's own; twice, as the first call may learn.
void expect_followed(Compiled& fast, nn::Module& module, const Tensor& x, const std::string& what) {
  SCOPED_TRACE(what);
  for (int call = 0; call < 2; ++call) {
    {
      const NoGradGuard no_grad;
      const Tensor got = fast(x), wanted = module(x);
      ASSERT_EQ(got.sizes(), wanted.sizes());
      EXPECT_TRUE(allclose(got, wanted, 1e-4, 1e-5)) << (got - wanted).abs().max().item<float>();
    }
    const Tensor got = fast(x), wanted = module(x);
    expect_same(got.detach(), wanted.detach());
    if (!wanted.requires_grad()) continue;
    const std::vector<Tensor> parameters = module.parameters();
    const GradOptions options{.grad_outputs = {gradient_for(wanted, call)}, .allow_unused = true};
    const auto own = grad({got}, parameters, options), theirs = grad({wanted}, parameters, options);
    for (size_t i = 0; i < parameters.size(); ++i) expect_same(own[i], theirs[i], str("parameter ", i));
  }
}

/// A weight, and what is computed of it alone: a constant of the plan.
struct Masked : nn::Module {
  Tensor weight;
  explicit Masked(Tensor w) : weight(std::move(w)) { eval(); }
  void fields(nn::Fields& f) override { f("weight", weight); }
  Tensor forward(const Tensor& x) override { return matmul(x, exp(weight) * 0.1); }
};

// Memory of ours, so that another storage takes the very place of the one before, with the same version.
TEST(CompileFollows, AnotherStorageAtTheSameAddress) {
  std::array<float, 16> memory{};
  const auto put = [&](float value) {
    memory.fill(value);
    return from_blob(memory.data(), {4, 4}).requires_grad_();
  };
  Masked module(put(1));
  Compiled fast = compile(module);
  const Tensor x = arange(8.0).view({2, 4}) + 1;
  for (int i = 0; i < 4; ++i) {
    module.weight = Tensor();
    module.weight = put(static_cast<float>(i) * 0.3F);
    expect_followed(fast, module, x, str("assignment ", i));
    EXPECT_EQ(fast.why(), "");
  }
}

TEST(CompileFollows, AssignedParameters) {
  manual_seed(21);
  nn::Sequential net(nn::Conv2d(3, 16, 3, {.padding = 1}), nn::BatchNorm2d(16), nn::ReLU(), nn::Conv2d(16, 4, 1));
  net.eval();
  auto& conv = net.at<nn::Conv2d>(0);
  Compiled fast = compile(net);
  const Tensor x = randn({2, 3, 8, 8});
  expect_followed(fast, net, x, "at first");
  const Tensor whole = conv.weight.detach().clone();
  for (int i = 0; i < 6; ++i) {
    const NoGradGuard no_grad;
    conv.weight = (conv.weight * 0.5).requires_grad_();
    const EnableGradGuard recording;
    expect_followed(fast, net, x, str("halved ", i));
  }
  conv.weight = (whole * (whole > 0).to(kFloat32)).requires_grad_();
  expect_followed(fast, net, x, "pruned");
  conv.weight = whole.clone().requires_grad_();
  expect_followed(fast, net, x, "put back");
  net.at<nn::BatchNorm2d>(1).running_mean = rand({16});
  expect_followed(fast, net, x, "another buffer");
}

TEST(CompileFollows, OtherElementsOfTheSameMemory) {
  manual_seed(22);
  Masked module(randn({4, 4}).requires_grad_());
  Compiled fast = compile(module);
  const Tensor x = randn({3, 4}), whole = randn({5, 4});
  expect_followed(fast, module, x, "at first");
  module.weight = module.weight.detach().t().requires_grad_();
  expect_followed(fast, module, x, "transposed");
  for (const int64_t row : {0, 1}) {
    module.weight = whole.narrow(0, row, 4).requires_grad_();
    expect_followed(fast, module, x, str("from row ", row));
  }
}

TEST(CompileFollows, ChangesThroughData) {
  manual_seed(25);
  Masked module((randn({4, 4}) * 0.3).requires_grad_());
  Compiled fast = compile(module);
  const Tensor x = randn({3, 4});
  for (int i = 0; i < 3; ++i) {
    module.weight.data().mul_(1.5);
    expect_followed(fast, module, x, str("change ", i));
  }
  EXPECT_EQ(fast.why(), "");
}

TEST(CompileFollows, TiedAndParted) {
  manual_seed(23);
  Of module([](Of& m, const Tensor& x) { return matmul(matmul(x, m.own[0]), m.own[1]) * m.own[2]; }, {},
            {randn({4, 4}).requires_grad_(), randn({4, 4}).requires_grad_(), randn({4}).requires_grad_()});
  Compiled fast = compile(module);
  const Tensor x = randn({2, 4});
  expect_followed(fast, module, x, "parted");
  module.own[1] = module.own[0];
  expect_followed(fast, module, x, "tied");
  module.own[1] = module.own[0].detach().requires_grad_();  // a parameter of its own over the same memory
  expect_followed(fast, module, x, "the same memory");
  module.own[0] = module.own[1];
  expect_followed(fast, module, x, "tied the other way");
}

TEST(CompileFollows, OtherParts) {
  manual_seed(24);
  Of module([](Of& m, const Tensor& x) { return m.part(1, m.part(0, x)); }, {nn::Linear(4, 4), nn::ReLU()});
  module.eval();
  Compiled fast = compile(module);
  const Tensor x = randn({3, 4});
  expect_followed(fast, module, x, "at first");
  for (int i = 0; i < 3; ++i) {
    module.parts[1] = nn::Tanh();
    expect_followed(fast, module, x, "tanh");
    module.parts[1] = nn::LeakyReLU(0.3);
    expect_followed(fast, module, x, "leaky");
    module.parts[1] = nn::LeakyReLU(0.6);
    expect_followed(fast, module, x, "leakier");
  }
}

TEST(CompileFollows, MovesBetweenForwardAndBackwardAreFound) {
  manual_seed(25);
  std::array<float, 16> memory{};
  const auto expect_error = [](const Tensor& y) {
    try {
      y.sum().backward();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("load_state_dict with assign"), std::string::npos) << error.what();
    }
  };
  const Tensor x = randn({2, 4}).requires_grad_();
  Of module([](Of& m, const Tensor& in) { return matmul(in, m.own[0]); }, {}, {from_blob(memory.data(), {4, 4}).requires_grad_()});
  Compiled fast = compile(module);
  (void)fast(x);
  for (nn::Module* const called : {static_cast<nn::Module*>(&fast), static_cast<nn::Module*>(&module)}) {
    // The version and the address are what they were, the values are not.
    Tensor y = (*called)(x);
    (void)module.load_state_dict({{"p0", zeros({4, 4})}}, {.assign = true});
    memory.fill(2);
    (void)module.load_state_dict({{"p0", from_blob(memory.data(), {4, 4})}}, {.assign = true});
    expect_error(y);
    y = (*called)(x);
    module.to(kFloat64);
    module.to(kFloat32);
    expect_error(y);
    (*called)(x).sum().backward();
  }
}

TEST(CompileFollows, SharedMemoryIsNotForgotten) {
  manual_seed(26);
  nn::Linear net(4, 3);
  net.eval();
  Compiled fast = compile(net);
  const Tensor x = randn({2, 4});
  expect_followed(fast, net, x, "at first");
  net.share_memory();  // nothing holds its memory but the module
  expect_followed(fast, net, x, "shared");
  EXPECT_EQ(fast.why(), "");
  const NoGradGuard no_grad;
  (void)fast(x);
  EXPECT_NE(fast.why().find("shared memory"), std::string::npos) << fast.why();
}

// A forward that draws is called by itself, but learning that takes a call: the numbers of that one are not gone.
TEST(CompileFollows, LearningDrawsNoNumbers) {
  manual_seed(27);
  nn::Sequential net(nn::Linear(6, 6), nn::Dropout(0.5));
  nn::Sequential plain = nn::clone(net);
  Compiled fast = compile(net);
  for (const int64_t n : {2, 3}) {
    const Tensor x = randn({n, 6});
    manual_seed(28);
    const Tensor got = fast(x), then = rand({4});
    manual_seed(28);
    expect_same(got.detach(), plain(x).detach());
    expect_same(then, rand({4}));
  }
}

TEST(CompileFollows, InputsOfOtherStrides) {
  manual_seed(29);
  nn::Linear net(64, 33);
  Compiled fast = compile(net);
  const Tensor x = randn({5, 64});
  for (const Tensor& each : {x, x.t().contiguous().t(), randn({5, 70}).narrow(1, 3, 64), randn({64}).expand({5, 64})})
    expect_followed(fast, net, each, str(each.strides()));
}

// One that no convolution takes in, with a convolution and its ReLU behind it.
TEST(CompileFollows, ParametersThatAreNotFinite) {
  manual_seed(30);
  nn::Sequential net(nn::GroupNorm(1, 16), nn::Conv2d(16, 16, 3, {.padding = 1}), nn::ReLU());
  net.eval();
  Compiled fast = compile(net);
  const NoGradGuard no_grad;
  const Tensor x = randn({2, 16, 6, 6});
  (void)fast(x);
  net.at<nn::GroupNorm>(0).weight.select(0, 0).fill_(std::numeric_limits<double>::infinity());
  for (int call = 0; call < 2; ++call) EXPECT_TRUE(allclose(fast(x), net(x), 1e-4, 1e-5, true));
  net.at<nn::GroupNorm>(0).weight.fill_(1);
  (void)fast(x);
  EXPECT_EQ(fast.why(), "");
}

}  // namespace
}  // namespace tandem::compiling
