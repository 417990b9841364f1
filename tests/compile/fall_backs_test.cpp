// Compiled modules in training where something changes or fails between the calls, and where the module's own forward is called instead.
#include "compile/training.h"

namespace tandem::compiling {
namespace {

TEST(CompileFallBacks, GraphIsFreedAsTheModulesIs) {
  auto net = mlp();
  Compiled fast = compile(net);
  const auto text_of = [](const std::function<void()>& f) {
    try {
      f();
    } catch (const Error& error) {
      return std::string(error.message());
    }
    return std::string();
  };
  for (int round = 0; round < 2; ++round) {
    const Tensor x = randn({2, 6}).requires_grad_();
    const Tensor y = fast(x);
    EXPECT_STREQ(y.grad_fn()->name(), "CompiledBackward");
    y.sum().backward({}, {.retain_graph = true});
    const Tensor once = x.grad().clone();
    y.sum().backward();
    expect_same(x.grad(), once * 2);
    EXPECT_NE(text_of([&] { y.sum().backward(); }).find("Trying to backward through the graph a second time"), std::string::npos);
    const std::string twice = text_of([&] { (void)grad({fast(x).sum()}, {x}, {.create_graph = true}); });
    EXPECT_NE(twice.find("no gradient of its gradient"), std::string::npos) << twice;
    // Gradients of some alone.
    const auto some = grad({fast(x).sum()}, {net.parameters()[2]});
    EXPECT_EQ(some[0].sizes(), net.parameters()[2].sizes());
  }
  // Where nothing is kept a graph may be walked again.
  Of doubles([](Of&, const Tensor& x) { return x * 2 + 1; });
  Compiled twice = compile(doubles);
  const Tensor x = ones({3}).requires_grad_();
  (void)twice(x);
  const Tensor y = twice(x).sum();
  y.backward();
  y.backward();
  EXPECT_EQ(x.grad().sum().item<float>(), 12);
}

TEST(CompileFallBacks, ChangesBetweenForwardAndBackwardAreFound) {
  manual_seed(7);
  auto net = mlp();
  Compiled fast = compile(net);
  const Tensor x = randn({2, 6});
  (void)fast(x);
  const auto expect_version_error = [&](const Tensor& y) {
    try {
      y.sum().backward();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("has been modified by an inplace operation"), std::string::npos) << error.what();
    }
  };
  Tensor y = fast(x);
  {
    const NoGradGuard no_grad;
    net.parameters()[2].add_(1);
  }
  expect_version_error(y);
  y = fast(x);
  x.add_(1);
  expect_version_error(y);
  Of soft([](Of& m, const Tensor& in) { return softmax(m.part(0, in), 1); }, {nn::Linear(6, 3)});
  Compiled soft_fast = compile(soft);
  (void)soft_fast(x);
  y = soft_fast(x);
  const Tensor changed = y * 1;
  {
    const NoGradGuard no_grad;
    y.mul_(2);
  }
  expect_version_error(y);
  y = soft_fast(x);
  y.mul_(2);  // recorded
  expect_version_error(y);
  // One that moves takes its memory along.
  y = fast(x);
  net.to(kFloat64);
  EXPECT_THROW(y.sum().backward(), Error);
  const Tensor wide = randn({2, 6}, kFloat64);
  fast(wide).sum().backward();
  EXPECT_EQ(fast.why(), "");
}

TEST(CompileFallBacks, ModesAndSizesAlternate) {
  manual_seed(8);
  auto own = cnn(), plain = nn::clone(own);
  Compiled fast = compile(own, {.max_sizes = 3});
  for (int round = 0; round < 3; ++round)
    for (const int64_t n : {2, 3}) {
      const Tensor x = randn({n, 3, 8, 8});
      fast.train();
      plain.train();
      expect_same(fast(x), plain(x));  // changes running figures
      fast(x).sum().backward();
      plain(x).sum().backward();
      EXPECT_EQ(fast.why(), "");
      fast.eval();
      plain.eval();
      {
        const NoGradGuard no_grad;
        const Tensor got = fast(x), wanted = plain(x);
        EXPECT_TRUE(allclose(got, wanted, 1e-4, 1e-5)) << (got - wanted).abs().max().item<float>();
        EXPECT_FALSE(got.requires_grad());
        EXPECT_EQ(fast.why(), "");
      }
      expect_same(fast(x), plain(x));  // gradients are recorded, nothing trains
      expect_same_state(own, plain);
    }
  const NoGradGuard no_grad;
  fast.train();
  (void)fast(randn({2, 3, 8, 8}));
  EXPECT_EQ(fast.why(), "it trains: call eval() before");
  EXPECT_EQ(fast(zeros({0, 3, 8, 8})).size(0), 0);
}

TEST(CompileFallBacks, InsideAndAroundOthers) {
  manual_seed(9);
  auto inner = mlp(), plain_inner = nn::clone(inner);
  nn::Sequential plain(nn::Linear(6, 6), plain_inner, nn::Sigmoid());
  Compiled fast_inner = compile(inner);
  nn::Sequential around(nn::clone(static_cast<const nn::Linear&>(plain[0])), fast_inner, nn::Sigmoid());
  int calls = 0;
  const auto handle = around[1].register_forward_hook([&](nn::Module&, const Tensor&, Tensor&) { ++calls; });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = randn({4, 6});
    around(x).sum().backward();
    plain(x).sum().backward();
  }
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(fast_inner.why(), "");
  expect_same_state(around, plain);
  // One in another, and the same one twice in a row.
  nn::Sequential holds(nn::Linear(6, 6), compile(inner));
  Compiled whole = compile(holds);
  Of square([](Of& m, const Tensor& x) { return m.part(0, x); }, {nn::Linear(5, 5)});
  auto plain_square = nn::Linear(static_cast<const nn::Linear&>(*square.parts[0]));
  Compiled twice = compile(square);
  for (int i = 0; i < 3; ++i) {
    whole(randn({2, 6})).sum().backward();
    EXPECT_EQ(whole.why(), "");
    const Tensor x = randn({2, 5}).requires_grad_(), other = x.detach().clone().requires_grad_();
    square.zero_grad();
    twice(twice(twice(x))).sum().backward();
    EXPECT_EQ(twice.why(), "");
    const Tensor through = plain_square.weight.grad().clone();
    square.zero_grad();
    plain_square(plain_square(plain_square(other))).sum().backward();
    expect_same(through, plain_square.weight.grad());
    expect_same(x.grad(), other.grad());
  }
  // A copy knows what its original knows.
  Compiled copy = fast_inner;
  copy(randn({4, 6})).sum().backward();
  EXPECT_EQ(copy.why(), "");
  EXPECT_THROW((void)nn::clone(copy), Error);  // it is around the same module
}

