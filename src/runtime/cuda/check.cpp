#include "runtime/cuda/check.h"

#include <dlfcn.h>

#include "base/env.h"
#include "base/number_in.h"

namespace tandem::runtime::cuda_gpu {

int devices_per_gpu() {
  static const int number = [] {
    constexpr const char* variable = "TANDEM_CUDA_DEVICES_PER_GPU";
    const std::string text = environment(variable).value_or("1");
    const int parsed = detail::number_in<int>(text).value_or(0);
    if (parsed < 1 || parsed > 8) fail(variable, " is '", text, "': expected a number from 1 to 8");
    return parsed;
  }();
  return number;
}

int gpu_behind(int device) {
  static const int gpus = [] {
    int count = 0;
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    return count;
  }();
  return device % gpus;
}

bool has_context(int device) noexcept {
  // The runtime has no such question: cuDevicePrimaryCtxGetState of the driver, which the runtime has opened already.
  using State = int (*)(int device, unsigned* flags, int* active);
  static const State state = [] {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<State>(driver ? dlsym(driver, "cuDevicePrimaryCtxGetState") : nullptr);
  }();
  unsigned flags = 0;
  int active = 0;
  return state && state(device, &flags, &active) == 0 && active != 0;
}

}  // namespace tandem::runtime::cuda_gpu
