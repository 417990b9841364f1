// What `tandem launch` was asked to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::tools {

struct LaunchOptions {
  int ranks = 0;
  bool mpi = false;       // started by mpirun
  std::string hosts;      // mpirun's list of hosts; empty for this machine
  std::string address;    // where agents and ranks find the launcher
  int gpus_per_rank = 0;  // 0: every rank sees all
  int restarts = 0;
  int64_t start_ms = 60000;  // to have all agents there
  int64_t lost_after_ms = 15000;
  int64_t grace_ms = 5000;             // for ranks to end by themselves when one has failed
  std::string recorders;               // a folder
  std::vector<std::string> variables;  // names of variables that ranks on other hosts get, too
  std::vector<std::string> program;
};

/// How many processes the hosts of a file in mpirun's form (`name slots=4` a line) have room for, and their names. Error that names file
/// and line.
struct Hosts {
  std::vector<std::string> names;
  int slots = 0;
};
[[nodiscard]] Hosts read_hosts(const std::string& file);

/// Runs the program on its ranks, again as often as asked for where it fails. The exit status.
int run_launch(const LaunchOptions& options);

}  // namespace tandem::tools