TEST(CompileFallBacks, StepsAside) {
  manual_seed(10);
  const auto expect_own = [](nn::Module& module, const Tensor& x, const std::string& why) {
    SCOPED_TRACE(why);
    Compiled fast = compile(module);
    for (int i = 0; i < 3; ++i) {
      const Tensor y = fast(x);
      EXPECT_NE(fast.why().find(why), std::string::npos) << fast.why();
      if (y.requires_grad()) y.sum().backward();
    }
  };
  const Tensor x = randn({4, 6});
  nn::Sequential drops(nn::Linear(6, 6), nn::Dropout(0.5));
  expect_own(drops, x, "[dropout]");
  nn::Sequential counts(nn::Linear(6, 6), nn::BatchNorm1d(6, {.momentum = std::nullopt}));
  expect_own(counts, x, "[item]");
  nn::Sequential hooked(nn::Linear(6, 6));
  const auto handle = hooked[0].register_forward_hook([](nn::Module&, const Tensor&, Tensor&) {});
  expect_own(hooked, x, "hooks");
  nn::Linear watched(6, 6);
  int calls = 0;
  watched.weight.register_hook([&](const Tensor& g) {
    ++calls;
    return g;
  });
  expect_own(watched, x, "a parameter of it has hooks");
  EXPECT_EQ(calls, 3);
  Of keeps([](Of& m, const Tensor& in) { return m.held = m.part(0, in); }, {nn::Linear(6, 6)});
  expect_own(keeps, x, "keeps the tensor that it gives");
  Of holds(
      [](Of& m, const Tensor& in) {
        m.held = m.part(0, in).detach();
        return m.held + m.part(0, in);
      },
      {nn::Linear(6, 6)});
  expect_own(holds, x, "keeps a tensor");
  Of keeps_input(
      [](Of& m, const Tensor& in) {
        m.held = in;
        return m.part(0, in);
      },
      {nn::Linear(6, 6)});
  expect_own(keeps_input, x, "keeps its input");
  Of cut([](Of& m, const Tensor& in) { return m.part(0, in).detach(); }, {nn::Linear(6, 6)});
  expect_own(cut, x, "does not depend on what wants a gradient");
  Of handed([](Of&, const Tensor& in) { return in; }, {nn::Linear(6, 6)});
  expect_own(handed, x, "not a new tensor");
  Of viewed([](Of&, const Tensor& in) { return in.t(); }, {nn::Linear(6, 6)});
  expect_own(viewed, x, "not a new tensor");
  Of own_weight([](Of& m, const Tensor&) { return m.own[0].view({6}); }, {}, {randn({6}).requires_grad_()});
  expect_own(own_weight, x, "not a new tensor");
  Of changes(
      [](Of& m, const Tensor& in) {
        {
          const NoGradGuard no_grad;
          m.own[0].mul_(0.5);
        }
        return in * m.own[0];
      },
      {}, {randn({6}).requires_grad_()});
  expect_own(changes, x, "changes a tensor that was there before");
  int number = 0;
  Of counted([&](Of& m, const Tensor& in) { return in * m.own[0] * ++number; }, {}, {randn({6}).requires_grad_()});
  expect_own(counted, x, "depends on more than its input");
  Of product([](Of& m, const Tensor& in) { return in * m.own[0]; }, {}, {randn({4, 6}).requires_grad_()});
  expect_own(product, product.own[0], "its input is a parameter");
  Of computed([](Of& m, const Tensor& in) { return in * m.own[0]; }, {}, {randn({4, 6}).requires_grad_() * 2});
  Compiled of_computed = compile(computed);
  of_computed(x).sum().backward();
  EXPECT_NE(of_computed.why().find("is the result of an operation"), std::string::npos) << of_computed.why();
  const auto scope = autocast(cpu());
  auto cast = mlp();
  expect_own(cast, x, "autocast");
}

