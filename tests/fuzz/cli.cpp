// The command line of the program: one argument a line. What it asks for is not run.
#include <iostream>
#include <vector>

#include "fuzz.h"
#include "tools/program.h"

void fuzz::read(std::string_view text) {
  static tandem::tools::CommandLine& line = *[] {
    std::cout.rdbuf(nullptr);  // what it prints is of no use here
    std::cerr.rdbuf(nullptr);
    return new tandem::tools::CommandLine(tandem::tools::kTandem);
  }();
  std::vector<std::string> words = {"tandem"};
  while (!text.empty()) {
    const size_t end = text.find('\n');
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  if (words.size() > 1 && words[1] == "--complete") {  // what a shell asks
    expect(line.run(static_cast<int>(arguments.size()), arguments.data()) == 0, "a completion that is an error");
    return;
  }
  const int status = line.read(static_cast<int>(arguments.size()), arguments.data());
  expect(line.action ? status == 0 : status == 0 || status == 2, "a command line that is neither run nor answered");
}
