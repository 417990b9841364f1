// The allocators as the rest of the library uses them, on the process's own virtual GPUs.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "process_gpus.h"
#include "runtime/allocator.h"
#include "runtime/launch.h"
#include "runtime/memory.h"
#include "runtime/memory_text.h"
#include "runtime/stream_record.h"
#include "runtime/virtual/stream.h"

namespace tandem::testing {
namespace {

using runtime::Allocation;
using runtime::Launch;
namespace virtual_gpu = runtime::virtual_gpu;
constexpr size_t MiB = size_t{1} << 20;

struct DeviceMemory : ProcessGpus {
  void SetUp() override {
    ProcessGpus::SetUp();
    cuda::synchronize(gpu(1));
    cuda::empty_cache();
    ASSERT_EQ(cuda::memory_reserved(gpu(1)), 0U);
  }
  static Allocation allocate(size_t bytes) { return runtime::allocate_device(gpu(1), bytes, Site::here("model.cpp", 5)); }
  static void free(Allocation allocation) { runtime::free_device(gpu(1), allocation); }
};

TEST_F(DeviceMemory, IsCountedPerGpu) {
  const size_t on_first = cuda::memory_allocated(gpu(0));
  const Allocation tiny = allocate(1);
  EXPECT_EQ(cuda::memory_allocated(gpu(1)), 512U);
  EXPECT_EQ(cuda::memory_reserved(gpu(1)), 2 * MiB);
  EXPECT_EQ(cuda::memory_cached(gpu(1)), 2 * MiB);
  EXPECT_EQ(cuda::memory_allocated(gpu(0)), on_first);
  cuda::reset_peak_memory_stats(gpu(1));
  const Allocation middle = allocate(5 * MiB);
  free(middle);
  EXPECT_EQ(cuda::max_memory_allocated(gpu(1)), 512 + 5 * MiB);
  EXPECT_EQ(cuda::max_memory_reserved(gpu(1)), 22 * MiB);
  {
    const cuda::DeviceGuard guard(1);
    EXPECT_EQ(cuda::memory_allocated(), 512U);  // the current GPU
  }
  cuda::empty_cache();
  EXPECT_EQ(cuda::memory_reserved(gpu(1)), 2 * MiB);
  const auto segments = cuda::memory_snapshot(gpu(1));
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].device, 1);
  EXPECT_EQ(segments[0].address, reinterpret_cast<uintptr_t>(runtime::require_driver().user_address(1, tiny.data)));
  EXPECT_EQ(segments[0].blocks[0].file, "model.cpp");
  EXPECT_EQ(segments[0].blocks[0].line, 5);
  EXPECT_NE(cuda::memory_summary(gpu(1)).find("device ID 1"), std::string::npos);
  free(tiny);
}

TEST_F(DeviceMemory, NeedsAGpu) {
  EXPECT_THROW((void)cuda::memory_allocated(Device()), Error);
  EXPECT_THROW((void)cuda::memory_summary("cpu"), Error);
  EXPECT_THROW((void)cuda::memory_stats(gpu(63)), Error);
}

TEST_F(DeviceMemory, IsNothingForZeroBytes) {
  const Allocation nothing = allocate(0);
  EXPECT_EQ(nothing.data, nullptr);
  free(nothing);
  EXPECT_EQ(runtime::allocate_pinned(0, Site::none()).data, nullptr);
  runtime::free_pinned({});
}

TEST_F(DeviceMemory, RunsOutAndRecovers) {
  std::vector<Allocation> held;
  const size_t total = cuda::mem_get_info(gpu(1)).second;
  try {
    while (held.size() * 20 * MiB <= total) held.push_back(allocate(20 * MiB));
    FAIL() << "the GPU never ran out";
  } catch (const OutOfMemoryError& e) {
    const std::string text = e.what();
    EXPECT_EQ(text.find("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 1 has a total capacity of "), 0U) << text;
    EXPECT_NE(text.find("Held by: model.cpp:5 ("), std::string::npos) << text;
  }
  EXPECT_EQ(held.size(), total / (20 * MiB));
  free(held.back());
  held.back() = allocate(20 * MiB);
  for (const Allocation allocation : held) free(allocation);
}

