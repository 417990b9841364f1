// Starting a process, and watching it without waiting for it.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "comm/control/message.h"

namespace tandem::tools {

/// Variables to set in a child's environment, over those of this process.
using Variables = std::map<std::string, std::string>;

/// What a child is started with. Its standard input is empty, it has a process group of its own, and signals do to it what they do by
/// default.
struct ChildOptions {
  std::vector<std::string> command;  // a program, looked for in PATH, and its arguments
  Variables variables;
  int output = 1, errors = 2;  // descriptors that become its standard output and standard error
};

/// A child of this process, with the group it leads. One that still runs when this ends is killed, and its group with it.
class Child {
 public:
  /// Error that names the program where it cannot be started.
  explicit Child(const ChildOptions& options);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Readable once it has ended.
  [[nodiscard]] int fd() const { return pidfd_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// How it ended; nothing while it runs.
  [[nodiscard]] std::optional<comm::control::Ended> ended();
  /// Sends a signal to it and to the processes that it has started.
  void signal(int number) const;

 private:
  pid_t pid_ = -1;
  Descriptor pidfd_;
  std::optional<comm::control::Ended> ended_;
};

/// "exit status 3" or "signal 9 (Killed)".
[[nodiscard]] std::string text_of(const comm::control::Ended& ended);
/// What a shell would give for it: the exit status, or 128 and the signal.
[[nodiscard]] int status_of(const comm::control::Ended& ended);

}  // namespace tandem::tools
