// How many cores this process may use.
#pragma once

namespace tandem::detail {

/// The cores of the affinity mask, at most the cgroup's processor quota rounded up (versions 1 and 2), shared by the local ranks that
/// OMPI_COMM_WORLD_LOCAL_SIZE or LOCAL_WORLD_SIZE tells of. TANDEM_NUM_THREADS overrides all of it; error where that is not a whole number
/// from 1 on.
[[nodiscard]] int usable_cores();

}  // namespace tandem::detail
