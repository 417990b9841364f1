#include "support/virtual_kernels.h"

#include <dlfcn.h>

#include <iostream>
#include <string>

#include "base/env.h"
#include "base/error.h"
#include "kernels/virtual/queued.h"
#include "runtime/beside_library.h"

namespace tandem::testing {
namespace {

const kernels::Table* named_table = nullptr;
const kernels::Table& table_by_name() { return *named_table; }

const kernels::Table* load(const std::string& kind) {
  const bool libraries = kind == "libraries";
  if (kind != "cuda" && !libraries) fail("TANDEM_VIRTUAL_KERNELS is '", kind, "': it takes cuda or libraries");
  const std::string path = runtime::beside_library(libraries ? "libtandem_emulated.so" : "libtandem_walked.so");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto entry = library ? reinterpret_cast<const kernels::Table* (*)()>(dlsym(library, "tandem_walked_table")) : nullptr;
  if (!entry) {
    const char* error = dlerror();
    fail("there is no ", path, ", which is made with the tests", libraries ? " where the CUDA toolkit is" : "", ": ",
         error ? error : "it has no table");
  }
  return entry();
}

}  // namespace

int use_kernels_of_environment() {
  const auto kind = environment("TANDEM_VIRTUAL_KERNELS");
  if (!kind) return 0;
  try {
    named_table = load(*kind);
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return std::string(error.what()).find("needs NVIDIA's") != std::string::npos ? 77 : 1;
  }
  static const kernels::Table table = kernels::queued_table<table_by_name>();
  kernels::set_gpu_table(table);
  return 0;
}

}  // namespace tandem::testing
