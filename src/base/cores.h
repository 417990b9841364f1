// How many cores this process may use.
#pragma once

#include <string>

namespace tandem::detail {

/// The cores of the affinity mask, at most the cgroup's processor quota rounded up (versions 1 and 2), shared by the local ranks that
/// OMPI_COMM_WORLD_LOCAL_SIZE or LOCAL_WORLD_SIZE tells of. TANDEM_NUM_THREADS overrides all of it; error where that is not a whole number
/// from 1 on.
[[nodiscard]] int usable_cores();

/// The quota in cores that the cgroup files below `root` give the process whose /proc/self/cgroup reads `membership`; 0 where there is
/// none.
[[nodiscard]] double cgroup_quota(const std::string& membership, const std::string& root);

}  // namespace tandem::detail