TEST_F(DeviceMemory, IsAFractionWhereThatIsSet) {
  const size_t total = cuda::mem_get_info(gpu(1)).second;
  cuda::set_per_process_memory_fraction(0.25, gpu(1));
  const auto expect_refused = [&](size_t bytes) {
    try {
      free(allocate(bytes));
      FAIL() << bytes << " bytes were given";
    } catch (const OutOfMemoryError& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find(" is free. " + runtime::readable_size(total / 4) + " allowed; Of the allocated memory "), std::string::npos)
          << text;
    }
  };
  expect_refused(total / 4 + 2 * MiB);
  const Allocation half = allocate(total / 8);
  expect_refused(total / 8 + 2 * MiB);  // what is held counts
  free(half);
  free(allocate(total / 4 / (2 * MiB) * 2 * MiB));  // for which the cached half is given back
  cuda::empty_cache();
  cuda::set_per_process_memory_fraction(0, gpu(1));
  EXPECT_THROW((void)allocate(1), OutOfMemoryError);
  cuda::set_per_process_memory_fraction(1, gpu(1));
  free(allocate(total / 2));
  for (const double wrong : {-0.1, 1.5, std::nan("")}) EXPECT_THROW(cuda::set_per_process_memory_fraction(wrong, gpu(1)), Error);
  EXPECT_THROW(cuda::set_per_process_memory_fraction(0.5, "cpu"), Error);
}

/// Threads that ask at once do not get past the limit together.
TEST_F(DeviceMemory, IsAFractionForThreadsTogether) {
  const size_t total = cuda::mem_get_info(gpu(1)).second;
  cuda::set_per_process_memory_fraction(0.25, gpu(1));
  cuda::reset_peak_memory_stats(gpu(1));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        try {
          free(allocate(total / 16 + 11 * MiB));
        } catch (const OutOfMemoryError&) {  // NOLINT(bugprone-empty-catch): the others have it
        }
        cuda::empty_cache();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_LE(cuda::max_memory_reserved(gpu(1)), total / 4);
  cuda::set_per_process_memory_fraction(1, gpu(1));
}

TEST_F(DeviceMemory, StaysWithTheGpuUntilQueuedWorkHasPassed) {
  // The kernels write for a while after their memory is freed; giving it back must wait for them.
  std::atomic<int> done{0};
  for (int i = 0; i < 3; ++i) {
    const Allocation block = allocate(20 * MiB);
    virtual_gpu::enqueue(Launch(gpu(1), "slow", Site::here()), [&done, block](const Queue&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::memset(block.data, 1, 20 * MiB);
      ++done;
    });
    const cuda::DeviceGuard guard(1);
    free(block);
    cuda::empty_cache();
    EXPECT_EQ(done, i + 1);
    EXPECT_EQ(cuda::memory_reserved(gpu(1)), 0U);
  }
}

TEST_F(DeviceMemory, IsNotReusedWhileAnotherStreamStillReadsIt) {
  const cuda::Stream side{gpu(1)};
  std::atomic<bool> go{false};
  std::atomic<int> seen{0};
  const Allocation block = allocate(4000);
  std::memset(block.data, 7, 4000);
  virtual_gpu::enqueue(runtime::require_driver().queue(side.record()->handle, "reader", Site::here()), [&, block](const Queue&) {
    while (!go) std::this_thread::yield();
    seen = static_cast<char*>(block.data)[3999];
  });
  runtime::record_stream(gpu(1), block, side);
  free(block);
  for (int i = 0; i < 100; ++i) {
    const Allocation other = allocate(4000);
    EXPECT_NE(other.data, block.data);
    virtual_gpu::enqueue(Launch(gpu(1), "writer", Site::here()), [other](const Queue&) { std::memset(other.data, 9, 4000); });
    free(other);
  }
  go = true;
  side.synchronize();
  EXPECT_EQ(seen, 7);
  const Allocation again = allocate(4000);
  EXPECT_EQ(again.data, block.data);
  free(again);
  cuda::synchronize(gpu(1));
}

