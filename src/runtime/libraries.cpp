#include "runtime/libraries.h"

#include <atomic>

#include "runtime/driver.h"

namespace tandem {
namespace {

constinit std::atomic<runtime::ListLibraries> list_libraries{nullptr};

}  // namespace

void runtime::set_libraries(ListLibraries list) { list_libraries.store(list); }

std::vector<cuda::Library> cuda::libraries() {
  (void)runtime::driver();  // it loads the plug-in
  const runtime::ListLibraries list = list_libraries.load();
  return list ? list() : std::vector<Library>{};
}

}  // namespace tandem
