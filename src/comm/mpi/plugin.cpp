// The one entry of libtandem_mpi.so.
#include "comm/mpi/backend.h"
#include "comm/mpi_plugin.h"

extern "C" [[gnu::visibility("default")]] const tandem::comm::MpiPlugin* tandem_mpi_plugin() {
  static const tandem::comm::MpiPlugin plugin{tandem::comm::kMpiPluginVersion,
                                              [](const tandem::comm::Start& start) -> std::unique_ptr<tandem::comm::Backend> {
                                                return std::make_unique<tandem::comm::mpi::MpiBackend>(start);
                                              }};
  return &plugin;
}
