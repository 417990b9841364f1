// What cgroups of both versions leave a process of the machine's cores and memory.
#include "base/cgroup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tandem::detail {
namespace {

/// An empty folder that stands for /sys/fs/cgroup.
class Cgroup : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  [[nodiscard]] double quota(const std::string& membership) const { return cgroup_quota(membership, root_.string()); }
  [[nodiscard]] size_t memory(const std::string& membership) const { return cgroup_memory(membership, root_.string()); }

  std::filesystem::path root_ = std::filesystem::absolute("cgroup");
};

TEST_F(Cgroup, QuotaReadsVersionTwo) {
  write("jobs/a/cpu.max", "150000 100000");
  EXPECT_DOUBLE_EQ(quota("0::/jobs/a\n"), 1.5);
}

TEST_F(Cgroup, QuotaTakesTheTightestOfTheParents) {
  write("jobs/a/cpu.max", "max 100000");
  write("jobs/cpu.max", "300000 100000");
  write("cpu.max", "800000 100000");
  EXPECT_DOUBLE_EQ(quota("0::/jobs/a\n"), 3);
  EXPECT_DOUBLE_EQ(quota("0::/\n"), 8);
}

TEST_F(Cgroup, QuotaReadsVersionOne) {
  write("cpu/docker/x/cpu.cfs_quota_us", "250000");
  write("cpu/docker/x/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(quota("9:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n"), 2.5);
  // Inside a container the path is the host's, and only the root is there to be read.
  write("cpu/cpu.cfs_quota_us", "400000");
  write("cpu/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(quota("4:cpu:/somewhere/else\n"), 4);
}

TEST_F(Cgroup, QuotaIsZeroWhereNothingLimits) {
  write("cpu/cpu.cfs_quota_us", "-1");
  write("cpu/cpu.cfs_period_us", "100000");
  write("cpu.max", "max 100000");
  EXPECT_EQ(quota("4:cpu:/\n0::/\n"), 0);
  EXPECT_EQ(quota(""), 0);
  EXPECT_EQ(quota("nonsense\n"), 0);
}

constexpr size_t kMiB = size_t{1} << 20;

TEST_F(Cgroup, MemoryReadsVersionTwo) {
  write("jobs/a/memory.max", "536870912");
  EXPECT_EQ(memory("0::/jobs/a\n"), 512 * kMiB);
  write("jobs/a/memory.high", "402653184");
  EXPECT_EQ(memory("0::/jobs/a\n"), 384 * kMiB);
}

TEST_F(Cgroup, MemoryTakesTheTightestOfTheParents) {
  write("pod/container/worker/memory.max", "max");
  write("pod/container/memory.max", "1073741824");
  write("pod/memory.max", "268435456");
  EXPECT_EQ(memory("0::/pod/container/worker\n"), 256 * kMiB);
  write("pod/container/worker/memory.max", "134217728");
  EXPECT_EQ(memory("0::/pod/container/worker\n"), 128 * kMiB);
}

TEST_F(Cgroup, MemoryReadsVersionOne) {
  write("memory/docker/x/memory.limit_in_bytes", "536870912");
  write("memory/docker/memory.limit_in_bytes", "9223372036854771712");  // none
  const std::string membership = "9:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/init.scope\n";
  EXPECT_EQ(memory(membership), 512 * kMiB);
  write("memory/docker/memory.limit_in_bytes", "268435456");
  EXPECT_EQ(memory(membership), 256 * kMiB);
  // Inside a container the path is the host's, and only the root is there to be read.
  write("memory/memory.limit_in_bytes", "134217728");
  EXPECT_EQ(memory("9:memory:/somewhere/else\n"), 128 * kMiB);
}

TEST_F(Cgroup, MemoryIsZeroWhereNothingLimits) {
  write("memory.max", "max");
  EXPECT_EQ(memory("0::/\n"), 0U);
  EXPECT_EQ(memory("0::relative\n"), 0U);
  EXPECT_EQ(memory(""), 0U);
}

TEST_F(Cgroup, UsableMemoryIsTheMachinesOrTheLimit) {
  const size_t machine = usable_memory(root_.string());  // without /proc and /sys
  EXPECT_GT(machine, 0U);
  write("proc/self/cgroup", "0::/container");
  write("sys/fs/cgroup/container/memory.max", "9223372036854771712");
  EXPECT_EQ(usable_memory(root_.string()), machine);
  write("sys/fs/cgroup/memory.max", "33554432");
  EXPECT_EQ(usable_memory(root_.string()), 32 * kMiB);
  EXPECT_LE(usable_memory(), machine);
}

}  // namespace
}  // namespace tandem::detail
