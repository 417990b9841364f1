#include "child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace fuzz {

Progress& map_progress(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(Progress)) != 0) {
    std::perror(path.c_str());
    std::exit(2);
  }
  void* const mapped = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return *static_cast<Progress*>(mapped);
}

Children::Children(std::string folder) : folder_(std::move(folder)), progress_(&map_progress(folder_ + "/progress")) {}

Children::~Children() { munmap(progress_, sizeof *progress_); }

ChildResult Children::run(std::vector<std::string> arguments, double seconds) {
  arguments.insert(arguments.begin(), "fuzz_programs");
  arguments.insert(arguments.end(), {"--folder", folder_});
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const std::string output = folder_ + "/output";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) {
    std::fprintf(stderr, "fuzz programs: could not start a child: %s\n", std::strerror(failed));
    std::exit(2);
  }
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now();
  int64_t seen = -1;
  int status = 0;
  bool hung = false;
  auto pause = std::chrono::microseconds(500);
  while (waitpid(child, &status, WNOHANG) == 0) {
    const int64_t now = progress_->operations + progress_->program;
    if (now != seen) {
      seen = now;
      last = Clock::now();
    } else if (!hung && std::chrono::duration<double>(Clock::now() - last).count() > seconds) {
      hung = true;
      kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(20000));
  }
  ChildResult result;
  std::ostringstream text;
  text << std::ifstream(output).rdbuf();
  result.output = text.str();
  result.good = !hung && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (result.good) return result;
  if (hung) result.what = "no progress for " + std::to_string(static_cast<int>(seconds)) + " s";
  else if (WIFSIGNALED(status)) result.what = std::string("ended by signal ") + strsignal(WTERMSIG(status));
  std::string said = result.output.substr(0, 2000);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (!said.empty()) result.what += (result.what.empty() ? "" : ": ") + said;
  if (result.what.empty()) result.what = "exited with " + std::to_string(WEXITSTATUS(status));
  return result;
}

}  // namespace fuzz
