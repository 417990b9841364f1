// How agents are started: one by one on this machine, or by mpirun wherever ranks are to run.
#pragma once

#include <memory>

#include "tools/launch/child.h"
#include "tools/launch/options.h"

namespace tandem::tools {

/// The agent of `rank` on this machine, without MPI.
[[nodiscard]] std::unique_ptr<Child> start_agent(const LaunchOptions& options, Variables variables, int rank);
/// mpirun, which starts an agent for each rank; what it says itself goes to the descriptor `output`. Error where there is no mpirun.
[[nodiscard]] std::unique_ptr<Child> start_mpirun(const LaunchOptions& options, Variables variables, int output);
/// Error that says how to get mpirun where it is not in PATH.
void require_mpirun();

}  // namespace tandem::tools
