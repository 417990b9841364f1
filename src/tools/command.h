// What the commands of a program share: how one is added to the command line, and how it fails.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "runtime/device.h"

namespace CLI {  // CLI11 takes a compiler three seconds: sources that add options include it
class App;
class Validator;
}  // namespace CLI

namespace tandem::tools {

/// A wrong call of the program: its text goes to standard error in one line, and the program exits with 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// What is to be done once the command line is read; gives the exit status.
using Action = std::function<int()>;

/// Adds a command, with its options, to `app`, and sets `action` where it is the one that was called.
using AddCommand = void (*)(CLI::App& app, Action& action);

/// The most that options kept in an int can be.
inline constexpr int64_t kMostInt = INT32_MAX;

/// The PROGRAM and its ARGUMENTS that follow a command's options. UsageError where an option that the command does not have comes first.
[[nodiscard]] std::vector<std::string> program_of(const CLI::App& command);

/// Checks for options whose errors say what is expected, and what was given.
[[nodiscard]] CLI::Validator whole_number_from(int64_t least, int64_t most = INT64_MAX);
[[nodiscard]] CLI::Validator positive_number();
[[nodiscard]] CLI::Validator number_from_zero();
[[nodiscard]] CLI::Validator number_between(double least, double most);
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);
[[nodiscard]] CLI::Validator existing_file();
[[nodiscard]] CLI::Validator not_empty();

/// The device that an option names, with its index: "cuda" is "cuda:0". UsageError that begins with `command` where there is none such.
[[nodiscard]] Device device_named(const char* command, const std::string& text);

}  // namespace tandem::tools
