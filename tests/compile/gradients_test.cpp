// Compiled modules in training: outputs, gradients and buffers are the module's own, whoever calls in whatever order.
#include <gtest/gtest.h>
#include <tandem/tandem.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace tandem {
namespace {

/// A module of a function; `parts` and `buffers` are named.
struct Of : nn::Module {
  std::function<Tensor(Of&, const Tensor&)> function;
  std::vector<nn::AnyModule> parts;
  std::vector<Tensor> own, changed;
  Tensor held;  // no field

  explicit Of(std::function<Tensor(Of&, const Tensor&)> f, std::vector<nn::AnyModule> p = {}, std::vector<Tensor> given = {})
      : function(std::move(f)), parts(std::move(p)), own(std::move(given)) {}
  void fields(nn::Fields& f) override {
    for (size_t i = 0; i < parts.size(); ++i) f(std::to_string(i), *parts[i]);
    for (size_t i = 0; i < own.size(); ++i) f("p" + std::to_string(i), own[i]);
    for (size_t i = 0; i < changed.size(); ++i) f.buffer("b" + std::to_string(i), changed[i]);
  }
  Tensor forward(const Tensor& x) override { return function(*this, x); }
  Tensor part(size_t i, const Tensor& x) { return (*parts[i])(x); }
};

void expect_same(const Tensor& got, const Tensor& wanted, const std::string& what = {}) {
  ASSERT_EQ(got.defined(), wanted.defined()) << what;
  if (!got.defined()) return;
  ASSERT_EQ(got.sizes(), wanted.sizes()) << what;
  ASSERT_EQ(got.dtype(), wanted.dtype()) << what;
  EXPECT_TRUE(equal(got, wanted)) << what << ": " << (got - wanted).abs().max().to(kFloat64).item<double>();
}

/// What of a module can be seen.
void expect_same_state(nn::Module& got, nn::Module& wanted) {
  const auto a = got.named_parameters(), b = wanted.named_parameters();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    expect_same(a[i].second, b[i].second, b[i].first);
    expect_same(a[i].second.grad(), b[i].second.grad(), b[i].first + ".grad");
  }
  const auto c = got.named_buffers(), d = wanted.named_buffers();
  ASSERT_EQ(c.size(), d.size());
  for (size_t i = 0; i < c.size(); ++i) expect_same(c[i].second, d[i].second, d[i].first);
}

Tensor input(const Tensor& x, bool wants) { return is_floating(x.dtype()) ? x.clone().requires_grad_(wants) : x; }
Tensor gradient_for(const Tensor& y, int step) {
  return (arange(y.numel(), {.dtype = kFloat32}) * 0.37 + step).sin().reshape(y.sizes()).to(y.dtype());
}

/// Steps of an optimizer on a compiled module, and on a copy of it that is not compiled, are the same to the bit.
template <class M>
void check(M& module, const Tensor& x, const std::string& line = {}, const std::string& why = {}) {
  SCOPED_TRACE(module.name());
  for (const bool wants : {false, true}) {
    SCOPED_TRACE(wants ? "the input wants a gradient" : "the input wants none");
    M plain = nn::clone(module), own = nn::clone(module);
    Compiled fast = compile(own);
    optim::SGD plain_opt(plain.parameters(), {.lr = 0.01, .momentum = 0.9}), own_opt(own.parameters(), {.lr = 0.01, .momentum = 0.9});
    for (int step = 0; step < 4; ++step) {
      SCOPED_TRACE(step);
      const Tensor a = input(x, wants), b = input(x, wants);
      const Tensor wanted = plain(b), got = fast(a);
      expect_same(got, wanted, "output");
      if (!wanted.requires_grad()) break;
      EXPECT_EQ(fast.why(), why);
      got.backward(gradient_for(wanted, step));
      wanted.backward(gradient_for(wanted, step));
      if (is_floating(x.dtype())) expect_same(a.grad(), b.grad(), "gradient of the input");
      expect_same_state(own, plain);
      if (why.empty()) {
        EXPECT_NE(fast.steps().find(line), std::string::npos) << fast.steps();
      }
      if (step == 1) continue;  // gradients of two steps are added up
      own_opt.step();
      plain_opt.step();
      own_opt.zero_grad();
      plain_opt.zero_grad();
    }
  }
}

nn::Sequential mlp() { return nn::Sequential(nn::Linear(6, 16), nn::ReLU(), nn::Linear(16, 16), nn::Tanh(), nn::Linear(16, 3)); }
nn::Sequential cnn() {
  return nn::Sequential(nn::Conv2d(3, 8, 3, {.padding = 1}), nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(8, 16, 3, {.padding = 1}), nn::BatchNorm2d(16), nn::ReLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                        nn::Linear(16, 4));
}

