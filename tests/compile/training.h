// What the tests of compiled modules in training share: networks, and the comparison with the module that is not compiled.
#pragma once

#include <gtest/gtest.h>
#include <tandem/tandem.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::compiling {

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

inline void expect_same(const Tensor& got, const Tensor& wanted, const std::string& what = {}) {
  ASSERT_EQ(got.defined(), wanted.defined()) << what;
  if (!got.defined()) return;
  ASSERT_EQ(got.sizes(), wanted.sizes()) << what;
  ASSERT_EQ(got.dtype(), wanted.dtype()) << what;
  EXPECT_TRUE(equal(got, wanted)) << what << ": " << (got - wanted).abs().max().to(kFloat64).item<double>();
}

/// What of a module can be seen.
inline void expect_same_state(nn::Module& got, nn::Module& wanted) {
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

inline Tensor input(const Tensor& x, bool wants) { return is_floating(x.dtype()) ? x.clone().requires_grad_(wants) : x; }
inline Tensor gradient_for(const Tensor& y, int step) {
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

inline nn::Sequential mlp() { return nn::Sequential(nn::Linear(6, 16), nn::ReLU(), nn::Linear(16, 16), nn::Tanh(), nn::Linear(16, 3)); }
inline nn::Sequential cnn() {
  return nn::Sequential(nn::Conv2d(3, 8, 3, {.padding = 1}), nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(8, 16, 3, {.padding = 1}), nn::BatchNorm2d(16), nn::ReLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                        nn::Linear(16, 4));
}

}  // namespace tandem::compiling
