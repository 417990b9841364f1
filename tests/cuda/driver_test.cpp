// The driver of CUDA GPUs over a CUDA runtime without a GPU (fake_cuda.h): what it asks of CUDA while other threads capture, and what is
// current when something is freed.
#include "runtime/cuda/driver.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "cuda/fake_cuda.h"
#include "runtime/caching_allocator.h"
#include "runtime/cuda/launch_error.h"
#include "runtime/expect_error.h"
#include "runtime/launch.h"
#include "runtime/pinned_cache.h"

namespace tandem::runtime::cuda_gpu {
namespace {

using tandem::testing::fake_cuda;

class CudaDriverTest : public ::testing::Test {
 protected:
  CudaDriverTest() {
    fake_cuda() = {};
    (void)cudaSetDevice(0);
  }
  ~CudaDriverTest() override {
    EXPECT_EQ(fake_cuda().spoilt, 0);
    EXPECT_EQ(fake_cuda().wrong_device, 0);
    EXPECT_EQ(fake_cuda().freed_in_use, 0);
    EXPECT_EQ(fake_cuda().on_legacy_stream, 0);
  }
  StreamRecord stream(int device) { return {device, ++streams_, 0, driver_.create_stream(device, 0)}; }

  int streams_ = 0;
  CudaDriver driver_;
};

/// Calls f in another thread and waits for its end.
template <class F>
void elsewhere(F f) {
  std::thread(f).join();
}

TEST(CudaLaunchError, SaysWhyAKernelWasNotStarted) {
  const auto refused = [](cudaError_t code) { report_launch(Launch(cpu(), "add", Site::none()), code); };
  EXPECT_NO_THROW(refused(cudaSuccess));
  EXPECT_ERROR(refused(cudaErrorLaunchOutOfResources), Error, "[add] CUDA did not start its kernel: error 701");
  for (const cudaError_t code : {cudaErrorNoKernelImageForDevice, cudaErrorUnsupportedPtxVersion})
    EXPECT_ERROR(refused(code), Error, "has no code for this GPU; build it with the GPU's architecture in CMAKE_CUDA_ARCHITECTURES");
}

TEST_F(CudaDriverTest, AllocatorsLeaveCapturedStreamsAlone) {
  const StreamRecord captured = stream(0), other = stream(0);
  CachingAllocator memory(driver_, 0);
  PinnedCache pinned(driver_);
  memory.free(memory.allocate(1 << 20, &captured, Site::none()));
  Block* const used = memory.allocate(1 << 20, &other, Site::none());
  PinnedBlock* const copied = pinned.allocate(1000, Site::none());
  driver_.begin_capture(captured.handle);
  elsewhere([&] {
    memory.record_stream(used, &captured);
    memory.free(used);
    pinned.record_stream(copied, &captured);
    pinned.free(copied);
    memory.empty_cache(Site::none());
    (void)pinned.allocate(1000, Site::none());
  });
  EXPECT_GT(memory.reserved_bytes(), 0U);
  driver_.destroy_graph(driver_.end_capture(captured.handle));
  memory.empty_cache(Site::none());
  EXPECT_EQ(memory.reserved_bytes(), 0U);
}

TEST_F(CudaDriverTest, WaitsForADeviceButNotForItsCapturedStreams) {
  const StreamRecord captured = stream(0), joined = stream(0), other = stream(0);
  driver_.begin_capture(other.handle);
  const GraphHandle graph = driver_.end_capture(other.handle);
  driver_.begin_capture(captured.handle);
  const EventHandle event = driver_.create_event(0, false);
  driver_.record_event(event, captured.handle);
  driver_.wait_event(joined.handle, event);
  elsewhere([&] {
    driver_.launch_graph(graph, other.handle, nullptr, Site::none());
    driver_.synchronize_device(0, Site::none());
    EXPECT_TRUE(driver_.query_stream(other.handle));
    for (const StreamRecord& each : {captured, joined}) {
      EXPECT_TRUE(driver_.capturing(each.handle));
      EXPECT_ERROR(driver_.synchronize_stream(each.handle, Site::none()), Error, "being captured");
      EXPECT_ERROR((void)driver_.query_stream(each.handle), Error, "being captured");
    }
    EXPECT_ERROR((void)driver_.query_event(event), Error, "recorded in a capture");
    EXPECT_ERROR(driver_.synchronize_event(event, Site::none()), Error, "recorded in a capture");
  });
  driver_.destroy_event(event);
  driver_.destroy_graph(driver_.end_capture(captured.handle));
  driver_.destroy_graph(graph);
  EXPECT_FALSE(driver_.capturing(joined.handle));
}

TEST_F(CudaDriverTest, DestroysGraphsWhileOthersCapture) {
  const StreamRecord captured = stream(0), replaying = stream(0);
  driver_.begin_capture(replaying.handle);
  const GraphHandle graph = driver_.end_capture(replaying.handle);
  driver_.launch_graph(graph, replaying.handle, nullptr, Site::none());
  driver_.begin_capture(captured.handle);
  elsewhere([&] { driver_.destroy_graph(graph); });
  EXPECT_EQ(fake_cuda().waits_for_a_device, 0);
  driver_.synchronize_stream(replaying.handle, Site::none());
  driver_.destroy_graph(driver_.end_capture(captured.handle));
}

TEST_F(CudaDriverTest, FreesThingsOnTheirOwnDevice) {
  const StreamRecord second = stream(1);
  const EventHandle event = driver_.create_event(1, true);
  driver_.begin_capture(second.handle);
  const GraphHandle graph = driver_.end_capture(second.handle);
  void* const pinned = driver_.allocate_pinned(100);
  fake_cuda().contexts = {1};
  elsewhere([&] {  // a thread that has used no device: the first one is current
    driver_.destroy_event(event);
    driver_.destroy_graph(graph);
    driver_.free_pinned(pinned, 100);
  });
  EXPECT_EQ(fake_cuda().contexts, (std::set<int>{1})) << "no context was made to free something";
}

TEST_F(CudaDriverTest, NamesOneOperationWhereThreadsShareAStream) {
  const StreamRecord shared = stream(0);
  std::vector<std::thread> threads;
  for (const char* op : {"add", "mul"})
    threads.emplace_back([&driver = driver_, op, handle = shared.handle] {
      const Site site(op, 1);
      for (int i = 0; i < 1000; ++i) (void)driver.queue(handle, op, site);
    });
  fake_cuda().failing = true;
  for (int i = 0; i < 1000; ++i) try {
      (void)driver_.query_stream(shared.handle);
      ADD_FAILURE() << "no error came out";
    } catch (const Error& error) {
      const std::string text = error.what();
      if (text.find("the last operation") == std::string::npos) continue;  // nothing has been queued yet
      EXPECT_TRUE(text.ends_with("was add at add:1") || text.ends_with("was mul at mul:1")) << text;
    }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tandem::runtime::cuda_gpu