TEST(CompileFallBacks, ErrorsAreTheModulesOwn) {
  manual_seed(12);
  nn::Sequential net(nn::Embedding(10, 4), nn::Linear(4, 2));
  Compiled fast = compile(net);
  const Tensor good = randint(0, 10, {3});
  EXPECT_THROW((void)fast(good + 10), IndexError);  // at the first call
  fast(good).sum().backward();
  EXPECT_EQ(fast.why(), "");
  EXPECT_THROW((void)fast(good + 10), IndexError);
  fast(good).sum().backward();
  EXPECT_EQ(fast.why(), "");
  EXPECT_THROW((void)fast(randn({2, 2, 2})), Error);
  struct Stop {};
  bool stops = false;
  Of throws(
      [&](Of& m, const Tensor& in) {
        if (stops) throw Stop();
        return m.part(0, in);
      },
      {nn::Linear(4, 2)});
  Compiled thrown = compile(throws);
  stops = true;
  EXPECT_THROW((void)thrown(randn({1, 4})), Stop);
  stops = false;
  thrown(randn({1, 4})).sum().backward();
  EXPECT_EQ(thrown.why(), "");
  EXPECT_THROW(thrown(randn({1, 4})).backward(randn({3, 3})), Error);
}

}  // namespace
}  // namespace tandem::compiling
