#include "runtime/beside_library.h"

#include <dlfcn.h>

namespace tandem::runtime {

std::string beside_library(const std::string& file) {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<const void*>(&beside_library), &here) || !here.dli_fname) return file;
  const std::string library = here.dli_fname;
  const size_t slash = library.rfind('/');
  return slash == std::string::npos ? file : library.substr(0, slash + 1) + file;
}

}  // namespace tandem::runtime
