// Compiled modules give what the modules give, whatever they are made of, and step aside where they cannot.
#include <gtest/gtest.h>
#include <tandem/tandem.h>

#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "kernels/cpu/blocked.h"

namespace tandem {
namespace {

/// Whether convolutions take in what follows them: oneDNN has code for blocked channels on this processor.
bool fuses() { return kernels::cpu::channel_block() > 0; }

/// A module of a function; `parts` are named.
struct Of : nn::Module {
  std::function<Tensor(Of&, const Tensor&)> function;
  std::vector<nn::AnyModule> parts;
  Tensor held;  // no field

  explicit Of(std::function<Tensor(Of&, const Tensor&)> f, std::vector<nn::AnyModule> p = {})
      : function(std::move(f)), parts(std::move(p)) {
    eval();
  }
  void fields(nn::Fields& f) override {
    for (size_t i = 0; i < parts.size(); ++i) f(std::to_string(i), *parts[i]);
  }
  Tensor forward(const Tensor& x) override { return function(*this, x); }
  Tensor part(size_t i, const Tensor& x) { return (*parts[i])(x); }
};

/// Statistics as training leaves them, so that batch normalization does something.
void season(nn::ModuleBase& module) {
  const NoGradGuard no_grad;
  for (auto& [name, buffer] : module.named_buffers()) {
    if (name.ends_with("running_mean")) buffer.copy_(randn(buffer.sizes()) * 0.1);
    if (name.ends_with("running_var")) buffer.copy_(rand(buffer.sizes()) + 0.5);
  }
  for (auto& [name, parameter] : module.named_parameters())
    if (parameter.dim() == 1) parameter.copy_(parameter + randn(parameter.sizes()) * 0.1);
  module.eval();
}

void expect_near(const Tensor& got, const Tensor& wanted) {
  ASSERT_EQ(got.sizes(), wanted.sizes());
  ASSERT_EQ(got.dtype(), wanted.dtype());
  const double size = wanted.numel() ? wanted.abs().max().to(kFloat64).item<double>() : 0;
  EXPECT_TRUE(allclose(got, wanted, 1e-4, 1e-5 * size, true)) << (got - wanted).abs().max().item<double>() << " of " << size;
}

/// The steps are used, and give what the module gives: for the input they were learned with, and for another.
void check(nn::Module& module, const Tensor& x, const std::string& line = {}) {
  SCOPED_TRACE(module.name());
  const NoGradGuard no_grad;
  Compiled fast = compile(module);
  (void)fast(x);
  EXPECT_EQ(fast.why(), "");
  if (fuses()) {
    EXPECT_NE(fast.steps().find(line), std::string::npos) << fast.steps();
  }
  const Tensor first = fast(x), kept = first.clone(), other = is_floating(x.dtype()) ? x * 0.5 + 0.25 : x.flip({0});
  expect_near(first, module(x));
  expect_near(fast(other), module(other));
  EXPECT_EQ(fast.why(), "");
  EXPECT_TRUE(equal(first, kept)) << "a call has written over the result of the call before";
}

void expect_own(nn::Module& module, const Tensor& x, const std::string& why) {
  SCOPED_TRACE(why);
  const NoGradGuard no_grad;
  Compiled fast = compile(module);
  for (int call = 0; call < 3; ++call) {
    const Tensor y = fast(x);
    EXPECT_NE(fast.why().find(why), std::string::npos) << fast.why();
    expect_near(y, module(x));
  }
}

TEST(Compile, AgreesOnWholeNetworks) {
  manual_seed(3);
  for (const int64_t n : {1, 2, 3}) {
    SCOPED_TRACE(n);
    const auto network = [](auto net, const Tensor& x, const std::string& line = {}) {
      season(net);
      check(net, x, line);
    };
    network(models::resnet18({.num_classes = 7}), rand({n, 3, 40, 48}), "convolution + scale and shift");
    network(models::resnet50({.num_classes = 0}), rand({n, 3, 33, 33}), "sum in place, relu");
    network(models::d2l_resnet18(), rand({n, 1, 28, 28}));
    network(models::d2l_lenet(), rand({n, 1, 28, 28}));
    network(models::cifar_cnn(), rand({n, 3, 32, 32}));
    network(models::mlp({20, 30, 5}), randn({n, 20}));
    network(models::TextGru({.vocabulary = 50}), randint(0, 50, {n, 9}));
    network(nn::TransformerEncoderLayer(32, 4, {.dim_feedforward = 64, .batch_first = true}), randn({n, 6, 32}));
  }
  auto net = models::densenet121(5);
  season(net);
  check(net, rand({2, 3, 64, 64}));
}

TEST(Compile, AgreesOnConvolutionsOfAllKinds) {
  manual_seed(4);
  struct Form {
    int64_t in, out, kernel, stride, padding, dilation, groups;
    bool bias;
  };
  for (const Form& f : {Form{5, 20, 3, 1, 1, 1, 1, true}, Form{16, 32, 3, 2, 1, 1, 1, false}, Form{33, 7, 5, 1, 2, 1, 1, true},
                        Form{48, 48, 3, 1, 1, 1, 48, false}, Form{64, 64, 3, 1, 2, 2, 1, true}, Form{1, 1, 3, 1, 1, 1, 1, true},
                        Form{32, 64, 1, 1, 0, 1, 1, true}, Form{32, 64, 1, 2, 0, 1, 1, false}, Form{32, 64, 3, 1, 1, 1, 4, true}}) {
    SCOPED_TRACE(str(f.in, " -> ", f.out, " kernel ", f.kernel, " stride ", f.stride, " groups ", f.groups));
    const nn::Conv2d first(3, f.in, 3, {.padding = 1});
    const nn::Conv2d conv(f.in, f.out, f.kernel,
                          {.stride = f.stride, .padding = f.padding, .dilation = f.dilation, .groups = f.groups, .bias = f.bias});
    for (const int64_t n : {1, 2, 5}) {
      nn::Sequential alone(conv);
      season(alone);
      check(alone, randn({n, f.in, 13, 11}));
      nn::Sequential all(first, nn::ReLU(), conv, nn::BatchNorm2d(f.out), nn::ReLU(), nn::Conv2d(f.out, 3, 1));
      season(all);
      check(all, randn({n, 3, 13, 11}), "convolution");
      nn::Sequential pooled(first, nn::BatchNorm2d(f.in), nn::ReLU(), nn::MaxPool2d(3, {.stride = 2, .padding = 1}), conv, nn::Sigmoid());
      season(pooled);
      check(pooled, randn({n, 3, 17, 12}));
    }
  }
}

TEST(Compile, DoesChainsTileByTile) {
  manual_seed(11);
  const std::vector<std::function<Tensor(Of&, const Tensor&)>> forms = {
      [](Of&, const Tensor& x) { return tanh(sigmoid(x * 2 + 1) - x) * 3; },
      [](Of&, const Tensor& x) {
        const Tensor y = x * 2, z = y + 1;  // is read by what is no part of the chain
        return z.exp() * y.sum() + z;
      },
      [](Of&, const Tensor& x) {
        const Tensor y = x * 0.5 + 1;
        y.mul_(3).add_(x).relu_();
        return y * y;
      },
      [](Of&, const Tensor& x) {
        const Tensor y = x + 1;  // changed where it lies, and by a part of itself
        y.narrow(0, 0, 10).copy_(y.narrow(0, 5, 10) * 2);
        y.narrow(0, 10, 10).add_(y.narrow(0, 0, 10));
        return y * 2 + x;
      },
      [](Of&, const Tensor& x) { return where((x > 0).logical_not(), x.to(kFloat64) * 2, 1.0).to(kFloat32) + x; },
      [](Of&, const Tensor& x) {
        const Tensor y = x * 3;
        return (y + 1).t() * 2 + (y - 1).t();
      },
  };
  for (const int64_t columns : {1, 100, 409, 5001})
    for (size_t i = 0; i < forms.size(); ++i) {
      SCOPED_TRACE(str(i, ", ", columns, " columns"));
      Of module(forms[i]);
      const NoGradGuard no_grad;
      const Tensor x = randn({20, columns});
      Compiled fast = compile(module);
      (void)fast(x);
      EXPECT_EQ(fast.why(), "");
      EXPECT_NE(fast.steps().find("tile by tile"), std::string::npos) << fast.steps();
      for (const Tensor& in : {x, x * 2 - 1}) EXPECT_TRUE(equal(fast(in), module(in)));
    }
}

TEST(Compile, KeepsWhatIsReadTwice) {
  manual_seed(5);
  const std::vector<nn::AnyModule> parts = {nn::Conv2d(16, 16, 3, {.padding = 1}), nn::BatchNorm2d(16),
                                            nn::Conv2d(16, 16, 3, {.padding = 1}), nn::BatchNorm2d(16)};
  const std::function<Tensor(Of&, const Tensor&)> forms[] = {
      [](Of& m, const Tensor& x) { return relu(m.part(1, m.part(0, x)) + x); },
      [](Of& m, const Tensor& x) { return relu(x + m.part(1, m.part(0, x))); },
      [](Of& m, const Tensor& x) { return relu(m.part(0, x) + m.part(2, x)); },
      [](Of& m, const Tensor& x) {
        const Tensor y = m.part(0, x);
        return relu(y + y);
      },
      [](Of& m, const Tensor& x) {
        const Tensor y = m.part(0, x);
        return relu(m.part(2, y) + y) + y;
      },
      [](Of& m, const Tensor& x) {
        const Tensor y = relu(m.part(0, x));
        return relu(m.part(2, y) + y) * m.part(2, y);
      },
      [](Of& m, const Tensor& x) {
        const Tensor y = m.part(0, x), z = m.part(2, y);
        return relu(y + z) + m.part(2, y);
      },
      [](Of& m, const Tensor& x) {
        const Tensor y = m.part(0, x);
        return relu(y) + relu(y * 2);
      },
      [](Of& m, const Tensor& x) {
        const Tensor y = m.part(1, m.part(0, x));
        return y.transpose(2, 3);
      },
      [](Of& m, const Tensor& x) { return m.part(0, x).narrow(1, 3, 5); },
      [](Of& m, const Tensor& x) {
        const Tensor y = m.part(0, x);
        y.add_(1);
        return relu(m.part(2, y));
      },
      [](Of& m, const Tensor& x) {
        return cat({m.part(0, x), relu(m.part(1, m.part(2, x)))}, 1);
      },
      [](Of& m, const Tensor& x) {
        const Tensor y = zeros({2, 16, 9, 9});
        y.narrow(2, 0, 7).copy_(m.part(0, x));
        return m.part(2, y);
      },
      [](Of& m, const Tensor& x) { return m.part(1, relu(m.part(0, x))); },
      [](Of& m, const Tensor& x) {
        return addcmul(tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}), m.part(0, x), tensor({2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0}));
      },
      [](Of& m, const Tensor& x) {
        return softmax(x * m.part(0, x).mean({2, 3}, true), 1);
      },
      [](Of& m, const Tensor& x) {
        return m.part(2, relu(m.part(0, x)).reshape({1, 16, 14, 7}));
      },
      [](Of& m, const Tensor& x) {
        return m.part(2, m.part(0, x).reshape({2, 16, 49, 1}));
      },
      [](Of& m, const Tensor& x) {
        const Tensor y = m.part(0, x), z = m.part(2, x.reshape({1, 16, 14, 7}));
        return relu(y + z.reshape({2, 16, 7, 7}));
      },
      [](Of& m, const Tensor& x) {
        return max_pool2d(m.part(0, x).reshape({1, 16, 14, 7}), 2);
      },
      [](Of& m, const Tensor& x) {
        return m.part(2, max_pool2d(m.part(0, x), 3, {.stride = 1, .padding = 1}).reshape({1, 16, 14, 7}));
      },
  };
  for (size_t i = 0; i < std::size(forms); ++i) {
    SCOPED_TRACE(i);
    Of module(forms[i], parts);
    season(module);
    check(module, randn({2, 16, 7, i == 12 ? 9 : 7}));
  }
}

