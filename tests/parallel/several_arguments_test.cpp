// DataParallel around modules of other signatures than tensor to tensor: what is scattered, what is joined, what is refused.
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "nn/support.h"

namespace tandem::testing {
namespace {

std::vector<Device> two() { return {gpu(0), gpu(1)}; }

/// A named pair of results, and a number.
struct Scores {
  Tensor logits, attention;
  int64_t calls = 0;
  template <class F>
  void each_tensor(F&& f) {
    f(logits);
    f(attention);
  }
};

/// A tensor, a mask that need not be there, others in a list, and how to add up.
struct Attended : nn::Callable<Attended> {
  nn::Linear in{4, 3};

  void fields(nn::Fields& f) override { f("in", in); }
  Scores forward(const Tensor& x, const std::optional<Tensor>& mask, const std::vector<Tensor>& more, const std::string& how,
                 double scale) {
    Tensor y = in(x)*scale;
    if (mask) y = y * mask->unsqueeze(1);
    for (const Tensor& other : more) y = y + other;
    return {how == "softmax" ? softmax(y, 1) : y, y.detach().sum(1), 1};
  }
};

TEST(DataParallelOf, ScattersEveryTensorAmongItsArguments) {
  manual_seed(1);
  Attended net;
  net.to(gpu(0));
  parallel::DataParallel both(net, two());
  Attended alone = nn::clone(net);
  for (const int64_t batch : {7, 2, 1})
    for (const char* how : {"softmax", "plain"})
      for (const bool masked : {true, false}) {
        const Tensor x = randn({batch, 4}, gpu(0)), other = randn({batch, 3});
        const std::optional<Tensor> mask = masked ? std::optional(rand({batch}, gpu(1))) : std::nullopt;
        net.zero_grad();
        alone.zero_grad();
        const Scores got = both(x, mask, std::vector<Tensor>{other, other * 2}, std::string(how), 0.5);
        const auto there = masked ? std::optional(mask->to(gpu(0))) : std::nullopt;
        const Scores expected = alone(x, there, std::vector<Tensor>{other.to(gpu(0)), other.to(gpu(0)) * 2}, std::string(how), 0.5);
        EXPECT_EQ(got.logits.device(), gpu(0));
        EXPECT_EQ(got.calls, 1);
        EXPECT_TRUE(allclose(got.logits, expected.logits, 1e-5, 1e-6));
        EXPECT_TRUE(allclose(got.attention, expected.attention, 1e-5, 1e-6));
        got.logits.square().mean().backward();
        expected.logits.square().mean().backward();
        EXPECT_TRUE(allclose(net.in.weight.grad(), alone.in.weight.grad(), 1e-5, 1e-6)) << batch;
      }
}

/// What it is called with tells where it runs.
struct Where : nn::Callable<Where> {
  std::tuple<Tensor, std::pair<Tensor, Tensor>> forward(const std::tuple<Tensor, int>& given, Tensor optional) {
    const auto& [x, number] = given;
    return {x + number, {full({}, x.get_device(), x.device()), optional}};
  }
};

TEST(DataParallelOf, JoinsEveryTensorOfItsResults) {
  Where net;
  parallel::DataParallel both(net, two(), {.output_device = cpu()});
  const auto [sum, rest] = both(std::tuple(arange(5), 2), Tensor());
  EXPECT_TRUE(sum.is_cpu() && rest.first.is_cpu());
  EXPECT_TRUE(equal(sum, arange(5) + 2));
  expect_near(rest.first, {0, 1});  // numbers become a vector
  EXPECT_FALSE(rest.second.defined());
  // Along another dimension.
  parallel::DataParallel columns(net, two(), {.dim = 1});
  EXPECT_TRUE(equal(std::get<0>(columns(std::tuple(ones({2, 4}), 1), Tensor())).cpu(), full({2, 4}, 2)));
  // Without tensors each device is called.
  struct Maker : nn::Callable<Maker> {
    Tensor forward(int64_t n) { return full({n}, cuda::current_device(), "cuda"); }
  } maker;
  parallel::DataParallel made(maker, two());
  expect_near(made(int64_t{2}), {0, 0, 1, 1});
}

/// From tensor to tensor, and with more.
struct Either : nn::Module {
  nn::Linear in{3, 3};
  void fields(nn::Fields& f) override { f("in", in); }
  Tensor forward(const Tensor& x) override { return in(x); }
  using nn::Module::operator();
  Tensor operator()(const Tensor& x, const Tensor& bias, Site site = Site::here()) { return in(x, site) + bias; }
};

TEST(DataParallelOf, AModuleByItsOwnTypeTakesItsOwnArguments) {
  Either net;
  net.to(gpu(0));
  parallel::DataParallel<Either> both(net, two());
  const Tensor x = randn({6, 3}, gpu(0)), bias = randn({6, 3}, gpu(0));
  EXPECT_TRUE(allclose(both(x, bias), net(x, bias), 1e-5, 1e-6));
  EXPECT_TRUE(allclose(both(x), net(x), 1e-5, 1e-6));
  const parallel::DataParallel plain(net, two());
  static_assert(nn::IsTensorModule<decltype(plain)>);
  EXPECT_EQ(both.name(), "DataParallel");
  EXPECT_EQ(plain.name(), "DataParallel");
  EXPECT_TRUE(both.state_dict().contains("module.in.weight"));
}

TEST(DataParallelOf, ThreadsGiveTheSame) {
  Attended net;
  net.to(gpu(0));
  parallel::DataParallel both(net, two(), {.apply = {.threads = true}}), one_by_one(net, two());
  const Tensor x = randn({6, 4}, gpu(0));
  const std::optional<Tensor> none;
  EXPECT_TRUE(equal(both(x, none, std::vector<Tensor>(), std::string("softmax"), 1.0).logits,
                    one_by_one(x, none, std::vector<Tensor>(), std::string("softmax"), 1.0).logits));
}

/// Gives more tensors on one GPU than on the other.
struct Unlike : nn::Callable<Unlike> {
  std::vector<Tensor> forward(const Tensor& x) { return std::vector<Tensor>(1 + static_cast<size_t>(x.get_device()), x); }
};
struct Failing : nn::Callable<Failing> {
  nn::Linear in{3, 3};
  void fields(nn::Fields& f) override { f("in", in); }
  Tensor forward(const Tensor& x, const Tensor& y) { return in(x.slice(1, 0, 2)) + y; }
};

TEST(DataParallelOf, SaysWhatDoesNotGoTogether) {
  Attended net;
  net.to(gpu(0));
  parallel::DataParallel both(net, two());
  const Tensor x = ones({4, 4}, gpu(0));
  EXPECT_EQ(error_of([&] { (void)both(x, std::optional(ones({1})), std::vector<Tensor>(), std::string(), 1.0); }),
            "[DataParallel] tensors of sizes [4, 4] and [1] fill 2 and 1 devices, cut along dimension 0: give them batches of one size");
  EXPECT_NE(error_of([&] { (void)both(x, std::optional(ones({})), std::vector<Tensor>(), std::string(), 1.0); }).find("[scatter]"),
            std::string::npos);
  Unlike unlike;
  parallel::DataParallel uneven(unlike, two());
  EXPECT_NE(error_of([&] { (void)uneven(x); }).find("the replicas gave unlike results"), std::string::npos);
  Failing failing;
  failing.to(gpu(0));
  parallel::DataParallel wrapped(failing, two());
  const std::string text = error_of([&] { (void)wrapped(ones({4, 3}, gpu(0)), ones({4, 3}, gpu(0))); });
  EXPECT_NE(text.find("replica 0 on cuda:0"), std::string::npos) << text;
  failing.cpu();
  EXPECT_NE(error_of([&] { (void)wrapped(x, x); }).find("module must have its parameters and buffers on device cuda:0"), std::string::npos);
}

}  // namespace
}  // namespace tandem::testing
