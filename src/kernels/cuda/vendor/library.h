// NVIDIA's libraries, opened when first needed: the plug-in links none of them, and does without one that is missing.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "runtime/libraries.h"

namespace tandem::kernels::cuda::vendor {

/// A shared library: where the loader finds it, else in the folders of TANDEM_CUDA_LIBRARIES (separated by colons), else where the toolkit
/// is installed, /usr/local/cuda. It stays open.
class Library {
 public:
  /// Its name, for people, and its file.
  Library(const char* name, const char* file);

  /// Whether it was found, and everything asked for so far with it.
  [[nodiscard]] bool complete() const { return why_.empty(); }
  /// A function of it, nullptr where it is missing.
  template <class Function>
  [[nodiscard]] Function function(const char* name) {
    return reinterpret_cast<Function>(find(name));
  }
  /// One that older versions lack and that can be done without.
  template <class Function>
  [[nodiscard]] Function optional(const char* name) const {
    return reinterpret_cast<Function>(look_up(name));
  }

  /// Notes that a call has failed, for `description`. The text, which is never freed: "cuDNN's cudnnBackendExecute failed:
  /// CUDNN_STATUS_EXECUTION_FAILED".
  const char* failed(const char* call, const std::string& status);
  /// The same for a library that cannot be used at all.
  const char* missing();
  [[nodiscard]] tandem::cuda::Library description(const std::string& version) const;

 private:
  void* find(const char* name);
  void* look_up(const char* name) const;
  const char* keep(std::string text);

  const std::string name_, file_;
  void* handle_ = nullptr;
  std::string why_;  // the library cannot be used
  mutable std::mutex mutex_;
  std::set<std::string> texts_;  // few: as many as calls and ways to fail
  std::string failure_;
};

/// CUDA's and NVIDIA's 13000 as "13.0.0": `step` is 1000, or 10000 in newer ones.
[[nodiscard]] std::string version_text(size_t version, size_t step);

/// Each library, opened: beside the kernels that use it.
[[nodiscard]] tandem::cuda::Library describe_cublaslt();
[[nodiscard]] tandem::cuda::Library describe_cudnn();
[[nodiscard]] tandem::cuda::Library describe_cusolver();
[[nodiscard]] std::vector<tandem::cuda::Library> libraries();

// A macro's value as text: the major version in a library's name.
#define TD_TEXT_OF(x) #x
#define TD_TEXT(x) TD_TEXT_OF(x)

// A member that calls the library's function of the same name.
#define TD_FUNCTION(name) decltype(&::name) name = library.function<decltype(&::name)>(#name)

}  // namespace tandem::kernels::cuda::vendor
