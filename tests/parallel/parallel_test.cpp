// Scatter, gather, replicas and DataParallel: the results of one device, on two.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "nn/support.h"
#include "runtime/driver.h"
#include "runtime/stream_record.h"

namespace tandem::testing {
namespace {

std::vector<Device> two() { return {gpu(0), gpu(1)}; }

TEST(Scatter, IsChunk) {
  const std::vector<Device> four{gpu(0), gpu(1), gpu(0), cpu()};
  const auto parts = parallel::scatter(arange(10), four);
  ASSERT_EQ(parts.size(), 4u);
  const int64_t sizes[] = {3, 3, 3, 1};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(parts[i].size(0), sizes[i]);
    EXPECT_EQ(parts[i].device(), four[i]);
  }
  EXPECT_EQ(values(parts[1]), (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(parallel::scatter(arange(5), four).size(), 3u);
  EXPECT_TRUE(equal(parallel::gather(parts, cpu()), arange(10)));
  EXPECT_EQ(parallel::scatter(ones({3, 4}), two(), 1)[1].sizes(), (Shape{3, 2}));
  EXPECT_NE(error_of([] { (void)parallel::scatter(ones({}), two()); }).find("[scatter]"), std::string::npos);
  EXPECT_NE(error_of([] { (void)parallel::scatter(ones({1}), {}); }).find("no devices"), std::string::npos);
}

TEST(Gather, JoinsAndStacks) {
  const Tensor vector = parallel::gather({tensor(1.0).to(gpu(0)), tensor(2.0).to(gpu(1))}, gpu(0));
  EXPECT_EQ(vector.sizes(), (Shape{2}));
  EXPECT_EQ(vector.device(), gpu(0));
  EXPECT_EQ(values(vector), (std::vector<double>{1, 2}));
  EXPECT_EQ(parallel::gather({ones({2, 1}, gpu(0)), ones({2, 3}, gpu(1))}, gpu(1), 1).sizes(), (Shape{2, 4}));
  EXPECT_EQ(parallel::gather({tensor(1.0)}, cpu()).sizes(), (Shape{1}));
  EXPECT_NE(error_of([] { (void)parallel::gather({}, cpu()); }).find("[gather]"), std::string::npos);
}

TEST(ScatterGather, GradientsFlowBack) {
  const Tensor x = arange(5, {.dtype = kFloat32}).to(gpu(0)).detach().requires_grad_();
  const auto parts = parallel::scatter(x, two());
  const Tensor y = parallel::gather({parts[0] * 2, parts[1] * 3}, cpu());
  (y * y).sum().backward();  // d/dx (f x)^2 = 2 f^2 x
  EXPECT_EQ(x.grad().device(), gpu(0));
  expect_near(x.grad(), {0, 8, 16, 54, 72});
}

// Small tensors travel together, large ones alone, integers and strided ones among them; a change of one counts for none of the others.
TEST(Broadcast, CopiesTogether) {
  const Tensor a = tensor({1.0, 2.0, 3.0}).to(gpu(0)).requires_grad_(), b = tensor({{1, 2}, {3, 4}}).to(gpu(0)).t();
  const Tensor c = full({300, 100}, 0.5, gpu(0)).requires_grad_(), d = tensor(7.0).to(gpu(0)).requires_grad_(), e = empty({0, 3}, gpu(0));
  const auto copies = parallel::broadcast_coalesced({a, b, c, d, e}, {gpu(0), gpu(1), cpu()});
  ASSERT_EQ(copies.size(), 3u);
  EXPECT_TRUE(copies[0][0].is_same(a) && copies[0][4].is_same(e));
  for (const size_t device : {1, 2}) {
    const auto& there = copies[device];
    for (const Tensor& copy : there) EXPECT_EQ(copy.device(), device == 1 ? gpu(1) : cpu());
    EXPECT_EQ(values(there[0]), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(values(there[1]), (std::vector<double>{1, 3, 2, 4}));
    EXPECT_EQ(there[1].dtype(), kInt64);
    EXPECT_TRUE(there[1].is_contiguous() && !there[1].requires_grad());
    EXPECT_TRUE(allclose(there[2].cpu(), c.cpu()));
    EXPECT_EQ(there[3].dim(), 0);
    EXPECT_EQ(there[4].sizes(), (Shape{0, 3}));
  }
  (void)copies[1][1].add_(1);
  (copies[1][0] * copies[1][0] * copies[1][3]).sum().backward();  // a^2 d
  expect_near(a.grad(), {14, 28, 42});
  expect_near(d.grad(), {14});
  EXPECT_EQ(a.grad().device(), gpu(0));
  EXPECT_FALSE(c.grad().defined());
  (copies[1][2].sum() + copies[2][0].sum()).backward();
  expect_near(a.grad(), {15, 29, 43});
  EXPECT_EQ(values(c.grad())[29999], 1);
  EXPECT_NE(error_of([&] {
              (void)parallel::broadcast_coalesced({a, a.cpu()}, {gpu(1)});
            }).find("must be on one device"),
            std::string::npos);
}

// The memory that the copies share is not given out again while another stream reads one of them, whichever handle said so.
TEST(Broadcast, CopiesStayWhileAnotherStreamReadsThem) {
  const cuda::Stream side(gpu(1));
  std::promise<void> go;
  Tensor seen;
  {
    const std::vector<Tensor> there = parallel::broadcast_coalesced({ones({4}, gpu(0)), full({4}, 2.0, gpu(0))}, {gpu(1)})[0];
    side.wait_stream(cuda::current_stream(gpu(1)));
    runtime::require_driver().host_function(
        side.record()->handle, [](void* promise) { static_cast<std::promise<void>*>(promise)->get_future().wait(); }, &go);
    const cuda::StreamGuard guard(side);
    seen = there[1].clone();
    there[1].view({2, 2}).record_stream(side);
  }
  std::vector<Tensor> others;
  for (int i = 0; i < 100; ++i) others.push_back(full({32}, 9.0, gpu(1)));
  cuda::current_stream(gpu(1)).synchronize();
  go.set_value();
  side.synchronize();
  EXPECT_EQ(values(seen), (std::vector<double>{2, 2, 2, 2}));
}

// A gradient that goes to another GPU waits for that one; what comes after it in backward does not.
TEST(Broadcast, AGradientOnItsWayLeavesTheComputingStreamFree) {
  const Tensor large = ones({200, 200}, gpu(0)).requires_grad_(), small = ones({3}, gpu(0)).requires_grad_(),
               other = ones({3}, gpu(0)).requires_grad_();
  const auto there = parallel::broadcast_coalesced({large, small, other}, {gpu(1)})[0];
  const Tensor y = (there[0] * 2).sum() + (there[1] * 3 + there[2]).sum();
  cuda::synchronize(gpu(1));
  std::promise<void> go;
  runtime::require_driver().host_function(
      runtime::current_stream(0)->handle, [](void* held) { static_cast<std::promise<void>*>(held)->get_future().wait(); }, &go);
  y.backward();
  cuda::Event passed;
  passed.record(cuda::current_stream(gpu(1)));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!passed.query() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_TRUE(passed.query());
  go.set_value();
  EXPECT_TRUE(equal(large.grad(), full({200, 200}, 2.0, gpu(0))));
  EXPECT_TRUE(equal(small.grad(), full({3}, 3.0, gpu(0))) && equal(other.grad(), ones({3}, gpu(0))));
}

TEST(Broadcast, HasSecondDerivatives) {
  const Tensor a = tensor({1.0, 2.0}).to(gpu(0)).requires_grad_(), b = tensor({3.0}).to(gpu(0)).requires_grad_();
  const auto there = parallel::broadcast_coalesced({a, b}, {gpu(1)})[0];
  const Tensor first = grad({(there[0].pow(3) * there[1]).sum()}, {a}, {.create_graph = true})[0];  // 3 a^2 b
  expect_near(first, {9, 36});
  const auto second = grad({first.sum()}, {a, b});
  expect_near(second[0], {18, 36});
  expect_near(second[1], {15});
}

struct Net : nn::Module {
  nn::Linear in{6, 5};
  nn::Sequential tail{nn::Tanh(), nn::Linear(5, 3)};
  Tensor calls = zeros({}, kInt64);
  void fields(nn::Fields& f) override {
    f("in", in);
    f("tail", tail);
    f.buffer("calls", calls);
  }
  Tensor forward(const Tensor& x) override {
    calls.add_(1);
    return tail(in(x));
  }
};

TEST(Replicate, LivesOnEachDeviceAndSendsItsGradientsBack) {
  manual_seed(1);
  Net net;
  net.to(gpu(0));
  auto replicas = parallel::replicate(net, two());
  ASSERT_EQ(replicas.size(), 2u);
  EXPECT_TRUE(replicas[0].in.weight.is_same(net.in.weight));
  EXPECT_TRUE(replicas[0].calls.is_same(net.calls));
  for (const Tensor& parameter : replicas[1].parameters()) {
    EXPECT_EQ(parameter.device(), gpu(1));
    EXPECT_STREQ(parameter.grad_fn()->name(), "BroadcastBackward");
  }
  EXPECT_EQ(replicas[1].calls.device(), gpu(1));
  EXPECT_TRUE(replicas[1].calls.is_leaf());
  const auto out = parallel::parallel_apply(replicas, {ones({2, 6}, gpu(0)), ones({3, 6}, gpu(1))});
  EXPECT_EQ(out[1].device(), gpu(1));
  EXPECT_TRUE(allclose(out[0].cpu()[0], out[1].cpu()[0]));
  out[1].sum().backward();
  const Tensor gradient = net.in.weight.grad();
  EXPECT_EQ(gradient.device(), gpu(0));
  out[0].sum().backward();
  net.zero_grad();
  net(ones({3, 6}, gpu(0))).sum().backward();
  EXPECT_TRUE(allclose(net.tail.at<nn::Linear>(1).bias.grad().cpu(), full({3}, 3.0)));
  EXPECT_EQ(net.calls.item<int64_t>(), 2);  // this call and replica 0's
}

TEST(Replicate, TiedParametersStayTied) {
  Tied net;
  net.to(gpu(0));
  const auto replicas = parallel::replicate(net, two());
  EXPECT_TRUE(replicas[1].in.weight.is_same(replicas[1].out.weight));
  EXPECT_FALSE(replicas[1].in.bias.is_same(replicas[1].out.bias));
}

struct Pointing : nn::Module {
  nn::Linear owned{2, 2};
  Tensor* inner = &owned.weight;  // a copy's still points into the original
  void fields(nn::Fields& f) override { f("inner", *inner); }
};

TEST(Replicate, RefusesWhatItCannotCopy) {
  Pointing pointing;
  pointing.owned.to(gpu(0));
  EXPECT_EQ(error_of([&] { (void)parallel::replicate(pointing, two()); }),
            "[replicate] a copy of Pointing shares 'inner' with the original, which it points or refers to: hold it by value");
  nn::LazyLinear lazy(2);
  EXPECT_NE(error_of([&] { (void)parallel::replicate(lazy, two()); }).find("have no values yet"), std::string::npos);
  struct Wider : nn::Linear {
    Wider() : Linear(2, 2) {}
  } wider;
  nn::Linear& base = wider;
  EXPECT_NE(error_of([&] { (void)parallel::replicate(base, two()); }).find("as one of its bases"), std::string::npos);
}

struct Refuses : nn::Module {
  Tensor weight = ones({1}, {.requires_grad = true});
  void fields(nn::Fields& f) override { f("weight", weight); }
  Tensor forward(const Tensor& x) override {
    if (x.device() == gpu(1)) {
      if (x.size(0) == 1) throw OutOfMemoryError("too much");
      return mm(x, ones({7, 7}, x.device()));
    }
    return x * weight;
  }
};

class ApplyBy : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Threads, ApplyBy, ::testing::Bool());

TEST_P(ApplyBy, NamesTheReplicaThatFailed) {
  Refuses net;
  net.to(gpu(0));
  auto replicas = parallel::replicate(net, two());
  const parallel::ApplyOptions options{.threads = GetParam()};
  const std::string text = error_of([&] {
    (void)parallel::parallel_apply(replicas, {ones({2, 2}, gpu(0)), ones({2, 2}, gpu(1))}, options);
  });
  EXPECT_TRUE(text.starts_with("replica 1 on cuda:1: ")) << text;
  EXPECT_EQ(error_of<OutOfMemoryError>([&] {
              (void)parallel::parallel_apply(replicas, {ones({2, 2}, gpu(0)), ones({1, 2}, gpu(1))}, options);
            }),
            "replica 1 on cuda:1: too much");
  EXPECT_EQ(error_of([&] {
              (void)parallel::parallel_apply(replicas, {ones({2, 2}, gpu(0))}, options);
            }),
            "[parallel_apply] there are 2 replicas but 1 inputs");
}

TEST_P(ApplyBy, TakesTheCallersGradientMode) {
  Net net;
  net.to(gpu(0));
  const parallel::ApplyOptions options{.threads = GetParam()};
  auto replicas = parallel::replicate(net, two());
  const std::vector<Tensor> inputs{ones({2, 6}, gpu(0)), ones({2, 6}, gpu(1))};
  EXPECT_TRUE(parallel::parallel_apply(replicas, inputs, options)[1].requires_grad());
  const NoGradGuard no_grad;
  EXPECT_FALSE(parallel::parallel_apply(replicas, inputs, options)[1].requires_grad());
}

// The gradients of one device, for shares that differ and batches that do not reach all devices.
struct Streams : nn::Module {
  std::vector<cuda::Stream> current;
  int device = -1;
  void fields(nn::Fields&) override {}
  Tensor forward(const Tensor& x) override {
    for (const Device& device : two()) current.push_back(cuda::current_stream(device));
    device = cuda::current_device();
    return x;
  }
};

TEST_P(ApplyBy, TakesTheCallersStreamsOfAllDevices) {
  const cuda::Stream first(gpu(0)), second(gpu(1));
  const cuda::StreamGuard on_first(first), on_second(second);
  std::vector<Streams> replicas(3);
  (void)parallel::parallel_apply(replicas, {ones({1}, gpu(0)), ones({1}, gpu(1)), ones({1})}, {.threads = GetParam()});
  for (size_t i = 0; i < replicas.size(); ++i) {
    EXPECT_TRUE(replicas[i].current[0] == first && replicas[i].current[1] == second) << i;
    EXPECT_EQ(replicas[i].device, i == 0 ? 0 : 1) << i;  // the input's, or else the caller's, which the guards made cuda:1
  }
}

TEST_P(ApplyBy, DataParallelEqualsOneDevice) {
  manual_seed(2);
  Net net;
  net.to(gpu(0));
  parallel::DataParallel both(net, two(), {.apply = {.threads = GetParam()}});
  for (const int64_t batch : {8, 7, 1}) {
    const Tensor x = randn({batch, 6}), labels = arange(batch).remainder(3).to(gpu(0));
    net.zero_grad();
    const Tensor alone = net(x.to(gpu(0)));
    cross_entropy(alone, labels).backward();
    std::vector<Tensor> expected;
    for (const Tensor& p : net.parameters()) expected.push_back(p.grad().clone());
    net.zero_grad();
    const Tensor together = both(x);  // scattered from the host
    EXPECT_EQ(together.device(), gpu(0));
    EXPECT_TRUE(allclose(together, alone, 1e-5, 1e-6)) << batch;
    cross_entropy(together, labels).backward();
    const auto params = net.parameters();
    for (size_t i = 0; i < params.size(); ++i) {
      EXPECT_EQ(params[i].grad().device(), gpu(0));
      EXPECT_TRUE(allclose(params[i].grad(), expected[i], 1e-4, 1e-6)) << "batch " << batch << ", parameter " << i;
    }
  }
}

TEST(DataParallel, TrainsLikeOneDevice) {
  std::vector<Tensor> weights;
  for (const bool parallel : {false, true}) {
    manual_seed(4);
    Net net;
    net.to(gpu(0));
    optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
    parallel::DataParallel both(net, parallel ? two() : std::vector{gpu(0)});
    for (int step = 0; step < 10; ++step) {
      const Tensor x = randn({9, 6}).to(gpu(0));
      sgd.zero_grad();
      mse_loss(both(x), x.slice(1, 0, 3)).backward();
      sgd.step();
    }
    EXPECT_EQ(net.calls.item<int64_t>(), 10);
    weights.push_back(net.in.weight.cpu());
  }
  EXPECT_TRUE(allclose(weights[0], weights[1], 1e-4, 1e-6));
}

TEST(DataParallel, ReplicasNameTheirParts) {
  std::vector<std::string> warnings;
  const WarningHandler before = set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  nn::Sequential net(nn::Linear(3, 4), nn::Sequential(nn::Linear(4, 2)));
  net.to(gpu(0));
  parallel::DataParallel wrapped(net, two());
  wrapped(ones({4, 3}, gpu(0))).sum().backward();
  (void)set_warning_handler(before);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
}

TEST(DataParallel, InitializesLazyModulesOnTheOriginal) {
  nn::Sequential net(nn::LazyLinear(4), nn::ReLU(), nn::LazyLinear(2));
  net.to(gpu(0));
  parallel::DataParallel both(net, two());
  const Tensor y = both(randn({5, 3}));
  EXPECT_EQ(y.sizes(), (Shape{5, 2}));
  ASSERT_EQ(net.parameters().size(), 4u);
  y.sum().backward();
  for (const Tensor& p : net.parameters()) EXPECT_TRUE(p.grad().defined() && p.device() == gpu(0));
}

TEST(DataParallel, SaysWhereParametersShouldBe) {
  Net elsewhere;
  parallel::DataParallel misplaced(elsewhere, two());
  EXPECT_EQ(
      error_of([&] {
        (void)misplaced(ones({4, 6}, gpu(0)));
      }),
      "[DataParallel] module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found one of them on device: cpu, "
      "'calls'; call to(\"cuda:0\") of the module first");
  elsewhere.to(gpu(0));
  elsewhere.calls = elsewhere.calls.cpu();
  EXPECT_NE(error_of([&] { (void)misplaced(ones({4, 6}, gpu(0))); }).find("on device: cpu"), std::string::npos);
  EXPECT_NE(error_of([&] { parallel::DataParallel none(elsewhere, {}); }).find("no devices"), std::string::npos);
}

TEST(DataParallel, IsAModuleAroundTheOther) {
  Net net;
  net.to(gpu(0));
  parallel::DataParallel both(net, two(), {.output_device = cpu()});
  EXPECT_TRUE(both.state_dict().contains("module.in.weight"));
  EXPECT_EQ(both.parameters().size(), net.parameters().size());
  both.eval();
  EXPECT_FALSE(net.tail.at(0).training());
  EXPECT_TRUE(both(ones({4, 6})).is_cpu());
  EXPECT_TRUE(both(ones({1, 6})).is_cpu());
}

TEST(DataParallel, OnTheCpuIsTheModule) {
  Net net;
  parallel::DataParallel alone(net, {cpu()});
  const Tensor x = randn({3, 6});
  EXPECT_TRUE(equal(alone(x), net(x)));
}

}  // namespace
}  // namespace tandem::testing