// A request that waits for the GPU holds no lock meanwhile: what is queued there may ask for memory, too.
TEST_F(DeviceMemory, IsToBeHadForQueuedWorkThatARequestWaitsFor) {
  const size_t total = cuda::mem_get_info(gpu(1)).second, most = total / (2 * MiB) * 2 * MiB - 8 * MiB;
  const Allocation small = allocate(512);               // and what is left of its segment
  const Allocation cached = allocate(most - 20 * MiB);  // which the next request needs back
  const cuda::Stream side{gpu(1)};
  const int64_t before = cuda::memory_stats(gpu(1)).num_alloc_retries;
  struct Work {
    int64_t retries;
    int served = 0;
  } work{before};
  runtime::require_driver().host_function(
      side.record()->handle,
      [](void* context) {
        auto& work = *static_cast<Work*>(context);
        while (cuda::memory_stats(gpu(1)).num_alloc_retries == work.retries) std::this_thread::yield();
        for (; work.served < 100; ++work.served) {
          free(allocate(512));
          (void)cuda::mem_get_info(gpu(1));
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      },
      &work);
  runtime::record_stream(gpu(1), cached, side);
  free(cached);
  const Allocation large = allocate(most);
  EXPECT_EQ(work.served, 100);
  free(large);
  free(small);
}

// Queued work that runs out of memory cannot wait: what is queued behind it may be what holds the memory.
TEST_F(DeviceMemory, RunsOutForQueuedWorkWithoutWaiting) {
  const size_t total = cuda::mem_get_info(gpu(1)).second, most = total / (2 * MiB) * 2 * MiB;
  free(allocate(most - 20 * MiB));
  const cuda::Stream side{gpu(1)};
  std::atomic<bool> go{false};
  struct Work {
    std::atomic<bool>& go;
    size_t bytes;
    std::string text;
  } work{go, most, {}};
  runtime::require_driver().host_function(
      side.record()->handle,
      [](void* context) {
        auto& work = *static_cast<Work*>(context);
        while (!work.go) std::this_thread::yield();
        try {
          free(allocate(work.bytes));
        } catch (const Error& error) {
          work.text = error.what();
        }
      },
      &work);
  cuda::default_stream(gpu(1)).wait_stream(side);
  go = true;
  cuda::synchronize(gpu(1));
  EXPECT_EQ(work.text.find("CUDA out of memory."), 0U) << work.text;
  free(allocate(most));
}

TEST_F(DeviceMemory, CanBeDescribedByItsUsersAddress) {
  const Allocation block = allocate(4000);
  char text[100];
  auto* const user = static_cast<char*>(runtime::require_driver().user_address(1, block.data));
  ASSERT_TRUE(runtime::describe_block(1, user + 100, text, sizeof text));
  EXPECT_STREQ(text, "4000 bytes allocated at model.cpp:5");
  EXPECT_FALSE(runtime::describe_block(0, user, text, sizeof text));
  EXPECT_FALSE(runtime::describe_block(-1, user, text, sizeof text));
  EXPECT_FALSE(runtime::describe_block(1000, user, text, sizeof text));
  free(block);
}

TEST_F(DeviceMemory, ServesThreadsWithStreamsOfTheirOwn) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      const cuda::Stream stream{gpu(1)};
      const cuda::StreamGuard guard(stream);
      for (int step = 0; step < 300; ++step) {
        const size_t bytes = 8 + random() % 100000;
        const Allocation block = allocate(bytes);
        const auto mark = static_cast<char>(step % 100);
        virtual_gpu::enqueue(Launch(gpu(1), "write", Site::here()), [=](const Queue&) { std::memset(block.data, mark, bytes); });
        virtual_gpu::enqueue(Launch(gpu(1), "check", Site::here()), [=, &wrong](const Queue&) {
          for (size_t i = 0; i < bytes; ++i) wrong += static_cast<char*>(block.data)[i] != mark;
        });
        free(block);
        if (step % 100 == 50) cuda::empty_cache();
      }
      stream.synchronize();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cuda::memory_allocated(gpu(1)), 0U);
}

TEST_F(DeviceMemory, IsGivenBackTogetherWithPinnedMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "freed memory stays mapped";
#endif
  const Allocation pinned = runtime::allocate_pinned(1024 * MiB, Site::here());  // more than malloc keeps for itself
  unsigned char resident = 0;
  EXPECT_EQ(mincore(pinned.data, 1, &resident), 0);
  runtime::free_pinned(pinned);
  cuda::empty_cache();
  EXPECT_NE(mincore(pinned.data, 1, &resident), 0) << "it is still mapped";
}

TEST_F(DeviceMemory, ReusesPinnedMemoryOnlyAfterTheCopy) {
  const cuda::Stream side{gpu(1)};
  std::atomic<bool> go{false};
  const Allocation pinned = runtime::allocate_pinned(4000, Site::here());
  virtual_gpu::enqueue(runtime::require_driver().queue(side.record()->handle, "wait", Site::here()), [&](const Queue&) {
    while (!go) std::this_thread::yield();
  });
  runtime::record_stream_pinned(pinned, side);
  runtime::free_pinned(pinned);
  const Allocation other = runtime::allocate_pinned(4000, Site::here());
  EXPECT_NE(other.data, pinned.data);
  go = true;
  side.synchronize();
  const Allocation again = runtime::allocate_pinned(4000, Site::here());
  EXPECT_EQ(again.data, pinned.data);
  runtime::free_pinned(other);
  runtime::free_pinned(again);
}

}  // namespace
}  // namespace tandem::testing
