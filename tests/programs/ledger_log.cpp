// env: TANDEM_VIRTUAL_GPUS=1x64MiB TANDEM_LEDGER=log:ledger_log.txt ASAN_OPTIONS=detect_leaks=0
// The environment's log: written once, at the end, to the file; not by a forked child. A child's leaks are not looked for, as in fork.cpp.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "tandem.h"

namespace td = tandem;

namespace {

std::string text_of(const char* path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

int waits() {
  const auto x = td::ones({10}, td::gpu(0));
  float sum = 0;
  for (int i = 0; i < 3; ++i) sum += x.sum().item<float>();
  if (fork() == 0) std::exit(0);  // with all that is done at an exit
  (void)wait(nullptr);
  return sum == 30 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return waits();
  std::remove("ledger_log.txt");
  int failures = 0;
  const auto expect = [&](bool held, const char* what) {
    if (held) return;
    std::cout << what << " is not so\n" << text_of("ledger_log.txt");
    ++failures;
  };
  const std::string self = argv[0];
  expect(std::system((self + " run").c_str()) == 0, "that it runs");
  expect(count(text_of("ledger_log.txt"), "ledger of process ") == 1, "that there is one report");
  expect(count(text_of("ledger_log.txt"), "ledger_log.cpp:") == 1, "that it has one row");
  expect(text_of("ledger_log.txt").find("item, cuda:0 to cpu") != std::string::npos, "that it says what");
  expect(std::system(("TANDEM_LEDGER=log " + self + " run 2> ledger_stderr.txt").c_str()) == 0, "that it runs with log");
  expect(count(text_of("ledger_stderr.txt"), "ledger_log.cpp:") == 1, "that standard error has it");
  // A report that cannot be written is said.
  expect(std::system(("TANDEM_LEDGER=log:/dev/full " + self + " run 2> ledger_stderr.txt").c_str()) == 0, "that it runs with a full disk");
  expect(text_of("ledger_stderr.txt").find("cannot write /dev/full: No space left on device") != std::string::npos,
         "that a full disk is told");
  // What cannot be understood, or written to at all, is an error of the first use of a GPU.
  for (const std::string wrong : {"often", "log:", "log:ledger_log.txt/x"}) {
    expect(std::system(("TANDEM_LEDGER=" + wrong + " " + self + " run 2> ledger_stderr.txt").c_str()) != 0,
           "that a wrong value is refused");
    expect(text_of("ledger_stderr.txt").find("TANDEM_LEDGER=" + wrong) != std::string::npos, "that the error names it");
  }
  expect(std::system(("TANDEM_LEDGER=forbid " + self + " run 2> ledger_stderr.txt").c_str()) != 0, "that forbid refuses");
  expect(text_of("ledger_stderr.txt").find("which TANDEM_LEDGER=forbid forbids") != std::string::npos, "that it says who");
  return failures;
}
