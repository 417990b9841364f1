// NVIDIA's libraries that the kernels of this process's GPUs may use, and how it went.
#pragma once

#include <string>
#include <vector>

namespace tandem::cuda {

/// One of NVIDIA's libraries, and where it was found.
struct Library {
  std::string name;     // cuDNN
  std::string file;     // where it was found; what was looked for where it was not
  std::string version;  // empty where it was not found
  std::string why;      // why it is not used; empty where it is
  std::string failure;  // the last call of it that failed in this process; a kernel of ours did the work where there is one
};

/// Each is opened for this question if it was not before. None where the GPUs are virtual: host kernels need none.
[[nodiscard]] std::vector<Library> libraries();

}  // namespace tandem::cuda

namespace tandem::runtime {

/// What `cuda::libraries` asks: set by whoever loads kernels that use libraries.
using ListLibraries = std::vector<cuda::Library> (*)();
void set_libraries(ListLibraries list);

}  // namespace tandem::runtime
