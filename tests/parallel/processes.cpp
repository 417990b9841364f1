#include "parallel/processes.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "base/env.h"
#include "comm/api/distributed.h"

extern char** environ;

namespace tandem::testing {
namespace {

constexpr const char* kRank = "TEST_RANK=";
constexpr const char* kMeeting = "TEST_MEETING=";

pid_t spawn(const std::string& test, int rank, const std::string& meeting) {
  std::vector<std::string> words{"/proc/self/exe", "--gtest_brief=1", "--gtest_filter=" + test};
  std::vector<std::string> own{kRank + std::to_string(rank), kMeeting + meeting};
  std::vector<char*> arguments, variables;
  for (std::string& word : words) arguments.push_back(word.data());
  for (char** at = environ; *at; ++at) variables.push_back(*at);
  for (std::string& variable : own) variables.push_back(variable.data());
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  pid_t pid = -1;
  EXPECT_EQ(posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments.data(), variables.data()), 0);
  return pid;
}

/// 0 where all went well. A process that has not ended after two minutes is killed.
int status_of(pid_t pid) {
  const auto watch = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  pollfd asked{watch, POLLIN, 0};
  if (poll(&asked, 1, 120000) != 1) {
    ADD_FAILURE() << "process " << pid << " hangs";
    kill(pid, SIGKILL);
  }
  close(watch);
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

}  // namespace

void run_as_processes(int size, int number, const std::function<void(int)>& f) {
  const auto own_rank = environment("TEST_RANK");
  if (own_rank) {
    const int rank = std::stoi(*own_rank);
    distributed::init_process_group("local", {.timeout = std::chrono::seconds(60),
                                              .rank = rank,
                                              .world_size = size,
                                              .init_method = *environment("TEST_MEETING") + "-" + std::to_string(number)});
    f(rank);
    distributed::destroy_process_group();
    return;
  }
  if (number > 1) return;
  const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(test->test_suite_name()) + "." + test->name();
  const std::string meeting = "test-" + std::to_string(getpid()) + "-" + test->name();
  std::vector<pid_t> pids;
  for (int rank = 0; rank < size; ++rank) pids.push_back(spawn(name, rank, meeting));
  for (int rank = 0; rank < size; ++rank) EXPECT_EQ(status_of(pids[static_cast<size_t>(rank)]), 0) << "rank " << rank;
}

}  // namespace tandem::testing