TEST(Compile, IsTheSameForAnyNumberOfThreads) {
  manual_seed(6);
  auto net = models::resnet50({.num_classes = 0});
  season(net);
  const NoGradGuard no_grad;
  const int before = get_num_threads();
  for (const int64_t n : {1, 4}) {
    const Tensor x = rand({n, 3, 96, 96});
    Tensor wanted;
    for (const int threads : {1, 2, 5}) {
      set_num_threads(threads);
      Compiled fast = compile(net);
      (void)fast(x);
      const Tensor y = fast(x);
      if (!wanted.defined()) wanted = y;
      EXPECT_TRUE(equal(y, wanted)) << n << " images, " << threads << " threads";
    }
  }
  set_num_threads(before);
}

TEST(Compile, FollowsParameters) {
  manual_seed(7);
  auto net = models::resnet18({.num_classes = 4});
  season(net);
  const Tensor x = rand({2, 3, 32, 32});
  Compiled fast = compile(net);
  const NoGradGuard no_grad;
  (void)fast(x);
  const auto expect_followed = [&] {
    const Tensor wanted = net(x);
    expect_near(fast(x), wanted);
    EXPECT_EQ(fast.why(), "");
    expect_near(fast(x), wanted);
  };
  for (auto& parameter : net.parameters()) parameter.mul_(1.1);
  expect_followed();
  auto other = models::resnet18({.num_classes = 4});
  season(other);
  net.load_state_dict(other.state_dict());
  expect_followed();
  net.load_state_dict(other.state_dict(), {.assign = true});
  expect_followed();
  net.to(kFloat64);
  const Tensor wide = x.to(kFloat64);
  (void)fast(wide);
  expect_near(fast(wide), net(wide));
  EXPECT_EQ(fast.why(), "");
}

