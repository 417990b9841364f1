// `tandem trace`: runs a program, has the library record all of it, and sums up what took time.
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json_text.h"
#include "io/file.h"
#include "observe/profiler/chrome_trace.h"
#include "observe/profiler/flame_graph.h"
#include "observe/profiler/key_averages.h"
#include "observe/profiler/key_averages_table.h"
#include "observe/profiler/trace_environment.h"
#include "ops/creation.h"
#include "ops/matmul.h"
#include "runtime/device.h"
#include "tools/program.h"
#include "train/terminal.h"

namespace tandem::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct TraceOptions {
  std::string output = "trace.json";
  profiler::TableOptions table;
  bool json = false, peak = false, sorted = false;  // sorted: by a column that was asked for
  std::vector<std::string> program;
};

/// A file that is written again is another one, or of another time.
struct FileState {
  ino_t number = 0;
  int64_t seconds = 0, nanoseconds = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};

/// The traces that stand under that name: trace.json, and trace.rank0.json and its like.
std::map<std::string, FileState> traces(const fs::path& output) {
  std::map<std::string, FileState> found;
  std::error_code error;
  const std::string stem = output.stem().string(), ending = output.extension().string();
  for (fs::directory_iterator entry(output.parent_path(), error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool of_rank = name.starts_with(stem + ".rank") || name.starts_with(stem + ".worker");
    if (name != output.filename() && !(of_rank && name.ends_with(ending))) continue;
    struct stat status = {};
    if (stat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode))
      found[entry->path().string()] = {status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  }
  return found;
}

/// Runs it to its end; how it ended, as waitpid says it. `to_errors`: what it prints goes to standard error.
int run_program(const TraceOptions& options, bool to_errors) {
  std::vector<char*> arguments;
  for (const std::string& each : options.program) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  // What is typed at the terminal reaches the program itself, and it decides.
  const auto before_int = std::signal(SIGINT, SIG_IGN), before_quit = std::signal(SIGQUIT, SIG_IGN);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t own;
  sigemptyset(&own);
  if (before_int != SIG_IGN) sigaddset(&own, SIGINT);
  if (before_quit != SIG_IGN) sigaddset(&own, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &own);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (to_errors) posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  int status = 0;
  if (!failed)
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  std::signal(SIGINT, before_int);
  std::signal(SIGQUIT, before_quit);
  if (failed) throw UsageError(str("trace: cannot start ", options.program[0], ": ", std::strerror(failed)));
  return status;
}

ordered_json rows_of(const profiler::KeyAverages& averages, const profiler::TableOptions& options) {
  ordered_json rows = ordered_json::array();
  for (const profiler::KeyAverage& row : averages.sorted_by(options.sort_by)) {
    if (options.row_limit >= 0 && rows.size() == static_cast<size_t>(options.row_limit)) break;
    rows.push_back({{"name", row.key},
                    {"count", row.count},
                    {"self_cpu_time_total", row.self_cpu_time_total.count()},
                    {"cpu_time_total", row.cpu_time_total.count()},
                    {"self_device_time_total", row.self_device_time_total.count()},
                    {"device_time_total", row.device_time_total.count()},
                    {"bytes", row.bytes},
                    {"memory", row.memory},
                    {"flops", row.flops}});
    if (options.peak_gflops > 0) rows.back()["of_peak"] = row.gflops() / options.peak_gflops;
  }
  return rows;
}

/// The best of some large products, on the first real GPU or on all threads of the CPU, which virtual GPUs are made of.
double measured_peak() {
  const bool real = cuda::is_available() && !cuda::get_device_properties(gpu(0)).is_virtual;
  const Device device = real ? gpu(0) : Device();
  const int64_t size = real ? 8192 : 1024;
  const Tensor a = ones({size, size}, device), b = ones({size, size}, device);
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Tensor product = matmul(a, b);
    if (real) cuda::synchronize(device);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, 2e-9 * static_cast<double>(size * size * size) / seconds);
  }
  return best;
}

/// trace.rank0.json has its flame graphs in trace.rank0.html; a file of another name in one behind it.
std::string flame_graphs_of(const std::string& trace) {
  const fs::path path = trace;
  return path.extension() == ".json" ? fs::path(path).replace_extension(".html").string() : trace + ".html";
}

