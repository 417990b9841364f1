// The command line of a program that has commands: `tandem`, and that of the benchmarks.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/command.h"

namespace tandem::tools {

/// What a program is: its name, what its --help says, its commands.
struct Program {
  const char* name;
  const char* description;
  std::span<const AddCommand> commands;
  const char* footer = "";
};

/// The program's commands with their options. Making one touches nothing of the library, so that starting costs nothing.
class CommandLine {
 public:
  explicit CommandLine(const Program& program);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Reads a command line: sets `action`, which refers to this, or answers --help, --version and a wrong call itself and gives the exit
  /// status. May be called again.
  int read(int argc, const char* const* argv);
  /// Reads it and does what it says. Errors are told in one line of standard error. The exit status: 0 done, 1 it failed, 2 it was called
  /// wrongly. `--complete WORD...` lists what a shell may put in place of the last word (completion.h).
  int run(int argc, const char* const* argv);
  Action action;

 private:
  [[nodiscard]] std::vector<std::string> without_dashes(std::vector<std::string> arguments);
  std::unique_ptr<CLI::App> app_;
};

}  // namespace tandem::tools
