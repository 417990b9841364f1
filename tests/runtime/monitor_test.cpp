// Gauges: what virtual GPUs know, and that they say what they lack.
#include "runtime/monitor.h"

#include <unistd.h>

#include <cstdio>

#include "expect_error.h"
#include "process_gpus.h"
#include "runtime/allocator.h"
#include "runtime/memory.h"

namespace tandem::testing {
namespace {

struct Monitor : ProcessGpus {};

TEST_F(Monitor, CountsTheMemoryInUse) {
  const size_t before = cuda::device_memory_used(1), elsewhere = cuda::device_memory_used(0);
  const runtime::Allocation held = runtime::allocate_device(gpu(1), size_t{24} << 20, Site::here());
  EXPECT_GE(cuda::device_memory_used(1), before + (size_t{24} << 20));
  EXPECT_EQ(cuda::device_memory_used(0), elsewhere);
  const auto [free, total] = cuda::mem_get_info(1);
  EXPECT_EQ(cuda::device_memory_used(1), total - free);
  {
    const cuda::DeviceGuard guard(1);
    EXPECT_EQ(cuda::device_memory_used(), total - free);  // the current GPU
  }
  runtime::free_device(gpu(1), held);
}

TEST_F(Monitor, ListsThisProcessWhereItHoldsMemory) {
  const runtime::Allocation held = runtime::allocate_device(gpu(1), 1000, Site::here());
  char line[80];
  std::snprintf(line, sizeof line, "GPU:1\nprocess %10d uses %12.3f MB GPU memory", static_cast<int>(getpid()),
                static_cast<double>(cuda::device_memory_used(1)) / (1 << 20));
  EXPECT_EQ(cuda::list_gpu_processes(1), line);
  runtime::free_device(gpu(1), held);
  cuda::synchronize(1);
  cuda::empty_cache();
  EXPECT_EQ(cuda::device_memory_used(1), 0U);
  EXPECT_EQ(cuda::list_gpu_processes(1), "GPU:1\nno processes are running");
}

TEST_F(Monitor, SaysWhichGaugesAVirtualGpuLacks) {
  EXPECT_ERROR(cuda::temperature(1), Error, "[temperature] cuda:1 is a virtual GPU, which has no thermometer: ask a real GPU");
  EXPECT_ERROR(cuda::power_draw(), Error, "[power_draw] cuda:0 is a virtual GPU, which has no power meter");
  EXPECT_ERROR(cuda::clock_rate(), Error, "[clock_rate] cuda:0 is a virtual GPU, which has no clock of its own");
  EXPECT_ERROR(cuda::memory_usage(), Error, "[memory_usage] cuda:0 is a virtual GPU, which has no count of its memory's busy time");
}

TEST_F(Monitor, WantsAGpuThatExists) {
  EXPECT_ERROR(cuda::temperature(cpu()), Error, "[temperature] expected a cuda device, but got: cpu");
  EXPECT_ERROR(cuda::list_gpu_processes(cpu()), Error, "[list_gpu_processes] expected a cuda device, but got: cpu");
  EXPECT_ERROR(cuda::device_memory_used(77), Error, "cuda:77: there is no such GPU");
}

}  // namespace
}  // namespace tandem::testing
