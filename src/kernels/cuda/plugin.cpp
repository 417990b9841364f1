// The one entry of libtandem_cuda.so.
#include <string>

#include "base/error.h"
#include "kernels/cuda/table.h"
#include "kernels/cuda/vendor/library.h"
#include "runtime/cuda/driver.h"

extern "C" [[gnu::visibility("default")]] const tandem::runtime::Plugin* tandem_cuda_plugin() {
  using tandem::runtime::cuda_gpu::CudaDriver;
  struct Loaded {
    std::string why;
    tandem::runtime::Plugin plugin{tandem::runtime::kPluginVersion, nullptr, nullptr};
    Loaded() {
      tandem::runtime::set_libraries(tandem::kernels::cuda::vendor::libraries);
      try {
        plugin.driver = new CudaDriver;  // never destroyed: CUDA may be gone before static objects are
        tandem::kernels::set_gpu_table(tandem::kernels::cuda::table());
      } catch (const std::exception& e) {
        why = e.what();
        plugin.why = why.c_str();
      }
    }
  };
  static const Loaded loaded;
  return &loaded.plugin;
}
