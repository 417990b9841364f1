// Random collectives of random ranks: threads, and processes of this machine. In most rounds all is well, and every result is compared; in
// some a rank fails in one way or another, and all others must end with an error, soon. A hang is what the watching time limits show.
//   fuzz_collectives [--rounds N] [--seed S] [--process-rounds N]
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "round.h"
#include "tandem.h"

extern char** environ;

namespace td = tandem;
namespace dist = td::distributed;

namespace {

constexpr auto kLimit = std::chrono::seconds(30);  // far longer than any round takes
constexpr int kWrong = 3;                          // the exit code of a process that saw wrong values

bool is_time_limit(const char* text) { return std::strstr(text, "the time limit was reached") != nullptr; }

/// Whether the round went as it should.
bool run_threads(const fuzz::Round& round) {
  try {
    dist::run_ranks(round.ranks, [&](int rank) { fuzz::play(round, rank); }, {.timeout = kLimit});
  } catch (const td::Error& error) {
    if (round.fault != fuzz::Round::Fault::Nothing && !is_time_limit(error.what())) return true;
    std::printf("  %s\n", error.what());
    return false;
  } catch (const std::logic_error& error) {
    std::printf("  %s\n", error.what());
    return false;
  }
  return true;  // a fault that is none: another group's call, one rank alone
}

int run_rank(uint64_t seed, int rank, const char* name) {
  const fuzz::Round round = fuzz::make_round(seed, true);
  try {
    dist::init_process_group("local", {.timeout = kLimit, .rank = rank, .world_size = round.ranks, .init_method = name});
    fuzz::play(round, rank);
    if (dist::is_initialized()) dist::destroy_process_group();
  } catch (const td::Error& error) {
    if (round.fault != fuzz::Round::Fault::Nothing && !is_time_limit(error.what())) return 0;
    std::printf("  rank %d: %s\n", rank, error.what());
    return 1;
  } catch (const std::logic_error& error) {
    std::printf("  rank %d: %s\n", rank, error.what());
    return kWrong;
  }
  return 0;
}

bool run_processes(const fuzz::Round& round) {
  const std::string seed = std::to_string(round.seed), name = "fuzz-" + std::to_string(getpid()) + "-" + seed;
  std::vector<pid_t> pids;
  for (int rank = 0; rank < round.ranks; ++rank) {
    std::string words[] = {"/proc/self/exe", "--rank", seed, std::to_string(rank), name};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
    pid_t pid = -1;
    if (posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments, environ) != 0) return false;
    pids.push_back(pid);
  }
  bool well = true;
  for (int rank = 0; rank < round.ranks; ++rank) {
    const auto i = static_cast<size_t>(rank);
    const auto watch = static_cast<int>(syscall(SYS_pidfd_open, pids[i], 0));
    pollfd asked{watch, POLLIN, 0};
    if (poll(&asked, 1, 90000) != 1) {
      std::printf("  rank %d hangs\n", rank);
      kill(pids[i], SIGKILL);
      well = false;
    }
    close(watch);
    int status = 0;
    waitpid(pids[i], &status, 0);
    const bool killed = round.fault == fuzz::Round::Fault::IsKilled && rank == round.culprit;
    if (status != (killed ? SIGKILL : 0)) {
      std::printf("  rank %d ended with status %d\n", rank, status);
      well = false;
    }
  }
  return well;
}

uint64_t number_of(int argc, char** argv, const char* option, uint64_t otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], option) == 0) return std::strtoull(argv[i + 1], nullptr, 10);
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  td::cuda::use_virtual_gpus("6x64MiB");
  if (argc == 5 && std::strcmp(argv[1], "--rank") == 0)
    return run_rank(std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]), argv[4]);
  const uint64_t seed = number_of(argc, argv, "--seed", 1), rounds = number_of(argc, argv, "--rounds", 200),
                 process_rounds = number_of(argc, argv, "--process-rounds", 10);
  uint64_t bad = 0;
  for (uint64_t i = 0; i < rounds + process_rounds; ++i) {
    const fuzz::Round round = fuzz::make_round(seed + i, i >= rounds);
    if (round.processes ? run_processes(round) : run_threads(round)) continue;
    std::printf("round of seed %llu failed: %s\n", static_cast<unsigned long long>(seed + i), fuzz::describe(round).c_str());
    ++bad;
  }
  std::printf("%llu rounds of threads and %llu of processes, %llu failed\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(process_rounds), static_cast<unsigned long long>(bad));
  return bad == 0 ? 0 : 1;
}
