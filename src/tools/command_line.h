// The command line of the program `tandem`.
#pragma once

#include <string>

#include "tools/command.h"

namespace tandem::tools {

/// The program's commands with their options. Making one touches nothing of the library, so that starting costs nothing.
class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Reads a command line: sets `action`, which refers to this, or answers --help, --version and a wrong call itself and gives the exit
  /// status. May be called again.
  int read(int argc, const char* const* argv);
  Action action;

 private:
  CLI::App app_;
};

/// Says in one line of standard error what is wrong; gives `status`.
int complain(const std::string& text, int status);

}  // namespace tandem::tools
