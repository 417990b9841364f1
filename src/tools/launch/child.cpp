#include "tools/launch/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file_limit.h"

namespace tandem::tools {
namespace {

/// This process's environment with `variables` set.
std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    if (!variables.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Child::Child(const ChildOptions& options) {
  std::vector<std::string> command = options.command, environment = environment_with(options.variables);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, options.output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, options.errors, STDERR_FILENO);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int error = [&] {
    const detail::FirstFileLimit limit;
    return posix_spawnp(&pid_, command[0].c_str(), &files, &attributes, pointers(command).data(), pointers(environment).data());
  }();
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    pid_ = -1;
    fail("'", command[0], "' cannot be started: ", std::generic_category().message(error));
  }
  pidfd_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_) {
    const int why = errno;
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    fail("'", command[0], "' cannot be watched: ", std::generic_category().message(why));
  }
}

Child::~Child() {
  signal(SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED);
}

std::optional<comm::control::Ended> Child::ended() {
  if (ended_) return ended_;
  siginfo_t info{};
  // It stays a zombie, so that its number, and its group's, is nobody else's as long as signals may be sent to it.
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return std::nullopt;
  ended_ = comm::control::Ended{info.si_code != CLD_EXITED, info.si_status & 0xff};
  return ended_;
}

void Child::signal(int number) const { kill(-pid_, number); }

std::string text_of(const comm::control::Ended& ended) {
  if (!ended.by_signal) return str("exit status ", ended.code);
  const char* name = sigdescr_np(ended.code);
  return str("signal ", ended.code, " (", name ? name : "unknown", ")");
}

int status_of(const comm::control::Ended& ended) { return ended.by_signal ? 128 + ended.code : ended.code; }

}  // namespace tandem::tools