TEST(CompileGradients, AreTheModulesOwn) {
  manual_seed(1);
  auto a = mlp();
  check(a, randn({5, 6}), "backward:");
  auto b = cnn();
  check(b, randn({4, 3, 8, 8}), "backward:");
  b.eval();
  check(b, randn({4, 3, 8, 8}));
  auto resnet = models::resnet18({.num_classes = 3});
  check(resnet, randn({2, 3, 32, 32}));
  auto encoder = nn::TransformerEncoderLayer(16, 2, {.dim_feedforward = 32, .dropout = 0, .batch_first = true});
  check(encoder, randn({2, 5, 16}));
  auto lenet = models::d2l_lenet();
  check(lenet, randn({2, 1, 28, 28}));
  for (const DType dtype : {kFloat64, kBFloat16}) {
    auto other = mlp();
    other.to(dtype);
    check(other, randn({5, 6}, dtype));
  }
}

TEST(CompileGradients, OfRecurrentLayersCanBeTakenTwice) {
  manual_seed(2);
  auto text = models::TextGru({.vocabulary = 20});
  text.eval();  // no dropout
  const Tensor x = randint(0, 20, {3, 7});
  check(text, x);
  auto own = nn::clone(text);
  Compiled fast = compile(own);
  (void)fast(x);
  const Tensor y = fast(x), z = text(x);
  for (int i = 0; i < 2; ++i) {
    y.backward(gradient_for(y, 0), {.retain_graph = true});
    z.backward(gradient_for(y, 0), {.retain_graph = true});
  }
  expect_same_state(own, text);
}

TEST(CompileGradients, OfFunctionsOfAllKinds) {
  manual_seed(3);
  const auto weight = [] { return std::vector<Tensor>{randn({4, 6}).requires_grad_()}; };
  const std::function<Tensor(Of&, const Tensor&)> forms[] = {
      [](Of& m, const Tensor& x) { return x * m.own[0] + x; },
      [](Of& m, const Tensor& x) { return (x * m.own[0]).t(); },
      [](Of& m, const Tensor& x) { return (x + m.own[0]).narrow(1, 1, 3); },
      [](Of& m, const Tensor& x) { return x + m.own[0]; },              // the gradient comes and goes as it is
      [](Of& m, const Tensor& x) { return (x + m.own[0]).sum(); },      // and is expanded
      [](Of& m, const Tensor& x) { return softmax(x * m.own[0], 1); },  // backward reads the result
      [](Of& m, const Tensor& x) { return exp(x * 0.1) * m.own[0].sum(0); },
      [](Of& m, const Tensor& x) {
        const Tensor y = x * m.own[0];
        y.add_(1).relu_();
        return y * y;
      },
      [](Of& m, const Tensor& x) {
        return cat({x, m.own[0]}, 1).sort(1).values;
      },
      [](Of& m, const Tensor& x) { return sigmoid(x * 2 + 1) * tanh(m.own[0]) - x / 3; },
      [](Of& m, const Tensor& x) { return x.matmul(m.own[0].t()) + m.own[0].sum(); },
      [](Of& m, const Tensor& x) {
        const Tensor y = x * m.own[0];
        return y.detach() * x * m.own[0];
      },
      [](Of& m, const Tensor& x) {
        const NoGradGuard no_grad;
        const Tensor scale = x.abs().max();
        const EnableGradGuard recording;
        return x / scale * m.own[0];
      },
      [](Of& m, const Tensor& x) {
        return m.own[0] * 2 + ones({4, 6}) + 0 * x;
      },
      [](Of& m, const Tensor& x) {
        return where(x.gt(0), x, m.own[0]) * triu(ones({6, 6})).sum(0);
      },
      [](Of&, const Tensor& x) { return x * 2 - x * x; },  // no parameter, or one that nobody uses
  };
  for (size_t i = 0; i < std::size(forms); ++i) {
    SCOPED_TRACE(i);
    Of module(forms[i], {}, weight());
    check(module, randn({4, 6}));
  }
}

TEST(CompileGradients, ChainsAreDoneTileByTile) {
  manual_seed(4);
  Of module([](Of& m, const Tensor& x) { return tanh(sigmoid(x * 2 + 1) - x * m.own[0]) * 3; }, {}, {randn({7, 9001}).requires_grad_()});
  check(module, randn({7, 9001}), "tile by tile");
}

TEST(CompileGradients, FrozenAndSharedParameters) {
  manual_seed(5);
  auto frozen = mlp();
  frozen[0].requires_grad_(false);
  check(frozen, randn({5, 6}));
  const nn::Linear linear(6, 6);
  Of shared([](Of& m, const Tensor& x) { return m.part(1, relu(m.part(0, x))); }, {linear, linear});
  Of plain([](Of& m, const Tensor& x) { return m.part(1, relu(m.part(0, x))); }, {nn::clone(linear)});
  plain.parts.push_back(plain.parts[0]);
  Compiled fast = compile(shared);
  for (int i = 0; i < 3; ++i) {
    const Tensor x = randn({4, 6});
    fast(x).sum().backward();
    plain(x).sum().backward();
    EXPECT_EQ(fast.why(), "");
  }
  expect_same_state(shared, plain);
  // Freed and frozen in between.
  auto own = mlp(), other = nn::clone(own);
  Compiled switched = compile(own);
  for (const bool wants : {true, false, true, false}) {
    own[0].requires_grad_(wants);
    other[0].requires_grad_(wants);
    const Tensor x = randn({3, 6});
    switched(x).sum().backward();
    other(x).sum().backward();
    EXPECT_EQ(switched.why(), "");
    expect_same_state(own, other);
  }
  // All are frozen: nothing is recorded.
  own.eval();
  own.requires_grad_(false);
  EXPECT_FALSE(switched(randn({3, 6})).requires_grad());
  EXPECT_EQ(switched.why(), "");
}

