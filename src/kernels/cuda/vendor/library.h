// NVIDIA's libraries, opened when first needed: the plug-in links none of them, and does without one that is missing.
#pragma once

#include <string>

namespace tandem::kernels::cuda::vendor {

/// A shared library: where the loader finds it, else in the folders of TANDEM_CUDA_LIBRARIES (separated by colons), else where the toolkit
/// is installed, /usr/local/cuda. It stays open.
class Library {
 public:
  explicit Library(const char* file);

  /// Whether it was found, and everything asked for so far with it.
  [[nodiscard]] bool complete() const { return complete_; }
  /// A function of it, nullptr where it is missing.
  template <class Function>
  [[nodiscard]] Function function(const char* name) {
    return reinterpret_cast<Function>(find(name));
  }

 private:
  void* find(const char* name);
  void* handle_ = nullptr;
  bool complete_ = true;
};

// A macro's value as text: the major version in a library's name.
#define TD_TEXT_OF(x) #x
#define TD_TEXT(x) TD_TEXT_OF(x)

// A member that calls the library's function of the same name.
#define TD_FUNCTION(name) decltype(&::name) name = library.function<decltype(&::name)>(#name)

}  // namespace tandem::kernels::cuda::vendor
