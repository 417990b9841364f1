// How many cores the process may use: quotas in both versions of cgroups, and the variables.
#include "base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace tandem::detail {
namespace {

/// An empty folder that stands for /sys/fs/cgroup.
class CgroupQuota : public testing::Test {
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

  std::filesystem::path root_ = std::filesystem::absolute("cgroup");
};

TEST_F(CgroupQuota, ReadsVersionTwo) {
  write("jobs/a/cpu.max", "150000 100000");
  EXPECT_DOUBLE_EQ(quota("0::/jobs/a\n"), 1.5);
}

TEST_F(CgroupQuota, TakesTheTightestOfTheParents) {
  write("jobs/a/cpu.max", "max 100000");
  write("jobs/cpu.max", "300000 100000");
  write("cpu.max", "800000 100000");
  EXPECT_DOUBLE_EQ(quota("0::/jobs/a\n"), 3);
  EXPECT_DOUBLE_EQ(quota("0::/\n"), 8);
}

TEST_F(CgroupQuota, ReadsVersionOne) {
  write("cpu/docker/x/cpu.cfs_quota_us", "250000");
  write("cpu/docker/x/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(quota("9:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n"), 2.5);
  // Inside a container the path is the host's, and only the root is there to be read.
  write("cpu/cpu.cfs_quota_us", "400000");
  write("cpu/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(quota("4:cpu:/somewhere/else\n"), 4);
}

TEST_F(CgroupQuota, IsZeroWhereNothingLimits) {
  write("cpu/cpu.cfs_quota_us", "-1");
  write("cpu/cpu.cfs_period_us", "100000");
  write("cpu.max", "max 100000");
  EXPECT_EQ(quota("4:cpu:/\n0::/\n"), 0);
  EXPECT_EQ(quota(""), 0);
  EXPECT_EQ(quota("nonsense\n"), 0);
}

/// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* const before = std::getenv(name);
    if (before) before_ = before;
    was_set_ = before;
    setenv(name, value, 1);
  }
  ~Variable() {
    if (was_set_) setenv(name_, before_.c_str(), 1);
    else unsetenv(name_);
  }

 private:
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};

TEST(UsableCores, IsWhatTheVariableSays) {
  const Variable variable("TANDEM_NUM_THREADS", "7");
  EXPECT_EQ(usable_cores(), 7);
}

TEST(UsableCores, RefusesWhatIsNoNumber) {
  for (const char* value : {"0", "-2", "two", "3x", "1.5"}) {
    const Variable variable("TANDEM_NUM_THREADS", value);
    try {
      (void)usable_cores();
      FAIL() << value;
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()), str("TANDEM_NUM_THREADS must be a whole number from 1 on, such as 4, not '", value, "'"));
    }
  }
}

TEST(UsableCores, KeepsToTheAffinityMaskAndSharesWithLocalRanks) {
  const Variable unset("TANDEM_NUM_THREADS", "");  // an empty value counts as none
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  const int cores = usable_cores();
  EXPECT_GE(cores, 1);
  EXPECT_LE(cores, CPU_COUNT(&mask));
  {
    const Variable ranks("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    EXPECT_EQ(usable_cores(), std::max(1, cores / 2));
  }
  const Variable ranks("LOCAL_WORLD_SIZE", "100000");
  EXPECT_EQ(usable_cores(), 1);
}

}  // namespace
}  // namespace tandem::detail
