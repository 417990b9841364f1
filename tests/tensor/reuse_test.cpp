// Whose memory a result may take over: that of a temporary which nobody else holds, which is the library's own, and which an allocation on
// the current stream could be given.
#include <sys/mman.h>

#include <future>

#include "runtime/driver.h"
#include "runtime/stream_record.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

class Reuse : public OnDevice {};

TEST_P(Reuse, TakesATemporarysMemory) {
  auto x = td::ones({4}, device());
  const void* const memory = x.data_ptr();
  const auto y = std::move(x) * 2;
  EXPECT_EQ(y.data_ptr(), memory);
  EXPECT_EQ(y.sum().item<float>(), 8);
}

TEST_P(Reuse, LeavesForeignMemoryAsItIs) {
  const auto owner = td::ones({4}, device());
  const td::Options there{.device = device()};
  const auto y = td::from_blob(owner.data_ptr(), {4}, there) * 2;
  const auto z = td::from_blob(owner.data_ptr(), {4}, there).view({2, 2}) * 3;
  const auto w = td::from_blob(owner.data_ptr(), {4}, there).detach() + td::from_blob(owner.data_ptr(), {4}, there);
  EXPECT_EQ(owner.sum().item<float>(), 4);
  EXPECT_EQ(y.sum().item<float>(), 8);
  EXPECT_EQ(z.sum().item<float>(), 12);
  EXPECT_EQ(w.sum().item<float>(), 8);
}

TEST_P(Reuse, LeavesForeignGradientsAsTheyAre) {
  // A gradient that is the caller's own memory: moved into .grad, or added to another one, it would be changed.
  const auto owner = td::ones({2}, device());
  auto x = td::ones({2}, {.device = device(), .requires_grad = true});
  auto y = x * 1;
  y.register_hook([&](const td::Tensor&) { return td::from_blob(owner.data_ptr(), {2}, {.device = device()}); });
  auto once = x.view({2}), again = x.view({2});
  for (const auto& view : {once, again})
    view.register_hook([&](const td::Tensor&) { return td::from_blob(owner.data_ptr(), {2}, {.device = device()}); });
  (once + again).sum().backward();
  (once * again).sum().backward();
  x.register_hook([&](const td::Tensor&) { return td::from_blob(owner.data_ptr(), {2}, {.device = device()}); });
  y.sum().backward({}, {.retain_graph = true});
  y.sum().backward();
  EXPECT_EQ(x.grad().sum().item<float>(), 12);
  EXPECT_EQ(owner.sum().item<float>(), 2);
}

// A result is a tensor of its own, whatever the temporary was whose memory it took over.
TEST_P(Reuse, ForgetsThatATemporaryWasAViewMadeWithoutHistory) {
  td::Tensor view;
  {
    const td::NoGradGuard quiet;
    view = td::ones({2, 3}, device()).unsqueeze(0);
  }
  const auto y = std::move(view) * 2;
  const auto source = td::full({3}, 5.0, device()).requires_grad_();
  y.narrow(1, 0, 1).copy_(source);
  EXPECT_EQ(y.sum().item<float>(), 21);
  y.sum().backward();
  EXPECT_EQ(source.grad().sum().item<float>(), 3);
}

INSTANTIATE_TEST_SUITE_P(Devices, Reuse, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(ReuseOfMappings, ReadsAReadOnlyOne) {
  constexpr size_t kBytes = 4096;
  void* const page = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const auto y = td::from_blob(page, {kBytes / sizeof(float)}) + 1;  // a write would end the program
  EXPECT_EQ(y.sum().item<float>(), kBytes / sizeof(float));
  auto x = td::ones({kBytes / sizeof(float)}, {.requires_grad = true});
  x.register_hook([&](const td::Tensor&) { return td::from_blob(page, {kBytes / sizeof(float)}); });
  x.sum().backward();
  x.sum().backward();
  EXPECT_EQ(x.grad().sum().item<float>(), 0);
  munmap(page, kBytes);
}

// As where the temporary were freed and the result allocated: memory stays with the stream it was made on.
TEST(ReuseOnStreams, LeavesAnotherStreamsMemory) {
  const td::cuda::Stream side(td::gpu(0));
  td::Tensor x;
  {
    const td::cuda::StreamGuard guard(side);
    x = td::ones({4}, td::gpu(0));
  }
  td::cuda::current_stream(td::gpu(0)).wait_stream(side);
  const void* const memory = x.data_ptr();
  const auto y = std::move(x) * 2;
  EXPECT_NE(y.data_ptr(), memory);
  EXPECT_EQ(y.sum().item<float>(), 8);
}

TEST(ReuseOnStreams, WaitsForUsesOnOtherStreams) {
  if (!td::runtime::devices_are_virtual()) GTEST_SKIP() << "streams of a real GPU share queues: one that is held up may hold up others";
  const td::cuda::Stream side(td::gpu(0));
  std::promise<void> go;
  auto x = td::ones({4}, td::gpu(0));
  side.wait_stream(td::cuda::current_stream(td::gpu(0)));
  td::runtime::require_driver().host_function(
      side.record()->handle, [](void* promise) { static_cast<std::promise<void>*>(promise)->get_future().wait(); }, &go);
  td::Tensor seen;
  {
    const td::cuda::StreamGuard guard(side);
    seen = x.clone();
  }
  x.record_stream(side);
  const auto y = std::move(x) * 2;
  td::cuda::current_stream(td::gpu(0)).synchronize();
  go.set_value();
  side.synchronize();
  EXPECT_EQ(seen.sum().item<float>(), 4);
  EXPECT_EQ(y.sum().item<float>(), 8);
}

}  // namespace
