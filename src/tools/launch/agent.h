// What stands between `tandem launch` and each rank: a process on the rank's host that starts it, passes on what it writes, and ends it.
#pragma once

#include <string>
#include <vector>

namespace tandem::tools {

// Variables that the launcher sets for agents; agents hand the first three on to their ranks.
inline constexpr const char* kControlVariable = "TANDEM_LAUNCH_CONTROL";          // the launcher's address and port
inline constexpr const char* kTokenVariable = "TANDEM_LAUNCH_TOKEN";              // what connections must know
inline constexpr const char* kRestartVariable = "TANDEM_LAUNCH_RESTART";          // how often the job has been started again
inline constexpr const char* kRankVariable = "TANDEM_LAUNCH_RANK";                // without MPI: the rank
inline constexpr const char* kWorldVariable = "TANDEM_LAUNCH_WORLD";              // without MPI: how many ranks there are
inline constexpr const char* kGpusVariable = "TANDEM_LAUNCH_GPUS_PER_RANK";       // 0: all are seen by every rank
inline constexpr const char* kLostAfterVariable = "TANDEM_LAUNCH_LOST_AFTER_MS";  // silence that counts as loss; 0 for none

/// How many bytes of output an agent sends before the launcher has written them.
inline constexpr size_t kOutputWindow = size_t{256} << 10;

/// Runs the agent of one rank, whose program is `command`. The exit status: 0 where the launcher has heard how the rank ended.
int run_agent(const std::vector<std::string>& command);

}  // namespace tandem::tools
