// Functions of one's own: what their backward may return, and what their results may be used for.
#include "autograd/function.h"

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

using Tensors = std::vector<td::Tensor>;

/// What the next backward returns, from the gradient it gets.
thread_local std::function<Tensors(const td::Tensor&)> returned;

struct Doubled : td::autograd::Function<Doubled> {
  static td::Tensor forward(td::autograd::Context&, const td::Tensor& x) { return x * 2; }
  static Tensors backward(td::autograd::Context&, const Tensors& grads) { return returned(grads[0]); }
};

template <class T>
struct Summed : td::autograd::Function<Summed<T>> {
  static td::Tensor forward(td::autograd::Context&, const Tensors& parts, T factor) { return (parts[0] + parts[1]) * factor; }
  static Tensors backward(td::autograd::Context&, const Tensors& grads) { return {grads[0] * 3, grads[0] * 4, td::Tensor()}; }
};

struct Same : td::autograd::Function<Same> {
  static td::Tensor forward(td::autograd::Context&, const td::Tensor& x) { return x; }
  static Tensors backward(td::autograd::Context&, const Tensors& grads) { return {-grads[0]}; }
};

struct Flat : td::autograd::Function<Flat> {
  static td::Tensor forward(td::autograd::Context&, const td::Tensor& x) { return x.view({-1}); }
  static Tensors backward(td::autograd::Context&, const Tensors& grads) { return {grads[0].view({2, 2})}; }
};

struct Scaled : td::autograd::Function<Scaled> {
  static td::Tensor forward(td::autograd::Context& context, const td::Tensor& x, double factor) {
    context.save_value("factor", 1.0);
    context.save_value("factor", factor);
    return x * factor;
  }
  static Tensors backward(td::autograd::Context& context, const Tensors& grads) {
    const std::string none = error_of([&] { static_cast<void>(context.value<double>("scale")); });
    const std::string other = error_of([&] { static_cast<void>(context.value<int>("factor")); });
    EXPECT_NE(none.find("no value was saved as 'scale'"), std::string::npos) << none;
    EXPECT_NE(other.find("'factor' was saved as another type"), std::string::npos) << other;
    return {grads[0] * context.value<double>("factor")};
  }
};

class Functions : public OnDevice {
 protected:
  static td::Tensor leaf(const td::NestedList& data) { return td::tensor(data, {.device = device(), .requires_grad = true}); }
  /// The error of a backward that returns this.
  template <class F>
  static std::string error_returning(const td::Tensor& x, F f) {
    returned = f;
    const auto y = Doubled::apply(x);
    return error_of([&] { y.sum().backward(); });
  }
};

TEST_P(Functions, AreNamedAfterTheirStruct) {
  const auto x = leaf({1.});
  EXPECT_STREQ(Doubled::apply(x).grad_fn()->name(), "DoubledBackward");
  EXPECT_STREQ(Summed<float>::apply(Tensors{x, x}, 2.F).grad_fn()->name(), "SummedBackward");
}

TEST_P(Functions, KeepValuesThatAreNoTensors) {
  const auto x = leaf({1., 2.}), y = leaf({1.});
  const auto a = Scaled::apply(x, 3.0), b = Scaled::apply(y, 5.0);  // each call has its own
  (a.sum() + b).backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 3);
  EXPECT_EQ(y.grad().item<float>(), 5);
  EXPECT_NE(td::to_string(a).find("grad_fn=<ScaledBackward>"), std::string::npos);
}

TEST_P(Functions, TakeTensorsInVectors) {
  const auto x = leaf({1.}), y = leaf({1.});
  Summed<float>::apply(Tensors{x, y}, 2.F).backward();
  EXPECT_EQ(x.grad().item<float>(), 3);
  EXPECT_EQ(y.grad().item<float>(), 4);
}

TEST_P(Functions, AGradientOfAnotherShapeIsAnError) {
  const auto x = leaf({1., 2., 3.});
  EXPECT_EQ(error_returning(x, [](const td::Tensor& g) { return Tensors{g.slice(0, 0, 2)}; }),
            "Function DoubledBackward returned an invalid gradient at index 0 - got [2] but expected shape compatible with [3]");
  EXPECT_EQ(error_returning(x, [](const td::Tensor& g) { return Tensors{g.sum()}; }),
            "Function DoubledBackward returned an invalid gradient at index 0 - got [] but expected shape compatible with [3]");
  EXPECT_FALSE(x.grad().defined());
}

TEST_P(Functions, TooManyOrTooFewGradientsAreAnError) {
  const auto x = leaf({1., 2., 3.});
  EXPECT_EQ(error_returning(x,
                            [](const td::Tensor& g) {
                              return Tensors{g, g};
                            }),
            "Function DoubledBackward returned an incorrect number of gradients (expected 1, got 2)");
  EXPECT_EQ(error_returning(x, [](const td::Tensor&) { return Tensors{}; }),
            "Function DoubledBackward returned an incorrect number of gradients (expected 1, got 0)");
  EXPECT_EQ(error_returning(x, [](const td::Tensor& g) { return Tensors{g, td::Tensor()}; }), "no error");
  EXPECT_EQ(error_returning(x, [](const td::Tensor&) { return Tensors{td::Tensor()}; }), "no error");
}

TEST_P(Functions, AGradientElsewhereIsAnErrorUnlessItIsANumber) {
  const auto x = leaf({1., 2.}), number = leaf(1.);
  const td::Device other = device().is_cpu() ? td::gpu(0) : td::cpu();
  EXPECT_EQ(error_returning(x, [&](const td::Tensor& g) { return Tensors{g.to(other)}; }),
            td::str("Function DoubledBackward returned an invalid gradient at index 0 - expected device ", device(), " but got ", other));
  EXPECT_EQ(error_returning(number, [&](const td::Tensor& g) { return Tensors{g.to(other)}; }), "no error");
  EXPECT_EQ(number.grad().device(), device());
}

TEST_P(Functions, AnIntegersGradientIsAnError) {
  const auto x = leaf({1., 2.});
  EXPECT_NE(
      error_returning(x, [&](const td::Tensor& g) { return Tensors{g.to(td::kInt64)}; }).find("returned an invalid gradient at index 0"),
      std::string::npos);
}

TEST_P(Functions, AGradientIsSummedToItsInputsSizesAndHasItsType) {
  const auto x = leaf({1., 2.});
  returned = [](const td::Tensor& g) { return Tensors{g.to(td::kFloat64).expand({3, 2})}; };
  Doubled::apply(x).backward(td::tensor({1., 10.}, device()));
  EXPECT_EQ(x.grad().dtype(), td::kFloat32);
  EXPECT_TRUE(td::equal(x.grad(), td::tensor({3., 30.}, device())));
}

TEST_P(Functions, AViewTheyReturnIsNotChangedInPlace) {
  const auto x = leaf({{1., 2.}, {3., 4.}});
  const auto base = x * 1;
  for (const auto& y : {Same::apply(base), Flat::apply(base), Flat::apply(base).slice(0, 0, 2)})
    EXPECT_NE(error_of([&] { y.mul_(2); }).find("This view was created inside a custom Function"), std::string::npos);
  const auto copy = Flat::apply(x).clone();
  copy.mul_(2);
  copy.sum().backward();
  EXPECT_TRUE(td::equal(x.grad(), td::full({2, 2}, 2., device())));
}

INSTANTIATE_TEST_SUITE_P(Devices, Functions, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
