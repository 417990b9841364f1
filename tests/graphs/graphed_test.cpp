// Functions and modules as two graphs: the same results and gradients as without.
#include "autograd/graphed.h"

#include "nn/support.h"
#include "runtime/expect_error.h"

namespace tandem::testing {
namespace {

const Device kGpu = gpu(0);

Tensor sample(Shape sizes, uint64_t seed, bool requires_grad = false) {
  manual_seed(seed);
  return randn(sizes, kGpu).requires_grad_(requires_grad);
}

nn::Sequential network() {
  manual_seed(1);
  nn::Sequential net{nn::Linear(6, 16), nn::Tanh(), nn::LayerNorm({16}), nn::Linear(16, 3)};
  net.to(kGpu);
  return net;
}

TEST(Graphed, ModulesLearnAsWithout) {
  nn::Sequential plain = network(), captured = network();
  optim::Adam plain_steps(plain.parameters(), {.lr = 0.01}), steps(captured.parameters(), {.lr = 0.01});
  const cuda::Graphed fast = cuda::make_graphed(captured, {sample({8, 6}, 2)});
  for (const Tensor& parameter : captured.parameters()) EXPECT_FALSE(parameter.grad().defined()) << "a capture leaves no gradient";
  for (uint64_t i = 0; i < 5; ++i) {
    const Tensor x = sample({8, 6}, 10 + i), target = sample({8, 3}, 20 + i);
    plain_steps.zero_grad();
    steps.zero_grad();
    const Tensor a = mse_loss(plain(x), target), b = mse_loss(fast(x), target);
    EXPECT_TRUE(allclose(a.detach().cpu(), b.detach().cpu()));
    a.backward();
    b.backward();
    plain_steps.step();
    steps.step();
  }
  const auto expected = plain.parameters(), found = captured.parameters();
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(allclose(found[i].grad().cpu(), expected[i].grad().cpu(), 1e-5, 1e-6));
    EXPECT_TRUE(allclose(found[i].detach().cpu(), expected[i].detach().cpu(), 1e-5, 1e-6));
  }
}

TEST(Graphed, GradientsAddUpAndReachInputs) {
  nn::Sequential net = network();
  const Tensor x = sample({4, 6}, 3, true);
  const cuda::Graphed fast = cuda::make_graphed(net, {x});
  for (int i = 0; i < 2; ++i) fast(x).sum().backward();
  const Tensor input_grad = x.grad().cpu(), weight_grad = net.parameters()[0].grad().cpu();
  x.set_grad({});
  net.zero_grad();
  for (int i = 0; i < 2; ++i) net(x).sum().backward();
  EXPECT_TRUE(allclose(input_grad, x.grad().cpu(), 1e-5, 1e-6));
  EXPECT_TRUE(allclose(weight_grad, net.parameters()[0].grad().cpu(), 1e-5, 1e-6));
}

TEST(Graphed, SeveralInputsAndResults) {
  const Tensor a = sample({5}, 4, true), b = sample({5}, 5);
  const cuda::Graphed fast = cuda::make_graphed(
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{in[0] * in[1], (in[0] + in[1]).detach(), in[0].sum()};
      },
      {a, b});
  const Tensor x = sample({5}, 6, true), y = sample({5}, 7);
  const std::vector<Tensor> results = fast({x, y});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_FALSE(results[1].requires_grad());
  (results[0].sum() + results[2] * 2).backward();
  EXPECT_TRUE(allclose(x.grad().cpu(), (y + 2).cpu()));
  EXPECT_TRUE(allclose(results[1].cpu(), (x + y).detach().cpu()));
  EXPECT_ERROR((void)fast(x), Error, "takes 2 tensors");
}

TEST(Graphed, DropoutIsNewInEachCall) {
  nn::Dropout layer(0.5);
  const Tensor x = ones({1000}, {.device = kGpu});
  const cuda::Graphed fast = cuda::make_graphed(layer, {x});
  const Tensor first = fast(x).clone(), second = fast(x).clone();
  EXPECT_FALSE(equal(first.cpu(), second.cpu()));
  manual_seed(3);
  const Tensor third = fast(x).clone();
  manual_seed(3);
  EXPECT_TRUE(equal(third.cpu(), layer(x).cpu()));
}

