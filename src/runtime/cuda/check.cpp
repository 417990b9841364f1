#include "runtime/cuda/check.h"

#include <dlfcn.h>

namespace tandem::runtime::cuda_cards {

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

}  // namespace tandem::runtime::cuda_cards
