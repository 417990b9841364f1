// torch::autograd: grad, backward, guards, functions of one's own.
#include "libtorch/autograd.h"

#include <gtest/gtest.h>

#include <string>

#include "libtorch/cuda.h"
#include "libtorch/functions.h"

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::CreationMeta;
using torch::autograd::DifferentiableViewMeta;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

class LibtorchAutograd : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (torch::Device(GetParam()).is_cuda() && !torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
    torch::manual_seed(0);
  }
  torch::TensorOptions options() { return torch::device(torch::Device(GetParam())); }
  torch::Tensor leaf() { return torch::randn({3, 3}, options().requires_grad(true)); }
};
INSTANTIATE_TEST_SUITE_P(Devices, LibtorchAutograd, testing::Values("cpu", "cuda:0"));

struct Weighted : Function<Weighted> {
  static Variable forward(AutogradContext* context, Variable a, int weight, Variable b) {
    context->saved_data["weight"] = weight;
    context->save_for_backward({a, b});
    return a * weight * b;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto weight = context->saved_data["weight"].toInt();
    const auto saved = context->get_saved_variables();
    return {gradients[0] * weight * saved[1], Variable(), gradients[0] * weight * saved[0]};
  }
};

TEST_P(LibtorchAutograd, AFunctionHasNumbersAmongItsArguments) {
  const auto x = leaf(), y = leaf();
  Weighted::apply(x, 2, y).sum().backward();
  EXPECT_TRUE(torch::allclose(x.grad(), 2 * y));
  EXPECT_TRUE(torch::allclose(y.grad(), 2 * x));
}

struct Short : Function<Short> {
  static Variable forward(AutogradContext*, Variable a, int) { return a * 2; }
  static variable_list backward(AutogradContext*, variable_list gradients) { return gradients; }
};
struct Misplaced : Function<Misplaced> {
  static Variable forward(AutogradContext*, Variable a, int) { return a * 2; }
  static variable_list backward(AutogradContext*, variable_list gradients) { return {gradients[0], gradients[0]}; }
};

TEST_P(LibtorchAutograd, BackwardGivesAGradientForEachArgument) {
  EXPECT_THROW(Short::apply(leaf(), 1).sum().backward(), c10::Error);
  EXPECT_THROW(Misplaced::apply(leaf(), 1).sum().backward(), c10::Error);
}

struct Halves : Function<Halves> {
  static variable_list forward(AutogradContext* context, Variable x, bool materialize) {
    context->set_materialize_grads(materialize);
    context->saved_data["materialize"] = materialize;
    const auto sign = x > 0;
    context->mark_non_differentiable({sign});
    return {x * 1, sign, x * 2};
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    EXPECT_EQ(gradients.size(), 3U);
    EXPECT_EQ(gradients[0].defined(), context->saved_data["materialize"].toBool());
    return {gradients[2] * 2, Variable()};
  }
};

TEST_P(LibtorchAutograd, ResultsWithoutGradientsAreZerosOrUndefined) {
  for (const bool materialize : {true, false}) {
    const auto x = leaf();
    const auto results = Halves::apply(x, materialize);
    EXPECT_FALSE(results[1].requires_grad());
    results[2].sum().backward();
    EXPECT_TRUE(torch::equal(x.grad(), torch::full_like(x, 2)));
  }
}

struct Doubled : Function<Doubled> {
  static Variable forward(AutogradContext* context, Variable x) {
    x.mul_(2);
    context->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list gradients) { return {gradients[0] * 2}; }
};

TEST_P(LibtorchAutograd, AnInputChangedInPlaceHasTheFunctionAsItsHistory) {
  const auto x = leaf();
  const auto copy = x.clone();
  const auto version = copy.version();
  const auto result = Doubled::apply(copy);
  EXPECT_TRUE(result.is_same(copy));
  EXPECT_GT(copy.version(), version);
  copy.sum().backward();
  EXPECT_TRUE(torch::equal(x.grad(), torch::full_like(x, 2)));
  EXPECT_THROW(Doubled::apply(leaf()), c10::Error);
}

