// The MPI back end, which is a plug-in: libtandem_mpi.so, opened where ranks are to reach each other by MPI. Nothing else needs MPI.
#pragma once

#include <memory>

#include "comm/backend.h"

namespace tandem::comm {

/// What libtandem_mpi.so's one entry returns: `extern "C" const tandem::comm::MpiPlugin* tandem_mpi_plugin()`.
struct MpiPlugin {
  int version;  // kMpiPluginVersion of the headers it was built with
  /// All ranks of the program that MPI started. Throws Error.
  std::unique_ptr<Backend> (*make)(const Start& start);
};
inline constexpr int kMpiPluginVersion = 1;

/// The back end "mpi". Making one opens the plug-in: Error that says what is missing.
[[nodiscard]] BackendFactory mpi_backend();

}  // namespace tandem::comm