TEST(Compile, LearnsEachSizeAndForgetsTheOldest) {
  auto net = models::mlp({6, 5, 3});
  net.eval();
  Compiled fast = compile(net, {.max_sizes = 2});
  const NoGradGuard no_grad;
  for (int round = 0; round < 2; ++round)
    for (const int64_t n : {1, 2, 3, 4}) {
      const Tensor x = randn({n, 6});
      expect_near(fast(x), net(x));
      expect_near(fast(x), net(x));
      EXPECT_EQ(fast.why(), "");
    }
  expect_near(fast(zeros({0, 6})), net(zeros({0, 6})));
  const Tensor turned = randn({6, 4}).t();
  expect_near(fast(turned), net(turned));
  const Tensor rows = randn({9, 6});
  expect_near(fast(rows.narrow(0, 3, 4)), net(rows.narrow(0, 3, 4)));
  EXPECT_EQ(fast.why(), "");
  EXPECT_THROW((void)compile(net, {.max_sizes = 0}), Error);
}

TEST(Compile, StepsAside) {
  manual_seed(8);
  const Tensor x = randn({2, 4});
  Of reads([](Of&, const Tensor& in) { return in.sum().item<float>() > 0 ? in * 2 : in * 3; });
  expect_own(reads, x, "[item] needs values");
  Of asks([](Of&, const Tensor& in) { return in.sum() > 0 ? in * 2 : in * 3; });
  expect_own(asks, x, "needs values");
  Of touches([](Of&, const Tensor& in) { return in * 2 + static_cast<double>(in.data_ptr<float>()[0]); });
  expect_own(touches, x, "[data_ptr]");
  Of unnamed([](Of& m, const Tensor& in) { return in * m.held; });
  unnamed.held = randn({4});
  expect_own(unnamed, x, "name it in fields()");
  Of changes([](Of& m, const Tensor& in) {
    m.held.copy_(in);
    return in * 2;
  });
  changes.held = zeros({2, 4});
  expect_own(changes, x, "neither the input nor a parameter");
  Of overwrites([](Of&, const Tensor& in) {
    const Tensor same = in;
    same.mul_(1);
    return in * 2;
  });
  expect_own(overwrites, x, "changes a tensor that was there before");
  Of keeps([](Of& m, const Tensor& in) {
    m.held = in * 2;
    return m.held + 1;
  });
  expect_own(keeps, x, "keeps a tensor");
  Of keeps_result([](Of& m, const Tensor& in) { return m.held = in * 2; });
  expect_own(keeps_result, x, "keeps the tensor that it gives");
  Of keeps_input([](Of& m, const Tensor& in) {
    m.held = in;
    return in * 2;
  });
  expect_own(keeps_input, x, "keeps its input");
  Of nothing([](Of&, const Tensor& in) { return in; });
  expect_own(nothing, x, "not a new tensor");
  Of constant([](Of&, const Tensor&) { return ones({3}); });
  expect_own(constant, x, "does not depend on its input");
  nn::Sequential hooked(nn::Linear(4, 3));
  hooked.eval();
  const auto handle = hooked[0].register_forward_hook([](nn::Module&, const Tensor&, Tensor& y) { y = y * 2; });
  expect_own(hooked, x, "hooks");
  auto drops = nn::Sequential(nn::Linear(4, 4), nn::Dropout(0));
  expect_own(drops, x, "it trains");
  Of waits([](Of& m, const Tensor& in) { return m.part(0, in); }, {nn::LazyLinear(3)});
  const NoGradGuard no_grad;
  Compiled lazy = compile(waits);
  (void)lazy(x);
  EXPECT_EQ(lazy.why(), "it waits for its first forward");
  (void)lazy(x);
  EXPECT_EQ(lazy.why(), "");
}