TEST_P(LibtorchAutograd, GradAndBackwardTakeTheirSwitchesByPlace) {
  const auto x = leaf(), y = leaf();
  const auto z = x * y;
  torch::autograd::backward({z.sum()}, {}, true);
  torch::autograd::backward({z}, {torch::ones_like(z)}, {}, false, {x});
  EXPECT_TRUE(torch::allclose(x.grad(), 2 * y));
  EXPECT_TRUE(torch::allclose(y.grad(), x));
  const auto found = torch::autograd::grad({x * 2}, {x, y}, {torch::ones_like(x)}, {}, false, true);
  EXPECT_FALSE(found[1].defined());
}

TEST_P(LibtorchAutograd, BackwardOfATensorTakesThemByPlaceToo) {
  const auto x = leaf(), y = leaf();
  const auto z = x * y;
  z.backward(torch::ones_like(z), true, false, {x});
  EXPECT_FALSE(y.grad().defined());
  z.backward(torch::ones_like(z), c10::nullopt, false);
  EXPECT_TRUE(torch::allclose(x.grad(), 2 * y));
  EXPECT_TRUE(torch::allclose(y.grad(), x));
  EXPECT_THROW((x * y).backward(torch::ones_like(x), true, false, variable_list()), c10::Error);
  EXPECT_THROW(torch::autograd::grad({x * 2}, {}, {torch::ones_like(x)}), c10::Error);
}

TEST_P(LibtorchAutograd, AHookMayReturnNothing) {
  const auto x = leaf();
  int seen = 0;
  const auto number = x.register_hook([&seen](Variable gradient) { seen += static_cast<int>(gradient.numel()); });
  x.register_hook([](Variable gradient) { return gradient * 3; });
  (x * 2).sum().backward();
  EXPECT_EQ(seen, x.numel());
  EXPECT_TRUE(torch::equal(x.grad(), torch::full_like(x, 6)));
  x.remove_hook(number);
  (x * 2).sum().backward();
  EXPECT_EQ(seen, x.numel());
}

TEST_P(LibtorchAutograd, AViewKnowsHowItWasMade) {
  const auto meta_of = [](const torch::Tensor& x) {
    return static_cast<DifferentiableViewMeta*>(x.unsafeGetTensorImpl()->autograd_meta());
  };
  const auto base = leaf().clone();
  EXPECT_TRUE(base.view({-1}).unsafeGetTensorImpl()->autograd_meta()->get_creation_meta() == CreationMeta::DEFAULT);
  {
    const torch::NoGradGuard no_grad;
    const auto view = base.view({-1});
    EXPECT_TRUE(meta_of(view)->has_bw_view());
    EXPECT_TRUE(meta_of(view)->get_creation_meta() == CreationMeta::NO_GRAD_MODE);
    EXPECT_EQ(meta_of(torch::ones(2)), nullptr);
  }
  const torch::InferenceMode guard;
  EXPECT_TRUE(meta_of(base.view({-1}))->get_creation_meta() == CreationMeta::INFERENCE_MODE);
  EXPECT_TRUE(torch::ones(2).is_inference());
}

TEST(LibtorchGradMode, GuardsSwitchRecording) {
  {
    const torch::InferenceMode guard;
    EXPECT_TRUE(torch::InferenceMode::is_enabled());
    EXPECT_FALSE(torch::GradMode::is_enabled());
    const torch::AutoGradMode recorded(true);
    EXPECT_TRUE(torch::GradMode::is_enabled());
  }
  torch::GradMode::set_enabled(false);
  EXPECT_FALSE(torch::GradMode::is_enabled());
  torch::GradMode::set_enabled(true);
  EXPECT_TRUE(torch::GradMode::is_enabled());
}

}  // namespace
