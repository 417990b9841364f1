// env: TANDEM_NUM_THREADS=3
// Static objects that hold host memory and compute in parallel while they are destroyed, after the main thread's caches are gone.
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/parallel.h"
#include "runtime/allocator.h"

namespace {

using tandem::runtime::allocate_host;
using tandem::runtime::free_host;

struct LateUser {
  std::vector<std::pair<void*, size_t>> blocks;
  ~LateUser() {
    for (const auto& [data, bytes] : blocks) free_host(data, bytes);
    std::vector<int> marks(1000);
    tandem::parallel_for(1000, 1, 3, [&](int64_t begin, int64_t) { ++marks[static_cast<size_t>(begin)]; });
    for (const int mark : marks)
      if (mark != 1) std::_Exit(3);
    for (const size_t bytes : {size_t{100}, size_t{5} << 20}) {
      void* const data = allocate_host(bytes);
      std::memset(data, 1, bytes);
      free_host(data, bytes);
    }
  }
};
LateUser late_user;

}  // namespace

int main() {
  for (const size_t bytes : {size_t{4}, size_t{100}, size_t{70000}, size_t{3} << 20}) {
    void* const data = allocate_host(bytes);
    std::memset(data, 1, bytes);
    late_user.blocks.emplace_back(data, bytes);
  }
  // A thread that lives on while the program ends, and one whose cache is handed over.
  std::thread([] { free_host(allocate_host(1000), 1000); }).join();
  std::thread([] {
    while (true) tandem::parallel_for(64, 1, 2, [](int64_t, int64_t) {});
  }).detach();
  tandem::parallel_for(100, 1, 3, [](int64_t, int64_t) {});
  return 0;
}
