// TANDEM_RACES, over programs of their own: this one, with the test at the end alone.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tandem.h"

namespace td = tandem;
namespace cuda = td::cuda;

namespace {

struct Outcome {
  int status = -1;
  std::string output;
};

/// Runs the program at the end with these settings. The child that it forks has none of the threads that hold what a search for leaks
/// finds.
Outcome run(const std::string& settings) {
  std::array<char, 4096> path{};
  EXPECT_GT(readlink("/proc/self/exe", path.data(), path.size() - 1), 0);
  const std::string command = "ASAN_OPTIONS=detect_leaks=0 " + settings + " '" + path.data() +
                              "' --gtest_also_run_disabled_tests --gtest_filter=RacesEnvironment.DISABLED_Program 2>&1 >/dev/null";
  Outcome outcome;
  FILE* const pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  if (!pipe) return outcome;
  for (std::array<char, 4096> text{}; std::fgets(text.data(), text.size(), pipe);) outcome.output += text.data();
  outcome.status = WEXITSTATUS(pclose(pipe));
  return outcome;
}

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(RacesEnvironment, ReportsAtTheEnd) {
  const Outcome racing = run("TANDEM_RACES=1 RACES_TEST_PLANT=1");
  EXPECT_EQ(racing.status, 0) << racing.output;
  EXPECT_NE(racing.output.find("races_environment_test.cpp:"), std::string::npos) << racing.output;
  EXPECT_EQ(times(racing.output, "1 race (TANDEM_RACES)"), 1U) << "a forked child reports nothing:\n" << racing.output;
  const Outcome right = run("TANDEM_RACES=1");
  EXPECT_EQ(right.status, 0);
  EXPECT_EQ(right.output, "");
}

TEST(RacesEnvironment, FailsWhereThatIsAskedFor) {
  EXPECT_EQ(run("TANDEM_RACES=fail RACES_TEST_PLANT=1").status, 1);
  EXPECT_EQ(run("TANDEM_RACES=fail").status, 0);
}

TEST(RacesEnvironment, IsOffElse) {
  for (const char* setting : {"TANDEM_RACES=0", "TANDEM_RACES=off", "TANDEM_RACES="})
    EXPECT_EQ(run(std::string(setting) + " RACES_TEST_PLANT=1").output, "") << setting;
}

TEST(RacesEnvironment, DISABLED_Program) {
  const auto x = td::ones({1000}, td::gpu(0));
  const cuda::Stream side(td::gpu(0));
  if (!std::getenv("RACES_TEST_PLANT")) side.wait_stream(cuda::current_stream(td::gpu(0)));  // NOLINT(concurrency-mt-unsafe)
  {
    const cuda::StreamGuard guard(side);
    x.mul_(2);
  }
  cuda::synchronize(td::gpu(0));
  if (const pid_t child = fork(); child == 0) std::exit(0);  // NOLINT(concurrency-mt-unsafe)
  else EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

}  // namespace
