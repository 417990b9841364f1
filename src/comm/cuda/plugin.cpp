// The one entry of libtandem_cuda.so.
#include <string>
#include <vector>

#include "base/error.h"
#include "comm/cuda/backend.h"
#include "comm/cuda/nccl.h"
#include "kernels/cuda/table.h"
#include "kernels/cuda/vendor/library.h"
#include "runtime/cuda/driver.h"

namespace {

std::vector<tandem::cuda::Library> libraries() {
  auto all = tandem::kernels::cuda::vendor::libraries();
  all.push_back(tandem::comm::nccl::describe());
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
      } catch (const std::exception& e) {
        why = e.what();
        plugin.why = why.c_str();
      }
    }
  };
  static const Loaded loaded;
  return &loaded.plugin;
}
