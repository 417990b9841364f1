// Compiled modules in training: outputs, gradients and buffers are the module's own.
#include <atomic>
#include <thread>

#include "compile/training.h"

namespace tandem::compiling {
namespace {

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
}  // namespace tandem::compiling
