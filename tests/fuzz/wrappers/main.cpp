// The table of wrappers and options: each cell trains a random module on ranks that are threads or processes, or on several devices, and
// must go through what one process with the whole batch goes through, or end with the error that the table tells of.
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "training.h"

extern char** environ;

namespace {

namespace td = tandem;
namespace dist = td::distributed;
using fuzz::Cell;

constexpr const char* kUsage = R"(usage: fuzz_wrappers [OPTIONS]
  --cells N         random cells of several options each (default 0)
  --processes N     of these, so many with ranks that are processes (default: one in twenty)
  --seed S          which cells (default 1)
  --walk            the whole table first: each wrapper with each option
  --cell "TEXT"     one cell, as a finding names it; may be given several times
  --table           print the table, and run nothing
  --docs FILE       fail where this page does not hold the table as it is
)";
constexpr auto kLimit = std::chrono::seconds(60);
constexpr int kRefused = 4, kDiffers = 3;  // exit codes of a process: an error of the library's, another value

/// How a cell ended: nothing, or what went wrong; and whether the library refused.
struct Outcome {
  std::string text;
  bool refused = false;
};

Outcome caught(const std::function<void()>& run) {
  try {
    run();
    return {};
  } catch (const std::logic_error& error) {
    return {error.what(), false};
  } catch (const std::exception& error) {
    return {error.what(), true};
  }
}

bool is_expected(const Cell& cell, const std::string& text) {
  const fuzz::Errors errors = fuzz::errors_of(cell);
  const auto is_said = [&](const std::string& words) { return text.find(words) != std::string::npos; };
  return std::any_of(errors.must.begin(), errors.must.end(), is_said) || std::any_of(errors.may.begin(), errors.may.end(), is_said);
}

Outcome run_threads(const Cell& cell, bool second, const fuzz::Trace& expected, const std::string& folder) {
  return caught([&] {
    if (cell.kind == fuzz::Kind::DataParallel) return fuzz::train_rank(cell, second, 0, expected, folder);
    dist::run_ranks(second ? cell.read_by : cell.ranks, [&](int rank) { fuzz::train_rank(cell, second, rank, expected, folder); },
                    {.timeout = kLimit});
  });
}

int run_rank(const Cell& cell, bool second, int rank, const std::string& folder) {
  const Outcome outcome = caught([&] {
    const fuzz::Trace expected = fuzz::reference(cell);
    dist::init_process_group(
        "local",
        {.timeout = kLimit, .rank = rank, .world_size = second ? cell.read_by : cell.ranks, .init_method = td::str(folder, second)});
    fuzz::train_rank(cell, second, rank, expected, folder);
    dist::destroy_process_group();
  });
  if (outcome.text.empty()) return 0;
  std::ofstream(td::str(folder, "/rank-", rank, ".txt")) << outcome.text;
  return outcome.refused ? kRefused : kDiffers;
}

Outcome run_processes(const Cell& cell, bool second, const std::string& folder) {
  const int ranks = second ? cell.read_by : cell.ranks;
  std::vector<pid_t> pids;
  for (int rank = 0; rank < ranks; ++rank) {
    std::string words[] = {"/proc/self/exe", "--rank", std::to_string(rank), second ? "1" : "0", folder, to_string(cell)};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), words[5].data(), nullptr};
    pid_t pid = -1;
    if (posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments, environ) != 0) return {"no process could be started", false};
    pids.push_back(pid);
  }
  Outcome outcome;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = pids[static_cast<size_t>(rank)];
    const auto watch = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    pollfd asked{watch, POLLIN, 0};
    if (poll(&asked, 1, 90000) != 1) {
      kill(pid, SIGKILL);
      outcome = {td::str("rank ", rank, " hangs"), false};
    }
    close(watch);
    int status = 0;
    waitpid(pid, &status, 0);
    if (status == 0) continue;
    std::ifstream file(td::str(folder, "/rank-", rank, ".txt"));
    std::stringstream text;
    text << file.rdbuf();
    const std::string said = text.str().empty() ? td::str("rank ", rank, " ended with status ", status) : text.str();
    const bool refused = WIFEXITED(status) && WEXITSTATUS(status) == kRefused;
    // Others are told of the first one's; a difference, and what is expected, say more.
    if (outcome.text.empty() || (outcome.refused && !refused) || (refused && is_expected(cell, said))) outcome = {said, refused};
  }
  return outcome;
}

