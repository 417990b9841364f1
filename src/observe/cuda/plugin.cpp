// The one entry of libtandem_cuda.so.
#include <cuda_runtime_api.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "comm/cuda/backend.h"
#include "comm/cuda/nccl.h"
#include "kernels/cuda/table.h"
#include "kernels/cuda/vendor/library.h"
#include "observe/cuda/cupti.h"
#include "observe/cuda/nvtx.h"
#include "runtime/cuda/driver.h"

namespace {

/// CUDA's 13000 as "13.0".
std::string version_text(int version) { return tandem::str(version / 1000, '.', version % 1000 / 10); }

/// The run-time library is a part of the plug-in; of the driver, the version of CUDA that it is for.
std::vector<tandem::cuda::Library> libraries() {
  int driver = 0;
  const bool has_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
  std::vector<tandem::cuda::Library> all = {
      {.name = "CUDA driver",
       .file = "libcuda.so.1",
       .version = has_driver ? version_text(driver) : "",
       .why = has_driver ? "" : "no NVIDIA driver was found",
       .failure = ""},
      {.name = "CUDA runtime", .file = "libtandem_cuda.so", .version = version_text(CUDART_VERSION), .why = "", .failure = ""}};
  for (auto& library : tandem::kernels::cuda::vendor::libraries()) all.push_back(std::move(library));
  all.push_back(tandem::comm::nccl::describe());
  all.push_back(tandem::profiler::cupti::describe());
  return all;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const tandem::runtime::Plugin* tandem_cuda_plugin() {
  using tandem::runtime::cuda_gpu::CudaDriver;
  struct Loaded {
    std::string why;
    tandem::runtime::Plugin plugin{tandem::runtime::kPluginVersion, nullptr, nullptr};
    Loaded() {
      tandem::runtime::set_libraries(libraries);
      try {
        plugin.driver = new CudaDriver;  // never destroyed: CUDA may be gone before static objects are
        tandem::kernels::set_gpu_table(tandem::kernels::cuda::table());
        tandem::comm::register_backend({.name = "nccl",
                                        .make = tandem::comm::nccl::make_backend,
                                        .for_devices = true,
                                        .make_many = tandem::comm::nccl::make_backends});
        tandem::profiler::cupti::use();
        tandem::profiler::name_ranges_for_nvtx();
      } catch (const tandem::Error& e) {
        why = e.message();  // each later error has a line of its own
      } catch (const std::exception& e) {
        why = e.what();
      }
      if (!why.empty()) plugin.why = why.c_str();
    }
  };
  static const Loaded loaded;
  return &loaded.plugin;
}
