// Tensors, state dictionaries and modules in several processes.
#include <csignal>

#include "support.h"
#include "support/on_device.h"

namespace tandem::testing {
namespace {

void echo(mp::Connection<Tensor> pipe) {
  for (;;) {
    const Tensor x = pipe.recv();
    if (!x.defined()) return;
    pipe.send(x);
  }
}
void adds_one(mp::Queue<Tensor> in, mp::Queue<bool> done) {
  const Tensor x = in.get();
  x.add_(1);
  if (x.is_cuda()) cuda::synchronize();
  done.put(x.is_shared());
}
void keeps(mp::Queue<Tensor> queue, mp::Event has, mp::Event go) {
  const Tensor x = queue.get();
  has.set();
  go.wait();
}
void gives(mp::Queue<Tensor> queue, Device device, int count, mp::Event go) {
  for (int i = 0; i < count; ++i) queue.put(full({1000}, 1.0 * i, {.device = device}));
  go.wait();  // memory of a GPU is its owner's
}
void forwards(mp::Queue<Tensor> in, mp::Queue<Tensor> out, mp::Event go) {
  out.put(in.get());
  go.wait();
}

struct Inner : nn::Module {
  Tensor scale = ones({2});
  Tensor steps = zeros({}, kInt64);
  void fields(nn::Fields& f) override {
    f("scale", scale);
    f.buffer("steps", steps, false);
  }
  Tensor forward(const Tensor& x) override { return x * scale; }
};
struct Net : nn::Module {
  nn::Linear fc{2, 2};
  Inner inner;
  nn::BatchNorm1d norm{2};
  void fields(nn::Fields& f) override {
    f("fc", fc);
    f("inner", inner);
    f("norm", norm);
  }
  Tensor forward(const Tensor& x) override { return norm(inner(fc(x))); }
};
struct Wide : nn::Module {
  int width = 3;
  nn::Linear fc{2, 3};
  Wide() = default;
  explicit Wide(int wide) : width(wide), fc(2, wide) {}
  void fields(nn::Fields& f) override { f("fc", fc); }
  Tensor forward(const Tensor& x) override { return fc(x); }
};

void changes(int, Net net) {
  const NoGradGuard no_grad;
  net.fc.weight.fill_(5);
  net.inner.steps.fill_(3);
  if (net.fc.weight.requires_grad()) throw std::runtime_error("it was frozen");
  if (!net.fc.bias.requires_grad()) throw std::runtime_error("it was not frozen");
  if (net.training() || !net.norm.training()) throw std::runtime_error("the modes are others");
  net.norm(randn({8, 2}));
}
void takes_wide(int, Wide) {}
void changes_state(int, StateDict state) { state.at("b").fill_(2); }

struct Tensors : OnDevice {};

TEST_P(Tensors, ComeBackAsTheyWere) {
  auto [here, there] = mp::pipe<Tensor>();
  mp::Process process(echo, there);
  process.start();
  for (int i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto x = arange(24, {.device = device()}).to(dtype).view({2, 3, 4});
    for (const Tensor& sent :
         {x, x.transpose(0, 2), x.select(1, 1), x.slice(2, 1, 4, 2), x.expand({2, 3, 4}), x.flatten().slice(0, 3, 3)}) {
      here.send(sent);
      const Tensor got = here.recv();
      EXPECT_EQ(got.dtype(), dtype);
      EXPECT_EQ(got.device(), sent.device());
      EXPECT_EQ(got.sizes(), sent.sizes());
      EXPECT_TRUE(equal(got.cpu(), sent.cpu()));
    }
  }
  for (const Shape& sizes : {Shape{}, Shape{0}, Shape{3, 0}, Shape{1}, Shape{300, 400}}) {
    const auto x = randn(sizes, {.device = device()});
    here.send(x);
    EXPECT_TRUE(equal(here.recv().cpu(), x.cpu()));
  }
  const auto leaf = ones({2}, {.device = device(), .requires_grad = true});
  here.send(leaf);
  const Tensor got = here.recv();
  EXPECT_TRUE(got.requires_grad() && got.is_leaf());
  expect_error<Error>([&, &end = here] { end.send(leaf * 2); }, "no leaf");
  here.send((leaf * 2).detach());
  EXPECT_FALSE(here.recv().requires_grad());
  here.send(Tensor());
  EXPECT_TRUE(process.join(kLong));
  EXPECT_EQ(process.exitcode(), 0);
}

TEST_P(Tensors, SharedOnesAreTheSameMemory) {
  mp::Queue<Tensor> queue;
  mp::Queue<bool> done;
  const auto x = zeros({100, 50}, {.device = device()}).share_memory_();
  EXPECT_TRUE(x.is_shared());
  mp::Process process(adds_one, queue, done);
  process.start();
  queue.put(x.slice(1, 10, 20).t());
  EXPECT_TRUE(done.get(kLong));
  EXPECT_TRUE(process.join(kLong));
  EXPECT_EQ(x.sum().item<float>(), 1000.f);
  EXPECT_EQ(x.slice(1, 10, 20).sum().item<float>(), 1000.f);
}

INSTANTIATE_TEST_SUITE_P(, Tensors, ::testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(SharedTensors, KeepTheirIdentity) {
  auto x = arange(6, {.dtype = kFloat32}).view({2, 3}).clone();
  x.requires_grad_();
  const Tensor same = x;
  EXPECT_FALSE(x.is_shared());
  EXPECT_TRUE(x.share_memory_().is_same(x));
  EXPECT_TRUE(same.is_shared() && same.requires_grad());
  x.share_memory_();
  EXPECT_TRUE(equal(same, arange(6, {.dtype = kFloat32}).view({2, 3})));
  (x * x).sum().backward();
  EXPECT_TRUE(equal(x.grad(), 2 * x));
  EXPECT_FALSE(x.grad().is_shared());

  const auto whole = zeros({4});
  const auto row = whole.slice(0, 1, 2);
  expect_error<Error>([&] { whole.share_memory_(); }, "another tensor sees the memory");
  expect_error<Error>([&] { row.share_memory_(); }, "[share_memory_]");
  EXPECT_TRUE(zeros({0}).share_memory_().is_shared());
  expect_error<Error>([] { Tensor().share_memory_(); }, "undefined");
  EXPECT_TRUE(zeros({1}, gpu(0)).is_shared());
  const auto transposed = arange(6).view({2, 3}).clone().t();
  const int before = mapped_memories();
  {
    const auto y = ones({5}).share_memory_();
    EXPECT_EQ(mapped_memories(), before + 1);
  }
  EXPECT_EQ(mapped_memories(), before);
}

TEST(SharedTensors, ArriveOnceHoweverOftenSent) {
  mp::Queue<std::vector<Tensor>> queue;
  const auto x = zeros({4}).share_memory_();
  const int before = mapped_memories(), files = open_descriptors();
  std::vector<Tensor> got;
  // What earlier workers had open may go meanwhile; a descriptor left open by each message is more than that.
  for (int i = 0; i < 50; ++i) {
    queue.put({x, x.slice(0, 1, 3), x});
    got = queue.get(kLong);
    EXPECT_EQ(mapped_memories(), before) << "it was mapped already";
  }
  EXPECT_LE(open_descriptors(), files);
  got[1].fill_(1);
  EXPECT_EQ(x.sum().item<float>(), 2.f);
  EXPECT_EQ(got[0].version(), 1U) << "both are views of one storage";
}

TEST(SharedTensors, OthersAreCopies) {
  mp::Queue<Tensor> queue;
  mp::Queue<bool> done;
  const auto small = zeros({4}), large = zeros({100'000});
  for (const Tensor& x : {small, large}) {
    mp::Process process(adds_one, queue, done);
    process.start();
    queue.put(x);
    EXPECT_TRUE(done.get(kLong) || x.numel() < 100);
    EXPECT_TRUE(process.join(kLong));
    EXPECT_EQ(x.sum().item<float>(), 0.f);
  }
}

TEST(SharedTensors, TooManyForAMessage) {
  mp::Queue<std::vector<Tensor>> queue;
  std::vector<Tensor> many;
  for (int i = 0; i < 260; ++i) many.push_back(zeros({1}).share_memory_());
  expect_error<Error>([&] { queue.put(many); }, "253");
  many.resize(250);
  queue.put(many);
  EXPECT_EQ(queue.get(kLong).size(), 250U);
}

TEST(DeviceTensors, TheirOwnerKeepsThem) {
  expect_no_gpu_memory();
  mp::Queue<Tensor> queue;
  mp::Event has, go;
  const size_t before = cuda::memory_allocated(gpu(0));
  mp::Process process(keeps, queue, has, go);
  process.start();
  queue.put(zeros({100'000}, gpu(0)));
  ASSERT_TRUE(has.wait(kLong));
  EXPECT_GE(cuda::memory_allocated(gpu(0)), before + 400'000);
  go.set();
  EXPECT_TRUE(process.join(kLong));
  EXPECT_TRUE(eventually([&] { return cuda::memory_allocated(gpu(0)) == before; }));
}

TEST(DeviceTensors, ADeadConsumerGivesThemBack) {
  expect_no_gpu_memory();
  mp::Queue<Tensor> queue;
  mp::Event has, go;
  const size_t before = cuda::memory_allocated(gpu(1));
  mp::Process process(keeps, queue, has, go);
  process.start();
  queue.put(zeros({100'000}, gpu(1)));
  ASSERT_TRUE(has.wait(kLong));
  process.kill();
  EXPECT_TRUE(process.join(kLong));
  EXPECT_TRUE(eventually([&] { return cuda::memory_allocated(gpu(1)) == before; }));
  // And so does a message that nobody has received.
  {
    mp::Queue<Tensor> dropped;
    dropped.put(zeros({100'000}, gpu(1)));
    EXPECT_GT(cuda::memory_allocated(gpu(1)), before);
  }
  EXPECT_TRUE(eventually([&] { return cuda::memory_allocated(gpu(1)) == before; }));
}

TEST(DeviceTensors, FromAWorkerAndOnToAnother) {
  mp::Queue<Tensor> made, passed;
  mp::Event go;
  mp::Process maker(gives, made, gpu(0), 3, go), middle(forwards, made, passed, go);
  maker.start();
  middle.start();
  const Tensor x = passed.get(kLong);
  EXPECT_EQ(x.device(), gpu(0));
  const float value = x.mean().item<float>();
  EXPECT_TRUE(value >= 0 && value < 3);
  const Tensor y = made.get(kLong), z = made.get(kLong);
  EXPECT_EQ((x + y + z).sum().item<float>(), 3000.f);
  go.set();
  EXPECT_TRUE(maker.join(kLong));
  EXPECT_TRUE(middle.join(kLong));
}

TEST(DeviceTensors, ForeignMemoryIsRefused) {
  mp::Queue<Tensor> queue;
  const auto own = zeros({4}, gpu(0));
  const auto foreign = from_blob(own.data_ptr(), {4}, {.dtype = kFloat32, .device = gpu(0)});
  expect_error<Error>([&] { queue.put(foreign); }, "clone()");
}

TEST(States, AreShared) {
  StateDict state{{"a", zeros({2}).share_memory_()}, {"b", zeros({3}).share_memory_()}, {"none", Tensor()}};
  mp::spawn(changes_state, 2, state);
  EXPECT_TRUE(equal(state.at("b"), full({3}, 2.0)));
  EXPECT_TRUE(equal(state.at("a"), zeros({2})));
}

TEST(Modules, AreShared) {
  Net net;
  net.fc.weight.requires_grad_(false);
  net.eval();
  net.norm.train();
  const int files = open_descriptors();
  net.share_memory();
  EXPECT_EQ(open_descriptors(), files + 1) << "one memory for all";
  for (const auto& parameter : net.parameters()) EXPECT_TRUE(parameter.is_shared());
  mp::spawn(changes, 1, net);
  EXPECT_TRUE(equal(net.fc.weight, full({2, 2}, 5.0)));
  EXPECT_EQ(net.inner.steps.item<int64_t>(), 3) << "buffers that are not saved, too";
  EXPECT_EQ(net.norm.num_batches_tracked.item<int64_t>(), 1);
  Net own;  // not shared: the workers have copies
  own.fc.weight.requires_grad_(false);
  own.eval();
  own.norm.train();
  mp::spawn(changes, 1, own);
  EXPECT_EQ(own.inner.steps.item<int64_t>(), 0);
}

TEST(Modules, GradientsMoveToo) {
  nn::Linear fc(3, 2);
  fc(randn({4, 3})).sum().backward();
  const Tensor before = fc.weight.grad().clone();
  fc.share_memory();
  EXPECT_TRUE(fc.weight.grad().is_shared());
  EXPECT_TRUE(equal(fc.weight.grad(), before));
}

TEST(Modules, ThatCannotTravel) {
  Wide wide(7);
  expect_error<mp::ProcessError>([&] { mp::spawn(takes_wide, 1, wide); },
                                 "fc.bias of the Wide that was sent is of size [7], of the one made here of size [3]");
  nn::LazyLinear lazy(4);
  expect_error<Error>([&] { lazy.share_memory(); }, "nn::initialize");
}

}  // namespace
}  // namespace tandem::testing
