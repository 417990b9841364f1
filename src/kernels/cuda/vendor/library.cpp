#include "kernels/cuda/vendor/library.h"

#include <dlfcn.h>
#include <link.h>

#include <sstream>

#include "base/env.h"
#include "base/error.h"

namespace tandem::kernels::cuda::vendor {

Library::Library(const char* name, const char* file) : name_(name), file_(file) {
  const auto open = [&](const std::string& path) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (const char* const error = handle_ ? nullptr : dlerror()) why_ += (why_.empty() ? "" : "; ") + std::string(error);
  };
  open(file);
  std::istringstream folders(environment("TANDEM_CUDA_LIBRARIES").value_or("") + ":/usr/local/cuda/lib64");
  for (std::string folder; !handle_ && std::getline(folders, folder, ':');)
    if (!folder.empty()) open(folder + "/" + file);
  if (handle_) why_.clear();
}

void* Library::look_up(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

void* Library::find(const char* name) {
  void* const found = look_up(name);
  if (handle_ && !found && why_.empty()) why_ = str("it lacks ", name, ": it is too old");
  return found;
}

const char* Library::keep(std::string text) {
  const std::lock_guard lock(mutex_);
  failure_ = text;
  return texts_.insert(std::move(text)).first->c_str();
}

const char* Library::failed(const char* call, const std::string& status) { return keep(str(name_, "'s ", call, " failed: ", status)); }

const char* Library::missing() { return keep(str(name_, " cannot be used: ", why_)); }

tandem::cuda::Library Library::description(const std::string& version) const {
  tandem::cuda::Library all{name_, file_, handle_ ? version : "", why_, {}};
  link_map* map = nullptr;
  if (handle_ && dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map) all.file = map->l_name;
  const std::lock_guard lock(mutex_);
  all.failure = failure_;
  return all;
}

std::string version_text(size_t version, size_t step) { return str(version / step, '.', version % step / 100, '.', version % 100); }

std::vector<tandem::cuda::Library> libraries() { return {describe_cublaslt(), describe_cudnn(), describe_cusolver()}; }

}  // namespace tandem::kernels::cuda::vendor
