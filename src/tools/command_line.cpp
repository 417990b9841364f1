// Reading the command line of a program: its commands, and what is said of a wrong call.
#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <vector>

#include "base/version.h"
#include "tools/command.h"
#include "tools/completion.h"
#include "tools/did_you_mean.h"

namespace tandem::tools {
namespace {

/// The library's texts may have line breaks; a program's error is one line.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// The commands of the deepest command that was named, and how it was called.
std::pair<const CLI::App*, std::string> deepest(const CLI::App& app) {
  const CLI::App* at = &app;
  std::string call = app.get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    call += " " + at->get_name();
  }
  return {at, call};
}

/// What is wrong with the call, and where to read on.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const auto [command, call] = deepest(app);
  std::vector<std::string> names;
  std::string commands;
  for (const CLI::App* sub : command->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
    commands += (commands.empty() ? "" : ", ") + sub->get_name();
  }
  const std::string help = "; " + call + " --help tells more";
  const auto left = app.remaining(true);
  const bool needs_more = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if ((needs_more || dynamic_cast<const CLI::ExtrasError*>(&error)) && !left.empty()) {
    if (left.front().starts_with("-")) {
      std::vector<std::string> options;
      for (const CLI::Option* option : command->get_options()) options.push_back(option->get_name());
      const std::string given = left.front().substr(0, left.front().find('='));
      return "unknown option " + given + " of '" + call + "'" + did_you_mean(given, options) + help;
    }
    if (!commands.empty())
      return "unknown command '" + left.front() + "' of '" + call + "'" + did_you_mean(left.front(), names) + "; it has: " + commands +
             help;
    return "'" + call + "' takes no argument '" + left.front() + "'" + help;
  }
  if (needs_more && !commands.empty()) return "'" + call + "' needs one of its commands: " + commands + help;
  const std::string text = error.what();
  // "Could not convert: --top = x"
  if (const auto colon = text.find(": "), equals = text.find(" = ");
      dynamic_cast<const CLI::ConversionError*>(&error) && colon != std::string::npos && equals != std::string::npos && colon < equals)
    return text.substr(colon + 2, equals - colon - 2) + ": must be a number, not " + text.substr(equals + 3) + help;
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return text.substr(0, text.find(':')) + " needs a value" + help;
  return text + help;
}

/// Says in one line of standard error what is wrong; gives `status`.
int complain(const CLI::App& app, const std::string& text, int status) {
  std::cout.flush();
  std::cerr << app.get_name() << ": " << one_line(text) << std::endl;
  return status;
}

}  // namespace

CommandLine::CommandLine(const Program& program) : app_(std::make_unique<CLI::App>(program.description, program.name)) {
  app_->set_version_flag("--version", str(program.name, " ", kVersion), "Print the version and exit");
  app_->set_help_flag("-h,--help", "Print this and exit");
  app_->require_subcommand(1);
  app_->footer(program.footer);
  for (const AddCommand add : program.commands) add(*app_, action);
}

CommandLine::~CommandLine() = default;

/// The arguments without the "--" of `tandem launch -n 2 -- PROGRAM`, that ends a command's own options: CLI11 gives what follows it to
/// the program, not to the command. Another "--" is the program's.
std::vector<std::string> CommandLine::without_dashes(std::vector<std::string> arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes == arguments.begin()) return arguments;
  const auto commands = app_->get_subcommands([&](const CLI::App* command) { return command->get_name() == arguments.front(); });
  if (commands.empty() || !commands.front()->get_prefix_command()) return arguments;
  try {
    app_->parse(std::vector<std::string>(std::make_reverse_iterator(dashes), arguments.rend()));
  } catch (const CLI::ParseError&) {
    return arguments;
  }
  if (commands.front()->remaining().empty()) arguments.erase(dashes);
  return arguments;
}

int CommandLine::read(int argc, const char* const* argv) {
  action = nullptr;
  try {
    std::vector<std::string> arguments = without_dashes({argv + 1, argv + argc});
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app_->parse(std::move(arguments));
    return 0;
  } catch (const CLI::ParseError& error) {
    action = nullptr;                                          // the command may have been read before what is wrong
    if (error.get_exit_code() == 0) return app_->exit(error);  // --help and --version
    return complain(*app_, usage_text(*app_, error), 2);
  }
}

int CommandLine::run(int argc, const char* const* argv) {
  if (argc > 1 && argv[1] == std::string_view("--complete")) {
    std::cout << completions(*app_, {argv + 2, argv + argc}) << std::flush;
    return 0;
  }
  // A result that a full disk has swallowed is none.
  const auto ended = [&](int status) {
    std::cout.flush();
    return status == 0 && (!std::cout || std::ferror(stdout)) ? complain(*app_, "standard output cannot be written to", 1) : status;
  };
  if (const int status = read(argc, argv); !action) return ended(status);
  try {
    return ended(action());
  } catch (const UsageError& error) {
    return complain(*app_, error.what(), 2);
  } catch (const std::exception& error) {
    return complain(*app_, error.what(), 1);
  }
}

}  // namespace tandem::tools
