// How many cores the process may use: what the variables and the affinity mask say.
#include "base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>

#include "base/error.h"

namespace tandem::detail {
namespace {

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