/// Whether the cell ended as the table says.
bool run(const Cell& cell) {
  const std::string folder = (std::filesystem::temp_directory_path() / td::str("wrappers-", getpid())).string();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Outcome outcome;
  try {
    const fuzz::Trace expected = cell.processes ? fuzz::Trace() : fuzz::reference(cell);
    for (int part = 0; part < (cell.has_two_parts() ? 2 : 1) && outcome.text.empty(); ++part)
      outcome = cell.processes ? run_processes(cell, part == 1, folder) : run_threads(cell, part == 1, expected, folder);
  } catch (const std::exception& error) {
    outcome = {td::str("in one process: ", error.what()), false};
  }
  std::filesystem::remove_all(folder);
  const bool must_end = !fuzz::errors_of(cell).must.empty();
  if (outcome.text.empty() ? !must_end : outcome.refused && is_expected(cell, outcome.text)) return true;
  std::printf("  %s\n", outcome.text.empty() ? "it ran, and the table says that it is an error" : outcome.text.c_str());
  std::printf("failed: fuzz_wrappers --cell \"%s\"\n", to_string(cell).c_str());
  std::fflush(stdout);
  return false;
}

bool holds(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (text.str().find(fuzz::table()) != std::string::npos) return true;
  std::printf("%s does not hold the table that `fuzz_wrappers --table` prints\n", path.c_str());
  return false;
}

[[noreturn]] void misuse(const std::string& text) {
  std::fprintf(stderr, "fuzz wrappers: %s (--help lists the options)\n", text.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  td::cuda::use_virtual_gpus("4x64MiB");
  uint64_t seed = 1, cells = 0, ran = 0, bad = 0;
  int64_t processes = -1;
  bool walk = false;
  std::vector<Cell> given;
  try {
    if (argc == 6 && std::string(argv[1]) == "--rank")
      return run_rank(fuzz::cell_of(argv[5]), std::string(argv[3]) == "1", std::atoi(argv[2]), argv[4]);
    for (int i = 1; i < argc; ++i) {
      const std::string option = argv[i];
      if (option == "--help" || option == "-h") {
        std::printf("%s", kUsage);
        return 0;
      }
      if (option == "--table") {
        std::printf("%s", fuzz::table().c_str());
        return 0;
      }
      if (option == "--walk") {
        walk = true;
        continue;
      }
      if (i + 1 == argc) misuse(option + " needs a value");
      const std::string value = argv[++i];
      if (option == "--cells") cells = std::stoull(value);
      else if (option == "--processes") processes = std::stoll(value);
      else if (option == "--seed") seed = std::stoull(value);
      else if (option == "--cell") given.push_back(fuzz::cell_of(value));
      else if (option == "--docs") bad += !holds(value);
      else misuse("there is no option '" + option + "'");
    }
  } catch (const std::logic_error& error) {
    misuse(error.what());
  }
  const auto take = [&](const Cell& cell) {
    ++ran;
    bad += !run(cell);
  };
  for (const Cell& cell : given) take(cell);
  if (walk) {
    for (int o = 0; o < fuzz::kOptions; ++o) {
      for (int k = 0; k < fuzz::kKinds; ++k) {
        const auto kind = static_cast<fuzz::Kind>(k);
        const auto option = static_cast<fuzz::Option>(o);
        if (entry_of(kind, option).what == fuzz::Entry::What::IsNone) continue;
        take(table_cell(kind, option, seed, (k + o + static_cast<int>(seed)) % 11 == 0));
      }
    }
  }
  const uint64_t in_processes = processes >= 0 ? static_cast<uint64_t>(processes) : cells / 20;
  for (uint64_t i = 0; i < cells; ++i) take(fuzz::random_cell(seed * 1000003 + i, i < in_processes));
  std::printf("%llu cells, %llu failed\n", static_cast<unsigned long long>(ran), static_cast<unsigned long long>(bad));
  return bad == 0 ? 0 : 1;
}
