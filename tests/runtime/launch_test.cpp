// Kernel calls: where their trouble comes out. Copies of bytes: what they wait for.
#include "runtime/launch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/dtype.h"
#include "expect_error.h"
#include "process_gpus.h"
#include "runtime/driver.h"
#include "runtime/stream_record.h"
#include "virtual_gpus.h"

namespace tandem::testing {
namespace {

using runtime::copy_bytes;
using runtime::Launch;
constexpr Site kLine{"model.cpp", 3};

void kernel(const Queue& queue, Trouble trouble, int64_t a = 0, int64_t b = 0) {
  if (trouble != Trouble::None) queue.status->report(trouble, a, b);
}

TEST(Launch, OnTheCpuTroubleIsThrownWhenTheStatementEnds) {
  EXPECT_NO_THROW(kernel(Launch(cpu(), "add", kLine), Trouble::None));
  EXPECT_ERROR(kernel(Launch(cpu(), "gather", kLine), Trouble::IndexOutOfRange, 12, 5), Error,
               "[gather] index 12 is out of bounds for a dimension with size 5: give 0 to 4");
  EXPECT_ERROR(kernel(Launch(cpu(), "index", kLine), Trouble::IndexOutOfRange, 12, 5), IndexError,
               "[index] index 12 is out of bounds for a dimension with size 5: give 0 to 4");
  EXPECT_ERROR(kernel(Launch(cpu(), "take", kLine), Trouble::IndexOutOfRange, 12, 5), IndexError,
               "out of range: tried to access index 12 on a tensor of 5 elements. [take] index 12 is out of bounds");
  EXPECT_ERROR(kernel(Launch(cpu(), "remainder", kLine), Trouble::DivisionByZero), Error,
               "[remainder] ZeroDivisionError: integer division by zero");
  EXPECT_ERROR(kernel(Launch(cpu(), "mm", kLine), Trouble::Unsupported, static_cast<int64_t>(DType::Bool)), NotImplementedError,
               "[mm] has no kernel for bool");
  EXPECT_ERROR(kernel(Launch(cpu(), "mm", kLine), Trouble::Library, -3), Error, "failed with code -3");
  EXPECT_ERROR(kernel(Launch(cpu(), "qr", kLine), Trouble::Library, -1), Error, "[qr] a library it needs is missing or failed");
  static constexpr const char* kText = "cuDNN's cudnnCreate failed: no";
  EXPECT_ERROR(kernel(Launch(cpu(), "mm", kLine), Trouble::Library, static_cast<int64_t>(reinterpret_cast<intptr_t>(kText)), 2), Error,
               "[mm] cuDNN's cudnnCreate failed: no");
  EXPECT_ERROR(kernel(Launch(cpu(), "add", kLine), Trouble::Library, 701, 1), Error, "[add] CUDA did not start its kernel: error 701");
}

TEST(Launch, OnlyTheFirstTroubleIsKept) {
  const auto two = [](const Queue& queue) {
    kernel(queue, Trouble::IndexOutOfRange, 1, 1);
    kernel(queue, Trouble::DivisionByZero);
  };
  EXPECT_ERROR(two(Launch(cpu(), "index", kLine)), IndexError, "index 1");
}

TEST(Launch, AQueueOfTheCpuSaysSo) {
  const auto check = [](const Queue& queue) {
    EXPECT_EQ(queue.device, -1);
    EXPECT_EQ(queue.stream, nullptr);
    EXPECT_GE(queue.threads, 1);
    EXPECT_STREQ(queue.op, "add");
    EXPECT_EQ(queue.site.line, 3);
  };
  check(Launch(cpu(), "add", kLine));
}

struct OnGpus : ProcessGpus {
  runtime::Driver& driver = runtime::require_driver();
  std::vector<std::pair<int, void*>> held;
  int* memory(int device, size_t count) {
    held.emplace_back(device, driver.allocate(device, count * sizeof(int)));
    EXPECT_NE(held.back().second, nullptr);
    return static_cast<int*>(held.back().second);
  }
  void TearDown() override {
    for (const auto& [device, address] : held) driver.free(device, address, 1);  // any of them fits one piece
  }
};

TEST_F(OnGpus, TroubleIsThrownAtTheNextSynchronisation) {
  const auto queued = [](const Queue& queue) {
    virtual_gpu::enqueue(queue, [](const Queue& on_worker) { kernel(on_worker, Trouble::IndexOutOfRange, 99, 10); });
  };
  EXPECT_NO_THROW(queued(Launch(gpu(0), "embedding", kLine)));
  EXPECT_ERROR(cuda::synchronize(gpu(0)), IndexError,
               "[embedding] index 99 is out of bounds for a dimension with size 10: give 0 to 9 (queued at model.cpp:3 on cuda:0)");
  EXPECT_NO_THROW(cuda::synchronize(gpu(0)));
}

TEST_F(OnGpus, CopiesFromHostToHostAtOnce) {
  const int from[2] = {1, 2};
  int to[2] = {};
  copy_bytes(to, cpu(), false, from, cpu(), false, sizeof from, true, "copy", kLine);
  EXPECT_EQ(to[1], 2);
  copy_bytes(nullptr, cpu(), false, nullptr, gpu(0), false, 0, true, "copy", kLine);
}

TEST_F(OnGpus, CopiesOfPageableMemoryAreDoneWhenTheCallReturns) {
  int* there = memory(0, 1000);
  std::vector<int> from(1000, 7), to(1000, 0);
  copy_bytes(there, gpu(0), false, from.data(), cpu(), false, 4000, true, "to", kLine);
  std::fill(from.begin(), from.end(), 0);  // may be changed at once
  copy_bytes(to.data(), cpu(), false, there, gpu(0), false, 4000, true, "cpu", kLine);
  EXPECT_EQ(to, std::vector<int>(1000, 7));
}

TEST_F(OnGpus, CopiesOfPinnedMemoryWaitOnlyWhereAskedTo) {
  int* there = memory(0, 1000);
  auto* pinned = static_cast<int*>(driver.allocate_pinned(4000));
  std::fill_n(pinned, 1000, 3);
  const auto stream = cuda::current_stream(gpu(0));
  Gate gate;
  virtual_gpu::enqueue(Launch(gpu(0), "gate", kLine), gate.task());
  copy_bytes(there, gpu(0), false, pinned, cpu(), true, 4000, true, "to", kLine);
  virtual_gpu::enqueue(Launch(gpu(0), "mul", kLine), [there](const Queue&) { there[999] *= 5; });
  copy_bytes(pinned, cpu(), true, there, gpu(0), false, 4000, true, "cpu", kLine);
  EXPECT_FALSE(stream.query());
  EXPECT_EQ(pinned[999], 3);
  gate.open();
  stream.synchronize();
  EXPECT_EQ(pinned[999], 15);
  virtual_gpu::enqueue(Launch(gpu(0), "mul", kLine), [there](const Queue&) { there[999] *= 2; });
  copy_bytes(pinned, cpu(), true, there, gpu(0), false, 4000, false, "cpu", kLine);
  EXPECT_EQ(pinned[999], 30);
  driver.free_pinned(pinned, 4000);
}

TEST_F(OnGpus, CopiesBetweenGpusKeepTheOrderOfBoth) {
  int* source = memory(0, 100);
  int* target = memory(1, 100);
  int last = 0;
  const Launch first(gpu(0), "fill", kLine), second(gpu(1), "sum", kLine);
  for (int round = 1; round <= 100; ++round) {
    virtual_gpu::enqueue(first, [source, round](const Queue&) { std::fill_n(source, 100, round); });
    // Reads the last round's values before the copy may replace them, and the new ones after it.
    virtual_gpu::enqueue(second, [target, round, &last](const Queue&) {
      if (round > 1 && target[50] != round - 1) last = -1000000;
    });
    copy_bytes(target, gpu(1), false, source, gpu(0), false, 400, false, "to", kLine);
    virtual_gpu::enqueue(second, [target, &last](const Queue&) { last += target[50]; });
  }
  cuda::synchronize(gpu(1));
  EXPECT_EQ(last, 5050);
}

TEST_F(OnGpus, ABlockingCopyThrowsWhatWentWrongBefore) {
  int* there = memory(0, 10);
  int host[10];
  virtual_gpu::enqueue(
      Launch(gpu(0), "embedding", kLine), [](const Queue& queue) { kernel(queue, Trouble::IndexOutOfRange, 99, 10); },
      std::vector<Range>{{there, 40}});
  EXPECT_ERROR(copy_bytes(host, cpu(), false, there, gpu(0), false, 40, false, "item", kLine), IndexError, "[embedding]");
  EXPECT_ERROR(copy_bytes(host, cpu(), false, there, gpu(0), false, 40, false, "item", kLine), Error,
               "[item] reads values that were never computed");
  EXPECT_ERROR(driver.check_readable(0, there, 40), Error, "[embedding]");
  std::memset(host, 0, sizeof host);
  EXPECT_NO_THROW(copy_bytes(there, gpu(0), false, host, cpu(), false, 40, false, "copy_", kLine));
  EXPECT_NO_THROW(copy_bytes(host, cpu(), false, there, gpu(0), false, 40, false, "item", kLine));
}

// An error in earlier work is thrown once, to whoever waits first; copies of others were skipped all the same.
TEST_F(OnGpus, EveryBlockingCopyIsToldThatItsValuesDidNotCome) {
  int* there = memory(0, 10);
  const auto& stream = *static_cast<virtual_gpu::Stream*>(cuda::default_stream(gpu(0)).record()->handle);
  Gate gate;
  virtual_gpu::enqueue(Launch(gpu(0), "gate", kLine), gate.task());
  virtual_gpu::enqueue(
      Launch(gpu(0), "embedding", kLine), [](const Queue& queue) { kernel(queue, Trouble::IndexOutOfRange, 99, 10); },
      std::vector<Range>{{there, 40}});
  constexpr int kReaders = 8;
  const uint64_t before = stream.queued();
  std::atomic<int> told{0};
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < kReaders; ++i) {
      readers.emplace_back([&] {
        int host[10];
        try {
          copy_bytes(host, cpu(), false, there, gpu(0), false, 40, false, "item", kLine);
        } catch (const Error& error) {
          ++told;
          const std::string text = error.what();
          EXPECT_TRUE(text.starts_with("index out of range in self. [embedding]") || text.starts_with("[item] ")) << text;
        }
      });
    }
    while (stream.queued() < before + kReaders) std::this_thread::yield();
    gate.open();
  }
  EXPECT_EQ(told, kReaders);
}

TEST_F(OnGpus, ABlockingCopyThatCannotBeWaitedForIsNotQueued) {
  int* there = memory(0, 1);
  struct Seen {
    int* there;
    std::string text;
    uint64_t queued = 0;
  } seen{there, {}, 0};
  driver.host_function(
      cuda::default_stream(gpu(0)).record()->handle,
      [](void* context) {
        auto& told = *static_cast<Seen*>(context);
        const uint64_t before = virtual_gpu::Stream::of_this_thread()->queued();
        int host = 0;
        try {
          copy_bytes(&host, cpu(), false, told.there, gpu(0), false, sizeof host, false, "item", kLine);
        } catch (const Error& error) {
          told.text = error.what();
        }
        told.queued = virtual_gpu::Stream::of_this_thread()->queued() - before;  // it would be made when `host` is gone
      },
      &seen);
  cuda::synchronize(gpu(0));
  EXPECT_NE(seen.text.find("cannot wait for that stream"), std::string::npos) << seen.text;
  EXPECT_EQ(seen.queued, 0U);
}

}  // namespace
}  // namespace tandem::testing