TEST(Graphed, AttentionDropsTheSameInItsGradient) {
  const Tensor q = sample({1, 2, 64, 16}, 4, true), k = sample({1, 2, 64, 16}, 5), v = ones({1, 2, 64, 16}, {.device = kGpu});
  const cuda::Graphed fast = cuda::make_graphed(
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{scaled_dot_product_attention(in[0], in[1], in[2], {.dropout_p = 0.5})};
      },
      {q, k, v});
  const Tensor values = v.detach().requires_grad_();
  manual_seed(3);
  const Tensor out = scaled_dot_product_attention(q, k, values, {.dropout_p = 0.5});
  out.sum().backward();
  const Tensor expected = q.grad().cpu();
  q.set_grad({});
  (void)fast({q, k, v});
  manual_seed(3);
  const Tensor found = fast({q, k, v})[0];
  EXPECT_TRUE(allclose(found.detach().cpu(), out.detach().cpu(), 1e-5, 1e-6));
  found.sum().backward();
  EXPECT_TRUE(allclose(q.grad().cpu(), expected, 1e-4, 1e-5));
}

TEST(Graphed, RefusesWhatItCannotDo) {
  nn::Sequential net = network();
  EXPECT_ERROR((void)cuda::make_graphed(net, {ones({8, 6})}), Error, "must be on a cuda device");
  const Tensor x = sample({8, 6}, 8);
  const cuda::Graphed fast = cuda::make_graphed(net, {x});
  EXPECT_ERROR((void)fast(sample({7, 6}, 8)), Error, "captured with");
  EXPECT_ERROR((void)fast(x.to(kFloat64)), Error, "captured with");
  EXPECT_ERROR((void)fast(x.cpu()), Error, "captured with");
  EXPECT_ERROR((void)fast(sample({8, 6}, 8, true)), Error, "requires a gradient");
  const Tensor first = fast(x).sum(), second = fast(x).sum();
  EXPECT_ERROR(first.backward(), Error, "not the last");
  second.backward();
  EXPECT_ERROR(second.backward(), Error, "second time");
  const Tensor loss = fast(x).sum();
  EXPECT_ERROR((void)grad({loss}, net.parameters(), {.create_graph = true}), Error, "gradient of its gradient");
}

/// A whole step as one graph, beside the same steps without.
template <class Optimizer, class Options>
void expect_captured_steps(const Options& options) {
  nn::Sequential plain = network(), captured = network();
  Optimizer plain_steps(plain.parameters(), options), steps(captured.parameters(), options);
  const Tensor x = sample({8, 6}, 30).clone(), target = sample({8, 3}, 31).clone();
  const auto step = [&](nn::Sequential& net, Optimizer& optimizer) {
    optimizer.zero_grad();
    mse_loss(net(x), target).backward();
    optimizer.step();
  };
  for (int i = 0; i < 2; ++i) {
    step(plain, plain_steps);
    step(captured, steps);
  }
  steps.zero_grad();
  cuda::Graph graph;
  cuda::graph(graph, [&] { step(captured, steps); });
  for (uint64_t i = 0; i < 4; ++i) {
    x.copy_(sample({8, 6}, 40 + i));
    target.copy_(sample({8, 3}, 50 + i));
    step(plain, plain_steps);
    graph.replay();
  }
  const auto expected = plain.parameters(), found = captured.parameters();
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(allclose(found[i].detach().cpu(), expected[i].detach().cpu(), 1e-4, 1e-6)) << steps.name() << " parameter " << i;
  const auto a = steps.state_dict(), b = plain_steps.state_dict();
  if (b.contains("state.0.step")) {
    EXPECT_EQ(a.at("state.0.step").template item<int64_t>(), b.at("state.0.step").template item<int64_t>()) << steps.name();
  }
}