TEST(Compile, StepsAsideForRandomNumbersAndHiddenState) {
  const Tensor x = ones({64});
  const NoGradGuard no_grad;
  Of draws([](Of&, const Tensor& in) { return dropout(in, 0.5, true); });
  Compiled random = compile(draws);
  EXPECT_FALSE(equal(random(x), random(x)));
  EXPECT_NE(random.why().find("[dropout]"), std::string::npos) << random.why();
  int calls = 0;
  Of counts([&](Of&, const Tensor& in) { return in * ++calls; });
  Compiled counted = compile(counts);
  (void)counted(x);
  EXPECT_NE(counted.why().find("depends on more than its input"), std::string::npos) << counted.why();
  const double before = counted(x).sum().item<double>();
  EXPECT_EQ(counted(x).sum().item<double>(), before + 64);
}

TEST(Compile, GivesWhatTheModuleGivesForNumbersThatAreNotFinite) {
  manual_seed(9);
  nn::Sequential net(nn::Conv2d(3, 16, 3, {.padding = 1}), nn::ReLU(), nn::Conv2d(16, 4, 1));
  net.eval();
  const NoGradGuard no_grad;
  Compiled fast = compile(net);
  Tensor x = randn({1, 3, 8, 8});
  (void)fast(x);
  x.select(1, 0).select(1, 2).select(1, 2).fill_(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(fast(x).isnan().any().item<bool>());
  EXPECT_TRUE(allclose(fast(x), net(x), 1e-5, 1e-5, true));
  EXPECT_EQ(fast.why() != "", fuses());
  x = randn({1, 3, 8, 8});
  (void)fast(x);
  EXPECT_EQ(fast.why(), "");
  net.parameters()[0].select(0, 0).fill_(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(allclose(fast(x), net(x), 1e-5, 1e-5, true));
  EXPECT_EQ(fast.why(), fuses() ? "a parameter is not finite" : "");
}

TEST(Compile, ThrowsWhatTheModuleThrows) {
  auto net = models::TextGru({.vocabulary = 10});
  net.eval();
  const NoGradGuard no_grad;
  Compiled fast = compile(net);
  const Tensor good = randint(0, 10, {2, 5});
  const Tensor wanted = fast(good);
  EXPECT_THROW((void)fast(good + 10), IndexError);
  try {
    (void)fast(good + 10);
  } catch (const Error& error) {
    EXPECT_NE(error.layer(), "") << error.what();
  }
  expect_near(fast(good), wanted);
  auto linear = models::mlp({4, 2});
  linear.eval();
  Compiled checked = compile(linear);
  EXPECT_THROW((void)checked(randn({2, 5})), Error);
  EXPECT_THROW((void)checked(Tensor()), Error);
  (void)checked(randn({2, 4}));
  EXPECT_EQ(checked.why(), "");
}

TEST(Compile, IsCalledByManyThreads) {
  manual_seed(10);
  auto net = models::resnet18({.num_classes = 3});
  season(net);
  Compiled fast = compile(net);
  const Tensor x = rand({1, 3, 32, 32});
  Tensor wanted;
  {
    const NoGradGuard no_grad;
    wanted = net(x);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const NoGradGuard no_grad;
      for (int i = 0; i < 5; ++i) expect_near(fast(x), wanted);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Compile, IsAModule) {
  auto net = models::mlp({4, 3, 2});
  Compiled fast = compile(net);
  EXPECT_EQ(fast.named_parameters()[0].first.substr(0, 7), "module.");
  fast.eval();
  EXPECT_FALSE(net.training());
  nn::Sequential around(fast, nn::Sigmoid());
  around.eval();
  const NoGradGuard no_grad;
  const Tensor x = randn({2, 4});
  expect_near(around(x), sigmoid(net(x)));
  Compiled whole = compile(around);
  (void)whole(x);
  EXPECT_EQ(whole.why(), "");
  expect_near(whole(x), sigmoid(net(x)));
  fast.reset();
  expect_near(fast(x), net(x));
}

TEST(Compile, SaysThatTheModuleHasEnded) {
  auto net = std::make_unique<nn::Linear>(2, 2);
  Compiled fast = compile(*net);
  net.reset();
  try {
    (void)fast(randn({1, 2}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has ended"), std::string::npos) << error.what();
  }
}

TEST(Compile, IsTheModuleOnAGpu) {
  if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU";
  auto net = models::mlp({4, 3, 2});
  net.eval();
  net.to("cuda:0");
  const NoGradGuard no_grad;
  Compiled fast = compile(net);
  const Tensor x = randn({2, 4}, "cuda:0");
  expect_near(fast(x).cpu(), net(x).cpu());
  EXPECT_NE(fast.why(), "");
}

}  // namespace
}  // namespace tandem
