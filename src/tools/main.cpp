// The program `tandem`. Reads the command line, runs one command, and turns errors into one line and an exit status:
// 0 done, 1 it failed, 2 it was called wrongly.
#include "tools/command_line.h"

int main(int argc, char** argv) {
  using namespace tandem::tools;
  CommandLine line;
  if (const int status = line.read(argc, argv); !line.action) return status;
  try {
    return line.action();
  } catch (const UsageError& error) {
    return complain(error.what(), 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
