#include "kernels/cuda/vendor/library.h"

#include <dlfcn.h>

#include <sstream>

#include "base/env.h"

namespace tandem::kernels::cuda::vendor {

Library::Library(const char* file) {
  const std::string places = environment("TANDEM_CUDA_LIBRARIES").value_or("") + ":/usr/local/cuda/lib64";
  handle_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  std::istringstream folders(places);
  for (std::string folder; !handle_ && std::getline(folders, folder, ':');)
    if (!folder.empty()) handle_ = dlopen((folder + "/" + file).c_str(), RTLD_NOW | RTLD_LOCAL);
  complete_ = handle_ != nullptr;
}

void* Library::find(const char* name) {
  void* const found = handle_ ? dlsym(handle_, name) : nullptr;
  complete_ &= found != nullptr;
  return found;
}

}  // namespace tandem::kernels::cuda::vendor