TEST(Graphed, MemoryOfAFirstPassThatFailsIsUsedAgainInOrder) {
  const Tensor x = sample({1000}, 8);
  const races::Checker races;
  const auto fails = [](const std::vector<Tensor>& inputs) -> std::vector<Tensor> {
    (void)(inputs[0] * 2);
    throw Error("fails");
  };
  EXPECT_ERROR((void)cuda::make_graphed(fails, {x}), Error, "fails");
  (void)ones({1000}, kGpu);  // takes the memory that the input had
  cuda::synchronize(kGpu);
  EXPECT_TRUE(races.reports().empty()) << races.reports().front().text;
}

TEST(CapturedSteps, EqualOthers) {
  expect_captured_steps<optim::SGD>(optim::SGDOptions{.lr = 0.05, .momentum = 0.9});
  expect_captured_steps<optim::Adam>(optim::AdamOptions{.lr = 0.01});
  expect_captured_steps<optim::AdamW>(optim::AdamWOptions{.lr = 0.01});
  expect_captured_steps<optim::RMSprop>(optim::RMSpropOptions{.lr = 0.01});
  expect_captured_steps<optim::Adagrad>(optim::AdagradOptions{.lr = 0.01});
}

TEST(CapturedSteps, AreRefusedWhereTheyWouldBeWrong) {
  nn::Sequential net = network();
  const Tensor x = sample({8, 6}, 30);
  net(x).sum().backward();
  cuda::Graph graph;
  optim::Adam fresh(net.parameters(), {});
  EXPECT_ERROR(cuda::graph(graph, [&] { fresh.step(); }), Error, "take a step before the capture");
  optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  EXPECT_ERROR(cuda::graph(graph, [&] { sgd.step(); }), Error, "take a step before the capture");
  optim::RAdam changing(net.parameters(), {});
  changing.step();
  EXPECT_ERROR(cuda::graph(graph, [&] { changing.step(); }), Error, "change with every step");
  fresh.step();
  cuda::graph(graph, [&] { fresh.step(); });
  graph.replay();
  fresh.step();
  EXPECT_ERROR(graph.replay(), Error, "outside of the graph");
}

TEST(Graphed, OtherParametersThanThoseCapturedAreFound) {
  const Tensor x = sample({8, 6}, 8);
  const auto check = [&](nn::Sequential& net, const std::function<void()>& change) {
    const cuda::Graphed fast = cuda::make_graphed(net, {x});
    const Tensor before = fast(x).sum();
    change();
    EXPECT_ERROR(before.backward(), Error, "captured with other tensors");
    EXPECT_ERROR((void)fast(x), Error, "captured with other tensors");
    const cuda::Graphed again = cuda::make_graphed(net, {x});
    EXPECT_TRUE(allclose(again(x).detach().cpu(), net(x).detach().cpu(), 1e-5, 1e-6));
  };
  nn::Sequential net = network();
  check(net, [&] { net.at<nn::Linear>(0).weight = net.at<nn::Linear>(0).weight.detach().clone().requires_grad_(); });
  check(net, [&] { net.load_state_dict(network().state_dict(), {.assign = true}); });
  nn::Sequential normed{nn::Linear(6, 6), nn::BatchNorm1d(6)};
  normed.to(kGpu);
  normed.eval();
  check(normed, [&] { normed.at<nn::BatchNorm1d>(1).running_mean = sample({6}, 9); });
  // A parameter that wants a gradient since would get none.
  net.at<nn::Linear>(0).weight.requires_grad_(false);
  const cuda::Graphed frozen = cuda::make_graphed(net, {x});
  (void)frozen(x);
  net.at<nn::Linear>(0).weight.requires_grad_();
  EXPECT_ERROR((void)frozen(x), Error, "did not when the graph was captured");
  {
    const NoGradGuard no_grad;
    EXPECT_TRUE(allclose(frozen(x).cpu(), net(x).cpu(), 1e-5, 1e-6));
  }
  // In place is no change of place.
  const cuda::Graphed fast = cuda::make_graphed(net, {x});
  net.load_state_dict(network().state_dict());
  EXPECT_TRUE(allclose(fast(x).detach().cpu(), net(x).detach().cpu(), 1e-5, 1e-6));
}

}  // namespace
}  // namespace tandem::testing
