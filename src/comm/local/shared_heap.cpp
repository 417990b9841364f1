#include "comm/local/shared_heap.h"

#include <sys/mman.h>

#include <cstring>

namespace tandem::comm {

std::shared_ptr<void> SharedHeap::allocate(size_t bytes) {
  constexpr size_t kPage = 4096;
  if (bytes == 0 || bytes > bytes_) return nullptr;
  bytes = (bytes + kPage - 1) / kPage * kPage;
  size_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [begin, length] : used_) {  // the first gap that is wide enough
      if (begin - offset >= bytes) break;
      offset = begin + length;
    }
    if (bytes_ - offset < bytes) return nullptr;
    used_[offset] = bytes;
  }
  return {memory_ + offset, [heap = shared_from_this(), offset](void*) { heap->free(offset); }};
}

// Whoever gets these bytes next finds zeros again.
void SharedHeap::free(size_t offset) {
  const std::lock_guard lock(mutex_);
  const auto at = used_.find(offset);
  if (madvise(memory_ + offset, at->second, MADV_REMOVE) != 0) std::memset(memory_ + offset, 0, at->second);
  used_.erase(at);
}

}  // namespace tandem::comm
