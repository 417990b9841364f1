// A virtual GPU's memory: a budget with an end, two addresses for each byte, gaps that grow together again.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "expect_error.h"
#include "runtime/virtual/memory.h"
#include "virtual_gpus.h"

namespace tandem::testing {
namespace {

using virtual_gpu::Arena;
constexpr size_t kMiB = size_t{1} << 20;

TEST(VirtualMemory, HandsOutTheBudgetAndNoMore) {
  Arena arena(0, 64 * kMiB);
  std::vector<void*> held;
  for (int i = 0; i < 32; ++i) {
    held.push_back(arena.allocate(2 * kMiB));
    ASSERT_NE(held.back(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(held.back()) % 4096, 0U);
  }
  EXPECT_EQ(arena.free_bytes(), 0U);
  EXPECT_EQ(arena.allocate(1), nullptr);
  arena.free(held[7], 2 * kMiB);
  EXPECT_EQ(arena.free_bytes(), 2 * kMiB);
  EXPECT_NE(arena.allocate(1), nullptr);
  EXPECT_EQ(arena.allocate(1), nullptr);
  EXPECT_EQ(arena.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.allocate(0), nullptr);
}

TEST(VirtualMemory, NeighbouringGapsGrowTogether) {
  Arena arena(0, 16 * kMiB);
  std::vector<void*> held;
  for (int i = 0; i < 8; ++i) held.push_back(arena.allocate(2 * kMiB));
  for (const size_t i : {1U, 3U, 2U, 0U, 6U, 7U, 5U, 4U}) arena.free(held[i], 2 * kMiB);
  EXPECT_EQ(arena.free_bytes(), 16 * kMiB);
  EXPECT_EQ(arena.allocate(16 * kMiB), held[0]);  // first fit, from the beginning
}

TEST(VirtualMemory, GapsBetweenBlocksDoNotUseUpTheBudget) {
  Arena arena(0, 16 * kMiB);
  std::vector<void*> held;
  for (int i = 0; i < 8; ++i) held.push_back(arena.allocate(2 * kMiB));
  for (const size_t i : {0U, 2U, 4U, 6U}) arena.free(held[i], 2 * kMiB);
  EXPECT_NE(arena.allocate(8 * kMiB), nullptr);
}

TEST(VirtualMemory, ComesBackEmpty) {
  Arena arena(0, 8 * kMiB);
  void* first = arena.allocate(2 * kMiB);
  std::memset(first, 7, 2 * kMiB);
  arena.free(first, 2 * kMiB);
  const auto* again = static_cast<char*>(arena.allocate(2 * kMiB));
  ASSERT_EQ(again, first);
  EXPECT_EQ(again[0], 0);
  EXPECT_EQ(again[2 * kMiB - 1], 0);
}

// The kernel refuses with EFAULT what would be a fault in the program.
bool host_can_read(const void* address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool fine = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return fine;
}

TEST(VirtualMemory, TheUsersAddressFaultsAndTheKernelsDoesNot) {
  Arena arena(0, 8 * kMiB);
  for (int i = 0; i < 2; ++i) {
    char* kernels = static_cast<char*>(arena.allocate(2 * kMiB)) + 100;
    *kernels = 1;
    void* user = arena.user_address(kernels);
    EXPECT_NE(user, kernels);
    EXPECT_TRUE(host_can_read(kernels));
    EXPECT_FALSE(host_can_read(user));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(user) - arena.user_base(), reinterpret_cast<uintptr_t>(kernels) - arena.kernels_base());
  }
}

TEST(VirtualMemory, MoreAddressesThanThereAreIsAnErrorThatSaysSo) {
  const auto make = [] { Arena arena(0, size_t{1} << 58); };
  EXPECT_ERROR(make(), Error, "ask for less");
}

TEST(VirtualMemory, EveryGpuHasItsOwn) {
  VirtualGpus gpus("2x4MiB");
  EXPECT_NE(gpus.driver.allocate(0, 4 * kMiB), nullptr);
  EXPECT_EQ(gpus.driver.allocate(0, 1), nullptr);
  EXPECT_NE(gpus.driver.allocate(1, 4 * kMiB), nullptr);
  EXPECT_EQ(gpus.driver.memory_info(1), (std::pair<size_t, size_t>(0, 4 * kMiB)));
  EXPECT_EQ(gpus.driver.properties(1).total_memory, 4 * kMiB);
}

}  // namespace
}  // namespace tandem::testing
