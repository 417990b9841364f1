// Copies of virtual GPUs: in order with the stream's work, beside the kernels of other streams, over simulated links.
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/virtual/copy.h"
#include "virtual_gpus.h"

namespace tandem::testing {
namespace {

constexpr Site kLine{"model.cpp", 7};

std::vector<int> numbers(size_t count, int from) {
  std::vector<int> list(count);
  std::iota(list.begin(), list.end(), from);
  return list;
}

// To a GPU, doubled there, over to the other one, back to the host.
void there_and_back(const char* specification, size_t count) {
  VirtualGpus gpus(specification);
  const auto first = gpus.stream(0), second = gpus.stream(1);
  const size_t bytes = count * sizeof(int);
  auto* a = static_cast<int*>(gpus.driver.allocate(0, bytes));
  auto* b = static_cast<int*>(gpus.driver.allocate(1, bytes));
  ASSERT_TRUE(a && b);
  const std::vector<int> sent = numbers(count, 5);
  std::vector<int> back(count, -1);
  gpus.driver.copy(a, 0, sent.data(), -1, bytes, first, "to", kLine);
  gpus.run(first, [a, count](const Queue&) {
    for (size_t i = 0; i < count; ++i) a[i] *= 2;
  });
  gpus.driver.copy(b, 1, a, 0, bytes, first, "to", kLine);
  gpus.record_and_wait(first, second);
  gpus.driver.copy(back.data(), -1, b, 1, bytes, second, "cpu", kLine);
  gpus.synchronize(second);
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(back[i], 2 * sent[i]) << i;
}

TEST(VirtualCopy, CarriesTheBytes) { there_and_back("2x64MiB", 100000); }
TEST(VirtualCopy, CarriesTheBytesThroughTheHost) { there_and_back("2x64MiB,peer=off", 700001); }
TEST(VirtualCopy, CarriesTheBytesOverSlowLinks) { there_and_back("2x64MiB,link=1GB/s,latency=50us", 10000); }
TEST(VirtualCopy, CarriesTheBytesOverSlowLinksThroughTheHost) { there_and_back("2x64MiB,link=1GB/s,latency=50us,peer=off", 300000); }

TEST(VirtualCopy, PeersAreWhatTheOptionsSay) {
  EXPECT_TRUE(VirtualGpus("2x4MiB").driver.can_access_peer(0, 1));
  EXPECT_FALSE(VirtualGpus("2x4MiB").driver.can_access_peer(0, 0));
  EXPECT_FALSE(VirtualGpus("2x4MiB,peer=off").driver.can_access_peer(0, 1));
}

TEST(VirtualCopy, WithinAGpuNeedsNoLink) {
  VirtualGpus gpus("1x4MiB,link=1KB/s");
  const auto stream = gpus.stream();
  auto* data = static_cast<char*>(gpus.driver.allocate(0, 1 << 20));
  gpus.run(stream, [data](const Queue&) { data[0] = 9; });
  gpus.driver.copy(data + 500000, 0, data, 0, 400000, stream, "copy", kLine);
  gpus.run(stream, [data](const Queue&) { data[1] = data[500000]; });
  gpus.synchronize(stream);
  EXPECT_EQ(data[1], 9);
}

TEST(VirtualCopy, KernelsOfOtherStreamsGoOnMeanwhile) {
  std::vector<char> host(60000);
  const char to = 1;
  char from = 0;
  VirtualGpus gpus("2x4MiB,link=1KB/s");  // a minute for what is copied here; ending the program cuts it short
  const auto copies = gpus.stream(0), kernels = gpus.stream(0), second_copies = gpus.stream(1);
  auto* data = static_cast<char*>(gpus.driver.allocate(0, 2 * host.size()));
  auto* there = static_cast<char*>(gpus.driver.allocate(1, host.size()));
  gpus.driver.copy(data, 0, host.data(), -1, host.size(), copies, "to", kLine);
  int ran = 0;
  for (int i = 0; i < 100; ++i) gpus.run(kernels, [&](const Queue&) { ++ran; });
  gpus.synchronize(kernels);
  EXPECT_EQ(ran, 100);
  // The other GPU has engines of its own, and this one another for the other direction.
  gpus.driver.copy(there, 1, &to, -1, 1, second_copies, "to", kLine);
  gpus.synchronize(second_copies);
  gpus.driver.copy(&from, -1, data + 100000, 0, 1, kernels, "cpu", kLine);
  gpus.synchronize(kernels);
  EXPECT_FALSE(gpus.driver.query_stream(copies));
}

TEST(VirtualCopy, NothingIsCopiedForNoBytes) {
  VirtualGpus gpus;
  const auto stream = gpus.stream();
  gpus.driver.copy(nullptr, 0, nullptr, -1, 0, stream, "to", kLine);
  EXPECT_TRUE(gpus.driver.query_stream(stream));
}

TEST(VirtualCopy, PinnedMemoryIsOrdinaryMemoryOfWholePages) {
  VirtualGpus gpus;
  auto* memory = static_cast<char*>(gpus.driver.allocate_pinned(5000));
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0U);
  memory[4999] = 1;
  gpus.driver.free_pinned(memory, 5000);
}

}  // namespace
}  // namespace tandem::testing
