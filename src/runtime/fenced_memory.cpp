#include "runtime/fenced_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/align.h"
#include "base/env.h"

namespace tandem::runtime {
namespace {

size_t page() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// The pages of a block without its fence.
size_t whole_pages(size_t bytes) { return align_up(align_up(bytes), page()); }

}  // namespace

bool fences_memory() {
  static const bool wanted = environment_flag("TANDEM_FENCE");
  return wanted;
}

void* allocate_fenced(size_t bytes) noexcept {
  const size_t pages = whole_pages(bytes);
  void* const found = mmap(nullptr, pages + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  auto* const base = static_cast<char*>(found);
  if (mprotect(base + pages, page(), PROT_NONE) != 0) {
    munmap(base, pages + page());
    return nullptr;
  }
  return base + pages - align_up(bytes);
}

void free_fenced(void* data, size_t bytes) noexcept {
  const size_t pages = whole_pages(bytes);
  munmap(static_cast<char*>(data) + align_up(bytes) - pages, pages + page());
}

}  // namespace tandem::runtime