int run_trace(const TraceOptions& options) {
  if (options.program.empty()) throw UsageError("trace: which program? `tandem trace ./train` runs ./train and writes trace.json");
  try {
    (void)profiler::KeyAverages({}).sorted_by(options.table.sort_by);
  } catch (const Error& error) {
    throw UsageError(str("trace: --sort: ", error.what()));
  }
  const fs::path output = fs::absolute(options.output);
  std::error_code error;
  fs::create_directories(output.parent_path(), error);
  if (error) throw UsageError(str("trace: --output: cannot make the folder ", output.parent_path().string(), ": ", error.message()));
  const auto before = traces(output);
  if (setenv(profiler::kTraceVariable, output.c_str(), 1) != 0) fail("[trace] no memory for an environment variable");
  const int status = run_program(options, options.json);
  // They were meant for the program, not for what this one does with the library.
  for (const char* const variable : {profiler::kTraceVariable, "TANDEM_LEDGER", "TANDEM_RACES"}) unsetenv(variable);

  profiler::TableOptions table = options.table;
  if (options.peak) table.peak_gflops = measured_peak();
  const train::Terminal terminal = train::terminal_of(STDOUT_FILENO);
  const size_t width = terminal.interactive ? static_cast<size_t>(terminal.width) : 0;
  ordered_json answer = {{"exit_status", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)},
                         {"traces", ordered_json::array()}};
  for (const auto& [path, state] : traces(output)) {
    if (const auto old = before.find(path); old != before.end() && old->second == state) continue;
    const std::vector<profiler::Event> events = profiler::read_chrome_trace(path);
    const profiler::KeyAverages averages(events);
    if (!options.sorted && profiler::detail::any_device_time(averages)) table.sort_by = "self_device_time_total";
    const std::string page = flame_graphs_of(path);
    io::write_file("trace", page, profiler::flame_graph_page(events));
    if (options.json) answer["traces"].push_back({{"file", path}, {"flame_graphs", page}, {"rows", rows_of(averages, table)}});
    else {
      std::cout << profiler::detail::table(averages, table, false, width);
      if (options.peak) std::cout << "Peak: " << str(std::round(table.peak_gflops)) << " GFLOP/s, the best of ten products\n";
      std::cout << "The trace is " << path << "\nFlame graphs: " << page << "\nui.perfetto.dev opens the trace.\n";
    }
    answer["any"] = true;
  }
  const bool any = answer.erase("any") > 0;
  if (options.json) std::cout << detail::json_text(answer, 2) << '\n';
  std::cout.flush();
  if (WIFSIGNALED(status))
    std::cerr << "tandem: trace: " << options.program[0] << " was ended by signal " << WTERMSIG(status) << " ("
              << strsignal(WTERMSIG(status)) << (any ? ")" : "), and so wrote no trace") << std::endl;
  else if (!any)
    std::cerr << "tandem: trace: " << options.program[0]
              << " wrote no trace: it did nothing with tandem, ended without exit(), or could not write beside " << output.string()
              << std::endl;
  const int exit_status = answer["exit_status"];
  return exit_status == 0 && !any ? 1 : exit_status;
}

}  // namespace

void add_trace(CLI::App& app, Action& action) {
  CLI::App* trace = app.add_subcommand("trace", "Run a program and record where its time goes: tandem trace [OPTIONS] PROGRAM [ARGUMENTS]");
  trace->footer(
      "The trace is written when the program ends, by each rank one: trace.rank0.json. The exit status is the program's, or 128 and the\n"
      "number of the signal that ended it.");
  trace->prefix_command();
  const auto options = std::make_shared<TraceOptions>();
  trace->add_option("-o,--output", options->output, "The file to write (trace.json)")->type_name("FILE");
  trace
      ->add_option("--sort", options->table.sort_by,
                   "The column to sort by (self_device_time_total, without GPUs self_cpu_time_total); a wrong one lists them")
      ->type_name("COLUMN");
  trace->add_option("--rows", options->table.row_limit, "The rows of the summary (100); -1: all")
      ->check(whole_number_from(-1))
      ->type_name("N");
  trace->add_flag("--peak", options->peak, "Measure what the machine can do, and show each operation's share of it");
  trace->add_flag("--json", options->json, "Print the summary as JSON, and what the program prints to standard error");
  trace->callback([options, trace, &action] {
    action = [trace, options] {
      options->program = program_of(*trace);
      options->sorted = trace->get_option("--sort")->count() > 0;
      return run_trace(*options);
    };
  });
}

}  // namespace tandem::tools
