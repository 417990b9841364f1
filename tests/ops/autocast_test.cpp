// The scope of autocast: where it begins and ends, what it keeps, and that gradients fit. What it does with each operation is compared with
// PyTorch's answers by `golden --autocast`.
#include "ops/autocast.h"

#include <thread>

#include "runtime/stream.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Autocast : public OnDevice {
 protected:
  static td::DType lower() { return device().is_cpu() ? td::kBFloat16 : td::kFloat16; }
  static td::Tensor of(std::initializer_list<int64_t> sizes) { return td::randn(td::Shape(sizes), {.device = device()}); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Autocast, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(Autocast, ScopesNest) {
  const auto a = of({3, 3});
  EXPECT_FALSE(td::is_autocast_enabled(device()));
  {
    const auto outer = td::autocast(device());
    EXPECT_TRUE(td::is_autocast_enabled(device()));
    EXPECT_FALSE(td::is_autocast_enabled(device().is_cpu() ? "cuda" : "cpu"));
    EXPECT_EQ(td::matmul(a, a).dtype(), lower());
    {
      const auto off = td::autocast(device(), {.enabled = false});
      EXPECT_FALSE(td::is_autocast_enabled(device()));
      EXPECT_EQ(td::matmul(a, a).dtype(), td::kFloat32);
      const auto other = td::autocast(device(), {.dtype = lower() == td::kFloat16 ? td::kBFloat16 : td::kFloat16});
      EXPECT_NE(td::matmul(a, a).dtype(), lower());
      EXPECT_TRUE(td::is_half(td::matmul(a, a).dtype()));
    }
    EXPECT_EQ(td::matmul(a, a).dtype(), lower());
  }
  EXPECT_EQ(td::matmul(a, a).dtype(), td::kFloat32);
  EXPECT_EQ(td::get_autocast_dtype(device()), lower());
}

TEST_P(Autocast, EndsWithAnException) {
  const auto a = of({2, 3});
  try {
    const auto guard = td::autocast(device());
    (void)td::matmul(a, a);
  } catch (const td::Error&) {
  }
  EXPECT_FALSE(td::is_autocast_enabled(device()));
  EXPECT_EQ(td::matmul(a, a.t()).dtype(), td::kFloat32);
}

TEST_P(Autocast, DtypesCanBeSet) {
  td::set_autocast_dtype(device(), td::kFloat16);
  EXPECT_EQ(td::get_autocast_dtype(device()), td::kFloat16);
  {
    const auto guard = td::autocast(device());
    EXPECT_EQ(td::matmul(of({2, 2}), of({2, 2})).dtype(), td::kFloat16);
  }
  td::set_autocast_dtype(device(), lower());
  td::set_autocast_enabled(device(), true);
  EXPECT_EQ(td::matmul(of({2, 2}), of({2, 2})).dtype(), lower());
  td::set_autocast_enabled(device(), false);
  const std::string text = error_of([] { (void)td::autocast(device(), {.dtype = td::kFloat32}); });
  EXPECT_NE(text.find("autocast only supports dtypes of bfloat16 and float16, but got float32"), std::string::npos) << text;
  EXPECT_FALSE(td::is_autocast_enabled(device()));
}

TEST_P(Autocast, LeavesDoublesIntegersAndChangesInPlaceAlone) {
  const auto guard = td::autocast(device());
  const auto a = of({3, 3}), wide = a.to(td::kFloat64), whole = td::ones({3, 3}, {.dtype = td::kInt64, .device = device()});
  EXPECT_EQ(td::matmul(wide, wide).dtype(), td::kFloat64);
  EXPECT_EQ(td::matmul(whole, whole).dtype(), td::kInt64);
  const auto b = of({3, 3}).to(lower());
  b.exp_();
  EXPECT_EQ(b.dtype(), lower());
  const auto sum = of({3, 3}), before = sum.clone();
  sum.addcmul_(a, a);
  EXPECT_TRUE(td::allclose(sum, before + a * a));
}

TEST_P(Autocast, LeavesOtherKindsOfDevicesAlone) {
  const auto guard = td::autocast(device().is_cpu() ? "cuda" : "cpu");
  EXPECT_EQ(td::matmul(of({2, 2}), of({2, 2})).dtype(), td::kFloat32);
}

TEST_P(Autocast, GradientsHaveTheParametersDtype) {
  td::manual_seed(1);
  const auto x = of({8, 16}), y = td::arange(8, {.device = device()}).remainder(3);
  td::nn::Sequential net(td::nn::Linear(16, 32, {.bias = false}), td::nn::BatchNorm1d(32), td::nn::ReLU(), td::nn::Linear(32, 3));
  net.to(device());
  td::cross_entropy(net(x), y).backward();
  std::vector<td::Tensor> exact;
  for (const auto& p : net.parameters()) exact.push_back(p.grad());
  net.zero_grad();
  {
    const auto guard = td::autocast(device());
    const auto output = net(x);
    EXPECT_EQ(output.dtype(), lower());
    const auto loss = td::cross_entropy(output, y);
    EXPECT_EQ(loss.dtype(), td::kFloat32);
    loss.backward();  // within the scope: backward goes by what forward did
  }
  for (size_t i = 0; i < exact.size(); ++i) {
    const td::Tensor gradient = net.parameters()[i].grad();
    EXPECT_EQ(gradient.dtype(), td::kFloat32);
    EXPECT_LT(td::norm(gradient - exact[i]).item<float>(), 0.1F * td::norm(exact[i]).item<float>()) << i;
  }
}

TEST_P(Autocast, BackwardComputesInTheDtypesOfForward) {
  const auto a = of({4, 4}).requires_grad_();
  const auto product = td::matmul(a, a);  // in float32
  const auto expected = td::grad({product.sum()}, {a}, {.retain_graph = true})[0];
  const auto guard = td::autocast(device());
  EXPECT_TRUE(td::equal(td::grad({product}, {a}, {.grad_outputs = {td::ones_like(product)}})[0], expected));
}

TEST_P(Autocast, CanBeDifferentiatedTwice) {
  const auto a = td::full({2, 2}, 3.0, {.device = device()}).requires_grad_();
  const auto guard = td::autocast(device());
  const auto y = td::matmul(a, a);
  const auto first = td::grad({y}, {a}, {.grad_outputs = {td::ones_like(y)}, .create_graph = true})[0];
  EXPECT_EQ(first.dtype(), td::kFloat32);
  const auto second = td::grad({first}, {a}, {.grad_outputs = {td::ones_like(first)}})[0];
  EXPECT_EQ(second.dtype(), td::kFloat32);
  EXPECT_TRUE(td::equal(second, td::full({2, 2}, 4.0, {.device = device()})));
}

// --- Casts that are kept
TEST_P(Autocast, KeepsCastsOfParameters) {
  const auto weight = of({4, 4}).requires_grad_(), x = of({4, 4});
  const auto node = [&] { return td::matmul(x, weight).grad_fn()->edges()[1].node.get(); };  // of the cast
  const auto guard = td::autocast(device());
  const auto y = td::matmul(x, weight);
  EXPECT_EQ(node(), y.grad_fn()->edges()[1].node.get());
  td::clear_autocast_cache();
  EXPECT_NE(node(), y.grad_fn()->edges()[1].node.get());
  const auto kept = td::matmul(x, weight);
  const auto none = td::autocast(device(), {.cache_enabled = false});
  EXPECT_FALSE(td::is_autocast_cache_enabled());
  EXPECT_NE(node(), kept.grad_fn()->edges()[1].node.get());
}

TEST_P(Autocast, AChangedParameterIsCastAnew) {
  const auto weight = td::ones({2, 2}, {.device = device()}).requires_grad_(), x = td::ones({2, 2}, {.device = device()});
  const auto guard = td::autocast(device());
  EXPECT_EQ(td::matmul(x, weight).sum().item<float>(), 8);
  {
    const td::NoGradGuard no_grad;
    weight.mul_(3);
  }
  EXPECT_EQ(td::matmul(x, weight).sum().item<float>(), 24);
}

TEST_P(Autocast, ADeadParametersPlaceIsNotTakenForIt) {
  const auto x = td::ones({2, 2}, {.device = device()});
  const auto guard = td::autocast(device());
  for (int i = 0; i < 20; ++i) {
    const auto weight = td::full({2, 2}, static_cast<double>(i), {.device = device()}).requires_grad_();
    EXPECT_EQ(td::matmul(x, weight).sum().item<float>(), 8.F * static_cast<float>(i));
  }
}

TEST_P(Autocast, ACastWithoutHistoryDoesNotServeTraining) {
  const auto weight = of({2, 2}).requires_grad_(), x = of({2, 2});
  const auto guard = td::autocast(device());
  {
    const td::NoGradGuard no_grad;
    (void)td::matmul(x, weight);
  }
  td::matmul(x, weight).sum().backward();
  EXPECT_TRUE(weight.grad().defined());
}

TEST(AutocastStreams, ACastServesItsStreamOnly) {
  const auto weight = td::ones({64, 64}, {.device = "cuda:0"}).requires_grad_(), x = td::ones({64, 64}, {.device = "cuda:0"});
  td::cuda::synchronize();
  const auto guard = td::autocast("cuda");
  const auto y = td::matmul(x, weight);
  const td::cuda::Stream other(td::Device("cuda:0"));
  const td::cuda::StreamGuard there(other);
  const auto z = td::matmul(x, weight);
  EXPECT_NE(z.grad_fn()->edges()[1].node.get(), y.grad_fn()->edges()[1].node.get());
  EXPECT_EQ(z.sum().item<float>(), 64 * 64 * 64);
}

TEST_P(Autocast, IsOfTheThread) {
  const auto guard = td::autocast(device());
  bool enabled = true;
  std::thread([&] { enabled = td::is_autocast_enabled(device()); }).join();
  EXPECT_FALSE(enabled);
}

// --- Where it has to go along
struct Times : td::autograd::Function<Times> {
  static inline bool in_backward;
  static td::Tensor forward(td::autograd::Context&, const td::Tensor& x) { return x * 2; }
  static std::vector<td::Tensor> backward(td::autograd::Context&, const std::vector<td::Tensor>& grads) {
    in_backward = td::is_autocast_enabled(grads[0].device());
    return {grads[0] * 2};
  }
};

TEST_P(Autocast, OnesOwnFunctionHasThatOfForwardInBackward) {
  const auto x = of({3}).requires_grad_();
  td::Tensor y;
  {
    const auto guard = td::autocast(device());
    y = Times::apply(x);
  }
  y.sum().backward();
  EXPECT_TRUE(Times::in_backward);
  EXPECT_FALSE(td::is_autocast_enabled(device()));
  y = Times::apply(x);
  const auto guard = td::autocast(device());
  y.sum().backward();
  EXPECT_FALSE(Times::in_backward);
}

TEST(AutocastOfReplicas, IsTheCallers) {
  td::nn::Linear net(4, 3);
  net.to("cuda:0");
  td::parallel::DataParallel parallel(net, {td::gpu(0), td::gpu(1)});
  const auto x = td::randn({6, 4}, {.device = "cuda:0"});
  EXPECT_EQ(parallel(x).dtype(), td::kFloat32);
  const auto guard = td::autocast("cuda");
  const auto y = parallel(x);
  EXPECT_EQ(y.dtype(), td::kFloat16);
  y.sum().backward();
  EXPECT_EQ(net.parameters()[0].grad().dtype(), td::kFloat32);
}

TEST(AutocastOfModules, RecurrentOnesAsPyTorch) {
  for (const char* name : {"cpu", "cuda:0"}) {
    const td::Device device(name);
    const auto x = td::randn({5, 2, 4}, {.device = device});
    td::nn::LSTM lstm(4, 3);
    td::nn::GRU gru(4, 3);
    td::nn::RNN rnn(4, 3);
    lstm.to(device), gru.to(device), rnn.to(device);
    const auto guard = td::autocast(device);
    const td::DType lower = td::get_autocast_dtype(device);
    EXPECT_EQ(lstm(x).output.dtype(), lower);
    EXPECT_EQ(rnn(x).output.dtype(), lower);
    EXPECT_EQ(gru(x).output.dtype(), device.is_cpu() ? td::kFloat32 : lower);
    lstm(x).output.sum().backward();
    EXPECT_EQ(lstm.parameters()[0].grad().dtype(), td::kFloat32);
  }
}

TEST(AutocastOfModules, CompiledOnesCallTheModule) {
  td::nn::Sequential net(td::nn::Linear(4, 4), td::nn::ReLU());
  net.eval();
  auto fast = td::compile(net);
  const td::NoGradGuard no_grad;
  const auto x = td::randn({2, 4});
  EXPECT_EQ(fast(x).dtype(), td::kFloat32);
  const auto guard = td::autocast("cpu");
  EXPECT_EQ(fast(x).dtype(), td::kBFloat16);
  EXPECT_NE(fast.why().find("autocast"), std::string::npos);
}

}  // namespace
