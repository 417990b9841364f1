// The adaptive softmax, against PyTorch's numbers and against what it is made of.
#include "nn/support.h"

namespace tandem::testing {
namespace {

class AdaptiveSoftmax : public OnDevice {
 protected:
  /// Of 4 inputs and 10 classes, with weights by a formula.
  static nn::AdaptiveLogSoftmaxWithLoss example() {
    nn::AdaptiveLogSoftmaxWithLoss loss(4, 10, {3, 6}, {.div_value = 2, .head_bias = true});
    const NoGradGuard no_grad;
    for (const Tensor& p : loss.parameters()) p.copy_(((arange(p.numel()) * 7).remainder(11).to(kFloat32) / 11 - 0.5).view(p.sizes()));
    loss.to(device());
    return loss;
  }
  static Tensor samples() { return ((arange(20, device()) * 3).remainder(7).to(kFloat32) / 7).view({5, 4}); }
};

TEST_P(AdaptiveSoftmax, GivesPyTorchsNumbers) {
  nn::AdaptiveLogSoftmaxWithLoss loss = example();
  const auto [output, mean] = loss(samples(), tensor({0, 2, 4, 9, 6}, device()));
  expect_near(output, {-2.235029697418213, -2.210698366165161, -2.26849102973938, -2.8556981086730957, -3.0461344718933105}, 1e-5);
  expect_near(mean, {2.523210048675537}, 1e-5);
  expect_near(loss.log_prob(samples())[1],
              {-2.613295555114746, -1.3405685424804688, -2.210698366165161, -1.9085326194763184, -1.9899965524673462, -2.2402915954589844,
               -2.9949357509613037, -3.2924563884735107, -3.1224446296691895, -3.4199652671813965},
              1e-5);
  expect_near(loss.predict(samples()), {1, 1, 1, 1, 1});
  EXPECT_EQ(loss.state_dict().keys(), (std::vector<std::string>{"head.weight", "head.bias", "tail.0.0.weight", "tail.0.1.weight",
                                                                "tail.1.0.weight", "tail.1.1.weight"}));
}

TEST_P(AdaptiveSoftmax, IsTheSoftmaxOfAllClasses) {
  nn::AdaptiveLogSoftmaxWithLoss loss(6, 40, {5, 12, 30});
  loss.to(device());
  const Tensor x = (randn({64, 6}, device()) * 5).requires_grad_(), target = randint(40, {64}, {.device = device()});
  const auto [output, mean] = loss(x, target);
  const Tensor all = loss.log_prob(x);
  EXPECT_TRUE(allclose(output, all.gather(1, target.unsqueeze(1)).squeeze(1), 1e-5, 1e-5));
  expect_near(all.exp().sum(1), std::vector<double>(64, 1), 1e-4);
  EXPECT_TRUE(equal(loss.predict(x), all.argmax(1)));
  const Tensor by_parts = grad({mean}, {x})[0], whole = grad({nll_loss(all, target)}, {x})[0];
  EXPECT_TRUE(allclose(by_parts, whole, 1e-4, 1e-6));
  // One sample alone.
  const auto one = loss(x[3], target[3]);
  EXPECT_EQ(one.output.dim(), 0);
  expect_near(one.output, {values(output)[3]}, 1e-5);
}

TEST_P(AdaptiveSoftmax, LearnsRareClasses) {
  nn::AdaptiveLogSoftmaxWithLoss loss(16, 20, {4, 10}, {.div_value = 2});
  loss.to(device());
  const Tensor classes = arange(20, device()), x = randn({20, 16}, device());
  optim::Adam adam(loss.parameters(), {.lr = 0.1});
  for (int step = 0; step < 200; ++step) {
    adam.zero_grad();
    loss(x, classes).loss.backward();
    adam.step();
  }
  EXPECT_GE((loss.predict(x) == classes).sum().item<int64_t>(), 15);
}

TEST_P(AdaptiveSoftmax, RefusesWhatIsNoClass) {
  nn::AdaptiveLogSoftmaxWithLoss loss = example();
  EXPECT_EQ(error_of([&] {
              (void)loss(samples(), tensor({0, 2, 4, 10, -1}, device()));
            }),
            "[AdaptiveLogSoftmaxWithLoss] Target values should be in [0, 9], but values in range [-1, 10] were found.");
  EXPECT_EQ(error_of([&] {
              (void)loss(samples(), tensor({0, 2}, device()));
            }),
            "[AdaptiveLogSoftmaxWithLoss] Input and target should have the same size in the batch dimension, but have 5 and 2");
  EXPECT_EQ(error_of([&] {
              (void)loss(samples(), zeros({5, 1}, {.dtype = kInt64, .device = device()}));
            }),
            "[AdaptiveLogSoftmaxWithLoss] 0D or 1D target tensor expected, multi-target not supported");
  EXPECT_EQ(error_of([&] { (void)loss(samples()[0], tensor({0}, device())); }),
            "[AdaptiveLogSoftmaxWithLoss] 1D target tensor expects 2D input tensors, but found inputs with size [4]");
  (void)loss(samples(), tensor({0, 2, 4, 9, 6}, device()));
}

INSTANTIATE_TEST_SUITE_P(Every, AdaptiveSoftmax, every_device());

TEST(AdaptiveSoftmaxOf, CutoffsAscend) {
  for (const std::vector<int64_t>& cutoffs : {std::vector<int64_t>{}, {3, 3}, {5, 2}, {0}, {10}, {-1}})
    EXPECT_NE(error_of([&] { nn::AdaptiveLogSoftmaxWithLoss(4, 10, cutoffs); }).find("cutoffs should be a sequence"), std::string::npos);
  EXPECT_NE(error_of([&] { nn::AdaptiveLogSoftmaxWithLoss(4, 10, {3}, {.div_value = 0}); }).find("div_value 0"), std::string::npos);
  nn::AdaptiveLogSoftmaxWithLoss drawn(4, 10, {3});
  const Tensor before = drawn.tail[0].state_dict().at("1.weight").clone();
  drawn.reset_parameters();
  EXPECT_FALSE(equal(before, drawn.tail[0].state_dict().at("1.weight")));
}

}  // namespace
}  // namespace tandem::testing
