#include "comm/mpi_plugin.h"

#include <dlfcn.h>

#include "base/env.h"
#include "base/error.h"
#include "runtime/beside_library.h"

namespace tandem::comm {
namespace {

/// mpirun of OpenMPI; of MPICH, and srun.
int mpi_rank() { return environment_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}).value_or(-1); }
int mpi_size() { return environment_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}).value_or(-1); }

bool started_by_mpi() { return mpi_rank() >= 0 && mpi_size() > 0; }

void ranks_of_mpi(int& rank, int& size) {
  rank = started_by_mpi() ? mpi_rank() : 0;
  size = started_by_mpi() ? mpi_size() : 1;
}

const MpiPlugin& plugin() {
  // TANDEM_MPI_PLUGIN, or the file beside the library. It stays open.
  const std::string path = environment("TANDEM_MPI_PLUGIN").value_or(runtime::beside_library("libtandem_mpi.so"));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* error = dlerror();
    fail("[init_process_group] the MPI plug-in cannot be loaded: ", error ? error : path.c_str(),
         "; it is built where MPI is found (apt-get install libopenmpi-dev), and without it ranks of one machine can use \"local\"");
  }
  const auto entry = reinterpret_cast<const MpiPlugin* (*)()>(dlsym(library, "tandem_mpi_plugin"));
  const MpiPlugin* found = entry ? entry() : nullptr;
  if (!found) fail("[init_process_group] the MPI plug-in ", path, " has no entry tandem_mpi_plugin");
  if (found->version != kMpiPluginVersion)
    fail("[init_process_group] the MPI plug-in ", path, " has version ", found->version, ", but this library needs ", kMpiPluginVersion,
         ": build both together");
  return *found;
}

}  // namespace

BackendFactory mpi_backend() {
  return {.name = "mpi", .started_by_it = started_by_mpi, .ranks = ranks_of_mpi, .make = [](const Start& start) {
            return plugin().make(start);
          }};
}

}  // namespace tandem::comm