TEST(CompileGradients, SeveralForwardsBeforeABackward) {
  manual_seed(6);
  auto own = cnn(), plain = nn::clone(own);
  Compiled fast = compile(own);
  for (int round = 0; round < 2; ++round) {
    std::vector<Tensor> got, wanted;
    for (int i = 0; i < 3; ++i) {
      const Tensor x = randn({2 + i % 2, 3, 8, 8});
      got.push_back(fast(x));
      wanted.push_back(plain(x));
    }
    for (const size_t i : {1, 0, 2}) {
      got[i].sum().backward();
      wanted[i].sum().backward();
    }
    expect_same_state(own, plain);
  }
}

TEST(CompileGradients, GraphIsFreedAsTheModulesIs) {
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

TEST(CompileGradients, ChangesBetweenForwardAndBackwardAreFound) {
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

TEST(CompileGradients, ModesAndSizesAlternate) {
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

TEST(CompileGradients, InsideAndAroundOthers) {
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

TEST(CompileGradients, StepsAside) {
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

/// The sum so far of what was given: a buffer that forward changes.
struct Sums : nn::Module {
  nn::Linear linear{3, 3};
  Tensor sum = zeros({3}), calls = zeros({}, kInt64);
  int64_t seen = 0;
  void fields(nn::Fields& f) override {
    f("linear", linear);
    f.buffer("sum", sum);
    f.buffer("calls", calls);
  }
  Tensor forward(const Tensor& x) override {
    {
      const NoGradGuard no_grad;
      sum.add_(x.sum(0));
      calls.add_(1);
    }
    return linear(x) * sum;
  }
};

TEST(CompileGradients, BuffersChangeOnceACall) {
  manual_seed(11);
  Sums own, plain = nn::clone(own);
  Compiled fast = compile(own);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = randn({2 + i % 2, 3});
    const Tensor got = fast(x), wanted = plain(x);
    EXPECT_EQ(fast.why(), "");
    expect_same(got, wanted);
    EXPECT_EQ(own.calls.item<int64_t>(), i + 1);
    got.sum().backward();
    wanted.sum().backward();
    expect_same_state(own, plain);
  }
  // A buffer that backward reads and the next forward changes.
  const Tensor x = randn({2, 3});
  const Tensor y = fast(x);
  (void)fast(x);
  EXPECT_THROW(y.sum().backward(), Error);
  const Tensor z = plain(x);
  (void)plain(x);
  EXPECT_THROW(z.sum().backward(), Error);
  // Where the steps do not give what the module gives, buffers have changed once, too.
  int number = 0;
  Of odd(
      [&](Of& m, const Tensor& in) {
        const NoGradGuard no_grad;
        m.changed[0].add_(1);
        const EnableGradGuard recording;
        return in * m.own[0] * ++number;
      },
      {}, {randn({3}).requires_grad_()});
  odd.changed = {zeros({})};
  Compiled unsteady = compile(odd);
  for (int i = 0; i < 3; ++i) {
    (void)unsteady(x);
    EXPECT_NE(unsteady.why(), "");
    EXPECT_EQ(odd.changed[0].item<float>(), static_cast<float>(i + 1));
  }
}

TEST(CompileGradients, ErrorsAreTheModulesOwn) {
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

TEST(CompileGradients, ManyThreads) {
  manual_seed(13);
  auto net = mlp(), plain = nn::clone(net);
  Compiled fast = compile(net);
  const Tensor x = randn({32, 6});
  plain(x).sum().backward();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        const Tensor y = fast(x);
        const auto gradients = grad({y.sum()}, net.parameters());
        for (size_t p = 0; p < gradients.size(); ++p) wrong += !equal(gradients[p], plain.parameters()[p].grad());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  // A backward on another thread than its forward, after the Compiled has ended.
  Tensor y;
  {
    Compiled other = compile(net);
    (void)other(x);
    y = other(x).sum();
  }
  net.zero_grad();
  std::thread([&] { y.backward(); }).join();
  expect_same_state(net, plain);
}

TEST(CompileGradients, IsTheSameForAnyNumberOfThreads) {
  manual_seed(14);
  auto net = cnn();
  const Tensor x = randn({8, 3, 16, 16});
  const int before = get_num_threads();
  std::vector<Tensor> wanted;
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    Compiled fast = compile(net);
    (void)fast(x);
    const auto gradients = grad({fast(x).sum()}, net.parameters());
    EXPECT_EQ(fast.why(), "");
    if (wanted.empty()) wanted = gradients;
    for (size_t i = 0; i < wanted.size(); ++i) expect_same(gradients[i], wanted[i]);
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace tandem
